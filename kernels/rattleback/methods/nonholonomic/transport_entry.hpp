#pragma once
// The method nonholonomic-energy in the catalogue: options and texts.

#include "rattleback/methods/composition/entry.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr auto transport_steps = composition_types("TransportStep", "ComposedTransportStep");
inline constexpr OptionInfo nonholonomic_energy_options[] = {
    composition_option<&CompositionSettings::composition, transport_steps>(
        "composition of the step to a higher order; it keeps the energy")};

inline constexpr MethodEntry nonholonomic_energy{
    .name = "nonholonomic-energy",
    .summary = "turns momenta from one constraint to the next; energy and constraint to round-off, symmetric",
    .source =
        "E. Celledoni, M. Farre Puiggali, E. H. Hoiseth, D. Martin de Diego, Energy-preserving integrators applied to "
        "nonholonomic systems, J. Nonlinear Sci. 29 (2019) 1523 (the class of schemes)",
    .order = "q, p: 2, with a composition the first number in its name",
    .constraints = ConstraintKind::velocity,
    .takes = [](const SystemForm& f) { return f.condensable() && !f.offset; },
    .options = nonholonomic_energy_options,
    .carries_multiplier = false,
    .settle = by_settings<nonholonomic_energy_options, settle_composed<CompositionSettings>>,
    .order_of = by_settings<nonholonomic_energy_options, order_of_composed<CompositionSettings>>,
    .needs =
        "a Lagrangian v.Mv/2 - U(q) on R^n with a constant M, and constraints A(q) v = 0: where M depends on q its "
        "turns keep no energy, and with A(q) v + d(q) = 0 the energy is no invariant",
    .difference_quotients = true,
    .symmetric = always_symmetric,
    .header = "rattleback/methods/nonholonomic/transport.hpp",
    .step = "{composition}<T, System>"};

}  // namespace methods

RB_NAMESPACE_END
