#pragma once
// Forward-mode dual numbers a + sum_i a_i eps_i, eps_i eps_j = 0, over any scalar. Dual numbers over dual numbers give
// second derivatives. Comparisons use the value only.

#include "rattleback/real/elementary.hpp"
#include "rattleback/real/hyperbolic.hpp"
#include "rattleback/real/power.hpp"
#include "rattleback/real/real.hpp"
#include "rattleback/real/trigonometric.hpp"

RB_NAMESPACE_BEGIN

template <class T, int K>
struct Dual {
  T value;
  T partial[K];

  Dual() = default;
  /// Makes a constant from a number or from any other type that T is constructible from.
  template <class U>
    requires(!__is_same(U, Dual) && __is_constructible(T, U))
  RB_HD Dual(const U& a) : value(a) {
    RB_UNROLL
    for (int i = 0; i < K; ++i) partial[i] = T(0.0);
  }
  RB_HD Dual(const T& a, int direction) : Dual(a) { partial[direction] = T(1.0); }

  /// f(a), with f = f(a) and df = f'(a) given.
  RB_HD static Dual chain(const Dual& a, T f, T df) {
    Dual r;
    r.value = f;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = df * a.partial[i];
    return r;
  }
  /// f(a, b), with f = f(a, b) and its derivatives by_a and by_b given.
  RB_HD static Dual chain(const Dual& a, const Dual& b, T f, T by_a, T by_b) {
    Dual r;
    r.value = f;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = fma(by_a, a.partial[i], by_b * b.partial[i]);
    return r;
  }

