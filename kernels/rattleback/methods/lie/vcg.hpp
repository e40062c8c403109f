#pragma once
// Variational Crouch-Grossman methods (G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group
// methods, section 4.2) whose stages are executed one after the other. By the composition lemma of the paper the method
// with a_ij = b_j, j < i, a_ii = theta_i b_i, is the composition of one-stage methods with a = theta_i and steps b_i h,
// for which Crouch-Grossman and Munthe-Kaas methods without correction (r = 0) are the same: so n unknowns at a time.

#include "rattleback/methods/lie/vrkmk.hpp"

RB_NAMESPACE_BEGIN

/// The numbers of a step: its iteration, how many substeps, the series 1, and of each substep the weight and the
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
class VcgStep : public detail::WithTrying<VcgStep<T, System, false>, newton && Separable<System>> {
  using Numbers = VcgNumbers;

 public:
  using State = StateOf<T, System>;
  static constexpr bool hands_over = !newton;
  RB_HD VcgStep(const System& system, const SolverOptions<T>& options, const double* numbers)
      : core_(system, options, static_cast<StageIteration>(static_cast<int>(numbers[0])),
              TangentSeries(numbers + Numbers::at_series)),
        numbers_(numbers) {}

  /// Iterations are those of all substeps; the status is that of the first that fails.
  RB_HD StepReport<T> operator()(State& state, T h) const {
    StepReport<T> report{T(0.0), T(0.0), T(0.0)};
    for (int i = 0; i < static_cast<int>(numbers_[Numbers::at_count]); ++i) {
      const double* substep = numbers_ + Numbers::at_substeps + i * Numbers::per_substep;
      const StepReport<T> part = core_(state, T(substep[0]) * h, StageCoefficients<1>(substep + 1));
      report.status = select(report.status == T(0.0), part.status, report.status);
      report.iterations = report.iterations + part.iterations;
      report.residual = max(report.residual, part.residual);
    }
    return report;
  }

 private:
  VariationalRungeKutta<T, System, 1, newton> core_;
  const double* numbers_;
};

namespace methods {

/// The names of the sets, in their order, then that of the one from a study.
inline constexpr auto vcg_sets = [] {
  std::array<const char*, std::size(crouch_grossman_sets) + 1> names{};
  for (std::size_t i = 0; i + 1 < names.size(); ++i) names[i] = crouch_grossman_sets[i].name;
  names.back() = "given";
  return names;
}();

inline constexpr OptionInfo vcg_options[] = {
    {.name = "tableau",
     .kind = OptionKind::choice,
     .text = "coefficients; \"given\" takes weights and theta",
     .choices = vcg_sets},
    variational_iteration,
    {.name = "weights", .kind = OptionKind::numbers, .text = "parts of the step that the given substeps take"},
    {.name = "theta", .kind = OptionKind::numbers, .text = "a of each given substep; 1/2 is the midpoint method"}};

inline Settled settle_vcg(std::span<const OptionValue> values, const SystemEntry&, double* numbers, char* message,
                          int message_size) {
  const auto size = static_cast<std::size_t>(message_size);
  const auto choice = static_cast<std::size_t>(values[0].number);
  const std::span<const double> weights = values[2].numbers, theta = values[3].numbers;
  CrouchGrossmanSet set{"given", static_cast<int>(weights.size()), 0, {}, {}};
  if (choice + 1 < vcg_sets.size()) {
    set = crouch_grossman_sets[choice];
    if (!weights.empty() || !theta.empty()) {
      std::snprintf(message, size,
                    "method.weights and method.theta are given (the tableau is \"%s\"); set tableau = \"given\"",
                    set.name);
      return Settled::refused;
    }
  } else {
    if (weights.empty() || weights.size() > max_substeps || theta.size() != weights.size()) {
      std::snprintf(message, size,
                    "method.weights and method.theta have %d and %d numbers (1 to %d are needed, as many of both)",
                    int(weights.size()), int(theta.size()), max_substeps);
      return Settled::refused;
    }
    double sum = -1.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      set.weight[i] = weights[i];
      set.theta[i] = theta[i];
      sum += weights[i];
    }
    if (!(sum <= 1e-12 && sum >= -1e-12)) {
      std::snprintf(message, size, "method.weights sum to %.15g (a consistent method needs 1); scale them", sum + 1.0);
      return Settled::refused;
    }
  }
  VcgNumbers::fill(static_cast<StageIteration>(static_cast<int>(values[1].number)), set, numbers);
  return Settled::good;
}

/// 0 for coefficients of one's own.
inline int order_of_vcg(std::span<const OptionValue> values, const SystemEntry&) {
  const auto choice = static_cast<std::size_t>(values[0].number);
  return choice < std::size(crouch_grossman_sets) ? crouch_grossman_sets[choice].order : 0;
}

inline constexpr MethodEntry vcg{
    .name = "vcg",
    .summary =
        "variational Crouch-Grossman method, run as a composition of one-stage methods; symplectic, keeps momentum "
        "maps",
    .source = "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, section 4.2",
    .order = "midpoint 2, ruth3 3, triple-jump4 4, yoshida6 6",
    .constraints = ConstraintKind::none,
    .options = vcg_options,
    .carries_multiplier = false,
    .settle = settle_vcg,
    .order_of = order_of_vcg,
    .in_space = true};

}  // namespace methods

RB_NAMESPACE_END
