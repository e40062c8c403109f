#pragma once
// Scalars and vectors of space as text: what a machine of bodies and joints is made of before it becomes formulas. Numbers are
// computed at once, so that what is 0 by the shape of a joint never reaches a formula.

#include <array>
#include <string>

#include "rattleback/language/value.hpp"

namespace rattleback {

/// A number, or the text of a formula.
struct Term {
  double number = 0.0;
  std::string text;  ///< empty for a number
  bool sum = false;  ///< the text is a sum, or unknown, and needs parentheses as a factor

  Term() = default;
  Term(double value) : number(value) {}
  explicit Term(std::string formula, bool is_sum = false) : text(std::move(formula)), sum(is_sum) {}

  [[nodiscard]] bool plain() const { return text.empty(); }
  [[nodiscard]] bool is(double value) const { return plain() && number == value; }
  /// The formula.
  [[nodiscard]] std::string formula() const;
};

[[nodiscard]] Term operator+(const Term& a, const Term& b);
[[nodiscard]] Term operator-(const Term& a);
[[nodiscard]] Term operator-(const Term& a, const Term& b);
[[nodiscard]] Term operator*(const Term& a, const Term& b);
[[nodiscard]] Term operator/(const Term& a, const Term& b);
/// "sqrt(a)"
[[nodiscard]] Term call(const char* function, const Term& a);
/// The angle whose cosine and sine are c and s times a positive number.
[[nodiscard]] Term angle_of(const Term& s, const Term& c);

using Vec = std::array<Term, 3>;
using Mat = std::array<Vec, 3>;  ///< rows
using Num3 = std::array<double, 3>;

[[nodiscard]] Vec operator+(const Vec& a, const Vec& b);
[[nodiscard]] Vec operator-(const Vec& a, const Vec& b);
[[nodiscard]] Vec operator*(const Term& a, const Vec& b);
[[nodiscard]] Vec operator*(const Mat& a, const Vec& b);
[[nodiscard]] Term dot(const Vec& a, const Vec& b);
[[nodiscard]] Vec cross(const Vec& a, const Vec& b);
[[nodiscard]] Mat transposed(const Mat& a);
[[nodiscard]] Vec vec(const Num3& a);

[[nodiscard]] double dot(const Num3& a, const Num3& b);
[[nodiscard]] Num3 cross(const Num3& a, const Num3& b);
/// A vector of length 1, without the round-off that a 0 or a 1 would have; zeros where `a` is 0.
[[nodiscard]] Num3 unit(const Num3& a);
/// A unit vector across `a`, which is one: of the coordinate planes, where it can be.
[[nodiscard]] Num3 across(const Num3& a);

}  // namespace rattleback
