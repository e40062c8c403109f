#pragma once
// The energy-momentum schemes in the catalogue: texts.

#include "rattleback/methods/energy_momentum/bobenko_suris.hpp"
#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/methods/ggl/entry.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr auto energy_momentum_source =
    "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
    "constrained mechanical systems, Nonlinear Dynamics 111 (2023), eq. (84)";

inline constexpr auto energy_momentum_needs = "configuration space R^n, and velocity(q, p) unless separable";

inline constexpr MethodEntry energy_momentum{
    .name = "energy-momentum",
    .summary =
        "GGL energy-momentum scheme: energy, momentum maps, and constraints on positions and momenta to "
        "round-off",
    .source = energy_momentum_source,
    .order = "q, p: 2; lambda: 2 at the middle of the step",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<2>,
    .needs = energy_momentum_needs,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true,
    .header = "rattleback/methods/energy_momentum/energy_momentum.hpp",
    .step = "EnergyMomentumStep<T, System, GglScheme::energy_momentum>"};

inline constexpr MethodEntry energy_momentum_index3{
    .name = "energy-momentum-index3",
    .summary = "energy-momentum scheme with the constraint on positions only",
    .source = "O. Gonzalez, Mechanical systems subject to holonomic constraints, Physica D 132 (1999) 165",
    .order = "q, p: 2; lambda: 2 at the middle of the step",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<2>,
    .needs = energy_momentum_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .predicts = true,
    .header = "rattleback/methods/energy_momentum/energy_momentum.hpp",
    .step = "EnergyMomentumStep<T, System, GglScheme::energy_momentum_index3>"};

inline constexpr MethodEntry classical_ggl{
    .name = "classical-ggl",
    .summary =
        "classical GGL stabilisation in the form of the energy-momentum scheme; a negative control that conserves "
        "nothing",
    .source = energy_momentum_source,
    .order = "q, p: 2",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<2>,
    .needs = energy_momentum_needs,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true,
    .header = "rattleback/methods/energy_momentum/energy_momentum.hpp",
    .step = "EnergyMomentumStep<T, System, GglScheme::classical>"};

inline constexpr MethodEntry bobenko_suris{
    .name = "bobenko-suris",
    .summary = "discrete Lagrange top, explicit and integrable",
    .source =
        "A. I. Bobenko, Y. B. Suris, Discrete time Lagrangian mechanics on Lie groups, with an application to the "
        "Lagrange top, Commun. Math. Phys. 204 (1999) 147",
    .order = "1",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = false,
    .order_of = constant_order<1>,
    .needs = "the directors and the parameters of a Lagrange top",
    .carried = [](const SystemEntry&) { return bobenko_suris_carried; },
    .header = "rattleback/methods/energy_momentum/bobenko_suris.hpp",
    .step = "BobenkoSuris<T, System>"};

}  // namespace methods

RB_NAMESPACE_END
