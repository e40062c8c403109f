#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Pendulum with the angle from the lower rest position as coordinate: L = mass length^2 v^2/2 + mass gravity length
/// cos q.
template <class T>
struct AnglePendulum {
  using scalar = T;
  T mass, length, gravity;

  static constexpr int n = 1, m = 0;

  static constexpr auto name = "angle-pendulum";
  static constexpr auto summary = "planar pendulum by its angle";
  static constexpr auto configuration = "R: angle from the lower rest";
  static constexpr std::array<const char*, 1> coordinates{"angle"};
  static constexpr auto source = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, section I.1.2";
  static constexpr std::array<double, 1> default_q{2.0}, default_v{0.0};
  static constexpr std::array<ParameterInfo, 3> parameters() {
    return {{{"mass", 1.0, "mass", "of the point"},
             {"length", 1.0, "length", "of the rod"},
             {"gravity", 1.0, "length/time^2", "acceleration downwards"}}};
  }

  RB_HD Vector<T, n> mass_diagonal() const { return {mass * length * length}; }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return -(S(mass * gravity * length) * cos(q[0]));
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    return {-(S(mass * gravity * length) * sin(q[0]))};
  }
};

RB_NAMESPACE_END
