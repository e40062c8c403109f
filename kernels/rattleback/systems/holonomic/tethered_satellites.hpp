#pragma once

#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Three unit masses about a fixed centre of attraction; tethers join the masses:
///   L = sum_i (|v_i|^2/2 + attraction/|q_i|),   g = (|q_1 - q_2|^2, |q_2 - q_3|^2, |q_3 - q_1|^2) - length^2.
/// L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral Solution of Hamiltonian Systems with
/// Holonomic Constraints, (77)-(80).
template <class T>
struct TetheredSatellites {
  using scalar = T;
  T attraction, length;

  static constexpr int n = 9, m = 3;

  static constexpr auto name = "tethered-satellites";
  static constexpr auto summary = "three satellites tethered to each other, about a centre of attraction";
  static constexpr auto configuration = "R^9: the positions of satellites 1, 2, 3";
  static constexpr std::array<const char*, 9> coordinates{"x1", "y1", "z1", "x2", "y2", "z2", "x3", "y3", "z3"};
  static constexpr auto source =
      "L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral Solution of Hamiltonian Systems with "
      "Holonomic Constraints, eqs. (77)-(80)";
  // z3 = 20 - sqrt(3)/2; the speed makes the energy 0.
  static constexpr std::array<double, 9> default_q{0.0, 0.5, 20.0, 0.0, -0.5, 20.0, 0.0, 0.0, 19.133974596215562},
      default_v{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5517822421601885, 0.0, 0.0};
  static constexpr std::array<ParameterInfo, 2> parameters() {
    return {
        {{"attraction", 1.0, "length^3/time^2", "of the centre, per mass"}, {"length", 1.0, "length", "of a tether"}}};
  }
  static constexpr std::array<ObservableInfo, 3> invariants() {
    return {{{"angular_momentum_x", true, "x component of sum_i q_i x v_i"},
             {"angular_momentum_y", true, "y component of sum_i q_i x v_i"},
             {"angular_momentum_z", true, "z component of sum_i q_i x v_i"}}};
  }
  template <class S>
  RB_HD Vector<S, 3> evaluate_invariants(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return cross(segment<0, 3>(q), segment<0, 3>(v)) + cross(segment<3, 3>(q), segment<3, 3>(v)) +
           cross(segment<6, 3>(q), segment<6, 3>(v));
  }

  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    S u(0.0);
    RB_UNROLL
    for (int i = 0; i < n; i += 3) u = u - S(attraction) / sqrt(square_distance(q, i));
    return u;
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, n>& q) const {
    Vector<S, n> f;
    RB_UNROLL
    for (int i = 0; i < n; i += 3) {
      const S r2 = square_distance(q, i), pull = -S(attraction) / (r2 * sqrt(r2));
      RB_UNROLL
      for (int j = i; j < i + 3; ++j) f[j] = pull * q[j];
    }
    return f;
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    Vector<S, m> g;
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      const auto [a, b] = tether(c);
      const Vector<S, 3> d{q[a] - q[b], q[a + 1] - q[b + 1], q[a + 2] - q[b + 2]};
      g[c] = dot(d, d) - S(length) * S(length);
    }
    return g;
  }
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& q) const {
    auto dg = Matrix<S, m, n>::zero();
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      const auto [a, b] = tether(c);
      RB_UNROLL
      for (int i = 0; i < 3; ++i) {
        dg[c][a + i] = S(2.0) * (q[a + i] - q[b + i]);
        dg[c][b + i] = -dg[c][a + i];
      }
    }
    return dg;
  }
  RB_HD static constexpr bool constraint_entry(int row, int column) {
    const auto [a, b] = tether(row);
    return column / 3 * 3 == a || column / 3 * 3 == b;
  }
  RB_HD static constexpr int constraint_opposite(int row, int column) {
    const auto [a, b] = tether(row);
    return column / 3 * 3 == a ? b + column % 3 : column / 3 * 3 == b ? a + column % 3 : column;
  }

 private:
  struct Ends {
    int first, second;
  };
  /// The indices of the first coordinates of the two satellites at a tether: (1, 2), (2, 3), (3, 1).
  RB_HD static constexpr Ends tether(int c) { return {3 * c, 3 * ((c + 1) % 3)}; }
  template <class S>
  RB_HD static S square_distance(const Vector<S, n>& q, int first) {
    return fma(q[first + 2], q[first + 2], fma(q[first + 1], q[first + 1], q[first] * q[first]));
  }
};

RB_NAMESPACE_END
