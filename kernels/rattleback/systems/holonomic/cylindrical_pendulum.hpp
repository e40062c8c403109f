#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// The spherical pendulum in the coordinates u = x^2 + y^2, the angle phi about the vertical, and the height z. The
/// mass matrix depends on the configuration:
///   L = mass (u'^2/(8u) + u phi'^2/2 + z'^2/2) - mass gravity z,   g = ((u + z^2)/length^2 - 1)/2.
template <class T>
struct CylindricalPendulum {
  using scalar = T;
  T mass, length, gravity;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "cylindrical-pendulum";
  static constexpr auto summary = "point mass on a sphere, with a configuration-dependent mass matrix";
  static constexpr auto configuration = "R^3: u = x^2 + y^2, angle, z (height)";
  static constexpr std::array<const char*, n> coordinates{"u", "angle", "z"};
  static constexpr auto source =
      "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
      "constrained mechanical systems, in other coordinates";
  static constexpr double time_scale = 0.1;
  static constexpr std::array<double, n> default_q{1.0, 0.0, 0.0}, default_v{0.0, 1.0, 0.0};
  static constexpr std::array<ParameterInfo, 3> parameters() {
    return {{{"mass", 1.0, "mass", "of the point"},
             {"length", 1.0, "length", "of the rod"},
             {"gravity", 9.81, "length/time^2", "acceleration downwards"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"angular_momentum", true, "momentum of the angle, about the vertical"}}};
  }
  template <class S>
  RB_HD Vector<S, 1> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return {S(mass) * q[0] * v[1]};
  }

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S radial = v[0] * v[0] * (S(0.25) / q[0]);
    return S(mass) * (S(0.5) * (radial + q[0] * (v[1] * v[1]) + v[2] * v[2]) - S(gravity) * q[2]);
  }

  // The parts of L (mechanics/system.hpp).
  static constexpr std::array<int, 2> active{0, 2};
  template <class S>
  RB_HD Vector<S, n> mass_matrix(const Vector<S, n>& q) const {
    return {S(mass) * (S(0.25) / q[0]), S(mass) * q[0], S(mass)};
  }
  static constexpr bool mass_varies(int i, int, int k) { return i < 2 && k == 0; }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(mass) * S(gravity) * q[2];
  }
  static constexpr bool potential_varies(int k) { return k == 2; }

  template <class S>
  RB_HD Vector<S, n> velocity(const Vector<S, n>& q, const Vector<S, n>& p) const {
    const S w = S(1.0) / S(mass);
    return {S(4.0) * w * (q[0] * p[0]), w * (p[1] / q[0]), w * p[2]};
  }
  template <class S>
  RB_HD S hamiltonian(const Vector<S, n>& q, const Vector<S, n>& p) const {
    const S kinetic = S(2.0) * (q[0] * (p[0] * p[0])) + S(0.5) * ((p[1] * p[1]) / q[0] + p[2] * p[2]);
    return (S(1.0) / S(mass)) * kinetic + S(mass) * S(gravity) * q[2];
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    const S inverse = S(1.0) / (S(length) * S(length));
    return {S(0.5) * ((q[0] + q[2] * q[2]) * inverse - S(1.0))};
  }
  static constexpr bool constraint_entry(int, int column) { return column != 1; }
};

RB_NAMESPACE_END
