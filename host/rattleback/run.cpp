#include "rattleback/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "rattleback/backend.hpp"
#include "rattleback/parallel.hpp"
#include "rattleback/statistics.hpp"
#include "rattleback/version.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;
using Clock = std::chrono::steady_clock;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Host memory for what one segment of samples produces.
constexpr std::uint64_t segment_bytes = std::uint64_t{4} << 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

unsigned worker_count(unsigned threads) {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

/// A point with all its parts, completed by the system.
struct Point {
  std::vector<double> q, v, p, lambda;
  PrepareReport report{};

  Point(const SystemEntry& system, const Ensemble& ensemble, bool project, const InitialData& data)
      : q(data.q), v(data.v), p(data.p), lambda(data.lambda) {
    v.resize(static_cast<std::size_t>(system.n));
    p.resize(static_cast<std::size_t>(system.n));
    lambda.resize(static_cast<std::size_t>(system.m));
    report = system.prepare(data.parameters.data(), {q.data(), v.data(), p.data(), lambda.data()},
                            {ensemble.from_momentum(), ensemble.multiplier_given(), project});
  }
};

std::string at_axes(const Ensemble& ensemble, const InitialData& data) {
  std::string text;
  for (std::size_t i = 0; i < data.axes.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", ensemble.axis_names()[i], data.axes[i]);
  return text.empty() ? "" : " (" + text + ")";
}

/// Why a completed point cannot start a trajectory; empty when it can.
std::string fault_of(const Study& study, const SystemEntry& system, const Point& point) {
  const PrepareReport& report = point.report;
  if (!study.ensemble.project && !(report.residual <= report.tolerance))
    return fmt::format(
        "is off the constraint (residual {:.3g}, round-off would be {:.3g}); correct it, or let "
        "[ensemble] project = true move the velocity onto the constraint",
        report.residual, report.tolerance);
  if (!report.projected_ok)
    return "cannot be projected onto the constraint (Newton does not converge); give a state nearer to it";
  if (system.m > 0 && !report.multiplier_ok)
    return "does not determine the multiplier (the constraints are dependent there, or the mass matrix is singular); "
           "choose another state";
  for (const auto* part : {&point.q, &point.v, &point.p, &point.lambda})
    for (const double x : *part)
      if (!std::isfinite(x)) return "is not finite (the system is singular there); choose another state";
  return "";
}

void check_points(const Study& study, const Ensemble& ensemble, unsigned threads) {
  const SystemEntry& system = study.system_entry();
  constexpr std::uint64_t block = 4096;
  std::mutex mutex;
  std::uint64_t first_bad = std::numeric_limits<std::uint64_t>::max();
  std::string message;
  parallel_for((ensemble.size() + block - 1) / block, threads, [&](std::uint64_t b) {
    Ensemble::Evaluator evaluate(ensemble);
    const std::uint64_t end = std::min(ensemble.size(), (b + 1) * block);
    for (std::uint64_t k = b * block; k < end; ++k) {
      const InitialData& data = evaluate(k);
      if (ensemble.step_varies()) static_cast<void>(study.steps_per_sample(data.step));  // throws when not whole
      const std::string fault = fault_of(study, system, Point(system, ensemble, study.ensemble.project, data));
      if (fault.empty()) continue;
      const std::lock_guard lock(mutex);
      if (k < first_bad) {
        first_bad = k;
        message = fmt::format("initial state of trajectory {}{} {}", k, at_axes(ensemble, data), fault);
      }
      return;
    }
  });
  if (message.empty()) return;
  const std::string& where = study.ensemble.where;
  throw Error(Error::Kind::input, where.empty() ? message : where + ": " + message);
}

struct SampleGrid {
  std::vector<double> time;
  std::vector<std::int64_t> steps;  ///< before each sample; the first is 0
};

SampleGrid sample_grid(const Study& study, const Ensemble& ensemble, double step) {
  const std::uint64_t samples = *study.time.samples;
  SampleGrid grid{{study.time.start}, {0}};
  for (std::uint64_t s = 1; s <= samples; ++s) {
    if (ensemble.step_varies()) {
      grid.time.push_back(study.time.start +
                          (*study.time.end - study.time.start) * static_cast<double>(s) / static_cast<double>(samples));
      grid.steps.push_back(1);  // each lane has its own number
      continue;
    }
    const std::uint64_t every = *study.time.sample_every, total = *study.time.steps;
    const std::uint64_t reached = std::min(s * every, total);
    grid.time.push_back(study.time.start + static_cast<double>(reached) * step);
    grid.steps.push_back(static_cast<std::int64_t>(reached - (s - 1) * every));
  }
  return grid;
}

/// What one run may take over from the one before it.
struct Buffers {
  Tile tile;
  SegmentOutput output;
};

class Runner {
 public:
  Runner(const Study& study, ResultSink& sink, const RunOptions& options, Backend& backend, Buffers& buffers)
      : study_(study),
        sink_(sink),
        options_(options),
        backend_(backend),
        tile_(buffers.tile),
        output_(buffers.output),
        system_(study.system_entry()),
        method_(study.method_entry()),
        ensemble_(study),
        threads_(worker_count(options.threads)) {}

  Summary operator()() {
    check_points(study_, ensemble_, threads_);
    make_plan();
    create_datasets();

    control_.stop = options_.stop;
    control_.tick = [this] { report_progress(); };
    trees_.resize(grid_.time.size() * plan_.codes.size());
    if (plan_.keep_values) values_ = std::make_unique<ValueStore>(trees_.size(), ensemble_.size());

    const std::uint64_t tile_size = tile_trajectories();
    for (std::uint64_t first = 0; first < ensemble_.size(); first += tile_size)
      run_tile(first, std::min(tile_size, ensemble_.size() - first));

    write_statistics();
    summary_.backend = backend_.name();
    summary_.device = backend_.device();
    summary_.threads = backend_.threads();
    summary_.trajectories = ensemble_.size();
    write_attributes();
    report_progress();
    return summary_;
  }

 private:
  void make_plan() {
    Ensemble::Evaluator evaluate(ensemble_);
    const InitialData& data = evaluate(0);
    plan_.system = &system_;
    plan_.method = &method_;
    plan_.stages = study_.method.stages;
    KernelArguments& a = plan_.arguments;
    a.tolerance = study_.method.tolerance;
    a.max_iterations = study_.method.max_iterations;
    a.step = data.step;
    ChunkLayout& rows = a.layout;
    int next = 0;
    const auto take = [&next](int count) { return std::exchange(next, next + count); };
    rows.q = take(system_.n);
    rows.p = take(system_.n);
    rows.lambda = take(system_.m);
    plan_.state_rows = next;
    rows.status = take(1);
    rows.steps = take(1);
    rows.iterations = take(1);
    rows.residual = take(1);
    rows.step = rows.steps_per_sample = -1;
    if (ensemble_.step_varies()) {
      rows.step = take(1);
      rows.steps_per_sample = take(1);
    }
    for (int i = 0; i < static_cast<int>(data.parameters.size()); ++i) {
      a.parameters[i] = data.parameters[static_cast<std::size_t>(i)];
      a.parameter_row[i] = ensemble_.parameter_varies(i) ? take(1) : -1;
    }
    if (std::ranges::any_of(study_.observables, [](const auto& o) { return o.name == "lyapunov"; })) {
      rows.tangent = take(2 * system_.n + system_.m);
      rows.tangent_exponent = take(1);
    }
    rows.rows = next;

    for (const Observable& observable : study_.observables) {
      plan_.codes.push_back(study_.observable_code(observable.name, observable.where));
      plan_.references.push_back(observable.reference.value_or(nan));
      plan_.keep_values = plan_.keep_values || !observable.quantiles.empty();
    }
    grid_ = sample_grid(study_, ensemble_, data.step);
    for (const std::int64_t steps : grid_.steps) total_steps_ += static_cast<std::uint64_t>(steps) * ensemble_.size();
  }

  [[nodiscard]] std::uint64_t tile_trajectories() const {
    std::uint64_t wanted = options_.tile;
    if (wanted == 0)
      wanted = backend_.tile_bytes() / (static_cast<std::uint64_t>(plan_.arguments.layout.rows) * sizeof(double));
    const std::uint64_t chunks = std::max<std::uint64_t>(1, (wanted + chunk_size - 1) / chunk_size);
    return chunks * chunk_size;
  }

  void create_datasets() {
    const std::uint64_t size = ensemble_.size(), n = static_cast<std::uint64_t>(system_.n),
                        m = static_cast<std::uint64_t>(system_.m), samples = grid_.time.size();
    sink_.create("/time", Type::f64, {samples});
    sink_.write("/time", {0}, {samples}, grid_.time.data());
    for (const std::string& axis : ensemble_.axis_names()) sink_.create("/axes/" + axis, Type::f64, {size});
    const auto create_state = [&](const std::string& group, const Shape& shape) {
      for (const auto& [name, width] : {std::pair{"q", n}, {"v", n}, {"p", n}, {"lambda", m}}) {
        if (width == 0) continue;
        Shape full = shape;
        full.push_back(width);
        sink_.create(group + name, Type::f64, full);
      }
    };
    if (study_.output.initial_state) create_state("/initial/", {size});
    if (study_.output.final_state) create_state("/final/", {size});
    sink_.create("/final/status", Type::u32, {size});
    for (const StatusInfo& info : status_table)
      sink_.attribute("/final/status", fmt::format("bit {}", info.bit), info.text);
    sink_.create("/final/steps", Type::u64, {size});
    sink_.create("/final/iterations", Type::u64, {size});
    sink_.create("/final/residual", Type::f64, {size});
    if (plan_.arguments.layout.tangent >= 0) sink_.create("/final/lyapunov", Type::f64, {size});

    recorded_ = study_.output.trajectories;
    if (study_.output.all_trajectories) {
      recorded_.resize(size);
      for (std::uint64_t k = 0; k < size; ++k) recorded_[k] = k;
    }
    std::ranges::sort(recorded_);
    recorded_.erase(std::unique(recorded_.begin(), recorded_.end()), recorded_.end());
    if (!recorded_.empty()) {
      sink_.create("/trajectories/index", Type::u64, {recorded_.size()});
      sink_.write("/trajectories/index", {0}, {recorded_.size()}, recorded_.data());
      create_state("/trajectories/", {samples, recorded_.size()});
    }
    for (const Observable& observable : study_.observables) {
      const std::string group = "/observables/" + observable.name + "/";
      sink_.create(group + "count", Type::u64, {samples});
      for (const std::string& statistic : observable.statistics) sink_.create(group + statistic, Type::f64, {samples});
      for (const double level : observable.quantiles)
        sink_.create(group + fmt::format("quantile_{}", level), Type::f64, {samples});
    }
  }

  void run_tile(std::uint64_t first, std::uint64_t count) {
    Tile& tile = tile_;
    tile.recorded.clear();
    tile.first = first;
    tile.count = count;
    tile.rows = plan_.arguments.layout.rows;
    tile.data.assign(tile.chunks() * static_cast<std::uint64_t>(tile.rows) * chunk_size, 0.0);
    const auto begin = std::ranges::lower_bound(recorded_, first),
               end = std::ranges::lower_bound(recorded_, first + count);
    const auto first_record = static_cast<std::uint64_t>(begin - recorded_.begin());
    for (auto k = begin; k != end; ++k) tile.recorded.push_back(static_cast<std::uint32_t>(*k - first));
    fill(tile);

    const auto integrate = [&](auto&& work) {
      const auto start = Clock::now();
      work();
      summary_.wall_seconds += seconds_since(start);
    };
    integrate([&] { backend_.begin(plan_, tile); });
    const std::uint64_t per_sample = sizeof(double) * (tile.chunks() * plan_.codes.size() * chunk_size +
                                                       tile.recorded.size() * plan_.state_rows * 2);
    const std::uint64_t samples_per_segment =
        std::clamp<std::uint64_t>(segment_bytes / std::max<std::uint64_t>(per_sample, 1), 1, 4096);
    for (std::uint64_t s = 0; s < grid_.steps.size(); s += samples_per_segment) {
      const std::uint64_t e = std::min<std::uint64_t>(grid_.steps.size(), s + samples_per_segment);
      const Segment segment{
          s == 0,
          {grid_.steps.begin() + static_cast<std::ptrdiff_t>(s), grid_.steps.begin() + static_cast<std::ptrdiff_t>(e)}};
      bool finished = false;
      integrate([&] { finished = backend_.run(segment, output_, control_); });
      if (!finished) throw Error(Error::Kind::runtime, "interrupted; nothing was written");
      collect(tile, s, e - s, output_);
      write_records(tile, s, e - s, first_record, output_);
    }
    integrate([&] { backend_.end(tile); });
    write_final(tile);
  }

  /// Evaluates the initial states of a tile into its rows and into the result.
  void fill(Tile& tile) {
    const ChunkLayout& rows = plan_.arguments.layout;
    const std::uint64_t n = static_cast<std::uint64_t>(system_.n), m = static_cast<std::uint64_t>(system_.m);
    const std::size_t axes = ensemble_.axis_names().size();
    const bool keep = study_.output.initial_state;
    std::vector<double> q, v, p, lambda;
    if (keep) {
      for (auto* part : {&q, &v, &p}) part->resize(tile.count * n);
      lambda.resize(tile.count * m);
    }
    std::vector<std::vector<double>> axis(axes, std::vector<double>(tile.count));
    parallel_for(tile.chunks(), threads_, [&](std::uint64_t c) {
      Ensemble::Evaluator evaluate(ensemble_);
      const std::uint64_t end = std::min(tile.count, (c + 1) * chunk_size);
      for (std::uint64_t k = c * chunk_size; k < end; ++k) {
        const InitialData& data = evaluate(tile.first + k);
        const Point point(system_, ensemble_, study_.ensemble.project, data);
        const auto put = [&](const std::vector<double>& x, int row, std::vector<double>& all) {
          for (std::size_t i = 0; i < x.size(); ++i) tile.at(k, row + static_cast<int>(i)) = x[i];
          if (keep) std::ranges::copy(x, all.begin() + static_cast<std::ptrdiff_t>(k * x.size()));
        };
        put(point.q, rows.q, q);
        put(point.p, rows.p, p);
        put(point.lambda, rows.lambda, lambda);
        if (keep) std::ranges::copy(point.v, v.begin() + static_cast<std::ptrdiff_t>(k * n));
        for (std::size_t i = 0; i < axes; ++i) axis[i][k] = data.axes[i];
        if (rows.step >= 0) {
          tile.at(k, rows.step) = data.step;
          tile.at(k, rows.steps_per_sample) = static_cast<double>(study_.steps_per_sample(data.step));
        }
        for (std::size_t i = 0; i < data.parameters.size(); ++i)
          if (const int row = plan_.arguments.parameter_row[i]; row >= 0) tile.at(k, row) = data.parameters[i];
        if (rows.tangent >= 0) {
          std::vector<double> tangent(2 * n + m);
          system_.tangent(data.parameters.data(), point.q.data(), point.v.data(), tangent.data());
          for (std::size_t i = 0; i < tangent.size(); ++i) tile.at(k, rows.tangent + static_cast<int>(i)) = tangent[i];
        }
      }
      for (std::uint64_t k = end; k < (c + 1) * chunk_size; ++k) tile.at(k, rows.status) = status_padding;
    });
    for (std::size_t i = 0; i < axes; ++i)
      sink_.write("/axes/" + ensemble_.axis_names()[i], {tile.first}, {tile.count}, axis[i].data());
    if (!keep) return;
    for (const auto& [name, data] : {std::pair{"q", &q}, {"v", &v}, {"p", &p}})
      write_rows("/initial/", name, tile, n, *data);
    write_rows("/initial/", "lambda", tile, m, lambda);
  }

  void write_rows(const std::string& group, const std::string& name, const Tile& tile, std::uint64_t width,
                  const std::vector<double>& data) {
    if (width > 0) sink_.write(group + name, {tile.first, 0}, {tile.count, width}, data.data());
  }

  void collect(const Tile& tile, std::uint64_t first_sample, std::uint64_t samples, const SegmentOutput& output) {
    const std::uint64_t observables = plan_.codes.size(), chunks = tile.chunks();
    for (std::uint64_t s = 0; s < samples; ++s)
      for (std::uint64_t o = 0; o < observables; ++o) {
        const std::uint64_t series = (first_sample + s) * observables + o;
        for (std::uint64_t c = 0; c < chunks; ++c)
          trees_[series].push(output.moments[(s * observables + o) * chunks + c]);
        if (study_.observables[o].quantiles.empty()) continue;
        for (std::uint64_t c = 0; c < chunks; ++c)
          values_->write(series, tile.first + c * chunk_size,
                         output.values.data() + ((s * chunks + c) * observables + o) * chunk_size,
                         std::min<std::uint64_t>(chunk_size, tile.count - c * chunk_size));
      }
  }

  /// The parameters of trajectory k of a tile.
  [[nodiscard]] std::vector<double> parameters_of(const Tile& tile, std::uint64_t k) const {
    const std::size_t count = system_.parameters.size();
    std::vector<double> parameters(plan_.arguments.parameters, plan_.arguments.parameters + count);
    for (std::size_t i = 0; i < count; ++i)
      if (const int row = plan_.arguments.parameter_row[i]; row >= 0) parameters[i] = tile.at(k, row);
    return parameters;
  }

  void write_records(const Tile& tile, std::uint64_t first_sample, std::uint64_t samples, std::uint64_t first_record,
                     const SegmentOutput& output) {
    const std::uint64_t records = tile.recorded.size();
    if (records == 0) return;
    const std::uint64_t n = static_cast<std::uint64_t>(system_.n), m = static_cast<std::uint64_t>(system_.m);
    std::vector<double> q(samples * records * n), v(q.size()), p(q.size()), lambda(samples * records * m);
    parallel_for(records, threads_, [&](std::uint64_t r) {
      const std::vector<double> parameters = parameters_of(tile, tile.recorded[r]);
      for (std::uint64_t s = 0; s < samples; ++s) {
        const std::uint64_t i = s * records + r;
        const double* state = output.records.data() + i * static_cast<std::uint64_t>(plan_.state_rows);
        std::copy_n(state, n, q.data() + i * n);
        std::copy_n(state + n, n, p.data() + i * n);
        std::copy_n(state + 2 * n, m, lambda.data() + i * m);
        system_.velocity(parameters.data(), q.data() + i * n, p.data() + i * n, v.data() + i * n);
      }
    });
    const auto write = [&](const std::string& name, std::uint64_t width, const std::vector<double>& data) {
      if (width > 0)
        sink_.write("/trajectories/" + name, {first_sample, first_record, 0}, {samples, records, width}, data.data());
    };
    write("q", n, q);
    write("v", n, v);
    write("p", n, p);
    write("lambda", m, lambda);
  }

  void write_final(const Tile& tile) {
    const ChunkLayout& rows = plan_.arguments.layout;
    const std::uint64_t n = static_cast<std::uint64_t>(system_.n), m = static_cast<std::uint64_t>(system_.m);
    std::vector<std::uint32_t> status(tile.count);
    std::vector<std::uint64_t> steps(tile.count), iterations(tile.count);
    std::vector<double> residual(tile.count);
    for (std::uint64_t k = 0; k < tile.count; ++k) {
      status[k] = static_cast<std::uint32_t>(tile.at(k, rows.status));
      steps[k] = static_cast<std::uint64_t>(tile.at(k, rows.steps));
      iterations[k] = static_cast<std::uint64_t>(tile.at(k, rows.iterations));
      residual[k] = tile.at(k, rows.residual);
      summary_.failed += status[k] != status_good;
      summary_.trajectory_steps += steps[k];
      summary_.iterations += iterations[k];
    }
    sink_.write("/final/status", {tile.first}, {tile.count}, status.data());
    sink_.write("/final/steps", {tile.first}, {tile.count}, steps.data());
    sink_.write("/final/iterations", {tile.first}, {tile.count}, iterations.data());
    sink_.write("/final/residual", {tile.first}, {tile.count}, residual.data());
    if (rows.tangent >= 0) write_lyapunov(tile);
    if (!study_.output.final_state) return;
    std::vector<double> q(tile.count * n), v(q.size()), p(q.size()), lambda(tile.count * m);
    parallel_for(tile.chunks(), threads_, [&](std::uint64_t c) {
      for (std::uint64_t k = c * chunk_size; k < std::min(tile.count, (c + 1) * chunk_size); ++k) {
        for (std::uint64_t i = 0; i < n; ++i) {
          q[k * n + i] = tile.at(k, rows.q + static_cast<int>(i));
          p[k * n + i] = tile.at(k, rows.p + static_cast<int>(i));
        }
        for (std::uint64_t i = 0; i < m; ++i) lambda[k * m + i] = tile.at(k, rows.lambda + static_cast<int>(i));
        system_.velocity(parameters_of(tile, k).data(), q.data() + k * n, p.data() + k * n, v.data() + k * n);
      }
    });
    for (const auto& [name, data] : {std::pair{"q", &q}, {"v", &v}, {"p", &p}})
      write_rows("/final/", name, tile, n, *data);
    write_rows("/final/", "lambda", tile, m, lambda);
  }

  /// The exponents at the end, by the same function as at the samples.
  void write_lyapunov(const Tile& tile) {
    const auto observe = Catalogue::instance().pair(system_, method_, plan_.stages, Isa::scalar)->observe;
    const ObservableCode code{ObservableCode::lyapunov, 0};
    std::vector<double> values(tile.chunks() * chunk_size);
    for (std::uint64_t c = 0; c < tile.chunks(); ++c)
      observe(plan_.arguments, tile.chunk(c), 0, chunk_size, &code, 1, values.data() + c * chunk_size);
    sink_.write("/final/lyapunov", {tile.first}, {tile.count}, values.data());
  }

  void write_statistics() {
    const std::uint64_t samples = grid_.time.size(), observables = plan_.codes.size();
    for (std::uint64_t o = 0; o < observables; ++o) {
      const Observable& observable = study_.observables[o];
      const std::string group = "/observables/" + observable.name + "/";
      std::vector<Moments> moments(samples);
      std::vector<std::uint64_t> count(samples);
      for (std::uint64_t s = 0; s < samples; ++s) {
        moments[s] = trees_[s * observables + o].result();
        count[s] = static_cast<std::uint64_t>(moments[s].count);
      }
      sink_.write(group + "count", {0}, {samples}, count.data());
      std::vector<double> series(samples);
      for (const std::string& statistic : observable.statistics) {
        std::ranges::transform(moments, series.begin(), [&](const Moments& x) { return statistic_of(x, statistic); });
        sink_.write(group + statistic, {0}, {samples}, series.data());
      }
      if (observable.quantiles.empty()) continue;
      std::vector<std::vector<double>> quantiles(samples);
      parallel_for(samples, threads_, [&](std::uint64_t s) {
        quantiles[s] = values_->quantiles(s * observables + o, observable.quantiles);
      });
      for (std::size_t l = 0; l < observable.quantiles.size(); ++l) {
        for (std::uint64_t s = 0; s < samples; ++s) series[s] = quantiles[s][l];
        sink_.write(group + fmt::format("quantile_{}", observable.quantiles[l]), {0}, {samples}, series.data());
      }
    }
  }

  void write_attributes() {
    sink_.attribute("/", "study", study_.to_toml());
    sink_.attribute("/", "version", std::string(version()));
    sink_.attribute("/", "git", std::string(git_commit()));
    sink_.attribute("/", "backend", summary_.backend);
    sink_.attribute("/", "device", summary_.device);
    sink_.attribute("/", "threads", std::uint64_t{summary_.threads});
    sink_.attribute("/", "wall_seconds", summary_.wall_seconds);
    sink_.attribute("/", "trajectory_steps", summary_.trajectory_steps);
    sink_.attribute("/", "failed", summary_.failed);
    sink_.attribute("/", "iterations", summary_.iterations);
  }

  void report_progress() {
    if (options_.progress) options_.progress({control_.trajectory_steps, total_steps_, seconds_since(start_)});
  }

  const Study& study_;
  ResultSink& sink_;
  const RunOptions& options_;
  Backend& backend_;
  Tile& tile_;
  SegmentOutput& output_;
  const SystemEntry& system_;
  const MethodEntry& method_;
  Ensemble ensemble_;
  unsigned threads_;
  Plan plan_;
  SampleGrid grid_;
  std::uint64_t total_steps_ = 0;
  std::vector<std::uint64_t> recorded_;
  std::vector<ChunkTree> trees_;  // [sample][observable]
  std::unique_ptr<ValueStore> values_;
  Control control_;
  Summary summary_;
  Clock::time_point start_ = Clock::now();
};

Study validated(Study study) {
  study.validate();
  return study;
}

}  // namespace

struct Session::Impl {
  RunOptions options;
  std::unique_ptr<Backend> backend;
  Buffers buffers;

  Summary run(const Study& study, ResultSink& sink) {
    const Study complete = validated(study);
    if (!backend || !backend->treats(complete)) backend = make_backend(options.backend, options.threads, complete);
    const Summary summary = Runner(complete, sink, options, *backend, buffers)();
    sink.commit();
    return summary;
  }
};

Session::Session(RunOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

Summary Session::run(const Study& study, ResultSink& sink) { return impl_->run(study, sink); }

Result Session::run(const Study& study) {
  Result result;
  MemorySink sink(result);
  result.summary = impl_->run(study, sink);
  return result;
}

Summary run(const Study& study, ResultSink& sink, const RunOptions& options) {
  return Session(options).run(study, sink);
}

Result run(const Study& study, const RunOptions& options) { return Session(options).run(study); }

void check_initial_states(const Study& study, unsigned threads) {
  const Study complete = validated(study);
  check_points(complete, Ensemble(complete), worker_count(threads));
}

std::uint64_t result_bytes(const Study& study) {
  const Study complete = validated(study);
  const Ensemble ensemble(complete);
  const SystemEntry& system = complete.system_entry();
  const std::uint64_t state = static_cast<std::uint64_t>(3 * system.n + system.m);
  const std::uint64_t samples = *complete.time.samples + 1;
  std::uint64_t numbers = ensemble.size() * (4 + ensemble.axis_names().size());
  if (complete.output.initial_state) numbers += ensemble.size() * state;
  if (complete.output.final_state) numbers += ensemble.size() * state;
  numbers +=
      samples * state * (complete.output.all_trajectories ? ensemble.size() : complete.output.trajectories.size());
  for (const Observable& observable : complete.observables)
    numbers += samples * (1 + observable.statistics.size() + observable.quantiles.size());
  return numbers * sizeof(double);
}

}  // namespace rattleback
