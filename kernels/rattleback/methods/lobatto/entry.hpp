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
inline constexpr OptionInfo lobatto_options[] = {
    option<&LobattoSettings::stages>(
        {.name = "stages", .text = "number of stages s", .minimum = 2, .maximum = 5, .compiled = true}),
    option<&LobattoSettings::retraction>(
        {.name = "retraction",
         .text = "map from the algebra to the group: Cayley transform or exponential; on R^n they are the same",
         .choices = lobatto_retractions,
         .compiled = true,
         .scope = OptionScope::groups_matter}),
    option<&LobattoSettings::normalise>({.name = "normalise",
                                         .text = "rotations are made orthogonal again after every step",
                                         .scope = OptionScope::groups_only})};

inline constexpr MethodEntry nonholonomic_lobatto{
    "nonholonomic-lobatto",
    "Lobatto IIIA-IIIB pair with the constraint on the IIIA momenta; constraint exact at the nodes, symmetric on R^n",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (14), (26), (27)",
    "q, p: 2s-2; lambda: s (s even), s-1 (s odd)",
    ConstraintKind::velocity,
    lobatto_options,
    true};

inline constexpr MethodEntry holonomic_lobatto{
    "holonomic-lobatto",
    "Lobatto IIIA-IIIB pair with holonomic constraints at positions and velocities; symplectic, symmetric on R^n (s = "
    "2 "
    "is RATTLE there)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (13), (26), (27)",
    "q, p: 2s-2; lambda: s-1",
    ConstraintKind::holonomic,
    lobatto_options,
    true};

inline constexpr MethodEntry lobatto{
    "lobatto",
    "unconstrained Lobatto IIIA-IIIB pair; symplectic, symmetric on R^n (s = 2 is velocity Verlet there)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (9), (26), (27)",
    "2s-2",
    ConstraintKind::none,
    lobatto_options,
    false};

}  // namespace methods

RB_NAMESPACE_END
