#pragma once
// Explicit Runge-Kutta methods and the conversion in the catalogue: options, checks, texts.

#include <cstdio>
#include <iterator>

#include "rattleback/catalogue/option.hpp"
#include "rattleback/methods/conversion/variational_conversion.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The names of the base methods, in the order of explicit_tableaus, then "tableau" for the tableau of a study.
inline constexpr const char* explicit_bases[] = {"euler", "heun2", "rk3", "rk4", "dp5", "rk6", "tableau"};
inline constexpr OptionInfo base_option{.name = "base",
                                        .kind = OptionKind::choice,
                                        .text = "explicit Runge-Kutta method; `tableau` takes the one of `a` and `b`",
                                        .standard = 3,
                                        .choices = explicit_bases};
inline constexpr OptionInfo base_a_option{
    .name = "a",
    .kind = OptionKind::matrix,
    .text = "with base = \"tableau\", the rows of its matrix; entries on and above the diagonal are 0"};
inline constexpr OptionInfo base_b_option{
    .name = "b", .kind = OptionKind::numbers, .text = "with base = \"tableau\", its weights, one per stage"};

/// Finds the tableau of the options `base`, `a` and `b`; returns false, with a message, if there is none.
inline bool settle_base(const OptionValue& base, const OptionValue& a, const OptionValue& b, ExplicitTableau& tableau,
                        char* message, int message_size) {
  const auto refuse = [&](const char* what) {
    std::snprintf(message, static_cast<std::size_t>(message_size), "%s", what);
    return false;
  };
  const auto choice = static_cast<std::size_t>(base.number);
  if (choice < std::size(explicit_tableaus)) {
    if (!a.numbers.empty() || !b.numbers.empty())
      return refuse("method.a and method.b are for method.base = \"tableau\"; leave them out, or set the base");
    tableau = explicit_tableaus[choice];
    return true;
  }
  const std::size_t stages = b.numbers.size();
  if (stages < 1 || stages > max_explicit_stages)
    return refuse("method.b has no weights or more than 12 (one per stage); give 1 to 12");
  if (a.rows != static_cast<int>(stages) || a.numbers.size() != stages * stages)
    return refuse(
        "method.a is not a square matrix with as many rows as method.b has weights; give a = [[..], ..], zeros "
        "included");
  tableau = {explicit_bases[choice], static_cast<int>(stages), 0, {}, {}};
  for (std::size_t i = 0; i < stages; ++i) {
    tableau.b[i] = b.numbers[i];
    for (std::size_t j = 0; j < stages; ++j) tableau.a[i][j] = a.numbers[i * stages + j];
  }
  if (const char* fault = explicit_tableau_fault(tableau)) return refuse(fault);
  return true;
}

/// The order of the base; 0 for the tableau of a study.
inline int order_of_base(std::span<const OptionValue> values) {
  const auto choice = static_cast<std::size_t>(values[0].number);
  return choice < std::size(explicit_tableaus) ? explicit_tableaus[choice].order : 0;
}

inline constexpr OptionInfo runge_kutta_options[] = {
    base_option,
    base_a_option,
    base_b_option,
    {.name = "projection",
     .kind = OptionKind::flag,
     .text = "after every step, move q and v to the nearest that satisfy the constraints",
     .standard = 1}};

inline Settled settle_runge_kutta(std::span<const OptionValue> values, const SystemEntry&, double* numbers,
                                  char* message, int message_size) {
  ExplicitTableau tableau;
  if (!settle_base(values[0], values[1], values[2], tableau, message, message_size)) return Settled::refused;
  fill_runge_kutta_numbers(tableau, values[3].number != 0.0, numbers);
  return Settled::good;
}

inline int order_of_runge_kutta(std::span<const OptionValue> values, const SystemEntry&) {
  return order_of_base(values);
}

inline constexpr MethodEntry runge_kutta{
    .name = "runge-kutta",
    .summary =
        "explicit Runge-Kutta method on the index-reduced equations, with or without projection onto the constraints; "
        "keeps no structure: the base of variational-conversion, to compare it with",
    .source = "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, section IV.4",
    .order = "that of the base",
    .constraints = ConstraintKind::holonomic | ConstraintKind::none,
    .options = runge_kutta_options,
    .carries_multiplier = true,
    .settle = settle_runge_kutta,
    .order_of = order_of_runge_kutta,
    .needs = "configuration space R^n"};

inline constexpr const char* conversion_states[] = {"segment", "node"};
inline constexpr double symmetric_bias[] = {-0.5, 0.5};
inline constexpr OptionInfo conversion_options[] = {
    base_option,
    base_a_option,
    base_b_option,
    {.name = "bias",
     .kind = OptionKind::numbers,
     .text = "where the segment of a state begins and ends, in steps",
     .minimum = -1,
     .maximum = 1,
     .standard_numbers = symmetric_bias},
    {.name = "state",
     .kind = OptionKind::choice,
     .text =
         "what q and p are: of a segment, with p = dL/dv, or those of a node, in which the map is symplectic and keeps "
         "momentum maps",
     .choices = conversion_states}};

inline Settled settle_conversion(std::span<const OptionValue> values, const SystemEntry&, double* numbers,
                                 char* message, int message_size) {
  ExplicitTableau tableau;
  if (!settle_base(values[0], values[1], values[2], tableau, message, message_size)) return Settled::refused;
  const std::span<const double> bias = values[3].numbers;
  const char* fault = bias.size() == 2 ? conversion_bias_fault(bias[0], bias[1]) : "the bias must be two numbers";
  if (fault != nullptr) {
    std::snprintf(message, static_cast<std::size_t>(message_size), "method.bias: %s; [-0.5, 0.5] is the symmetric one",
                  fault);
    return Settled::refused;
  }
  fill_conversion_numbers(tableau, bias[0], bias[1],
                          values[4].number != 0.0 ? ConversionState::node : ConversionState::segment, numbers);
  return Settled::good;
}

/// The order of the base; with the symmetric bias an odd order rises to the next even order.
inline int order_of_conversion(std::span<const OptionValue> values, const SystemEntry&) {
  const int order = order_of_base(values);
  const std::span<const double> bias = values[3].numbers;
  return bias[0] == -bias[1] ? order + order % 2 : order;
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
    .options = conversion_options,
    .carries_multiplier = true,
    .settle = settle_conversion,
    .order_of = order_of_conversion,
    .needs = "configuration space R^n"};

}  // namespace methods

RB_NAMESPACE_END
