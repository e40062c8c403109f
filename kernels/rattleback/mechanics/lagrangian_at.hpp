#pragma once
// L at one configuration, through which methods reach momenta, velocities, forces and the mass matrix M = L_vv. LagrangianAt picks the
// form that a system has:
//
//   QuadraticLagrangian   L = v.M(q)v/2 + A(q).v - U(q) on R^n by its parts, of which a constant M has no derivatives (quadratic.hpp)
//   DerivedLagrangian     the same where M varies with many coordinates, by functions of q and v (derived.hpp)
//   RegularLagrangian     any other regular L on R^n (regular.hpp)
//   PlainLagrangian       any L on a group
//
// Each form has
//
//   move(v)                      evaluates L_v and L_q at v
//   momentum(v)                  L_v at the velocity of `move`
//   plus_force(s, v, y)          y + s L_q at the velocity of `move`
//   inverse_at(v)                M^-1 at v
//   velocity_near(v, M^-1, p)    the velocity of the momentum p, to first order in p - L_v(v)
//   passes                       after how many corrections of a momentum by `velocity_near` the rest is round-off
//
// and the forms on R^n have M, M x, the velocity of a momentum, and linearise(v, M^-1, B) with the coupling B = L_vq besides.

#include "rattleback/mechanics/derived.hpp"
#include "rattleback/mechanics/regular.hpp"

RB_NAMESPACE_BEGIN

/// M^-1 at the point (q, v) of any system: constant, with the zeros that M(q) has, or by the factors of L_vv. V is the scalar of the
/// system, or that of the values alone where the system is one over dual numbers.
template <class System, class V = typename System::scalar>
class InverseMass {
  using T = typename System::scalar;
  static constexpr int n = System::n;
  using Form =
      std::conditional_t<Separable<System>, Mass<System>,
                         std::conditional_t<!on_group<System> && detail::gives_mass_matrix<System>,
                                            Factors<V, n, Definite<detail::QuadraticPattern<System>>>, Factors<V, n>>>;

 public:
  RB_HD InverseMass(const System& system, const Mass<System>& mass, const Configuration<System>& q,
                    const Vector<T, n>& v)
      : form_(form(system, mass, q, v)) {}
  RB_HD InverseMass(const System& system, const Configuration<System>& q, const Vector<T, n>& v)
      : InverseMass(system, Mass<System>(system), q, v) {}

  static constexpr bool entry(int i, int j) { return Form::entry(i, j); }

  RB_HD Vector<V, n> operator*(const Vector<V, n>& p) const {
    if constexpr (!Separable<System>) {
      return form_ * p;
    } else if constexpr (std::is_same_v<V, T>) {
      return form_.inverse_times(p);
    } else {
      return constant<V>(form_.inverse_times(constant<T>(p)));
    }
  }
  /// M^-1 times the values of p.
  RB_HD Vector<T, n> operator*(const Vector<T, n>& p) const
    requires(!std::is_same_v<V, T>)
  {
    return constant<T>(*this * constant<V>(p));
  }
  RB_HD mask_t<V> singular() const {
    if constexpr (Separable<System>) {
      return mask_t<V>(false);
    } else {
      return form_.singular();
    }
  }

 private:
  RB_HD static Matrix<T, n, n> matrix(const System& system, const Configuration<System>& q, const Vector<T, n>& v) {
    if constexpr (detail::gives_mass_matrix<System>) {
      return detail::as_matrix<T, n>(system.mass_matrix(q));
    } else {
      return mass_matrix(system, q, v);
    }
  }
  RB_HD static Form form(const System& system, const Mass<System>& mass, const Configuration<System>& q,
                         const Vector<T, n>& v) {
    if constexpr (Separable<System>) {
      return mass;
    } else if constexpr (std::is_same_v<V, T>) {
      return Form(matrix(system, q, v));
    } else {
      const Matrix<T, n, n> mass_at = matrix(system, q, v);
      Matrix<V, n, n> values;
      for (int i = 0; i < n; ++i) values[i] = constant<V>(mass_at[i]);
      return Form(values);
    }
  }

  Form form_;
};

/// L at a configuration of any system, by the functions of lagrangian.hpp.
template <class System>
class PlainLagrangian {
  using T = typename System::scalar;
  static constexpr int n = System::n;

 public:
  /// The second one takes away the round-off of the first.
  static constexpr int passes = NotQuadratic<System> ? 20 : 2;

  RB_HD PlainLagrangian(const System& system, const Configuration<System>& q) : system_(system), q_(q) {}

  RB_HD void move(const Vector<T, n>&) {}
  RB_HD Vector<T, n> momentum(const Vector<T, n>& v) const { return rattleback::momentum(system_, q_, v); }
  RB_HD Vector<T, n> plus_force(const T& s, const Vector<T, n>& v, const Vector<T, n>& y) const {
    return fma(s, configuration_force(system_, q_, v), y);
  }
  RB_HD InverseMass<System> inverse_at(const Vector<T, n>& v) const { return InverseMass<System>(system_, q_, v); }
  RB_HD Vector<T, n> velocity_near(const Vector<T, n>& v, const InverseMass<System>& inverse,
                                   const Vector<T, n>& p) const {
    if constexpr (Separable<System>) return inverse * p;
    return v + inverse * (p - momentum(v));
  }

 private:
  const System& system_;
  Configuration<System> q_;
};

template <class System, class T = typename System::scalar>
using LagrangianAt =
    std::conditional_t<on_group<System>, PlainLagrangian<System>,
                       std::conditional_t<LagrangianAlone<System>, RegularLagrangian<System, T>,
                                          std::conditional_t<GivesMotion<System>, DerivedLagrangian<System, T>,
                                                             QuadraticLagrangian<System, T>>>>;

/// L at a state (q, p) on R^n, moved to the velocity v of the state and linearised there.
template <class System, class T = typename System::scalar>
struct LagrangianOfState {
  using Lagrangian = LagrangianAt<System, T>;
  Lagrangian at;
  Vector<T, System::n> v;
  typename Lagrangian::MassInverse mass_inverse;
  Coupling<System, T> coupling;

  RB_HD LagrangianOfState(const System& system, const Vector<T, System::n>& q, const Vector<T, System::n>& p)
      : at(system, q), v(at.velocity(p, Vector<T, System::n>::zero())) {
    at.move(v);
    at.linearise(v, mass_inverse, coupling);
  }
};

RB_NAMESPACE_END
