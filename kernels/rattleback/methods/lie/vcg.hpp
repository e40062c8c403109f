#pragma once
// Variational Crouch-Grossman methods (G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group
// methods, section 4.2) that run one stage after the other. By the composition lemma of the paper the method with
// a_ij = b_j, j < i, a_ii = theta_i b_i, is the composition of one-stage methods with a = theta_i and steps b_i h.
// For one stage Crouch-Grossman methods equal Munthe-Kaas methods without correction (r = 0). Each substep thus has
// n unknowns.

#include "rattleback/methods/lie/vrkmk.hpp"

RB_NAMESPACE_BEGIN

/// The numbers of a step.
struct VcgNumbers {
  struct Substep {
    double weight;
    StageCoefficients<1> tableau;
  };
  double iteration, substeps;  ///< a StageIteration; how many substeps there are
  TangentSeries series;        ///< 1
  Substep substep[max_substeps]{};

  static constexpr VcgNumbers of(StageIteration iteration, const CrouchGrossmanSet& set) {
    VcgNumbers numbers{static_cast<double>(iteration), static_cast<double>(set.substeps), TangentSeries::of_tangent(0)};
    for (int i = 0; i < set.substeps; ++i)
      numbers.substep[i] = {set.weight[i], StageCoefficients<1>::of({set.name, 1, 0, {{set.theta[i]}}, {1.0}})};
    return numbers;
  }
};

template <class T, class System, bool newton = true>
class VcgStep : public detail::WithFastStep<VcgStep<T, System, false>, newton && Separable<System>> {
 public:
  using Numbers = VcgNumbers;
  using State = StateOf<T, System>;
  static constexpr bool defers_failures = !newton;
  RB_HD VcgStep(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : core_(system, options, static_cast<StageIteration>(static_cast<int>(numbers.iteration)), numbers.series),
        numbers_(numbers) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    StepReport<T> report{T(0.0), T(0.0), T(0.0)};
    [[maybe_unused]] double begin = 0.0;
    for (int i = 0; i < static_cast<int>(numbers_.substeps); ++i) {
      const Numbers::Substep& substep = numbers_.substep[i];
      report.add_substep(core_.after(T(begin) * h)(state, T(substep.weight) * h, substep.tableau));
      begin += substep.weight;
    }
    return report;
  }

 private:
  VariationalRungeKutta<T, System, 1, newton> core_;
  const Numbers& numbers_;
};

RB_NAMESPACE_END
