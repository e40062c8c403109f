#pragma once
// A composed step takes a symmetric step of order 2 several times, with weights that cancel the leading terms of its error
// (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, section V.3.2). The weights, and the order that they reach, are
// in tableaus/compositions.hpp.

#include "rattleback/linalg/team.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/tableaus/composition_numbers.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class T, class System>
struct TimedStart {
  System system;
  SolverOptions<T> options;
  RB_HD TimedStart(const System& s, const SolverOptions<T>& o) : system(s), options(o) {}
};
struct TimelessStart {
  template <class System, class Options>
  RB_HD TimelessStart(const System&, const Options&) {}
};
}  // namespace detail
/// What it takes to construct a substep at a later time. Where the system does not depend on time, one step serves all substeps, and
/// nothing is kept.
template <class T, class System>
using StartOfSubsteps = std::conditional_t<timed<System>, detail::TimedStart<T, System>, detail::TimelessStart>;

/// Takes substeps of `Step`, of which number i has the size weight_i h, in turn. For a system with explicit time each of them begins at
/// the time where the one before has ended. With `by_drifts` the numbers are those of a splitting, whose drifts are the substeps.
template <class T, class System, class Step, bool by_drifts = false>
class Composed : public AroundStep<Step> {
 public:
  using Numbers = CompositionNumbers;
  using State = typename Step::State;
  /// The composition of the step that hands difficult trajectories over (solve/handing_over.hpp), where `Step` has one.
  using FastStep = Composed<T, System, fast_step_of<Step>, by_drifts>;

  RB_HD Composed(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : start_(system, options), step_(system, options), numbers_(numbers) {}

  /// Data of a step (loop/last_step.hpp) are those of the last substep.
  template <class... Keep>
    requires requires(const Step& step, State& state, const T& h, const Keep&... keep) { step(state, h, keep...); }
  RB_HD StepReport<T> operator()(State& state, T h, const Keep&... keep) const {
    StepReport<T> report{T(0.0), T(0.0), T(0.0)};
    [[maybe_unused]] double begin = 0.0;
    for (int i = 0; i < static_cast<int>(numbers_.count); ++i) {
      const double weight = numbers_.weights[by_drifts ? 2 * i + 1 : i];
      if constexpr (timed<System>) {
        const Step substep(after(start_.system, T(begin) * h), start_.options);
        report.add_substep(substep(state, T(weight) * h, keep...));
        begin += weight;
      } else {
        report.add_substep(step_(state, T(weight) * h, keep...));
      }
    }
    return report;
  }

 private:
  RB_MAYBE_EMPTY StartOfSubsteps<T, System> start_;
  Step step_;
  const Numbers& numbers_;
};

RB_NAMESPACE_END
