#pragma once
// Arithmetic of MPFR with a fixed number of bits.

#include <mpfr.h>

#include <algorithm>
#include <cmath>

namespace rattleback {

template <int Bits>
class Multiprecision {
 public:
  Multiprecision(double x = 0.0) {
    mpfr_init2(x_, Bits);
    mpfr_set_d(x_, x, MPFR_RNDN);
  }
  Multiprecision(const Multiprecision& other) : Multiprecision() { mpfr_set(x_, other.x_, MPFR_RNDN); }
  Multiprecision& operator=(const Multiprecision& other) {
    mpfr_set(x_, other.x_, MPFR_RNDN);
    return *this;
  }
  ~Multiprecision() { mpfr_clear(x_); }

  /// What a function of MPFR, such as mpfr_sin, makes of the arguments.
  template <class F, class... Arguments>
  static Multiprecision call(F&& f, const Arguments&... arguments) {
    Multiprecision r;
    f(r.x_, arguments.x_..., MPFR_RNDN);
    return r;
  }
  static Multiprecision pi() { return call(mpfr_const_pi); }

  friend Multiprecision operator+(const Multiprecision& a, const Multiprecision& b) { return call(mpfr_add, a, b); }
  friend Multiprecision operator-(const Multiprecision& a, const Multiprecision& b) { return call(mpfr_sub, a, b); }
  friend Multiprecision operator*(const Multiprecision& a, const Multiprecision& b) { return call(mpfr_mul, a, b); }
  friend Multiprecision operator/(const Multiprecision& a, const Multiprecision& b) { return call(mpfr_div, a, b); }
  friend bool operator<(const Multiprecision& a, const Multiprecision& b) { return mpfr_less_p(a.x_, b.x_); }

  /// The nearest double (subnormal results are rounded twice).
  explicit operator double() const { return mpfr_get_d(x_, MPFR_RNDN); }
  /// Distance of neighbouring doubles at this number.
  double ulp() const {
    const long exponent = mpfr_zero_p(x_) ? -1074 : std::max<long>(mpfr_get_exp(x_) - 53, -1074);
    return std::ldexp(1.0, static_cast<int>(std::min<long>(exponent, 971)));
  }

 private:
  mpfr_t x_;
};

}  // namespace rattleback
