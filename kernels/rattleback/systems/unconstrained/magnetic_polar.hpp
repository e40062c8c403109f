#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Charged particle in the plane in polar coordinates, in a uniform magnetic field and a harmonic trap:
///   L = (r'^2 + r^2 phi'^2)/2 + (field/2) r^2 phi' - stiffness r^2/2.
template <class T>
struct MagneticPolar {
  using scalar = T;
  T magnetic_field, stiffness;

  static constexpr int n = 2, m = 0;

  static constexpr auto name = "magnetic-polar";
  static constexpr auto summary = "charged particle in a magnetic field and a trap, polar coordinates";
  static constexpr auto configuration = "R^2: r, phi";
  static constexpr std::array<const char*, 2> coordinates{"r", "phi"};
  static constexpr auto source = "a test problem of this project";
  static constexpr std::array<double, 2> default_q{1.0, 0.0}, default_v{0.3, 0.4};
  static constexpr std::array<ParameterInfo, 2> parameters() {
    return {{{"magnetic_field", 1.0, "1/time", "charge times field over mass"},
             {"stiffness", 1.0, "1/time^2", "of the trap, over the mass"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"angular_momentum", true, "r^2 (phi' + field/2), the momentum of phi"}}};
  }

  template <class S>
  RB_HD Vector<S, 1> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return {q[0] * q[0] * (v[1] + S(0.5) * S(magnetic_field))};
  }

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S square = q[0] * q[0];
    return S(0.5) * (v[0] * v[0] + square * (v[1] * (v[1] + S(magnetic_field)) - S(stiffness)));
  }

  // The parts of L (mechanics/system.hpp).
  static constexpr std::array<int, 1> active{0};
  static constexpr bool mass_varies(int i, int, int) { return i == 1; }
  template <class S>
  RB_HD Vector<S, n> vector_potential(const Vector<S, n>& q) const {
    return {S(0.0), S(0.5) * S(magnetic_field) * (q[0] * q[0])};
  }
  static constexpr bool vector_potential_varies(int i, int) { return i == 1; }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * S(stiffness) * (q[0] * q[0]);
  }

  // Derivatives of L by hand (mechanics/dynamics.hpp).
  template <class S>
  RB_HD Vector<S, n> velocity(const Vector<S, n>& q, const Vector<S, n>& p) const {
    return {p[0], p[1] / (q[0] * q[0]) - S(0.5) * S(magnetic_field)};
  }
  template <class S>
  RB_HD Vector<S, n> mass_matrix(const Vector<S, n>& q) const {
    return {S(1.0), q[0] * q[0]};
  }
  template <class S>
  RB_HD Vector<S, n> generalized_force(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S turn = v[1] + S(magnetic_field);
    return {q[0] * (v[1] * turn - S(stiffness)), -(q[0] * v[0] * (v[1] + turn))};
  }
};

RB_NAMESPACE_END
