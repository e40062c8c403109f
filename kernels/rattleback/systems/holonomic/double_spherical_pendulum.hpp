#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Two point masses on rods; the second rod hangs from the first mass: |r1| = length_1, |r2 - r1| = length_2.
template <class T>
struct DoubleSphericalPendulum {
  using scalar = T;
  T mass_1, mass_2, length_1, length_2, gravity;

  static constexpr int n = 6, m = 2;

  static constexpr auto name = "double-spherical-pendulum";
  static constexpr auto summary = "spherical pendulum that hangs from another one; chaotic";
  static constexpr auto configuration = "R^6: positions of the two masses, z being the height";
  static constexpr std::array<const char*, 6> coordinates{"x1", "y1", "z1", "x2", "y2", "z2"};
  static constexpr auto source = "J. E. Marsden, J. Scheurle, Z. angew. Math. Phys. 44 (1993) 17";
  static constexpr std::array<double, 6> default_q{0.8, 0.0, -0.6, 0.8, 0.6, -1.4},
      default_v{0.18, 0.5, 0.24, -0.22, 0.9, 0.54};
  static constexpr std::array<ParameterInfo, 5> parameters() {
    return {{{"mass_1", 1.0, "mass", "of the upper point"},
             {"mass_2", 1.0, "mass", "of the lower point"},
             {"length_1", 1.0, "length", "of the upper rod"},
             {"length_2", 1.0, "length", "of the lower rod"},
             {"gravity", 1.0, "length/time^2", "acceleration downwards"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"angular_momentum", true, "sum of x py - y px, about the vertical"}}};
  }

  template <class S>
  RB_HD Vector<S, 1> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return {S(mass_1) * (q[0] * v[1] - q[1] * v[0]) + S(mass_2) * (q[3] * v[4] - q[4] * v[3])};
  }

  RB_HD Vector<T, n> mass_diagonal() const { return {mass_1, mass_1, mass_1, mass_2, mass_2, mass_2}; }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(gravity) * (S(mass_1) * q[2] + S(mass_2) * q[5]);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>&) const {
    return {S(0.0), S(0.0), S(-gravity * mass_1), S(0.0), S(0.0), S(-gravity * mass_2)};
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    const Vector<S, 3> upper = segment<0, 3>(q), rod = segment<3, 3>(q) - upper;
    return {S(0.5) * (dot(upper, upper) - S(length_1) * S(length_1)),
            S(0.5) * (dot(rod, rod) - S(length_2) * S(length_2))};
  }

  // Derivatives of g by hand (mechanics/dynamics.hpp).
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    const Vector<S, 3> upper = segment<0, 3>(q), rod = segment<3, 3>(q) - upper;
    return {{join(upper, Vector<S, 3>::zero()), join(-rod, rod)}};
  }
  template <class S>
  RB_HD Vector<S, m> position_curvature(const Vector<S, n>&, const Vector<S, n>& v) const {
    const Vector<S, 3> upper = segment<0, 3>(v), rod = segment<3, 3>(v) - upper;
    return {dot(upper, upper), dot(rod, rod)};
  }
};

RB_NAMESPACE_END
