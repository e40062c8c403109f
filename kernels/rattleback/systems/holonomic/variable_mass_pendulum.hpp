#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Spherical pendulum whose inertia depends on the height:
///   L = mass (1 + variation z^2) |v|^2/2 - mass gravity z,   g = (|q|^2 - length^2)/2.
template <class T>
struct VariableMassPendulum {
  using scalar = T;
  T mass, variation, length, gravity;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "variable-mass-pendulum";
  static constexpr auto summary = "point on a sphere whose inertia depends on the height";
  static constexpr auto configuration = "R^3: x, y, z (height)";
  static constexpr std::array<const char*, 3> coordinates{"x", "y", "z"};
  static constexpr auto source = "a test problem of this project";
  static constexpr std::array<double, 3> default_q{0.8, 0.0, -0.6}, default_v{0.36, 1.0, 0.48};
  static constexpr std::array<ParameterInfo, 4> parameters() {
    return {{{"mass", 1.0, "mass", "of the point at height 0"},
             {"variation", 0.3, "1/length^2", "growth of the inertia with the square of the height"},
             {"length", 1.0, "length", "of the rod"},
             {"gravity", 1.0, "length/time^2", "acceleration downwards"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"angular_momentum", true, "x py - y px, about the vertical"}}};
  }

  template <class S>
  RB_HD Vector<S, 1> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return {mass_matrix(q) * (q[0] * v[1] - q[1] * v[0])};
  }

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return S(0.5) * mass_matrix(q) * dot(v, v) - S(mass) * S(gravity) * q[2];
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {S(0.5) * (dot(q, q) - S(length) * S(length))};
  }

  // The parts of L (mechanics/system.hpp).
  static constexpr std::array<int, 1> active{2};
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(mass) * S(gravity) * q[2];
  }

  // Derivatives of L and g by hand (mechanics/dynamics.hpp).
  template <class S>
  RB_HD Vector<S, n> velocity(const Vector<S, n>& q, const Vector<S, n>& p) const {
    return (S(1.0) / mass_matrix(q)) * p;
  }
  template <class S>
  RB_HD S mass_matrix(const Vector<S, n>& q) const {
    return S(mass) * fma(S(variation), q[2] * q[2], S(1.0));
  }
  template <class S>
  RB_HD Vector<S, n> generalized_force(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S slope = S(mass) * S(variation) * q[2];  // half of d inertia/dz
    Vector<S, n> f = (-(S(2.0) * slope * v[2])) * v;
    f[2] = f[2] + slope * dot(v, v) - S(mass) * S(gravity);
    return f;
  }
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    return {{q}};
  }
  static constexpr bool constraint_hessian_entry(int i, int j) { return i == j; }
  template <class S>
  RB_HD Vector<S, m> position_curvature(const Vector<S, n>&, const Vector<S, n>& v) const {
    return {dot(v, v)};
  }
};

RB_NAMESPACE_END
