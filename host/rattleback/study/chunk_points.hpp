#pragma once
// The initial points of the trajectories of a chunk: axes, formulas and preparation in packs. What a pack cannot settle is left to the
// evaluation of one point after the other (study/points.hpp), which has the same bits for all others.

#include <array>
#include <optional>

#include "rattleback/kernels/unit.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/formulas.hpp"
#include "rattleback/study/lane_program.hpp"
#include "rattleback/study/start_program.hpp"

namespace rattleback {

/// What prepares points in packs.
struct StartKernel {
  StartFunction prepare;
  Isa isa;
  StartFunction tangents =
      nullptr;  ///< the initial tangent vectors of prepared points; null without, or where it is not there
};

/// Returns the kernels that prepare the points of a study in packs: that of points, then that of tangent vectors where it has such.
[[nodiscard]] std::vector<Unit> units_of_start(const Problem& problem, Isa isa);
/// Returns whether the points of the ensemble's range come from axes and formulas and are many enough to be prepared in packs, or on a GPU.
[[nodiscard]] bool may_prepare_together(const Problem& problem, const Ensemble& ensemble);
/// Returns whether the ensemble is so large that compiling these kernels takes less time than its points one by one.
[[nodiscard]] bool needs_start_kernel(const Problem& problem);
/// Returns the kernels of units_of_start where the ensemble needs them and the policy allows to compile; none otherwise.
[[nodiscard]] std::vector<Unit> wanted_units_of_start(const Problem& problem, Isa isa);
/// Loads these kernels. A header of a user need not compile here, and points one by one do.
void load_start_kernel(const Problem& problem);
/// Returns the kernel, where may_prepare_together, and the kernel is there.
[[nodiscard]] std::optional<StartKernel> find_start_kernel(const Problem& problem, const Ensemble& ensemble);

/// The points of at most chunk_size consecutive trajectories. Threads must not share an object.
class ChunkPoints {
 public:
  /// `in_space` says whether v and p of the points are in space or in the body.
  ChunkPoints(const Problem& problem, const Ensemble& ensemble, const StartKernel& kernel, bool in_space);

  enum class Kind : unsigned char {
    good,
    left_out,  ///< by the condition of the ensemble
    alone      ///< to be prepared by itself
  };
  /// Returns the same as tables. The grid of the ensemble must outlive them.
  [[nodiscard]] StartProgram program() const;
  /// Prepares the trajectories [first, first + count).
  void prepare(std::uint64_t first, std::uint64_t count);
  /// Computes the initial tangent vectors of the trajectories that are prepared. The kernel must have the function.
  void find_tangents() { kernel_.tangents(arguments_, rows_.data(), 0, static_cast<int>(count_)); }
  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Kind kind(std::uint64_t i) const { return kinds_[i]; }
  /// Whether no point of the chunk is left out or to be prepared alone.
  [[nodiscard]] bool all_good() const { return all_good_; }

  // Rows of the chunk, an entry per trajectory.
  [[nodiscard]] const double* axis(std::size_t i) const { return axes_[i]; }
  [[nodiscard]] const double* q(int i) const { return row(arguments_.layout.q + i); }
  [[nodiscard]] const double* v(int i) const { return row(arguments_.layout.v + i); }
  [[nodiscard]] const double* p(int i) const { return row(arguments_.layout.p + i); }
  [[nodiscard]] const double* lambda(int i) const { return row(arguments_.layout.lambda + i); }
  [[nodiscard]] const double* parameter(std::size_t i) const {
    return row(arguments_.layout.parameters + static_cast<int>(i));
  }
  [[nodiscard]] const double* step() const { return row(arguments_.layout.step); }
  /// Row i of all tangent vectors, one after the other.
  [[nodiscard]] const double* tangent(int i) const { return row(arguments_.layout.rows + i); }

 private:
  [[nodiscard]] const double* row(int row) const { return rows_.data() + row * row_size; }
  [[nodiscard]] static std::vector<int> roots_of(const FormulaNodes& nodes);
  void judge();

  const SystemEntry& system_;
  const Grid& grid_;
  StartKernel kernel_;
  const IsaFunctions& functions_;
  Graph graph_;
  FormulaNodes nodes_;
  LaneProgram program_;
  std::vector<double*> axes_;
  std::vector<double> unread_;  ///< rows of axes that no formula reads
  struct Copy {
    int root, row;
  };
  std::vector<Copy> copies_;  ///< rows of the points that come from the formulas, for each chunk anew
  StartArguments arguments_{};
  bool step_varies_ = false;
  StepCounter counter_;
  std::vector<Unit> units_;
  int tangent_rows_ = 0;  ///< behind those of the points
  std::vector<double> rows_;
  std::array<Kind, chunk_size> kinds_{};
  std::uint64_t first_ = 0, count_ = 0;
  bool all_good_ = false;
};

}  // namespace rattleback
