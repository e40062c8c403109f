#pragma once

#include "rattleback/mechanics/system.hpp"
#include "rattleback/real/quadrature.hpp"

RB_NAMESPACE_BEGIN

/// Nonholonomic particle in a harmonic potential: L = |v|^2/2 - (x^2 + y^2)/2, Phi = vz - y vx.
template <class T>
struct NonholonomicParticle {
  using scalar = T;
  static constexpr int n = 3, m = 1;

  static constexpr auto name = "nonholonomic-particle";
  static constexpr auto summary = "particle in a harmonic potential with the contact-type constraint vz = y vx";
  static constexpr auto configuration = "R^3: x, y, z";
  static constexpr std::array<const char*, 3> coordinates{"x", "y", "z"};
  static constexpr auto source =
      "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
      "systems, section 7.1";
  static constexpr std::array<double, 3> default_q{1.0, 0.5, 0.0}, default_v{0.4, 0.8, 0.2};
  static constexpr std::array<ObservableInfo, 2> invariants() {
    return {{{"energy_y", true, "(vy^2 + y^2)/2"}, {"energy_xz", true, "(vx^2 + vz^2 + x^2)/2"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * (q[0] * q[0] + q[1] * q[1]);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    return {-q[0], -q[1], S(0.0)};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{-q[1], S(0.0), S(1.0)}}};
  }
  RB_HD static constexpr bool constraint_entry(int, int column) { return column != 1; }

  RB_HD Vector<T, 2> evaluate_invariants(const Vector<T, n>& q, const Vector<T, n>& v) const {
    return {T(0.5) * (v[1] * v[1] + q[1] * q[1]), T(0.5) * (v[0] * v[0] + v[2] * v[2] + q[0] * q[0])};
  }

  /// y oscillates freely. With r = sqrt(1 + y^2) and d tau = dt / r, x and r vx are the cosine and sine of a second
  /// oscillation in tau. tau and z = integral of y vx dt are quadratures.
  bool exact(double time, Vector<double, n>& q, Vector<double, n>& v) const {
    const double x0 = q[0], y0 = q[1], vy0 = v[1], w0 = sqrt(1.0 + y0 * y0) * v[0];
    const auto y = [&](double t) { return y0 * cos(t) + vy0 * sin(t); };
    const auto tau_rate = [&](double t) { return 1.0 / sqrt(1.0 + y(t) * y(t)); };
    const auto vx = [&](double t, double phase) { return (w0 * cos(phase) - x0 * sin(phase)) * tau_rate(t); };
    // The rate is singular where y(t) = i, at a distance asinh(1 / amplitude) from the real axis.
    const double width = 0.25 / (1.0 + hypot(y0, vy0));
    double tau = 0.0;
    q[2] +=
        integrate_with_phase(time, width, tau, tau_rate, [&](double t, double phase) { return y(t) * vx(t, phase); });
    q[0] = x0 * cos(tau) + w0 * sin(tau);
    q[1] = y(time);
    v[0] = vx(time, tau);
    v[1] = vy0 * cos(time) - y0 * sin(time);
    v[2] = q[1] * v[0];
    return true;
  }
};

RB_NAMESPACE_END
