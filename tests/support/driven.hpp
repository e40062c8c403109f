#pragma once
// Systems with explicit time, generalized forces, and constraints of both kinds, for the tests of methods, and their motions.

#include <cmath>

#include "rattleback/lie/lie.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/step.hpp"
#include "testing.hpp"

RB_NAMESPACE_BEGIN

/// A particle on a sphere that breathes, with friction and a drive.
template <class T>
struct BreathingSphere {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static Vector<double, 3> start_q() { return 1 / std::sqrt(14.0) * Vector<double, 3>{2, 1, -3}; }
  static Vector<double, n> start_v() { return {0.25, 0.75, 0.125}; }
  template <class S>
  S potential(const Vector<S, 3>& q) const {
    return q[2] + S(0.25) * q[0] * q[0];
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 3>&, const Vector<S, 3>& v) const {
    Vector<S, 3> f = S(-0.25) * v;
    f[1] = f[1] + S(0.25) * cos(S(1.5) * t);
    return f;
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 3>& q) const {
    return {dot(q, q) - S(1.0) - S(0.25) * sin(S(1.25) * t)};
  }
};

/// The same sphere with a fourth coordinate and a driven velocity constraint.
template <class T>
struct SphereAndDrive {
  using scalar = T;
  static constexpr int n = 4, m = 2, positions = 1;
  static Vector<double, 4> start_q() { return {.6, 0, -.8, .25}; }
  static Vector<double, n> start_v() { return {.53375, .386029411764706, .205, .606617647058824}; }
  template <class S>
  S potential(const Vector<S, 4>& q) const {
    return S(0.25) * (q[0] * q[0] + q[1] * q[1]) + q[2] + S(0.5) * q[3] * q[3] + S(0.125) * q[2] * q[3];
  }
  template <class S>
  Vector<S, 4> force(const S& t, const Vector<S, 4>&, const Vector<S, 4>& v) const {
    return {S(-0.25) * v[0] * (S(1.0) + S(0.25) * (v[0] * v[0] + v[1] * v[1])) + S(0.5) * cos(S(1.75) * t),
            S(-0.25) * v[1] + S(0.125), S(-0.25) * v[2], S(-0.25) * v[3] + S(0.5) * sin(t)};
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 4>& q) const {
    return {q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - S(1.0) - S(0.25) * sin(S(1.25) * t)};
  }
  template <class S>
  Vector<S, 1> constraint(const S& t, const Vector<S, 4>& q, const Vector<S, 4>& v) const {
    return {v[3] - q[0] * v[1] - S(0.375) * cos(S(0.75) * t)};
  }
};

/// M and A depend on the time, L is not quadratic in v, the pivot moves (so that G does), and Phi is not affine in v.
template <class T>
struct MovingEverything {
  using scalar = T;
  static constexpr int n = 3, m = 2, positions = 1;
  static Vector<double, 3> start_q() { return {.6, -.8, .25}; }
  static Vector<double, n> start_v() { return {.5, .4, .3}; }
  static constexpr bool quadratic = false;
  template <class S>
  S lagrangian(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    const S square = v[0] * v[0] + (S(1.0) + S(0.25) * q[0] * q[0]) * v[1] * v[1] + v[2] * v[2];
    return S(0.5) * (S(1.0) + S(0.25) * sin(t)) * square + S(0.125) * v[0] * v[0] * v[0] * v[0] +
           S(0.25) * cos(t) * (q[0] * v[1] - q[1] * v[0]) - q[1] - S(0.5) * q[2] * q[2];
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 3>&, const Vector<S, 3>& v) const {
    return {S(-0.25) * v[0], S(-0.25) * v[1] * v[1], S(0.25) * cos(t)};
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 3>& q) const {
    const S x = q[0] - S(0.25) * sin(S(1.5) * t);
    return {x * x + q[1] * q[1] - S(1.0)};
  }
  template <class S>
  Vector<S, 1> constraint(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return {v[2] + S(0.125) * v[2] * v[2] - q[0] * v[1] - S(0.25) * cos(t)};
  }
};

/// Two coordinates in a potential that swells, with a force that is no gradient and knows no velocity.
template <class T>
struct SwellingWell {
  using scalar = T;
  static constexpr int n = 2, m = 0;
  static Vector<double, 2> start_q() { return {.5, -.25}; }
  static Vector<double, n> start_v() { return {.25, .75}; }
  template <class S>
  S potential(const S& t, const Vector<S, 2>& q) const {
    return S(0.5) * (S(1.0) + S(0.25) * sin(S(1.5) * t)) * (q[0] * q[0] + S(2.0) * q[1] * q[1]) +
           S(0.25) * q[0] * q[1] - S(0.5) * cos(q[0]);
  }
  template <class S>
  Vector<S, 2> force(const S& t, const Vector<S, 2>& q, const Vector<S, 2>&) const {
    return {S(0.25) * cos(S(1.25) * t) - S(0.25) * q[1], S(0.25) * q[0]};
  }
};

