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

/// Substeps weight_i h of `Step`. The time moves on with them.
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
      : start_(system, options), step_(make_step<Step>(system, options, numbers)), numbers_(numbers) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    StepReport<T> report{T(0.0), T(0.0), T(0.0)};
    [[maybe_unused]] double begin = 0.0;
    for (int i = 0; i < static_cast<int>(numbers_[Numbers::at_count]); ++i) {
      const double weight = numbers_[Numbers::at_weights + i];
      if constexpr (timed<System>) {
        const Step substep = make_step<Step>(after(start_.system, T(begin) * h), start_.options, numbers_);
        report.add_substep(substep(state, T(weight) * h));
        begin += weight;
      } else {
        report.add_substep(step_(state, T(weight) * h));
      }
    }
    return report;
  }

 private:
  /// What makes a substep at a later time; nothing where the step is the same at all times.
  struct Timed {
    System system;
    SolverOptions<T> options;
    RB_HD Timed(const System& s, const SolverOptions<T>& o) : system(s), options(o) {}
  };
  struct Timeless {
    RB_HD Timeless(const System&, const SolverOptions<T>&) {}
  };
  [[no_unique_address]] std::conditional_t<timed<System>, Timed, Timeless> start_;
  Step step_;
  const double* numbers_;
};

RB_NAMESPACE_END
