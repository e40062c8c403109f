#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Unit mass on a surface of degree 6 in a potential of degree 4, a test of the energy conservation of quadrature-based
/// methods: L = |v|^2/2 - strength z^4,   g = x^6 + y^4 + z^2 - level.
/// L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral Solution of Hamiltonian Systems with
/// Holonomic Constraints, (75)-(76).
template <class T>
struct ModifiedPendulum {
  using scalar = T;
  T strength, level;

  static constexpr int n = 3, m = 1;

  static constexpr auto name = "modified-pendulum";
  static constexpr auto summary = "point mass on a surface of degree 6 with a quartic potential";
  static constexpr auto configuration = "R^3: x, y, z";
  static constexpr std::array<const char*, 3> coordinates{"x", "y", "z"};
  static constexpr auto source =
      "L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral Solution of Hamiltonian Systems with "
      "Holonomic Constraints, eqs. (75), (76)";
  // q = (2^-1/2, 0, -2^-1/2), v = (0, 2^-1/4, 0).
  static constexpr std::array<double, 3> default_q{0.7071067811865476, 0.0, -0.7071067811865476},
      default_v{0.0, 0.8408964152537145, 0.0};
  static constexpr std::array<ParameterInfo, 2> parameters() {
    return {{{"strength", 1.0, "1/(length^2 time^2)", "factor of the potential z^4, per mass"},
             {"level", 0.625, "1", "the surface is x^6 + y^4 + z^2 = level"}}};
  }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(strength) * square(square(q[2]));
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    return {S(0.0), S(0.0), S(-4.0) * S(strength) * square(q[2]) * q[2]};
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {square(square(q[0]) * q[0]) + (square(square(q[1])) + square(q[2])) - S(level)};
  }
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    return {{{S(6.0) * (square(square(q[0])) * q[0]), S(4.0) * (square(q[1]) * q[1]), S(2.0) * q[2]}}};
  }
};

RB_NAMESPACE_END
