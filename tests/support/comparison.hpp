#pragma once
// Elementary functions against MPFR: errors in units in the last place of the exact result.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "multiprecision.hpp"
#include "testing.hpp"

namespace rattleback {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr int samples = 200000;

/// Sign random, magnitude log-uniform in [2^low, 2^high].
inline double log_uniform(Random& random, double low, double high) {
  const double magnitude = std::exp2(random.uniform(low, high));
  return random.bits() & 1 ? magnitude : -magnitude;
}

/// The end of the range of the trigonometric functions.
inline constexpr double largest_angle = 0x1p30;

inline double half_pi_times(double n) {
  using Mp = Multiprecision<128>;
  return double(Mp(n) * (Mp::pi() / Mp(2.0)));
}

/// Calls f with the doubles p 2^k that are closest to a multiple of pi/2. They have p from the convergents of the
/// continued fraction of pi / 2^(k+1).
template <class F>
void for_hardest_angles(F&& f) {
  using Precise = Multiprecision<400>;
  for (int k = -52; k <= 29; ++k) {
    Precise rest = Precise::pi() / Precise(std::ldexp(2.0, k));
    double p = 1.0, p_before = 0.0;
    while (true) {
      const double digit = double(Precise::call([](auto r, auto x, mpfr_rnd_t) { mpfr_floor(r, x); }, rest));
      const double p_next = digit * p + p_before;
      p_before = p;
      p = p_next;
      if (p >= 0x1p53 || std::ldexp(p, k) > largest_angle) break;
      f(std::ldexp(p, k));
      f(-std::ldexp(p, k));
      rest = Precise(1.0) / (rest - Precise(digit));
    }
    // the significand of the double closest to a multiple of pi/2 of all, at exponents in range
    if (k <= -23) f(std::ldexp(6381956970095103.0, k));
  }
}

/// The functions of the kernels and of MPFR, by the number of arguments.
template <int Arguments>
struct KernelAndExact;
template <>
struct KernelAndExact<1> {
  using Kernel = double (*)(double);
  using Exact = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};
template <>
struct KernelAndExact<2> {
  using Kernel = double (*)(double, double);
  using Exact = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
};

/// A function of the kernels and the one of MPFR, with the largest error met.
template <int Arguments = 1>
class Comparison {
 public:
  using Mp = Multiprecision<128>;
  using Kernel = typename KernelAndExact<Arguments>::Kernel;
  using Exact = typename KernelAndExact<Arguments>::Exact;
  Comparison(const char* name, Kernel f, Exact exact) : name_(name), f_(f), exact_(exact) {}

  template <class... Doubles>
  void at(Doubles... x) {
    const double y = f_(x...);
    const Mp exact = bounded(Mp::call(exact_, Mp(x)...));
    const double error = std::fabs(double((bounded(Mp(y)) - exact) / Mp(exact.ulp())));
    if (!(error <= worst_)) {
      worst_ = error;
      where_ = {x...};
    }
  }
  /// At x and at the doubles next to it.
  void around(double x) {
    for (const double y : {std::nextafter(x, -infinity), x, std::nextafter(x, infinity)}) at(y);
  }
  void expect_below_one_ulp() const {
    char where[64] = "";
    int length = 0;
    for (const double x : where_) length += std::snprintf(where + length, sizeof where - length, " %a", x);
    std::printf("%s: largest error %.4f ulp, at%s\n", name_, worst_, where);
    EXPECT_LT(worst_, 1.0) << name_ << " at" << where;
  }

 private:
  /// An overflow counts as 2^1024, the number that would follow the largest double.
  static Mp bounded(const Mp& x) {
    const Mp next_to_largest = Mp(0x1p1023) * Mp(2.0), least = Mp(0.0) - next_to_largest;
    return next_to_largest < x ? next_to_largest : x < least ? least : x;
  }

  const char* name_;
  Kernel f_;
  Exact exact_;
  double worst_ = 0.0;
  std::array<double, Arguments> where_{};
};

}  // namespace rattleback
