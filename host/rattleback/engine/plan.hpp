#pragma once
// The plan is the work that a study asks of a backend.

#include "rattleback/engine/backend.hpp"
#include "rattleback/study/ensemble.hpp"

namespace rattleback {

/// Makes the plan: observables, rows of a chunk, and arguments of the step loops. The observables of the study come
/// first, then the observables that only correlations and the covariance need.
[[nodiscard]] Plan make_plan(const Problem& problem, const Ensemble& ensemble);

/// Rows [first, end) of a chunk.
struct RowRange {
  int first, end;
};
/// Returns the rows that are copied from a backend: all but the fixed ones (ChunkLayout).
[[nodiscard]] std::vector<RowRange> rows_to_fetch(const Plan& plan);
/// Returns those of them that the end of a tile needs where it needs no state: Backend::fetch_counts.
[[nodiscard]] std::vector<RowRange> rows_of_counts(const Plan& plan);

/// Returns the two kernels that a run with an instruction set needs: the time loop, and observables. The instruction set
/// does not matter for CUDA.
[[nodiscard]] std::vector<Unit> units_of(const Problem& problem, Isa isa);
[[nodiscard]] std::vector<Unit> units_of(const Plan& plan, Isa isa);
/// Returns the kernels for the CPU that locate crossings of surfaces of section, on every backend: the time loop without
/// tangent vector, and where the study has derivatives that with them.
[[nodiscard]] std::vector<Unit> units_of_sections(const Problem& problem, Isa isa);
[[nodiscard]] std::vector<Unit> units_of_sections(const Plan& plan, Isa isa);

}  // namespace rattleback
