#pragma once
// Driven systems on Lie groups, for the tests of methods.

#include "rattleback/lie/lie.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// A rigid body with friction, whose spin about an axis of the body a motor sets.
template <class T>
struct MotorOnSuslov {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = 1;
  static Vector<double, 9> start_q() { return SO3::expand(Vector<double, 3>{.3, -.4, .2}); }
  static Vector<double, n> start_v() { return {.5, .8, -.6}; }
  template <class S>
  S lagrangian(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& w) const {
    const S swells = S(1.0) + S(0.25) * sin(t);
    return S(0.5) * (swells * w[0] * w[0] + S(1.4) * w[1] * w[1] + S(0.7) * w[2] * w[2]) -
           S(0.9) * (S(1.0) + S(0.5) * sin(S(1.5) * t)) * r[8];
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& w) const {
    return {S(-0.125) * w[0], S(-0.125) * w[1] + S(0.25) * cos(t) * r[8], S(-0.25) * w[2]};
  }
  template <class S>
  Matrix<S, 1, 3> constraint_matrix(const S& t, const Vector<S, 9>& r) const {
    return {{{S(0.3), S(0.5) * r[2], S(1.0) + S(0.25) * sin(t)}}};
  }
  template <class S>
  Vector<S, 1> constraint_offset(const S& t, const Vector<S, 9>& r) const {
    return {S(0.25) * cos(t) + S(0.125) * r[4]};
  }
};

/// A rigid body with friction and a drive in a field that swells. By its parts or by its Hamiltonian.
template <class T, bool by_hamiltonian = false>
struct DrivenTop {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = 0;
  static Vector<double, 9> start_q() { return SO3::expand(Vector<double, 3>{.3, -.4, .2}); }
  static Vector<double, n> start_v() { return {.75, .5, 1}; }
  Vector<T, 3> mass_diagonal() const
    requires(!by_hamiltonian)
  {
    return {T(1.0), T(1.25), T(0.5)};
  }
  template <class S>
  static S height(const S& t, const Vector<S, 9>& r) {
    return S(0.5) * r[8] * (S(1.0) + S(0.25) * sin(S(1.5) * t));
  }
  template <class S>
  S potential(const S& t, const Vector<S, 9>& r) const
    requires(!by_hamiltonian)
  {
    return height(t, r);
  }
  template <class S>
  S hamiltonian(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& p) const
    requires(by_hamiltonian)
  {
    return S(0.5) * (p[0] * p[0] + S(0.8) * p[1] * p[1] + S(2.0) * p[2] * p[2]) + height(t, r);
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& w) const {
    return {S(-0.125) * w[0], S(-0.125) * w[1], S(-0.25) * w[2] * (S(1.0) + w[0] * w[0]) + S(0.25) * r[8] * cos(t)};
  }
};

/// A ball with friction c/4 alone.
template <class T, int c>
struct BallWithFriction {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = 0;
  static Vector<double, 9> start_q() { return SO3::expand(Vector<double, 3>{.3, -.4, .2}); }
  static Vector<double, n> start_v() { return {.75, .5, 1}; }
  template <class S>
  S potential(const Vector<S, 9>&) const {
    return S(0.0);
  }
  template <class S>
  Vector<S, 3> force(const S&, const Vector<S, 9>&, const Vector<S, 3>& w) const {
    return S(-0.25 * c) * w;
  }
};
template <class T>
using DampedBall = BallWithFriction<T, 3>;
template <class T>
using StickyBall = BallWithFriction<T, 256>;

/// A disc in space with a motor, whose inertia grows.
template <class T>
struct SwellingDisc {
  using scalar = T;
  using Group = SE3;
  static constexpr int n = 6, m = 0;
  static Vector<double, 12> start_q() {
    return join(SO3::expand(Vector<double, 3>{1.2, 0.3, -0.4}), Vector<double, 3>{.5, 0, 1});
  }
  static Vector<double, n> start_v() { return {.3, .2, 1.0, .5, 0.0, .1}; }
  template <class S>
  S lagrangian(const S& t, const Vector<S, 12>& g, const Vector<S, 6>& v) const {
    return S(0.5) * (S(1.0) + S(0.25) * sin(t)) *
               (S(0.25) * (v[0] * v[0] + v[1] * v[1]) + S(0.5) * v[2] * v[2] + v[3] * v[3] + v[4] * v[4] +
                v[5] * v[5]) -
           g[11] - S(0.25) * g[8] * g[9];
  }
  template <class S>
  Vector<S, 6> force(const S& t, const Vector<S, 12>& g, const Vector<S, 6>& v) const {
    return {S(-0.125) * v[0], S(-0.125) * v[1], S(0.25) * cos(t) - S(0.125) * v[2],
            g[0] * sin(t),    S(-0.25) * v[4],  S(0.0)};
  }
};

