#pragma once
// The derivative of a squared error, which the reduction of a sample makes of what is observed.

#include "rattleback/loop/lanes.hpp"

namespace rattleback {

/// The derivative 2 (x - r)(x' - r') of (x - r)^2. NaN stands for a trajectory that has failed, and an infinity for a number that is
/// not finite, as among the values that are observed.
RB_HD double error_derivative(double x, double reference, double derivative, double of_reference) {
  if (x != x) return x;
  const double d = 2.0 * (x - reference) * (derivative - of_reference);
  return is_finite(d) ? d : __builtin_huge_val();
}

}  // namespace rattleback
