#pragma once
// The members of the GGL family, and the numbers of the theta family (ggl.hpp).

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// The members of the family, which differ in the structure of the equations.
enum class GglScheme { vi_s, theta_a, theta_b, energy_momentum, energy_momentum_index3, classical };

constexpr bool is_theta(GglScheme scheme) { return scheme == GglScheme::theta_a || scheme == GglScheme::theta_b; }

/// What the equations of a scheme have.
template <GglScheme scheme>
struct GglTraits {
  /// The energy-momentum schemes: a difference quotient for DU, theta = 1/2, p' = 2 M v - p, and the hidden constraint
  /// at (q', p').
  static constexpr bool discrete_gradient = scheme != GglScheme::vi_s && !is_theta(scheme);
  /// The hidden constraint, that on velocities, with its multiplier gamma.
  static constexpr bool has_gamma = scheme != GglScheme::energy_momentum_index3;
  /// The term of gamma in p'.
  static constexpr bool variational = scheme != GglScheme::classical;
  /// The constraint forces act along G(q) and G(q'), option B; along G(x) otherwise.
  static constexpr bool forces_at_ends = scheme == GglScheme::theta_b;
  /// g(q') = 0; g(x) = 0 otherwise.
  static constexpr bool position_at_end = scheme != GglScheme::theta_a;
};

/// The numbers of the theta family.
struct GglNumbers {
  double theta, vartheta;
};
/// What a step of a scheme has as `Numbers`: those of the theta family, or none.
template <GglScheme scheme>
struct NumbersOfScheme {};
template <GglScheme scheme>
  requires(is_theta(scheme))
struct NumbersOfScheme<scheme> {
  using Numbers = GglNumbers;
};
inline constexpr GglNumbers ggl_vi_a_numbers{0.5, 0.5}, ggl_vi_b_numbers{1.0, 0.5}, ggl_vi_bs_numbers{0.5, 0.5};

/// The reason why a member of the theta family cannot be used, or null.
constexpr const char* unusable(GglScheme scheme, const GglNumbers& a) {
  if (scheme == GglScheme::theta_a && a.theta != 0.5)
    return "with constraint A theta must be 1/2: the distance from the constraint grows by a factor (1 - theta)/theta "
           "a step, "
           "that of the momentum by theta/(1 - theta)";
  if (scheme == GglScheme::theta_b && !(a.theta >= 0.0 && a.theta <= 1.0)) return "theta must be in [0, 1]";
  if (scheme == GglScheme::theta_b && !(a.vartheta >= 0.0 && a.vartheta <= 0.5))
    return "vartheta must be in [0, 1/2]: lambda and p along the constraint forces grow by a factor vartheta/(1 - "
           "vartheta) "
           "a step, and at 1 the equations of a step are singular";
  return nullptr;
}

RB_NAMESPACE_END
