#pragma once

#include <cmath>

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Symmetric heavy top with a fixed tip, described by the centre of mass phi and the directors d_1, d_2, d_3 of the
/// body (P. Betsch, P. Steinmann, Int. J. Numer. Meth. Engng. 50 (2001) 1931). I is the inertia about axes through the
/// centre of mass orthogonal to d_3, J the inertia about d_3, and E_1 = E_2 = J/2, E_3 = I - J/2:
///   L = mass |phi'|^2/2 + sum_i E_i |d_i'|^2/2 - mass gravity phi_3,
///   g = ((d_1.d_1 - 1)/2, (d_2.d_2 - 1)/2, (d_3.d_3 - 1)/2, d_1.d_2, d_1.d_3, d_2.d_3, phi/length - d_3).
template <class T>
struct HeavyTopDirectors {
  using scalar = T;
  T mass, inertia, axial_inertia, length, gravity;

  static constexpr int n = 12, m = 9;

  static constexpr auto name = "heavy-top-directors";
  static constexpr auto summary = "symmetric heavy top, as the centre of mass and three directors";
  static constexpr auto configuration = "R^12: centre of mass, directors d_1, d_2, d_3";
  static constexpr auto source =
      "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
      "constrained mechanical systems, sec. 6.2";
  static constexpr double time_scale = 0.01;
  // Steady precession with the rate 10 about the vertical and 135.6 about d_3, which is inclined by 60 degrees.
  static constexpr double half_root_3 = 0.86602540378443864676, tip = 0.075;
  static constexpr std::array<double, n> default_q{0, -tip* half_root_3, 0.5 * tip, 1, 0, 0, 0, 0.5, half_root_3,
                                                   0, -half_root_3,      0.5};
  static constexpr std::array<double, n> default_v = [] {
    const double w[3] = {0, -half_root_3 * 135.6, 10 + 0.5 * 135.6};
    std::array<double, n> v{};
    for (int b = 0; b < 4; ++b)
      for (int i = 0; i < 3; ++i)
        v[3 * b + i] =
            w[(i + 1) % 3] * default_q[3 * b + (i + 2) % 3] - w[(i + 2) % 3] * default_q[3 * b + (i + 1) % 3];
    return v;
  }();
  // A cone of density 2700, height 0.1 and radius 0.05 stands on the tip.
  static constexpr double cone_mass = 2700 * 3.14159265358979323846 * 0.05 * 0.05 * 0.1 / 3;
  static constexpr std::array<ParameterInfo, 5> parameters() {
    return {
        {{"mass", cone_mass, "mass", "of the top"},
         {"inertia", 7.5e-4 * cone_mass, "mass length^2", "about axes through the centre of mass orthogonal to d_3"},
         {"axial_inertia", 7.5e-4 * cone_mass, "mass length^2", "about the axis of symmetry d_3"},
         {"length", tip, "length", "from the tip to the centre of mass"},
         {"gravity", 9.81, "length/time^2", "acceleration downwards"}}};
  }
  static constexpr std::array<ObservableInfo, 2> invariants() {
    return {{{"angular_momentum", true, "about the vertical through the tip"},
             {"spin", true, "angular momentum about d_3"}}};
  }
  template <class S>
  RB_HD Vector<S, 2> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const Vector<S, 3> total = angular_momentum(q, v);
    return {total[2], dot(total, segment<9, 3>(q))};
  }
  /// The angular momentum about the tip.
  template <class S>
  RB_HD Vector<S, 3> angular_momentum(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const Vector<T, n> diagonal = mass_diagonal();
    auto total = Vector<S, 3>::zero();
    RB_UNROLL
    for (int b = 0; b < 4; ++b) total = total + S(diagonal[3 * b]) * cross(segment<3>(q, 3 * b), segment<3>(v, 3 * b));
    return total;
  }

  RB_HD Vector<T, n> mass_diagonal() const {
    const T half = T(0.5) * axial_inertia;
    const T diagonal[4] = {mass, half, half, inertia - half};
    Vector<T, n> r;
    RB_UNROLL
    for (int i = 0; i < n; ++i) r[i] = diagonal[i / 3];
    return r;
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(mass) * S(gravity) * q[2];
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>&) const {
    auto r = Vector<S, n>::zero();
    r[2] = -(S(mass) * S(gravity));
    return r;
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    const Vector<S, 3> d1 = segment<3, 3>(q), d2 = segment<6, 3>(q), d3 = segment<9, 3>(q);
    const Vector<S, 3> along = S(T(1.0) / length) * segment<0, 3>(q) - d3;
    const S half(0.5), one(1.0);
    return {half * (dot(d1, d1) - one),
            half * (dot(d2, d2) - one),
            half * (dot(d3, d3) - one),
            dot(d1, d2),
            dot(d1, d3),
            dot(d2, d3),
            along[0],
            along[1],
            along[2]};
  }

  // The structure for condensed methods (system.hpp).
  static constexpr int block = 3, terms = 0;
  static constexpr bool constraint_entry(int row, int column) {
    const int b = column / 3;
    if (row >= 6) return (b == 0 || b == 3) && column % 3 == row - 6;
    constexpr int pairs[6][2] = {{1, 1}, {2, 2}, {3, 3}, {1, 2}, {1, 3}, {2, 3}};
    return b == pairs[row][0] || b == pairs[row][1];
  }
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    auto r = Matrix<S, m, n>::zero();
    const S w(T(1.0) / length);
    RB_UNROLL
    for (int i = 0; i < 3; ++i) {
      const S d1 = q[3 + i], d2 = q[6 + i], d3 = q[9 + i];
      r[0][3 + i] = r[3][6 + i] = r[4][9 + i] = d1;
      r[1][6 + i] = r[3][3 + i] = r[5][9 + i] = d2;
      r[2][9 + i] = r[4][3 + i] = r[5][6 + i] = d3;
      r[6 + i][i] = w;
      r[6 + i][9 + i] = S(-1.0);
    }
    return r;
  }
  template <class S>
  RB_HD Matrix<S, 4, 4> constraint_hessian(const Vector<S, m>& a) const {
    const S o(0.0);
    return {{{o, o, o, o}, {o, a[0], a[3], a[4]}, {o, a[3], a[1], a[5]}, {o, a[4], a[5], a[2]}}};
  }

  /// Moves a state in steady precession: a rotation about the vertical and about d_3, with the two rates coupled.
  bool exact(double time, Vector<double, n>& q, Vector<double, n>& v) const {
    const double axis[3] = {q[9], q[10], q[11]}, cosine = axis[2], sine_squared = 1 - cosine * cosine;
    // d_3' = precession e_3 x d_3, and d_1' . d_2 = precession cosine + spin.
    const double precession = (axis[0] * v[10] - axis[1] * v[9]) / sine_squared;
    const double spin = v[3] * q[6] + v[4] * q[7] + v[5] * q[8] - precession * cosine;
    const double steady = (mass * gravity * length / precession +
                           (inertia + mass * length * length - axial_inertia) * precession * cosine) /
                          axial_inertia;
    // This form also returns false for NaN.
    if (!(std::fabs(spin - steady) <= 1e-12 * (std::fabs(spin) + std::fabs(steady)))) return false;
    const double w[3] = {spin * axis[0], spin * axis[1], spin * axis[2] + precession};
    const auto turned = [](const double* rate, const double* x, int i) {
      return rate[(i + 1) % 3] * x[(i + 2) % 3] - rate[(i + 2) % 3] * x[(i + 1) % 3];
    };
    const double speed = std::fabs(spin) + std::fabs(precession);
    for (int i = 0; i < n; ++i)
      if (!(std::fabs(v[i] - turned(w, &q[i - i % 3], i % 3)) <= 1e-12 * speed)) return false;
    // The state turns about d_3, then about the vertical.
    const double c = cos(spin * time), s = sin(spin * time);
    for (int i = 0; i < 3; ++i) {
      const double d1 = q[3 + i], d2 = q[6 + i];
      q[3 + i] = c * d1 + s * d2;
      q[6 + i] = c * d2 - s * d1;
    }
    const double cp = cos(precession * time), sp = sin(precession * time);
    for (int b = 0; b < 4; ++b) {
      const double x = q[3 * b], y = q[3 * b + 1];
      q[3 * b] = cp * x - sp * y;
      q[3 * b + 1] = cp * y + sp * x;
    }
    const double rate[3] = {spin * q[9], spin * q[10], spin * q[11] + precession};
    for (int i = 0; i < n; ++i) v[i] = turned(rate, &q[i - i % 3], i % 3);
    return true;
  }
};

RB_NAMESPACE_END
