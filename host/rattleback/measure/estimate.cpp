#include "rattleback/measure/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "rattleback/backend/backend.hpp"
#include "rattleback/backend/plan.hpp"
#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/ensemble/groups.hpp"
#include "rattleback/problem/points.hpp"
#include "rattleback/statistics/statistics.hpp"

namespace rattleback {
namespace {

/// An integer that stays at 2^64 - 1 on overflow.
class Saturating {
 public:
  Saturating(std::uint64_t value) : value_(value) {}
  friend Saturating operator+(Saturating a, Saturating b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? most : sum;
  }
  friend Saturating operator*(Saturating a, Saturating b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? most : product;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_;
};

/// Copies of one trajectory as an ensemble, with the observables and sections of a study.
class Copies {
 public:
  /// `copies` is the number of the copies of trajectory k.
  Copies(const Problem& problem, const Ensemble& ensemble, std::uint64_t k, std::uint64_t copies)
      : study_(problem.study.without_requests()), copies_(copies) {
    Ensemble::Evaluator evaluate(ensemble);
    const InitialData& data = evaluate(k);
    const SystemEntry& system = *problem.system;
    study_.observables = problem.study.observables;
    study_.sections = problem.study.sections;
    study_.output.covariance = problem.study.output.covariance;
    for (std::size_t i = 0; i < system.parameters.size(); ++i)
      study_.system.parameters[system.parameters[i].name] = data.parameters[i];
    study_.ensemble = {};
    Axis& axis = study_.ensemble.axes.emplace_back();
    axis.name = "number_of_the_copy";
    axis.to = 1.0;
    axis.count = copies;
    study_.ensemble.unused = {axis.name};
    study_.ensemble.project = problem.study.ensemble.project;
    if (system.turn != nullptr) study_.ensemble.frame = ensemble.in_space() ? "space" : "body";
    study_.ensemble.q.assign(data.q.begin(), data.q.end());
    (ensemble.from_momentum() ? study_.ensemble.p : study_.ensemble.v)
        .assign(ensemble.from_momentum() ? data.p.begin() : data.v.begin(),
                ensemble.from_momentum() ? data.p.end() : data.v.end());
    if (ensemble.multiplier_given()) study_.ensemble.lambda.assign(data.lambda.begin(), data.lambda.end());
    if (!system.driven) study_.time.start = 0.0;  // a short time after a late start would be lost to rounding
    study_.time.step = data.step;
    every_ = ensemble.step_varies() ? problem.steps_per_sample(data.step) : *problem.study.time.sample_every;
  }

