#pragma once
// The option `normalise` of the Lobatto pairs.

#include "rattleback/lie/group.hpp"
#include "rattleback/linalg/team.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

struct NormalisingNumbers {
  double normalise;  ///< 0 or 1
};
/// A step after which, where its option `normalise` is set, the configuration is brought back to the group by
/// one step of Newton's method. Not needed: rounding takes rotations off SO(3) like a random walk.
template <class Step, class System, class T>
class Normalising : public AroundStep<Step> {
 public:
  using Numbers = NormalisingNumbers;
  using State = typename Step::State;
  /// The same over the step that hands over, where there is one.
  using FastStep = Normalising<fast_step_of<Step>, System, T>;

  RB_HD Normalising(const System& system, const SolverOptions<T>& options, const Numbers& numbers = {})
      : step_(system, options), normalise_(numbers.normalise != 0.0) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const StepReport<T> report = step_(state, h);
    if (normalise_) state.q = group_of<System>::normalise(state.q);
    return report;
  }

 private:
  Step step_;
  bool normalise_;
};

RB_NAMESPACE_END
