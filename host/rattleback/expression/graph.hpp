#pragma once
// The parser makes a graph of an expression. Evaluation and generated code use the graph.

#include <array>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace rattleback {

enum class Op {
  constant,
  variable,
  add,
  subtract,
  multiply,
  divide,
  negate,
  whole_power,  ///< a^k for k = 2 to 16: the product a a .. a, computed from left to right
  power,
  less,
  less_equal,
  equal,
  not_equal,
  both,
  either,
  choose,  ///< b where a is not 0, otherwise c
  minimum,
  maximum,
  atan2,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  exp,
  log,
  log2,
  log10,
  sqrt,
  abs,
  sign,
  rint  ///< the nearest whole number, in a tie the larger
};

struct Node {
  Op op;
  double number = 0.0;           ///< value of a constant
  int index = 0;                 ///< index of a variable, or exponent of a whole power
  std::array<int, 3> operand{};  ///< operands; each index is less than the index of this node
};

/// Returns the number of operands.
[[nodiscard]] int arity(Op op);

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
  /// Returns the largest absolute value on the way to the last value: the measure of its rounding errors.
  [[nodiscard]] double size() const;

 private:
  std::vector<Node> nodes_;  ///< the nodes on which the root depends
  mutable std::vector<double> values_;
};

/// A function of the language.
struct FunctionInfo {
  std::string_view name;
  Op op;
  int least, most;    ///< number of arguments; more than two arguments are combined from left to right
  bool mean = false;  ///< the value is divided by the number of arguments
};
[[nodiscard]] std::span<const FunctionInfo> functions();
[[nodiscard]] const FunctionInfo* find_function(std::string_view name);
/// Returns the first name of an operation that is a function, "pow" for a power; empty for other operations.
[[nodiscard]] std::string_view name_of(Op op);

}  // namespace rattleback
