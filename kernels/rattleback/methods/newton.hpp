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

/// Newton from the predicted velocity. Lanes that have not converged after `attempt_iterations` start again, from other fractions
/// of that velocity and with backtracking in every second attempt: where a step is so large that the iteration wanders, one of
/// them leads to the solution. A lane that has converged is not changed any more.
///
/// A Problem has the types Unknowns, Residual, Jacobian, and
///
///   Unknowns guess(T fraction)                      with this fraction of the predicted velocity
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
  constexpr int attempt_iterations = 12, halvings = 8;
  constexpr double fractions[8] = {1.0, 0.5, 0.0, 1.5, 0.75, -0.5, 0.25, 2.0};
  using Unknowns = typename Problem::Unknowns;
  mask_t<T> active(true), singular(false);
  T iterations(0.0);
  Convergence<T> convergence(options, scale);
  x = problem.guess(T(1.0));
  problem.evaluate(x, r);
  typename Problem::Jacobian jacobian;
  for (int iteration = 0; any(active) && iteration < options.max_iterations; ++iteration) {
    const int attempt = iteration / attempt_iterations;
    if (iteration > 0 && iteration % attempt_iterations == 0) {
      x = select(active, problem.guess(T(fractions[(attempt - 1) % 8])), x);
      problem.evaluate(x, r);
      convergence = Convergence<T>(options, scale);
      singular = singular & !active;
    }
    singular = singular | (active & problem.linearise(x, r, jacobian));
    const Unknowns update = problem.direction(r, jacobian);
    const T change = problem.size_of(r, update);
    Unknowns next = select(active, x + update, x);
    if (attempt % 2 == 0) {
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
    // a maximum loses NaN
    active = active & !(convergence.with_rate(change) & is_finite(sum(update)));
  }
  return {!active, singular, iterations};
}

RB_NAMESPACE_END
