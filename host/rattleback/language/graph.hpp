#pragma once
// The parser makes a graph of an expression. Evaluation and generated code use the graph.

#include <array>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "rattleback/language/operations.hpp"

namespace rattleback {

struct Node {
  Op op;
  double number = 0.0;           ///< value of a constant
  int index = 0;                 ///< index of a variable, or exponent of a whole power
  std::array<int, 3> operand{};  ///< operands; each index is less than the index of this node
};

/// Nodes in an order where operands come first. Equal nodes are stored once; constants are folded.
class Graph {
 public:
  int constant(double value);
  int variable(int index);
  int apply(Op op, int a, int b = 0, int c = 0);
  /// Returns a^b. Whole b from 0 to 16 give products.
  int power(int a, int b);

  [[nodiscard]] const Node& operator[](int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] int size() const { return static_cast<int>(nodes_.size()); }

 private:
  int add(const Node& node);

  std::vector<Node> nodes_;
  std::map<std::tuple<Op, unsigned long long, int, std::array<int, 3>>, int> known_;
};

/// Evaluates a node of a graph repeatedly. Threads must not share a Program.
class Program {
 public:
  Program(const Graph& graph, int root);
  /// Returns the value for the given values of the variables.
  [[nodiscard]] double operator()(const double* variables) const;
  /// Adds the program to a graph, with a node for each of its variables. Returns the node of its value.
  [[nodiscard]] int add_to(Graph& graph, std::span<const int> variables) const;
  /// Returns the largest absolute value on the way to the last value: the measure of its rounding errors.
  [[nodiscard]] double size() const;

 private:
  std::vector<Node> nodes_;  ///< the nodes on which the root depends
  mutable std::vector<double> values_;
};

}  // namespace rattleback
