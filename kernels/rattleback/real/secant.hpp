#pragma once
// Forward-mode difference quotients. A function is known at two points x and x', with slopes s_k such that
//
//   f(x') - f(x) = sum_k s_k (x'_k - x_k).
//
// Secants do for discrete derivatives what dual numbers do for derivatives. Products follow the partition rule: slope
// of f g = mean(f) slope of g + mean(g) slope of f. A function at most quadratic thus gets the derivative at the
// midpoint, and polynomials need no division. f(pi) with a quadratic invariant pi gets the slope of f times the
// derivative of pi at the midpoint. The discrete gradient thus has the linear symmetries of a function written in inner
// products (O. Gonzalez, J. Nonlinear Sci. 6 (1996) 449).

#include "rattleback/real/dual.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

/// Slopes in K variables. Elementary functions use a series where a quotient would lose digits. A slope that is 0 for all
/// arguments is not computed: in unrolled code the compiler knows which slopes are there. Code over dual numbers, or with many
/// slopes, is too large for that, and computes all.
template <class T, int K>
class Secant {
  static constexpr bool sparse = coefficients<T> == 1 && K <= 8;
  T slopes_[K];
  unsigned there_ = 0;  // bit i: slope i may differ from 0

  RB_HD bool has(int i) const { return !sparse || (there_ >> i & 1u) != 0; }

 public:
  T at0, at1;

  Secant() = default;
  /// Makes a constant from any type that T is constructible from.
  template <class U>
    requires(!__is_same(U, Secant) && __is_constructible(T, U))
  RB_HD Secant(const U& a) : at0(a), at1(at0) {
    if constexpr (!sparse) {
      RB_UNROLL
      for (int i = 0; i < K; ++i) slopes_[i] = T(0.0);
    }
  }
  /// The variable number `direction`, which goes from a to b.
  RB_HD Secant(const T& a, const T& b, int direction) : Secant(a) {
    at1 = b;
    slopes_[direction] = T(1.0);
    there_ = 1u << direction;
  }

  /// The same for a number that only the running code knows; no variable where it is out of range. All slopes are there.
  RB_HD static Secant between(const T& a, const T& b, int direction) {
    Secant r(a);
    r.at1 = b;
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.slopes_[i] = T(i == direction ? 1.0 : 0.0);
    r.there_ = ~0u;
    return r;
  }

  RB_HD T slope(int i) const { return has(i) ? slopes_[i] : T(0.0); }

  RB_HD T mean() const { return T(0.5) * (at0 + at1); }
  /// f(a), with the values f0, f1 and the quotient (f1 - f0)/(a1 - a0) given.
  RB_HD static Secant chain(const Secant& a, T f0, T f1, T quotient) {
    Secant r;
    r.at0 = f0;
    r.at1 = f1;
    r.there_ = a.there_;
    RB_UNROLL
    for (int i = 0; i < K; ++i)
      if (a.has(i)) r.slopes_[i] = quotient * a.slopes_[i];
    return r;
  }

  RB_HD friend Secant operator+(const Secant& a, const Secant& b) {
    Secant r;
    r.at0 = a.at0 + b.at0;
    r.at1 = a.at1 + b.at1;
    r.there_ = a.there_ | b.there_;
    RB_UNROLL
    for (int i = 0; i < K; ++i) {
      if (a.has(i) && b.has(i)) {
        r.slopes_[i] = a.slopes_[i] + b.slopes_[i];
      } else if (a.has(i) || b.has(i)) {
        r.slopes_[i] = a.has(i) ? a.slopes_[i] : b.slopes_[i];
      }
    }
    return r;
  }
  RB_HD friend Secant operator-(const Secant& a, const Secant& b) {
    Secant r;
    r.at0 = a.at0 - b.at0;
    r.at1 = a.at1 - b.at1;
    r.there_ = a.there_ | b.there_;
    RB_UNROLL
    for (int i = 0; i < K; ++i) {
      if (a.has(i) && b.has(i)) {
        r.slopes_[i] = a.slopes_[i] - b.slopes_[i];
      } else if (a.has(i) || b.has(i)) {
        r.slopes_[i] = a.has(i) ? a.slopes_[i] : -b.slopes_[i];
      }
    }
    return r;
  }
  RB_HD friend Secant operator-(const Secant& a) { return chain(a, -a.at0, -a.at1, T(-1.0)); }
  RB_HD friend Secant operator*(const Secant& a, const Secant& b) {
    const T mean_a = a.mean(), mean_b = b.mean();
    Secant r;
    r.at0 = a.at0 * b.at0;
    r.at1 = a.at1 * b.at1;
    r.there_ = a.there_ | b.there_;
    RB_UNROLL
    for (int i = 0; i < K; ++i) {
      if (a.has(i) && b.has(i)) {
        r.slopes_[i] = fma(mean_a, b.slopes_[i], mean_b * a.slopes_[i]);
      } else if (a.has(i) || b.has(i)) {
        r.slopes_[i] = a.has(i) ? mean_b * a.slopes_[i] : mean_a * b.slopes_[i];
      }
    }
    return r;
  }
  /// a (1/b).
  RB_HD friend Secant operator/(const Secant& a, const Secant& b) {
    const T r0 = T(1.0) / b.at0, r1 = T(1.0) / b.at1;
    return a * chain(b, r0, r1, -(r0 * r1));
  }
  RB_HD Secant& operator+=(const Secant& b) { return *this = *this + b; }
  RB_HD Secant& operator-=(const Secant& b) { return *this = *this - b; }
  RB_HD Secant& operator*=(const Secant& b) { return *this = *this * b; }
  RB_HD Secant& operator/=(const Secant& b) { return *this = *this / b; }
  RB_HD friend Secant fma(const Secant& a, const Secant& b, const Secant& c) { return a * b + c; }

