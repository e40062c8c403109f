#pragma once
// The structure of systems of particles and directors (`Blocks` of mechanics/concepts.hpp).

#include <vector>

#include "rattleback/language/system_graph.hpp"

namespace rattleback {

/// Coordinates in groups of `size`: within a group the mass and the second derivatives below are multiples of the
/// identity. U is a linear function plus the sum of f_a(pi_a), with pi_a at most quadratic.
struct BlockStructure {
  int size = 0;  ///< 0 where the system has no such structure
  /// D^2 g_k and D^2 pi_a: a factor of the identity for each pair of groups, (n/size)^2 nodes without q.
  std::vector<std::vector<int>> constraint_hessian, invariant_hessian;
  std::vector<int> invariants;  ///< pi_a
  std::vector<int> terms;       ///< f_a, functions of the first variable behind the velocities
};

/// Finds the largest groups. Only a separable holonomic system on R^n with a diagonal mass has the structure.
[[nodiscard]] BlockStructure find_blocks(SystemGraph& graph);

[[nodiscard]] bool is_diagonal_mass(const SystemGraph& graph);

}  // namespace rattleback
