#pragma once
// The GGL integrators in the catalogue: options, checks, texts.

#include <fmt/format.h>

#include "rattleback/catalogue/settings.hpp"
#include "rattleback/methods/ggl/ggl.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

inline constexpr auto ggl_source =
    "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
    "constrained mechanical systems, Nonlinear Dynamics 111 (2023)";

inline constexpr auto ggl_needs = "configuration space R^n";

/// The numbers of a fixed member of the theta family.
template <const GglNumbers& member>
Settlement settle_ggl(std::span<const OptionValue>, const SystemEntry&) {
  return Settlement::of(member);
}

/// What the entries of the family have in common. Exact are the constraint on positions, except with option A, and not the hidden one.
constexpr MethodEntry ggl_entry(const char* name, const char* summary, const char* order, const char* step) {
  return {.name = name,
          .summary = summary,
          .source = ggl_source,
          .order = order,
          .constraints = ConstraintKind::holonomic,
          .takes = needs::lagrangian_on_rn,
          .options = {},
          .carries_multiplier = true,
          .needs = ggl_needs,
          .driven = true,
          .exact_hidden_constraint = false,
          .step_velocity = true,
          .step_multiplier = true,
          .header = "rattleback/methods/ggl/ggl.hpp",
          .step = step};
}
/// A fixed member of the theta family.
template <const GglNumbers& member, int order_of_q>
constexpr MethodEntry theta_entry(const char* name, const char* summary, const char* order, const char* step) {
  MethodEntry entry = ggl_entry(name, summary, order, step);
  entry.settle = settle_ggl<member>;
  entry.order_of = constant_order<order_of_q>;
  entry.predicts = true;
  return entry;
}

inline constexpr MethodEntry ggl_vi_s = [] {
  MethodEntry entry = ggl_entry(
      "ggl-vi-s", "GGL variational integrator with one-sided evaluations; symplectic, positions on the constraint",
      "q, p: 1", "GglStep<T, System, GglScheme::vi_s>");
  entry.step_velocity_at_start = true;
  entry.order_of = constant_order<1>;
  return entry;
}();
inline constexpr MethodEntry ggl_vi_a = [] {
  MethodEntry entry = theta_entry<ggl_vi_a_numbers, 2>(
      "ggl-vi-a", "GGL variational integrator at the midpoint; symplectic, constraints hold at midpoints", "q, p: 2",
      "GglStep<T, System, GglScheme::theta_a>");
  entry.symmetric = always_symmetric;
  entry.exact_constraint = false;
  return entry;
}();
inline constexpr MethodEntry ggl_vi_b = theta_entry<ggl_vi_b_numbers, 1>(
    "ggl-vi-b",
    "GGL variational integrator with evaluations at the end of the step; symplectic, positions on the constraint",
    "q, p: 1; lambda: 0, mean of two steps 1", "GglStep<T, System, GglScheme::theta_b>");
inline constexpr MethodEntry ggl_vi_bs = [] {
  MethodEntry entry = theta_entry<ggl_vi_bs_numbers, 2>(
      "ggl-vi-bs", "GGL variational integrator with midpoint evaluations; symplectic, positions on the constraint",
      "q, p: 2", "GglStep<T, System, GglScheme::theta_b>");
  entry.symmetric = always_symmetric;
  return entry;
}();

/// The options of ggl-theta.
struct GglThetaSettings {
  double theta = 0.5, vartheta = 0.5;
  enum class Constraint { a, b } constraint = Constraint::b;
};

inline constexpr const char* ggl_constraints[] = {"A", "B"};
inline constexpr const char* ggl_constraint_types[] = {"GglScheme::theta_a", "GglScheme::theta_b"};
inline constexpr OptionInfo ggl_theta_options[] = {
    option<&GglThetaSettings::theta>(
        {.name = "theta", .text = "where forces are evaluated: at (1 - theta) q + theta q'; with constraint A 1/2"}),
    option<&GglThetaSettings::vartheta>(
        {.name = "vartheta",
         .text = "with constraint B, where the multiplier acts, from 0, the beginning of the step, to 1/2, both ends"}),
    option<&GglThetaSettings::constraint>(
        {.name = "constraint",
         .text = "g vanishes at the point of evaluation (A) or at the end of the step (B)",
         .choices = ggl_constraints,
         .types = ggl_constraint_types,
         .compiled = true})};

inline Settlement settle_ggl_theta(const GglThetaSettings& settings, const SystemEntry&) {
  const GglNumbers member{settings.theta, settings.vartheta};
  const auto scheme =
      settings.constraint == GglThetaSettings::Constraint::a ? ConstraintA::scheme : ConstraintB::scheme;
  if (const char* fault = unusable(scheme, member))
    return Settlement::refused(fmt::format("theta = {:g}, vartheta = {:g}: {}", member.theta, member.vartheta, fault));
  return Settlement::of(member);
}

inline int order_of_ggl_theta(const GglThetaSettings& settings, const SystemEntry&) {
  return settings.theta == 0.5 ? 2 : 1;
}

inline bool is_symmetric_ggl_theta(const GglThetaSettings& settings, const SystemEntry&) {
  return settings.theta == 0.5 && (settings.constraint == GglThetaSettings::Constraint::a || settings.vartheta == 0.5);
}

inline constexpr MethodEntry ggl_theta = [] {
  MethodEntry entry =
      ggl_entry("ggl-theta", "GGL variational integrators with theta, vartheta and constraint A or B; symplectic",
                "q: 2 for theta = 1/2, else 1; p: as q, but with constraint B 2 only where vartheta = 1/2, too",
                "GglStep<T, System, {constraint}>");
  entry.options = ggl_theta_options;
  entry.settle = by_settings<ggl_theta_options, settle_ggl_theta>;
  entry.order_of = by_settings<ggl_theta_options, order_of_ggl_theta>;
  entry.symmetric = by_settings<ggl_theta_options, is_symmetric_ggl_theta>;
  entry.exact_constraint = false;
  entry.predicts = true;
  return entry;
}();

}  // namespace methods

RB_NAMESPACE_END
