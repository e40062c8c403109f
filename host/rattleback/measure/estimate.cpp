#include "rattleback/measure/estimate.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/base/saturating.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/study/points.hpp"

namespace rattleback {
namespace {

/// The most steps of a trial of steps that follow a density.
constexpr std::uint64_t most_trial_steps = 1 << 18;

/// What a run takes in all, and for its steps and observables (Summary::wall_seconds).
struct Seconds {
  double total, steps;
};

/// Returns by what copies have derivatives, as many as the study has where there are so many: copies have no axes but parameters and
/// components of the start.
std::vector<std::string> derivatives_of_copies(const Problem& problem) {
  const SystemEntry& system = *problem.system;
  std::vector<std::string> by, others;
  for (const DerivativeBy& one : problem.derivatives)
    if (one.kind != DerivativeBy::axis) by.push_back(one.name);
  for (const ParameterInfo& parameter : system.parameters) others.emplace_back(parameter.name);
  for (const char part : {'p', 'q'})
    for (int i = 0; i < system.n; ++i) others.push_back(fmt::format("{}0[{}]", part, i));
  for (const std::string& other : others)
    if (by.size() < problem.derivatives.size() && std::ranges::find(by, other) == by.end()) by.push_back(other);
  return by;
}

/// Copies of one trajectory as an ensemble, with the observables and sections of a study.
class Copies {
 public:
  /// Copies of trajectory k.
  Copies(const Problem& problem, const Ensemble& ensemble, std::uint64_t k) : study_(problem.study.without_requests()) {
    Ensemble::Evaluator evaluate(ensemble);
    const InitialData& data = evaluate(k);
    const SystemEntry& system = *problem.system;
    study_.observables = problem.study.observables;
    study_.sections = problem.study.sections;
    study_.stops = problem.study.stops;
    study_.fates = problem.study.fates;
    study_.averages = problem.study.averages;
    study_.lyapunov = problem.study.lyapunov;
    study_.lyapunov.transient.reset();  // copies have no sample at its end
    study_.derivatives.by = derivatives_of_copies(problem);
    study_.output.covariance = problem.study.output.covariance;
    study_.output.initial_state = problem.study.output.initial_state;
    study_.output.final_state = problem.study.output.final_state;
    for (std::size_t i = 0; i < system.parameters.size(); ++i)
      study_.system.parameters[system.parameters[i].name] = data.parameters[i];
    study_.ensemble = {};
    Axis& axis = study_.ensemble.axes.emplace_back();
    axis.name = "number_of_the_copy";
    axis.to = 1.0;
    study_.ensemble.unused = {axis.name};
    study_.ensemble.project = problem.study.ensemble.project;
    if (system.on_group) study_.ensemble.frame = ensemble.in_space() ? "space" : "body";
    study_.ensemble.q.assign(data.q.begin(), data.q.end());
    (ensemble.from_momentum() ? study_.ensemble.p : study_.ensemble.v)
        .assign(ensemble.from_momentum() ? data.p.begin() : data.v.begin(),
                ensemble.from_momentum() ? data.p.end() : data.v.end());
    if (ensemble.multiplier_given()) study_.ensemble.lambda.assign(data.lambda.begin(), data.lambda.end());
    if (!system.driven && !study_.time.by_density())
      study_.time.start = 0.0;  // a short time after a late start would be lost to rounding
    study_.time.step = data.step;
    every_ = ensemble.step_varies() ? problem.steps_per_sample(data.step) : *problem.study.time.sample_every;
  }

  /// Returns the seconds of a run of so many copies and steps, start-up included: the fastest of
  /// some, because what else the machine does makes single ones longer.
  /// `failures` become those of the last run.
  [[nodiscard]] Seconds seconds(Backend& backend, std::uint64_t copies, std::uint64_t steps, const RunOptions& options,
                                std::map<std::string, std::uint64_t>& failures) const {
    Study study = study_;
    study.ensemble.axes[0].count = copies;
    study.time.end.reset();
    study.time.steps = steps;
    study.time.samples.reset();
    study.time.sample_every = std::min(every_, steps);
    const Problem problem(std::move(study));
    Seconds fastest{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    double total = 0.0;
    for (int runs = 0; total < 0.02 || (runs < 3 && total < 0.15); ++runs) {
      const auto start = std::chrono::steady_clock::now();
      Result result;
      MemorySink sink(result);
      const double steps_take = run_on(backend, problem, sink, options).wall_seconds;
      const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
      fastest = {std::min(fastest.total, all.count()), std::min(fastest.steps, steps_take)};
      total += all.count();
      failures = failures_of(result.status());
    }
    return fastest;
  }

  /// Runs the copies with steps that follow a density, at most `most` of them each. Returns the seconds, the steps of a copy, and the part
  /// of the time that they lead through.
  struct Trial {
    Seconds seconds;
    double steps, part;
  };
  [[nodiscard]] Trial follow(Backend& backend, std::uint64_t copies, std::uint64_t most, const RunOptions& options,
                             std::map<std::string, std::uint64_t>& failures) const {
    Study study = study_;
    study.ensemble.axes[0].count = copies;
    study.output.final_state = true;
    study.time.samples = 1;
    study.time.max_steps = std::min(*study.time.max_steps, most);
    const Problem problem(std::move(study));
    const auto start = std::chrono::steady_clock::now();
    Result result;
    MemorySink sink(result);
    const double of_steps = run_on(backend, problem, sink, options).wall_seconds;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const Study::Time& time = problem.study.time;
    const double steps =
        static_cast<double>(std::get<std::vector<std::uint64_t>>(result.dataset("/final/steps").values).front());
    const double reached = (result.array("/final/orbit/time").front() - time.start) / (*time.end - time.start);
    failures = failures_of(result.status());
    if (result.status().front() == status_max_steps && most < *study_.time.max_steps) failures.clear();
    return {{seconds.count(), of_steps}, std::max(steps, 1.0), std::clamp(reached, 1e-9, 1.0)};
  }

  /// Returns the most steps whose samples take little memory.
  [[nodiscard]] std::uint64_t most_steps(std::uint64_t copies) const {
    return (Saturating(every_) * std::max<std::uint64_t>(1, (std::uint64_t{1} << 22) / copies)).value();
  }

 private:
  Study study_;
  std::uint64_t every_;
};

/// What a run takes: a time of its own, one for each trajectory, and one for each of its steps.
struct Costs {
  double alone, trajectory, step;

