#pragma once
// A pack of trajectories: W doubles in one SIMD register, W = 2 (NEON of aarch64), 4 (AVX2 + FMA) or 8 (AVX-512), or in two.
// Arithmetic uses GCC's vector operators; fma, sqrt, comparisons and select are hardware instructions, so each lane rounds
// like a double. `F` holds an fp32 number per lane (single.hpp).

#ifdef __aarch64__
#include <arm_neon.h>
#elif defined(__GNUC__) && __GNUC__ == 12 && !defined(__clang__) && !defined(_IMMINTRIN_H_INCLUDED)
// The parts of immintrin.h that packs take. The whole takes 0.2 s to read, in each kernel; other versions may have other parts.
#define _IMMINTRIN_H_INCLUDED
#include <smmintrin.h>

#include <avxintrin.h>

#include <avx2intrin.h>
#include <fmaintrin.h>
#ifdef __AVX512F__
#include <avx512fintrin.h>

#include <avx512dqintrin.h>
#endif
#undef _IMMINTRIN_H_INCLUDED
#else
#include <immintrin.h>
#endif

#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The comparisons, by their numbers in x86 instructions. A comparison with NaN is false, but for not_equal.
enum Comparison : int {
  equal = 0x00,
  not_equal = 0x04,
  less = 0x11,
  less_equal = 0x12,
  greater_equal = 0x1d,
  greater = 0x1e
};

template <int W>
struct Simd;

#ifdef __aarch64__
template <>
struct Simd<2> {
  using V = float64x2_t;
  using M = uint64x2_t;  // all ones or all zeros per lane
  using F = float32x2_t;
  RB_HD static F narrow(V a) { return vcvt_f32_f64(a); }
  RB_HD static V wide(F a) { return vcvt_f64_f32(a); }
  RB_HD static F fma(F a, F b, F c) { return vfma_f32(c, a, b); }
  RB_HD static V broadcast(double a) { return vdupq_n_f64(a); }
  RB_HD static V load(const double* p) { return vld1q_f64(p); }
  RB_HD static void store(double* p, V a) { vst1q_f64(p, a); }
  RB_HD static V fma(V a, V b, V c) { return vfmaq_f64(c, a, b); }
  RB_HD static V sqrt(V a) { return vsqrtq_f64(a); }
  RB_HD static V max(V a, V b) { return select(vcltq_f64(a, b), b, a); }  // fmax treats NaN and zeros otherwise
  RB_HD static V abs(V a) { return vabsq_f64(a); }
  RB_HD static V max_abs(V a, V b) { return max(a, vabsq_f64(b)); }
  RB_HD static V with_sign(V a, V b) { return vbslq_f64(vdupq_n_u64(std::uint64_t{1} << 63), b, a); }
  RB_HD static V select(M m, V a, V b) { return vbslq_f64(m, a, b); }
  template <Comparison comparison>
  RB_HD static M compare(V a, V b) {
    if constexpr (comparison == equal) return vceqq_f64(a, b);
    if constexpr (comparison == not_equal) return mask_not(vceqq_f64(a, b));
    if constexpr (comparison == less) return vcltq_f64(a, b);
    if constexpr (comparison == less_equal) return vcleq_f64(a, b);
    if constexpr (comparison == greater_equal) return vcgeq_f64(a, b);
    if constexpr (comparison == greater) return vcgtq_f64(a, b);
  }
  RB_HD static M mask_and(M a, M b) { return vandq_u64(a, b); }
  RB_HD static M mask_or(M a, M b) { return vorrq_u64(a, b); }
  RB_HD static M mask_not(M a) { return veorq_u64(a, mask(true)); }
  RB_HD static M mask(bool b) { return vdupq_n_u64(b ? ~std::uint64_t{0} : 0); }
  RB_HD static int bits(M a) { return static_cast<int>((vgetq_lane_u64(a, 0) & 1) | (vgetq_lane_u64(a, 1) & 2)); }
  RB_HD static V exp2_integer(V k) {
    const int64x2_t i = vreinterpretq_s64_f64(k + vdupq_n_f64(6755399441055744.0));  // as for AVX2
    return vreinterpretq_f64_s64(vshlq_n_s64(vaddq_s64(i, vdupq_n_s64(1023)), 52));
  }
  RB_HD static V exponent_of(V a) {
    const uint64x2_t biased = vandq_u64(vshrq_n_u64(vreinterpretq_u64_f64(a), 52), vdupq_n_u64(0x7ff));
    return vcvtq_f64_s64(vsubq_s64(vreinterpretq_s64_u64(biased), vdupq_n_s64(1023)));
  }
};
#endif

