#pragma once
// The members of the GGL family, and the numbers of the theta family (ggl.hpp).

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// The members of the family, which differ in the structure of the equations.
enum class GglScheme { vi_s, theta_a, theta_b, energy_momentum, energy_momentum_index3, classical };

constexpr bool is_theta(GglScheme scheme) { return scheme == GglScheme::theta_a || scheme == GglScheme::theta_b; }

/// The numbers of the theta family.
struct GglNumbers {
  double theta, vartheta;
};
inline constexpr GglNumbers ggl_vi_a_numbers{0.5, 0.5}, ggl_vi_b_numbers{1.0, 0.5}, ggl_vi_bs_numbers{0.5, 0.5};

/// Writes the numbers of a step and returns their count.
inline int fill_numbers(const GglNumbers& a, double* numbers) {
  numbers[0] = a.theta;
  numbers[1] = a.vartheta;
  return 2;
}

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
