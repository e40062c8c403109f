#pragma once
// log2, log10 and pow by the means of elementary.hpp: the same bits for every scalar, errors below 1 ulp
// (tests/kernels/real/power_test.cpp, against MPFR). Zeros, infinities and NaN are as in C99, annex F.

#include "rattleback/real/elementary.hpp"
#include "rattleback/real/pairs.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// (2 artanh(t/2)/t - 1)/t^2 as a function of y = t^2, |t| <= 0.3432, by the minimax polynomial (Remez). The error in
/// artanh is below 2^-61.
template <class T>
RB_HD T artanh_tail(T y) {
  return polynomial(y, 0.08333333333333333, 0.01250000000000195, 0.002232142856959948, 0.000434027786065939,
                    8.877820157866477e-05, 1.8783068814859176e-05, 4.043620591471073e-06, 1.0109837231611165e-06);
}

/// t with ln(1 + f) = 2 artanh(t/2).
template <class T>
RB_HD Pair<T> artanh_argument(T f) {
  return quotient({T(2.0) * f, T(0.0)}, fast_two_sum(T(2.0), f));
}

/// ln m/ln b + k s, where the significand m of a number is near 1. 1/ln b is a pair, and s has the head `step`, with which
/// k has an exact product, and `step_low`.
template <class T>
RB_HD T logarithm_to_base(T m, T k, const Pair<T>& inverse, T step, T step_low) {
  const auto t = artanh_argument(m - T(1.0));
  const T y = t.high * t.high;
  const auto ln = fast_two_sum(t.high, fma(t.high * y, artanh_tail(y), t.low));
  const auto product = two_product(ln.high, inverse.high);
  const auto sum = fast_two_sum(k * step, product.high);
  const T low = fma(ln.high, inverse.low, fma(ln.low, inverse.high, product.low));
  return sum.high + (sum.low + fma(k, step_low, low));
}

/// The value of a logarithm at a, given the one at |a| > 0.
template <class T>
RB_HD T logarithm_or_special(T a, T y) {
  const T infinity(__builtin_huge_val());
  return select(a == T(0.0), -infinity, select(a < infinity, select(a > T(0.0), y, T(__builtin_nan(""))), a));
}

/// ln a of a finite a > 0, with a relative error of about 2^-68.
template <class T>
RB_HD Pair<T> logarithm(T a) {
  T m, k;
  split_number(a, m, k);
  const auto t = artanh_argument(m - T(1.0));
  // 2 artanh(t/2) = t + t y (1/12 + y (1/80 + y q)) with y = t^2; q = 1/448 + .. is the minimax polynomial (Remez) for a
  // relative error below 2^-71.
  auto y = two_product(t.high, t.high);
  y.low = fma(T(2.0) * t.high, t.low, y.low);
  const T q = polynomial(y.high, 0.0022321428571432126, 0.00043402777773488433, 8.877841114994507e-05,
                         1.8779996385541776e-05, 4.069750243651616e-06, 8.915065291452329e-07, 2.271660075947118e-07);
  // y (c + rest)
  const auto add_then_multiply = [&](double c, double c_low, const Pair<T>& rest) {
    const auto sum = fast_two_sum(T(c), rest.high);
    const T sum_low = sum.low + (T(c_low) + rest.low);
    const auto product = two_product(y.high, sum.high);
    return Pair<T>{product.high, fma(y.high, sum_low, fma(y.low, sum.high, product.low))};
  };
  const auto u = add_then_multiply(0.0125, -6.938893903907229e-19, {y.high * q, T(0.0)});
  const auto w = add_then_multiply(0.08333333333333333, 4.625929269271485e-18, u);
  auto v = two_product(t.high, w.high);
  v.low = fma(t.high, w.low, fma(t.low, w.high, v.low));
  const auto sum = fast_two_sum(k * T(0.6931471805598903), t.high);
  const auto all = fast_two_sum(sum.high, v.high);
  return fast_two_sum(all.high, fma(k, T(5.497923018708371e-14), (t.low + v.low) + (sum.low + all.low)));
}

