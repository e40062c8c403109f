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

/// The options of vcg.
struct VcgSettings {
  int tableau = 0;  ///< index in vcg_sets
  StageIteration iteration = StageIteration::sweeps;
  std::vector<double> weights, theta;
};

inline constexpr OptionInfo vcg_options[] = {
    option<&VcgSettings::tableau>(
        {.name = "tableau", .text = "coefficients; \"given\" takes weights and theta", .choices = vcg_sets}),
    variational_iteration<VcgSettings>,
    option<&VcgSettings::weights>({.name = "weights", .text = "parts of the step that the given substeps take"}),
    option<&VcgSettings::theta>({.name = "theta", .text = "a of each given substep; 1/2 is the midpoint method"})};

inline Settlement settle_vcg(const VcgSettings& settings, const SystemEntry&) {
  const auto& [choice, iteration, weights, theta] = settings;
  CrouchGrossmanSet set{"given", static_cast<int>(weights.size()), 0, {}, {}};
  if (choice + 1 < static_cast<int>(vcg_sets.size())) {
    set = crouch_grossman_sets[choice];
    if (!weights.empty() || !theta.empty())
      return Settlement::refused(fmt::format(
          "method.weights and method.theta are given (the tableau is \"{}\"); set tableau = \"given\"", set.name));
  } else {
    if (weights.empty() || weights.size() > max_substeps || theta.size() != weights.size())
      return Settlement::refused(
          fmt::format("method.weights and method.theta have {} and {} numbers (1 to {} are needed, as many of both)",
                      weights.size(), theta.size(), max_substeps));
    double sum = -1.0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      set.weight[i] = weights[i];
      set.theta[i] = theta[i];
      sum += weights[i];
    }
    if (!(sum <= 1e-12 && sum >= -1e-12))
      return Settlement::refused(
          fmt::format("method.weights sum to {:.15g} (a consistent method needs 1); scale them", sum + 1.0));
  }
  return Settlement::of(VcgNumbers::of(iteration, set));
}

/// The order of the coefficient set; 0 for given coefficients.
inline int order_of_vcg(const VcgSettings& settings, const SystemEntry&) {
  const auto choice = static_cast<std::size_t>(settings.tableau);
  return choice < std::size(crouch_grossman_sets) ? crouch_grossman_sets[choice].order : 0;
}

/// Whether the substeps are midpoint rules whose parts of the step read the same backwards.
inline bool is_symmetric_vcg(const VcgSettings& settings, const SystemEntry&) {
  const auto choice = static_cast<std::size_t>(settings.tableau);
  const bool named = choice < std::size(crouch_grossman_sets);
  const std::size_t count =
      named ? static_cast<std::size_t>(crouch_grossman_sets[choice].substeps) : settings.weights.size();
  const double* weight = named ? crouch_grossman_sets[choice].weight : settings.weights.data();
  const double* theta = named ? crouch_grossman_sets[choice].theta : settings.theta.data();
  for (std::size_t i = 0; i < count; ++i)
    if (theta[i] != 0.5 || weight[i] != weight[count - 1 - i]) return false;
  return true;
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
    .settle = by_settings<vcg_options, settle_vcg>,
    .order_of = by_settings<vcg_options, order_of_vcg>,
    .driven = true,
    .in_space = true,
    .symmetric = by_settings<vcg_options, is_symmetric_vcg>,
    .header = "rattleback/methods/lie/vcg.hpp",
    .step = "VcgStep<T, System>"};

}  // namespace methods

RB_NAMESPACE_END
