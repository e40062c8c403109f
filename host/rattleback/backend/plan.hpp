#pragma once
// The plan is the work that a study asks of a backend.

#include "rattleback/backend/backend.hpp"
#include "rattleback/problem/ensemble.hpp"

namespace rattleback {

/// Makes the plan: observables, rows of a chunk, and arguments of the step loops. The observables of the study come
/// first, then the observables that only correlations and the covariance need.
[[nodiscard]] Plan make_plan(const Problem& problem, const Ensemble& ensemble);

/// Returns the kernels that a run of the problem with an instruction set needs: the time loop, observables and surfaces.
[[nodiscard]] std::vector<Unit> units_of(const Problem& problem, Isa isa);
/// Returns the units whose CUDA kernels a run needs; the first one has the kernel of observables.
[[nodiscard]] std::vector<Unit> device_units_of(const Problem& problem);
[[nodiscard]] std::vector<Unit> device_units_of(const Plan& plan);
/// Returns the kernels for the CPU that a run needs on every backend: crossings of surfaces of section are located on the CPU.
[[nodiscard]] std::vector<Unit> units_of_sections(const Problem& problem);

}  // namespace rattleback
