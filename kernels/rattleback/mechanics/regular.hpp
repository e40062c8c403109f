#pragma once
// Lagrangians that are regular in v without being quadratic. With M = L_vv and B = L_vq of the point (q, v) in place of those of
// quadratic.hpp the identity M dv = dp - B dq holds as well.

#include "rattleback/mechanics/quadratic.hpp"

RB_NAMESPACE_BEGIN

/// L at one configuration, and its first derivatives at the velocity to which the object was moved last. The members are those of
/// QuadraticLagrangian, which the sweeps use.
template <class System, class T = typename System::scalar>
class RegularLagrangian {
  using Pattern = detail::QuadraticPattern<System>;
  static constexpr int n = System::n, active = Pattern::active;
  using D = Dual<T, active + n>;

 public:
  using MassInverse = SparseInverse<T, n, Pattern>;

  RegularLagrangian() = default;
  RB_HD RegularLagrangian(const System& system, const Vector<T, n>& q) : system_(system), q_(q) {}

  /// Evaluates L_v and L_q at v.
  RB_HD_LARGE void move(const Vector<T, n>& v) {
    const D l = lagrangian(system_, configuration(), seeded_velocity<D, active>(v));
    force_ = Vector<T, n>::zero();
    RB_UNROLL
    for (int k = 0; k < active; ++k) force_[Pattern::coordinate(k)] = l.partial[k];
    RB_UNROLL
    for (int i = 0; i < n; ++i) momentum_[i] = l.partial[active + i];
  }
  /// p at the velocity of `move`.
  RB_HD const Vector<T, n>& momentum(const Vector<T, n>&) const { return momentum_; }
  /// y + s f at the velocity of `move`.
  RB_HD Vector<T, n> plus_force(const T& s, const Vector<T, n>&, const Vector<T, n>& y) const {
    return fma(s, force_, y);
  }
  /// M^-1 and B at v, from second derivatives.
  RB_HD_LARGE void linearise(const Vector<T, n>& v, MassInverse& mass_inverse, Coupling<System, T>& b) const {
    const Vector<D, n> p = rattleback::momentum(system_, configuration(), seeded_velocity<D, active>(v));
    Matrix<T, n, n> mass;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j) mass[i][j] = p[i].partial[active + j];
      RB_UNROLL
      for (int k = 0; k < active; ++k) b.column[k][i] = p[i].partial[k];
    }
    mass_inverse = MassInverse(mass);
  }
  /// v with L_v = p, from the velocity `near`.
  RB_HD Vector<T, n> velocity(const Vector<T, n>& p, const Vector<T, n>& near) const {
    if constexpr (requires { system_.velocity(q_, p); }) {
      return system_.velocity(q_, p);
    } else {
      return detail::inverse_legendre(system_, q_, p, near);
    }
  }

 private:
  /// q, with the derivatives by the active coordinates.
  RB_HD Vector<D, n> configuration() const {
    Vector<D, n> x;
    RB_UNROLL
    for (int i = 0; i < n; ++i) x[i] = D(q_[i]);
    RB_UNROLL
    for (int k = 0; k < active; ++k) x[Pattern::coordinate(k)].partial[k] = T(1.0);
    return x;
  }

  System system_;
  Vector<T, n> q_, momentum_, force_;
};

/// What the sweeps evaluate a Lagrangian with.
template <class System, class T = typename System::scalar>
using LagrangianAt =
    std::conditional_t<NotQuadratic<System>, RegularLagrangian<System, T>, QuadraticLagrangian<System, T>>;

RB_NAMESPACE_END
