#pragma once
// The scalar operations of the kernels, for double. Packs (pack.hpp) and dual numbers (dual.hpp) overload
// the same names:
//   fma, sqrt, abs, with_sign, select, any, all, mask_t<T>, exp2_integer, exponent_of, value_of.
// max and min use one comparison, so that all scalars treat ties, signed zeros and NaN in the same way.

#include <bit>
#include <cstdint>

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// Type of a comparison of T, with one truth value per trajectory.
template <class T>
struct MaskOf {
  using type = bool;
};
template <class T>
using mask_t = typename MaskOf<T>::type;

namespace detail {
template <template <class> class Member, class X, class Default>
struct MemberOr {
  using type = Default;
};
template <template <class> class Member, class X, class Default>
  requires requires { typename Member<X>; }
struct MemberOr<Member, X, Default> {
  using type = Member<X>;
};
/// Member<X>, which stands for a type that X may have, or Default where it has none.
template <template <class> class Member, class X, class Default>
using member_or = typename MemberOr<Member, X, Default>::type;
}  // namespace detail

RB_HD double fma(double a, double b, double c) {
  double r = __builtin_fma(a, b, c);
  // GCC would turn -fma(a, b, c) into fma(-a, b, -c), which has the other sign where the sum is zero.
#if defined(__x86_64__) && !RB_DEVICE_PASS
  asm("" : "+x"(r));
#elif defined(__aarch64__) && !RB_DEVICE_PASS
  asm("" : "+w"(r));
#endif
  return r;
}
RB_HD double sqrt(double a) { return __builtin_sqrt(a); }
RB_HD double abs(double a) { return __builtin_fabs(a); }
/// The size of a with the sign of b, from bits: that of zeros counts, that of NaN is unspecified.
RB_HD double with_sign(double a, double b) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(a) & ~sign) | (std::bit_cast<std::uint64_t>(b) & sign));
}
RB_HD double select(bool mask, double a, double b) { return mask ? a : b; }
RB_HD bool any(bool mask) { return mask; }
RB_HD bool all(bool mask) { return mask; }

/// 2^k for an integer k in [-1022, 1023], built from bits.
RB_HD double exp2_integer(double k) { return std::bit_cast<double>((static_cast<std::int64_t>(k) + 1023) << 52); }

/// floor(log2(a)) of a normal a > 0, from bits.
RB_HD double exponent_of(double a) {
  return static_cast<double>((std::bit_cast<std::int64_t>(a) >> 52 & 0x7ff) - 1023);
}

/// The real number without derivatives.
RB_HD double value_of(double a) { return a; }

template <class T>
RB_HD T max(T a, T b) {
  return select(a < b, b, a);
}
template <class T>
RB_HD T min(T a, T b) {
  return select(b < a, b, a);
}
template <class T>
RB_HD T square(T a) {
  return a * a;
}
/// 1 for a > 0, -1 for a < 0, else a, that is a zero or NaN.
template <class T>
RB_HD T sign(T a) {
  return select(a > T(0.0), T(1.0), select(a < T(0.0), T(-1.0), a));
}
/// magnitude is the size of an update in an iteration, larger is the larger of two sizes. For a dual number (dual.hpp)
/// both work separately on the value and on each partial derivative.
template <class T>
RB_HD T magnitude(T a) {
  return abs(a);
}
template <class T>
RB_HD T larger(T a, T b) {
  return max(a, b);
}
/// max(a, abs(b)) for a >= 0: a where b is NaN.
template <class T>
RB_HD T max_abs(T a, T b) {
  return max(a, abs(b));
}
/// The larger of a size a and of that of b: max_abs, but for dual numbers.
template <class T>
RB_HD T larger_magnitude(T a, T b) {
  return larger(a, magnitude(b));
}
/// False for infinities and NaN, because x - x is 0 for finite x only.
template <class T>
RB_HD mask_t<T> is_finite(T a) {
  return a - a == T(0.0);
}

RB_NAMESPACE_END
