#pragma once
// Variational Crouch-Grossman methods (G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group
// methods, section 4.2) that run one stage after the other. By the composition lemma of the paper the method with
// a_ij = b_j, j < i, a_ii = theta_i b_i, is the composition of one-stage methods with a = theta_i and steps b_i h.
// For one stage Crouch-Grossman methods equal Munthe-Kaas methods without correction (r = 0). Each substep thus has
// n unknowns.

#include "rattleback/methods/lie/vrkmk.hpp"

RB_NAMESPACE_BEGIN

/// The numbers of a step: the iteration, the number of substeps, the series 1, and for each substep the weight and the
/// tableau.
struct VcgNumbers {
  static constexpr int at_count = 1, at_series = 2, at_substeps = at_series + TangentSeries::size;
  static constexpr int per_substep = 1 + StageCoefficients<1>::size;
  static constexpr int size = at_substeps + max_substeps * per_substep;

  static constexpr void fill(StageIteration iteration, const CrouchGrossmanSet& set, double* numbers) {
    numbers[0] = static_cast<double>(iteration);
    numbers[at_count] = set.substeps;
    TangentSeries::fill_tangent(0, numbers + at_series);
    for (int i = 0; i < set.substeps; ++i) {
      double* substep = numbers + at_substeps + i * per_substep;
      substep[0] = set.weight[i];
      StageCoefficients<1>::fill({set.name, 1, 0, {{set.theta[i]}}, {1.0}}, substep + 1);
    }
  }
};

template <class T, class System, bool newton = true>
class VcgStep : public detail::WithFastStep<VcgStep<T, System, false>, newton && Separable<System>> {
  using Numbers = VcgNumbers;

 public:
  using State = StateOf<T, System>;
  static constexpr bool defers_failures = !newton;
  RB_HD VcgStep(const System& system, const SolverOptions<T>& options, const double* numbers)
      : core_(system, options, static_cast<StageIteration>(static_cast<int>(numbers[0])),
              TangentSeries(numbers + Numbers::at_series)),
        numbers_(numbers) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    StepReport<T> report{T(0.0), T(0.0), T(0.0)};
    [[maybe_unused]] double begin = 0.0;
    for (int i = 0; i < static_cast<int>(numbers_[Numbers::at_count]); ++i) {
      const double* substep = numbers_ + Numbers::at_substeps + i * Numbers::per_substep;
      report.add_substep(core_.after(T(begin) * h)(state, T(substep[0]) * h, StageCoefficients<1>(substep + 1)));
      begin += substep[0];
    }
    return report;
  }

 private:
  VariationalRungeKutta<T, System, 1, newton> core_;
  const double* numbers_;
};

RB_NAMESPACE_END