#ifdef __AVX2__
template <>
struct Simd<4> {
  using V = __m256d;
  using M = __m256d;  // all ones or all zeros per lane
  using F = __m128;
  RB_HD static F narrow(V a) { return _mm256_cvtpd_ps(a); }
  RB_HD static V wide(F a) { return _mm256_cvtps_pd(a); }
  RB_HD static F fma(F a, F b, F c) { return _mm_fmadd_ps(a, b, c); }
  RB_HD static V broadcast(double a) { return _mm256_set1_pd(a); }
  RB_HD static V load(const double* p) { return _mm256_loadu_pd(p); }
  RB_HD static void store(double* p, V a) { _mm256_storeu_pd(p, a); }
  RB_HD static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  RB_HD static V sqrt(V a) { return _mm256_sqrt_pd(a); }
  RB_HD static V max(V a, V b) { return _mm256_max_pd(b, a); }  // the instruction computes a < b ? b : a
  RB_HD static V abs(V a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
  RB_HD static V max_abs(V a, V b) { return max(a, abs(b)); }
  RB_HD static V with_sign(V a, V b) { return _mm256_or_pd(abs(a), _mm256_and_pd(_mm256_set1_pd(-0.0), b)); }
  RB_HD static V select(M m, V a, V b) { return _mm256_blendv_pd(b, a, m); }
  template <Comparison comparison>
  RB_HD static M compare(V a, V b) {
    return _mm256_cmp_pd(a, b, comparison);
  }
  RB_HD static M mask_and(M a, M b) { return _mm256_and_pd(a, b); }
  RB_HD static M mask_or(M a, M b) { return _mm256_or_pd(a, b); }
  RB_HD static M mask_not(M a) { return _mm256_xor_pd(a, mask(true)); }
  RB_HD static M mask(bool b) { return _mm256_castsi256_pd(_mm256_set1_epi64x(b ? -1 : 0)); }
  RB_HD static int bits(M a) { return _mm256_movemask_pd(a); }
  RB_HD static V exp2_integer(V k) {
    // The low mantissa bits of k + 1.5 * 2^52 hold k; the addition of 1023 gives the biased exponent.
    const __m256i i = _mm256_castpd_si256(k + _mm256_set1_pd(6755399441055744.0));
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_add_epi64(i, _mm256_set1_epi64x(1023)), 52));
  }
  RB_HD static V exponent_of(V a) {
    // The low mantissa bits of 2^52 + exponent hold the biased exponent.
    const __m256d magic = _mm256_set1_pd(4503599627370496.0);
    const __m256i biased = _mm256_and_si256(_mm256_srli_epi64(_mm256_castpd_si256(a), 52), _mm256_set1_epi64x(0x7ff));
    return _mm256_castsi256_pd(_mm256_or_si256(biased, _mm256_castpd_si256(magic))) - (magic + 1023.0);
  }
};
#endif

#ifdef __AVX512F__
template <>
struct Simd<8> {
  using V = __m512d;
  using M = __mmask8;
  using F = __m256;
  RB_HD static F narrow(V a) { return _mm512_cvtpd_ps(a); }
  RB_HD static V wide(F a) { return _mm512_cvtps_pd(a); }
  RB_HD static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  RB_HD static V broadcast(double a) { return _mm512_set1_pd(a); }
  RB_HD static V load(const double* p) { return _mm512_loadu_pd(p); }
  RB_HD static void store(double* p, V a) { _mm512_storeu_pd(p, a); }
  RB_HD static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  RB_HD static V sqrt(V a) { return _mm512_sqrt_pd(a); }
  RB_HD static V max(V a, V b) { return _mm512_max_pd(b, a); }
  RB_HD static V max_abs(V a, V b) { return _mm512_range_pd(a, b, 0x0b); }  // the larger size, and what is not NaN
  RB_HD static V abs(V a) { return _mm512_abs_pd(a); }
  RB_HD static V with_sign(V a, V b) {
    // 0xca: bits of the second number where the first has ones, else bits of the third.
    return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(_mm512_castpd_si512(_mm512_set1_pd(-0.0)),
                                                         _mm512_castpd_si512(b), _mm512_castpd_si512(a), 0xca));
  }
  RB_HD static V select(M m, V a, V b) { return _mm512_mask_blend_pd(m, b, a); }
  template <Comparison comparison>
  RB_HD static M compare(V a, V b) {
    return _mm512_cmp_pd_mask(a, b, comparison);
  }
  RB_HD static M mask_and(M a, M b) { return static_cast<M>(a & b); }
  RB_HD static M mask_or(M a, M b) { return static_cast<M>(a | b); }
  RB_HD static M mask_not(M a) { return static_cast<M>(~a); }
  RB_HD static M mask(bool b) { return static_cast<M>(b ? 0xff : 0); }
  RB_HD static int bits(M a) { return a; }
  RB_HD static V exp2_integer(V k) {
    const __m512i i = _mm512_castpd_si512(k + _mm512_set1_pd(6755399441055744.0));
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_add_epi64(i, _mm512_set1_epi64(1023)), 52));
  }
  RB_HD static V exponent_of(V a) { return _mm512_getexp_pd(a); }
};
#endif

