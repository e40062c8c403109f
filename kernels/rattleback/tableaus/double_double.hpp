#pragma once
// Arithmetic with pairs of doubles (about 106 bits) for tables that are constant expressions. The upper double of a pair
// is the double nearest to their sum.

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// An unevaluated sum of two doubles.
struct DoubleDouble {
  double high, low;

  RB_CONSTEXPR DoubleDouble(double a = 0.0, double b = 0.0) : high(a), low(b) {}

  RB_CONSTEXPR static DoubleDouble sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
  }
  RB_CONSTEXPR static DoubleDouble product(double a, double b) {
    const DoubleDouble x = split(a), y = split(b);
    const double p = a * b;
    return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
  }
  RB_CONSTEXPR friend DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble s = sum(a.high, b.high), t = sum(a.low, b.low);
    const DoubleDouble r = sum(s.high, s.low + t.high);
    return sum(r.high, r.low + t.low);
  }
  RB_CONSTEXPR friend DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
  RB_CONSTEXPR friend DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
  RB_CONSTEXPR friend DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble p = product(a.high, b.high);
    return sum(p.high, p.low + (a.high * b.low + a.low * b.high));
  }
  RB_CONSTEXPR friend DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
    DoubleDouble quotient = a.high / b.high, rest = a - quotient * b;
    for (int i = 0; i < 2; ++i) {
      const DoubleDouble next = rest.high / b.high;
      quotient = quotient + next;
      rest = rest - next * b;
    }
    return quotient;
  }

 private:
  /// Splits a into two halves of 26 bits.
  RB_CONSTEXPR static DoubleDouble split(double a) {
    const double t = 134217729.0 * a, high = t - (t - a);
    return {high, a - high};
  }
};

RB_CONSTEXPR DoubleDouble square_root(double a) {
  DoubleDouble r = a;
  for (int i = 0; i < 10; ++i) r = DoubleDouble(0.5) * (r + DoubleDouble(a) / r);
  return r;
}

/// cos x by the power series, as a start of Newton's method.
RB_CONSTEXPR double cosine(double x) {
  double term = 1.0, sum = 1.0;
  for (int i = 1; i < 20; ++i) {
    term *= -x * x / ((2 * i - 1) * (2 * i));
    sum += term;
  }
  return sum;
}

}  // namespace detail

RB_NAMESPACE_END
