#pragma once

#include <cmath>

#include "rattleback/lie/se2.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Vertical disc (unicycle) on a plane; a spring pulls the disc to the origin. The velocities (v1, v2, w) are in the
/// body, with v1 along the heading:
///   l = m (v1^2 + v2^2)/2 + I w^2/2 - k (x^2 + y^2)/2,   Phi = v2.
template <class T>
struct VerticalDisc {
  using scalar = T;
  using Group = SE2;
  T mass, inertia, stiffness;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "vertical-disc";
  static constexpr auto summary = "vertical rolling disc (unicycle) held by a spring";
  static constexpr auto configuration = "SE(2): x, y, heading; velocity v1 (forward), v2 (sideways), w in the body";
  static constexpr std::array<const char*, 3> coordinates{"x", "y", "heading"};
  static constexpr auto source =
      "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
      "systems, section 7.4";
  static constexpr std::array<double, 3> default_q{1.0, 0.5, 0.3}, default_v{0.7, 0.0, 1.1};
  static constexpr std::array<ParameterInfo, 3> parameters() {
    return {{{"mass", 2.0, "mass", "mass m"},
             {"inertia", 0.5, "mass length^2", "moment of inertia I about the vertical"},
             {"stiffness", 1.0, "mass/time^2", "stiffness k of the spring"}}};
  }
  static constexpr std::array<ObservableInfo, 2> invariants() {
    return {{{"angular_velocity", true, "w"},
             {"linear_integral", true, "m w v1 - k Y, Y = y cos heading - x sin heading"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, 3>& q) const {
    return S(T(0.5) * stiffness) * (q[0] * q[0] + q[1] * q[1]);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, 3>& q) const {
    S s, c;
    sincos(q[2], s, c);
    const S k(-stiffness);
    return {k * fma(c, q[0], s * q[1]), k * fma(c, q[1], -(s * q[0])), S(0.0)};
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {mass, mass, inertia}; }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, 3>&) const {
    return {{{S(0.0), S(1.0), S(0.0)}}};
  }
  RB_HD static constexpr bool constraint_entry(int, int column) { return column == 1; }

  RB_HD Vector<T, 2> evaluate_invariants(const Vector<T, 3>& q, const Vector<T, n>& v) const {
    return {v[2], fma(mass * v[2], v[0], force(q)[1])};
  }

  /// w is constant. In the body the centre of the spring is at -(X, Y), with Y' = -w X, v1' = -(k/m) X and X'' = -K^2
  /// X, K^2 = k/m + w^2.
  bool exact(double time, Vector<double, 3>& q, Vector<double, n>& v) const {
    const double w = v[2], square_rate = stiffness / mass + w * w, rate = sqrt(square_rate);
    if (!(square_rate >= 0.0)) return false;
    const double c0 = cos(q[2]), s0 = sin(q[2]);
    const double x0 = c0 * q[0] + s0 * q[1], y0 = c0 * q[1] - s0 * q[0], dx0 = v[0] + w * y0;
    // sin(Kt)/K and (1 - cos Kt)/K^2, also for K = 0.
    const double half = rate * time == 0.0 ? time : 2.0 * sin(0.5 * rate * time) / rate;
    const double sine = half * cos(0.5 * rate * time), cosine = cos(rate * time);
    const double x = x0 * cosine + dx0 * sine, path = x0 * sine + dx0 * 0.5 * half * half;
    const double y = y0 - w * path;
    q[2] += w * time;
    const double c = cos(q[2]), s = sin(q[2]);
    q[0] = c * x - s * y;
    q[1] = s * x + c * y;
    v = {v[0] - stiffness / mass * path, 0.0, w};
    return true;
  }
};

RB_NAMESPACE_END