/// Two registers as one pack: the instructions of one register fill the latencies of the other.
template <int W>
struct TwoRegisters {
  using S = Simd<W>;
  template <class Half>
  struct Two {
    Half a, b;
    RB_HD friend Two operator+(Two x, Two y) { return {x.a + y.a, x.b + y.b}; }
    RB_HD friend Two operator-(Two x, Two y) { return {x.a - y.a, x.b - y.b}; }
    RB_HD friend Two operator*(Two x, Two y) { return {x.a * y.a, x.b * y.b}; }
    RB_HD friend Two operator/(Two x, Two y) { return {x.a / y.a, x.b / y.b}; }
    RB_HD friend Two operator-(Two x) { return {-x.a, -x.b}; }
    RB_HD auto operator[](int lane) const { return lane < W ? a[lane] : b[lane - W]; }
  };
  using V = Two<typename S::V>;
  using F = Two<typename S::F>;
  RB_HD static F narrow(V x) { return {S::narrow(x.a), S::narrow(x.b)}; }
  RB_HD static V wide(F x) { return {S::wide(x.a), S::wide(x.b)}; }
  RB_HD static F fma(F x, F y, F z) { return {S::fma(x.a, y.a, z.a), S::fma(x.b, y.b, z.b)}; }
  struct M {
    typename S::M a, b;
  };
  RB_HD static V broadcast(double x) { return {S::broadcast(x), S::broadcast(x)}; }
  RB_HD static V load(const double* p) { return {S::load(p), S::load(p + W)}; }
  RB_HD static void store(double* p, V x) {
    S::store(p, x.a);
    S::store(p + W, x.b);
  }
  RB_HD static V fma(V x, V y, V z) { return {S::fma(x.a, y.a, z.a), S::fma(x.b, y.b, z.b)}; }
  RB_HD static V sqrt(V x) { return {S::sqrt(x.a), S::sqrt(x.b)}; }
  RB_HD static V max(V x, V y) { return {S::max(x.a, y.a), S::max(x.b, y.b)}; }
  RB_HD static V abs(V x) { return {S::abs(x.a), S::abs(x.b)}; }
  RB_HD static V max_abs(V x, V y) { return {S::max_abs(x.a, y.a), S::max_abs(x.b, y.b)}; }
  RB_HD static V with_sign(V x, V y) { return {S::with_sign(x.a, y.a), S::with_sign(x.b, y.b)}; }
  RB_HD static V select(M m, V x, V y) { return {S::select(m.a, x.a, y.a), S::select(m.b, x.b, y.b)}; }
  template <Comparison comparison>
  RB_HD static M compare(V x, V y) {
    return {S::template compare<comparison>(x.a, y.a), S::template compare<comparison>(x.b, y.b)};
  }
  RB_HD static M mask_and(M x, M y) { return {S::mask_and(x.a, y.a), S::mask_and(x.b, y.b)}; }
  RB_HD static M mask_or(M x, M y) { return {S::mask_or(x.a, y.a), S::mask_or(x.b, y.b)}; }
  RB_HD static M mask_not(M x) { return {S::mask_not(x.a), S::mask_not(x.b)}; }
  RB_HD static M mask(bool x) { return {S::mask(x), S::mask(x)}; }
  RB_HD static int bits(M x) { return S::bits(x.a) | S::bits(x.b) << W; }
  RB_HD static V exp2_integer(V x) { return {S::exp2_integer(x.a), S::exp2_integer(x.b)}; }
  RB_HD static V exponent_of(V x) { return {S::exponent_of(x.a), S::exponent_of(x.b)}; }
};
template <>
struct Simd<2 * RATTLEBACK_PACK> : TwoRegisters<RATTLEBACK_PACK> {};

}  // namespace detail

/// One truth value per lane.
template <int W>
struct Mask {
  using S = detail::Simd<W>;
  typename S::M m;

