#pragma once
// The power of all that drives a system, by which the energy E = v.L_v - L changes:
//
//   dE/dt = P = f . v - L_t - lambda . g_t + (Phi_v^T mu) . v.
//
// Here f is the generalized force, lambda are the multipliers of constraints on positions, which work where a constraint moves, and mu
// those of constraints on velocities, which work where Phi is not homogeneous in v. The work W is the integral of P from the start of
// the motion, so that the exact motion keeps E - W. A step adds to W what its own quadrature gives (`add_work`, methods/step.hpp): then
// E - W stays as near to its first value as the energy does where nothing drives the system.

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"

RB_NAMESPACE_BEGIN

/// f(q, v) . u - L_t(q, v), where u is the velocity at which the method lets the force act. Where the system has a Hamiltonian alone,
/// whose momentum p is to be given, it is f . u + H_t(q, p).
template <class System, class S, class... P>
RB_HD S power_of_drive(const System& system, const Vector<S, element_size<System>>& q, const Vector<S, System::n>& v,
                       const Vector<S, System::n>& u, const P&... p) {
  S power(0.0);
  if constexpr (detail::has_applied_force<System>()) power = dot(system.applied_force(q, v), u);
  if constexpr (detail::changes_in_time<System>()) {
    if constexpr (HamiltonianAlone<System>) {
      power =
          power + time_derivative(
                      system, [](const auto& s, const auto& x, const auto& y) { return s.hamiltonian(x, y); }, q, p...);
    } else {
      power =
          power - time_derivative(
                      system, [](const auto& s, const auto& x, const auto& y) { return lagrangian(s, x, y); }, q, v);
    }
  }
  return power;
}

/// -lambda . g_t(q) + (Phi_v(q, v)^T mu) . v, where `multipliers` are lambda, then mu.
template <class System, class S>
RB_HD S power_of_constraints(const System& system, const Vector<S, element_size<System>>& q,
                             const Vector<S, System::n>& v, const Vector<S, System::m>& multipliers) {
  constexpr int positions = position_count<System>;
  S power(0.0);
  if constexpr (positions > 0 && detail::changes_in_time<System>()) {
    const auto g_t = time_derivative(system, [](const auto& s, const auto& x) { return s.position_constraint(x); }, q);
    RB_UNROLL
    for (int k = 0; k < positions; ++k) power = fma(-multipliers[k], g_t[k], power);
  }
  if constexpr (velocity_count<System> > 0) {
    const auto forms = constraint_forms(system, q, v);
    RB_UNROLL
    for (int k = positions; k < System::m; ++k) power = fma(multipliers[k], dot(forms[k], v), power);
  }
  return power;
}

/// h P, where `impulses` are h lambda and h mu.
template <class System, class S, class... P>
RB_HD S work_at(const System& system, const S& h, const Vector<S, element_size<System>>& q,
                const Vector<S, System::n>& v, const Vector<S, System::m>& impulses, const P&... p) {
  return fma(h, power_of_drive(system, q, v, v, p...), power_of_constraints(system, q, v, impulses));
}
/// The same where p is known, which only a system with a Hamiltonian alone asks for.
template <class System, class S, class P>
RB_HD S work_at_momentum(const System& system, const S& h, const Vector<S, element_size<System>>& q,
                         const Vector<S, System::n>& v, const Vector<S, System::m>& impulses,
                         [[maybe_unused]] const P& p) {
  if constexpr (HamiltonianAlone<System>) {
    return work_at(system, h, q, v, impulses, p);
  } else {
    return work_at(system, h, q, v, impulses);
  }
}

RB_NAMESPACE_END
