#pragma once
// Instructions of PTX that C++ has no operator for.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "thread.hpp"

namespace ptxcpu {

using int128_t = __int128;
using uint128_t = unsigned __int128;

inline double as_f64(uint64_t x) { return __builtin_bit_cast(double, x); }
inline float as_f32(uint32_t x) { return __builtin_bit_cast(float, x); }
inline uint64_t as_bits(double x) { return __builtin_bit_cast(uint64_t, x); }
inline uint32_t as_bits(float x) { return __builtin_bit_cast(uint32_t, x); }

/// The result of an operation. With PTXCPU_STRANGE_NAN a NaN has other bits than on a CPU, as on a GPU.
template <class T>
inline T rounded(T x) {
#ifdef PTXCPU_STRANGE_NAN
  if (x != x) {
    if constexpr (sizeof(T) == 8) return T(as_f64(0x7fffffffdeadbeefull));
    return T(as_f32(0x7fffbeefu));
  }
#endif
  return x;
}

/// A fused product. GCC would turn -fma(a, b, c) into fma(-a, b, -c), which has the other sign where the sum is zero.
inline double fused(double a, double b, double c) {
  double r = __builtin_fma(a, b, c);
  asm("" : "+x"(r));
  return rounded(r);
}
inline float fused(float a, float b, float c) {
  float r = __builtin_fmaf(a, b, c);
  asm("" : "+x"(r));
  return rounded(r);
}

/// Whether one of the two is a NaN.
template <class T>
inline bool is_nan(T a, T b) {
  return __builtin_isunordered(a, b);
}

template <class T>
inline T divide(Thread& t, T a, T b, int line) {
  if (b == 0) [[unlikely]]
    fault(t, Fault::division, 0, line);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return T(-std::make_unsigned_t<T>(a));
  }
  return T(a / b);
}
template <class T>
inline T remainder(Thread& t, T a, T b, int line) {
  if (b == 0) [[unlikely]]
    fault(t, Fault::division, 0, line);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return T(a % b);
}
template <class T>
inline T absolute(T a) {
  return a < 0 ? T(-std::make_unsigned_t<T>(a)) : a;
}

/// The other operand where one operand is a NaN; -0 is less than 0.
template <class T>
inline T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return b == b ? b : std::numeric_limits<T>::quiet_NaN();
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
inline T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return b == b ? b : std::numeric_limits<T>::quiet_NaN();
    if (b != b) return a;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a > b ? a : b;
}

