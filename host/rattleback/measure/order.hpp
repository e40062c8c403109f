#pragma once
// Errors at the final time against a reference, for runs of one study with several steps, and the resulting orders.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rattleback/engine/run.hpp"

namespace rattleback {

/// The reference for errors: the exact solution, a stored result, or a run of the study's method with another step and
/// number of stages. By default the reference is the exact solution, if every trajectory has a known one. Otherwise the
/// default is a run with more stages (for methods with stages) at a quarter of the smallest step. A run whose own error,
/// (H/h)^p of the smallest tested one, is not negligible is extrapolated with a run at half its step
/// (reference/extrapolate.hpp), so that the observed orders are not shifted.
struct Reference {
  bool exact = false;
  std::filesystem::path result;  ///< same system, ensemble and time span, with a smaller step or more stages
  std::optional<double> step;    ///< default with `stages`: the smallest step
  std::optional<int> stages;     ///< only for methods with stages; default with `step`: the stages of the study
};

/// Returns the problem of a study with step `step` and the same start and end. The problem keeps only the final states.
/// The step is rounded to (end - start) / N when both agree to 1e-9. The study's own step is not used and may vary over
/// the ensemble. Throws Error(input), naming the step, when the step is not positive or does not divide the time span.
Problem at_step(const Study& study, double step);
/// Returns the step of such a problem.
double step_of(const Problem& run);

/// Returns the problems of a study with several steps, the largest first. There must be at least `least` steps. Each step
/// must be positive, distinct and divide the time span.
std::vector<Problem> at_steps(const Study& study, const std::vector<double>& steps, std::size_t least);

/// An error over the members of an ensemble; NaN when no member is left.
struct EnsembleError {
  double max;  ///< maximum over all components of all members
  double rms;  ///< sqrt of the mean over the members of the squared Euclidean norm
};

/// Errors of final states, of several runs against one reference. A trajectory that failed in any run or in the
/// reference is left out of all errors.
class FinalErrors {
 public:
  /// Checks the reference against all coming runs (from at_step), then computes the reference. Throws Error(input).
  FinalErrors(const Problem& problem, std::span<const Problem> runs, const Reference& reference, Session& session,
              unsigned threads = 0);
  ~FinalErrors();
  FinalErrors(FinalErrors&&) noexcept;

  /// Adds the result of the next run, which solved problem `run`. On Lie groups v and p are compared in the
  /// trivialisation of the first problem's method.
  void add(const Result& result, const Problem& run);

  [[nodiscard]] const std::string& reference() const;               ///< the reference in words
  [[nodiscard]] const std::vector<std::string>& variables() const;  ///< q, v, p; lambda if the method carries lambda
  [[nodiscard]] std::uint64_t trajectories() const;
  [[nodiscard]] std::uint64_t failed() const;  ///< trajectories left out so far
  [[nodiscard]] EnsembleError error(std::size_t run, std::size_t variable) const;
  [[nodiscard]] double scale(const std::string& variable) const;  ///< largest component of the reference

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One measure of error (max or rms) against the step.
struct ErrorSeries {
  std::vector<double> error;  ///< per step
  std::vector<double> order;  ///< log(e[i-1] / e[i]) / log(h[i-1] / h[i]); NaN for the first step or when an error is 0
  std::size_t above_floor;  ///< number of steps, from the largest on, whose errors fall and exceed the round-off floor
  std::size_t points;       ///< number of these steps, the smallest ones, used for the slope: at most 3
  double slope;             ///< least-squares slope of log error against log step; NaN with fewer than 2 points
};

/// Returns the orders and the slope for the given errors and round-off floors.
ErrorSeries error_series(std::span<const double> steps, std::vector<double> errors, std::span<const double> floor);

struct VariableOrder {
  std::string name;  ///< q, v, p, lambda
  /// Estimated rounding error per step size: 8 eps sqrt(N) |x| for N steps, where |x| is the largest component of the
  /// reference. Rounding errors add up like a random walk. The floor of lambda is at least the floor of p divided by h,
  /// because lambda enters a step as h lambda.
  std::vector<double> floor;
  ErrorSeries max, rms;
};

struct OrderReport {
  Problem problem;  ///< the problem with the study's own step
  std::string reference = {};
  std::vector<double> steps = {};  ///< largest first
  std::vector<VariableOrder> variables = {};
  std::uint64_t trajectories = 0, failed = 0;

  /// Writes the report as arrays: /step, /NAME/{max,rms}, /NAME/{order_max,order_rms} and /NAME/floor, each [steps].
  /// The errors have the attributes slope, points and above_floor.
  void write(ResultSink& sink) const;
};

/// Solves the problems of the study at several steps (at_steps) with one backend and one set of buffers. Calls `finished`
/// after each run. Throws Error(input) before the first run when the reference does not fit.
OrderReport order(const Problem& problem, std::span<const Problem> runs, const Reference& reference = {},
                  const RunOptions& options = {},
                  const std::function<void(double step, const Summary& summary)>& finished = {});
/// The same at these steps, two at least.
inline OrderReport order(const Problem& problem, const std::vector<double>& steps, const Reference& reference = {},
                         const RunOptions& options = {},
                         const std::function<void(double step, const Summary& summary)>& finished = {}) {
  return order(problem, at_steps(problem.study, steps, 2), reference, options, finished);
}

}  // namespace rattleback
