#pragma once
// A symmetric step, composed with itself to a higher order (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration,
// section V.3.2). Symmetric compositions of a symmetric step of order 2 have the order of the table (tableaus/compositions.hpp).

#include "rattleback/linalg/tile.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// Where the numbers of a composed step are: how many substeps (or drifts) there are, then the weights.
struct CompositionNumbers {
  static constexpr int at_count = 1, at_weights = 2;
};

/// Substeps weight_i h of `Step`.
template <class T, class System, class Step>
class Composed {
  using Numbers = CompositionNumbers;

 public:
  using State = typename Step::State;
  using Team = tile_of<Step>;
  using Workspace = workspace_of<Step>;
  /// The same over the step that hands over, where there is one.
  using FastStep = Composed<T, System, fast_step_of<Step>>;
  static constexpr bool defers_failures = requires { requires Step::defers_failures; };
  static constexpr bool two_packs = requires { requires Step::two_packs; };

  RB_HD Composed(const System& system, const SolverOptions<T>& options, const double* numbers)
      : step_(make_step<Step>(system, options, numbers)), numbers_(numbers) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    StepReport<T> report{T(0.0), T(0.0), T(0.0)};
    for (int i = 0; i < static_cast<int>(numbers_[Numbers::at_count]); ++i)
      report.add_substep(step_(state, T(numbers_[Numbers::at_weights + i]) * h));
    return report;
  }

 private:
  Step step_;
  const double* numbers_;
};

RB_NAMESPACE_END
