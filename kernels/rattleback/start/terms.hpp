#pragma once
// A number that knows the size of the terms it comes from. Round-off in it is of the order of 1e-16 of this size, which the
// value itself, such as a difference of equal terms, does not show.

#include "rattleback/real/dual.hpp"

RB_NAMESPACE_BEGIN

/// `size` bounds the change of the value, to first order, when all inputs, constants and intermediate results change by 1,
/// relatively. Conditions look at the value alone.
template <class T>
struct Terms {
  T value, size;

  Terms() = default;
  /// A constant.
  template <class U>
    requires(!__is_same(U, Terms) && __is_constructible(T, U))
  RB_HD Terms(const U& a) : Terms(T(a), abs(T(a))) {}
  RB_HD Terms(const T& a, const T& its_size) : value(a), size(its_size) {}

  RB_HD friend Terms operator+(Terms a, Terms b) { return {a.value + b.value, a.size + b.size}; }
  RB_HD friend Terms operator-(Terms a, Terms b) { return {a.value - b.value, a.size + b.size}; }
  RB_HD friend Terms operator*(Terms a, Terms b) { return of(a, b, a.value * b.value, b.value, a.value); }
  RB_HD friend Terms operator/(Terms a, Terms b) {
    const T quotient = a.value / b.value;
    return of(a, b, quotient, T(1.0) / b.value, quotient / b.value);
  }
  RB_HD friend Terms operator-(Terms a) { return {-a.value, a.size}; }
  RB_HD Terms& operator+=(Terms b) { return *this = *this + b; }
  RB_HD Terms& operator-=(Terms b) { return *this = *this - b; }
  RB_HD Terms& operator*=(Terms b) { return *this = *this * b; }
  RB_HD Terms& operator/=(Terms b) { return *this = *this / b; }

  RB_HD friend mask_t<T> operator<(Terms a, Terms b) { return a.value < b.value; }
  RB_HD friend mask_t<T> operator<=(Terms a, Terms b) { return a.value <= b.value; }
  RB_HD friend mask_t<T> operator>(Terms a, Terms b) { return a.value > b.value; }
  RB_HD friend mask_t<T> operator>=(Terms a, Terms b) { return a.value >= b.value; }
  RB_HD friend mask_t<T> operator==(Terms a, Terms b) { return a.value == b.value; }
  RB_HD friend mask_t<T> operator!=(Terms a, Terms b) { return a.value != b.value; }

  RB_HD friend Terms fma(Terms a, Terms b, Terms c) {
    const Terms product = a * b;
    return {fma(a.value, b.value, c.value), product.size + c.size};
  }
  RB_HD friend Terms abs(Terms a) { return {abs(a.value), a.size}; }
  RB_HD friend Terms with_sign(Terms a, Terms b) { return {with_sign(a.value, b.value), a.size}; }
  RB_HD friend Terms select(mask_t<T> mask, Terms a, Terms b) {
    return {select(mask, a.value, b.value), select(mask, a.size, b.size)};
  }
  RB_HD friend Terms exp2_integer(Terms k) { return exp2_integer(k.value); }
  RB_HD friend Terms exponent_of(Terms a) { return exponent_of(a.value); }
  RB_HD friend Terms value_of(Terms a) { return a; }

  RB_HD friend Terms sqrt(Terms a) {
    const T root = sqrt(a.value);
    // Below 1 of its terms the root is as large as the root of round-off in it.
    return {root, select(a.value > T(0.0), root + T(0.5) * a.size / root, sqrt(a.size))};
  }
  RB_HD friend void sincos(Terms a, Terms& sine, Terms& cosine) {
    T s, c;
    sincos(a.value, s, c);
    sine = of(a, s, c);
    cosine = of(a, c, s);
  }
  RB_HD friend Terms sin(Terms a) {
    Terms s, c;
    sincos(a, s, c);
    return s;
  }
  RB_HD friend Terms cos(Terms a) {
    Terms s, c;
    sincos(a, s, c);
    return c;
  }
  RB_HD friend Terms tan(Terms a) {
    const T t = tan(a.value);
    return of(a, t, T(1.0) + t * t);
  }
  RB_HD friend Terms asin(Terms a) { return of(a, asin(a.value), inverse_root(T(1.0) - a.value * a.value)); }
  RB_HD friend Terms acos(Terms a) { return of(a, acos(a.value), inverse_root(T(1.0) - a.value * a.value)); }
  RB_HD friend Terms atan(Terms a) { return of(a, atan(a.value), T(1.0) / (T(1.0) + a.value * a.value)); }
  RB_HD friend Terms atan2(Terms y, Terms x) {
    const T square = x.value * x.value + y.value * y.value;
    return of(y, x, atan2(y.value, x.value), x.value / square, y.value / square);
  }
  RB_HD friend Terms exp(Terms a) {
    const T e = exp(a.value);
    return of(a, e, e);
  }
  RB_HD friend Terms log(Terms a) { return of(a, log(a.value), T(1.0) / a.value); }
  RB_HD friend Terms log2(Terms a) { return of(a, log2(a.value), T(1.4426950408889634) / a.value); }
  RB_HD friend Terms log10(Terms a) { return of(a, log10(a.value), T(0.4342944819032518) / a.value); }
  RB_HD friend void sinhcosh(Terms a, Terms& sine, Terms& cosine) {
    T s, c;
    sinhcosh(a.value, s, c);
    sine = of(a, s, c);
    cosine = of(a, c, s);
  }
  RB_HD friend Terms sinh(Terms a) {
    Terms s, c;
    sinhcosh(a, s, c);
    return s;
  }
  RB_HD friend Terms cosh(Terms a) {
    Terms s, c;
    sinhcosh(a, s, c);
    return c;
  }
  RB_HD friend Terms tanh(Terms a) {
    const T t = tanh(a.value);
    return of(a, t, T(1.0) - t * t);
  }
  RB_HD friend Terms asinh(Terms a) { return of(a, asinh(a.value), inverse_root(T(1.0) + a.value * a.value)); }
  RB_HD friend Terms acosh(Terms a) { return of(a, acosh(a.value), inverse_root(a.value * a.value - T(1.0))); }
  RB_HD friend Terms atanh(Terms a) { return of(a, atanh(a.value), T(1.0) / (T(1.0) - a.value * a.value)); }
  RB_HD friend Terms rint(Terms a) { return {rint(a.value), a.size}; }
  RB_HD friend Terms pow(Terms a, Terms b) {
    const T power = pow(a.value, b.value);
    return of(a, b, power, b.value * pow(a.value, b.value - T(1.0)),
              select(a.value > T(0.0), power * log(a.value), T(0.0)));
  }
  RB_HD friend Terms pow(Terms a, double power) {
    const T b(power);
    return of(a, pow(a.value, b), select(b == T(0.0), T(0.0), b * pow(a.value, b - T(1.0))));
  }

 private:
  RB_HD static T inverse_root(T a) { return T(1.0) / sqrt(a); }
  /// f(a), and f(a, b), with the derivatives.
  RB_HD static Terms of(Terms a, T f, T by_a) { return {f, abs(f) + abs(by_a) * a.size}; }
  RB_HD static Terms of(Terms a, Terms b, T f, T by_a, T by_b) { return {f, abs(by_a) * a.size + abs(by_b) * b.size}; }
};

template <class T>
struct MaskOf<Terms<T>> : MaskOf<T> {};

RB_NAMESPACE_END
