#pragma once
// A step that carries no multiplier from one step to the next: it begins with that of the continuous equations.

#include "rattleback/linalg/team.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/start/multiplier.hpp"

RB_NAMESPACE_BEGIN

/// `Step`, after which the multiplier becomes that of the continuous equations at the new state, from which the next step begins.
/// Nothing that a step leaves in the multiplier can grow; the price is the symmetry of the step.
template <class Step, class System, class T>
class Recomputed : public detail::NumbersOf<Step> {
 public:
  using State = typename Step::State;
  using Team = team_of<Step>;
  using Workspace = workspace_of<Step>;
  /// The same over the step that hands over, where there is one.
  using FastStep = Recomputed<fast_step_of<Step>, System, T>;
  static constexpr bool defers_failures = requires { requires Step::defers_failures; };

  template <class... Numbers>
    requires std::constructible_from<Step, const System&, const SolverOptions<T>&, const Numbers&...>
  RB_HD Recomputed(const System& system, const SolverOptions<T>& options, const Numbers&... numbers)
      : system_(system), step_(system, options, numbers...) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    StepReport<T> report = step_(state, h);
    const auto& end = after(system_, h);
    const detail::ContinuousMultiplier<System> exact(end, state.q, velocity(end, state.q, state.p));
    state.lambda = exact.lambda;
    const mask_t<T> undetermined = (report.status == T(0.0)) & (exact.singular | !is_finite(sum(exact.lambda)));
    report.status = select(undetermined, T(double(status_singular)), report.status);
    return report;
  }

 private:
  System system_;
  Step step_;
};

RB_NAMESPACE_END
