#pragma once
// The generalized-alpha method with a constant mass and a velocity constraint mu(q) v + d(q) = 0, or none.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/methods/generalized_alpha/scheme.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// With a' given, q' and with it f' = M^-1 F(q') and mu(q') are known; then lambda' solves a linear system, and
/// a' = known + kappa (f' + M^-1 mu^T lambda'). So a' is found by functional iteration, whose contraction is O(h^2). Once the next
/// change is going to be small, by the rate of contraction, a lane's a' settles; one more sweep gives the step, and further ones
/// of the pack recompute the same numbers. Lanes that do not contract, as where h times a frequency is not small, are left to
/// Newton's method.
template <class T, class System>
class CondensedGeneralizedAlpha {
  static constexpr int n = System::n, m = System::m;

 public:
  using Scalar = T;
  using MechanicalSystem = System;
  using Numbers = GeneralizedAlphaNumbers;
  using State = GeneralizedAlphaState<T, System>;

  RB_HD CondensedGeneralizedAlpha(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : system_(system), mass_(system), options_(options), start_(numbers) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const T inverse_h = T(1.0) / h;
    const Vector<T, n> v = mass_.inverse_times(state.p);
    const ConstraintForms<System> forms_0(system_, state.q);
    const Vector<T, n> f_0 = mass_.inverse_times(forms_0.plus_transpose_times(force(system_, state.q), state.lambda));
    const Vector<T, n> a = start_.acceleration(system_, state, v, f_0, h);
    const Vector<T, n> known = start_.known(a, f_0);
    const Vector<T, n> drift_known = fma(h * (T(0.5) - start_.beta), a, v);
    const Vector<T, n> kick_known = (T(1.0) - start_.gamma) * a;

    // as if the force did not change
    Vector<T, n> w = fma(start_.kappa, f_0, known), w_new, q;
    auto impulse = Vector<T, m>::zero();  // kappa lambda'
    const T inverse_gamma = T(1.0) / start_.gamma;
    RefusingIteration<T> lanes(options_, inverse_h * inverse_h * (magnitude(state.q) + abs(h) * magnitude(v)));
    mask_t<T> counted(true);  // lanes whose last sweep is still to come, the one after w has settled
    T update(0.0), first_change(0.0);
    for (int sweep = 0;; ++sweep) {
      q = fma(h, fma(h * start_.beta, w, drift_known), state.q);
      w_new = fma(start_.kappa, mass_.inverse_times(force(system_, q)), known);
      if constexpr (m > 0) {
        // mu (v + h ((1 - gamma) a + gamma a')) + d = 0, divided by h
        const ConstraintForms<System> forms(system_, q);
        Vector<T, m> phi = forms * fma(start_.gamma, w_new, fma(inverse_h, v, kick_known));
        if constexpr (has_constraint_offset<System>) phi = fma(inverse_h, constraint_offset(system_, q), phi);
        impulse = -inverse_gamma * phi;
        lanes.note_singular(solve_once<PivotedUnrolled>(forms.gram(mass_, forms), impulse));
        w_new = w_new + mass_.inverse_times(forms.transpose_times(impulse));
      }
      lanes.count(counted);
      const T change = magnitude(w_new - w);
      update = select(counted, change, update);
      if (lanes.ended() || Sweeps<T>::late(sweep, options_)) break;
      w = select(lanes.active, w_new, w);
      counted = lanes.active;
      if (sweep == 0) first_change = change;
      lanes.stop(lanes.convergence.with_rate(change, 1.0));
      if (sweep >= Sweeps<T>::least_sweeps) lanes.refuse(!(change < first_change));
    }

    state.q = q;
    state.p = fma(h, mass_.times(fma(start_.gamma, w_new, kick_known)), state.p);
    state.lambda = (T(1.0) / start_.kappa) * impulse;
    detail::GeneralizedAlphaStart<T, System>::carry(w_new, h, state);
    return {step_status<T>(lanes.converged(), lanes.singular, is_finite(state)), lanes.iterations, h * h * update};
  }

 private:
  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
  detail::GeneralizedAlphaStart<T, System> start_;
};

RB_NAMESPACE_END
