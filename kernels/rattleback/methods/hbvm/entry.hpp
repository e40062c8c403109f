#pragma once
// The method hbvm in the catalogue: options, checks, texts.

#include <fmt/format.h>

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/methods/hbvm/hbvm.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

/// The options of hbvm.
struct HbvmSettings : HbvmOptions {
  int s = 2;
  bool compensated = false;
};

inline constexpr const char* hbvm_constraints[] = {"line-integral", "direct"};
inline constexpr const char* hbvm_iterations[] = {"fixed-point", "newton"};
inline constexpr OptionInfo hbvm_options[] = {
    option<&HbvmSettings::s>({.name = "s",
                              .text = "number of coefficients of the velocity",
                              .minimum = 1,
                              .maximum = legendre_terms_max,
                              .compiled = true}),
    option<&HbvmSettings::k, HbvmSettings>({.name = "k",
                                            .text = "number of nodes of the quadrature, at least s; the energy is "
                                                    "conserved for potentials of degree up to 2k/s",
                                            .minimum = 1,
                                            .maximum = legendre_nodes_max}),
    option<&HbvmSettings::direct, HbvmSettings>({.name = "constraint",
                                                 .text = "what determines the multiplier: the mean of d/dt g over "
                                                         "the step vanishes, or g at its end",
                                                 .choices = hbvm_constraints}),
    option<&HbvmSettings::newton, HbvmSettings>({.name = "iteration",
                                                 .text = "how a step is solved; where the fixed point does not "
                                                         "contract, Newton's method follows in any case",
                                                 .choices = hbvm_iterations}),
    option<&HbvmSettings::compensated>({.name = "compensated",
                                        .text = "the rounding errors of q and p are carried along and added later: "
                                                "those of the sums vanish"})};

/// The numbers of the step; refuses k < s.
inline Settlement settle_hbvm(const HbvmSettings& settings, const SystemEntry&) {
  if (settings.k < settings.s)
    return Settlement::refused(
        fmt::format("k = {0} nodes are fewer than the s = {1} coefficients (k >= s is needed for the quadrature of "
                    "their products); set k = {1} or more",
                    settings.k, settings.s));
  return Settlement::of(HbvmNumbers::of(settings.s, settings));
}

/// The order of q. With constraints the component of the momentum along the constraint forces has order 2.
inline int order_of_hbvm(const HbvmSettings& settings, const SystemEntry& system) {
  return system.m > 0 && settings.s > 1 ? 4 : 2 * settings.s;
}

inline constexpr MethodEntry hbvm{
    .name = "hbvm",
    .summary =
        "line-integral method HBVM(k, s); conserves the energy where the quadrature of k nodes is exact; symmetric",
    .source =
        "L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral Solution of Hamiltonian Systems "
        "with Holonomic Constraints, eqs. (49)-(52)",
    .order = "2s without constraints; with them q: 2 (s = 1) or 4, p: 2, lambda: 1",
    .constraints = ConstraintKind::holonomic | ConstraintKind::none,
    .takes = [](const SystemForm& f) { return needs::lagrangian_on_rn(f) && f.separable_form; },
    .options = hbvm_options,
    .carries_multiplier = true,
    .settle = by_settings<hbvm_options, settle_hbvm>,
    .order_of = by_settings<hbvm_options, order_of_hbvm>,
    .needs = "a Lagrangian v.Mv/2 - U(t, q) on R^n",
    .driven = true,
    .separable_form = true,
    .exact_constraint = false,
    .exact_hidden_constraint = false,
    .compensation = "compensated",
    .symmetric = always_symmetric,
    .header = "rattleback/methods/hbvm/hbvm.hpp",
    .step = "Hbvm<T, System, {s}>"};

}  // namespace methods

RB_NAMESPACE_END
