#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rattleback/study/initial_data.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {

class Groups;
class Grid;
class Formulas;

/// Writes a table of initial states into an HDF5 file, which a study can name. Throws Error.
void write_states(const StateTable& table, const std::filesystem::path& file);

/// The trajectories of a problem. Trajectory k depends on (study, k) only.
class Ensemble {
 public:
  /// `range` limits the trajectories that are evaluated: a file of initial states is read for trajectory 0 and for these
  /// alone. Throws Error(input) on expressions that do not parse, unknown names, and unreadable files.
  explicit Ensemble(const Problem& problem, const Range& range = {});
  ~Ensemble();
  Ensemble(Ensemble&&) noexcept;

  /// Returns the number of all trajectories, also those outside the range.
  [[nodiscard]] std::uint64_t size() const;
  /// Returns the trajectories that can be evaluated, besides trajectory 0.
  [[nodiscard]] const Range& range() const;
  /// Returns a digest of what the file of initial states says of the range; 0 without such a file.
  [[nodiscard]] std::uint64_t file_digest() const;
  [[nodiscard]] const std::vector<std::string>& axis_names() const;
  /// Throws Error(input) when nothing uses an axis, or a column of the file, and the study does not name it in `unused`.
  void refuse_unused() const;
  /// Returns the number of values of a range or list; 0 for a random axis and for a column of a file.
  [[nodiscard]] std::uint64_t axis_count(std::size_t axis) const;
  /// Returns the index of the trajectory's value in the range or list; the index of the draw for a random axis, 0 for a
  /// column of a file.
  [[nodiscard]] std::uint64_t axis_position(std::size_t axis, std::uint64_t trajectory) const;
  /// Returns the sets of trajectories with statistics of their own.
  [[nodiscard]] const Groups& groups() const;
  /// Returns all values of a range or list of the study.
  [[nodiscard]] std::vector<double> axis_values(std::size_t axis) const;
  /// Returns the number of independent randomisations of the quasi-random points; 1 without such points.
  [[nodiscard]] std::uint64_t randomisations() const;
  /// Returns the randomisation of a trajectory, from 0; 0 without quasi-random points.
  [[nodiscard]] std::uint64_t randomisation(std::uint64_t trajectory) const;
  /// These functions return whether an input differs between trajectories.
  [[nodiscard]] bool step_varies() const;
  [[nodiscard]] bool parameter_varies(int index) const;
  [[nodiscard]] bool from_momentum() const;  ///< p is given, not v
  [[nodiscard]] bool multiplier_given() const;
  /// Returns whether the states are final states of a run of the same method, which the next step takes as they are.
  [[nodiscard]] bool as_they_are() const;
  /// Returns the axes of the study. A file of initial states has none.
  [[nodiscard]] const Grid& grid() const;
  /// Returns the formulas of the initial data, checked.
  [[nodiscard]] const Formulas& formulas() const;
  [[nodiscard]] bool in_space() const;  ///< the given v and p are in space, on Lie groups

  /// Evaluates trajectories, in the floating-point environment of the thread. Each thread needs one Evaluator. Throws Error(input), naming the expression, when a value
  /// is not finite.
  class Evaluator {
   public:
    explicit Evaluator(const Ensemble& ensemble);
    ~Evaluator();
    Evaluator(Evaluator&&) noexcept;
    const InitialData& operator()(std::uint64_t k);

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
  };

 private:
  friend class Evaluator;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace rattleback
