#pragma once
// Driven systems on R^n, for the tests of methods: explicit time, applied forces, and constraints of both kinds.

#include <cmath>

#include "rattleback/mechanics/system.hpp"

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
  static constexpr bool force_of_velocity = false;
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
  static constexpr bool force_of_velocity = true;
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

RB_NAMESPACE_END
