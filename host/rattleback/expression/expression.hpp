#pragma once
// Arithmetic expressions of a study (muParser) in pi and in variables that the caller names.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/study/study.hpp"

namespace mu {
class Parser;
}

namespace rattleback {

/// Whether an axis may be called so: a letter or _, then letters, digits and _; neither pi nor a function.
[[nodiscard]] bool is_variable_name(std::string_view name);

/// Why a text is too hostile to be parsed (length, nesting, a NUL); empty when it is not. The parsers call themselves for
/// each parenthesis and copy the text.
[[nodiscard]] std::string fault_of_expression(std::string_view text);

/// The variables of an expression, in order of first appearance: all names but pi and functions. Empty for a number.
[[nodiscard]] std::vector<std::string> variables_of(const Value& value);

/// A Value ready to be evaluated.
class Expression {
 public:
  /// `what` names the value in messages. Variable i is called names[i] and lives in slots[i], which must outlive the
  /// expression. Throws Error(input) when the text is no expression of one value or uses another name; `hint` follows
  /// the list of known names in that message.
  Expression(const Value& value, std::string what, std::span<const std::string> names, double* slots,
             std::string_view hint = "");
  ~Expression();
  Expression(Expression&&) noexcept;

  /// Indices of the variables that it reads.
  [[nodiscard]] std::span<const int> reads() const { return reads_; }

  /// The value at the present contents of the slots. Throws Error(input) when it is not finite.
  [[nodiscard]] double operator()() const;

 private:
  void bind(std::span<const std::string> names, double* slots, std::string_view hint);
  [[nodiscard]] std::string stated() const;

  std::string what_, text_, where_;
  double number_ = 0;
  std::vector<int> reads_;
  std::vector<std::string> read_names_;
  const double* slots_;
  std::unique_ptr<mu::Parser> parser_;  ///< null for a number
};

/// The value of an expression without variables.
[[nodiscard]] double constant(const Value& value, const std::string& what);

}  // namespace rattleback
