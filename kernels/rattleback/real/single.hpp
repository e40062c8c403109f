#pragma once
// fp32: half the registers and memory of fp64, for numbers that only guide an iteration whose residual is in fp64. Its arithmetic is
// that of IEEE 754 on every backend, so that all compute the same bits.

#include "rattleback/real/real.hpp"

#ifdef RATTLEBACK_PACK
#include "rattleback/real/pack.hpp"
#endif

RB_NAMESPACE_BEGIN

namespace detail {

/// The fp32 numbers in place of a double, or of the lanes of a pack.
template <class T>
struct SingleLanes {
  using V = float;
  RB_HD static V narrow(double a) { return static_cast<float>(a); }
  RB_HD static double wide(V a) { return a; }
  RB_HD static V fma(V a, V b, V c) { return __builtin_fmaf(a, b, c); }
};
#ifdef RATTLEBACK_PACK
template <int W>
struct SingleLanes<Pack<W>> {
  using V = typename Simd<W>::F;
  RB_HD static V narrow(const Pack<W>& a) { return Simd<W>::narrow(a.v); }
  RB_HD static Pack<W> wide(V a) { return Pack<W>::raw(Simd<W>::wide(a)); }
  RB_HD static V fma(V a, V b, V c) { return Simd<W>::fma(a, b, c); }
};
#endif

}  // namespace detail

/// A number of one trajectory, or of each lane of a pack T, in fp32.
template <class T>
class Single {
  using Lanes = detail::SingleLanes<T>;

 public:
  Single() = default;
  RB_HD explicit Single(const T& a) : v_(Lanes::narrow(a)) {}
  RB_HD explicit Single(double a)
    requires(!std::same_as<T, double>)
      : v_(Lanes::narrow(T(a))) {}
  RB_HD T wide() const { return Lanes::wide(v_); }

  RB_HD friend Single operator+(Single a, Single b) { return raw(a.v_ + b.v_); }
  RB_HD friend Single operator-(Single a, Single b) { return raw(a.v_ - b.v_); }
  RB_HD friend Single operator*(Single a, Single b) { return raw(a.v_ * b.v_); }
  RB_HD friend Single operator/(Single a, Single b) { return raw(a.v_ / b.v_); }
  RB_HD friend Single operator-(Single a) { return raw(-a.v_); }
  RB_HD friend Single fma(Single a, Single b, Single c) { return raw(Lanes::fma(a.v_, b.v_, c.v_)); }
  // exact in fp64
  RB_HD friend Single abs(Single a) { return Single(abs(a.wide())); }
  RB_HD friend Single select(mask_t<T> mask, Single a, Single b) { return Single(select(mask, a.wide(), b.wide())); }
  RB_HD friend mask_t<T> operator>(Single a, Single b) { return a.wide() > b.wide(); }
  RB_HD friend mask_t<T> operator>=(Single a, Single b) { return a.wide() >= b.wide(); }
  RB_HD friend mask_t<T> operator==(Single a, Single b) { return a.wide() == b.wide(); }

 private:
  RB_HD static Single raw(typename Lanes::V v) {
    Single r;
    r.v_ = v;
    return r;
  }
  typename Lanes::V v_;
};
template <class T>
struct MaskOf<Single<T>> {
  using type = mask_t<T>;
};

RB_NAMESPACE_END