/// A rigid body whose axis keeps a given angle to the vertical, and whose spin a motor sets (Suslov's constraint, driven).
template <class T>
struct DrivenSuslov {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = 2, positions = 1;
  static Vector<double, 9> start_q() {
    const double c = std::sqrt(1.0 - 0.0625), x = std::cos(0.4), y = std::sin(0.4);
    return {c * x, -c * y, 0.25, y, x, 0.0, -0.25 * x, 0.25 * y, c};
  }
  static Vector<double, n> start_v() { return {.75, .5, .25}; }
  template <class S>
  S lagrangian(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& w) const {
    return S(0.5) * (w[0] * w[0] + S(1.25) * w[1] * w[1] + S(0.5) * w[2] * w[2]) -
           (S(1.0) + S(0.25) * sin(t)) * (S(0.5) * r[8] + S(0.25) * r[6]);
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& w) const {
    return {S(-0.125) * w[0], S(-0.125) * w[1] + S(0.25) * cos(t) * r[8], S(-0.25) * w[2]};
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 9>& r) const {
    return {r[2] - S(0.25) - S(0.125) * sin(S(1.5) * t)};
  }
  template <class S>
  Vector<S, 1> constraint(const S& t, const Vector<S, 9>&, const Vector<S, 3>& w) const {
    return {w[2] - S(0.25) * cos(t) - S(0.125) * w[0] * w[0]};
  }
};

/// A disc of radius 1 that rolls on a plane: its height is a constraint on positions, that its lowest point does not slip one on
/// velocities. A motor turns it.
template <class T>
struct RollingDisc {
  using scalar = T;
  using Group = SE3;
  static constexpr int n = 6, m = 3, positions = 1;
  static Vector<double, 12> start_q() {
    const auto turn = SO3::expand(Vector<double, 3>{1.2, 0.3, -0.4});
    return join(turn, Vector<double, 3>{0.0, 0.0, std::sqrt(turn[6] * turn[6] + turn[7] * turn[7])});
  }
  static Vector<double, n> start_v() { return {.3, .2, 1.0, .5, 0.0, .1}; }
  template <class S>
  S lagrangian(const Vector<S, 12>& g, const Vector<S, 6>& v) const {
    return S(0.5) * (S(0.25) * (v[0] * v[0] + v[1] * v[1]) + S(0.5) * v[2] * v[2] + v[3] * v[3] + v[4] * v[4] +
                     v[5] * v[5]) -
           g[11];
  }
  template <class S>
  Vector<S, 6> force(const S& t, const Vector<S, 12>&, const Vector<S, 6>& v) const {
    return {S(-0.125) * v[0], S(-0.125) * v[1], S(0.25) * cos(t) - S(0.125) * v[2], S(0.0), S(0.0), S(0.0)};
  }
  template <class S>
  Vector<S, 1> position_constraint(const Vector<S, 12>& g) const {
    return {g[11] - sqrt(g[6] * g[6] + g[7] * g[7])};
  }
  template <class S>
  Vector<S, 2> constraint(const Vector<S, 12>& g, const Vector<S, 6>& v) const {
    const S s = S(-1.0) / sqrt(g[6] * g[6] + g[7] * g[7]);
    const Vector<S, 3> lowest{s * g[6], s * g[7], S(0.0)};
    const Vector<S, 3> u = segment<3, 3>(v) + cross(segment<0, 3>(v), lowest);
    return {g[0] * u[0] + g[1] * u[1] + g[2] * u[2], g[3] * u[0] + g[4] * u[1] + g[5] * u[2]};
  }
};

/// A rigid body in a field, with friction in the body: free, with a constraint on its axis, or with one on its spin.
template <class T, ConstraintKind constrained>
struct DampedBody {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = constrained == ConstraintKind::none ? 0 : 1;
  static Vector<double, 9> start_q() { return DrivenSuslov<double>::start_q(); }
  static Vector<double, n> start_v() { return {.75, .5, .25}; }
  Vector<T, 3> mass_diagonal() const { return {T(1.0), T(1.25), T(0.5)}; }
  template <class S>
  S potential(const S& t, const Vector<S, 9>& r) const {
    return (S(1.0) + S(0.25) * sin(t)) * (S(0.5) * r[8] + S(0.25) * r[6]);
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& w) const {
    return DrivenSuslov<T>{}.force(t, r, w);
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 9>& r) const
    requires(constrained == ConstraintKind::holonomic)
  {
    return DrivenSuslov<T>{}.position_constraint(t, r);
  }
  template <class S>
  Matrix<S, 1, 3> constraint_matrix(const S& t, const Vector<S, 9>& r) const
    requires(constrained == ConstraintKind::velocity)
  {
    return {{{S(0.125) * sin(t) * r[8], S(0.0), S(1.0)}}};
  }
  template <class S>
  Vector<S, 1> constraint_offset(const S& t, const Vector<S, 9>&) const
    requires(constrained == ConstraintKind::velocity)
  {
    return {S(-0.25) * cos(t)};
  }
};

RB_NAMESPACE_END
