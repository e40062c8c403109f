#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Henon-Heiles: L = |v|^2/2 - (x^2 + y^2)/2 - x^2 y + y^3/3.
/// M. Henon, C. Heiles, The applicability of the third integral of motion, Astron. J. 69 (1964), eq. (11).
template <class T>
struct HenonHeiles {
  using scalar = T;
  static constexpr int n = 2, m = 0;

  static constexpr auto name = "henon-heiles";
  static constexpr auto summary = "star in a galactic potential; the classical two-dimensional chaotic Hamiltonian";
  static constexpr auto configuration = "R^2: x, y";
  static constexpr std::array<const char*, 2> coordinates{"x", "y"};
  static constexpr auto source = "M. Henon, C. Heiles, Astron. J. 69 (1964) 73, eq. (11)";
  static constexpr std::array<double, 2> default_q{0.1, 0.2}, default_v{0.3, -0.1};

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    const S x2 = q[0] * q[0], y2 = q[1] * q[1];
    return S(0.5) * (x2 + y2) + q[1] * (x2 - y2 * S(1.0 / 3.0));
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    return {-q[0] - S(2.0) * q[0] * q[1], q[1] * q[1] - q[1] - q[0] * q[0]};
  }
};

RB_NAMESPACE_END
