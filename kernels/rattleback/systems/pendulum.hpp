#pragma once

#include "rattleback/systems/system.hpp"

RB_NAMESPACE_BEGIN

/// Pendulum on a circle (D = 2) or a sphere (D = 3), the last coordinate being the height, in a magnetic field along the
/// normal of the plane or the vertical:
///   L = mass |v|^2/2 - mass gravity z + (field/2)(x vy - y vx),   g = scale (|q|^2 - length^2)/2.
template <class T, int D>
struct Pendulum {
  using scalar = T;
  T mass, length, gravity, constraint_scale, magnetic_field;

  static constexpr int n = D, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;

  static constexpr auto name = D == 2 ? "planar-pendulum" : "spherical-pendulum";
  static constexpr auto variant = "";
  static constexpr auto summary = D == 2 ? "point mass on a circle" : "point mass on a sphere";
  static constexpr auto configuration = D == 2 ? "R^2: x, y (height)" : "R^3: x, y, z (height)";
  static constexpr std::array<const char*, D> coordinates = [] {
    std::array<const char*, D> names{"x", "y"};
    if constexpr (D == 3) names[2] = "z";
    return names;
  }();
  static constexpr auto source =
      "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
      "systems";
  static constexpr bool conserves_energy = true;
  // a planar swing of 90 degrees; a spherical one from an angle of 1 rad
  static constexpr std::array<double, D> default_q = [] {
    std::array<double, D> q{0.0, -1.0};
    if constexpr (D == 3) q = {0.8414709848078965, 0.0, -0.5403023058681398};
    return q;
  }();
  static constexpr std::array<double, D> default_v = [] {
    std::array<double, D> v{1.0, 0.0};
    if constexpr (D == 3) v = {0.0, 0.8, 0.0};
    return v;
  }();
  static constexpr std::array<ParameterInfo, 5> parameters() {
    return {
        {{"mass", 1.0, "mass", "of the point"},
         {"length", 1.0, "length", "of the rod"},
         {"gravity", 1.0, "length/time^2", "acceleration downwards"},
         {"constraint_scale", 1.0, "1", "factor c of the constraint g = c (|q|^2 - length^2)/2"},
         {"magnetic_field", 0.0, "mass/time", "charge times field, along the normal of the plane or the vertical"}}};
  }
  static constexpr std::array<StructureInfo, 0> structure() { return {}; }
  static constexpr auto invariants() {
    if constexpr (D == 2) {
      return std::array<ObservableInfo, 0>{};
    } else {
      return std::array<ObservableInfo, 1>{
          {{"angular_momentum", true, "x py - y px, about the vertical, with the share of the field"}}};
    }
  }
  template <class S>
  RB_HD Vector<S, 1> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S spin = q[0] * v[1] - q[1] * v[0];
    return {S(mass) * spin + S(0.5) * S(magnetic_field) * (q[0] * q[0] + q[1] * q[1])};
  }

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S field = S(0.5) * S(magnetic_field) * (q[0] * v[1] - q[1] * v[0]);
    return S(mass) * (S(0.5) * dot(v, v) - S(gravity) * q[n - 1]) + field;
  }
  /// The inverse of p = dL/dv.
  template <class S>
  RB_HD Vector<S, n> velocity(const Vector<S, n>& q, const Vector<S, n>& p) const {
    const S w = S(1.0) / S(mass), half = S(0.5) * S(magnetic_field);
    Vector<S, n> v = w * p;
    v[0] = w * (p[0] + half * q[1]);
    v[1] = w * (p[1] - half * q[0]);
    return v;
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {S(0.5) * S(constraint_scale) * (dot(q, q) - S(length) * S(length))};
  }
};

RB_NAMESPACE_END
