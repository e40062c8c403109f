#pragma once
// The Lobatto pairs in the catalogue: options and texts.

#include <fmt/format.h>

#include "rattleback/catalogue/common_options.hpp"
#include "rattleback/methods/composition/entry.hpp"
#include "rattleback/methods/lobatto/normalising.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The options of the Lobatto methods.
struct LobattoSettings {
  int stages = 2;
  Retraction retraction = Retraction::cay;
  int composition = 0;  ///< index in `compositions`
  enum class Multiplier { carried, recomputed } multiplier = Multiplier::carried;
  bool normalise = false;
};

inline constexpr auto lobatto_steps = composition_types("LobattoStep", "ComposedLobattoStep", "SplitLobattoStep");

inline constexpr OptionInfo lobatto_stages = stages_option<&LobattoSettings::stages>();
inline constexpr OptionInfo lobatto_retraction = retraction_option<&LobattoSettings::retraction>();
inline constexpr OptionInfo lobatto_normalise =
    option<&LobattoSettings::normalise>({.name = "normalise",
                                         .text = "rotations are made orthogonal again after every step",
                                         .scope = OptionScope::groups_only});
inline constexpr const char* lobatto_multipliers[] = {"carried", "recomputed"};
inline constexpr const char* lobatto_multiplier_steps[] = {"LobattoStep", "RecomputedLobattoStep"};
inline constexpr OptionInfo lobatto_multiplier =
    option<&LobattoSettings::multiplier>({.name = "multiplier",
                                          .text = "multiplier with which a step begins: that of the step before, or "
                                                  "recomputed from the continuous equations, for "
                                                  "motions that contract; the step is then not symmetric",
                                          .choices = lobatto_multipliers,
                                          .types = lobatto_multiplier_steps,
                                          .compiled = true,
                                          .unnamed = true});
inline constexpr OptionInfo nonholonomic_lobatto_options[] = {lobatto_stages, lobatto_retraction, lobatto_multiplier,
                                                              lobatto_normalise};
inline constexpr OptionInfo holonomic_lobatto_options[] = {
    lobatto_stages, lobatto_retraction,
    composition_option<&LobattoSettings::composition, lobatto_steps>(
        "composition of steps of two stages to a higher order, on R^n", of_any_step),
    lobatto_normalise};
inline constexpr OptionInfo lobatto_options[] = {
    lobatto_stages, lobatto_retraction,
    composition_option<&LobattoSettings::composition, lobatto_steps>(
        "composition of steps of two stages to a higher order, on R^n; those of Blanes and Moan split "
        "L = v.Mv/2 - U(q)",
        composition_names.size()),
    lobatto_normalise};

inline Settlement settle_lobatto(const LobattoSettings& settings, const SystemEntry& system) {
  const Composition& composition = compositions[settings.composition];
  const bool plain = composition.kind == Composition::Kind::plain,
             splits = !plain && composition.kind != Composition::Kind::substeps;
  if (!plain && settings.stages != 2)
    return Settlement::refused(
        fmt::format("composition = \"{}\" is for the step of two stages, and stages is {}; set stages = 2, or leave "
                    "composition out",
                    composition.name, settings.stages));
  if (!plain && system.on_group)
    return Settlement::refused(
        fmt::format("composition = \"{}\" needs a symmetric step, and the step is symmetric on R^n only ('{}' has {}); "
                    "leave it out",
                    composition.name, system.name, system.configuration));
  if (splits && !system.condensable())
    return Settlement::refused(
        fmt::format("composition = \"{}\" splits L = v.Mv/2 - U(q) with a constant M ('{}' has another L); set "
                    "composition = \"suzuki4\", \"kahan-li6\" or \"kahan-li8\"",
                    composition.name, system.name));
  if (splits && system.force_of_velocity)
    return Settlement::refused(
        fmt::format("composition = \"{}\" splits into drifts and kicks, and the force of '{}' depends on velocities; "
                    "set composition = "
                    "\"suzuki4\", \"kahan-li6\" or \"kahan-li8\", or more stages",
                    composition.name, system.name));
  if (!plain) return Settlement::of(composition_numbers(composition, system.m == 0 && system.condensable()));
  return Settlement::of(NormalisingNumbers{settings.normalise ? 1.0 : 0.0});
}

