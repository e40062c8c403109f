#pragma once
// What formulas take from the time alone.

#include <span>
#include <vector>

#include "rattleback/language/system_graph.hpp"

namespace rattleback {

/// Returns the largest functions, such as cos(w t), whose operands are made of the time, parameters and numbers. They cost more than
/// what is around them, and have one value for all evaluations of a stage. Sums and products of such functions are not among
/// them, so that a formula has the same bits with them and without.
[[nodiscard]] std::vector<int> parts_of_time(SystemGraph& graph, std::span<const int> nodes);
/// Returns those of the functions that steps evaluate.
[[nodiscard]] std::vector<int> parts_of_time(SystemGraph& graph);

}  // namespace rattleback
