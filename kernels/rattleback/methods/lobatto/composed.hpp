#pragma once
// The Lobatto pair with two stages, composed with itself to a higher order (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical
// Integration, section V.3.2). The pair is symmetric on R^n, so that symmetric compositions keep the order of the table
// (tableaus/compositions.hpp).

#include "rattleback/methods/lobatto/condensed.hpp"

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

/// Kicks p += h b f(q) and drifts q += h a M^-1 p in turn, with the weights b_0, a_1, b_1, .., a_k, b_k. A kick without
/// weight is left out.
template <class T, class System>
class Splitting {
  using Numbers = CompositionNumbers;

 public:
  using State = PhaseState<T, System::n, 0>;
  static constexpr bool two_packs = true;

  RB_HD Splitting(const System& system, const SolverOptions<T>&, const double* numbers)
      : system_(system), mass_(system), numbers_(numbers) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const double* weight = numbers_ + Numbers::at_weights;
    kick(state, h, weight[0]);
    for (int drifts = static_cast<int>(numbers_[Numbers::at_count]); drifts > 0; --drifts, weight += 2) {
      state.q = fma(T(weight[1]) * h, mass_.inverse_times(state.p), state.q);
      kick(state, h, weight[2]);
    }
    const mask_t<T> solved(true);
    return {step_status<T>(solved, !solved, is_finite(sum(state.q) + sum(state.p))), T(1.0), T(0.0)};
  }

 private:
  RB_HD void kick(State& state, const T& h, double weight) const {
    if (weight != 0.0) state.p = fma(T(weight) * h, force(system_, state.q), state.p);
  }

  System system_;
  Mass<System> mass_;
  const double* numbers_;
};

RB_NAMESPACE_END
