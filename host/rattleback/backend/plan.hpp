#pragma once
// What a study asks of a backend.

#include "rattleback/backend/backend.hpp"
#include "rattleback/problem/ensemble.hpp"

namespace rattleback {

/// The observables, first the study's, then what its correlations and the covariance need besides; the rows of a chunk; the
/// arguments of the step loops.
[[nodiscard]] Plan make_plan(const Problem& problem, const Ensemble& ensemble);

}  // namespace rattleback
