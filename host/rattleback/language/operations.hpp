#pragma once
// The operations of the language of expressions. A row is all that the host and the generated kernels know of one.

#include <cstddef>
#include <span>
#include <string_view>

#include "rattleback/real/hyperbolic.hpp"
#include "rattleback/real/power.hpp"
#include "rattleback/real/trigonometric.hpp"

namespace rattleback {

/// ROW(name, parameters, derivative, use, value)
///
/// The value is C++ of real/. The host calls it for numbers, and kernels have its text, so that a formula has the same value
/// on every machine. Parameters of the type bool are conditions: a number is true where it is not 0. An operation whose
/// value is no double is a condition itself: 1 or 0 as a number.
/// The derivative is an expression of the language in the operands a, b, c, their derivatives da, db, dc, and the value f.
/// For the use see OperationUse. A value that calls a function with one or two operands, other than `pow`, gives the language
/// this function.
/// A whole power, a^k for k = 2 to 16, is the product a a .. a, computed from left to right; its value here is for k = 1.
// clang-format off
#define RB_OPERATIONS(ROW)                                                                          \
  ROW(constant, (), "0", secant, 0.0)                                                               \
  ROW(variable, (), "0", secant, 0.0)                                                               \
  ROW(add, (double a, double b), "da + db", secant, a + b)                                          \
  ROW(subtract, (double a, double b), "da - db", secant, a - b)                                     \
  ROW(multiply, (double a, double b), "da b + a db", secant, a * b)                                 \
  ROW(divide, (double a, double b), "(da - f db)/b", secant, a / b)                                 \
  ROW(negate, (double a), "-da", secant, -a)                                                        \
  ROW(whole_power, (double a), "k a^(k - 1) da", secant, a)                                         \
  ROW(power, (double a, double b), "f log(a) db + b a^(b - 1) da", smooth, pow(a, b))               \
  ROW(less, (double a, double b), "0", stepped, a < b)                                              \
  ROW(less_equal, (double a, double b), "0", stepped, a <= b)                                       \
  ROW(equal, (double a, double b), "0", stepped, a == b)                                            \
  ROW(not_equal, (double a, double b), "0", stepped, a != b)                                        \
  ROW(both, (bool a, bool b), "0", stepped, (a) & (b))                                              \
  ROW(either, (bool a, bool b), "0", stepped, (a) | (b))                                            \
  ROW(choose, (bool a, double b, double c), "a ? db : dc", stepped, select(a, b, c))                \
  ROW(minimum, (double a, double b), "(a < b ? 0 : 1) db + (a < b ? 1 : 0) da", stepped, min(a, b)) \
  ROW(maximum, (double a, double b), "(a > b ? 0 : 1) db + (a > b ? 1 : 0) da", stepped, max(a, b)) \
  ROW(atan2, (double a, double b), "-(a/(a a + b b)) db + b/(a a + b b) da", smooth, atan2(a, b))   \
  ROW(sin, (double a), "cos(a) da", secant, sin(a))                                                 \
  ROW(cos, (double a), "-sin(a) da", secant, cos(a))                                                \
  ROW(tan, (double a), "(1 + f f) da", smooth, tan(a))                                              \
  ROW(asin, (double a), "1/sqrt(1 - a a) da", smooth, asin(a))                                      \
  ROW(acos, (double a), "-1/sqrt(1 - a a) da", smooth, acos(a))                                     \
  ROW(atan, (double a), "1/(1 + a a) da", smooth, atan(a))                                          \
  ROW(sinh, (double a), "cosh(a) da", smooth, sinh(a))                                              \
  ROW(cosh, (double a), "sinh(a) da", smooth, cosh(a))                                              \
  ROW(tanh, (double a), "(1 - f f) da", smooth, tanh(a))                                            \
  ROW(asinh, (double a), "1/sqrt(a a + 1) da", smooth, asinh(a))                                    \
  ROW(acosh, (double a), "1/sqrt(a a - 1) da", smooth, acosh(a))                                    \
  ROW(atanh, (double a), "1/(1 - a a) da", smooth, atanh(a))                                        \
  ROW(exp, (double a), "f da", secant, exp(a))                                                      \
  ROW(log, (double a), "1/a da", secant, log(a))                                                    \
  ROW(log2, (double a), "1.4426950408889634/a da", smooth, log2(a))                                 \
  ROW(log10, (double a), "0.4342944819032518/a da", smooth, log10(a))                               \
  ROW(sqrt, (double a), "0.5/f da", secant, sqrt(a))                                                \
  ROW(abs, (double a), "sign(a) da", smooth, abs(a))                                                \
  ROW(sign, (double a), "0", stepped, sign(a))                                                      \
  ROW(rint, (double a), "0", stepped, rint(a)) /* the nearest whole number, in a tie the larger */
// clang-format on
#define RB_OPERATION(name, ...) name,
enum class Op { RB_OPERATIONS(RB_OPERATION) };
#undef RB_OPERATION

/// Where a formula may use an operation.
enum class OperationUse {
  stepped,  ///< not in the functions of a system, which are smooth
  smooth,   ///< not where a method takes difference quotients
  secant    ///< everywhere: real/secant.hpp has it
};

/// A row of the table. The value takes as many numbers as the operation has operands.
struct Operation {
  double (*value)(const double* operands) = nullptr;
  std::string_view text;  ///< the value as C++ in a, b, c
  std::string_view derivative;
  OperationUse use = OperationUse::secant;
  int arity = 0;
  unsigned conditions = 0;    ///< bit k: operand k is a condition
  bool is_condition = false;  ///< the value is a mask

  /// Returns the function that the value calls, such as "sin" or "pow"; empty for signs.
  [[nodiscard]] std::string_view function() const { return text.substr(0, text.ends_with(')') ? text.find('(') : 0); }
};
/// Returns all operations in the order of Op.
[[nodiscard]] std::span<const Operation> operations();
[[nodiscard]] inline const Operation& operation(Op op) { return operations()[static_cast<std::size_t>(op)]; }
/// Returns the number of operands.
[[nodiscard]] inline int arity(Op op) { return operation(op).arity; }

/// A function of the language.
struct FunctionInfo {
  std::string_view name;
  Op op;
  int least, most;    ///< number of arguments; more than two arguments are combined from left to right
  bool mean = false;  ///< the value is divided by the number of arguments
};
[[nodiscard]] std::span<const FunctionInfo> functions();
[[nodiscard]] const FunctionInfo* find_function(std::string_view name);

}  // namespace rattleback
