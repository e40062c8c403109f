#include "rattleback/measure/bench.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/ensemble.hpp"

namespace rattleback {
namespace {

/// Counts the operations of at most 1000 steps of the first 16 trajectories. All other trajectories stay at the initial
/// state.
class CountingBackend final : public Backend {
 public:
  [[nodiscard]] double operations() const { return static_cast<double>(operations_); }

  std::string name() const override { return "counting"; }
  std::string device() const override { return "counting"; }
  unsigned threads() const override { return 1; }
  std::uint64_t tile_bytes() const override { return std::uint64_t{1} << 20; }
  double measure_peak_flops() override { return std::numeric_limits<double>::quiet_NaN(); }
  double measure_copy_rate() override { return std::numeric_limits<double>::quiet_NaN(); }

  void begin(const Plan& plan, Tile& tile) override {
    plan_ = &plan;
    tile_ = &tile;
  }

  void run(const Round& round, RoundOutput& output, Control&) override {
    constexpr std::int64_t most_steps = 1000;
    constexpr std::uint64_t most_trajectories = 16;
    output = {};
    if (operations_ != 0) return;
    std::uint64_t first = 0;  // the first trajectory that is not left out
    while (first < tile_->count && tile_->at(first, plan_->arguments.layout.status) != 0.0) ++first;
    if (first == tile_->count) return;
    KernelArguments arguments = plan_->arguments;
    arguments.sample = 0;
    arguments.target = std::min(round.stretches.back().to, most_steps);
    const CompiledUnit& unit =
        Kernels::instance().get({UnitKind::counted, plan_->system, plan_->method, plan_->key, Isa::scalar});
    static Mutex counter;  // a kernel has one counter for all threads
    const std::scoped_lock lock(counter);
    const std::uint64_t chunk = first / chunk_size, begin = first % chunk_size,
                        end = std::min(
                            {tile_->count - chunk * chunk_size, begin + most_trajectories, std::uint64_t{chunk_size}});
    operations_ = unit.count(arguments, tile_->chunk(chunk), static_cast<int>(begin), static_cast<int>(end));
  }

  void fetch(Tile&) override {}

 private:
  const Plan* plan_ = nullptr;
  Tile* tile_ = nullptr;
  std::uint64_t operations_ = 0;
};

double count_flops_per_step(const Study& study, const RunOptions& options) {
  CountingBackend backend;
  Result result;
  MemorySink sink(result);
  RunOptions quiet = options;
  quiet.progress = {};
  const Summary summary = run_on(backend, study.without_requests(), sink, quiet);
  return backend.operations() / static_cast<double>(summary.trajectory_steps);
}

void check_options(const BenchOptions& options) {
  if (options.repetitions == 0) input_error("repetitions", "must be at least 1");
  if (!(options.seconds >= 0.0 && std::isfinite(options.seconds)))
    input_error("seconds", fmt::format("must be a finite number, not negative (got {})", options.seconds));
}

/// Returns the wall time in seconds of each repetition of a problem. `result` holds the last result.
std::vector<double> repeat(Session& session, const Problem& problem, const BenchOptions& options, Result& result) {
  std::vector<double> seconds;
  for (double total = 0.0; seconds.size() < options.repetitions || total < options.seconds;) {
    result = session.run(problem);
    seconds.push_back(result.summary.wall_seconds);
    total += seconds.back();
  }
  return seconds;
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const auto at = [&](double level) {
    const double position = level * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.5), values.front(), values.back(), at(0.25), at(0.75)};
}

BenchReport measure(const Problem& problem, const BenchOptions& options) {
  const FloatingPointScope environment;
  check_options(options);
  BenchReport report{problem};
  Session session(options.run);
  Result result = session.run(problem);  // this run warms up
  report.seconds = repeat(session, problem, options, result);
  report.peak_flops = session.measure_peak_flops(problem);
  report.copy_rate = session.measure_copy_rate(problem);
  report.kernels = session.kernels(problem);
  report.summary = result.summary;
  report.failures = failures_of(result.status());
  const auto steps = static_cast<double>(report.summary.trajectory_steps);
  std::vector<double> rates;
  for (const double seconds : report.seconds) rates.push_back(steps / seconds);
  report.rate = spread_of(std::move(rates));
  report.iterations_per_step = static_cast<double>(report.summary.iterations) / steps;
  report.nanoseconds = 1e9 * report.summary.threads / report.rate.median;
  report.state_bytes = state_bytes(problem);
  report.flops_per_step = count_flops_per_step(problem.study, options.run);
  return report;
}

WorkPrecisionReport work_precision(const Problem& problem, const std::vector<Setting>& settings,
                                   std::span<const Problem> stepped, const Reference& reference,
                                   const BenchOptions& options,
                                   const std::function<void(const WorkPrecisionRun&)>& finished) {
  const FloatingPointScope environment;
  check_options(options);
  if (settings.empty()) input_error("settings", "there is none; give at least one");
  WorkPrecisionReport report{problem};
  Study& study = report.problem.study;
  // All settings start from the initial states of the study, so the frame of the study is stated explicitly.
  const bool in_space = Ensemble(problem).in_space();
  for (const Setting& setting : settings)
    if (problem.system->on_group && setting.problem.method->in_space != in_space)
      study.ensemble.frame = in_space ? "space" : "body";
  std::vector<Problem> runs;
  for (const Setting& setting : settings)
    for (const Problem& own : stepped) {
      Study run = own.study;
      run.ensemble.frame = study.ensemble.frame;
      run.method = setting.problem.study.method;
      const auto add_drift = [&](const std::string& name) {
        Observable& drift = run.observables.emplace_back();
        drift.name = name;
        drift.statistics = {"maxabs"};
      };
      for (const ObservableInfo& info : problem.system->observables)
        if (info.conserved) add_drift(info.name);
      if (problem.system->driven) add_drift("energy_balance");
      runs.emplace_back(std::move(run));
      report.runs.push_back({setting.label, setting.problem.study.method, step_of(own), 0.0, {}, {}});
    }
  Session session(options.run);
  FinalErrors errors(report.problem, runs, reference, session, options.run.threads);
  Result result = session.run(runs.front());  // this run warms up
  for (std::size_t i = 0; i < runs.size(); ++i) {
    WorkPrecisionRun& run = report.runs[i];
    run.seconds = spread_of(repeat(session, runs[i], options, result)).median;
    errors.add(result, runs[i]);
    for (const Observable& observable : runs[i].study.observables)
      run.drifts.emplace_back(observable.name, result.statistic(observable.name, "maxabs").back());
    if (finished) finished(run);
  }
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t v = 0; v < errors.variables().size(); ++v)
      report.runs[i].errors.emplace_back(errors.variables()[v], errors.error(i, v));
  report.reference = errors.reference();
  report.trajectories = errors.trajectories();
  report.failed = errors.failed();
  return report;
}

}  // namespace rattleback
