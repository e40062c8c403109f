#pragma once
// Discrete Lagrange-d'Alembert integrators (J. Cortes, S. Martinez, Non-holonomic integrators, Nonlinearity 14 (2001) 1365) for a
// constraint C(q) v + d(q) = 0, in the form of RATTLE: with u = (q' - q)/h, a discrete Lagrangian L_d(q, q') and a discrete
// constraint Phi_d(q, q'),
//
//   -D_1 L_d = p + h/2 C(q)^T Lambda_1,        Phi_d(q, q') = 0
//   p' = D_2 L_d + h/2 C(q')^T Lambda_2,       C(q') v(q', p') + d(q') = 0.
//
//   L_d:    midpoint  h L((q + q')/2, u)       verlet  h/2 (L(q, u) + L(q', u))
//   Phi_d:  mid       Phi((q + q')/2, u)       trap    1/2 (Phi(q, u) + Phi(q', u))
//
// Every step finds its own multipliers, so nothing but (q, p) passes from step to step. The map is symmetric, of order 2. The positions
// are those of the two-step form D_1 L_d(q_k, q_{k+1}) + D_2 L_d(q_{k-1}, q_k) = -h C(q_k)^T lambda_k.
//
// Where the time acts on the system, q is at t, the middle at t + h/2 and q' at t + h. The virtual work of a generalized force f has the
// weights of L, so that f adds to L_q at the same point.

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/methods/lobatto/on_constraint.hpp"
#include "rattleback/methods/nonholonomic/dla_group.hpp"
#include "rattleback/methods/nonholonomic/multiplier_equation.hpp"
#include "rattleback/methods/solve/dual_problem.hpp"

RB_NAMESPACE_BEGIN

enum class DlaLagrangian { midpoint, verlet };
enum class DlaConstraint { mid, trap };

/// The step with constant mass. With y = h/2 Lambda_1 and R = M^-1 C(q)^T it is
///
///   u = M^-1 (p + h/2 F) + R y,     Phi_d(q, q + h u) = 0,
///
/// where the force F is that at q ("verlet"), which leaves m equations for Newton's method, or that at q + h/2 u ("midpoint"). There
/// the force and y are renewed in turn, which contracts by O(h^2).
template <class T, class System, DlaLagrangian lagrangian, DlaConstraint rule>
class CondensedDla {
  static constexpr int n = System::n, m = System::m;
  static constexpr bool midpoint = lagrangian == DlaLagrangian::midpoint, trap = rule == DlaConstraint::trap;
  using Forms = ConstraintForms<System>;

 public:
  using State = PhaseState<T, n, m>;
  static constexpr bool two_packs = n <= 8 && m == 1;  // the updates of one pack wait for each other

  RB_HD CondensedDla(const System& system, const SolverOptions<T>& options)
      : system_(system), mass_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const T half = T(0.5) * h;
    const Vector<T, n> before = mass_.inverse_times(state.p);
    const Forms forms(system_, state.q);
    const detail::Reactions<T, System> reactions(mass_, forms);
    T span = h;
    if constexpr (!trap) span = half;

    Vector<T, n> kick = half * force(system_, midpoint ? fma(half, before, state.q) : state.q);
    const Vector<T, n> push = mass_.inverse_times(kick);
    const T scale = magnitude(before) + magnitude(push);
    SolveState<T> lanes;
    Vector<T, m> y;
    Vector<T, n> u;
    Forms end;
    T update;
    if constexpr (midpoint) {
      update = solve_in_turn(state.q, half, span, before, forms, reactions, scale, kick, y, u, lanes);
    } else {
      update = detail::solve_multiplier<trap>(system_, reactions, forms, state.q, span, before + push, options_, scale,
                                              y, u, end, lanes);
    }

    state.q = fma(h, u, state.q);
    Vector<T, n> p = forms.plus_transpose_times(state.p + kick, y);
    p = midpoint ? p + kick : fma(half, force(system_, state.q), p);
    if constexpr (midpoint || !trap) end = Forms(system_, state.q);
    Vector<T, m> impulse = -(end * mass_.inverse_times(p));
    if constexpr (has_constraint_offset<System>) impulse = impulse - constraint_offset(system_, state.q);
    lanes.singular = lanes.singular | solve_once<Definite<>>(end.gram(mass_, end), impulse);
    state.p = end.plus_transpose_times(p, impulse);
    const mask_t<T> finite = is_finite(sum(state.q) + sum(state.p));
    return {step_status<T>(lanes.converged(), lanes.singular, finite), lanes.iterations, update};
  }

 private:
  /// Newton's updates of y from y = 0, each followed by the force at the middle; `kick` is h/2 F. Returns the size of the last update of u.
  RB_HD T solve_in_turn(const Vector<T, n>& q, const T& half, const T& span, const Vector<T, n>& before,
                        const Forms& forms, const detail::Reactions<T, System>& reactions, const T& scale,
                        Vector<T, n>& kick, Vector<T, m>& y, Vector<T, n>& u, SolveState<T>& state) const {
    Iteration<T> lanes(options_, scale);
    y = Vector<T, m>::zero();
    Vector<T, n> free = before + mass_.inverse_times(kick);
    u = free;
    T update(0.0);
    for (int iteration = 0; !lanes.ended() && iteration < options_.max_iterations; ++iteration) {
      Matrix<T, m, m> matrix;
      Forms changes[m];
      Vector<T, m> dy = detail::MultiplierEquation<trap, T, System>::linearised(system_, reactions, forms, q, span, u,
                                                                                matrix, changes);
      const mask_t<T> singular = solve_once<Definite<>>(matrix, dy);
      y = select(lanes.active, y + dy, y);
      const Vector<T, n> now = reactions.plus_times(y, free);
      kick = select(lanes.active, half * force(system_, fma(half, now, q)), kick);
      free = before + mass_.inverse_times(kick);
      const Vector<T, n> next = reactions.plus_times(y, free);
      const T change = magnitude(next - u);
      update = select(lanes.active, change, update);
      u = next;
      lanes.note_singular(singular);
      lanes.settle(change);
    }
    state = lanes;
    return update;
  }

  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
};

