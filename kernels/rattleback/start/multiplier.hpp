#pragma once
// The multiplier of the continuous equations at a state.

#include <type_traits>

#include "rattleback/lie/lie.hpp"
#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/mechanics/projection.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The acceleration without constraint forces, M^-1 (L_q + f + ad*_v p - dp), where f is the applied force and dp the derivative of
/// p = L_v along the configuration's velocity, with the time where L depends on it; ad* = 0 on R^n.
template <class System, class T = typename System::scalar, int n = System::n>
RB_HD Vector<T, n> free_acceleration(const System& system, const Configuration<System>& q, const Vector<T, n>& v,
                                     const InverseMass<System>& mass_inverse) {
  using G = group_of<System>;
  Vector<T, n> rate = configuration_force(system, q, v);
  if constexpr (on_group<System>) rate = rate + G::ad_star(v, momentum(system, q, v));
  if constexpr (!Separable<System>)
    rate = rate - derivative(momentum(running<T>(system), moving<G>(q, v), lift<Dual<T, 1>>(v)));
  return mass_inverse * rate;
}

/// The multiplier of the continuous equations d/dt L_v - L_q = Phi_v^T lambda, Phi = 0, from
///   (Phi_v M^-1 Phi_v^T) lambda = -Phi_q v - Phi_t - Phi_v a,   a the acceleration without constraint forces.
template <class System, class T = typename System::scalar>
struct ContinuousMultiplier {
  static constexpr int n = System::n, m = System::m;
  Vector<T, n> free_acceleration;  ///< a
  Matrix<T, m, m> gram;            ///< Phi_v M^-1 Phi_v^T
  Vector<T, m> lambda;
  mask_t<T> singular;  ///< the constraint forces are dependent or the mass matrix is singular

  RB_HD_LARGE ContinuousMultiplier(const System& system, const Configuration<System>& q, const Vector<T, n>& v) {
    const InverseMass<System> mass_inverse(system, q, v);
    free_acceleration = detail::free_acceleration(system, q, v, mass_inverse);
    const ConstraintForms<System> forms(constraint_forms(system, q, v));
    const auto along_v = constraint(running<T>(system), moving<group_of<System>>(q, v), lift<Dual<T, 1>>(v));
    gram = gram_of(forms, mass_inverse);
    const Factors<T, m> factors(gram);
    lambda = factors.solve(-(derivative(along_v) + forms * free_acceleration));
    singular = factors.singular() | mass_inverse.singular();
  }

  /// |Phi_v^T x|^2 in the norm of M^-1.
  RB_HD T square(const Vector<T, m>& x) const { return dot(x, gram * x); }
};

}  // namespace detail

RB_NAMESPACE_END
