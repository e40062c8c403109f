#pragma once
// The methods vrkmk and vrkmk-pade in the catalogue: options, checks, texts.

#include <fmt/format.h>

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/methods/lie/vrkmk.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr const char* variational_iterations[] = {"newton", "chord", "fixed-point", "sweeps"};
/// The option `iteration` of settings with that member.
template <class Settings>
inline constexpr OptionInfo variational_iteration = option<&Settings::iteration>(
    {.name = "iteration",
     .text = "for the stage equations: Newton's method, with one Jacobian (chord) or with the mass matrix "
             "(fixed-point), or sweeps of second order in h, then Newton's method",
     .choices = variational_iterations});

/// The names of the tableaus: the Gauss method of `stages` stages, the named tableaus in their order, and the tableau
/// of a study.
inline constexpr auto vrkmk_tableaus = [] {
  std::array<const char*, std::size(runge_kutta_tableaus) + 2> names{"gauss"};
  for (std::size_t i = 0; i + 2 < names.size(); ++i) names[i + 1] = runge_kutta_tableaus[i].name;
  names.back() = "given";
  return names;
}();

/// The options of vrkmk and vrkmk-pade.
struct VrkmkSettings {
  int stages = 2;
  int tableau = 0;  ///< index in vrkmk_tableaus
  int cutoff = -1;
  StageIteration iteration = StageIteration::sweeps;
  MatrixSetting a;
  std::vector<double> b;

  [[nodiscard]] bool by_stages() const { return tableau == 0; }
  [[nodiscard]] bool given() const { return tableau + 1 == static_cast<int>(vrkmk_tableaus.size()); }
  [[nodiscard]] const char* name() const { return vrkmk_tableaus[static_cast<std::size_t>(tableau)]; }
  [[nodiscard]] const RungeKuttaTableau& named() const { return runge_kutta_tableaus[tableau - 1]; }
};

inline constexpr int max_vrkmk_stages = 4;
inline constexpr OptionInfo vrkmk_options[] = {
    option<&VrkmkSettings::stages>({.name = "stages",
                                    .text = "number of stages; that of the tableau where one is named or given",
                                    .minimum = 1,
                                    .maximum = max_vrkmk_stages,
                                    .compiled = true}),
    option<&VrkmkSettings::tableau>(
        {.name = "tableau",
         .text = "Runge-Kutta method; `gauss` is that of `stages` stages, `given` takes the one of `a` and `b`",
         .choices = vrkmk_tableaus}),
    option<&VrkmkSettings::cutoff>(
        {.name = "cutoff",
         .text =
             "largest power r of ad in the truncated series; -1 is the smallest that keeps the order of the tableau",
         .minimum = -1,
         .maximum = TangentSeries::largest_cutoff}),
    variational_iteration<VrkmkSettings>,
    option<&VrkmkSettings::a>({.name = "a", .text = "with tableau = \"given\", the rows of its matrix"}),
    option<&VrkmkSettings::b>({.name = "b", .text = "with tableau = \"given\", its weights, one per stage"})};

inline int stages_of_vrkmk(const VrkmkSettings& settings) {
  if (settings.by_stages()) return settings.stages;
  if (!settings.given()) return settings.named().stages;
  return std::clamp(static_cast<int>(settings.b.size()), 1, max_vrkmk_stages);  // settling refuses other counts
}

/// Finds the tableau of a method. The result is the fault; empty where there is none.
inline std::string find_vrkmk_tableau(const VrkmkSettings& settings, RungeKuttaTableau& tableau) {
  const auto& [stages, choice, cutoff, iteration, a, b] = settings;
  if (!settings.given()) {
    if (!a.numbers.empty() || !b.empty())
      return fmt::format("method.a and method.b are given (the tableau is \"{}\"); set tableau = \"given\"",
                         settings.name());
    tableau = settings.by_stages() ? gauss_tableau(stages) : settings.named();
    if (tableau.stages == stages) return "";
    return fmt::format("method.stages = {} (the tableau \"{}\" has {} stages); leave stages out", stages, tableau.name,
                       tableau.stages);
  }
  const std::size_t count = b.size();
  if (count < 1 || count > max_vrkmk_stages)
    return fmt::format("method.b has {} weights (one per stage); give 1 to {}", count, max_vrkmk_stages);
  if (count != static_cast<std::size_t>(stages))
    return fmt::format("method.stages = {} (method.b has {} weights, one per stage); leave stages out", stages, count);
  if (a.rows != stages || a.numbers.size() != count * count)
    return fmt::format(
        "method.a is not a square matrix with as many rows as method.b has weights, {}; give a = [[..], ..], zeros "
        "included",
        stages);
  tableau = {"given", stages, 0, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    tableau.b[i] = b[i];
    for (std::size_t j = 0; j < count; ++j) tableau.a[i][j] = a.numbers[i * count + j];
  }
  if (const char* fault = variational_tableau_fault(tableau))
    return fmt::format("method.b: {}; change the tableau", fault);
  tableau.order = symplectic_pair_order(tableau);
  return "";
}

