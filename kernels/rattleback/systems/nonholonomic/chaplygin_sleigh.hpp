#pragma once

#include "rattleback/mechanics/system.hpp"
#include "rattleback/real/quadrature.hpp"

RB_NAMESPACE_BEGIN

/// Chaplygin sleigh: a rigid body on a knife edge at (x, y), with the centre of mass at distance a along the edge,
///   L = M (vx^2 + vy^2)/2 + (I + M a^2) w^2/2 + M a w (vy cos th - vx sin th),  Phi = vy cos th - vx sin th.
/// The mass matrix depends on the configuration.
template <class T>
struct ChaplyginSleigh {
  using scalar = T;
  T mass, inertia, offset;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "chaplygin-sleigh";
  static constexpr auto summary = "rigid body sliding on a knife edge; configuration-dependent mass matrix";
  static constexpr auto configuration = "R^3: x, y (contact point), theta (heading)";
  static constexpr std::array<const char*, 3> coordinates{"x", "y", "theta"};
  static constexpr auto source =
      "A. M. Bloch, Nonholonomic Mechanics and Control, 2nd ed. (Springer 2015), section 1.7";
  // The forward speed is 0.5 along the heading 0.3, and the angular velocity is 1.2.
  static constexpr std::array<double, 3> default_q{0.0, 0.0, 0.3},
      default_v{0.477668244562803, 0.14776010333066977, 1.2};
  static constexpr std::array<ParameterInfo, 3> parameters() {
    return {{{"mass", 1.0, "kg", "mass M"},
             {"inertia", 0.5, "kg m^2", "moment of inertia I about the centre of mass"},
             {"offset", 0.4, "m", "distance a from the knife edge to the centre of mass"}}};
  }

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    S s, c;
    sincos(q[2], s, c);
    const T moment = mass * offset;
    return S(T(0.5) * mass) * (v[0] * v[0] + v[1] * v[1]) + S(T(0.5) * (inertia + moment * offset)) * (v[2] * v[2]) +
           S(moment) * v[2] * (v[1] * c - v[0] * s);
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    S s, c;
    sincos(q[2], s, c);
    return {{{-s, c, S(0.0)}}};
  }
  static constexpr bool constraint_entry(int, int column) { return column < 2; }

  // The parts of L (mechanics/system.hpp).
  static constexpr std::array<int, 1> active{2};
  template <class S>
  RB_HD Matrix<S, n, n> mass_matrix(const Vector<S, n>& q) const {
    S s, c;
    sincos(q[2], s, c);
    const T moment = mass * offset;
    const S o(0.0), x = -(S(moment) * s), y = S(moment) * c;
    return {{{S(mass), o, x}, {o, S(mass), y}, {x, y, S(inertia + moment * offset)}}};
  }
  static constexpr bool mass_entry(int row, int column) { return row == column || row + column >= 2; }
  static constexpr bool mass_varies(int row, int column, int) { return row != column && row + column >= 2; }

  /// Forward speed u and angular velocity w obey u' = a w^2, w' = -(a / c^2) u w with c^2 = a^2 + I/M. Hence
  /// u = A tanh(xi) and c w = A sech(xi) with xi' = a A / c^2; the heading and the path are quadratures.
  bool exact(double time, Vector<double, n>& q, Vector<double, n>& v) const {
    const double c2 = inertia / mass + offset * offset, c = sqrt(c2);
    if (!(c2 > 0.0)) return false;
    const double u0 = v[0] * cos(q[2]) + v[1] * sin(q[2]), w0 = v[2], speed = hypot(u0, c * w0);
    if (speed == 0.0) return true;
    const double xi0 = asinh(u0 / (c * std::fabs(w0))), xi_rate = offset * speed / c2;
    const auto u = [&](double t) { return speed * tanh(xi0 + xi_rate * t); };
    const auto w = [&](double t) { return std::copysign(speed / c, w0) / cosh(xi0 + xi_rate * t); };
    const double width = 0.25 / (speed / c + std::fabs(xi_rate));
    const auto path = integrate_with_phase(time, width, q[2], w, [&](double t, double heading) {
      return Vector<double, 2>{u(t) * cos(heading), u(t) * sin(heading)};
    });
    q[0] += path[0];
    q[1] += path[1];
    v = {u(time) * cos(q[2]), u(time) * sin(q[2]), w(time)};
    return true;
  }
};

RB_NAMESPACE_END
