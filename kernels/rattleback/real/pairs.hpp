#pragma once
// Unevaluated sums of two numbers, for elementary functions that need more than 53 bits on the way. The sums and products
// without error are those of T. J. Dekker, Numer. Math. 18 (1971) 224, and of D. E. Knuth, The Art of Computer
// Programming 2, 4.2.2; fma gives the error of a product.

#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// high + low, where low is small beside high.
template <class T>
struct Pair {
  T high, low;
};

/// a + b without error, where |a| >= |b| or a = 0. Otherwise the error is below 2^-53 |b|.
template <class T>
RB_HD Pair<T> fast_two_sum(T a, T b) {
  const T sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b without error.
template <class T>
RB_HD Pair<T> two_sum(T a, T b) {
  const T sum = a + b;
  const T from_b = sum - a;
  return {sum, (a - (sum - from_b)) + (b - from_b)};
}

/// a b without error, where the error does not underflow.
template <class T>
RB_HD Pair<T> two_product(T a, T b) {
  const T product = a * b;
  return {product, fma(a, b, -product)};
}

/// a / b. The relative error is about 2^-100 where both low parts are below 2^-53 times the high ones.
template <class T>
RB_HD Pair<T> quotient(const Pair<T>& a, const Pair<T>& b) {
  const T inverse = T(1.0) / b.high;
  const T high = a.high * inverse;
  const T rest = fma(-high, b.high, a.high) + fma(-high, b.low, a.low);
  return {high, rest * inverse};
}

/// c0 + c1 x + c2 x^2 + ..
template <class T>
RB_HD T polynomial(T, double c) {
  return T(c);
}
template <class T, class... Rest>
RB_HD T polynomial(T x, double c, Rest... rest) {
  return fma(polynomial(x, rest...), x, T(c));
}

}  // namespace detail

RB_NAMESPACE_END
