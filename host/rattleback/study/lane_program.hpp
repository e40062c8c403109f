#pragma once
// Evaluates expressions for the trajectories of a chunk at a time, an operation for all of them in packs.

#include <span>
#include <vector>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/language/graph.hpp"

namespace rattleback {

/// Some nodes of a graph, with a row of chunk_size numbers for each node that they depend on. The values have the bits of Program.
/// Threads must not share an object.
class LaneProgram {
 public:
  LaneProgram(const Graph& graph, std::span<const int> roots, const IsaFunctions& functions);

  /// Returns the row of a variable, for its values; null where no root depends on it.
  [[nodiscard]] double* variable(int index);
  /// Computes all rows from those of the variables.
  void evaluate();
  /// Returns the nodes, whose operands are positions among them, in an order where operands come first.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// Returns the position of the node of a root, or of a variable; -1 for a variable on which no root depends.
  [[nodiscard]] int position(int root) const { return position_[static_cast<std::size_t>(root)]; }
  [[nodiscard]] int position_of_variable(int index) const;
  /// Returns the row of a root.
  [[nodiscard]] const double* row(int root) const { return row_of(position(root)); }
  /// Returns whether a root depends on a variable.
  [[nodiscard]] bool varies(int root) const { return varies_[static_cast<std::size_t>(root)] != 0; }

 private:
  [[nodiscard]] const double* row_of(int position) const {
    return rows_.data() + static_cast<std::size_t>(position) * row_size;
  }

  const IsaFunctions& functions_;
  std::vector<Node> nodes_;    ///< their operands are positions of rows
  std::vector<int> position_;  ///< of the row of each node of the graph, -1 without row
  std::vector<char> varies_;   ///< each node of the graph
  std::vector<double> rows_;
};

}  // namespace rattleback
