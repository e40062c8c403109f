#pragma once
// Locates, stores and sorts crossings of surfaces of section. The stops of a study are further surfaces, after the sections.

#include <memory>

#include "rattleback/base/scratch.hpp"
#include "rattleback/engine/backend.hpp"

namespace rattleback {

/// A located crossing is a row of numbers: section (or the number of sections + stop), trajectory, time, direction (1 or -1), residual |g|, status of the
/// steps that located the crossing, then q, v, p, lambda, and for each derivative that of the time and those of q, v, p, lambda.
struct CrossingRow {
  enum : int { section, trajectory, time, direction, residual, status, state };
  /// The place of derivative j: first that of the time.
  [[nodiscard]] static int derivative(const Plan& plan, int j) {
    return state + plan.shown_numbers() + j * (1 + plan.shown_numbers());
  }
};

/// Locates crossings to round-off. The step that crosses a surface is repeated from the state before, with a fraction
/// of the step size. A bracketing root finder (Chandrupatla, Adv. Eng. Softw. 28 (1997) 145) finds the fraction with g
/// = 0. So the method itself computes the located state, with a shorter step. This code runs on the host for every
/// backend and gives the same bits.
class CrossingLocator {
 public:
  CrossingLocator(const Plan& plan, double start, unsigned threads);

  /// Sets the values of all surfaces at the states of a chunk.
  void evaluate(double* chunk) const { unit_.surfaces(plan_.arguments, chunk, 0, chunk_size); }
  /// Returns the count of numbers of a located crossing.
  [[nodiscard]] std::uint64_t row_size() const { return row_size_; }
  /// Returns the rows of a tile's crossings (Plan::crossing_size numbers each), in no order.
  [[nodiscard]] std::vector<double> operator()(const Tile& tile, const std::vector<double>& crossings) const;

 private:
  struct Job;
  class Batch;

  [[nodiscard]] bool is_stop(int surface) const { return surface >= plan_.arguments.surfaces.count - plan_.stops; }
  /// Of the crossings in a step that ends its trajectory, keeps the first of the stops, and the sections that are not crossed after it.
  void drop_after_stops(const std::vector<Job>& jobs, const std::vector<double>& times,
                        std::vector<double>& rows) const;

  const Plan& plan_;
  double start_;
  unsigned threads_;
  std::uint64_t row_size_;
  const CompiledUnit& unit_;
  const CompiledUnit* varied_;  ///< with derivatives; null for a study without
  KernelArguments arguments_;   ///< one step per lane with a separate step size; all varying parameters are in rows
};

/// Stores rows in a file until the run is complete.
class CrossingStore {
 public:
  /// An empty `file` means an unnamed file. A named file belongs to the run `run`.
  CrossingStore(const std::filesystem::path& file, const std::string& run, std::uint64_t row_size,
                std::uint64_t sections)
      : file_(file, run, "crossings"), row_size_(row_size), counts_(sections) {}

  void append(const std::vector<double>& rows);
  /// Ends a tile. Later rows belong to the next tile.
  void end_tile() { tile_ends_.push_back(size_); }

  [[nodiscard]] std::uint64_t row_size() const { return row_size_; }
  [[nodiscard]] std::uint64_t count(std::uint64_t section) const { return counts_[section]; }
  [[nodiscard]] std::uint64_t tiles() const { return tile_ends_.size(); }
  /// Returns the rows of a tile and section, ordered by trajectory and time. Tile tiles() is the one that has not ended.
  [[nodiscard]] std::vector<double> sorted(std::uint64_t tile, std::uint64_t section) const;

  /// Returns numbers for a checkpoint: rows, rows per section, ends of the tiles.
  [[nodiscard]] std::vector<std::uint64_t> position() const;
  void restore(const std::vector<std::uint64_t>& position);
  [[nodiscard]] ScratchFile& file() { return file_; }

 private:
  ScratchFile file_;
  std::uint64_t row_size_, size_ = 0;
  std::vector<std::uint64_t> counts_, tile_ends_;
};

}  // namespace rattleback
