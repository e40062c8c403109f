#pragma once
// What the lane tests share: each lane of a pack must hold the bits that a double would.

#include "rattleback/real/pack.hpp"
#include "testing.hpp"

namespace rattleback {

using Real = Pack<RATTLEBACK_PACK>;
inline constexpr int width = Real::width;

/// Skips where the processor lacks the instructions of this executable.
class LaneTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if RATTLEBACK_PACK == 8
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
      GTEST_SKIP() << "this processor has no AVX-512 (F, DQ, VL)";
#elif RATTLEBACK_PACK == 4
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
      GTEST_SKIP() << "this processor has no AVX2 and FMA";
#endif
  }
};

/// A pack from a function of the lane.
template <class F>
Real from_lanes(F&& f) {
  double lanes[width];
  for (int k = 0; k < width; ++k) lanes[k] = f(k);
  return Real::load(lanes);
}
template <int N, class F>
Vector<Real, N> vector_from_lanes(F&& f) {
  Vector<Real, N> r;
  for (int i = 0; i < N; ++i) r[i] = from_lanes([&](int k) { return f(k)[i]; });
  return r;
}

inline double lane(const Real& a, int k) {
  double lanes[width];
  a.store(lanes);
  return lanes[k];
}
template <int N>
Vector<double, N> lane(const Vector<Real, N>& a, int k) {
  Vector<double, N> r;
  for (int i = 0; i < N; ++i) r[i] = lane(a[i], k);
  return r;
}

template <int N>
bool same_bits(const Vector<double, N>& a, const Vector<double, N>& b) {
  return std::equal(a.entry, a.entry + N, b.entry, [](double x, double y) { return same_bits(x, y); });
}

}  // namespace rattleback
