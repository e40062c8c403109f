#include "rattleback/study/term.hpp"

#include <cmath>

#include <fmt/format.h>

namespace rattleback {
namespace {

/// The text as a factor.
std::string factor(const Term& a) {
  if (a.plain()) return a.number < 0.0 ? fmt::format("({})", a.number) : fmt::format("{}", a.number);
  return a.sum || a.text.front() == '-' ? fmt::format("({})", a.text) : a.text;
}

double without_round_off(double x) {
  for (const double whole : {-1.0, 0.0, 1.0})
    if (std::abs(x - whole) < 4e-16) return whole;
  return x;
}

}  // namespace

std::string Term::formula() const { return plain() ? fmt::format("{}", number) : text; }

Term operator+(const Term& a, const Term& b) {
  if (a.plain() && b.plain()) return a.number + b.number;
  if (a.is(0.0)) return b;
  if (b.is(0.0)) return a;
  const std::string added = b.formula();
  return Term(added.front() == '-' ? fmt::format("{} - {}", a.formula(), added.substr(1))
                                   : fmt::format("{} + {}", a.formula(), added),
              true);
}

Term operator-(const Term& a) { return Term(-1.0) * a; }

Term operator-(const Term& a, const Term& b) { return a + -b; }

Term operator*(const Term& a, const Term& b) {
  if (a.plain() && b.plain()) return a.number * b.number;
  if (a.is(0.0) || b.is(0.0)) return 0.0;
  if (a.is(1.0)) return b;
  if (b.is(1.0)) return a;
  if (b.plain()) return b * a;
  if (a.plain() && a.number < 0.0) {
    if (!b.sum && b.text.front() == '-') return Term(-a.number) * Term(b.text.substr(1));
    return a.number == -1.0 ? Term("-" + factor(b)) : Term(fmt::format("-{}*{}", -a.number, factor(b)));
  }
  return Term(fmt::format("{}*{}", factor(a), factor(b)));
}

Term operator/(const Term& a, const Term& b) {
  if (a.plain() && b.plain()) return a.number / b.number;
  if (a.is(0.0)) return 0.0;
  if (b.is(1.0)) return a;
  if (!a.plain() && !a.sum && a.text.front() == '-') return -(Term(a.text.substr(1)) / b);
  const bool product = !b.plain() && (b.sum || b.text.find_first_of("*/") != std::string::npos);
  return Term(fmt::format("{}/{}", factor(a), product ? fmt::format("({})", b.text) : factor(b)));
}

Term call(const char* function, const Term& a) { return Term(fmt::format("{}({})", function, a.formula())); }

Term angle_of(const Term& s, const Term& c) { return Term(fmt::format("atan2({}, {})", s.formula(), c.formula())); }

Vec operator+(const Vec& a, const Vec& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vec operator-(const Vec& a, const Vec& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vec operator*(const Term& a, const Vec& b) { return {a * b[0], a * b[1], a * b[2]}; }
Vec operator*(const Mat& a, const Vec& b) { return {dot(a[0], b), dot(a[1], b), dot(a[2], b)}; }
Term dot(const Vec& a, const Vec& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vec cross(const Vec& a, const Vec& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Mat transposed(const Mat& a) {
  Mat t;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) t[i][j] = a[j][i];
  return t;
}
Vec vec(const Num3& a) { return {a[0], a[1], a[2]}; }

double dot(const Num3& a, const Num3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Num3 cross(const Num3& a, const Num3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Num3 unit(const Num3& a) {
  const double size = std::sqrt(dot(a, a));
  if (!(size > 0.0)) return {};
  return {without_round_off(a[0] / size), without_round_off(a[1] / size), without_round_off(a[2] / size)};
}
Num3 across(const Num3& a) {
  std::size_t least = 0;
  for (std::size_t i = 1; i < 3; ++i)
    if (std::abs(a[i]) < std::abs(a[least])) least = i;
  Num3 b{-a[least] * a[0], -a[least] * a[1], -a[least] * a[2]};
  b[least] += 1.0;
  return unit(b);
}

}  // namespace rattleback