/// The same with friction.
template <class T>
struct DampedWell : SwellingWell<T> {
  template <class S>
  Vector<S, 2> force(const S& t, const Vector<S, 2>& q, const Vector<S, 2>& v) const {
    return SwellingWell<T>::force(t, q, v) + S(-0.5) * v;
  }
};

/// A pendulum whose pivot moves, where the drive comes from a potential or is given as a force.
template <class T, bool by_force>
struct MovingPivot {
  using scalar = T;
  static constexpr int n = 2, m = 1;
  static Vector<double, 2> start_q() { return {.6, -.675}; }
  static Vector<double, n> start_v() { return {.5, .4}; }
  template <class S>
  static S drive(const S& t, const Vector<S, 2>& q) {
    return S(0.5) * cos(S(2.0) * t) * q[0] * q[0] * q[1];
  }
  template <class S>
  S potential(const S& t, const Vector<S, 2>& q) const {
    return by_force ? q[1] : q[1] + drive(t, q);
  }
  template <class S>
  Vector<S, 2> force(const S& t, const Vector<S, 2>& q, const Vector<S, 2>& v) const {
    Vector<S, 2> f = S(-0.125) * v;
    if (by_force) {
      const S swing = S(0.5) * cos(S(2.0) * t);
      f[0] = f[0] - S(2.0) * swing * q[0] * q[1];
      f[1] = f[1] - swing * q[0] * q[0];
    }
    return f;
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 2>& q) const {
    const S x = q[0] - S(0.25) * sin(S(1.5) * t), y = q[1] - S(0.125) * cos(t);
    return {x * x + y * y - S(1.0)};
  }
};

/// Like MovingEverything, with the constraint on positions alone.
template <class T>
struct MovingPivotOfEverything {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr bool quadratic = false;
  MovingEverything<T> all;
  static Vector<double, 3> start_q() { return MovingEverything<T>::start_q(); }
  static Vector<double, n> start_v() { return MovingEverything<T>::start_v(); }
  template <class S>
  S lagrangian(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return all.lagrangian(t, q, v);
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return all.force(t, q, v);
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 3>& q) const {
    return all.position_constraint(t, q);
  }
};

/// The parts of L change in time, the pivot moves, and v(t, q, p) is explicit.
template <class T>
struct MovingParts {
  using scalar = T;
  static constexpr int n = 2, m = 1;
  static Vector<double, 2> start_q() { return {.6, -.8}; }
  static Vector<double, n> start_v() { return {.5, .4}; }
  template <class S>
  S mass_matrix(const S& t, const Vector<S, 2>& q) const {
    return S(1.0) + S(0.25) * sin(t) + S(0.125) * q[0] * q[0];
  }
  template <class S>
  Vector<S, 2> vector_potential(const S& t, const Vector<S, 2>& q) const {
    return {S(-0.25) * cos(t) * q[1], S(0.25) * cos(t) * q[0]};
  }
  template <class S>
  S potential(const S& t, const Vector<S, 2>& q) const {
    return q[1] + S(0.5) * sin(S(2.0) * t) * cos(q[0]);
  }
  template <class S>
  Vector<S, 2> velocity(const S& t, const Vector<S, 2>& q, const Vector<S, 2>& p) const {
    return (S(1.0) / mass_matrix(t, q)) * (p - vector_potential(t, q));
  }
  template <class S>
  Vector<S, 2> force(const S& t, const Vector<S, 2>& q, const Vector<S, 2>& v) const {
    return {S(-0.25) * v[0], S(0.25) * cos(t) * q[0] - S(0.25) * v[1] * v[1] * v[1]};
  }
  template <class S>
  Vector<S, 1> position_constraint(const S& t, const Vector<S, 2>& q) const {
    const S x = q[0] - S(0.25) * sin(S(1.5) * t);
    return {x * x + q[1] * q[1] - S(1.0)};
  }
};

