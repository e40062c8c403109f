#pragma once
// tan, asin, acos and atan2 by the means of elementary.hpp: the same bits for every scalar, errors below 1 ulp
// (tests/kernels/real/trigonometric_test.cpp, against MPFR).

#include "rattleback/real/elementary.hpp"
#include "rattleback/real/pairs.hpp"

RB_NAMESPACE_BEGIN

/// Tangent of a in radians for |a| <= 2^30; NaN beyond.
template <class T>
RB_HD T tan(T a) {
  // The sine and the cosine of the reduced angle remain pairs until they are divided. In odd quadrants the tangent is minus
  // their inverse quotient.
  T n, x, y;
  detail::reduce_pi_half(a, n, x, y);
  T head, tail;
  detail::cos_parts(x, y, head, tail);
  const auto square = detail::two_product(x, x), cube = detail::two_product(square.high, x);
  const T cube_low = fma(square.low, x, cube.low);  // sin_tail leaves it out
  const auto sine = detail::fast_two_sum(x, fma(T(-1.0 / 6.0), cube_low, detail::sin_tail(x, y)));
  const auto cosine = detail::fast_two_sum(head, tail);
  const auto odd = n - T(2.0) * detail::round_to_integer(n * T(0.5)) != T(0.0);
  const detail::Pair<T> above{select(odd, -cosine.high, sine.high), select(odd, -cosine.low, sine.low)};
  const detail::Pair<T> below{select(odd, sine.high, cosine.high), select(odd, sine.low, cosine.low)};
  const auto t = detail::quotient(above, below);
  return select(a == T(0.0), a, select(abs(a) <= T(1073741824.0), t.high + t.low, T(__builtin_nan(""))));
}

namespace detail {

/// (asin(x)/x - 1)/x^2 as a function of z = x^2, |x| <= 1/2, by the minimax polynomial (Remez). The error in asin(x)/x is
/// below 2^-58.
template <class T>
RB_HD T asin_tail(T z) {
  return polynomial(z, 0.16666666666666763, 0.07499999999970264, 0.04464285717512014, 0.030381942683637846,
                    0.02237221565990302, 0.017351600097150803, 0.013980961399597773, 0.011397776368878208,
                    0.010786526961268224, 0.0036830502136568364, 0.02176347742491889, -0.02107725813513439,
                    0.03267686590321298);
}

/// arcsin s, as head and tail, with s = |a| below 1/2. Above, s = sqrt((1 - |a|)/2), because arccos |a| = 2 arcsin s.
template <class T>
struct Arc {
  mask_t<T> inner;
  T head, tail;
};
template <class T>
RB_HD Arc<T> arc(T a) {
  const T m = abs(a);
  const auto inner = m < T(0.5);
  const T z = select(inner, m * m, T(0.5) - T(0.5) * m);
  const T root = sqrt(z);
  const T error = fma(-root, root, z) / (root + select(z == T(0.0), T(1.0), root));
  const T s = select(inner, m, root), s_low = select(inner, T(0.0), error);
  const T w = z * asin_tail(z);
  return {inner, s, fma(s, w, fma(s_low, w, s_low))};
}

}  // namespace detail

/// arcsin a, in [-pi/2, pi/2]; NaN for |a| > 1.
template <class T>
RB_HD T asin(T a) {
  const auto s = detail::arc(a);
  const auto outer = detail::fast_two_sum(T(1.5707963267948966), T(-2.0) * s.head);
  const T above = outer.high + (outer.low + (T(6.123233995736766e-17) - T(2.0) * s.tail));
  const T y = with_sign(select(s.inner, s.head + s.tail, above), a);
  return select(abs(a) <= T(1.0), y, T(__builtin_nan("")));
}

/// arccos a, in [0, pi]; NaN for |a| > 1.
template <class T>
RB_HD T acos(T a) {
  // base - factor arcsin s: pi/2 - arcsin a, 0 + 2 arcsin s or pi - 2 arcsin s.
  const auto s = detail::arc(a);
  const auto negative = a < T(0.0);
  const T factor = select(s.inner, with_sign(T(1.0), a), select(negative, T(2.0), T(-2.0)));
  const T quarters = select(s.inner, T(1.0), select(negative, T(2.0), T(0.0)));
  const auto sum = detail::fast_two_sum(quarters * T(1.5707963267948966), -factor * s.head);
  const T y = sum.high + (sum.low + (quarters * T(6.123233995736766e-17) - factor * s.tail));
  return select(abs(a) <= T(1.0), y, T(__builtin_nan("")));
}

/// The angle of the point (x, y), in [-pi, pi]. Zeros and infinities are as in C99, annex F.
template <class T>
RB_HD T atan2(T y, T x) {
  // With n <= d the sizes of x and y, the angle is base +- atan(n/d). As in atan, atan(n/d) = atan b + atan t with
  // t = (n - b d)/(d + b n), where b is the nearest of 0, 1/2 and 1. Scaling by a power of two keeps the error of the
  // quotient in range.
  const T infinity(__builtin_huge_val());
  const T size_x = abs(x), size_y = abs(y);
  const auto steep = size_x < size_y;
  const T larger = select(steep, size_y, size_x), smaller = select(steep, size_x, size_y);
  const auto unbounded = larger == infinity;
  const T scale = select(larger < T(0x1p500), T(0x1p200), select(larger > T(0x1p1000), T(0x1p-100), T(1.0)));
  const T d = select(unbounded | (larger == T(0.0)), T(1.0), larger * scale);
  const T n = select(unbounded, select(smaller == infinity, T(1.0), T(0.0)), smaller * scale);
  const auto near_half = n >= T(0.4375) * d, near_one = n >= T(0.6875) * d;
  const T b = select(near_one, T(1.0), select(near_half, T(0.5), T(0.0)));
  const detail::Pair<T> above{fma(-b, d, n), T(0.0)}, below{fma(b, n, d), T(0.0)};
  const auto t = detail::quotient(above, below);
  const T z = t.high * t.high;
  const T tail = fma(t.high * z, detail::atan_tail(z), t.low);
  const T high = select(near_one, T(0.7853981633974483), select(near_half, T(0.4636476090008061), T(0.0)));
  const T low = select(near_one, T(3.061616997868383e-17), select(near_half, T(2.2698777452961687e-17), T(0.0)));
  // base is 0, pi/2 or pi.
  const T left = with_sign(T(1.0), x);  // -1 left of the y-axis
  const T sign = select(steep, -left, left);
  const T quarters = select(steep, T(1.0), T(1.0) - left);
  const auto base = detail::two_sum(quarters * T(1.5707963267948966), sign * high);
  const auto sum = detail::fast_two_sum(base.high, sign * t.high);
  const T rest = fma(sign, tail + low, quarters * T(6.123233995736766e-17));
  const T angle = sum.high + (sum.low + (base.low + rest));
  return select((x == x) & (y == y), with_sign(angle, y), x + y);
}

// These overloads match double exactly, as in elementary.hpp.
RB_HD double tan(double a) { return tan<double>(a); }
RB_HD double asin(double a) { return asin<double>(a); }
RB_HD double acos(double a) { return acos<double>(a); }
RB_HD double atan2(double y, double x) { return atan2<double>(y, x); }

RB_NAMESPACE_END
