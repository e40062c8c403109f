#pragma once
// The energy-momentum schemes in the catalogue: options and texts.

#include "rattleback/methods/composition/entry.hpp"
#include "rattleback/methods/energy_momentum/bobenko_suris.hpp"
#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/methods/ggl/entry.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr auto energy_momentum_source =
    "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
    "constrained mechanical systems, Nonlinear Dynamics 111 (2023), eq. (84)";

inline constexpr auto energy_momentum_steps = composition_types("EnergyMomentumStep", "ComposedEnergyMomentumStep");
inline constexpr OptionInfo energy_momentum_options[] = {
    composition_option<&CompositionSettings::composition, energy_momentum_steps>(
        "composition of steps to a higher order")};
/// Without the constraint on velocities a step is not close to the identity: it turns the part of p across the constraint around. So
/// the compositions of order 6 and 8 lose two orders of q (measured), and that of order 4 alone is offered.
inline constexpr OptionInfo energy_momentum_index3_options[] = {
    composition_option<&CompositionSettings::composition, energy_momentum_steps>("composition of steps to order 4 of q",
                                                                                 2)};

/// What the entries of the schemes have in common.
constexpr MethodEntry energy_momentum_entry(const char* name, const char* summary, const char* source,
                                            const char* order, const char* step) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .order = order,
          .constraints = ConstraintKind::holonomic,
          .takes = [](const SystemForm& f) { return needs::lagrangian_on_rn(f) && f.explicit_velocity; },
          .options = energy_momentum_options,
          .carries_multiplier = true,
          .settle = by_settings<energy_momentum_options, settle_composed<CompositionSettings>>,
          .order_of = by_settings<energy_momentum_options, order_of_composed<CompositionSettings>>,
          .needs = "configuration space R^n, and velocity(q, p) unless separable",
          .driven = true,
          .difference_quotients = true,
          .step_velocity = true,
          .step_multiplier = true,
          .symmetric = always_symmetric,
          .predicts = true,
          .header = "rattleback/methods/energy_momentum/energy_momentum.hpp",
          .step = step};
}

inline constexpr MethodEntry energy_momentum = energy_momentum_entry(
    "energy-momentum",
    "GGL energy-momentum scheme: energy, momentum maps, and constraints on positions and momenta to round-off",
    energy_momentum_source,
    "q, p: 2; lambda: 2 at the middle of the step; with a composition q, p: the number in its name",
    "{composition}<T, System, GglScheme::energy_momentum>");
inline constexpr MethodEntry energy_momentum_index3 = [] {
  MethodEntry entry = energy_momentum_entry(
      "energy-momentum-index3", "energy-momentum scheme with the constraint on positions only",
      "O. Gonzalez, Mechanical systems subject to holonomic constraints, Physica D 132 (1999) 165",
      "q, p: 2; lambda: 2 at the middle of the step; with suzuki4 q: 4, p: 2",
      "{composition}<T, System, GglScheme::energy_momentum_index3>");
  entry.options = energy_momentum_index3_options;
  entry.settle = by_settings<energy_momentum_index3_options, settle_composed<CompositionSettings>>;
  entry.order_of = by_settings<energy_momentum_index3_options, order_of_composed<CompositionSettings>>;
  entry.exact_hidden_constraint = false;
  entry.step_multiplier = false;
  return entry;
}();
inline constexpr MethodEntry classical_ggl = energy_momentum_entry(
    "classical-ggl",
    "classical GGL stabilisation in the form of the energy-momentum scheme; a negative control that conserves nothing",
    energy_momentum_source, "q, p: 2, with a composition the number in its name",
    "{composition}<T, System, GglScheme::classical>");

inline constexpr MethodEntry bobenko_suris{
    .name = "bobenko-suris",
    .summary = "discrete Lagrange top, explicit and integrable",
    .source =
        "A. I. Bobenko, Y. B. Suris, Discrete time Lagrangian mechanics on Lie groups, with an application to the "
        "Lagrange top, Commun. Math. Phys. 204 (1999) 147",
    .order = "1",
    .constraints = ConstraintKind::holonomic,
    .takes = [](const SystemForm& f) { return f.lagrange_top; },
    .options = {},
    .carries_multiplier = false,
    .order_of = constant_order<1>,
    .needs = "the directors and the parameters of a Lagrange top",
    .carried = [](const SystemEntry&) { return bobenko_suris_carried; },
    .header = "rattleback/methods/energy_momentum/bobenko_suris.hpp",
    .step = "BobenkoSuris<T, System>"};

}  // namespace methods

RB_NAMESPACE_END
