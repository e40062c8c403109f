#pragma once
// sin, cos, exp, log and atan use additions, multiplications, divisions and fma only, so that a double, a lane of a
// pack and a CUDA thread give the same bits. Errors are below 1 ulp of the correctly rounded result
// (tests/kernels/real/elementary_test.cpp, against MPFR).

#include "rattleback/real/pairs.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The integer nearest to a (ties to even), |a| < 2^51. The sum with 1.5 * 2^52 has no fraction bits.
template <class T>
RB_HD T round_to_integer(T a) {
  const T magic(6755399441055744.0);
  return (a + magic) - magic;
}

/// Reduces a, |a| <= 2^30: a = n pi/2 + (high + low), |high| <= pi/4 (1 + eps). pi/2 has three parts of 53 bits. The
/// first product cancels exactly, and the second is kept with its rounding error, so the relative error of high + low
/// is below 2^-70 even next to a multiple of pi/2.
template <class T>
RB_HD void reduce_pi_half(T a, T& n, T& high, T& low) {
  const T part1(1.5707963267948966), part2(6.123233995736766e-17), part3(-1.4973849048591698e-33);
  n = round_to_integer(a * T(0.6366197723675814));
  const auto product = two_product(n, part2);
  const auto sum = two_sum(fma(-n, part1, a), -product.high);
  high = sum.high;
  low = sum.low - fma(n, part3, product.low);
}

/// The polynomial with these coefficients, by pairs: the pairs do not wait for each other.
template <class T>
RB_HD T polynomial_of_pairs(T z, double c0, double c1, double c2, double c3, double c4, double c5) {
  const T square = z * z;
  const T upper = fma(square, fma(T(c5), z, T(c4)), fma(T(c3), z, T(c2)));
  return fma(square, upper, fma(T(c1), z, T(c0)));
}

/// sin(x + y) - x for |x| <= pi/4 and a tail y, by the minimax polynomial (Remez). The error in sin(x)/x is below 2^-58.
template <class T>
RB_HD T sin_tail(T x, T y) {
  const T z = x * x;
  const T s = polynomial_of_pairs(z, -0.16666666666666632, 0.008333333333322425, -0.0001984126982981688,
                                  2.755731369520027e-06, -2.5050758648926052e-08, 1.5896827664145774e-10);
  // x^3 s + y cos x is small.
  return fma(z * x, s, fma(y, T(-0.5) * z, y));
}

/// cos(x + y) as head + tail, for |x| <= pi/4 and a tail y, by the minimax polynomial (Remez). The error is below 2^-64;
/// 1 - z/2 is split exactly.
template <class T>
RB_HD void cos_parts(T x, T y, T& head, T& tail) {
  const T z = x * x;
  const T c = polynomial_of_pairs(z, 0.0416666666666666, -0.0013888888888874138, 2.4801587289491752e-05,
                                  -2.7557314355220184e-07, 2.087572368142767e-09, -1.135966970807851e-11);
  const T half = T(0.5) * z;
  head = T(1.0) - half;
  const T half_error = fma(T(0.5) * x, x, -half);
  const T head_error = ((T(1.0) - head) - half) - half_error;
  tail = head_error + fma(z * z, c, -(x * y));
}

}  // namespace detail

/// Sine and cosine of a in radians for |a| <= 2^30; NaN beyond.
template <class T>
RB_HD void sincos(T a, T& sine, T& cosine) {
  T n, x, y;
  detail::reduce_pi_half(a, n, x, y);
  T head, tail;
  detail::cos_parts(x, y, head, tail);
  const T s = x + detail::sin_tail(x, y);
  const T c = head + tail;
  // The quadrant is -2 .. 2. In even quadrants the sine is the sine of x times 1 - |quadrant|, in odd ones its cosine times the
  // quadrant. NaN is even.
  const T whole = fma(T(-4.0), detail::round_to_integer(n * T(0.25)), n);
  const T quadrant = select(abs(a) <= T(1073741824.0), whole, T(__builtin_nan("")));
  const T size = abs(quadrant), even = T(1.0) - size;
  const auto odd = size == T(1.0);
  // At zero the sine is the argument, because the reduction loses the sign of -0.
  sine = select(a == T(0.0), a, select(odd, quadrant * c, even * s));
  cosine = select(odd, -quadrant * s, even * c);
}