template <class T>
inline T shift_left(T a, uint32_t by) {
  return by >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << by);
}
template <class T>
inline T shift_right(T a, uint32_t by) {
  if (by >= 8 * sizeof(T)) return std::is_signed_v<T> && a < 0 ? T(-1) : T(0);
  return T(a >> by);
}
/// The high word of (high, low) shifted to the left.
template <bool wrap>
inline uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t by) {
  by = wrap ? by & 31 : by > 32 ? 32 : by;
  return uint32_t(((uint64_t(high) << 32 | low) << by) >> 32);
}
/// The low word of (high, low) shifted to the right.
template <bool wrap>
inline uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t by) {
  by = wrap ? by & 31 : by > 32 ? 32 : by;
  return uint32_t((uint64_t(high) << 32 | low) >> by);
}
/// prmt: four bytes chosen out of the eight of (b, a); the top bit of a selector spreads the sign of the byte.
inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selection) {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t s = selection >> (4 * i) & 15u;
    uint32_t byte = uint32_t(bytes >> (8 * (s & 7u))) & 255u;
    if (s & 8u) byte = byte & 128u ? 255u : 0u;
    r |= byte << (8 * i);
  }
  return r;
}
/// bfe: a field of bits, of signed types with its sign.
template <class T>
inline T extract(T a, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t bits = 8 * sizeof(T);
  position &= 255u;
  length &= 255u;
  if (length == 0) return 0;
  const uint32_t top = position + length - 1 < bits - 1 ? position + length - 1 : bits - 1;
  const bool sign = std::is_signed_v<T> && (U(a) >> top & 1u);
  U r = 0;
  for (uint32_t i = 0; i < bits; ++i) {
    const bool bit = i < length && position + i < bits ? (U(a) >> (position + i) & 1u) != 0 : sign;
    r |= U(bit) << i;
  }
  return T(r);
}
/// bfi: b with the low bits of a in a field.
template <class T>
inline T insert(T a, T b, uint32_t position, uint32_t length) {
  constexpr uint32_t bits = 8 * sizeof(T);
  position &= 255u;
  length &= 255u;
  for (uint32_t i = 0; i < length && position + i < bits; ++i) {
    const T mask = T(1) << (position + i);
    b = T((b & ~mask) | ((a >> i & 1u) << (position + i)));
  }
  return b;
}
/// Bit 4 a + 2 b + c of the table is the result for the bits a, b, c.
inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (uint32_t k = 0; k < 8; ++k)
    if (table >> k & 1u) r |= (k & 4u ? a : ~a) & (k & 2u ? b : ~b) & (k & 1u ? c : ~c);
  return r;
}
template <class T>
inline uint32_t leading_zeros(T a) {
  constexpr uint32_t bits = 8 * sizeof(T);
  return a == 0 ? bits : uint32_t(__builtin_clzll(uint64_t(a))) - (64 - bits);
}
template <class T>
inline T reverse(T a) {
  T r = 0;
  for (uint32_t i = 0; i < 8 * sizeof(T); ++i) r = T(r << 1 | (a >> i & 1u));
  return r;
}
/// bfind: position of the first bit that is not the sign; with `shift` how far the bit is from the top. All ones: none.
template <class T, bool shift>
inline uint32_t find_leading(T a) {
  using U = std::make_unsigned_t<T>;
  const U x = std::is_signed_v<T> && a < 0 ? U(~U(a)) : U(a);
  if (x == 0) return ~0u;
  const uint32_t zeros = leading_zeros<U>(x);
  return shift ? zeros : 8 * sizeof(T) - 1 - zeros;
}

template <class To, class From>
inline To truncated(From a) {
  return To(a);
}
template <class To, class From>
inline To saturated(From a) {
  const __int128 low = std::numeric_limits<To>::min(), high = std::numeric_limits<To>::max(), x = a;
  return To(x < low ? low : x > high ? high : x);
}
/// Clamps; a NaN becomes 0, or the top bit alone where the float or the integer has 64 bits.
template <class To, class From>
inline To to_integer(From a) {
  if (a != a) {
    if (sizeof(From) == 4 && sizeof(To) < 8) return 0;
    return To(std::make_unsigned_t<To>(1) << (8 * sizeof(To) - 1));
  }
  const From limit = std::ldexp(From(1), std::numeric_limits<To>::digits);
  if (a >= limit) return std::numeric_limits<To>::max();
  if (a < (std::is_signed_v<To> ? -limit : From(0))) return std::numeric_limits<To>::min();
  return To(a);
}

// Blocks run one after the other, and a thread goes on until the thread waits: nothing comes between load and store.
template <class T, class F>
inline T atomic(uint8_t* p, const F& f) {
  const T old = load<T>(p);
  store<T>(p, f(old));
  return old;
}
template <class T>
inline T atomic_add(uint8_t* p, T x) {
  return atomic<T>(p, [&](T old) { return T(old + x); });
}
template <class T>
inline T atomic_min(uint8_t* p, T x) {
  return atomic<T>(p, [&](T old) { return minimum<T>(old, x); });
}
template <class T>
inline T atomic_max(uint8_t* p, T x) {
  return atomic<T>(p, [&](T old) { return maximum<T>(old, x); });
}
template <class T>
inline T atomic_and(uint8_t* p, T x) {
  return atomic<T>(p, [&](T old) { return T(old & x); });
}
template <class T>
inline T atomic_or(uint8_t* p, T x) {
  return atomic<T>(p, [&](T old) { return T(old | x); });
}
template <class T>
inline T atomic_exch(uint8_t* p, T x) {
  return atomic<T>(p, [&](T) { return x; });
}
template <class T>
inline T atomic_cas(uint8_t* p, T expected, T x) {
  return atomic<T>(p, [&](T old) { return old == expected ? x : old; });
}

}  // namespace ptxcpu
