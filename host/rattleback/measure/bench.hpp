#pragma once
// Measures the speed of a study, and the time and accuracy of methods.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rattleback/engine/run.hpp"
#include "rattleback/measure/order.hpp"

namespace rattleback {

struct BenchOptions {
  RunOptions run;
  unsigned repetitions = 5;
  double seconds = 0.0;  ///< the runs repeat until their total time reaches this number of seconds
};

/// Statistics of a set of numbers. The quartiles interpolate linearly between order statistics.
struct Spread {
  double median, min, max, lower_quartile, upper_quartile;
};
Spread spread_of(std::vector<double> values);

struct BenchReport {
  Problem problem;
  Summary summary = {};                                ///< summary of one repetition
  std::map<std::string, std::uint64_t> failures = {};  ///< failures_of that repetition
  std::vector<double> seconds = {};  ///< per repetition: time of the integration, without start-up and output
  Spread rate = {};                  ///< trajectory-steps per second
  double iterations_per_step = 0.0;
  double nanoseconds = 0.0;       ///< per step and thread (CUDA: per step): median time * threads / trajectory-steps
  std::uint64_t state_bytes = 0;  ///< per trajectory
  /// Floating-point operations per step: 1 for +, -, *, /, sqrt, and 2 for a fused multiply-add. The count comes from a
  /// run of the first trajectories (up to 16, up to 1000 steps) with a scalar type that counts.
  double flops_per_step = 0.0;
  double peak_flops = 0.0;     ///< per second, measured after the repetitions: Session::measure_peak_flops
  DeviceKernels kernels = {};  ///< figures of a GPU
  double copy_rate = 0.0;      ///< bytes per second, read plus written: Session::measure_copy_rate

  /// Returns the counted operations per second as a share of the measured peak.
  [[nodiscard]] double counted_over_peak() const { return flops_per_step * rate.median / peak_flops; }
};

/// Runs once to warm up, then runs the repetitions. Throws Error.
BenchReport measure(const Problem& problem, const BenchOptions& options = {});

/// A problem with one of the method settings to compare.
struct Setting {
  std::string label;
  Problem problem;
};

struct WorkPrecisionRun {
  std::string label;
  Study::Method method;
  double step;
  double seconds;  ///< median over the repetitions
  /// Errors at the end of q, v, p and, where the method carries lambda, lambda.
  std::vector<std::pair<std::string, EnsembleError>> errors;
  /// Largest change from start to end of each invariant of the continuous system.
  std::vector<std::pair<std::string, double>> drifts;
};

struct WorkPrecisionReport {
  Problem problem;
  std::string reference = {};
  std::vector<WorkPrecisionRun> runs = {};  ///< by setting, largest step first
  std::uint64_t trajectories = 0, failed = 0;
};

/// Runs every setting at every step of `stepped` (at_steps of the problem's study), after one run to warm up. The settings may differ from the problem only in the
/// method. The reference is chosen as in `order`. A run for the reference uses the problem's own method.
WorkPrecisionReport work_precision(const Problem& problem, const std::vector<Setting>& settings,
                                   std::span<const Problem> stepped, const Reference& reference = {},
                                   const BenchOptions& options = {},
                                   const std::function<void(const WorkPrecisionRun&)>& finished = {});
/// The same at these steps, one at least.
inline WorkPrecisionReport work_precision(const Problem& problem, const std::vector<Setting>& settings,
                                          const std::vector<double>& steps, const Reference& reference = {},
                                          const BenchOptions& options = {},
                                          const std::function<void(const WorkPrecisionRun&)>& finished = {}) {
  return work_precision(problem, settings, at_steps(problem.study, steps, 1), reference, options, finished);
}

}  // namespace rattleback
