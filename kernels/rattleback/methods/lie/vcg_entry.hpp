#pragma once
// The method vcg in the catalogue: options, checks, texts.

#include "rattleback/methods/lie/vcg.hpp"
#include "rattleback/methods/lie/vrkmk_entry.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The names of the coefficient sets, in their order, then "given" for the coefficients of a study.
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

/// The order of the coefficient set; 0 for given coefficients.
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
