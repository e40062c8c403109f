#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Particle of constant speed in a plane: L = |v|^2/2 - x^2/2 - y^2 - x^2 y/2, Phi = (|v|^2 - 1)/2. Phi is quadratic in
/// v, and Gauss's principle of least constraint applies; the multiplier is that of the isokinetic thermostat. The
/// energy is not an invariant.
template <class T>
struct IsokineticParticle {
  using scalar = T;
  static constexpr int n = 2, m = 1;

  static constexpr auto name = "isokinetic-particle";
  static constexpr auto summary =
      "particle of unit speed in an anharmonic potential; constraint quadratic in the velocity";
  static constexpr auto configuration = "R^2: x, y";
  static constexpr std::array<const char*, 2> coordinates{"x", "y"};
  static constexpr auto source =
      "D. J. Evans, W. G. Hoover, B. H. Failor, B. Moran, A. J. C. Ladd, Phys. Rev. A 28 (1983) 1016 (isokinetic "
      "constraint)";
  static constexpr std::array<double, 2> default_q{0.5, -0.3}, default_v{0.6, 0.8};
  static constexpr std::array<ObservableInfo, 1> invariants() { return {{{"speed", true, "|v|"}}}; }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    const S x2 = q[0] * q[0];
    return S(0.5) * x2 + q[1] * q[1] + S(0.5) * x2 * q[1];
  }
  template <class S>
  RB_HD Vector<S, m> constraint(const Vector<S, n>&, const Vector<S, n>& v) const {
    return {S(0.5) * (dot(v, v) - S(1.0))};
  }

  RB_HD Vector<T, 1> evaluate_invariants(const Vector<T, n>&, const Vector<T, n>& v) const { return {sqrt(dot(v, v))}; }
};

RB_NAMESPACE_END
