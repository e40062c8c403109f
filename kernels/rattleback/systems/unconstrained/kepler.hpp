#pragma once

#include <cmath>

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Kepler problem in the plane: L = |v|^2/2 + attraction/|q|.
template <class T>
struct Kepler {
  using scalar = T;
  T attraction;

  static constexpr int n = 2, m = 0;

  static constexpr auto name = "kepler";
  static constexpr auto summary = "Kepler problem in the plane";
  static constexpr auto configuration = "R^2: x, y";
  static constexpr std::array<const char*, 2> coordinates{"x", "y"};
  static constexpr auto source = "V. I. Arnold, Mathematical Methods of Classical Mechanics, section 8";
  static constexpr double time_scale = 0.2;
  // The start is the pericentre of an orbit of eccentricity 0.6 and period 2 pi.
  static constexpr std::array<double, 2> default_q{0.4, 0.0}, default_v{0.0, 2.0};
  static constexpr std::array<ParameterInfo, 1> parameters() {
    return {{{"attraction", 1.0, "length^3/time^2", "of the centre, per mass"}}};
  }
  static constexpr std::array<ObservableInfo, 3> invariants() {
    return {{{"angular_momentum", true, "x vy - y vx"},
             {"laplace_runge_lenz_x", true, "first component of (vy, -vx) (x vy - y vx) - attraction q/|q|"},
             {"laplace_runge_lenz_y", true, "its second component"}}};
  }
  template <class S>
  RB_HD Vector<S, 3> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S spin = q[0] * v[1] - q[1] * v[0], pull = S(attraction) / sqrt(dot(q, q));
    return {spin, v[1] * spin - pull * q[0], -(v[0] * spin) - pull * q[1]};
  }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return -S(attraction) / sqrt(dot(q, q));
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    const S r2 = dot(q, q);
    return (-S(attraction) / (r2 * sqrt(r2))) * q;
  }

  /// Moves elliptic orbits by Kepler's equation for the change x of the eccentric anomaly,
  ///   n t = x + u (1 - cos x) - e sin x,   u = q.v/sqrt(attraction a),   e = 1 - |q|/a.
  bool exact(double time, Vector<double, n>& q, Vector<double, n>& v) const {
    const double r = sqrt(dot(q, q)), inverse_a = 2.0 / r - dot(v, v) / attraction;
    if (!(attraction > 0.0 && r > 0.0 && inverse_a > 0.0)) return false;
    const double a = 1.0 / inverse_a, mean_motion = sqrt(attraction / a) / a;
    const double u = dot(q, v) / sqrt(attraction * a), e = 1.0 - r / a;
    const double period = 2.0 * M_PI / mean_motion, t = std::remainder(time, period);
    // The right-hand side rises with x and differs from x by less than 2. Newton's method runs while x stays inside the
    // bracket; otherwise bisection is used.
    double low = mean_motion * t - 2.0, high = mean_motion * t + 2.0, x = mean_motion * t;
    for (int i = 0; i < 200; ++i) {
      const double excess = x - e * sin(x) + 2.0 * u * sin(0.5 * x) * sin(0.5 * x) - mean_motion * t;
      if (excess == 0.0) break;
      (excess < 0.0 ? low : high) = x;
      const double newton = x - excess / (1.0 - e * cos(x) + u * sin(x));
      const double next = newton > low && newton < high ? newton : 0.5 * (low + high);
      if (next == x) break;
      x = next;
    }
    const double s = sin(x), versine = 2.0 * sin(0.5 * x) * sin(0.5 * x);
    const double f = 1.0 - a / r * versine, g = t - (x - s) / mean_motion;
    const Vector<double, n> q1 = f * q + g * v;
    const double r1 = sqrt(dot(q1, q1));
    const double f_rate = -sqrt(attraction * a) / (r * r1) * s, g_rate = 1.0 - a / r1 * versine;
    v = f_rate * q + g_rate * v;
    q = q1;
    return true;
  }
};

RB_NAMESPACE_END
