#pragma once

#include "rattleback/lie/so3.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// A massless rod of length 1 turns about the origin. A second rod of length 2 alpha is fixed across the end of the
/// first rod, with the tips y+- at (0, +-alpha, -1) in the body. Each tip has half of the mass and the charge +-charge.
/// Another charge is fixed at z = (0, 0, -3/2) in space. With w in the body,
///   l = mass ((1 + alpha^2) w1^2 + w2^2 + alpha^2 w3^2)/2 - U,
///   U = sigma mass R33 + charge fixed_charge (1/|y+ - z| - 1/|y- - z|).
/// With sigma = -1 gravity acts downwards, as in the published figures; sigma = +1 is the published formula.
template <class T>
struct DipoleOnAStick {
  using scalar = T;
  using Group = SO3;
  T mass, alpha, charge, fixed_charge, sigma;

  static constexpr int n = 3, m = 0;

  static constexpr auto name = "dipole-on-a-stick";
  static constexpr auto summary = "spherical pendulum that carries a dipole, in gravity and in the field of a charge";
  static constexpr auto configuration = "SO(3): R (body to space); velocity w in the body";
  static constexpr std::array<const char*, 9> coordinates{"R11", "R12", "R13", "R21", "R22",
                                                          "R23", "R31", "R32", "R33"};
  static constexpr auto source =
      "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, section 6";
  static constexpr double time_scale = 0.1;
  static constexpr std::array<double, 9> default_q{1, 0, 0, 0, 0, -1, 0, 1, 0};
  static constexpr std::array<double, 3> default_v{0, 0, -1};  // the second axis of space
  static constexpr std::array<ParameterInfo, 5> parameters() {
    return {{{"mass", 1.0, "mass", "of the dipole"},
             {"alpha", 0.1, "length", "half the length of the dipole"},
             {"charge", 1.0, "charge", "at the ends of the dipole"},
             {"fixed_charge", 1.0, "charge", "charge below the pivot"},
             {"sigma", -1.0, "length/time^2", "factor of mass R33 in the potential: -1 or 1"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"spatial_momentum_3", true, "(R I w)_3, angular momentum about the vertical"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, 9>& q) const {
    const Vector<S, 3> up = segment<6, 3>(q);
    return S(sigma * mass) * up[2] + S(charge * fixed_charge) * (S(1.0) / sqrt(distance_squared(up, 1.0)) -
                                                                 S(1.0) / sqrt(distance_squared(up, -1.0)));
  }
  /// The force depends only on the third row of R, the vertical in the body. The moment about the vertical vanishes
  /// except for round-off.
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, 9>& q) const {
    const Vector<S, 3> up = segment<6, 3>(q);
    const S plus = inverse_cube(distance_squared(up, 1.0)), minus = inverse_cube(distance_squared(up, -1.0));
    // charge y0+- cross (-R^T z)/|y - z|^3, with R^T z = -height up.
    const S strength = S(charge * fixed_charge * T(double(height)));
    const S along = strength * S(alpha) * (plus + minus), across = strength * (minus - plus);
    const Vector<S, 3> arm{S(0.0), along, across - S(sigma * mass)};
    return cross(arm, up);
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {mass * (T(1.0) + alpha * alpha), mass, mass * alpha * alpha}; }

  RB_HD Vector<T, 1> evaluate_invariants(const Vector<T, 9>& q, const Vector<T, n>& v) const {
    const Vector<T, 3> inertia = mass_diagonal();
    return {fma(q[6], inertia[0] * v[0], fma(q[7], inertia[1] * v[1], q[8] * (inertia[2] * v[2])))};
  }

 private:
  static constexpr double height = 1.5;

  /// |y+- - z|^2.
  template <class S>
  RB_HD S distance_squared(const Vector<S, 3>& up, double sign) const {
    const S constant = S(T(1.0 + height * height) + alpha * alpha);
    return fma(S(T(2.0 * height * sign) * alpha), up[1], fma(S(-2.0 * height), up[2], constant));
  }
  template <class S>
  RB_HD static S inverse_cube(const S& square) {
    const S inverse = S(1.0) / sqrt(square);
    return inverse * inverse * inverse;
  }
};

RB_NAMESPACE_END
