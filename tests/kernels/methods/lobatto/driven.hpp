#pragma once
// Systems with explicit time, generalized forces, and constraints of both kinds, for the tests of the Lobatto pairs.

#include "rattleback/lie/lie.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// A particle on a sphere that breathes, with friction and a drive.
struct BreathingSphere {
  using scalar = double;
  static constexpr int n = 3, m = 1;
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
struct BreathingSphereWithDrive {
  using scalar = double;
  static constexpr int n = 4, m = 2, positions = 1;
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

/// Two coordinates in a potential that swells, with a force that is no gradient and knows no velocity.
struct SwellingWell {
  using scalar = double;
  static constexpr int n = 2, m = 0;
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

RB_NAMESPACE_END