/// The order that a cutoff allows. The terms of odd order above 1 vanish in the series of dexp^-1.
constexpr int order_of_cutoff(int cutoff, bool pade) {
  return 2 + (!pade && cutoff > 0 && cutoff % 2 == 0 ? cutoff + 1 : cutoff);
}
/// The smallest cutoff that allows an order.
constexpr int cutoff_for(int order, bool pade) {
  int cutoff = 0;
  while (order_of_cutoff(cutoff, pade) < order) ++cutoff;
  return cutoff;
}

template <bool pade>
Settlement settle_vrkmk(const VrkmkSettings& settings, const SystemEntry& system) {
  RungeKuttaTableau tableau;
  if (std::string fault = find_vrkmk_tableau(settings, tableau); !fault.empty())
    return Settlement::refused(std::move(fault));
  const int needed = cutoff_for(tableau.order, pade);
  // For a given tableau the known order is at most 4; the true order may be higher.
  const bool may_be_more = settings.given() && tableau.order == 4;
  const int cutoff = settings.cutoff >= 0 ? settings.cutoff
                     : may_be_more        ? cutoff_for(2 * settings.stages, pade)
                                          : needed;
  const auto of = [&]<int stages>() {
    return Settlement::of(VrkmkNumbers<stages>::of(settings.iteration, tableau, cutoff, pade));
  };
  Settlement settlement = settings.stages == 1   ? of.template operator()<1>()
                          : settings.stages == 2 ? of.template operator()<2>()
                          : settings.stages == 3 ? of.template operator()<3>()
                                                 : of.template operator()<4>();
  if (cutoff >= needed || !system.on_group) return settlement;
  settlement.verdict = Settled::doubtful;
  settlement.message =
      fmt::format("method.cutoff = {} lowers the order of the tableau \"{}\" from {} to {}; {} keeps it", cutoff,
                  tableau.name, tableau.order, order_of_cutoff(cutoff, pade), needed);
  return settlement;
}

template <bool pade>
int order_of_vrkmk(const VrkmkSettings& settings, const SystemEntry& system) {
  RungeKuttaTableau tableau;
  if (!find_vrkmk_tableau(settings, tableau).empty()) return 0;
  if (settings.cutoff < 0 || !system.on_group) return tableau.order;
  return std::min(order_of_cutoff(settings.cutoff, pade), tableau.order);
}

/// Whether the tableau reads the same backwards. On a group this is enough for the implicit midpoint and the trapezoidal rule alone, without
/// terms of the series.
inline bool is_symmetric_vrkmk(const VrkmkSettings& settings, const SystemEntry& system) {
  RungeKuttaTableau tableau;
  if (!find_vrkmk_tableau(settings, tableau).empty()) return false;
  const int s = tableau.stages;
  const auto near = [](double x, double y) { return x - y < 1e-14 && y - x < 1e-14; };
  for (int i = 0; i < s; ++i)
    for (int j = 0; j < s; ++j)
      if (!near(tableau.b[j], tableau.b[s - 1 - j]) ||
          !near(tableau.a[i][j] + tableau.a[s - 1 - i][s - 1 - j], tableau.b[j]))
        return false;
  return !system.on_group || (!settings.given() && tableau.order == 2 && settings.cutoff <= 0);
}

/// What the entries have in common.
template <bool pade>
constexpr MethodEntry vrkmk_entry(const char* name, const char* summary, const char* source, const char* order) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .order = order,
          .constraints = ConstraintKind::none,
          .options = vrkmk_options,
          .carries_multiplier = false,
          .settle = by_settings<vrkmk_options, settle_vrkmk<pade>>,
          .order_of = by_settings<vrkmk_options, order_of_vrkmk<pade>>,
          .stages_of = by_settings<vrkmk_options, stages_of_vrkmk>,
          .driven = true,
          .in_space = true,
          .symmetric = by_settings<vrkmk_options, is_symmetric_vrkmk>,
          .header = "rattleback/methods/lie/vrkmk.hpp",
          .step = "VrkmkStep<T, System, {stages}>"};
}

inline constexpr MethodEntry vrkmk = vrkmk_entry<false>(
    "vrkmk", "variational Runge-Kutta-Munthe-Kaas method; symplectic, keeps momentum maps",
    "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, sections 3, 4.1",
    "that of the tableau's symplectic pair, at most cutoff + 2 (+ 3 for even cutoff > 0)");
inline constexpr MethodEntry vrkmk_pade = vrkmk_entry<true>(
    "vrkmk-pade", "variational Runge-Kutta-Munthe-Kaas method with the series of dexp; symplectic, keeps momentum maps",
    "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, section 4.1.1",
    "that of the tableau's symplectic pair, at most cutoff + 2");

}  // namespace methods

RB_NAMESPACE_END