/// A sleigh whose blade is pushed sideways at a given rate, with friction and a motor.
template <class T>
struct DrivenSleigh {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static Vector<double, 3> start_q() { return {0, 0, .25}; }
  static Vector<double, n> start_v() { return {.5, .4, 1}; }
  template <class S>
  S potential(const S& t, const Vector<S, 3>& q) const {
    return S(0.25) * (S(1.0) + S(0.5) * sin(t)) * q[0] * q[0];
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 3>&, const Vector<S, 3>& v) const {
    return {S(-0.25) * v[0], S(-0.25) * v[1], S(0.25) * cos(S(1.5) * t) - S(0.125) * v[2]};
  }
  template <class S>
  Matrix<S, 1, 3> constraint_matrix(const S&, const Vector<S, 3>& q) const {
    return {{{-sin(q[2]), cos(q[2]), S(-0.4)}}};
  }
  template <class S>
  Vector<S, 1> constraint_offset(const S& t, const Vector<S, 3>& q) const {
    return {S(-0.25) * cos(t) - S(0.125) * q[0]};
  }
};

/// The sleigh with parts of L that change in time.
template <class T>
struct SwellingSleigh {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  DrivenSleigh<T> sleigh;
  static Vector<double, 3> start_q() { return {0, 0, .25}; }
  static Vector<double, n> start_v() { return {.5, .4, 1}; }
  template <class S>
  Vector<S, 3> mass_matrix(const S& t, const Vector<S, 3>& q) const {
    const S mass = S(1.0) + S(0.25) * sin(t) + S(0.125) * q[0] * q[0];
    return {mass, mass, S(0.5)};
  }
  template <class S>
  Vector<S, 3> vector_potential(const S& t, const Vector<S, 3>& q) const {
    return {S(-0.25) * cos(t) * q[1], S(0.25) * cos(t) * q[0], S(0.0)};
  }
  template <class S>
  S potential(const S& t, const Vector<S, 3>& q) const {
    return sleigh.potential(t, q);
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return sleigh.force(t, q, v);
  }
  template <class S>
  Matrix<S, 1, 3> constraint_matrix(const S& t, const Vector<S, 3>& q) const {
    return {{{-sin(q[2]), (S(1.0) + S(0.25) * sin(t)) * cos(q[2]), S(-0.4)}}};
  }
  template <class S>
  Vector<S, 1> constraint_offset(const S& t, const Vector<S, 3>& q) const {
    return sleigh.constraint_offset(t, q);
  }
};

/// A sleigh that a potential pushes, or the force of that potential.
template <class T, bool by_force>
struct PushedSleigh {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static Vector<double, 3> start_q() { return {0, 0, .25}; }
  static Vector<double, n> start_v() { return {.5, .4, 1}; }
  template <class S>
  S potential(const S& t, const Vector<S, 3>& q) const {
    return by_force ? S(0.5) * q[0] : S(0.5) * q[0] + cos(S(2.0) * t) * q[0] * q[0] * q[1];
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    Vector<S, 3> f = S(-0.125) * v;
    if (by_force) {
      const S c = cos(S(2.0) * t);
      f[0] = f[0] - S(2.0) * c * q[0] * q[1];
      f[1] = f[1] - c * q[0] * q[0];
    }
    return f;
  }
  template <class S>
  Matrix<S, 1, 3> constraint_matrix(const Vector<S, 3>& q) const {
    return {{{-sin(q[2]), cos(q[2]), S(-0.4)}}};
  }
};

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

/// A particle with M(t, q) and A(t, q), whose drag is quadratic in the velocity.
template <class T>
struct DraggedParticle {
  using scalar = T;
  static constexpr int n = 2, m = 0;
  static Vector<double, 2> start_q() { return {.5, -.25}; }
  static Vector<double, n> start_v() { return {.25, .75}; }
  template <class S>
  Vector<S, 2> mass_matrix(const S& t, const Vector<S, 2>& q) const {
    return {S(1.0) + S(0.25) * sin(t), S(1.0) + S(0.25) * q[0] * q[0]};
  }
  template <class S>
  Vector<S, 2> vector_potential(const S& t, const Vector<S, 2>& q) const {
    return {S(0.25) * cos(t) * q[1], S(0.0)};
  }
  template <class S>
  S potential(const Vector<S, 2>& q) const {
    return S(0.5) * dot(q, q);
  }
  template <class S>
  Vector<S, 2> force(const S& t, const Vector<S, 2>&, const Vector<S, 2>& v) const {
    return {S(-0.5) * v[0] * v[0] + S(0.25) * cos(t), S(-0.5) * v[1]};
  }
};

