#pragma once
// The generalized-alpha method in the catalogue: options and texts.

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/methods/generalized_alpha/scheme.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The options of generalized-alpha. Engineers' codes damp a little by default, because unresolved motions and the alternation of
/// a and lambda from step to step (rho = 1 keeps both) otherwise stay in the results for ever.
struct GeneralizedAlphaSettings {
  double rho = 0.8;
  enum class Formulation { stabilised, index3 } formulation = Formulation::stabilised;
};

inline constexpr const char* generalized_alpha_formulations[] = {"stabilised", "index-3"};
inline constexpr const char* generalized_alpha_formulation_types[] = {"Stabilised", "Index3"};
inline constexpr OptionInfo generalized_alpha_options[] = {
    option<&GeneralizedAlphaSettings::rho>(
        {.name = "rho",
         .text = "what is left, after a step, of motions too fast for it: 1 damps nothing, 0 removes them at once",
         .minimum = 0,
         .maximum = 1}),
    option<&GeneralizedAlphaSettings::formulation>(
        {.name = "formulation",
         .text = "holonomic constraints on positions and velocities (stabilised) or on positions only (index-3)",
         .choices = generalized_alpha_formulations,
         .types = generalized_alpha_formulation_types,
         .compiled = true,
         .unnamed = true,
         .scope = OptionScope::holonomic_only})};

inline Settlement settle_generalized_alpha(const GeneralizedAlphaSettings& settings, const SystemEntry&) {
  return Settlement::of(GeneralizedAlphaNumbers::of(settings.rho));
}

inline bool generalized_alpha_keeps_velocities(const GeneralizedAlphaSettings& settings, const SystemEntry&) {
  return settings.formulation == GeneralizedAlphaSettings::Formulation::stabilised;
}

inline constexpr MissingOption generalized_alpha_without[] = {
    {"composition",
     "its step is not symmetric, and carries an acceleration that belongs to one step size; for a higher order take "
     "another method"}};

inline constexpr MethodEntry generalized_alpha{
    .name = "generalized-alpha",
    .summary =
        "generalized-alpha method of structural and multibody dynamics, with numerical dissipation; constraints on "
        "velocities or positions",
    .source =
        "J. Chung, G. M. Hulbert, A time integration algorithm for structural dynamics with improved numerical "
        "dissipation, J. Appl. Mech. 60 (1993) 371; M. Arnold, O. Bruls, Convergence of the generalized-alpha scheme "
        "for constrained mechanical systems, Multibody Syst. Dyn. 18 (2007) 185",
    .order = "q, p, lambda: 2",
    .constraints = ConstraintKind::velocity | ConstraintKind::holonomic | ConstraintKind::none,
    .takes =
        [](const SystemForm& f) {
          return needs::lagrangian_on_rn(f) && (f.affine || f.constraint == ConstraintKind::holonomic);
        },
    .options = generalized_alpha_options,
    .carries_multiplier = true,
    .settle = by_settings<generalized_alpha_options, settle_generalized_alpha>,
    .missing = generalized_alpha_without,
    .order_of = constant_order<2>,
    .needs =
        "configuration space R^n (it carries an acceleration of coordinates), a Lagrangian, and constraints on "
        "velocities, if any, affine in them",
    .driven = true,
    .keeps_hidden_constraint = by_settings<generalized_alpha_options, generalized_alpha_keeps_velocities>,
    .carried = [](const SystemEntry& system) { return system.n + 1; },
    .header = "rattleback/methods/generalized_alpha/generalized_alpha.hpp",
    .step = "GeneralizedAlpha<T, System, {formulation}>"};

}  // namespace methods

RB_NAMESPACE_END
