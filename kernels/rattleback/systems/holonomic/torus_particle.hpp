#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Point mass on a torus about the vertical axis. R is the distance of the tube from the axis, r the tube's radius:
///   g = ((|q|^2 + R^2 - r^2)^2 - 4 R^2 (x^2 + y^2))/(8 R r).
template <class T>
struct TorusParticle {
  using scalar = T;
  T mass, gravity, major_radius, minor_radius;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "torus-particle";
  static constexpr auto summary = "point mass on a torus";
  static constexpr auto configuration = "R^3: x, y, z (height)";
  static constexpr std::array<const char*, 3> coordinates{"x", "y", "z"};
  static constexpr auto source = "a test problem of this project";
  static constexpr std::array<double, 3> default_q{3.0, 0.0, 0.0}, default_v{0.0, 0.7, 0.9};
  static constexpr std::array<ParameterInfo, 4> parameters() {
    return {{{"mass", 1.0, "mass", "of the point"},
             {"gravity", 1.0, "length/time^2", "acceleration downwards"},
             {"major_radius", 2.0, "length", "R, from the axis to the middle of the tube"},
             {"minor_radius", 1.0, "length", "r, of the tube"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"angular_momentum", true, "x py - y px, about the vertical"}}};
  }

  template <class S>
  RB_HD Vector<S, 1> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return {S(mass) * (q[0] * v[1] - q[1] * v[0])};
  }

  RB_HD Vector<T, n> mass_diagonal() const { return {mass, mass, mass}; }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(mass) * S(gravity) * q[2];
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>&) const {
    return {S(0.0), S(0.0), S(-mass * gravity)};
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    const S rim = S(4.0) * S(square(major_radius)), sum = excess(q);
    return {(sum * sum - rim * (q[0] * q[0] + q[1] * q[1])) * (S(0.25) * scale<S>())};
  }

  // Derivatives of g by hand (mechanics/dynamics.hpp).
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    const S sum = scale<S>() * excess(q), flat = sum - scale<S>() * S(2.0) * S(square(major_radius));
    return {{{flat * q[0], flat * q[1], sum * q[2]}}};
  }
  template <class S>
  RB_HD Vector<S, m> position_curvature(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S along = dot(q, v), rim = S(2.0) * S(square(major_radius));
    return {scale<S>() * (S(2.0) * along * along + excess(q) * dot(v, v) - rim * (v[0] * v[0] + v[1] * v[1]))};
  }

 private:
  template <class S>
  RB_HD S excess(const Vector<S, n>& q) const {
    return dot(q, q) + S(square(major_radius) - square(minor_radius));
  }
  template <class S>
  RB_HD S scale() const {
    return S(T(0.5) / (major_radius * minor_radius));
  }
};

RB_NAMESPACE_END