/// A skate on ice whose blade is turned by a motor: a constraint on velocities that depends on the time, and friction.
template <class T>
struct DrivenSkate {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static Vector<double, 3> start_q() { return {0.0, 0.0, 0.25}; }
  static Vector<double, n> start_v() { return {1.0, 0.25, 0.5}; }
  template <class S>
  S potential(const Vector<S, 3>& q) const {
    return S(0.25) * q[0];
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 3>&, const Vector<S, 3>& v) const {
    return {S(-0.25) * v[0], S(-0.25) * v[1], S(-0.125) * v[2] + S(0.25) * sin(t)};
  }
  template <class S>
  Matrix<S, 1, 3> constraint_matrix(const S& t, const Vector<S, 3>& q) const {
    const S angle = q[2] + S(0.25) * sin(t);
    return {{{sin(angle), -cos(angle), S(0.0)}}};
  }
  template <class S>
  Vector<S, 1> constraint_offset(const S& t, const Vector<S, 3>& q) const {
    return {S(0.125) * cos(t) + S(0.0) * q[0]};
  }
};

/// A regular L that is not quadratic in v, with a velocity constraint that is not affine.
template <class T>
struct FastSkate {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr bool quadratic = false;
  static Vector<double, 3> start_q() { return {0.0, 0.0, 0.25}; }
  static Vector<double, n> start_v() { return {.5, 0.25, 0.5}; }
  template <class S>
  S lagrangian(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    const S square = dot(v, v);
    return S(0.5) * (S(1.0) + S(0.125) * sin(t)) * square + S(0.125) * square * square - S(0.25) * q[0] * q[2];
  }
  template <class S>
  Vector<S, 3> force(const S&, const Vector<S, 3>&, const Vector<S, 3>& v) const {
    return S(-0.25) * v;
  }
  template <class S>
  Vector<S, 1> constraint(const S& t, const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return {v[1] + S(0.125) * v[1] * v[1] - q[2] * v[0] - S(0.25) * cos(t)};
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

/// The velocity nearest to v that satisfies the constraints, in the unit metric.
template <class System>
Vector<double, System::n> on_constraint(const System& system, const Configuration<System>& q,
                                        Vector<double, System::n> v) {
  for (int k = 0; k < 20; ++k) {
    const auto forms = constraint_forms(system, q, v);
    Matrix<double, System::m, System::m> gram;
    for (int i = 0; i < System::m; ++i) gram[i] = forms * forms[i];
    v = v - transpose_times(forms, Lu<double, System::m>(gram).solve(constraint(system, q, v)));
  }
  return v;
}

/// The multipliers of the continuous equations: d/dt (constraint) = 0 for the motion d/dt L_v = L_q + f + ad* L_v + C^T lambda.
template <class System>
Vector<double, System::m> multipliers(const System& system, const Configuration<System>& q,
                                      const Vector<double, System::n>& v) {
  using G = group_of<System>;
  const auto forms = constraint_forms(system, q, v);
  const Lu<double, System::n> mass(mass_matrix(system, q, v));
  const auto place = moving<G>(q, v);
  const auto still = lift<Dual<double, 1>>(v);
  Vector<double, System::n> rate =
      configuration_force(system, q, v) - detail::derivative(momentum(running<double>(system), place, still));
  if constexpr (on_group<System>) rate = rate + G::ad_star(v, momentum(system, q, v));
  Matrix<double, System::m, System::m> gram;
  for (int i = 0; i < System::m; ++i) gram[i] = forms * mass.solve(forms[i]);
  return Lu<double, System::m>(gram).solve(-detail::derivative(constraint(running<double>(system), place, still)) -
                                           forms * mass.solve(rate));
}

/// Of worked states.
inline constexpr double printed = 1e-11;

template <class System>
using StateAt = StateOf<double, AtTime<System>>;

/// The state at the time 0, with the velocity on the constraints.
template <class System>
StateAt<System> begin() {
  const auto system = at(System{}, 0.0);
  const auto q = System::start_q();
  if constexpr (System::m > 0) {
    const auto v = on_constraint(system, q, System::start_v());
    return {q, momentum(system, q, v), multipliers(system, q, v)};
  } else {
    return {q, momentum(system, q, System::start_v()), {}};
  }
}

/// The state after `steps` steps that end at the time `end`.
template <class Step, class System, class... Numbers>
auto motion(const System& system, typename Step::State state, double end, int steps, const Numbers*... numbers) {
  const double h = end / steps;
  for (int k = 0; k < steps; ++k)
    EXPECT_EQ(Step(at(system, k * h), to_round_off, numbers...)(state, h).status, 0.0) << "step " << k;
  return state;
}

struct Errors {
  double q, p, mu;
};
template <class System>
Errors errors(const StateAt<System>& a, const StateAt<System>& b) {
  double mu = 0.0;
  for (int k = position_count<AtTime<System>>; k < System::m; ++k)
    mu = std::max(mu, std::fabs(a.lambda[k] - b.lambda[k]));
  return {distance(a.q, b.q), distance(a.p, b.p), mu};
}

RB_NAMESPACE_END
