#pragma once
// C++ text of the nodes of a graph.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rattleback/language/algebra.hpp"

namespace rattleback {

/// Statements, and the expressions that they lead to.
struct Code {
  std::vector<std::string> statements;
  std::vector<std::string> values;  ///< one for each node
};

/// The nodes of one function as C++. Nodes that depend on parameters alone have the type T, all others S. Parts that
/// occur twice, and long parts, become constants of their own.
class CodeWriter {
 public:
  /// `names` are the C++ expressions of the variables of the graph, and `given` those of nodes that are known. With `alike`, terms of a
  /// long sum are added in statements of their own, so that equal terms have equal statements (language/rolled.hpp).
  CodeWriter(ExpressionAlgebra& algebra, std::vector<std::string> names, std::map<int, std::string> given = {},
             bool alike = false)
      : algebra_(algebra), names_(std::move(names)), alike_(alike), given_(std::move(given)) {}

  /// Writes nodes as values of the type S, or T where `in_parameters` is true.
  [[nodiscard]] Code operator()(std::span<const int> nodes, bool in_parameters = false);

 private:
  /// How tightly an expression binds.
  enum class Rank { sum, product, sign, name };
  struct Text {
    std::string text;
    Rank rank;
  };
  struct Part {
    int node;
    bool negative;
  };
  void count(std::span<const int> nodes);
  void plan(int node);
  [[nodiscard]] bool is_parameter(int node) { return !algebra_.depends(node, algebra_.parameters(), 1 << 30); }
  [[nodiscard]] bool is_leaf(int node) const { return arity(algebra_.graph()[node].op) == 0; }
  [[nodiscard]] bool is_cheap(int node) const;
  [[nodiscard]] bool is_product(int node) const;
  /// Returns a node as an operand in an expression of the type T or S.
  Text operand(int node, bool in_parameters);
  Text expression(int node, bool in_parameters);
  Text sum(int node, bool in_parameters);
  /// Returns the text of an operation with its operands.
  Text written(const Node& node, bool in_parameters);
  /// Returns a mask: where a node is not 0.
  std::string condition(int node, bool in_parameters);
  void parts_of_sum(int node, bool negative, bool first, std::vector<Part>& parts);
  std::string bound(const Text& text, Rank least) const;
  std::string fused(const Part& product, const std::string& rest, bool in_parameters);
  /// Stores a text under a new name when it is long.
  Text shortened(Text text, bool in_parameters);
  std::string store(const std::string& text, bool in_parameters);
  void write_sincos(int operand);

  ExpressionAlgebra& algebra_;
  std::vector<std::string> names_;
  bool alike_;
  std::map<int, std::string> given_;
  std::map<int, int> uses_;
  std::map<int, std::string> stored_;  ///< nodes with a name of their own
  Code code_;
  int next_ = 0;
};

/// Returns a number as C++: the shortest decimal that is the same double.
[[nodiscard]] std::string cpp_number(double value);
/// Returns a whole number as C++; one beyond long long is an unsigned long long.
[[nodiscard]] std::string cpp_number(std::uint64_t value);
/// Returns a text as a C++ string literal of printable ASCII.
[[nodiscard]] std::string cpp_string(std::string_view text);

}  // namespace rattleback