  RB_HD friend Secant sqrt(const Secant& a) {
    const T r0 = sqrt(a.at0), r1 = sqrt(a.at1);
    return chain(a, r0, r1, T(1.0) / (r0 + r1));
  }
  // With the mean c and half the difference z, (sin(c + z) - sin(c - z))/(2z) = cos(c) sin(z)/z; cos is similar.
  RB_HD friend Secant sin(const Secant& a) {
    const T s0 = sin(a.at0), s1 = sin(a.at1);
    return chain(a, s0, s1, of_angle(a, s0, s1, cos(a.mean()) * sinc(a)));
  }
  RB_HD friend Secant cos(const Secant& a) {
    const T c0 = cos(a.at0), c1 = cos(a.at1);
    return chain(a, c0, c1, of_angle(a, c0, c1, -(sin(a.mean()) * sinc(a))));
  }
  RB_HD friend void sincos(const Secant& a, Secant& s, Secant& c) {
    s = sin(a);
    c = cos(a);
  }
  RB_HD friend Secant exp(const Secant& a) {
    const T e0 = exp(a.at0), e1 = exp(a.at1), difference = a.at1 - a.at0, z = T(0.5) * difference;
    const T near = exp(a.mean()) * sinhc(z * z);
    return chain(a, e0, e1, select(abs(difference) < T(1.0), near, (e1 - e0) / difference));
  }
  RB_HD friend Secant log(const Secant& a) {
    // log(x'/x) = 2 atanh(t) with t = (x' - x)/(x' + x).
    const T l0 = log(a.at0), l1 = log(a.at1), difference = a.at1 - a.at0, total = a.at0 + a.at1;
    const T t = difference / total, z = t * t;
    T series(1.0 / 17.0);
    RB_UNROLL
    for (int k = 15; k > 0; k -= 2) series = fma(series, z, T(1.0 / k));
    return chain(a, l0, l1, select(abs(t) < T(0.1), (T(2.0) / total) * series, (l1 - l0) / difference));
  }

 private:
  /// The quotient `near` of an angle's function, or (f1 - f0)/(a1 - a0) where the angle has turned so often that the rounding of its
  /// mean costs more digits than that of the difference.
  RB_HD static T of_angle(const Secant& a, T f0, T f1, T near) {
    const T difference = a.at1 - a.at0;
    return select(abs(difference * (a.at0 + a.at1)) < T(64.0), near, (f1 - f0) / difference);
  }
  /// sin(z)/z, where z is half the difference.
  RB_HD static T sinc(const Secant& a) {
    const T z = T(0.5) * (a.at1 - a.at0);
    return select(abs(z) < T(0.5), sinhc(-(z * z)), sin(z) / z);
  }
  /// sinh(z)/z for the argument z^2, sin(z)/z for -z^2; Taylor series to z^14 for |z| < 1/2.
  RB_HD static T sinhc(T square) {
    return detail::polynomial(square, 1.0, 1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0, 1.0 / 39916800.0,
                              1.0 / 6227020800.0, 1.0 / 1307674368000.0);
  }
};

RB_NAMESPACE_END
