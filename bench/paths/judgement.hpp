#pragma once
// When a path of a step counts as faster than another one.

#include <cmath>
#include <cstddef>
#include <vector>

#include "../timing.hpp"

/// The time of one path divided by that of another, which took turns: the median of the ratios of single turns, and its standard error.
/// The error is that of a median of normal numbers whose spread is taken from the median deviation, so that slow spells of a machine
/// with other work count little.
struct Ratio {
  double value, error;

  Ratio(const std::vector<double>& times, const std::vector<double>& rival) {
    std::vector<double> ratios, deviations;
    for (std::size_t i = 0; i < times.size(); ++i) ratios.push_back(times[i] / rival[i]);
    value = rattleback::bench::median(ratios);
    for (const double ratio : ratios) deviations.push_back(std::abs(ratio - value));
    error = 1.2533 * 1.4826 * rattleback::bench::median(deviations) / std::sqrt(static_cast<double>(ratios.size()));
  }
  /// Whether the rival is faster by more than `margin`, by two standard errors at least.
  bool rival_is_faster(double margin) const { return value - 2.0 * error > 1.0 + margin; }
};
