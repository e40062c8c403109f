#pragma once
// The nonholonomic leapfrog in the catalogue: options and texts.

#include "rattleback/methods/composition/entry.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr auto leapfrog_steps = composition_types("LeapfrogStep", "ComposedLeapfrogStep");
inline constexpr OptionInfo leapfrog_options[] = {
    composition_option<&CompositionSettings::composition, leapfrog_steps>("composition of steps to a higher order")};

inline constexpr MethodEntry nonholonomic_leapfrog{
    .name = "nonholonomic-leapfrog",
    .summary =
        "leapfrog with one force per step and a multiplier of its own in every step; constraint exact at the nodes, "
        "symmetric",
    .source =
        "R. McLachlan, M. Perlmutter, Integrators for nonholonomic mechanical systems, J. Nonlinear Sci. 16 (2006) "
        "283, "
        "eq. (4.18)",
    .order = "q, p: 2, with a composition the number in its name",
    .constraints = ConstraintKind::velocity,
    .takes = needs::affine_on_rn,
    .options = leapfrog_options,
    .carries_multiplier = false,
    .settle = by_settings<leapfrog_options, settle_composed<CompositionSettings>>,
    .order_of = by_settings<leapfrog_options, order_of_composed<CompositionSettings>>,
    .needs = "configuration space R^n, with a constraint affine in v",
    .driven = true,
    .symmetric = always_symmetric,
    .header = "rattleback/methods/nonholonomic/leapfrog.hpp",
    .step = "{composition}<T, System>"};

}  // namespace methods

RB_NAMESPACE_END