template <class T>
RB_HD T sin(T a) {
  T s, c;
  sincos(a, s, c);
  return s;
}

template <class T>
RB_HD T cos(T a) {
  T s, c;
  sincos(a, s, c);
  return c;
}

namespace detail {

/// (e^x - 1 - x)/x^2 by the Taylor series to x^13, |x| <= ln(2)/2.
template <class T>
RB_HD T exp_tail(T x) {
  return polynomial(x, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0, 1.0 / 40320.0,
                    1.0 / 362880.0, 1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0);
}

}  // namespace detail

/// e^a: infinity above 709.79, gradual underflow below -708, 0 below -746.
template <class T>
RB_HD T exp(T a) {
  const T clamped = select(a == a, max(min(a, T(710.0)), T(-746.0)), T(0.0));
  const T k = detail::round_to_integer(clamped * T(1.4426950408889634));
  // a - k ln 2 in two parts. The head of ln 2 has 42 bits, so k * head is exact.
  const auto r = detail::fast_two_sum(fma(-k, T(0.6931471805598903), clamped), k * T(-5.497923018708371e-14));
  const T e = T(1.0) + (r.high + fma(r.high * r.high, detail::exp_tail(r.high), r.low));
  // Two factors are necessary because 2^k alone may overflow or be subnormal.
  const T k1 = detail::round_to_integer(k * T(0.5));
  return select(a == a, e * exp2_integer(k1) * exp2_integer(k - k1), a);
}

namespace detail {

/// a = 2^k m with sqrt(1/2) < m <= sqrt(2), for a finite a > 0.
template <class T>
RB_HD void split_number(T a, T& m, T& k) {
  // A scaling by a power of two keeps k and -k in the range of exp2_integer.
  const auto small = a<T(0x1p-1000), large = a> T(0x1p1000);
  const T scaled = a * select(small, T(0x1p100), select(large, T(0x1p-100), T(1.0)));
  const T exponent = exponent_of(scaled);
  const T significand = scaled * exp2_integer(-exponent);
  const auto halve = significand > T(1.4142135623730951);
  m = select(halve, T(0.5) * significand, significand);
  k = exponent + select(halve, T(1.0), T(0.0)) + select(small, T(-100.0), select(large, T(100.0), T(0.0)));
}

}  // namespace detail

/// ln a: -infinity at 0, NaN for a < 0.
template <class T>
RB_HD T log(T a) {
  T m, k;
  detail::split_number(a, m, k);
  // ln(1 + f) = 2 artanh(s) = 2 s + s r(s^2), where s = f/(2 + f) and 2 s = f - s f = f - f^2/2 + s f^2/2.
  const T f = m - T(1.0);
  const T s = f / (T(2.0) + f);
  const T z = s * s;
  const T r = detail::polynomial(z, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0, 2.0 / 13.0, 2.0 / 15.0,
                                 2.0 / 17.0, 2.0 / 19.0, 2.0 / 21.0, 2.0 / 23.0);
  const T half_square = T(0.5) * f * f;
  // The head of ln 2 has 42 bits, so k * head is exact.
  const T tail = fma(s, fma(z, r, half_square), k * T(5.497923018708371e-14));
  const T y = fma(k, T(0.6931471805598903), f - (half_square - tail));
  const T infinity(__builtin_huge_val());
  return select(a == T(0.0), -infinity, select(a < infinity, select(a > T(0.0), y, T(__builtin_nan(""))), a));
}

