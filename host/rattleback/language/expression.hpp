#pragma once
// Expressions of a study are functions of variables that the caller names.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/language/parser.hpp"
#include "rattleback/language/value.hpp"

namespace rattleback {

/// Returns the variables of an expression in order of first appearance: all names except pi and functions. Empty for a
/// number.
[[nodiscard]] std::vector<std::string> variables_of(const Value& value);

/// Evaluates a Value. Threads must not share an Expression.
class Expression {
 public:
  /// `what` names the value in messages. Variable i has the name names[i] and the value slots[i]. The slots must
  /// outlive the expression. Throws Error(input) when the text is not one expression or uses an unknown name; `hint`
  /// follows the list of known names in that message.
  Expression(const Value& value, std::string what, std::span<const std::string> names, const double* slots,
             std::string_view hint = "");

  /// Returns the indices of the variables that the expression reads.
  [[nodiscard]] std::span<const int> reads() const { return reads_; }

  /// Returns whether the value is true or false: a comparison, or made of comparisons by &&, || and ?:.
  [[nodiscard]] bool is_condition() const { return is_condition_; }

  /// Adds the expression to a graph, with a node for each of its variables. Returns the node of its value.
  [[nodiscard]] int add_to(Graph& graph, std::span<const int> variables) const;

  /// Returns the value for the present slots. Throws Error(input) when the value is not finite.
  [[nodiscard]] double operator()() const;

 private:
  void parse(const Value& value, std::span<const std::string> names, std::string_view hint);
  [[nodiscard]] std::string stated() const;

  std::string what_, text_, where_;
  double number_ = 0;
  std::vector<int> reads_;
  std::vector<std::string> read_names_;
  const double* slots_;
  std::optional<Program> program_;  ///< empty for a number
  bool is_condition_ = false;
};

/// Returns the value of an expression without variables.
[[nodiscard]] double constant(const Value& value, const std::string& what);

}  // namespace rattleback