inline bool has_lobatto(const PairKey& key, const SystemEntry& system) {
  const auto [stages, retraction, composition, none] = key.value;
  return settle_lobatto({.stages = stages, .retraction = Retraction(retraction), .composition = composition}, system)
             .verdict != Settled::refused;
}

inline int order_of_lobatto(const LobattoSettings& settings, const SystemEntry&) {
  return settings.composition > 0 ? compositions[settings.composition].order : 2 * settings.stages - 2;
}

inline bool is_symmetric_nonholonomic(const LobattoSettings& settings, const SystemEntry& system) {
  return !system.on_group && settings.multiplier == LobattoSettings::Multiplier::carried;
}

inline constexpr MissingOption nonholonomic_without[] = {
    {"composition",
     "compositions of its step of two stages have order 4 whatever their coefficients, because lambda alternates from "
     "step to "
     "step; set stages = 3 for order 4, 4 for order 6"}};

inline constexpr MethodEntry nonholonomic_lobatto{
    .name = "nonholonomic-lobatto",
    .summary =
        "Lobatto IIIA-IIIB pair with the constraint on the IIIA momenta; constraint exact at the nodes, symmetric on "
        "R^n; its carried multiplier destroys motions that contract (status parasitic): multiplier = \"recomputed\" or "
        "nonholonomic-spark there",
    .source =
        "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
        "systems, eqs. (14), (26), (27)",
    .order = "q, p: 2s-2; lambda: s (s even), s-1 (s odd)",
    .constraints = ConstraintKind::velocity | ConstraintKind::mixed,
    .takes = needs::lagrangian,
    .options = nonholonomic_lobatto_options,
    .carries_multiplier = true,
    .missing = nonholonomic_without,
    .driven = true,
    .symmetric = by_settings<nonholonomic_lobatto_options, is_symmetric_nonholonomic>,
    .header = "rattleback/methods/lobatto/lobatto.hpp",
    .step = "{multiplier}<T, System, {retraction}, {stages}>"};

/// What the pairs without constraints on velocities have in common.
template <const auto& options>
constexpr MethodEntry lobatto_entry(const char* name, const char* summary, const char* source, const char* order,
                                    ConstraintKind constraint) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .order = order,
          .constraints = constraint,
          .takes = needs::lagrangian,
          .options = options,
          .carries_multiplier = constraint != ConstraintKind::none,
          .settle = by_settings<options, settle_lobatto>,
          .has = has_lobatto,
          .order_of = by_settings<options, order_of_lobatto>,
          .driven = true,
          .symmetric = symmetric_on_rn,
          .header = "rattleback/methods/lobatto/lobatto.hpp",
          .step = "{composition}<T, System, {retraction}, {stages}>"};
}

inline constexpr MethodEntry holonomic_lobatto = lobatto_entry<holonomic_lobatto_options>(
    "holonomic-lobatto",
    "Lobatto IIIA-IIIB pair with holonomic constraints at positions and velocities; symplectic, symmetric on R^n (s = "
    "2 is RATTLE there)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (13), (26), (27)",
    "q, p: 2s-2, with a composition the first number in its name; lambda: s-1", ConstraintKind::holonomic);
inline constexpr MethodEntry lobatto = lobatto_entry<lobatto_options>(
    "lobatto", "unconstrained Lobatto IIIA-IIIB pair; symplectic, symmetric on R^n (s = 2 is velocity Verlet there)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (9), (26), (27)",
    "2s-2; with a composition the first number in its name", ConstraintKind::none);

}  // namespace methods

RB_NAMESPACE_END
