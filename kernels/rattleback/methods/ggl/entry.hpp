#pragma once
// The GGL integrators in the catalogue: options, checks, texts.

#include <cstdio>

#include "rattleback/catalogue/option.hpp"
#include "rattleback/methods/ggl/ggl.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr auto ggl_source =
    "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
    "constrained mechanical systems, Nonlinear Dynamics 111 (2023)";

inline constexpr auto ggl_needs = "configuration space R^n";

template <int order>
int constant_order(std::span<const OptionValue>, const SystemEntry&) {
  return order;
}

/// Writes the numbers of a fixed member of the theta family.
template <const GglNumbers& member>
Settled settle_ggl(std::span<const OptionValue>, const SystemEntry&, double* numbers, char*, int) {
  fill_numbers(member, numbers);
  return Settled::good;
}

inline constexpr MethodEntry ggl_vi_s{
    .name = "ggl-vi-s",
    .summary = "GGL variational integrator with one-sided evaluations; symplectic, positions on the constraint",
    .source = ggl_source,
    .order = "q, p: 1",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<1>,
    .needs = ggl_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true};
inline constexpr MethodEntry ggl_vi_a{
    .name = "ggl-vi-a",
    .summary = "GGL variational integrator at the midpoint; symplectic, constraints hold at midpoints",
    .source = ggl_source,
    .order = "q, p: 2",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .settle = settle_ggl<ggl_vi_a_numbers>,
    .order_of = constant_order<2>,
    .needs = ggl_needs,
    .exact_constraint = false,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};
inline constexpr MethodEntry ggl_vi_b{
    .name = "ggl-vi-b",
    .summary =
        "GGL variational integrator with evaluations at the end of the step; symplectic, positions on the "
        "constraint",
    .source = ggl_source,
    .order = "q, p: 1; lambda: 0, mean of two steps 1",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .settle = settle_ggl<ggl_vi_b_numbers>,
    .order_of = constant_order<1>,
    .needs = ggl_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};
inline constexpr MethodEntry ggl_vi_bs{
    .name = "ggl-vi-bs",
    .summary = "GGL variational integrator with midpoint evaluations; symplectic, positions on the constraint",
    .source = ggl_source,
    .order = "q, p: 2",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .settle = settle_ggl<ggl_vi_bs_numbers>,
    .order_of = constant_order<2>,
    .needs = ggl_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};

inline constexpr const char* ggl_constraints[] = {"A", "B"};
inline constexpr OptionInfo ggl_theta_options[] = {
    {.name = "theta",
     .kind = OptionKind::number,
     .text = "where forces are evaluated: at (1 - theta) q + theta q'; with constraint A 1/2",
     .standard = 0.5},
    {.name = "vartheta",
     .kind = OptionKind::number,
     .text = "with constraint B, where the multiplier acts, from 0, the beginning of the step, to 1/2, both ends",
     .standard = 0.5},
    {.name = "constraint",
     .kind = OptionKind::choice,
     .text = "g vanishes at the point of evaluation (A) or at the end of the step (B)",
     .standard = 1,
     .choices = ggl_constraints,
     .compiled = true}};

inline Settled settle_ggl_theta(std::span<const OptionValue> values, const SystemEntry&, double* numbers, char* message,
                                int message_size) {
  const GglNumbers member{values[0].number, values[1].number};
  const auto scheme = values[2].number == 0.0 ? ConstraintA::scheme : ConstraintB::scheme;
  fill_numbers(member, numbers);
  const char* fault = unusable(scheme, member);
  if (fault == nullptr) return Settled::good;
  std::snprintf(message, static_cast<std::size_t>(message_size), "theta = %g, vartheta = %g: %s", member.theta,
                member.vartheta, fault);
  return Settled::refused;
}

inline int order_of_ggl_theta(std::span<const OptionValue> values, const SystemEntry&) {
  return values[0].number == 0.5 ? 2 : 1;
}

inline constexpr MethodEntry ggl_theta{
    .name = "ggl-theta",
    .summary = "GGL variational integrators with theta, vartheta and constraint A or B; symplectic",
    .source = ggl_source,
    .order = "q: 2 for theta = 1/2, else 1; p: as q, but with constraint B 2 only where vartheta = 1/2, too",
    .constraints = ConstraintKind::holonomic,
    .options = ggl_theta_options,
    .carries_multiplier = true,
    .settle = settle_ggl_theta,
    .order_of = order_of_ggl_theta,
    .needs = ggl_needs,
    .exact_constraint = false,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};

}  // namespace methods

RB_NAMESPACE_END
