#pragma once
// Hyperbolic functions and their inverses by the means of elementary.hpp: the same bits for every scalar, errors below
// 1 ulp (tests/kernels/real/hyperbolic_test.cpp, against MPFR).

#include "rattleback/real/elementary.hpp"
#include "rattleback/real/pairs.hpp"
#include "rattleback/real/power.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// sinh a = 2^(k-1) sine, cosh a = 2^(k-1) cosine.
template <class T>
struct HyperbolicParts {
  Pair<T> sine, cosine;
  T k;
};

/// For 0 <= a <= 712. With a = k ln 2 + r, |r| <= ln(2)/2, and q = 4^-k,
///   2^(1-k) sinh a = (1 - q) cosh r + (1 + q) sinh r,   2^(1-k) cosh a = (1 + q) cosh r + (1 - q) sinh r,
/// without cancellation where k = 0. sinh r and cosh r are Taylor series to r^13 and r^14.
template <class T>
RB_HD HyperbolicParts<T> hyperbolic_parts(T a) {
  const T k = round_to_integer(a * T(1.4426950408889634));
  const auto r = fast_two_sum(fma(-k, T(0.6931471805598903), a), k * T(-5.497923018708371e-14));
  const T z = r.high * r.high;
  const T s = polynomial(z, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0, 1.0 / 39916800.0, 1.0 / 6227020800.0);
  const T c = polynomial(z, 0.5, 1.0 / 24.0, 1.0 / 720.0, 1.0 / 40320.0, 1.0 / 3628800.0, 1.0 / 479001600.0,
                         1.0 / 87178291200.0);
  const T sinh_tail = fma(r.high * z, s, r.low), cosh_tail = fma(z, c, r.high * r.low);
  const T q = exp2_integer(T(-2.0) * min(k, T(40.0)));
  const T sum = T(1.0) + q, difference = T(1.0) - q;
  const T sum_low = q - (sum - T(1.0)), difference_low = (T(1.0) - difference) - q;
  const auto combine = [&](T one, T one_low, T other, T other_low) {
    const auto product = two_product(other, r.high);
    const auto head = fast_two_sum(one, product.high);
    const T tail = fma(one, cosh_tail, fma(other, sinh_tail, fma(other_low, r.high, one_low)));
    return fast_two_sum(head.high, head.low + (product.low + tail));
  };
  return {combine(difference, difference_low, sum, sum_low), combine(sum, sum_low, difference, difference_low), k};
}

/// 2^(k-1) (a.high + a.low) for 0 <= k <= 1027.
template <class T>
RB_HD T scaled(const Pair<T>& a, T k) {
  const T k1 = round_to_integer((k - T(1.0)) * T(0.5));
  return (a.high + a.low) * exp2_integer(k1) * exp2_integer(k - T(1.0) - k1);
}

/// |a|, at most `limit`; 0 for NaN.
template <class T>
RB_HD T bounded_size(T a, double limit) {
  return select(a == a, min(abs(a), T(limit)), T(0.0));
}

/// 2 artanh(n/d) + k ln 2, where n/d is at most 0.1716 in size.
template <class T>
RB_HD T logarithm_from(const Pair<T>& n, const Pair<T>& d, T k) {
  const auto t = quotient({T(2.0) * n.high, T(2.0) * n.low}, d);
  const T y = t.high * t.high;
  const auto sum = fast_two_sum(k * T(0.6931471805598903), t.high);
  const T tail = fma(t.high * y, artanh_tail(y), t.low);
  return sum.high + (sum.low + fma(k, T(5.497923018708371e-14), tail));
}

/// sqrt(a) of a pair; 0 where a.high is 0.
template <class T>
RB_HD Pair<T> square_root(const Pair<T>& a) {
  const T root = sqrt(a.high);
  const T rest = fma(-root, root, a.high) + a.low;
  return {root, rest / (root + select(root == T(0.0), T(1.0), root))};
}

/// What artanh needs for the logarithm of u >= 1: ln u = k ln 2 + 2 artanh(n/d).
template <class T>
struct LogarithmParts {
  Pair<T> n, d;
  T k;
};
template <class T>
RB_HD LogarithmParts<T> logarithm_parts(const Pair<T>& u) {
  T m, k;
  split_number(u.high, m, k);
  const T low = u.low * exp2_integer(-k);
  const auto d = fast_two_sum(T(1.0), m);
  return {{m - T(1.0), low}, {d.high, d.low + low}, k};
}

}  // namespace detail

/// Hyperbolic sine and cosine of a.
template <class T>
RB_HD void sinhcosh(T a, T& sine, T& cosine) {
  const auto parts = detail::hyperbolic_parts(detail::bounded_size(a, 712.0));
  sine = select(a == a, with_sign(detail::scaled(parts.sine, parts.k), a), a);
  cosine = select(a == a, detail::scaled(parts.cosine, parts.k), a);
}

template <class T>
RB_HD T sinh(T a) {
  T s, c;
  sinhcosh(a, s, c);
  return s;
}

template <class T>
RB_HD T cosh(T a) {
  T s, c;
  sinhcosh(a, s, c);
  return c;
}

