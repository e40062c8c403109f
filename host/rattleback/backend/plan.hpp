#pragma once
// The plan is the work that a study asks of a backend.

#include "rattleback/backend/backend.hpp"
#include "rattleback/problem/ensemble.hpp"

namespace rattleback {

/// Makes the plan: observables, rows of a chunk, and arguments of the step loops. The observables of the study come
/// first, then the observables that only correlations and the covariance need.
[[nodiscard]] Plan make_plan(const Problem& problem, const Ensemble& ensemble);

}  // namespace rattleback