/// e^(high + low): infinity above 709.79, gradual underflow below -708, 0 below -746.
template <class T>
RB_HD T exp_of_pair(const Pair<T>& a) {
  const T clamped = max(min(a.high, T(710.0)), T(-746.0));
  const T k = round_to_integer(clamped * T(1.4426950408889634));
  const T x = fma(-k, T(0.6931471805598903), clamped);
  const T y = fma(k, T(-5.497923018708371e-14), select(clamped == a.high, a.low, T(0.0)));
  const auto r = fast_two_sum(x, y);
  const auto head = fast_two_sum(T(1.0), r.high);
  const T e = head.high + (head.low + fma(r.high * r.high, exp_tail(r.high), fma(r.high, r.low, r.low)));
  const T k1 = round_to_integer(k * T(0.5));
  return e * exp2_integer(k1) * exp2_integer(k - k1);
}

/// Whether a >= 0 has no fraction. Numbers above 2^52 have none.
template <class T>
RB_HD mask_t<T> is_whole(T a) {
  const T unit(4503599627370496.0);
  return (a >= unit) | ((a + unit) - unit == a);
}

}  // namespace detail

/// The logarithm of a to base 2: -infinity at 0, NaN for a < 0.
template <class T>
RB_HD T log2(T a) {
  T m, k;
  detail::split_number(a, m, k);
  const detail::Pair<T> inverse{T(1.4426950408889634), T(2.0355273740931033e-17)};
  return detail::logarithm_or_special(a, detail::logarithm_to_base(m, k, inverse, T(1.0), T(0.0)));
}

/// The logarithm of a to base 10: -infinity at 0, NaN for a < 0.
template <class T>
RB_HD T log10(T a) {
  T m, k;
  detail::split_number(a, m, k);
  const detail::Pair<T> inverse{T(0.4342944819032518), T(1.098319650216765e-17)};
  const T step(0.30102999566395283), step_low(2.8363394551044964e-14);  // log10(2), the head with 42 bits
  return detail::logarithm_or_special(a, detail::logarithm_to_base(m, k, inverse, step, step_low));
}

/// a^b; NaN for a < 0 where b has a fraction.
template <class T>
RB_HD T pow(T a, T b) {
  const T infinity(__builtin_huge_val());
  const T size = abs(a), exponent = abs(b);
  const auto ordinary = (size > T(0.0)) & (size < infinity);
  const auto ln = detail::logarithm(select(ordinary, size, T(1.0)));
  // Beyond 2^66 every power of a number other than 1 overflows or underflows.
  const T bounded = select(b == b, max(min(b, T(0x1p66)), T(-0x1p66)), T(0.0));
  auto product = detail::two_product(bounded, ln.high);
  product.low = fma(bounded, ln.low, product.low);
  const auto rises = b > T(0.0);
  const T extreme = select(size == T(0.0), select(rises, T(0.0), infinity), select(rises, infinity, T(0.0)));
  // a power of 0 or of infinity where `ordinary` does not hold
  const T power = select(ordinary, detail::exp_of_pair(product), extreme);
  const auto whole = detail::is_whole(exponent), even = detail::is_whole(T(0.5) * exponent);
  const auto odd = whole & !even;
  const auto undefined = (a < T(0.0)) & (a > -infinity) & !whole;
  const T signed_power = select(undefined, T(__builtin_nan("")), select(odd, with_sign(power, a), power));
  const T result = select((a == a) & (b == b), signed_power, a + b);
  return select((b == T(0.0)) | (a == T(1.0)), T(1.0), result);
}

/// a^b with the same exponent for all.
template <class T>
  requires(!__is_same(T, double))
RB_HD T pow(T a, double b) {
  return pow(a, T(b));
}

// These overloads match double exactly, as in elementary.hpp.
RB_HD double log2(double a) { return log2<double>(a); }
RB_HD double log10(double a) { return log10<double>(a); }
RB_HD double pow(double a, double b) { return pow<double>(a, b); }

RB_NAMESPACE_END
