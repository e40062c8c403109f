#pragma once
// Errors at the final time against a reference, for runs of one study with several steps, and the orders they show.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rattleback/run/run.hpp"

namespace rattleback {

/// What errors are taken against: the exact solution, a stored result, or a run of the study's method with another step and
/// number of stages. With nothing set it is the exact solution where the system has one for every trajectory, and a run with
/// the most stages of the method that are compiled, where it has stages, at a quarter of the smallest step, of order 1
/// a sixteenth, otherwise.
struct Reference {
  bool exact = false;
  std::filesystem::path result;  ///< of the same system, ensemble and time span, with a smaller step or more stages
  std::optional<double> step;    ///< default with `stages`: the smallest step
  std::optional<int> stages;     ///< for methods with that option; default with `step`: those of the study
};

/// The problem of a study with the step `step`, from the same start to the same end, that keeps its final states and nothing else. The step
/// becomes (end - start) / N exactly where it is that to 1e-9. The study's own step is not used, so it may vary over the
/// ensemble. Throws Error(input), naming the step, when it is not positive or does not divide the time span.
Problem at_step(const Study& study, double step);

/// Checks a list of steps (at least `least`, positive, distinct, each dividing the time span) and sorts it, largest first.
std::vector<double> checked_steps(const Study& study, std::vector<double> steps, std::size_t least);

/// An error over the members of an ensemble; NaN when there are none.
struct EnsembleError {
  double max;  ///< of all components of all members
  double rms;  ///< sqrt of the mean over the members of the squared Euclidean norm
};

/// Errors of final states, of several runs with one reference. A trajectory that failed in any run or in the reference is left
/// out of all.
class FinalErrors {
 public:
  /// Checks the reference against all runs to come (from at_step), then computes it. Throws Error(input).
  FinalErrors(const Problem& problem, std::span<const Problem> runs, const Reference& reference, Session& session,
              unsigned threads = 0);
  ~FinalErrors();
  FinalErrors(FinalErrors&&) noexcept;

  /// Takes the result of the next run, of this problem. On Lie groups v and p are compared in the trivialisation of the first
  /// problem's method.
  void add(const Result& result, const Problem& run);

  [[nodiscard]] const std::string& reference() const;  ///< in words
  [[nodiscard]] const std::vector<std::string>& variables()
      const;  ///< q, v, p and, where the method carries it, lambda
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
  std::vector<double>
      order;                ///< log(e[i-1] / e[i]) / log(h[i-1] / h[i]); NaN for the first step and where an error is 0
  std::size_t above_floor;  ///< steps, from the largest on, whose errors fall and are above the round-off floor
  std::size_t points;       ///< how many of these, the smallest ones, the slope is of: at most 3
  double slope;             ///< least-squares slope of log error against log step; NaN with fewer than 2 points
};

/// The series with its orders and slope, given a round-off floor for every step.
ErrorSeries error_series(std::span<const double> steps, std::vector<double> errors, std::span<const double> floor);

struct VariableOrder {
  std::string name;  ///< q, v, p, lambda
  /// Per step: 8 eps sqrt(N) |x| for N steps and |x| the largest component of the reference, rounding errors that add up like a
  /// random walk; for lambda, which enters a step as h lambda, not less than that of p divided by h.
  std::vector<double> floor;
  ErrorSeries max, rms;
};

struct OrderReport {
  Problem problem;  ///< with its own step
  std::string reference = {};
  std::vector<double> steps = {};  ///< largest first
  std::vector<VariableOrder> variables = {};
  std::uint64_t trajectories = 0, failed = 0;

  /// The report as arrays: /step, /NAME/{max,rms} and /NAME/{order_max,order_rms}, each [steps], with the attributes slope,
  /// points and above_floor on the errors; /NAME/floor.
  void write(ResultSink& sink) const;
};

/// Runs the study at every step with one backend and one set of buffers. `finished` is called after each run. Throws
/// Error(input), before anything runs, on bad steps or a reference that does not fit.
OrderReport order(const Problem& problem, const std::vector<double>& steps, const Reference& reference = {},
                  const RunOptions& options = {},
                  const std::function<void(double step, const Summary& summary)>& finished = {});

}  // namespace rattleback