namespace detail {
/// The equations for any regular Lagrangian. Unknowns are u and h/2 Lambda_1.
template <class T, class System, DlaLagrangian lagrangian, DlaConstraint rule>
class DlaEquations : public VelocityEquations<T, System::n, System::m> {
  static constexpr int n = System::n, m = System::m;
  static constexpr bool midpoint = lagrangian == DlaLagrangian::midpoint;
  using Base = VelocityEquations<T, n, m>;

 public:
  using Base::size;
  using State = StateOf<T, System>;

  RB_HD DlaEquations(const System& system, const State& state, const T& h)
      : DlaEquations(system, state, h, velocity(system, state.q, state.p)) {}

  /// q + share h u.
  template <class D>
  RB_HD Vector<D, n> position(double share, const Vector<D, n>& u) const {
    return fma(D(T(share) * h_), u, lift<D>(q_));
  }
  /// The system at t + share h.
  RB_HD decltype(auto) system_at(double share) const { return after(system_, T(share) * h_); }
  /// -D_1 L_d, or D_2 L_d at the end.
  template <bool end, class D>
  RB_HD Vector<D, n> discrete_momentum(const Vector<D, n>& u) const {
    const D half(T(end ? 0.5 : -0.5) * h_);
    if constexpr (midpoint) {
      const auto& system = system_at(0.5);
      const Vector<D, n> middle = position(0.5, u);
      return fma(half, configuration_force(system, middle, u), momentum(system, middle, u));
    } else {
      const auto& system_1 = system_at(1.0);
      const Vector<D, n> q = position(0.0, u), next = position(1.0, u);
      const Vector<D, n> p = D(T(0.5)) * (momentum(system_, q, u) + momentum(system_1, next, u));
      return fma(half, configuration_force(end ? system_1 : system_, end ? next : q, u), p);
    }
  }
  template <class D>
  RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
    const Vector<D, n> u = segment<0, n>(x);
    Vector<D, n> r = discrete_momentum<false>(u) - lift<D>(p_);
    RB_UNROLL
    for (int k = 0; k < m; ++k) r = fma(-x[n + k], lift<D>(forms_.mu[k]), r);
    if constexpr (rule == DlaConstraint::mid) {
      return join(r, constraint(system_at(0.5), position(0.5, u), u));
    } else {
      return join(
          r, D(T(0.5)) * (constraint(system_, position(0.0, u), u) + constraint(system_at(1.0), position(1.0, u), u)));
    }
  }
  RB_HD Vector<T, m> finish(const Vector<T, size>& x, State& state, mask_t<T>& singular) const {
    const Vector<T, n> u = segment<0, n>(x);
    state.q = position(1.0, u);
    state.p = discrete_momentum<true>(u);
    const auto& system = system_at(1.0);
    const ConstraintForms<System> forms(system, state.q);
    LagrangianAt<System> at(system, state.q);
    return put_on_constraint(system, at, forms, state.q, u, state.p, singular);
  }
  /// By the quadrature of L_d; `impulse` is h/2 Lambda_2.
  RB_HD_LARGE T work(const Vector<T, size>& x, const Vector<T, m>& impulse) const {
    const Vector<T, n> u = segment<0, n>(x), next = position(1.0, u);
    const auto& system_1 = system_at(1.0);
    T power;
    if constexpr (midpoint) {
      power = power_of_drive(system_at(0.5), position(0.5, u), u, u);
    } else {
      power = T(0.5) * (power_of_drive(system_, q_, u, u) + power_of_drive(system_1, next, u, u));
    }
    return fma(
        h_, power,
        power_of_constraints(system_, q_, u, segment<n, m>(x)) + power_of_constraints(system_1, next, u, impulse));
  }

 private:
  RB_HD DlaEquations(const System& system, const State& state, const T& h, const Vector<T, n>& v)
      : Base(v, velocity_scale(system, h, state.q, v)),
        system_(system),
        h_(h),
        q_(state.q),
        p_(state.p),
        forms_(system, state.q) {}

  const System& system_;
  T h_;
  Vector<T, n> q_, p_;
  ConstraintForms<System> forms_;
};
}  // namespace detail

template <class T, class System, DlaLagrangian lagrangian, DlaConstraint rule>
using GeneralDla = detail::NewtonStep<T, System, detail::DlaEquations<T, System, lagrangian, rule>>;

template <class System>
concept TakesDla = AffineOnRn<System> || AffineOnGroup<System>;

/// What a system offers picks the form at compile time; those on R^n are the same map, up to round-off. On groups the Lagrangian is
/// "verlet", the constraint "mid", and Tau (Cay or Exp) the chart.
template <class T, class System, DlaLagrangian lagrangian, DlaConstraint rule, class Tau = Cay>
  requires TakesDla<System>
using DlaStep = std::conditional_t<
    on_group<System>, GroupDla<T, System, Tau>,
    std::conditional_t<Condensable<System> && !timed<System>, CondensedDla<T, System, lagrangian, rule>,
                       GeneralDla<T, System, lagrangian, rule>>>;

/// The composed step.
template <class T, class System, DlaLagrangian lagrangian, DlaConstraint rule, class Tau = Cay>
  requires TakesDla<System>
using ComposedDlaStep = Composed<T, System, DlaStep<T, System, lagrangian, rule, Tau>>;

RB_NAMESPACE_END
