#pragma once
// The nonholonomic leapfrog (R. McLachlan, M. Perlmutter, Integrators for nonholonomic mechanical systems, eq. (4.18)) for a
// constraint C(q) v + d(q) = 0:
//
//   qh = q + h/2 H_p(q, p)
//   p' = p - h/2 (H_q(qh, p) + H_q(qh, p')) + h C(qh)^T Lambda
//   q' = qh + h/2 H_p(q', p'),     C(q') H_p(q', p') + d(q') = 0.
//
// Where the time acts on the system, q is at t, qh at t + h/2 and q' at t + h. A generalized force f adds to -H_q, at the velocity
// H_p(qh, p) or H_p(qh, p').
//
// Every step finds its own Lambda, so nothing but (q, p) passes from step to step. The map is symmetric, of order 2. For L = v.Mv/2 - U(q)
// its points qh are those of the discrete Lagrange-d'Alembert scheme with the Lagrangian "verlet" and the constraint "mid" (dla.hpp).

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/methods/nonholonomic/multiplier_equation.hpp"
#include "rattleback/methods/solve/dual_problem.hpp"

RB_NAMESPACE_BEGIN

/// The step with constant mass: one force, and Newton's method for the m numbers h Lambda.
template <class T, class System>
class CondensedLeapfrog {
  static constexpr int n = System::n, m = System::m;

 public:
  using State = PhaseState<T, n, m>;
  static constexpr bool two_packs = n <= 8;  // the updates of one pack wait for each other

  RB_HD CondensedLeapfrog(const System& system, const SolverOptions<T>& options)
      : system_(system), mass_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const T half = T(0.5) * h;
    const Vector<T, n> before = mass_.inverse_times(state.p);
    const Vector<T, n> middle = fma(half, before, state.q);
    const ConstraintForms<System> forms(system_, middle);
    const detail::Reactions<T, System> reactions(mass_, forms);
    const Vector<T, n> kick = h * force(system_, middle), push = mass_.inverse_times(kick);

    SolveState<T> lanes;
    Vector<T, m> y;
    Vector<T, n> after;
    ConstraintForms<System> end;
    const T update = detail::solve_multiplier<false>(system_, reactions, forms, middle, half, before + push, options_,
                                                     magnitude(before) + magnitude(push), y, after, end, lanes);

    state.q = fma(half, before + after, state.q);
    state.p = forms.plus_transpose_times(state.p + kick, y);
    const mask_t<T> finite = is_finite(sum(state.q) + sum(state.p));
    return {step_status<T>(lanes.converged(), lanes.singular, finite), lanes.iterations, update};
  }

 private:
  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
};

namespace detail {
/// The equations for any regular Lagrangian. Unknowns are v' and h Lambda; p' = L_v(q', v').
template <class T, class System>
class LeapfrogEquations : public VelocityEquations<T, System::n, System::m> {
  static constexpr int n = System::n, m = System::m;
  using Base = VelocityEquations<T, n, m>;

 public:
  using Base::size;
  using State = StateOf<T, System>;

  RB_HD LeapfrogEquations(const System& system, const State& state, const T& h)
      : LeapfrogEquations(system, state, h, velocity(system, state.q, state.p)) {}

  template <class D>
  RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
    const auto& system_h = after(system_, half_);
    const auto& system_1 = after(system_, half_ + half_);
    const Vector<D, n> v = segment<0, n>(x), q = fma(D(half_), v, lift<D>(middle_));
    const Vector<D, n> p = momentum(system_1, q, v);
    const Vector<D, n> at_middle = velocity(system_h, lift<D>(middle_), p);
    Vector<D, n> r = fma(D(-half_), configuration_force(system_h, lift<D>(middle_), at_middle), p - lift<D>(known_));
    RB_UNROLL
    for (int k = 0; k < m; ++k) r = fma(-x[n + k], lift<D>(forms_.mu[k]), r);
    return join(r, constraint(system_1, q, v));
  }
  RB_HD Vector<T, m> finish(const Vector<T, size>& x, State& state, mask_t<T>&) const {
    state.q = fma(half_, segment<0, n>(x), middle_);
    state.p = momentum(after(system_, half_ + half_), state.q, segment<0, n>(x));
    return segment<n, m>(x);
  }
  /// At the middle, half of it with the velocity before the kick and half with that after it.
  RB_HD_LARGE T work(const Vector<T, size>& x, const Vector<T, m>& impulse) const {
    const auto& system = after(system_, half_);
    const Vector<T, n> v = segment<0, n>(x), p = momentum(after(system_, half_ + half_), fma(half_, v, middle_), v);
    const Vector<T, m> half = T(0.5) * impulse;
    return work_at(system, half_, middle_, before_, half) +
           work_at(system, half_, middle_, velocity(system, middle_, p), half);
  }

 private:
  RB_HD LeapfrogEquations(const System& system, const State& state, const T& h, const Vector<T, n>& v)
      : Base(v, velocity_scale(system, h, state.q, v)),
        system_(system),
        half_(T(0.5) * h),
        middle_(fma(half_, v, state.q)),
        forms_(after(system, half_), middle_),
        before_(velocity(after(system, half_), middle_, state.p)),
        known_(fma(half_, configuration_force(after(system, half_), middle_, before_), state.p)) {}

  const System& system_;
  T half_;
  Vector<T, n> middle_;
  ConstraintForms<System> forms_;
  Vector<T, n> before_, known_;  // the velocity of p at the middle; p + h/2 (f - H_q) there
};
}  // namespace detail

template <class T, class System>
using GeneralLeapfrog = detail::NewtonStep<T, System, detail::LeapfrogEquations<T, System>>;

/// Uses the form for constant mass where the system allows it.
template <class T, class System>
  requires AffineOnRn<System>
using LeapfrogStep =
    std::conditional_t<Condensable<System> && !timed<System>, CondensedLeapfrog<T, System>, GeneralLeapfrog<T, System>>;

/// The composed step.
template <class T, class System>
  requires AffineOnRn<System>
using ComposedLeapfrogStep = Composed<T, System, LeapfrogStep<T, System>>;

RB_NAMESPACE_END
