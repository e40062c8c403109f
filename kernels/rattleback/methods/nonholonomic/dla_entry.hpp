#pragma once
// The discrete Lagrange-d'Alembert integrators in the catalogue: options and texts.

#include "rattleback/catalogue/common_options.hpp"
#include "rattleback/methods/composition/entry.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The options of the discrete Lagrange-d'Alembert integrators.
struct DlaSettings {
  enum class Lagrangian { midpoint, verlet } lagrangian = Lagrangian::midpoint;
  enum class Constraint { mid, trap } constraint = Constraint::mid;
  int composition = 0;  ///< index in `compositions`
  Retraction retraction = Retraction::cay;
};

inline constexpr const char* dla_lagrangians[] = {"midpoint", "verlet"};
inline constexpr const char* dla_lagrangian_types[] = {"DlaLagrangian::midpoint", "DlaLagrangian::verlet"};
inline constexpr const char* dla_constraints[] = {"mid", "trap"};
inline constexpr const char* dla_constraint_types[] = {"DlaConstraint::mid", "DlaConstraint::trap"};
inline constexpr auto dla_steps = composition_types("DlaStep", "ComposedDlaStep");

inline constexpr OptionInfo dla_options[] = {
    option<&DlaSettings::lagrangian>(
        {.name = "lagrangian",
         .text = "discrete Lagrangian: h L at the middle of the step, or the mean at its two ends, which is explicit "
                 "up to the multiplier where M is constant",
         .choices = dla_lagrangians,
         .types = dla_lagrangian_types,
         .compiled = true,
         .scope = OptionScope::rn_only}),
    option<&DlaSettings::constraint>(
        {.name = "constraint",
         .text = "discrete constraint on (q' - q)/h: with the forms at the middle of the step, or the mean of those at "
                 "its two ends",
         .choices = dla_constraints,
         .types = dla_constraint_types,
         .compiled = true,
         .scope = OptionScope::rn_only}),
    composition_option<&DlaSettings::composition, dla_steps>("composition of steps to a higher order"),
    retraction_option<&DlaSettings::retraction>()};

inline constexpr MethodEntry nonholonomic_dla{
    .name = "nonholonomic-dla",
    .summary =
        "discrete Lagrange-d'Alembert integrator (nonholonomic RATTLE); constraint exact at the nodes, symmetric, new "
        "multipliers in every step",
    .source = "J. Cortes, S. Martinez, Non-holonomic integrators, Nonlinearity 14 (2001) 1365",
    .order = "q, p: 2, with a composition the number in its name",
    .constraints = ConstraintKind::velocity,
    .takes = needs::affine,
    .options = dla_options,
    .carries_multiplier = false,
    .settle = by_settings<dla_options, settle_composed<DlaSettings>>,
    .order_of = by_settings<dla_options, order_of_composed<DlaSettings>>,
    .needs = "a Lagrangian, with a constraint affine in v",
    .driven = true,
    .symmetric = always_symmetric,
    .header = "rattleback/methods/nonholonomic/dla.hpp",
    .step = "{composition}<T, System, {lagrangian}, {constraint}, {retraction}>"};

}  // namespace methods

RB_NAMESPACE_END
