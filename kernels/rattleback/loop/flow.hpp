#pragma once
// The rates at which a state changes along the motion.

#include "rattleback/loop/formula.hpp"

RB_NAMESPACE_BEGIN

/// The derivative by time of a state (q, p, lambda, and the work of a driven system) along the exact motion. The numbers of a method's
/// own have no such derivative; theirs are 0. A step of the size 0 has no derivative by its size that could be computed: this one stands
/// in for it, and differs from that of a short step by as much as the step differs from the motion.
template <class T, template <class> class SystemOf, class State>
RB_HD_LARGE State flow_of(const KernelArguments& a, const double* chunk, int lane, const T& time, const State& state) {
  using System = SystemOf<T>;
  using G = group_of<System>;
  constexpr int n = System::n, m = System::m;
  const auto system = load_system_at<System>(time, a, chunk, lane);
  const Vector<T, n> p = momentum_in_body<System>(state.q, state.p, a.in_space), v = velocity(system, state.q, p);
  const auto q_along = moving<G>(state.q, v);
  State rate{};
  rate.q = detail::derivative(q_along);
  Vector<T, n> force = configuration_force(system, state.q, v);
  if constexpr (on_group<System>) force = force + G::ad_star(v, p);
  Vector<T, m> lambda{};
  if constexpr (m > 0) {
    lambda = detail::ContinuousMultiplier<System>(system, state.q, v).lambda;
    force = force + transpose_times(constraint_forms(system, state.q, v), lambda);
  }
  rate.p = force;
  const auto p_along = detail::along(p, force);
  if constexpr (on_group<System>)
    if (a.in_space) rate.p = detail::derivative(G::Ad_inverse_star(q_along, p_along));
  if constexpr (m > 0) {
    using D = Dual<T, 1>;
    const auto varied =
        make_system_at<SystemOf<D>>(D(time, 0), [&](int i) { return D(load_parameter<T>(a, chunk, lane, i)); });
    rate.lambda = detail::derivative(
        detail::ContinuousMultiplier<SystemOf<D>>(varied, q_along, velocity(varied, q_along, p_along)).lambda);
  }
  if constexpr (timed<System>) {
    rate.carried[State::carries - 1] = work_at_momentum(system, T(1.0), state.q, v, lambda, p);
  }
  return rate;
}

RB_NAMESPACE_END
