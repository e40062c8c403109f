#pragma once

#include "rattleback/results/result.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Throws Error(input) unless trajectory k of both results starts from the same state, for every k. The states are the
/// same when q agrees and v or p does, to 1e-9 of the largest component: parameters may differ between the results, and
/// so may the method. A method with states in another frame is taken into account. Where a result has no initial
/// states, both must have the same axes and the same [ensemble]. `first_study` and `second_study` are the studies of
/// the results, read but not validated.
void check_same_start(const ResultFile& first, const Study& first_study, const ResultFile& second,
                      const Study& second_study);

}  // namespace rattleback
