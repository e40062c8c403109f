#pragma once
// Regular Lagrangians without parts, which need not be quadratic in v. With M = L_vv and B = L_vq of the point (q, v) in place of
// those of quadratic.hpp the identity M dv = dp - B dq holds as well.

#include "rattleback/mechanics/lagrangian.hpp"
#include "rattleback/mechanics/quadratic.hpp"

RB_NAMESPACE_BEGIN

/// L at one configuration, with its first derivatives at the velocity to which the object was moved last, and the second ones at
/// the velocity where it was linearised. The members are those of QuadraticLagrangian, which sweeps and chords use.
template <class System, class T = typename System::scalar>
class RegularLagrangian {
  using Pattern = detail::QuadraticPattern<System>;
  static constexpr int n = System::n, active = Pattern::active;
  using D = Dual<T, active + n>;
  using Places = detail::DerivativePlaces<System>;

 public:
  using MassInverse = Factors<T, n, Definite<Pattern>>;

  static constexpr int passes = 20;  ///< LagrangianAt (lagrangian_at.hpp)

  RegularLagrangian() = default;
  RB_HD RegularLagrangian(const System& system, const Vector<T, n>& q) : system_(system), q_(q) {}

  /// Evaluates L_v and L_q at v.
  RB_HD void move(const Vector<T, n>& v) {
    force_ = Vector<T, n>::zero();
    if constexpr (GivesDerivatives<System>) {
      const auto derivatives = system_.lagrangian_derivatives(q_, v);
      RB_UNROLL
      for (int k = 0; k < active; ++k) force_[Pattern::coordinate(k)] = derivatives[Places::force(k)];
      RB_UNROLL
      for (int i = 0; i < n; ++i) momentum_[i] = derivatives[Places::momentum(i)];
    } else {
      move_by_duals(v);
    }
  }
  /// p at the velocity of `move`.
  RB_HD const Vector<T, n>& momentum(const Vector<T, n>&) const { return momentum_; }
  /// y + s f at the velocity of `move`.
  RB_HD Vector<T, n> plus_force(const T& s, const Vector<T, n>&, const Vector<T, n>& y) const {
    return fma(s, force_, y);
  }
  /// M^-1 and B at v, from second derivatives.
  RB_HD void linearise(const Vector<T, n>& v, MassInverse& mass_inverse, Coupling<System, T>& b) {
    if constexpr (GivesDerivatives<System>) {
      const auto derivatives = system_.lagrangian_derivatives(q_, v);
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        RB_UNROLL
        for (int j = 0; j < n; ++j) mass_[i][j] = derivatives[Places::mass(i, j)];
        RB_UNROLL
        for (int k = 0; k < active; ++k) b.column[k][i] = derivatives[Places::coupling(i, k)];
      }
    } else {
      linearise_by_duals(v, b);
    }
    mass_inverse = MassInverse(mass_);
  }
  RB_HD MassInverse inverse_at(const Vector<T, n>& v) {
    MassInverse mass_inverse;
    Coupling<System, T> unused;
    linearise(v, mass_inverse, unused);
    return mass_inverse;
  }
  RB_HD const Matrix<T, n, n>& mass() const { return mass_; }
  RB_HD Vector<T, n> mass_times(const Vector<T, n>& v) const { return mass_ * v; }
  /// v with L_v = p, from the velocity `near`.
  RB_HD Vector<T, n> velocity(const Vector<T, n>& p, const Vector<T, n>& near) const {
    if constexpr (requires { system_.velocity(q_, p); }) {
      return system_.velocity(q_, p);
    } else if constexpr (NotQuadratic<System>) {
      return detail::inverse_legendre(system_, q_, p, near);
    } else {
      return rattleback::velocity(system_, q_, p);
    }
  }
  /// The velocity of the momentum p, to first order in p - L_v(v), where the object was moved to v.
  RB_HD Vector<T, n> velocity_near(const Vector<T, n>& v, const MassInverse& mass_inverse,
                                   const Vector<T, n>& p) const {
    return v + mass_inverse * (p - momentum_);
  }

 private:
  RB_HD_LARGE void move_by_duals(const Vector<T, n>& v) {
    const D l = lagrangian(system_, configuration(), seeded_velocity<D, active>(v));
    RB_UNROLL
    for (int k = 0; k < active; ++k) force_[Pattern::coordinate(k)] = l.partial[k];
    momentum_ = detail::partials<n, active>(l);
  }
  RB_HD_LARGE void linearise_by_duals(const Vector<T, n>& v, Coupling<System, T>& b) {
    const Vector<D, n> p = rattleback::momentum(system_, configuration(), seeded_velocity<D, active>(v));
    mass_ = detail::partials<n, active>(p);
    RB_UNROLL
    for (int k = 0; k < active; ++k) b.column[k] = detail::derivative(p, k);
  }
  /// q, with the derivatives by the active coordinates.
  RB_HD Vector<D, n> configuration() const {
    auto x = lift<D>(q_);
    RB_UNROLL
    for (int k = 0; k < active; ++k) x[Pattern::coordinate(k)].partial[k] = T(1.0);
    return x;
  }

  System system_;
  Vector<T, n> q_, momentum_, force_;
  Matrix<T, n, n> mass_;
};

RB_NAMESPACE_END
