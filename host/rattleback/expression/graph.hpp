#pragma once
// Expressions as a graph: what the parser makes, and what evaluation and code come from.

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
  whole_power,  ///< a^k for k = 2 to 16: the product a a .. a, from left to right
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
  rint  ///< the nearest whole number, of two the larger
};

struct Node {
  Op op;
  double number = 0.0;           ///< of a constant
  int index = 0;                 ///< of a variable; the exponent of a whole power
  std::array<int, 3> operand{};  ///< nodes before this one
};

/// Number of operands.
[[nodiscard]] int arity(Op op);

/// Nodes in an order in which operands come first. Equal nodes are one node; constants are folded.
class Graph {
 public:
  int constant(double value);
  int variable(int index);
  int apply(Op op, int a, int b = 0, int c = 0);
  /// a^b: products where b is a whole number of 0 to 16.
  int power(int a, int b);

  [[nodiscard]] const Node& operator[](int node) const { return nodes_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] int size() const { return static_cast<int>(nodes_.size()); }

 private:
  int add(const Node& node);

  std::vector<Node> nodes_;
  std::map<std::tuple<Op, unsigned long long, int, std::array<int, 3>>, int> known_;
};

/// A node of a graph, ready to be evaluated again and again. Not to be shared by threads.
class Program {
 public:
  Program(const Graph& graph, int root);
  /// The value for these values of the variables.
  [[nodiscard]] double operator()(const double* variables) const;

 private:
  std::vector<Node> nodes_;  ///< those that the root depends on
  mutable std::vector<double> values_;
};

/// A function of the language.
struct FunctionInfo {
  std::string_view name;
  Op op;
  int least, most;  ///< number of arguments; more than two are taken from left to right
};
[[nodiscard]] std::span<const FunctionInfo> functions();
[[nodiscard]] const FunctionInfo* find_function(std::string_view name);

}  // namespace rattleback
