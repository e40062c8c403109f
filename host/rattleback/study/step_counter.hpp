#pragma once
// The number of steps that a step size gives, on the host and on a GPU.

#include <cmath>

#include "rattleback/real/config.hpp"

namespace rattleback {

/// Returns the whole number from 1 on that agrees with a quotient to 1e-9 (relative); 0 when no whole number does.
RB_HD double whole_number(double quotient) {
  const double nearest = rint(quotient);
  return nearest >= 1.0 && nearest < 0x1p53 && fabs(quotient - nearest) <= 1e-9 * nearest ? nearest : 0.0;
}

/// Counts the steps between samples where the step size varies over the ensemble.
struct StepCounter {
  double span = 0.0;     ///< from the start to the end
  double samples = 1.0;  ///< of equal length, that the span is divided into
  bool by_density = false;

  /// Returns the number of steps of a size, 0 where steps follow a density, and -1 for a size that is refused.
  RB_HD double operator()(double step) const {
    if (!(step - step == 0.0) || step == 0.0 || (span > 0.0) != (step > 0.0)) return -1.0;
    if (by_density) return 0.0;
    const double steps = whole_number(span / (step * samples));
    return steps > 0.0 ? steps : -1.0;
  }
};

}  // namespace rattleback
