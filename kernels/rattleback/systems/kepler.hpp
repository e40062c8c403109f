#pragma once

#include "rattleback/systems/system.hpp"

RB_NAMESPACE_BEGIN

/// The Kepler problem in the plane: L = |v|^2/2 + mu/|q|.
template <class T>
struct Kepler {
  using scalar = T;
  T mu;

  static constexpr int n = 2, m = 0;
  static constexpr auto kind = ConstraintKind::none;

  static constexpr auto name = "kepler";
  static constexpr auto variant = "";
  static constexpr auto summary = "planet about a fixed sun";
  static constexpr auto configuration = "R^2: x, y";
  static constexpr std::array<const char*, 2> coordinates{"x", "y"};
  static constexpr auto source = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, section I.2";
  static constexpr bool conserves_energy = true;
  static constexpr std::array<double, 2> default_q{1.6, 0.0}, default_v{0.0, 0.5};
  static constexpr std::array<ParameterInfo, 1> parameters() {
    return {{{"mu", 1.0, "length^3/time^2", "strength of the attraction"}}};
  }
  static constexpr std::array<StructureInfo, 0> structure() { return {}; }
  static constexpr std::array<ObservableInfo, 3> invariants() {
    return {{{"angular_momentum", true, "x vy - y vx"},
             {"laplace_runge_lenz_x", true, "first component of (vy, -vx) (x vy - y vx) - mu q/|q|"},
             {"laplace_runge_lenz_y", true, "its second component"}}};
  }

  template <class S>
  RB_HD Vector<S, 3> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S spin = q[0] * v[1] - q[1] * v[0], pull = S(mu) / sqrt(dot(q, q));
    return {spin, v[1] * spin - pull * q[0], -(v[0] * spin) - pull * q[1]};
  }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return -(S(mu) / sqrt(dot(q, q)));
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    const S square = dot(q, q);
    return (-(S(mu) / (square * sqrt(square)))) * q;
  }
};

RB_NAMESPACE_END
