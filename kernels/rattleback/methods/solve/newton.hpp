#pragma once
// Newton's method for the equations of a step, lane by lane.

#include "rattleback/linalg/team.hpp"
#include "rattleback/methods/solve/iteration.hpp"
#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

/// Newton from a fraction of the predicted velocity, `options.guess`. At first a lane keeps its Jacobian while its updates shrink by a factor of 100
/// at least: an iteration with the last one then gains as many digits. Where its neighbours in a pack need new ones,
/// its own is evaluated again where it was, which gives the same bits. Lanes that have not converged after
/// `attempt_iterations` start again, from other fractions of that velocity and with backtracking in every second
/// attempt: where a step is so large that the iteration wanders, one of them leads to the solution. A lane that has
/// converged is not changed any more.
///
/// A Problem has the types Unknowns, Residual, Jacobian and Team, the team that solves it, and
///
///   Unknowns guess(T fraction)                      with this fraction of the predicted velocity
///   void evaluate(x, Residual&)
///   mask_t<T> linearise(x, residual, Jacobian&)     returns the singular lanes
///   Unknowns direction(residual, jacobian)          the Newton update
///   T size_of(residual, update)                     what Convergence asks for
///   T merit(residual)                               of the residual, for backtracking
///
/// With `Problem::predicts` the guess is a prediction of all unknowns: the first update, too, is to be a hundredth of them at most if the
/// Jacobian is to be kept, and there is one start. Such a problem may have keeps_jacobian(): whether the Jacobian of the guess serves throughout.
///
/// The lanes of the team share the workspace, where the residual is left at the result; the leader evaluates. Lanes that are not
/// `wanted` keep the guess.
template <class Problem>
struct NewtonWorkspace {
  typename Problem::Jacobian jacobian;
  typename Problem::Residual residual;
};
template <class T, class Problem>
RB_HD_LARGE SolveState<T> newton(const Problem& problem, const SolverOptions<T>& options, const T& scale,
                                 typename Problem::Unknowns& x, NewtonWorkspace<Problem>& workspace,
                                 const mask_t<T>& wanted = mask_t<T>(true)) {
  constexpr int attempt_iterations = 14, halvings = 8;
  constexpr bool alone = std::same_as<mask_t<T>, bool>;  // no neighbours, nothing to keep
  constexpr double fractions[8] = {1.0, 0.5, 0.0, 1.5, 0.75, -0.5, 0.25, 2.0};
  using Unknowns = typename Problem::Unknowns;
  using Team = typename Problem::Team;
  typename Problem::Jacobian& jacobian = workspace.jacobian;
  typename Problem::Residual& r = workspace.residual;
  const auto evaluate = [&](const Unknowns& at, typename Problem::Residual& residual) {
    Team::sync();
    if (Team::leads()) problem.evaluate(at, residual);
    Team::sync();
  };
  Iteration<T> lanes(options, scale);
  lanes.active = wanted;
  constexpr bool predicts = requires { requires Problem::predicts; };
  T previous = predicts ? scale : T(0.0);
  x = problem.guess(options.guess);
  evaluate(x, r);
  Unknowns origin = x;  // of the Jacobian
  mask_t<T> renew(true);
  for (int iteration = 0; !lanes.ended() && iteration < options.max_iterations; ++iteration) {
    const int attempt = predicts ? 0 : iteration / attempt_iterations;
    if (attempt > 0 && iteration % attempt_iterations == 0) {
      x = select(lanes.active, problem.guess(T(fractions[(attempt - 1) % 8])), x);
      evaluate(x, r);
      lanes.convergence = Convergence<T>(options, scale);
      lanes.singular = lanes.singular & lanes.converged();
      renew = mask_t<T>(true);
      previous = T(0.0);
    }
    if (any(lanes.active & renew)) {
      const mask_t<T> kept = lanes.active & !renew;
      if (alone || !any(kept)) {
        origin = x;
        lanes.note_singular(problem.linearise(x, r, jacobian));
      } else {
        origin = select(kept, origin, x);
        typename Problem::Residual at_origin;
        evaluate(origin, at_origin);
        lanes.note_singular(problem.linearise(origin, at_origin, jacobian));
      }
    }
    const Unknowns update = problem.direction(r, jacobian);
    const T change = problem.size_of(r, update);
    renew = attempt > 0 ? mask_t<T>(true) : !(change <= T(0.01) * previous);
    if constexpr (requires { problem.keeps_jacobian(); }) renew = renew & mask_t<T>(!problem.keeps_jacobian());
    previous = change;
    Unknowns next = select(lanes.active, x + update, x);
    if (attempt % 2 == 0) {
      evaluate(next, r);
    } else {
      const T before = problem.merit(r);
      T length(1.0);
      for (int halving = 0;; ++halving) {
        evaluate(next, r);
        const mask_t<T> longer = lanes.active & !(problem.merit(r) < before);
        if (!any(longer) || halving == halvings) break;
        length = select(longer, T(0.5) * length, length);
        next = select(lanes.active, x + length * update, x);
      }
    }
    x = next;
    lanes.count(lanes.active);
    // a maximum loses NaN
    lanes.stop(lanes.convergence.with_rate(change) & is_finite(sum(update)));
  }
  return lanes;
}

RB_NAMESPACE_END
