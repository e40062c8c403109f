#pragma once
// How a Lobatto step ends: the momentum on the constraint, the multiplier, the report.

#include "rattleback/mechanics/quadratic.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// Adds an impulse C^T x to p such that C v + d = 0 at p = M v + A, with C and L at q; returns x.
template <class T, class System>
RB_HD Vector<T, System::m> put_on_constraint(const System& system, const QuadraticLagrangian<System, T>& at,
                                             const ConstraintForms<System>& forms, const Vector<T, System::n>& q,
                                             Vector<T, System::n>& p, mask_t<T>& singular) {
  constexpr int m = System::m;
  const auto mass_inverse = at.inverse();
  Vector<T, m> impulse = -(forms * (mass_inverse * at.kinetic(p)));
  if constexpr (has_constraint_offset<System>) impulse = impulse - constraint_offset(system, q);
  Matrix<T, m, m> gram;
  RB_UNROLL
  for (int k = 0; k < m; ++k) {
    const Vector<T, m> column = forms * (mass_inverse * forms.mu[k]);
    RB_UNROLL
    for (int l = 0; l < m; ++l) gram[l][k] = column[l];
  }
  singular = singular | mass_inverse.singular() | solve_guide(gram, impulse);
  p = forms.plus_transpose_times(p, impulse);
  return impulse;
}

/// Ends a step of S stages, of which `impulse` put the momentum on the constraint. Lambda_s takes up what the node lacked: all of
/// the tangency where the constraint is holonomic, round-off elsewhere. `last` is h Lambda_s without it.
template <int S, class Lanes, class T, class State, int m = State::multipliers>
RB_HD StepReport<T> end_step(const Lanes& lanes, const T& h, const Vector<T, m>& impulse, const Vector<T, m>& last,
                             const T& residual, State& state) {
  T check = sum(state.q) + sum(state.p);
  if constexpr (m > 0) {
    state.lambda = (T(1.0) / h) * fma(T(1.0 / lobatto_pair<S>().b[S - 1]), impulse, last);
    check = check + sum(state.lambda);
  }
  return {step_status<T>(lanes.converged(), lanes.singular, is_finite(check)), lanes.iterations, residual};
}

RB_NAMESPACE_END