  Mask() = default;
  RB_HD Mask(bool b) : m(S::mask(b)) {}
  RB_HD static Mask raw(typename S::M m) {
    Mask r;
    r.m = m;
    return r;
  }
  RB_HD friend Mask operator&(Mask a, Mask b) { return raw(S::mask_and(a.m, b.m)); }
  RB_HD friend Mask operator|(Mask a, Mask b) { return raw(S::mask_or(a.m, b.m)); }
  RB_HD friend Mask operator!(Mask a) { return raw(S::mask_not(a.m)); }
  RB_HD friend bool any(Mask a) { return S::bits(a.m) != 0; }
  RB_HD friend bool all(Mask a) { return S::bits(a.m) == (1 << W) - 1; }
  /// The first lane of the mask; the mask must not be empty.
  RB_HD friend int first(Mask a) { return __builtin_ctz(static_cast<unsigned>(S::bits(a.m))); }
};

/// One number of W trajectories.
template <int W>
struct Pack {
  using S = detail::Simd<W>;
  static constexpr int width = W;
  typename S::V v;

  Pack() = default;
  RB_HD Pack(double a) : v(S::broadcast(a)) {}
  RB_HD static Pack raw(typename S::V v) {
    Pack r;
    r.v = v;
    return r;
  }
  RB_HD static Pack load(const double* p) { return raw(S::load(p)); }
  RB_HD void store(double* p) const { S::store(p, v); }

  RB_HD friend Pack operator+(Pack a, Pack b) { return raw(a.v + b.v); }
  RB_HD friend Pack operator-(Pack a, Pack b) { return raw(a.v - b.v); }
  RB_HD friend Pack operator*(Pack a, Pack b) { return raw(a.v * b.v); }
  RB_HD friend Pack operator/(Pack a, Pack b) { return raw(a.v / b.v); }
  RB_HD friend Pack operator-(Pack a) { return raw(-a.v); }
  RB_HD Pack& operator+=(Pack b) { return *this = *this + b; }
  RB_HD Pack& operator-=(Pack b) { return *this = *this - b; }
  RB_HD Pack& operator*=(Pack b) { return *this = *this * b; }
  RB_HD Pack& operator/=(Pack b) { return *this = *this / b; }

  RB_HD friend Mask<W> operator<(Pack a, Pack b) { return compare<detail::less>(a, b); }
  RB_HD friend Mask<W> operator<=(Pack a, Pack b) { return compare<detail::less_equal>(a, b); }
  RB_HD friend Mask<W> operator>(Pack a, Pack b) { return compare<detail::greater>(a, b); }
  RB_HD friend Mask<W> operator>=(Pack a, Pack b) { return compare<detail::greater_equal>(a, b); }
  RB_HD friend Mask<W> operator==(Pack a, Pack b) { return compare<detail::equal>(a, b); }
  RB_HD friend Mask<W> operator!=(Pack a, Pack b) { return compare<detail::not_equal>(a, b); }

  RB_HD friend Pack fma(Pack a, Pack b, Pack c) { return raw(S::fma(a.v, b.v, c.v)); }
  RB_HD friend Pack sqrt(Pack a) { return raw(S::sqrt(a.v)); }
  RB_HD friend Pack abs(Pack a) { return raw(S::abs(a.v)); }
  RB_HD friend Pack with_sign(Pack a, Pack b) { return raw(S::with_sign(a.v, b.v)); }
  RB_HD friend Pack max(Pack a, Pack b) { return raw(S::max(a.v, b.v)); }
  RB_HD friend Pack max_abs(Pack a, Pack b) { return raw(S::max_abs(a.v, b.v)); }
  RB_HD friend Pack larger_magnitude(Pack a, Pack b) { return max_abs(a, b); }
  RB_HD friend Pack select(Mask<W> mask, Pack a, Pack b) { return raw(S::select(mask.m, a.v, b.v)); }
  RB_HD friend Pack exp2_integer(Pack k) { return raw(S::exp2_integer(k.v)); }
  RB_HD friend Pack exponent_of(Pack a) { return raw(S::exponent_of(a.v)); }
  RB_HD friend Pack value_of(Pack a) { return a; }

 private:
  template <detail::Comparison comparison>
  RB_HD static Mask<W> compare(Pack a, Pack b) {
    return Mask<W>::raw(S::template compare<comparison>(a.v, b.v));
  }
};

template <int W>
struct MaskOf<Pack<W>> {
  using type = Mask<W>;
};

RB_NAMESPACE_END
