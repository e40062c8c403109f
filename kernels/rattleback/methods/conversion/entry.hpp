#pragma once
// Explicit Runge-Kutta methods and the conversion in the catalogue: options, checks, texts.

#include <iterator>

#include <fmt/format.h>

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/methods/conversion/variational_conversion.hpp"
#include "rattleback/tableaus/named_explicit.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The options that choose the base method.
struct BaseSettings {
  int base = 3;  ///< index in explicit_tableaus; beyond them the tableau of a and b
  MatrixSetting a;
  std::vector<double> b;
};

/// The names of the base methods, in the order of explicit_tableaus, then "tableau" for the tableau of a study.
inline constexpr const char* explicit_bases[] = {"euler", "heun2",   "rk3",     "rk4",    "dp5",
                                                 "rk6",   "prince8", "prince9", "tableau"};
template <class Settings>
inline constexpr OptionInfo base_option =
    option<&Settings::base, Settings>({.name = "base",
                                       .text = "explicit Runge-Kutta method; `tableau` takes the one of `a` and `b`",
                                       .choices = explicit_bases});
template <class Settings>
inline constexpr OptionInfo base_a_option = option<&Settings::a, Settings>(
    {.name = "a", .text = "with base = \"tableau\", the rows of its matrix; entries on and above the diagonal are 0"});
template <class Settings>
inline constexpr OptionInfo base_b_option =
    option<&Settings::b, Settings>({.name = "b", .text = "with base = \"tableau\", its weights, one per stage"});

/// Finds the tableau of the options `base`, `a` and `b`. The result is the fault; empty where there is none.
inline std::string find_base(const BaseSettings& settings, ExplicitTableau& tableau) {
  const auto& [base, a, b] = settings;
  const auto choice = static_cast<std::size_t>(base);
  if (choice < std::size(explicit_tableaus)) {
    if (!a.numbers.empty() || !b.empty())
      return "method.a and method.b are for method.base = \"tableau\"; leave them out, or set the base";
    tableau = explicit_tableaus[choice];
    return "";
  }
  const std::size_t stages = b.size();
  if (stages < 1 || stages > max_explicit_stages)
    return fmt::format("method.b has no weights or more than {0} (one per stage); give 1 to {0}", max_explicit_stages);
  if (a.rows != static_cast<int>(stages) || a.numbers.size() != stages * stages)
    return "method.a is not a square matrix with as many rows as method.b has weights; give a = [[..], ..], zeros "
           "included";
  tableau = {explicit_bases[choice], static_cast<int>(stages), 0, {}, {}};
  for (std::size_t i = 0; i < stages; ++i) {
    tableau.b[i] = b[i];
    for (std::size_t j = 0; j < stages; ++j) tableau.a[i][j] = a.numbers[i * stages + j];
  }
  const char* fault = explicit_tableau_fault(tableau);
  return fault != nullptr ? fault : "";
}

/// The order of the base; 0 for the tableau of a study.
inline int order_of_base(const BaseSettings& settings) {
  const auto choice = static_cast<std::size_t>(settings.base);
  return choice < std::size(explicit_tableaus) ? explicit_tableaus[choice].order : 0;
}

/// The options of runge-kutta.
struct RungeKuttaSettings : BaseSettings {
  bool projection = true;
};

inline constexpr OptionInfo runge_kutta_options[] = {
    base_option<RungeKuttaSettings>, base_a_option<RungeKuttaSettings>, base_b_option<RungeKuttaSettings>,
    option<&RungeKuttaSettings::projection>(
        {.name = "projection",
         .text = "after every step, move q and v to the nearest (Euclidean) that satisfy the constraints"})};

inline Settlement settle_runge_kutta(const RungeKuttaSettings& settings, const SystemEntry&) {
  ExplicitTableau tableau;
  if (std::string fault = find_base(settings, tableau); !fault.empty()) return Settlement::refused(std::move(fault));
  return Settlement::of(RungeKuttaNumbers::of(tableau, settings.projection));
}

inline int order_of_runge_kutta(const RungeKuttaSettings& settings, const SystemEntry&) {
  return order_of_base(settings);
}

