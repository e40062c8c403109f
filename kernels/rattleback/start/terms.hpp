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
    sine = sin(a);
    cosine = cos(a);
  }
  RB_HD friend void sinhcosh(Terms a, Terms& sine, Terms& cosine) {
    sine = sinh(a);
    cosine = cosh(a);
  }
#define RB_TERMS_OF(function)                                \
  RB_HD friend Terms function(Terms a) {                     \
    return of([](const auto& x) { return function(x); }, a); \
  }
  RB_TERMS_OF(sin)
  RB_TERMS_OF(cos)
  RB_TERMS_OF(tan)
  RB_TERMS_OF(asin)
  RB_TERMS_OF(acos)
  RB_TERMS_OF(atan)
  RB_TERMS_OF(exp)
  RB_TERMS_OF(log)
  RB_TERMS_OF(log2)
  RB_TERMS_OF(log10)
  RB_TERMS_OF(sinh)
  RB_TERMS_OF(cosh)
  RB_TERMS_OF(tanh)
  RB_TERMS_OF(asinh)
  RB_TERMS_OF(acosh)
  RB_TERMS_OF(atanh)
#undef RB_TERMS_OF
  RB_HD friend Terms atan2(Terms y, Terms x) {
    return of([](const auto& s, const auto& c) { return atan2(s, c); }, y, x);
  }
  RB_HD friend Terms rint(Terms a) { return {rint(a.value), a.size}; }
  RB_HD friend Terms pow(Terms a, Terms b) {
    return of([](const auto& x, const auto& y) { return pow(x, y); }, a, b);
  }
  RB_HD friend Terms pow(Terms a, double power) {
    return of([&](const auto& x) { return pow(x, power); }, a);
  }

 private:
  /// f(a), and f(a, b), with the derivatives by dual numbers or given.
  template <class F>
  RB_HD static Terms of(const F& f, const Terms& a) {
    const auto y = f(Dual<T, 1>(a.value, 0));
    return {y.value, abs(y.value) + abs(y.partial[0]) * a.size};
  }
  template <class F>
  RB_HD static Terms of(const F& f, const Terms& a, const Terms& b) {
    const auto y = f(Dual<T, 2>(a.value, 0), Dual<T, 2>(b.value, 1));
    return of(a, b, y.value, y.partial[0], y.partial[1]);
  }
  RB_HD static Terms of(const Terms& a, const Terms& b, T f, T by_a, T by_b) {
    return {f, abs(by_a) * a.size + abs(by_b) * b.size};
  }
};

template <class T>
struct MaskOf<Terms<T>> : MaskOf<T> {};

RB_NAMESPACE_END
