#pragma once
// The Lobatto pairs in the catalogue: options and texts.

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The options of the Lobatto methods.
struct LobattoSettings {
  int stages = 2;
  enum class Retraction { cay, exp } retraction = Retraction::cay;
  bool normalise = false;
};

inline constexpr const char* lobatto_retractions[] = {"cay", "exp"};
inline constexpr const char* lobatto_retraction_types[] = {"Cay", "Exp"};
inline constexpr auto lobatto_step = "LobattoStep<T, System, {retraction}, {stages}>";
inline constexpr OptionInfo lobatto_options[] = {
    option<&LobattoSettings::stages>(
        {.name = "stages", .text = "number of stages s", .minimum = 2, .maximum = 8, .compiled = true}),
    option<&LobattoSettings::retraction>(
        {.name = "retraction",
         .text = "map from the algebra to the group: Cayley transform or exponential; on R^n they are the same",
         .choices = lobatto_retractions,
         .types = lobatto_retraction_types,
         .compiled = true,
         .scope = OptionScope::groups_matter}),
    option<&LobattoSettings::normalise>({.name = "normalise",
                                         .text = "rotations are made orthogonal again after every step",
                                         .scope = OptionScope::groups_only})};

inline constexpr MethodEntry nonholonomic_lobatto{
    .name = "nonholonomic-lobatto",
    .summary = "Lobatto IIIA-IIIB pair with the constraint on the IIIA momenta; constraint exact at the nodes, symmetric on R^n",
    .source = "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (14), (26), (27)",
    .order = "q, p: 2s-2; lambda: s (s even), s-1 (s odd)",
    .constraints = ConstraintKind::velocity,
    .options = lobatto_options,
    .carries_multiplier = true,
    .header = "rattleback/methods/lobatto/lobatto.hpp",
    .step = lobatto_step};

inline constexpr MethodEntry holonomic_lobatto{
    .name = "holonomic-lobatto",
    .summary = "Lobatto IIIA-IIIB pair with holonomic constraints at positions and velocities; symplectic, symmetric on R^n (s = "
    "2 is RATTLE there)",
    .source = "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (13), (26), (27)",
    .order = "q, p: 2s-2; lambda: s-1",
    .constraints = ConstraintKind::holonomic,
    .options = lobatto_options,
    .carries_multiplier = true,
    .header = "rattleback/methods/lobatto/lobatto.hpp",
    .step = lobatto_step};

inline constexpr MethodEntry lobatto{
    .name = "lobatto",
    .summary = "unconstrained Lobatto IIIA-IIIB pair; symplectic, symmetric on R^n (s = 2 is velocity Verlet there)",
    .source = "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (9), (26), (27)",
    .order = "2s-2",
    .constraints = ConstraintKind::none,
    .options = lobatto_options,
    .carries_multiplier = false,
    .header = "rattleback/methods/lobatto/lobatto.hpp",
    .step = lobatto_step};

}  // namespace methods

RB_NAMESPACE_END
