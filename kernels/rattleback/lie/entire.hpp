#pragma once
// The functions in exponentials of rotations,
//
//   E_r(x) = sum_k (-x)^k / (2 k + r)!,
//
// with x = theta^2. E_0 = cos theta, E_1 = sin theta/theta, E_2 = (1 - cos theta)/theta^2,
// E_3 = (theta - sin theta)/theta^3, ... These functions are entire in the square of the angle,
// so theta = 0 is not singular, and
//
//   E_r = 1/r! - x E_{r+2},      dE_r/dx = (r E_{r+2} - E_{r+1})/2 = (E_{r-1} - r E_r)/(2 x),
//
// The first form of the derivative is accurate for small x, the second for large x.

#include "rattleback/real/dual.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Whether to use the power series; for these x the sums lose at most about one digit.
template <class T>
RB_HD auto entire_by_series(const T& x) {
  return x <= T(10.0);
}
/// The order where the recursion of the series begins, with E_r = 1/r! for this order and the order below. For r <= 11
/// the error is at most about one ulp of E_r, at x = 10.
inline constexpr int entire_top = 29;

/// 1/0!, 1/1!, ... as a value, because device code cannot refer to a static array.
template <int N>
struct InverseFactorials {
  double value[N];
  RB_CONSTEXPR InverseFactorials() : value() {
    double factorial = 1.0;
    for (int n = 0; n < N; ++n) {
      if (n > 0) factorial *= n;
      value[n] = 1.0 / factorial;
    }
  }
};

}  // namespace detail

/// E_0(x) .. E_R(x).
template <class T, int R>
struct Entire {
  T x, value[R + 1];

  RB_HD const T& operator[](int r) const { return value[r]; }
  /// dE_r/dx, r <= R - 2.
  RB_HD T derivative(int r) const {
    const T near = T(0.5) * (T(double(r)) * value[r + 2] - value[r + 1]);
    const auto by_series = detail::entire_by_series(x);
    if (r == 0 || all(by_series)) return near;
    return select(by_series, near, T(0.5) * (value[r - 1] - T(double(r)) * value[r]) / x);
  }
};

template <int R, class T>
RB_HD Entire<T, R> entire(const T& x);
template <int R, class T, int K>
RB_HD Entire<Dual<T, K>, R> entire(const Dual<T, K>& x);

/// Computes E_0 .. E_R for x >= 0. Absolute errors are a few ulp of the largest term 1/r! for x <= 10, and of E_r or
/// 1/x for x > 10. E_r does not depend on R, so the values over dual numbers and over the scalar agree in all bits.
template <int R, class T>
RB_HD Entire<T, R> entire(const T& x) {
  static_assert(R <= 11);
  constexpr int top = detail::entire_top;
  constexpr detail::InverseFactorials<top + 1> inverse_factorial;
  T series[top + 1];
  series[top] = T(inverse_factorial.value[top]);
  series[top - 1] = T(inverse_factorial.value[top - 1]);
  RB_UNROLL
  for (int r = top - 2; r >= 0; --r) series[r] = fma(-x, series[r + 2], T(inverse_factorial.value[r]));
  Entire<T, R> e;
  e.x = x;
  RB_UNROLL
  for (int r = 0; r <= R; ++r) e.value[r] = series[r];

  const auto by_series = detail::entire_by_series(x);
  if (all(by_series)) return e;

  // sin and cos of half the angle give E_2 = 2 sin^2(theta/2)/x accurately next to the double zeros of E_2.
  const T theta = sqrt(x), inverse = T(1.0) / x;
  T s, c;
  sincos(T(0.5) * theta, s, c);
  T f[R + 1];
  f[0] = fma(c, c, -(s * s));
  f[1] = T(2.0) * s * c / theta;
  f[2] = T(2.0) * s * s * inverse;
  RB_UNROLL
  for (int r = 3; r <= R; ++r) f[r] = (T(inverse_factorial.value[r - 2]) - f[r - 2]) * inverse;
  RB_UNROLL
  for (int r = 0; r <= R; ++r) e.value[r] = select(by_series, e.value[r], f[r]);
  return e;
}

/// Uses the chain rule. The derivatives are as accurate as the functions and need two more functions.
template <int R, class T, int K>
RB_HD Entire<Dual<T, K>, R> entire(const Dual<T, K>& x) {
  const Entire<T, R + 2> e = entire<R + 2>(x.value);
  Entire<Dual<T, K>, R> d;
  d.x = x;
  RB_UNROLL
  for (int r = 0; r <= R; ++r) d.value[r] = Dual<T, K>::chain(x, e[r], e.derivative(r));
  return d;
}

RB_NAMESPACE_END