  /// Returns the seconds per copy of a run of this many steps, start-up included; the mean of runs of 20 ms together.
  [[nodiscard]] double seconds(Backend& backend, std::uint64_t steps, const RunOptions& options) const {
    Study study = study_;
    study.time.end.reset();
    study.time.steps = steps;
    study.time.samples.reset();
    study.time.sample_every = std::min(every_, steps);
    const Problem problem(std::move(study));
    double total = 0.0;
    int runs = 0;
    for (; total < 0.02; ++runs) {
      const auto start = std::chrono::steady_clock::now();
      Result result;
      MemorySink sink(result);
      (void)run_on(backend, problem, sink, options);
      total += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return total / runs / static_cast<double>(copies_);
  }

  /// Returns the most steps whose samples take little memory.
  [[nodiscard]] std::uint64_t most_steps() const {
    return (Saturating(every_) * std::max<std::uint64_t>(1, (std::uint64_t{1} << 22) / copies_)).value();
  }

 private:
  Study study_;
  std::uint64_t copies_, every_;
};

/// Returns the seconds per trajectory of a run of `steps` steps. The time is a line in the number of steps, from runs of one
/// step and of as many as take 0.1 s more.
double measured_seconds(Backend& backend, const Copies& copies, std::uint64_t number, double steps,
                        RunOptions options) {
  options.warn = {};
  options.progress = {};
  const auto all = static_cast<std::uint64_t>(std::clamp(steps, 1.0, 0x1p53));
  const std::uint64_t most = std::min(all, copies.most_steps());
  (void)copies.seconds(backend, 1, options);  // this run warms up
  const double first = copies.seconds(backend, 1, options);
  double slope = 0.0;
  for (std::uint64_t n = 1; n < most;) {
    n = std::min(4 * n, most);
    const double more = std::max(copies.seconds(backend, n, options) - first, 0.0);
    slope = more / static_cast<double>(n - 1);
    if (more * static_cast<double>(number) >= 0.1) break;
  }
  return first + slope * (steps - 1.0);
}

/// What a result consists of.
struct ResultSize {
  Saturating numbers;
  std::uint64_t series_with_quantiles = 0;  ///< samples of observables, for all trajectories
  std::uint64_t trajectories = 0;
};

ResultSize size_of_result(const Problem& problem) {
  const Study& study = problem.study;
  const Ensemble ensemble(problem, {0, 0});
  const SystemEntry& system = *problem.system;
  const Saturating size = ensemble.size(),
                   state = static_cast<std::uint64_t>(system.elements + 2 * system.n + system.m),
                   samples = Saturating(*study.time.samples) + 1;
  Saturating numbers = size * (4 + ensemble.axis_names().size());
  if (study.output.initial_state) numbers = numbers + size * state;
  if (study.output.final_state) numbers = numbers + size * state;
  numbers =
      numbers + samples * state * (study.output.all_trajectories ? size : Saturating(study.output.trajectories.size()));
  std::uint64_t with_quantiles = 0;
  const Saturating parts = 1 + ensemble.groups().cells() * !study.ensemble.group_by.empty();
  for (const Observable& observable : study.observables) {
    numbers = numbers + samples * (parts * (3 + 2 * (observable.statistics.size() + observable.quantiles.size() +
                                                     observable.correlation.size())) +
                                   (observable.histogram ? observable.histogram->bins + 2 : 0));
    if (observable.values) numbers = numbers + samples * size;
    with_quantiles += !observable.quantiles.empty();
  }
  return {numbers, (samples * with_quantiles).value(), ensemble.size()};
}

}  // namespace

std::uint64_t memory_bytes_of_result(const Problem& problem) {
  return (size_of_result(problem).numbers * sizeof(double)).value();
}

std::uint64_t result_bytes(const Problem& problem) {
  const ResultSize size = size_of_result(problem);
  // A run keeps the values for quantiles until the end.
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t series = size.series_with_quantiles;
  const Saturating kept = (Saturating(series) * size.trajectories * sizeof(double)).value() == most
                              ? most
                              : ValueStore::file_bytes(series, size.trajectories);
  return (size.numbers * sizeof(double) + kept).value();
}

Estimate estimate(const Problem& problem, const RunOptions& options) {
  const FloatingPointScope environment;
  const Ensemble ensemble(problem);
  const std::uint64_t size = ensemble.size();
  const PointSample sample = check_some_points(problem, ensemble, worker_count(options.threads));
  const auto backend = make_backend(options.backend, options.threads);

  Estimate result{};
  result.trajectories = size;
  result.checked = sample.count;
  result.trajectory_steps =
      static_cast<double>(sample.steps) / static_cast<double>(sample.count) * static_cast<double>(size);
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(make_plan(problem, ensemble).arguments.layout.rows) * sizeof(double);
  result.memory = static_cast<double>(std::min(backend->tile_bytes(), (Saturating(size) * bytes).value()));
  result.disk = static_cast<double>(result_bytes(problem));
  result.device = backend->device();
  result.threads = backend->threads();
  result.seconds = result.rate = std::numeric_limits<double>::quiet_NaN();
  const auto start = std::chrono::steady_clock::now();
  try {
    prepare_on(*backend, problem);
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::input) throw;
    result.fault = error.what();
    return result;
  }
  result.preparation = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::uint64_t copies = std::min<std::uint64_t>(
      size, backend->name() == "cpu" ? std::uint64_t{chunk_size} * backend->threads() : std::uint64_t{1} << 16);
  const double steps = static_cast<double>(sample.steps) / static_cast<double>(sample.count);
  result.seconds = static_cast<double>(size) *
                   measured_seconds(*backend, Copies(problem, ensemble, size / 2, copies), copies, steps, options);
  result.rate = result.trajectory_steps / result.seconds;
  return result;
}

}  // namespace rattleback