  RB_HD friend Dual operator+(const Dual& a, const Dual& b) {
    Dual r;
    r.value = a.value + b.value;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = a.partial[i] + b.partial[i];
    return r;
  }
  RB_HD friend Dual operator-(const Dual& a, const Dual& b) {
    Dual r;
    r.value = a.value - b.value;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = a.partial[i] - b.partial[i];
    return r;
  }
  RB_HD friend Dual operator-(const Dual& a) {
    Dual r;
    r.value = -a.value;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = -a.partial[i];
    return r;
  }
  RB_HD friend Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.value = a.value * b.value;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = fma(a.value, b.partial[i], b.value * a.partial[i]);
    return r;
  }
  RB_HD friend Dual operator/(const Dual& a, const Dual& b) {
    const T inverse = T(1.0) / b.value;
    Dual r;
    r.value = a.value / b.value;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = (a.partial[i] - r.value * b.partial[i]) * inverse;
    return r;
  }
  RB_HD Dual& operator+=(const Dual& b) { return *this = *this + b; }
  RB_HD Dual& operator-=(const Dual& b) { return *this = *this - b; }
  RB_HD Dual& operator*=(const Dual& b) { return *this = *this * b; }
  RB_HD Dual& operator/=(const Dual& b) { return *this = *this / b; }

  RB_HD friend auto operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  RB_HD friend auto operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  RB_HD friend auto operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  RB_HD friend auto operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  RB_HD friend auto operator==(const Dual& a, const Dual& b) { return a.value == b.value; }

  RB_HD friend Dual fma(const Dual& a, const Dual& b, const Dual& c) {
    Dual r;
    r.value = fma(a.value, b.value, c.value);
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = fma(a.value, b.partial[i], fma(b.value, a.partial[i], c.partial[i]));
    return r;
  }
  RB_HD friend Dual sqrt(const Dual& a) {
    const T root = sqrt(a.value);
    return chain(a, root, T(0.5) / root);
  }
  RB_HD friend Dual abs(const Dual& a) { return select(a.value < T(0.0), -a, a); }
  RB_HD friend Dual select(mask_t<T> mask, const Dual& a, const Dual& b) {
    Dual r;
    r.value = select(mask, a.value, b.value);
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = select(mask, a.partial[i], b.partial[i]);
    return r;
  }
  RB_HD friend Dual sin(const Dual& a) {
    T s, c;
    sincos(a.value, s, c);
    return chain(a, s, c);
  }
  RB_HD friend Dual cos(const Dual& a) {
    T s, c;
    sincos(a.value, s, c);
    return chain(a, c, -s);
  }
  RB_HD friend void sincos(const Dual& a, Dual& sine, Dual& cosine) {
    T s, c;
    sincos(a.value, s, c);
    sine = chain(a, s, c);
    cosine = chain(a, c, -s);
  }
  RB_HD friend Dual exp(const Dual& a) {
    const T e = exp(a.value);
    return chain(a, e, e);
  }
  RB_HD friend Dual log(const Dual& a) { return chain(a, log(a.value), T(1.0) / a.value); }
  RB_HD friend Dual atan(const Dual& a) { return chain(a, atan(a.value), T(1.0) / fma(a.value, a.value, T(1.0))); }
  RB_HD friend Dual sign(const Dual& a) { return Dual(sign(a.value)); }
  RB_HD friend Dual rint(const Dual& a) { return Dual(rint(a.value)); }
  RB_HD friend Dual tan(const Dual& a) {
    const T t = tan(a.value);
    return chain(a, t, fma(t, t, T(1.0)));
  }
  RB_HD friend Dual asin(const Dual& a) { return chain(a, asin(a.value), T(1.0) / arc_root(a.value)); }
  RB_HD friend Dual acos(const Dual& a) { return chain(a, acos(a.value), T(-1.0) / arc_root(a.value)); }
  RB_HD friend Dual atan2(const Dual& y, const Dual& x) {
    const T square = fma(x.value, x.value, y.value * y.value);
    return chain(y, x, atan2(y.value, x.value), x.value / square, -y.value / square);
  }
  RB_HD friend void sinhcosh(const Dual& a, Dual& sine, Dual& cosine) {
    T s, c;
    sinhcosh(a.value, s, c);
    sine = chain(a, s, c);
    cosine = chain(a, c, s);
  }
  RB_HD friend Dual sinh(const Dual& a) {
    T s, c;
    sinhcosh(a.value, s, c);
    return chain(a, s, c);
  }
  RB_HD friend Dual cosh(const Dual& a) {
    T s, c;
    sinhcosh(a.value, s, c);
    return chain(a, c, s);
  }
  RB_HD friend Dual tanh(const Dual& a) {
    const T secant = T(1.0) / cosh(a.value);
    return chain(a, tanh(a.value), secant * secant);
  }
  RB_HD friend Dual asinh(const Dual& a) {
    return chain(a, asinh(a.value), T(1.0) / sqrt(fma(a.value, a.value, T(1.0))));
  }
  RB_HD friend Dual acosh(const Dual& a) {
    return chain(a, acosh(a.value), T(1.0) / sqrt((a.value - T(1.0)) * (a.value + T(1.0))));
  }
  RB_HD friend Dual atanh(const Dual& a) {
    return chain(a, atanh(a.value), T(1.0) / ((T(1.0) - a.value) * (T(1.0) + a.value)));
  }
  RB_HD friend Dual log2(const Dual& a) { return chain(a, log2(a.value), T(1.4426950408889634) / a.value); }
  RB_HD friend Dual log10(const Dual& a) { return chain(a, log10(a.value), T(0.4342944819032518) / a.value); }
  /// The derivative with respect to b is 0 for a <= 0, where other real exponents are not allowed.
  RB_HD friend Dual pow(const Dual& a, const Dual& b) {
    const T zero(0.0), power = pow(a.value, b.value);
    const T by_a = b.value * pow(a.value, b.value - T(1.0));
    return chain(a, b, power, select((a.value == zero) & (b.value == zero), zero, by_a),
                 select(a.value > zero, power * log(a.value), zero));
  }
  RB_HD friend Dual pow(const Dual& a, double b) {
    return chain(a, pow(a.value, b), b == 0.0 ? T(0.0) : T(b) * pow(a.value, b - 1.0));
  }
  RB_HD friend Dual magnitude(const Dual& a) {
    Dual r;
    r.value = magnitude(a.value);
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = magnitude(a.partial[i]);
    return r;
  }
  RB_HD friend Dual larger(const Dual& a, const Dual& b) {
    Dual r;
    r.value = larger(a.value, b.value);
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = larger(a.partial[i], b.partial[i]);
    return r;
  }
  RB_HD friend auto value_of(const Dual& a) { return value_of(a.value); }

 private:
  /// sqrt(1 - a^2), without cancellation near 1.
  RB_HD static T arc_root(const T& a) { return sqrt((T(1.0) - a) * (T(1.0) + a)); }
};

template <class T, int K>
struct MaskOf<Dual<T, K>> {
  using type = mask_t<T>;
};

/// The coefficients of a number: a dual number has the value (number 0) and the partial derivatives; any other number is its only
/// coefficient.
template <class T>
struct CoefficientsOf {
  using type = T;
  static constexpr int count = 1;
};
template <class T, int K>
struct CoefficientsOf<Dual<T, K>> {
  using type = T;
  static constexpr int count = 1 + K;
};
template <class T>
using coefficient_t = typename CoefficientsOf<T>::type;
template <class T>
inline constexpr int coefficients = CoefficientsOf<T>::count;

template <class T>
RB_HD T& coefficient(T& a, int) {
  return a;
}
template <class T, int K>
RB_HD T& coefficient(Dual<T, K>& a, int i) {
  return i == 0 ? a.value : a.partial[i - 1];
}
template <class T>
RB_HD coefficient_t<T> coefficient(const T& a, int i) {
  T copy = a;
  return coefficient(copy, i);
}

RB_NAMESPACE_END