  [[nodiscard]] double of(double size, double steps) const {
    return alone + size * (trajectory + step * (steps - 1.0));
  }
};

/// Returns the seconds of a run of `size` trajectories of `steps` steps. Runs of one step, of few copies and of as many as take 50 ms more
/// (at most `most`), tell the time of a run apart from that of its trajectories, and runs of so many steps that they take 0.1 s more the
/// time of a step.
Seconds measured_seconds(Backend& backend, const Copies& copies, std::uint64_t few, std::uint64_t most, double size,
                         double steps, RunOptions options, std::map<std::string, std::uint64_t>& failures) {
  options.warn = {};
  options.progress = {};
  (void)copies.seconds(backend, few, 1, options, failures);  // this run warms up
  const Seconds small = copies.seconds(backend, few, 1, options, failures);
  std::uint64_t number = few;
  Seconds large = small;
  while (number < most && large.total - small.total < 0.05) {
    number = std::min(4 * number, most);
    large = copies.seconds(backend, number, 1, options, failures);
  }
  const std::uint64_t most_steps =
      std::min(static_cast<std::uint64_t>(std::clamp(steps, 1.0, 0x1p53)), copies.most_steps(number));
  Seconds longest = large;
  std::uint64_t count = 1;
  while (count < most_steps && longest.total - large.total < 0.1) {
    count = std::min(4 * count, most_steps);
    longest = copies.seconds(backend, number, count, options, failures);
  }
  const auto seconds = [&](double Seconds::* part) {
    const auto n = static_cast<double>(number), m = static_cast<double>(few);
    Costs costs{};
    costs.trajectory = number > few ? std::max(large.*part - small.*part, 0.0) / (n - m) : small.*part / m;
    costs.alone = std::max(small.*part - m * costs.trajectory, 0.0);
    if (count > 1) costs.step = std::max(longest.*part - large.*part, 0.0) / (static_cast<double>(count - 1) * n);
    return costs.of(size, steps);
  };
  return {seconds(&Seconds::total), seconds(&Seconds::steps)};
}

}  // namespace

Estimate estimate(const Problem& problem, const RunOptions& options) {
  const FloatingPointScope environment;
  const Ensemble ensemble(problem);
  const std::uint64_t size = ensemble.size();
  const PointSample sample = check_some_points(problem, ensemble, worker_count(options.threads));
  const auto backend = make_backend(options.backend, options.threads);

  Estimate result{};
  result.trajectories = size;
  result.checked = sample.count;
  result.left_out = sample.left_out;
  result.measured = sample.one.value_or(0);
  result.trajectory_steps =
      static_cast<double>(sample.steps) / static_cast<double>(sample.count) * static_cast<double>(size);
  const std::uint64_t bytes =
      static_cast<std::uint64_t>(make_plan(problem, ensemble).arguments.layout.rows) * sizeof(double);
  result.memory = static_cast<double>(std::min(backend->tile_bytes(), (Saturating(size) * bytes).value()));
  result.disk = static_cast<double>(result_bytes(problem));
  result.device = backend->device();
  result.threads = backend->threads();
  result.seconds = result.step_seconds = result.rate = std::numeric_limits<double>::quiet_NaN();
  if (!sample.one) {
    result.fault = "ensemble.where holds for none of the checked points";
    return result;
  }
  const auto start = std::chrono::steady_clock::now();
  try {
    prepare_on(*backend, problem);
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::input) throw;
    result.fault = error.what();
    return result;
  }
  result.preparation = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool on_cpu = backend->name() == "cpu";
  const std::uint64_t few = std::min(size,
                                     on_cpu ? std::uint64_t{chunk_size} * backend->threads() : std::uint64_t{1} << 14),
                      most = std::min(size, on_cpu ? 64 * few : std::uint64_t{1} << 20);
  const double taken = static_cast<double>(sample.count - sample.left_out),
               steps = static_cast<double>(sample.steps) / taken,
               trajectories = static_cast<double>(size) * taken / static_cast<double>(sample.count);
  const Copies copies(problem, ensemble, result.measured);
  if (problem.study.time.by_density()) {
    RunOptions quiet = options;
    quiet.warn = {};
    quiet.progress = {};
    std::uint64_t number = 256;
    Copies::Trial trial = copies.follow(*backend, few, number, quiet, result.failures);
    while (trial.seconds.total < 0.1 && trial.part < 0.99 && number < most_trial_steps)
      trial = copies.follow(*backend, few, number *= 4, quiet, result.failures);
    const double count = trial.steps / trial.part;  // as many in the rest of the time
    result.trajectory_steps = count * trajectories;
    const double all = result.trajectory_steps / (trial.steps * static_cast<double>(few));
    result.seconds = trial.seconds.total * all;
    result.step_seconds = trial.seconds.steps * all;
  } else {
    const Seconds seconds =
        measured_seconds(*backend, copies, few, most, trajectories, steps, options, result.failures);
    result.seconds = seconds.total;
    result.step_seconds = seconds.steps;
  }
  result.rate = result.trajectory_steps / result.step_seconds;
  return result;
}

}  // namespace rattleback