template <class T>
RB_HD T tanh(T a) {
  // Beyond 22 the result rounds to 1.
  const auto parts = detail::hyperbolic_parts(detail::bounded_size(a, 22.0));
  const auto t = detail::quotient(parts.sine, parts.cosine);
  return select(a == a, with_sign(t.high + t.low, a), a);
}

/// The inverse of sinh.
template <class T>
RB_HD T asinh(T a) {
  // ln u with u = x + w, w = sqrt(1 + x^2). For u below sqrt(2), (u - 1)/(u + 1) = x/(1 + w) does not cancel. Beyond 2^30,
  // u rounds to 2 x; 2^-10 avoids overflow.
  const T x = abs(a), infinity(__builtin_huge_val());
  const auto large = x > T(0x1p30);
  const T bounded = select(large, T(1.0), x);
  const auto square = detail::two_product(bounded, bounded);
  auto sum = detail::two_sum(square.high, T(1.0));
  sum.low = sum.low + square.low;
  const auto w = detail::square_root(sum);
  auto u = detail::fast_two_sum(w.high, bounded);
  u.low = u.low + w.low;
  const T scaled = select(x < infinity, x, T(0x1p40)) * T(0x1p-10);
  auto parts = detail::logarithm_parts<T>({select(large, scaled, u.high), select(large, T(0.0), u.low)});
  const auto below = detail::fast_two_sum(w.high, T(1.0));
  const auto small = (parts.k == T(0.0)) & !large;
  parts.n = {select(small, bounded, parts.n.high), select(small, T(0.0), parts.n.low)};
  parts.d = {select(small, below.high, parts.d.high), select(small, below.low + w.low, parts.d.low)};
  const T k = parts.k + select(large, T(11.0), T(0.0));
  return select(x < infinity, with_sign(detail::logarithm_from(parts.n, parts.d, k), a), a);
}

/// The inverse of cosh on [1, infinity); NaN for a < 1.
template <class T>
RB_HD T acosh(T a) {
  // ln u with u = a + sqrt(a^2 - 1); beyond 2^30 as in asinh.
  const T infinity(__builtin_huge_val());
  const auto large = a > T(0x1p30);
  const auto valid = (a >= T(1.0)) & (a < infinity);
  const T bounded = select(valid & !large, a, T(1.0));
  const auto square = detail::two_product(bounded, bounded);
  const auto difference = detail::two_sum(square.high, T(-1.0));
  const auto w = detail::square_root(detail::fast_two_sum(difference.high, difference.low + square.low));
  auto u = detail::fast_two_sum(bounded, w.high);
  u.low = u.low + w.low;
  const T scaled = select(valid, a, T(0x1p40)) * T(0x1p-10);
  const auto parts = detail::logarithm_parts<T>({select(large, scaled, u.high), select(large, T(0.0), u.low)});
  const T y = detail::logarithm_from(parts.n, parts.d, parts.k + select(large, T(11.0), T(0.0)));
  return select(valid, y, select(a < T(1.0), T(__builtin_nan("")), a));
}

/// The inverse of tanh on [-1, 1]: infinite at the ends, NaN beyond.
template <class T>
RB_HD T atanh(T a) {
  // ln(p/d)/2 with p = 1 + x and d = 1 - x. The nearest power of two is taken out of p/d.
  const T x = abs(a), infinity(__builtin_huge_val());
  const T bounded = select(x < T(1.0), x, T(0.0));
  const auto p = detail::fast_two_sum(T(1.0), bounded), d = detail::fast_two_sum(T(1.0), -bounded);
  const T exponent = exponent_of(d.high);
  const T significand = d.high * exp2_integer(-exponent);
  const T up = select(p.high > T(1.4142135623730951) * significand, T(1.0), T(0.0));
  const T down = select(significand > T(1.4142135623730951) * p.high, T(1.0), T(0.0));
  const T k = (up - down) - exponent;
  const T scale = exp2_integer(k);
  const auto n = detail::two_sum(p.high, -scale * d.high), m = detail::two_sum(p.high, scale * d.high);
  const auto zero = k == T(0.0);
  const detail::Pair<T> above{select(zero, bounded, n.high), select(zero, T(0.0), n.low + (p.low - scale * d.low))};
  const detail::Pair<T> below{select(zero, T(1.0), m.high), select(zero, T(0.0), m.low + (p.low + scale * d.low))};
  const T y = T(0.5) * detail::logarithm_from(above, below, k);
  const T edge = select(x == T(1.0), infinity, T(__builtin_nan("")));
  return select(x < T(1.0), with_sign(y, a), select(x == x, with_sign(edge, a), a));
}

// These overloads match double exactly, as in elementary.hpp.
RB_HD void sinhcosh(double a, double& sine, double& cosine) { sinhcosh<double>(a, sine, cosine); }
RB_HD double sinh(double a) { return sinh<double>(a); }
RB_HD double cosh(double a) { return cosh<double>(a); }
RB_HD double tanh(double a) { return tanh<double>(a); }
RB_HD double asinh(double a) { return asinh<double>(a); }
RB_HD double acosh(double a) { return acosh<double>(a); }
RB_HD double atanh(double a) { return atanh<double>(a); }

RB_NAMESPACE_END
