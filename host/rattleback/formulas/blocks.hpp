#pragma once
// The structure of systems of particles and directors (`Blocks` of mechanics/concepts.hpp).

#include <vector>

#include "rattleback/formulas/system_graph.hpp"

namespace rattleback {

/// Coordinates in groups of `size`: within a group the mass and the second derivatives of g are multiples of the identity.
struct BlockStructure {
  int size = 0;  ///< 0 where the system has no such structure
  /// Factor of the identity for each constraint and pair of groups: m x n/size x n/size nodes without q.
  std::vector<int> hessian;
};

/// Finds the largest groups. The system is separable and holonomic on R^n with a diagonal mass, and its potential must be
/// linear.
[[nodiscard]] BlockStructure find_blocks(SystemGraph& graph);

[[nodiscard]] bool is_diagonal_mass(const SystemGraph& graph);

}  // namespace rattleback
