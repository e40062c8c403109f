#pragma once
// Paired differences of two results: the same initial states, integrated in two ways.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rattleback/results/result.hpp"
#include "rattleback/study/study.hpp"
#include "rattleback/study/with_error.hpp"

namespace rattleback {

/// A statistic of both results over the pairs. The errors are standard errors, as if the trajectories were independent
/// draws; NaN for fewer than two pairs.
struct PairedStatistic {
  ValueWithError first, second;
  /// first - second. The error comes from the scatter of the differences d of single pairs: sqrt(sum (d - mean d)^2 /
  /// (c (c - 1))) for c pairs. NaN where a difference exceeds the largest number.
  ValueWithError difference;

  /// Returns the error of the difference of two independent ensembles: sqrt(first.error^2 + second.error^2).
  [[nodiscard]] double unpaired_error() const;
};

/// One sample time. A pair is a trajectory whose value is finite in both results.
struct PairedSample {
  double time = 0.0;
  std::uint64_t pairs = 0;
  std::uint64_t failed_first = 0, failed_second = 0;    ///< trajectories that have failed before this time
  std::uint64_t missing_first = 0, missing_second = 0;  ///< good trajectories whose value is not finite
  PairedStatistic mean;                                 ///< of x
  PairedStatistic mse;                                  ///< of (x - r)^2, r the reference in the study of each result
};

struct PairedObservable {
  std::string name;
  ErrorReference first_reference, second_reference;
  bool same_formula = true;  ///< the studies define the observable in the same words
  std::vector<PairedSample> samples;
};

struct PairedReport {
  std::uint64_t trajectories = 0;
  std::uint64_t first_samples = 0, second_samples = 0;  ///< number of samples in each result
  std::vector<PairedObservable> observables;            ///< each with the samples that both results have
  std::vector<std::string> left_out;                    ///< observables with values in one result only
};

/// Compares the means and mean squared errors of observables whose values both results have ([[observable]] values =
/// true), at the sample times that both have: times that differ by at most 1e-9 of the longer run. `observables` names
/// the wanted ones; none means all. At most a few MiB of values are in memory at a time. Throws Error(input) when the
/// results do not start from the same states (to 1e-9), when values or times in common are missing, and when a file is
/// damaged.
PairedReport paired_differences(const ResultFile& first, const ResultFile& second,
                                std::span<const std::string> observables = {});

}  // namespace rattleback
