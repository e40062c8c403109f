#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Pendulum-driven continuous variable transmission:
///   L = |v|^2/2 - (x^2 + z^2 - 2 cos y + epsilon sin 2y)/2,  Phi = vz + sin(y) vx.
template <class T>
struct PendulumCvt {
  using scalar = T;
  T epsilon;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "pendulum-cvt";
  static constexpr auto summary =
      "continuous variable transmission driven by a pendulum; driver and passenger energies";
  static constexpr auto configuration = "R^3: x, y (driver angle), z";
  static constexpr std::array<const char*, 3> coordinates{"x", "y", "z"};
  static constexpr auto source =
      "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
      "systems, section 7.2";
  // The low-energy start of the paper: the driver has the energy 4/5, the passenger the energy 1.
  static constexpr std::array<double, 3> default_q{1.0, 0.0, 1.0}, default_v{0.0, 1.8973665961010275, 0.0};
  static constexpr std::array<ParameterInfo, 1> parameters() {
    return {{{"epsilon", 0.5, "1", "weight of the sin 2y term that breaks the symmetry of the driver's potential"}}};
  }
  static constexpr std::array<ObservableInfo, 2> invariants() {
    return {{{"driver_energy", true, "vy^2/2 - cos y + (epsilon/2) sin 2y"},
             {"passenger_energy", true, "(vx^2 + vz^2 + x^2 + z^2)/2"}}};
  }

  template <class S>
  RB_HD S driver_potential(const S& y) const {
    S s, c;
    sincos(y, s, c);
    return S(epsilon) * s * c - c;  // sin 2y = 2 sin y cos y
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * (q[0] * q[0] + q[2] * q[2]) + driver_potential(q[1]);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    S s, c;
    sincos(q[1], s, c);
    return {-q[0], -s - S(epsilon) * (c - s) * (c + s), -q[2]};  // cos 2y = cos^2 y - sin^2 y
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{sin(q[1]), S(0.0), S(1.0)}}};
  }
  RB_HD static constexpr bool constraint_entry(int, int column) { return column != 1; }

  RB_HD Vector<T, 2> evaluate_invariants(const Vector<T, n>& q, const Vector<T, n>& v) const {
    return {fma(T(0.5) * v[1], v[1], driver_potential(q[1])),
            T(0.5) * (v[0] * v[0] + v[2] * v[2] + q[0] * q[0] + q[2] * q[2])};
  }
};

RB_NAMESPACE_END