inline constexpr MethodEntry runge_kutta{
    .name = "runge-kutta",
    .summary =
        "explicit Runge-Kutta method on the index-reduced equations, with or without projection onto the constraints; "
        "keeps no structure: the base of variational-conversion, to compare it with",
    .source = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, section IV.4",
    .order = "that of the base",
    .constraints = ConstraintKind::holonomic | ConstraintKind::velocity | ConstraintKind::mixed | ConstraintKind::none,
    .takes = needs::lagrangian_on_rn,
    .options = runge_kutta_options,
    .carries_multiplier = true,
    .settle = by_settings<runge_kutta_options, settle_runge_kutta>,
    .order_of = by_settings<runge_kutta_options, order_of_runge_kutta>,
    .needs = "configuration space R^n",
    .driven = true,
    .header = "rattleback/methods/conversion/runge_kutta.hpp",
    .step = "RungeKutta<T, System>"};

/// The options of variational-conversion.
struct ConversionSettings : BaseSettings {
  std::vector<double> bias;
  ConversionState state = ConversionState::segment;
};

inline constexpr const char* conversion_states[] = {"segment", "node"};
inline constexpr double symmetric_bias[] = {-0.5, 0.5};
inline constexpr OptionInfo conversion_options[] = {
    base_option<ConversionSettings>, base_a_option<ConversionSettings>, base_b_option<ConversionSettings>,
    option<&ConversionSettings::bias>({.name = "bias",
                                       .text = "where the segment of a state begins and ends, in steps",
                                       .minimum = -1,
                                       .maximum = 1,
                                       .standard_numbers = symmetric_bias}),
    option<&ConversionSettings::state>(
        {.name = "state",
         .text = "what q and p are: of a segment, with p = dL/dv, or those of a node, in which the map is symplectic "
                 "and keeps momentum maps",
         .choices = conversion_states})};

inline Settlement settle_conversion(const ConversionSettings& settings, const SystemEntry&) {
  ExplicitTableau tableau;
  if (std::string fault = find_base(settings, tableau); !fault.empty()) return Settlement::refused(std::move(fault));
  const std::vector<double>& bias = settings.bias;
  const char* fault = bias.size() == 2 ? conversion_bias_fault(bias[0], bias[1]) : "the bias must be two numbers";
  if (fault != nullptr)
    return Settlement::refused(fmt::format("method.bias: {}; [-0.5, 0.5] is the symmetric one", fault));
  return Settlement::of(ConversionNumbers::of(tableau, bias[0], bias[1], settings.state));
}

/// The order of the base; with the symmetric bias an odd order rises to the next even order.
inline int order_of_conversion(const ConversionSettings& settings, const SystemEntry&) {
  const int order = order_of_base(settings);
  return settings.bias[0] == -settings.bias[1] ? order + order % 2 : order;
}
inline bool is_symmetric_conversion(const ConversionSettings& settings, const SystemEntry&) {
  return settings.bias[0] == -settings.bias[1];
}

inline constexpr MethodEntry variational_conversion{
    .name = "variational-conversion",
    .summary =
        "variational integrator from an explicit Runge-Kutta method; symplectic, of the order of the base, symmetric "
        "with the bias [-0.5, 0.5]",
    .source =
        "G. Patrick, C. Cuell, R. Spiteri, W. Zhang, On converting any one-step method to a variational integrator of "
        "the same order",
    .order = "that of the base; the next even one with the bias [-0.5, 0.5]",
    .constraints = ConstraintKind::holonomic | ConstraintKind::none,
    .takes = needs::lagrangian_on_rn,
    .options = conversion_options,
    .carries_multiplier = true,
    .settle = by_settings<conversion_options, settle_conversion>,
    .order_of = by_settings<conversion_options, order_of_conversion>,
    .needs = "configuration space R^n",
    .driven = true,
    .symmetric = by_settings<conversion_options, is_symmetric_conversion>,
    .header = "rattleback/methods/conversion/variational_conversion.hpp",
    .step = "VariationalConversion<T, System>"};

}  // namespace methods

RB_NAMESPACE_END
