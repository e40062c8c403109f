#pragma once
// Newton's method for the equations of a step, lane by lane.

#include "rattleback/methods/step.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

template <class T>
struct NewtonReport {
  mask_t<T> converged, singular;
  T iterations;
};

/// Simplified Newton from the problem's first guess, with the Jacobian refreshed every `refresh_interval` iterations. Lanes that
/// have not converged after `simplified_iterations` start again with a full Newton iteration and backtracking, and after
/// `damped_iterations` of those once more from the second guess. A lane that has converged is not changed any more.
///
/// A Problem has the types Unknowns, Residual, Jacobian, and
///
///   Unknowns guess(int attempt)                     attempt 0 or 1
///   void evaluate(x, Residual&)
///   mask_t<T> linearise(x, residual, Jacobian&)     returns the singular lanes
///   Unknowns direction(residual, jacobian)          the Newton update
///   T size_of(residual, update)                     what Convergence asks for
///   T merit(residual)                               of the residual, for backtracking
///
/// The residual is left at the result.
template <class T, class Problem>
RB_HD_LARGE NewtonReport<T> newton(const Problem& problem, const SolverOptions<T>& options, const T& scale,
                                   typename Problem::Unknowns& x, typename Problem::Residual& r) {
  constexpr int refresh_interval = 3, simplified_iterations = 12, damped_iterations = 15, halvings = 8;
  using Unknowns = typename Problem::Unknowns;
  mask_t<T> active(true);
  T iterations(0.0);
  Convergence<T> convergence(options, scale);
  x = problem.guess(0);
  problem.evaluate(x, r);
  typename Problem::Jacobian jacobian;
  mask_t<T> singular = problem.linearise(x, r, jacobian);
  for (int iteration = 0; any(active) && iteration < options.max_iterations; ++iteration) {
    const bool again = iteration == simplified_iterations + damped_iterations;
    if (iteration == simplified_iterations || again) {
      x = select(active, problem.guess(again ? 1 : 0), x);
      problem.evaluate(x, r);
      convergence = Convergence<T>(options, scale);
      singular = singular & !active;
    }
    const bool damped = iteration >= simplified_iterations;
    if (damped || (iteration > 0 && iteration % refresh_interval == 0))
      singular = singular | (active & problem.linearise(x, r, jacobian));
    const Unknowns update = problem.direction(r, jacobian);
    const T change = problem.size_of(r, update);
    Unknowns next = select(active, x + update, x);
    if (!damped) {
      problem.evaluate(next, r);
    } else {
      const T before = problem.merit(r);
      T length(1.0);
      for (int halving = 0;; ++halving) {
        problem.evaluate(next, r);
        const mask_t<T> longer = active & !(problem.merit(r) < before);
        if (!any(longer) || halving == halvings) break;
        length = select(longer, T(0.5) * length, length);
        next = select(active, x + length * update, x);
      }
    }
    x = next;
    iterations = iterations + select(active, T(1.0), T(0.0));
    active = active & !convergence.with_rate(change);
  }
  return {!active, singular, iterations};
}

RB_NAMESPACE_END
