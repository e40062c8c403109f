#pragma once

#include "rattleback/lie/product.hpp"
#include "rattleback/lie/so3.hpp"
#include "rattleback/systems/system.hpp"

RB_NAMESPACE_BEGIN

enum class TurntableVariant {
  space,  ///< W = R w, the angular velocity in space: rolling
  body,   ///< W = w, as printed; the same motion of the centre where a = b = c, otherwise not that of a ball
};

/// Ball on a turntable that spins at the rate Om about the origin; velocities (w1, w2, w3) in the body and (vx, vy) of the centre:
///   l = (vx^2 + vy^2)/2 + r^2 (a w1^2 + b w2^2 + c w3^2)/2,   Phi = (vx - r W2 + Om y, vy + r W1 - Om x),
/// the velocity of the point of contact against the table.
template <class T, TurntableVariant Variant>
struct TurntableBall {
  using scalar = T;
  using Group = Product<SO3, Rn<2>>;
  T radius, spin, a, b, c;

  static constexpr int n = 5, m = 2, elements = Group::element_size;
  static constexpr auto kind = ConstraintKind::velocity;
  static constexpr int x = 9, y = 10;  // places in q
  static constexpr bool in_space = Variant == TurntableVariant::space;

  static constexpr auto name = "turntable-ball";
  static constexpr auto variant = in_space ? "space" : "body";
  static constexpr auto summary =
      in_space ? "ball rolling on a turntable"
               : "ball on a turntable, with the body angular velocity in the constraint as printed";
  static constexpr auto configuration =
      "SO(3) x R^2: R (body to space), x, y (centre); velocity w in the body, vx, vy in space";
  static constexpr std::array<const char*, elements> coordinates{"R11", "R12", "R13", "R21", "R22", "R23",
                                                                 "R31", "R32", "R33", "x",   "y"};
  static constexpr auto source =
      "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
      "systems, section 7.5";
  static constexpr bool conserves_energy = false;  // the table does work
  static constexpr std::array<double, elements> default_q{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0};
  static constexpr std::array<double, n> default_v{0.3, -0.2, 0.5, -0.2, 0.7};
  static constexpr std::array<ParameterInfo, 5> parameters() {
    return {{{"radius", 1.0, "length", "radius r"},
             {"spin", 1.0, "1/time", "rate Om of the table, counterclockwise"},
             {"a", 0.4, "1", "first moment of inertia over mass r^2; 2/5 is a homogeneous ball"},
             {"b", 0.4, "1", "second moment of inertia over mass r^2"},
             {"c", 0.4, "1", "third moment of inertia over mass r^2"}}};
  }
  static constexpr std::array<StructureInfo, 0> structure() { return {}; }
  /// The first four are integrals of a ball with equal moments only.
  static constexpr auto invariants() {
    constexpr ObservableInfo moving{"moving_energy", false,
                                    "E + r Om (x W1 + y W2) - Om^2 (x^2 + y^2); constant where a = b = c"};
    constexpr ObservableInfo first{"integral_1", false, "W3; constant where a = b = c"};
    constexpr ObservableInfo second{"integral_2", false, "r W1 - Om x/(1 + a); constant where a = b = c"};
    constexpr ObservableInfo third{"integral_3", false, "r W2 - Om y/(1 + a); constant where a = b = c"};
    if constexpr (in_space) {
      constexpr ObservableInfo jacobi{
          "jacobi_integral", true,
          "E - Om (x vy - y vx + (R I w)_3), I = r^2 diag(a, b, c): the moving energy for any moments"};
      return std::array<ObservableInfo, 5>{moving, first, second, third, jacobi};
    } else {
      return std::array<ObservableInfo, 4>{moving, first, second, third};
    }
  }

  template <class S>
  RB_HD S potential(const Vector<S, elements>&) const {
    return S(0.0);
  }
  template <class S>
  RB_HD Vector<S, n> force(const Vector<S, elements>&) const {
    return Vector<S, n>::zero();
  }
  RB_HD Vector<T, n> mass_diagonal() const {
    const T r2 = radius * radius;
    return {r2 * a, r2 * b, r2 * c, T(1.0), T(1.0)};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, elements>& q) const {
    const S r(radius), o(0.0), one(1.0);
    if constexpr (in_space) {
      return {{{-(r * q[3]), -(r * q[4]), -(r * q[5]), one, o}, {r * q[0], r * q[1], r * q[2], o, one}}};
    } else {
      return {{{o, -r, o, one, o}, {r, o, o, o, one}}};
    }
  }
  template <class S>
  RB_HD Vector<S, m> constraint_offset(const Vector<S, elements>& q) const {
    return {S(spin) * q[y], -(S(spin) * q[x])};
  }
  RB_HD static constexpr bool constraint_entry(int row, int column) {
    if (column >= 3) return column == 3 + row;
    return in_space || column == 1 - row;
  }

  RB_HD auto evaluate_invariants(const Vector<T, elements>& q, const Vector<T, n>& v) const {
    const Vector<T, 9> rotation = Group::first_element(q);
    const Vector<T, 3> w = Group::first(v), turn = in_space ? SO3::Ad(rotation, w) : w;
    const T e = energy(*this, q, v), k = spin / (T(1.0) + a);
    const Vector<T, 4> of_equal_moments{
        e + spin * (radius * (q[x] * turn[0] + q[y] * turn[1]) - spin * (q[x] * q[x] + q[y] * q[y])), turn[2],
        fma(radius, turn[0], -(k * q[x])), fma(radius, turn[1], -(k * q[y]))};
    if constexpr (in_space) {
      const Vector<T, 3> momentum{a * w[0], b * w[1], c * w[2]};
      const T own = radius * radius * SO3::Ad(rotation, momentum)[2];
      return join(of_equal_moments, Vector<T, 1>{e - spin * (q[x] * v[4] - q[y] * v[3] + own)});
    } else {
      return of_equal_moments;
    }
  }
};

RB_NAMESPACE_END
