#pragma once
// Expressions of a study as functions of variables that the caller names.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/expression/parser.hpp"
#include "rattleback/expression/value.hpp"

namespace rattleback {

/// The variables of an expression, in order of first appearance: all names but pi and functions. Empty for a number.
[[nodiscard]] std::vector<std::string> variables_of(const Value& value);

/// A Value ready to be evaluated. Not to be shared by threads.
class Expression {
 public:
  /// `what` names the value in messages. Variable i is called names[i] and lives in slots[i]; the slots must outlive the
  /// expression. Throws Error(input) when the text is no expression of one value or uses another name; `hint` follows
  /// the list of known names in that message.
  Expression(const Value& value, std::string what, std::span<const std::string> names, const double* slots,
             std::string_view hint = "");

  /// Indices of the variables that the expression reads.
  [[nodiscard]] std::span<const int> reads() const { return reads_; }

  /// The value at the present contents of the slots. Throws Error(input) when the value is not finite.
  [[nodiscard]] double operator()() const;

 private:
  void parse(std::span<const std::string> names, std::string_view hint);
  [[nodiscard]] std::string stated() const;

  std::string what_, text_, where_;
  double number_ = 0;
  std::vector<int> reads_;
  std::vector<std::string> read_names_;
  const double* slots_;
  std::optional<Program> program_;  ///< nothing for a number
};

/// The value of an expression without variables.
[[nodiscard]] double constant(const Value& value, const std::string& what);

}  // namespace rattleback
