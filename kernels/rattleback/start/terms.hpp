#pragma once
// A double that knows the size of the terms it comes from. Round-off in it is of the order of 1e-16 of this size, which the
// value itself, such as a difference of equal terms, does not show.

#include "rattleback/real/dual.hpp"

RB_NAMESPACE_BEGIN

/// `size` bounds the change of the value, to first order, when all inputs, constants and intermediate results change by 1,
/// relatively. Conditions look at the value alone.
struct Terms {
  double value, size;

  Terms() = default;
  /// A constant.
  Terms(double a) : Terms(a, __builtin_fabs(a)) {}
  Terms(double a, double its_size) : value(a), size(its_size) {}

  friend Terms operator+(Terms a, Terms b) { return {a.value + b.value, a.size + b.size}; }
  friend Terms operator-(Terms a, Terms b) { return {a.value - b.value, a.size + b.size}; }
  friend Terms operator*(Terms a, Terms b) { return of(a, b, a.value * b.value, b.value, a.value); }
  friend Terms operator/(Terms a, Terms b) {
    const double quotient = a.value / b.value;
    return of(a, b, quotient, 1.0 / b.value, quotient / b.value);
  }
  friend Terms operator-(Terms a) { return {-a.value, a.size}; }
  Terms& operator+=(Terms b) { return *this = *this + b; }
  Terms& operator-=(Terms b) { return *this = *this - b; }
  Terms& operator*=(Terms b) { return *this = *this * b; }
  Terms& operator/=(Terms b) { return *this = *this / b; }

  friend bool operator<(Terms a, Terms b) { return a.value < b.value; }
  friend bool operator<=(Terms a, Terms b) { return a.value <= b.value; }
  friend bool operator>(Terms a, Terms b) { return a.value > b.value; }
  friend bool operator>=(Terms a, Terms b) { return a.value >= b.value; }
  friend bool operator==(Terms a, Terms b) { return a.value == b.value; }
  friend bool operator!=(Terms a, Terms b) { return a.value != b.value; }

  friend Terms fma(Terms a, Terms b, Terms c) {
    const Terms product = a * b;
    return {rattleback::fma(a.value, b.value, c.value), product.size + c.size};
  }
  friend Terms abs(Terms a) { return {rattleback::abs(a.value), a.size}; }
  friend Terms with_sign(Terms a, Terms b) { return {rattleback::with_sign(a.value, b.value), a.size}; }
  friend Terms select(bool mask, Terms a, Terms b) { return mask ? a : b; }
  friend Terms exp2_integer(Terms k) { return rattleback::exp2_integer(k.value); }
  friend Terms exponent_of(Terms a) { return rattleback::exponent_of(a.value); }
  friend Terms value_of(Terms a) { return a; }

  friend Terms sqrt(Terms a) {
    const double root = rattleback::sqrt(a.value);
    // Below 1 of its terms the root is as large as the root of round-off in it.
    return {root, a.value > 0.0 ? root + 0.5 * a.size / root : rattleback::sqrt(a.size)};
  }
  friend void sincos(Terms a, Terms& sine, Terms& cosine) {
    double s, c;
    rattleback::sincos(a.value, s, c);
    sine = of(a, s, c);
    cosine = of(a, c, s);
  }
  friend Terms sin(Terms a) {
    Terms s, c;
    sincos(a, s, c);
    return s;
  }
  friend Terms cos(Terms a) {
    Terms s, c;
    sincos(a, s, c);
    return c;
  }
  friend Terms tan(Terms a) {
    const double t = rattleback::tan(a.value);
    return of(a, t, 1.0 + t * t);
  }
  friend Terms asin(Terms a) { return of(a, rattleback::asin(a.value), inverse_root(1.0 - a.value * a.value)); }
  friend Terms acos(Terms a) { return of(a, rattleback::acos(a.value), inverse_root(1.0 - a.value * a.value)); }
  friend Terms atan(Terms a) { return of(a, rattleback::atan(a.value), 1.0 / (1.0 + a.value * a.value)); }
  friend Terms atan2(Terms y, Terms x) {
    const double square = x.value * x.value + y.value * y.value;
    return of(y, x, rattleback::atan2(y.value, x.value), x.value / square, y.value / square);
  }
  friend Terms exp(Terms a) {
    const double e = rattleback::exp(a.value);
    return of(a, e, e);
  }
  friend Terms log(Terms a) { return of(a, rattleback::log(a.value), 1.0 / a.value); }
  friend Terms log2(Terms a) { return of(a, rattleback::log2(a.value), 1.4426950408889634 / a.value); }
  friend Terms log10(Terms a) { return of(a, rattleback::log10(a.value), 0.4342944819032518 / a.value); }
  friend void sinhcosh(Terms a, Terms& sine, Terms& cosine) {
    double s, c;
    rattleback::sinhcosh(a.value, s, c);
    sine = of(a, s, c);
    cosine = of(a, c, s);
  }
  friend Terms sinh(Terms a) {
    Terms s, c;
    sinhcosh(a, s, c);
    return s;
  }
  friend Terms cosh(Terms a) {
    Terms s, c;
    sinhcosh(a, s, c);
    return c;
  }
  friend Terms tanh(Terms a) {
    const double t = rattleback::tanh(a.value);
    return of(a, t, 1.0 - t * t);
  }
  friend Terms asinh(Terms a) { return of(a, rattleback::asinh(a.value), inverse_root(1.0 + a.value * a.value)); }
  friend Terms acosh(Terms a) { return of(a, rattleback::acosh(a.value), inverse_root(a.value * a.value - 1.0)); }
  friend Terms atanh(Terms a) { return of(a, rattleback::atanh(a.value), 1.0 / (1.0 - a.value * a.value)); }
  friend Terms rint(Terms a) { return {rattleback::rint(a.value), a.size}; }
  friend Terms pow(Terms a, Terms b) {
    const double power = rattleback::pow(a.value, b.value);
    return of(a, b, power, b.value * rattleback::pow(a.value, b.value - 1.0),
              a.value > 0.0 ? power * rattleback::log(a.value) : 0.0);
  }
  friend Terms pow(Terms a, double b) {
    return of(a, rattleback::pow(a.value, b), b == 0.0 ? 0.0 : b * rattleback::pow(a.value, b - 1.0));
  }

 private:
  static double inverse_root(double a) { return 1.0 / rattleback::sqrt(a); }
  /// f(a), and f(a, b), with the derivatives.
  static Terms of(Terms a, double f, double by_a) { return {f, __builtin_fabs(f) + __builtin_fabs(by_a) * a.size}; }
  static Terms of(Terms a, Terms b, double f, double by_a, double by_b) {
    return {f, __builtin_fabs(by_a) * a.size + __builtin_fabs(by_b) * b.size};
  }
};

RB_NAMESPACE_END
