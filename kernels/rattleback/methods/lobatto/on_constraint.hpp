#pragma once
// What the sweeps of the Lobatto pairs share: the unknowns, and the end of a step, which puts the momentum on the constraint.

#include "rattleback/mechanics/regular.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// The unknowns of S stages, or residuals of their equations: velocities and multipliers, of which first..first + S - 2 count.
template <class T, int n, int m, int S, int first>
struct StageUnknowns {
  Vector<T, n> velocity[S];
  Vector<T, m> multiplier[S];

  RB_HD T largest() const {
    T r(0.0);
    RB_UNROLL
    for (int i = 0; i < S; ++i) r = max(r, max_norm(velocity[i]));
    if constexpr (m > 0) {
      RB_UNROLL
      for (int l = first; l < first + S - 1; ++l) r = max(r, max_norm(multiplier[l]));
    }
    return r;
  }
};

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

/// The same for any regular L: Newton's method in v and x for L_v(q, v) = p + C^T x and C v + d = 0, from the velocity v.
template <class T, class System>
RB_HD Vector<T, System::m> put_on_constraint(const System& system, RegularLagrangian<System, T>& at,
                                             const ConstraintForms<System>& forms, const Vector<T, System::n>& q,
                                             Vector<T, System::n> v, Vector<T, System::n>& p, mask_t<T>& singular) {
  constexpr int n = System::n, m = System::m, most_steps = 20;
  auto impulse = Vector<T, m>::zero();
  mask_t<T> active(true);
  for (int step = 0; step < most_steps && any(active); ++step) {
    typename RegularLagrangian<System, T>::MassInverse mass_inverse;
    Coupling<System, T> coupling;
    at.move(v);
    at.linearise(v, mass_inverse, coupling);
    const Vector<T, n> free = mass_inverse * (forms.plus_transpose_times(p, impulse) - at.momentum(v));
    Vector<T, m> dx = -(forms * (v + free));
    if constexpr (has_constraint_offset<System>) dx = dx - constraint_offset(system, q);
    Matrix<T, m, m> gram;
    Vector<T, n> response[m];
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      response[k] = mass_inverse * forms.mu[k];
      const Vector<T, m> column = forms * response[k];
      RB_UNROLL
      for (int l = 0; l < m; ++l) gram[l][k] = column[l];
    }
    singular = singular | (active & (mass_inverse.singular() | solve_guide(gram, dx)));
    Vector<T, n> dv = free;
    RB_UNROLL
    for (int k = 0; k < m; ++k) dv = fma(dx[k], response[k], dv);
    v = select(active, v + dv, v);
    impulse = select(active, impulse + dx, impulse);
    active = active & !(magnitude(dv) <= T(1e-8) * magnitude(v));  // the error is the square of this
  }
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