namespace detail {

/// (atan(x)/x - 1)/x^2 as a function of z = x^2, |x| <= 7/16, by the polynomial through 12 Chebyshev nodes. The error
/// in atan(x)/x is below 2^-60.
template <class T>
RB_HD T atan_tail(T z) {
  return polynomial(z, -0.3333333333333333, 0.1999999999999941, -0.14285714285566806, 0.11111111096645038,
                    -0.09090908355602592, 0.07692285554889286, -0.06666241923359964, 0.05876946456755061,
                    -0.05216679739313656, 0.04492259293193656, -0.033128134256069586, 0.014773184616983806);
}

}  // namespace detail

/// arctan a, in [-pi/2, pi/2].
template <class T>
RB_HD T atan(T a) {
  // atan m = atan b + atan (m - b)/(1 + m b) with the nearest b of 0, 1/2, 1, 3/2 and infinity; (m - b)/(1 + m b) is at
  // most 7/16 in size.
  const T m = abs(a);
  T numerator(-1.0), denominator = m, high(1.5707963267948966), low(6.123233995736766e-17);
  const auto take = [&](double below, T n, T d, double h, double l) {
    const auto nearer = m < T(below);
    numerator = select(nearer, n, numerator);
    denominator = select(nearer, d, denominator);
    high = select(nearer, T(h), high);
    low = select(nearer, T(l), low);
  };
  take(2.4375, m - T(1.5), fma(T(1.5), m, T(1.0)), 0.982793723247329, 1.3903311031230998e-17);
  take(1.1875, m - T(1.0), m + T(1.0), 0.7853981633974483, 3.061616997868383e-17);
  take(0.6875, fma(T(2.0), m, T(-1.0)), T(2.0) + m, 0.4636476090008061, 2.2698777452961687e-17);
  take(0.4375, m, T(1.0), 0.0, 0.0);
  const T t = numerator / denominator;
  const T z = t * t;
  const T y = high + (t + fma(t * z, detail::atan_tail(z), low));
  return select(a == T(0.0), a, select(a < T(0.0), -y, y));
}

/// The nearest whole number, in a tie the larger: floor(a + 1/2) with the sum not rounded. Zeros are +0.
template <class T>
RB_HD T rint(T a) {
  const T size = abs(a), all(4503599627370496.0);   // from 2^52 on, all numbers are whole
  const T even = with_sign((size + all) - all, a);  // in a tie the even one
  const T nearest = select(a - even == T(0.5), even + T(1.0), even);
  return select(size < all, nearest + T(0.0), a);
}

/// sqrt(a^2 + b^2), where the squares may overflow or underflow. The relative error is below 2^-51.
template <class T>
RB_HD T hypot(T a, T b) {
  const T infinity(__builtin_huge_val());
  const T size_a = abs(a), size_b = abs(b), longer = max(size_a, size_b), shorter = min(size_a, size_b);
  const T quotient = shorter / select((longer > T(0.0)) & (longer < infinity), longer, T(1.0));
  const T length = select(longer < infinity, longer * sqrt(fma(quotient, quotient, T(1.0))), infinity);
  return select((a == a) & (b == b), length, a + b);
}

// These overloads match double exactly, so that a call that also finds the C library's function is ambiguous. Otherwise
// the compiler would silently take the C library's function.
RB_HD void sincos(double a, double& sine, double& cosine) { sincos<double>(a, sine, cosine); }
RB_HD double sin(double a) { return sin<double>(a); }
RB_HD double cos(double a) { return cos<double>(a); }
RB_HD double exp(double a) { return exp<double>(a); }
RB_HD double log(double a) { return log<double>(a); }
RB_HD double atan(double a) { return atan<double>(a); }
RB_HD double rint(double a) { return rint<double>(a); }
RB_HD double hypot(double a, double b) { return hypot<double>(a, b); }

RB_NAMESPACE_END
