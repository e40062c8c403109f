#pragma once
// How fast a study runs, and how its methods trade time for accuracy.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rattleback/measure/order.hpp"
#include "rattleback/run/run.hpp"

namespace rattleback {

struct BenchOptions {
  RunOptions run;
  unsigned repetitions = 5;
  double seconds = 0.0;  ///< repeat until the runs have taken this long together
};

/// Of a set of numbers; the quartiles interpolate linearly between order statistics.
struct Spread {
  double median, min, max, lower_quartile, upper_quartile;
};
Spread spread_of(std::vector<double> values);

struct BenchReport {
  Problem problem;
  Summary summary = {};              ///< of one repetition
  std::vector<double> seconds = {};  ///< per repetition: the integration, without start-up and output
  Spread rate = {};                  ///< trajectory-steps per second
  double iterations_per_step = 0.0;
  double nanoseconds = 0.0;       ///< per step and thread (CUDA: per step): median time * threads / trajectory-steps
  std::uint64_t state_bytes = 0;  ///< per trajectory
  /// Floating-point operations per step: 1 for +, -, *, /, sqrt, 2 for a fused multiply-add. Counted by running the first
  /// trajectories of the study (up to 16, up to 1000 steps) over a scalar that counts.
  double flops_per_step = 0.0;
  double peak_flops = 0.0;     ///< per second, measured after the repetitions: Session::measure_peak_flops
  DeviceKernels kernels = {};  ///< of a GPU
  double copy_rate = 0.0;      ///< bytes per second, read and written, likewise: Session::measure_copy_rate

  /// Share of the measured peak that the counted operations reach.
  [[nodiscard]] double fraction_of_peak() const { return flops_per_step * rate.median / peak_flops; }
};

/// One run to warm up, then the repetitions. Throws Error.
BenchReport measure(const Problem& problem, const BenchOptions& options = {});

/// A problem with a setting of its method to compare.
struct Setting {
  std::string label;
  Problem problem;
};

struct WorkPrecisionRun {
  std::string label;
  Study::Method method;
  double step;
  double seconds;  ///< median over the repetitions
  /// Of q, v, p and, where the method carries it, lambda, at the end.
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

/// Runs every setting at every step, after one run to warm up. The settings may differ from the problem in their method only. The
/// reference is that of `order`, with the problem's own method where it is a run.
WorkPrecisionReport work_precision(const Problem& problem, const std::vector<Setting>& settings,
                                   const std::vector<double>& steps, const Reference& reference = {},
                                   const BenchOptions& options = {},
                                   const std::function<void(const WorkPrecisionRun&)>& finished = {});

}  // namespace rattleback
