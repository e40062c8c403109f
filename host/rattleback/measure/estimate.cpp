#include "rattleback/measure/estimate.hpp"

#include <algorithm>
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

/// Returns the problem with `copies` of trajectory k as the ensemble, and without observables.
Problem copies_of(const Problem& problem, const Ensemble& ensemble, std::uint64_t k, std::uint64_t copies) {
  Ensemble::Evaluator evaluate(ensemble);
  const InitialData& data = evaluate(k);
  Study result = problem.study;
  const SystemEntry& system = *problem.system;
  for (std::size_t i = 0; i < system.parameters.size(); ++i)
    result.system.parameters[system.parameters[i].name] = data.parameters[i];
  result.ensemble = {};
  Axis& axis = result.ensemble.axes.emplace_back();
  axis.name = "number_of_the_copy";
  axis.to = 1.0;
  axis.count = copies;
  result.ensemble.unused = {axis.name};
  result.ensemble.project = problem.study.ensemble.project;
  if (system.turn != nullptr) result.ensemble.frame = ensemble.in_space() ? "space" : "body";
  result.ensemble.q.assign(data.q.begin(), data.q.end());
  (ensemble.from_momentum() ? result.ensemble.p : result.ensemble.v)
      .assign(ensemble.from_momentum() ? data.p.begin() : data.v.begin(),
              ensemble.from_momentum() ? data.p.end() : data.v.end());
  if (ensemble.multiplier_given()) result.ensemble.lambda.assign(data.lambda.begin(), data.lambda.end());
  result.time.step = data.step;
  if (ensemble.step_varies()) result.time.steps.reset();
  result.time.sample_every.reset();
  result.time.samples = 1;
  result.observables.clear();
  result.output = {};
  result.output.initial_state = result.output.final_state = false;
  return result;
}

double measured_rate(Backend& backend, const Problem& problem, RunOptions options) {
  constexpr double seconds = 0.3;
  std::stop_source stop;
  Progress last{};
  options.stop = stop.get_token();
  options.warn = {};
  options.progress = [&](const Progress& progress) {
    last = progress;
    if (progress.seconds > seconds) stop.request_stop();
  };
  Result result;
  MemorySink sink(result);
  try {
    const Summary summary = run_on(backend, problem, sink, options);
    return static_cast<double>(summary.trajectory_steps) / std::max(summary.wall_seconds, 1e-9);
  } catch (const Error&) {  // usually the stop request
    return last.seconds > 0 && last.trajectory_steps > 0 ? static_cast<double>(last.trajectory_steps) / last.seconds
                                                         : std::numeric_limits<double>::quiet_NaN();
  }
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
  const std::uint64_t copies = std::min<std::uint64_t>(
      size, backend->name() == "cpu" ? std::uint64_t{chunk_size} * backend->threads() : std::uint64_t{1} << 16);
  result.rate = measured_rate(*backend, copies_of(problem, ensemble, size / 2, copies), options);
  return result;
}

}  // namespace rattleback
