#pragma once

#include "rattleback/lie/turning.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Suslov's problem: a rigid body with a fixed point that cannot turn about the third axis of the body. The first and
/// second axes have I12 = 0. Gravity acts as on the heavy top:
///   l = w.Iw/2 - g e3.(R c),   Phi = w3.
template <class T>
struct Suslov {
  using scalar = T;
  using Group = SO3;
  T moment_1, moment_2, moment_3, product_13, product_23, weight, centre_1, centre_2, centre_3;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "suslov";
  static constexpr auto summary = "Suslov's problem: rigid body that cannot turn about an axis fixed in it";
  static constexpr auto configuration = "SO(3): R (body to space, third axis upwards); velocity w in the body";
  static constexpr std::array<const char*, 9> coordinates{"R11", "R12", "R13", "R21", "R22",
                                                          "R23", "R31", "R32", "R33"};
  static constexpr auto source =
      "G. K. Suslov, Theoretical Mechanics (1902); E. I. Kharlamova-Zabelina (1957); Yu. N. Fedorov, A. J. "
      "Maciejewski, M. Przybylska, The Poisson equations in the nonholonomic Suslov problem, Nonlinearity 22 (2009)";
  // R = exp(0.3, -0.4, 0.2)
  static constexpr std::array<double, 9> default_q{0.902393426143777779, -0.249036480384168803, -0.351663099984004273,
                                                   0.131908591756702137, 0.936555726993455556,  -0.324751433648142093,
                                                   0.410227044297737606, 0.246666174563164316,  0.877991782679722224};
  static constexpr std::array<double, 3> default_v{0.8, 0.5, 0.0};
  static constexpr std::array<ParameterInfo, 9> parameters() {
    return {{{"moment_1", 1.0, "mass length^2", "I11"},
             {"moment_2", 1.4, "mass length^2", "I22"},
             {"moment_3", 1.2, "mass length^2", "I33"},
             {"product_13", 0.3, "mass length^2", "entry I13 of the matrix of inertia"},
             {"product_23", -0.2, "mass length^2", "entry I23 of the matrix of inertia"},
             {"weight", 0.0, "mass length^2/time^2", "weight g times the distance of the centre of mass"},
             {"centre_1", 0.6, "1", "direction c of the centre of mass in the body"},
             {"centre_2", 0.8, "1", "its second component"},
             {"centre_3", 0.0, "1", "its third component"}}};
  }
  static constexpr std::array<ObservableInfo, 1> invariants() {
    return {{{"kharlamova_integral", false,
              "I11 w1 c1 + I22 w2 c2; constant where I13 = I23 = c3 = 0 (Kharlamova's case)"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, 9>& q) const {
    return S(weight) * dot(segment<6, 3>(q), centre<S>());
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, 9>& q) const {
    return S(weight) * cross(segment<6, 3>(q), centre<S>());
  }
  RB_HD Matrix<T, n, n> mass_matrix() const {
    return {{{moment_1, T(0.0), product_13}, {T(0.0), moment_2, product_23}, {product_13, product_23, moment_3}}};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, 9>&) const {
    return {{{S(0.0), S(0.0), S(1.0)}}};
  }
  RB_HD static constexpr bool constraint_entry(int, int column) { return column == 2; }

  RB_HD Vector<T, 1> evaluate_invariants(const Vector<T, 9>&, const Vector<T, n>& v) const {
    return {fma(moment_1 * v[0], centre_1, moment_2 * v[1] * centre_2)};
  }

  /// Exact solution without weight. In (X, Y) = (I11^(1/2) w1, I22^(1/2) w2) the velocity turns about the origin at the
  /// rate (I13 w1 + I23 w2)/(I11 I22)^(1/2). The components along and across the line where this rate vanishes are rho
  /// tanh and rho sech of a phase linear in time. R follows from w(t).
  bool exact(double time, Vector<double, 9>& q, Vector<double, n>& v) const {
    const bool heavy = weight != 0.0 && (centre_1 != 0.0 || centre_2 != 0.0 || centre_3 != 0.0);
    if (heavy || !(moment_1 > 0.0) || !(moment_2 > 0.0)) return false;
    const double r1 = sqrt(moment_1), r2 = sqrt(moment_2), k1 = product_13 / r1, k2 = product_23 / r2;
    const double k = hypot(k1, k2), speed = hypot(r1 * v[0], r2 * v[1]);
    if (speed == 0.0) return true;
    const double c = k > 0.0 ? k1 / k : 1.0, s = k > 0.0 ? k2 / k : 0.0;
    const double along = c * r2 * v[1] - s * r1 * v[0], across = c * r1 * v[0] + s * r2 * v[1];
    const double phase = asinh(along / std::fabs(across)), rate = k * speed / (r1 * r2);
    const auto w = [&](double t) {
      const double tangent = speed * tanh(phase + rate * t);
      const double secant = std::copysign(speed, across) / cosh(phase + rate * t);
      return Vector<double, 3>{(c * secant - s * tangent) / r1, (s * secant + c * tangent) / r2, 0.0};
    };
    q = turned(q, time, 0.5 / (speed / std::fmin(r1, r2) + rate), w);
    v = w(time);
    return true;
  }

 private:
  template <class S>
  RB_HD Vector<S, 3> centre() const {
    return {S(centre_1), S(centre_2), S(centre_3)};
  }
};

RB_NAMESPACE_END
