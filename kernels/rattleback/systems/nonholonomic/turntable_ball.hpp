#pragma once

#include "rattleback/lie/product.hpp"
#include "rattleback/lie/turning.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

enum class TurntableVariant {
  space,  ///< W = R w, the angular velocity in space: rolling
  body,   ///< W = w, as printed: the centre moves in the same way for a = b = c; otherwise the body is not a ball
};

/// Ball on a turntable that spins at the rate Om about the origin, with velocities (w1, w2, w3) in the body and (vx,
/// vy) of the centre:
///   l = (vx^2 + vy^2)/2 + r^2 (a w1^2 + b w2^2 + c w3^2)/2,   Phi = (vx - r W2 + Om y, vy + r W1 - Om x).
/// Phi is the velocity of the point of contact relative to the table.
template <class T, TurntableVariant Variant>
struct TurntableBall {
  using scalar = T;
  using Group = Product<SO3, Rn<2>>;
  T radius, spin, a, b, c;

  static constexpr int n = 5, m = 2, elements = Group::element_size;
  static constexpr int x = 9, y = 10;  // indices in q
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
  static constexpr std::array<double, elements> default_q{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0};
  static constexpr std::array<double, n> default_v{0.3, -0.2, 0.5, -0.2, 0.7};
  static constexpr std::array<ParameterInfo, 5> parameters() {
    return {{{"radius", 1.0, "length", "radius r"},
             {"spin", 1.0, "1/time", "rate Om of the table, counterclockwise"},
             {"a", 0.4, "1", "first moment of inertia over mass r^2; 2/5 is a homogeneous ball"},
             {"b", 0.4, "1", "second moment of inertia over mass r^2"},
             {"c", 0.4, "1", "third moment of inertia over mass r^2"}}};
  }
  static constexpr auto invariants() {
    constexpr ObservableInfo moving{"moving_energy", true,
                                    "E + r Om (x W1 + y W2) - Om^2 (x^2 + y^2) = E - Om (x vy - y vx)"};
    constexpr ObservableInfo first{"integral_1", false, "W3; constant where a = b = c"};
    constexpr ObservableInfo second{"integral_2", false, "r W1 - Om x/(1 + a); constant where a = b = c"};
    constexpr ObservableInfo third{"integral_3", false, "r W2 - Om y/(1 + a); constant where a = b = c"};
    if constexpr (in_space) {
      constexpr ObservableInfo momentum{"vertical_momentum", true,
                                        "(R I w)_3, I = r^2 diag(a, b, c), about the vertical through the centre"};
      return std::array<ObservableInfo, 5>{moving, first, second, third, momentum};
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
    const Vector<T, 4> r{e + spin * (radius * (q[x] * turn[0] + q[y] * turn[1]) - spin * (q[x] * q[x] + q[y] * q[y])),
                         turn[2], fma(radius, turn[0], -(k * q[x])), fma(radius, turn[1], -(k * q[y]))};
    if constexpr (in_space) {
      const Vector<T, 3> momentum{a * w[0], b * w[1], c * w[2]};
      return join(r, Vector<T, 1>{radius * radius * dot(segment<6, 3>(q), momentum)});
    } else {
      return r;
    }
  }

  /// With equal moments the centre moves on a circle, and the velocity turns at the rate nu = Om a/(1 + a). W follows
  /// from the integrals, and R from W(t).
  bool exact(double time, Vector<double, elements>& q, Vector<double, n>& v) const {
    if (a != b || b != c || !(a > 0.0) || radius == 0.0) return false;
    const double k = spin / (1.0 + a), nu = a * k;
    const Vector<double, 9> from = Group::first_element(q);
    const Vector<double, 3> w = Group::first(v), turn = in_space ? SO3::Ad(from, w) : w;
    const double vx = v[3], vy = v[4];
    const auto chord = [&](double t) { return nu == 0.0 ? t : 2.0 * sin(0.5 * nu * t) / nu; };
    const auto path = [&](double t) {
      const double length = chord(t), cosine = cos(0.5 * nu * t), sine = sin(0.5 * nu * t);
      return Vector<double, 2>{length * (cosine * vx - sine * vy), length * (cosine * vy + sine * vx)};
    };
    const auto angular_velocity = [&](double t) {
      const auto moved = path(t);
      return turn + (k / radius) * Vector<double, 3>{moved[0], moved[1], 0.0};
    };
    const double fastest =
        sqrt(dot(turn, turn)) + std::fabs(k / radius) * hypot(vx, vy) * std::fmin(std::fabs(time), 2.0 / std::fabs(nu));
    const double width = 0.5 / (fastest + std::fabs(nu));
    const Vector<double, 3> last = angular_velocity(time);
    const Vector<double, 2> moved = path(time);
    const double cosine = cos(nu * time), sine = sin(nu * time);
    Vector<double, 9> rotation;
    Vector<double, 3> body = last;
    if constexpr (in_space) {
      // R^T turns with -W.
      rotation = SO3::inverse(turned(SO3::inverse(from), time, width, [&](double t) { return -angular_velocity(t); }));
      body = SO3::Ad_star(rotation, last);
    } else {
      rotation = turned(from, time, width, angular_velocity);
    }
    q = join(rotation, Vector<double, 2>{q[x] + moved[0], q[y] + moved[1]});
    v = join(body, Vector<double, 2>{cosine * vx - sine * vy, cosine * vy + sine * vx});
    return true;
  }
};

RB_NAMESPACE_END
