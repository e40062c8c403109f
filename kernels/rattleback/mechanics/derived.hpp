#pragma once
// Lagrangians with M(q) of many coordinates, whose derivatives the system gives as functions of q and v.

#include "rattleback/mechanics/lagrangian.hpp"
#include "rattleback/mechanics/quadratic.hpp"

RB_NAMESPACE_BEGIN

/// The system gives first derivatives of L, and those of L_v by the active coordinates (mechanics/system.hpp).
template <class System>
concept GivesMotion =
    Quadratic<System> && requires(const System& s, const Vector<typename System::scalar, System::n>& q) {
      s.momentum_and_force(q, q);
      s.momentum_by_coordinates(q, q);
    };

/// L = v.M(q)v/2 + A(q).v - U(q) at one configuration, with L_v and L_q at the velocity to which the object was moved last. The derivatives
/// of M, n^3 numbers in the worst case, are nowhere: L_v, L_q and B are sums over the terms of L, of which n links have n^2. On a CPU n^3
/// numbers of eight trajectories leave the fast cache from six coordinates on.
///
/// The functions of the system are called, not inlined at every stage, which would compile the same code many times over.
template <class System, class T = typename System::scalar>
class DerivedLagrangian {
  using Pattern = detail::QuadraticPattern<System>;
  static constexpr int n = System::n, active = Pattern::active;
  using Places = detail::DerivativePlaces<System>;

 public:
  using MassInverse = Factors<T, n, Definite<Pattern>>;

  static constexpr int passes = 1;  ///< LagrangianAt (lagrangian_at.hpp)

  DerivedLagrangian() = default;
  RB_HD DerivedLagrangian(const System& system, const Vector<T, n>& q) : system_(system), q_(q) {}

  /// Evaluates L_v and L_q at v.
  RB_NOINLINE void move(const Vector<T, n>& v) { first_ = system_.momentum_and_force(q_, v); }
  /// p at the velocity of `move`.
  RB_HD Vector<T, n> momentum(const Vector<T, n>&) const { return segment<0, n>(first_); }
  /// y + s f at the velocity of `move`.
  RB_HD Vector<T, n> plus_force(const T& s, const Vector<T, n>&, Vector<T, n> y) const {
    RB_UNROLL
    for (int k = 0; k < active; ++k) {
      const int c = Pattern::coordinate(k);
      y[c] = fma(s, first_[Places::force(k)], y[c]);
    }
    return y;
  }
  /// M^-1 and B at v.
  RB_NOINLINE void linearise(const Vector<T, n>& v, MassInverse& mass_inverse, Coupling<System, T>& b) const {
    set_inverse(mass_inverse);
    const Matrix<T, active, n> rows = system_.momentum_by_coordinates(q_, v);
    RB_UNROLL
    for (int k = 0; k < active; ++k) b.column[k] = rows[k];
  }
  RB_HD Matrix<T, n, n> mass() const { return system_.mass_matrix(q_); }
  RB_HD Vector<T, n> mass_times(const Vector<T, n>& v) const { return mass() * v; }
  RB_HD MassInverse inverse_at(const Vector<T, n>&) const {
    MassInverse mass_inverse;
    set_inverse(mass_inverse);
    return mass_inverse;
  }
  /// M^-1 (p - A).
  RB_HD Vector<T, n> velocity(const Vector<T, n>& p, const Vector<T, n>&) const { return inverse_at(p) * kinetic(p); }
  /// The velocity of the momentum p.
  RB_HD Vector<T, n> velocity_near(const Vector<T, n>&, const MassInverse& mass_inverse, const Vector<T, n>& p) const {
    return mass_inverse * kinetic(p);
  }

 private:
  RB_NOINLINE void set_inverse(MassInverse& mass_inverse) const {
    mass_inverse.matrix() = system_.mass_matrix(q_);
    mass_inverse.factorise();
  }
  RB_HD Vector<T, n> kinetic(const Vector<T, n>& p) const {
    if constexpr (Pattern::has_vector_potential) return p - system_.vector_potential(q_);
    return p;
  }

  System system_;
  Vector<T, n> q_;
  Vector<T, n + active> first_;  ///< p, then the force along the active coordinates
};

RB_NAMESPACE_END
