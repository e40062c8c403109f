#include "rattleback/run.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "rattleback/backend.hpp"
#include "rattleback/checkpoint.hpp"
#include "rattleback/message.hpp"
#include "rattleback/method_options.hpp"
#include "rattleback/parallel.hpp"
#include "rattleback/plan.hpp"
#include "rattleback/points.hpp"
#include "rattleback/sections.hpp"
#include "rattleback/statistics.hpp"
#include "rattleback/version.hpp"

namespace rattleback {
namespace {

using Type = ResultSink::Type;
using Clock = std::chrono::steady_clock;

/// Host memory for what one segment of samples produces.
constexpr std::uint64_t segment_bytes = std::uint64_t{4} << 20;
/// How long a segment should take: how soon a stop is noticed. Not part of the result.
constexpr double segment_seconds = 0.25;
/// Of the layout of a checkpoint.
constexpr std::uint64_t checkpoint_format = 1;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Where in time the samples are.
struct SampleGrid {
  std::vector<double> time;
  std::vector<std::int64_t>
      steps;  ///< of the interval before each sample; 0 for the first; unknown (0) where they vary
  std::vector<std::int64_t> before;  ///< the sum of those of earlier intervals
};

SampleGrid sample_grid(const Study& study, const Ensemble& ensemble, double step) {
  const std::uint64_t samples = *study.time.samples;
  SampleGrid grid{{study.time.start}, {0}, {0}};
  for (std::uint64_t s = 1; s <= samples; ++s) {
    if (ensemble.step_varies()) {
      grid.time.push_back(study.time.start +
                          (*study.time.end - study.time.start) * static_cast<double>(s) / static_cast<double>(samples));
      grid.steps.push_back(0);
      grid.before.push_back(0);
      continue;
    }
    const std::uint64_t every = *study.time.sample_every, total = *study.time.steps;
    const std::uint64_t reached = std::min(s * every, total);
    grid.time.push_back(study.time.start + static_cast<double>(reached) * step);
    grid.before.push_back(static_cast<std::int64_t>((s - 1) * every));
    grid.steps.push_back(static_cast<std::int64_t>(reached) - grid.before.back());
  }
  return grid;
}

/// What one run may take over from the one before it.
struct Buffers {
  Tile tile;
  SegmentOutput output;
};

/// How far a run is: everything before this is in the result, the statistics, or the tile.
struct Position {
  std::uint64_t first = 0;   ///< trajectory of the tile
  bool filled = false;       ///< the tile's initial states are in the result
  std::uint64_t sample = 0;  ///< the next one of the tile
  std::int64_t step = 0;     ///< steps towards it
};

class Runner {
 public:
  /// `files` and `file` belong to a run into a file, `from` to one that goes on.
  Runner(const Study& study, ResultSink& sink, const RunOptions& options, Backend& backend, Buffers& buffers,
         const RunFiles* files = nullptr, FileSink* file = nullptr, const CheckpointReader* from = nullptr)
      : study_(study),
        sink_(sink),
        options_(options),
        backend_(backend),
        tile_(buffers.tile),
        output_(buffers.output),
        files_(files),
        file_(file),
        system_(study.system_entry()),
        method_(study.method_entry()),
        ensemble_(study),
        threads_(worker_count(options.threads)),
        plan_(make_plan(study, ensemble_)),
        grid_(sample_grid(study, ensemble_, plan_.arguments.step)) {
    if (const std::string warning = method_numbers(study_).warning; !warning.empty() && options_.warn)
      options_.warn(warning);
    total_steps_ = check_points(study_, ensemble_, threads_);
    for (const Observable& observable : study_.observables) {
      series_.push_back(quantile_observables_);
      quantile_observables_ += !observable.quantiles.empty();
      bins_.push_back(observable.histogram ? observable.histogram->bins + 2 : 0);
    }
    tile_size_ = tile_trajectories();
    create_datasets();
    control_.tick = [this] { report_progress(); };
    const std::uint64_t samples = grid_.time.size();
    for (const std::uint64_t bins : bins_) histograms_.emplace_back(samples * bins);
    trees_.resize(samples * plan_.codes.size());
    co_trees_.resize(samples * plan_.pairs.size());
    if (quantile_observables_ > 0)
      values_ = std::make_unique<ValueStore>(samples * quantile_observables_, ensemble_.size(),
                                             files_ ? files_->values : std::filesystem::path());
    if (!study_.sections.empty()) {
      locate_ = std::make_unique<CrossingLocator>(plan_, study_.time.start, threads_);
      crossings_ = std::make_unique<CrossingStore>(files_ ? files_->crossings : std::filesystem::path(),
                                                   locate_->row_size(), study_.sections.size());
    }
    if (from) restore(*from);
    if (!file_) return;
    file_->reserve();
    if (from) file_->sync();
  }

  Summary operator()() {
    try {
      while (position_.first < ensemble_.size()) run_tile();
      write_statistics();
      write_crossings();
      write_attributes();
      report_progress();
      sink_.commit();
    } catch (const Error& error) {
      if (!file_ || error.kind() != Error::Kind::runtime || interrupted_) throw;
      throw Error(Error::Kind::runtime, std::string(error.what()) + "; " + rescue());
    }
    if (files_) files_->remove_scratch();
    return summary_;
  }

 private:
  [[nodiscard]] std::uint64_t tile_trajectories() const {
    std::uint64_t wanted = options_.tile;
    if (wanted == 0)
      wanted = backend_.tile_bytes() / (static_cast<std::uint64_t>(plan_.arguments.layout.rows) * sizeof(double));
    const std::uint64_t chunks = std::max<std::uint64_t>(1, (wanted + chunk_size - 1) / chunk_size);
    return chunks * chunk_size;
  }

  void create_datasets() {
    const std::uint64_t size = ensemble_.size(), samples = grid_.time.size();
    sink_.create("/time", Type::f64, {samples});
    sink_.write("/time", {0}, {samples}, grid_.time.data());
    for (const std::string& axis : ensemble_.axis_names()) sink_.create("/axes/" + axis, Type::f64, {size});
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
      for (const std::string& other : observable.correlation)
        sink_.create(group + "correlation_" + other, Type::f64, {samples});
      if (const auto& h = observable.histogram) {
        sink_.create(group + "histogram", Type::u64, {samples, h->bins});
        sink_.create(group + "histogram_outside", Type::u64, {samples, 2});
        sink_.create(group + "histogram_edges", Type::f64, {h->bins + 1});
      }
    }
    if (plan_.components.empty()) return;
    sink_.create("/state/mean", Type::f64, {samples, plan_.components.size()});
    sink_.create("/state/covariance", Type::f64, {samples, plan_.components.size(), plan_.components.size()});
  }

  /// Numbers of q, of v and p, of lambda.
  struct Widths {
    std::uint64_t elements, n, m;
  };
  [[nodiscard]] Widths widths() const {
    return {static_cast<std::uint64_t>(system_.elements), static_cast<std::uint64_t>(system_.n),
            static_cast<std::uint64_t>(system_.m)};
  }

  void create_state(const std::string& group, const Shape& shape) {
    const auto [elements, n, m] = widths();
    for (const auto& [name, width] : {std::pair{"q", elements}, {"v", n}, {"p", n}, {"lambda", m}}) {
      if (width == 0) continue;
      Shape full = shape;
      full.push_back(width);
      sink_.create(group + name, Type::f64, full);
    }
  }

  // Integration

  void run_tile() {
    const std::uint64_t first = position_.first;
    if (!position_.filled) {
      set_up_tile();
      fill(tile_);
      position_.filled = true;
    }
    longest_interval_ = 0;
    if (const int row = plan_.arguments.layout.steps_per_sample; row >= 0)
      for (std::uint64_t k = 0; k < tile_.count; ++k)
        longest_interval_ = std::max(longest_interval_, static_cast<std::int64_t>(tile_.at(k, row)));

    integrate([&] { backend_.begin(plan_, tile_); });
    if (pending_) absorb();
    while (position_.sample < grid_.time.size()) {
      Position next = position_;
      const Segment segment = next_segment(next);
      std::int64_t steps = 0;
      for (const Stretch& stretch : segment.stretches) steps += stretch.to - stretch.from;
      const double seconds = integrate([&] { backend_.run(segment, output_, control_); });
      adapt_budget(steps + static_cast<std::int64_t>(segment.stretches.size()), seconds);
      pending_first_ = position_.sample;
      pending_samples_ = segment.samples();
      position_ = next;
      pending_ = true;
      absorb();
      steps_since_checkpoint_ += static_cast<std::uint64_t>(steps);
      stop_or_checkpoint();
    }
    integrate([&] { backend_.fetch(tile_); });
    write_final(tile_);
    if (crossings_) crossings_->end_tile();
    position_ = {first + tile_size_};
  }

  /// Does the work, adds its time to that of the integration, and returns it.
  template <class Work>
  double integrate(Work work) {
    const auto start = Clock::now();
    work();
    const double seconds = seconds_since(start);
    summary_.wall_seconds += seconds;
    return seconds;
  }

  void set_up_tile() {
    tile_.first = position_.first;
    tile_.count = std::min(tile_size_, ensemble_.size() - tile_.first);
    tile_.rows = plan_.arguments.layout.rows;
    tile_.data.assign(tile_.chunks() * static_cast<std::uint64_t>(tile_.rows) * chunk_size, 0.0);
    tile_.recorded.clear();
    for (auto k = std::ranges::lower_bound(recorded_, tile_.first);
         k != recorded_.end() && *k < tile_.first + tile_.count; ++k)
      tile_.recorded.push_back(static_cast<std::uint32_t>(*k - tile_.first));
  }

  /// The next stretches, as long as the budget of steps and the memory for samples allow; moves the position on.
  Segment next_segment(Position& at) {
    const std::uint64_t per_sample =
        sizeof(double) * (tile_.chunks() * plan_.codes.size() * chunk_size +
                          tile_.recorded.size() * static_cast<std::uint64_t>(plan_.state_rows) * 2);
    const std::uint64_t most =
        std::clamp<std::uint64_t>(segment_bytes / std::max<std::uint64_t>(per_sample, 1), 1, 4096);
    Segment segment;
    segment.starts_at_initial = at.sample == 0;
    std::int64_t budget = budget_;
    for (std::uint64_t samples = 0; at.sample < grid_.time.size() && samples < most && budget > 0;) {
      const bool varying = plan_.arguments.layout.steps_per_sample >= 0;
      const std::int64_t length = varying && at.sample > 0 ? longest_interval_ : grid_.steps[at.sample];
      const std::int64_t to = std::min(length, at.step + budget);
      const std::int64_t interval = std::max<std::int64_t>(static_cast<std::int64_t>(at.sample) - 1, 0);
      segment.stretches.push_back({interval, grid_.before[at.sample], at.step, to, to == length});
      budget -= to - at.step + 1;
      at.step = to;
      if (to < length) break;
      ++at.sample;
      at.step = 0;
      ++samples;
    }
    return segment;
  }

  void adapt_budget(std::int64_t done, double seconds) {
    double wanted = segment_seconds;
    if (const double limit = study_.output.checkpoint.seconds; file_ && limit > 0) wanted = std::min(wanted, limit / 4);
    const double factor = std::clamp(wanted / std::max(seconds, 1e-6), 0.25, 4.0);
    budget_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(done) * factor), 1,
                                       std::int64_t{1} << 40);
    if (const std::uint64_t steps = study_.output.checkpoint.steps; file_ && steps > 0)
      budget_ = std::min<std::int64_t>(budget_, static_cast<std::int64_t>(std::min<std::uint64_t>(steps, 1ull << 40)));
  }

  /// Puts the output of a segment where it belongs. What may fail comes first, what cannot be done twice last.
  void absorb() {
    const std::uint64_t observables = plan_.codes.size(), pairs = plan_.pairs.size(), chunks = tile_.chunks();
    write_records(tile_, pending_first_, pending_samples_);
    if (values_) {
      std::vector<double> series(tile_.count);
      for (std::uint64_t s = 0; s < pending_samples_; ++s)
        for (std::uint64_t o = 0; o < study_.observables.size(); ++o) {
          if (study_.observables[o].quantiles.empty()) continue;
          for (std::uint64_t k = 0; k < tile_.count; k += chunk_size)
            std::copy_n(values_at(s, k / chunk_size, o), std::min<std::uint64_t>(chunk_size, tile_.count - k),
                        series.data() + k);
          values_->write((pending_first_ + s) * quantile_observables_ + series_[o], tile_.first, series.data(),
                         tile_.count);
        }
    }
    if (crossings_ && !output_.crossings.empty()) crossings_->append((*locate_)(tile_, output_.crossings));

    parallel_for(pending_samples_, threads_, [&](std::uint64_t s) {
      const std::uint64_t sample = pending_first_ + s;
      for (std::uint64_t o = 0; o < observables; ++o)
        for (std::uint64_t c = 0; c < chunks; ++c)
          trees_[sample * observables + o].push(output_.moments[(s * observables + o) * chunks + c]);
      for (std::uint64_t i = 0; i < pairs; ++i)
        for (std::uint64_t c = 0; c < chunks; ++c)
          co_trees_[sample * pairs + i].push(output_.co_moments[(s * pairs + i) * chunks + c]);
      for (std::uint64_t o = 0; o < histograms_.size(); ++o) {
        if (bins_[o] == 0) continue;
        for (std::uint64_t c = 0; c < chunks; ++c)
          count_into(*study_.observables[o].histogram, values_at(s, c, o), chunk_size,
                     histograms_[o].data() + sample * bins_[o]);
      }
    });
    pending_ = false;
  }

  [[nodiscard]] const double* values_at(std::uint64_t s, std::uint64_t chunk, std::uint64_t observable) const {
    return output_.values.data() + ((s * tile_.chunks() + chunk) * plan_.codes.size() + observable) * chunk_size;
  }

  /// Evaluates the initial states of a tile into its rows and into the result.
  void fill(Tile& tile) {
    const ChunkLayout& rows = plan_.arguments.layout;
    const auto [elements, n, m] = widths();
    const std::size_t axes = ensemble_.axis_names().size();
    const bool keep = study_.output.initial_state;
    std::vector<double> q, v, p, lambda;
    if (keep) {
      q.resize(tile.count * elements);
      for (auto* part : {&v, &p}) part->resize(tile.count * n);
      lambda.resize(tile.count * m);
    }
    std::vector<std::vector<double>> axis(axes, std::vector<double>(tile.count));
    const CompiledPair& pair = *Catalogue::instance().pair(system_, method_, plan_.key, Isa::scalar);
    parallel_for(tile.chunks(), threads_, [&](std::uint64_t c) {
      Ensemble::Evaluator evaluate(ensemble_);
      const std::uint64_t end = std::min(tile.count, (c + 1) * chunk_size);
      for (std::uint64_t k = c * chunk_size; k < end; ++k) {
        const InitialData& data = evaluate(tile.first + k);
        const Point point(system_, ensemble_, study_.ensemble.project, data, method_.in_space);
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
          std::vector<double> tangent(elements + n + m);
          system_.tangent(data.parameters.data(), point.q.data(), point.v.data(), method_.in_space, tangent.data());
          for (std::size_t i = 0; i < tangent.size(); ++i) tile.at(k, rows.tangent + static_cast<int>(i)) = tangent[i];
        }
      }
      for (std::uint64_t k = end; k < (c + 1) * chunk_size; ++k) tile.at(k, rows.status) = status_padding;
      pair.surfaces(plan_.arguments, tile.chunk(c), 0, chunk_size);
    });
    for (std::size_t i = 0; i < axes; ++i)
      sink_.write("/axes/" + ensemble_.axis_names()[i], {tile.first}, {tile.count}, axis[i].data());
    if (!keep) return;
    write_state("/initial/", tile, q, v, p, lambda);
  }

  // Results

  void write_rows(const std::string& group, const std::string& name, const Tile& tile, std::uint64_t width,
                  const std::vector<double>& data) {
    if (width > 0) sink_.write(group + name, {tile.first, 0}, {tile.count, width}, data.data());
  }

  void write_state(const std::string& group, const Tile& tile, const std::vector<double>& q,
                   const std::vector<double>& v, const std::vector<double>& p, const std::vector<double>& lambda) {
    const Widths width = widths();
    write_rows(group, "q", tile, width.elements, q);
    write_rows(group, "v", tile, width.n, v);
    write_rows(group, "p", tile, width.n, p);
    write_rows(group, "lambda", tile, width.m, lambda);
  }

  /// The parameters of trajectory k of a tile.
  [[nodiscard]] std::vector<double> parameters_of(const Tile& tile, std::uint64_t k) const {
    const std::size_t count = system_.parameters.size();
    std::vector<double> parameters(plan_.arguments.parameters, plan_.arguments.parameters + count);
    for (std::size_t i = 0; i < count; ++i)
      if (const int row = plan_.arguments.parameter_row[i]; row >= 0) parameters[i] = tile.at(k, row);
    return parameters;
  }

  void write_records(const Tile& tile, std::uint64_t first_sample, std::uint64_t samples) {
    const std::uint64_t records = tile.recorded.size();
    if (records == 0 || samples == 0) return;
    const auto first_record =
        static_cast<std::uint64_t>(std::ranges::lower_bound(recorded_, tile.first) - recorded_.begin());
    const auto [elements, n, m] = widths();
    std::vector<double> q(samples * records * elements), v(samples * records * n), p(v.size()),
        lambda(samples * records * m);
    parallel_for(records, threads_, [&](std::uint64_t r) {
      const std::vector<double> parameters = parameters_of(tile, tile.recorded[r]);
      for (std::uint64_t s = 0; s < samples; ++s) {
        const std::uint64_t i = s * records + r;
        const double* state = output_.records.data() + i * static_cast<std::uint64_t>(plan_.state_rows);
        std::copy_n(state, elements, q.data() + i * elements);
        std::copy_n(state + elements, n, p.data() + i * n);
        std::copy_n(state + elements + n, m, lambda.data() + i * m);
        velocity_of_state(system_, parameters.data(), q.data() + i * elements, p.data() + i * n, method_.in_space,
                          v.data() + i * n);
      }
    });
    const auto write = [&](const std::string& name, std::uint64_t width, const std::vector<double>& data) {
      if (width > 0)
        sink_.write("/trajectories/" + name, {first_sample, first_record, 0}, {samples, records, width}, data.data());
    };
    write("q", elements, q);
    write("v", n, v);
    write("p", n, p);
    write("lambda", m, lambda);
  }

  void write_final(const Tile& tile) {
    const ChunkLayout& rows = plan_.arguments.layout;
    const auto [elements, n, m] = widths();
    std::vector<std::uint32_t> status(tile.count);
    std::vector<std::uint64_t> steps(tile.count), iterations(tile.count);
    std::vector<double> residual(tile.count);
    Summary sums = summary_;
    for (std::uint64_t k = 0; k < tile.count; ++k) {
      status[k] = static_cast<std::uint32_t>(tile.at(k, rows.status));
      steps[k] = static_cast<std::uint64_t>(tile.at(k, rows.steps));
      iterations[k] = static_cast<std::uint64_t>(tile.at(k, rows.iterations));
      residual[k] = tile.at(k, rows.residual);
      sums.failed += status[k] != status_good;
      sums.trajectory_steps += steps[k];
      sums.iterations += iterations[k];
    }
    sink_.write("/final/status", {tile.first}, {tile.count}, status.data());
    sink_.write("/final/steps", {tile.first}, {tile.count}, steps.data());
    sink_.write("/final/iterations", {tile.first}, {tile.count}, iterations.data());
    sink_.write("/final/residual", {tile.first}, {tile.count}, residual.data());
    if (rows.tangent >= 0) write_lyapunov(tile);
    if (study_.output.final_state) {
      std::vector<double> q(tile.count * elements), v(tile.count * n), p(v.size()), lambda(tile.count * m);
      parallel_for(tile.chunks(), threads_, [&](std::uint64_t c) {
        for (std::uint64_t k = c * chunk_size; k < std::min(tile.count, (c + 1) * chunk_size); ++k) {
          for (std::uint64_t i = 0; i < elements; ++i) q[k * elements + i] = tile.at(k, rows.q + static_cast<int>(i));
          for (std::uint64_t i = 0; i < n; ++i) p[k * n + i] = tile.at(k, rows.p + static_cast<int>(i));
          for (std::uint64_t i = 0; i < m; ++i) lambda[k * m + i] = tile.at(k, rows.lambda + static_cast<int>(i));
          velocity_of_state(system_, parameters_of(tile, k).data(), q.data() + k * elements, p.data() + k * n,
                            method_.in_space, v.data() + k * n);
        }
      });
      write_state("/final/", tile, q, v, p, lambda);
    }
    summary_ = sums;
  }

  /// The exponents at the end, by the same function as at the samples.
  void write_lyapunov(const Tile& tile) {
    const auto observe = Catalogue::instance().pair(system_, method_, plan_.key, Isa::scalar)->observe;
    const ObservableCode code{ObservableCode::lyapunov, 0};
    std::vector<double> values(tile.chunks() * chunk_size);
    for (std::uint64_t c = 0; c < tile.chunks(); ++c)
      observe(plan_.arguments, tile.chunk(c), 0, chunk_size, &code, 1, values.data() + c * chunk_size);
    sink_.write("/final/lyapunov", {tile.first}, {tile.count}, values.data());
  }

  void write_statistics() {
    const std::uint64_t samples = grid_.time.size(), observables = plan_.codes.size();
    std::uint64_t pair = 0;
    for (std::uint64_t o = 0; o < study_.observables.size(); ++o) {
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
      for (const std::string& other : observable.correlation) {
        for (std::uint64_t s = 0; s < samples; ++s)
          series[s] = correlation_of(co_trees_[s * plan_.pairs.size() + pair].result());
        ++pair;
        sink_.write(group + "correlation_" + other, {0}, {samples}, series.data());
      }
      if (observable.histogram) write_histogram(group, o);
      if (observable.quantiles.empty()) continue;
      std::vector<std::vector<double>> quantiles(samples);
      parallel_for(samples, threads_, [&](std::uint64_t s) {
        quantiles[s] = values_->quantiles(s * quantile_observables_ + series_[o], observable.quantiles);
      });
      for (std::size_t l = 0; l < observable.quantiles.size(); ++l) {
        for (std::uint64_t s = 0; s < samples; ++s) series[s] = quantiles[s][l];
        sink_.write(group + fmt::format("quantile_{}", observable.quantiles[l]), {0}, {samples}, series.data());
      }
    }
    write_covariance();
  }

  void write_histogram(const std::string& group, std::uint64_t o) {
    const Histogram& histogram = *study_.observables[o].histogram;
    const std::uint64_t samples = grid_.time.size(), bins = histogram.bins;
    std::vector<std::uint64_t> inside, outside;
    for (std::uint64_t s = 0; s < samples; ++s) {
      const auto counts = histograms_[o].begin() + static_cast<std::ptrdiff_t>(s * bins_[o]);
      inside.insert(inside.end(), counts + 1, counts + 1 + static_cast<std::ptrdiff_t>(bins));
      outside.push_back(counts[0]);
      outside.push_back(counts[static_cast<std::ptrdiff_t>(bins) + 1]);
    }
    std::vector<double> edges(bins + 1);
    for (std::uint64_t i = 0; i <= bins; ++i)
      edges[i] = histogram.from + (histogram.to - histogram.from) * static_cast<double>(i) / static_cast<double>(bins);
    sink_.write(group + "histogram", {0, 0}, {samples, bins}, inside.data());
    sink_.write(group + "histogram_outside", {0, 0}, {samples, 2}, outside.data());
    sink_.write(group + "histogram_edges", {0}, {bins + 1}, edges.data());
  }

  void write_covariance() {
    const std::uint64_t samples = grid_.time.size(), size = plan_.components.size();
    if (size == 0) return;
    std::vector<double> mean, covariance(samples * size * size);
    for (std::uint64_t s = 0; s < samples; ++s) {
      std::uint64_t pair = s * plan_.pairs.size() + plan_.first_covariance;
      for (std::uint64_t i = 0; i < size; ++i) {
        const Moments moments =
            trees_[s * plan_.codes.size() + static_cast<std::uint64_t>(plan_.components[i])].result();
        mean.push_back(statistic_of(moments, "mean"));
        for (std::uint64_t j = 0; j <= i; ++j)
          covariance[(s * size + i) * size + j] = covariance[(s * size + j) * size + i] =
              covariance_of(co_trees_[pair++].result());
      }
    }
    sink_.write("/state/mean", {0, 0}, {samples, size}, mean.data());
    sink_.write("/state/covariance", {0, 0, 0}, {samples, size, size}, covariance.data());
  }

  void write_crossings() {
    if (!crossings_) return;
    const auto [elements, n, m] = widths();
    struct Column {
      const char* name;
      std::uint64_t first, width;
    };
    const std::uint64_t state = CrossingRow::state;
    const Column columns[] = {{"time", CrossingRow::time, 1},
                              {"direction", CrossingRow::direction, 1},
                              {"residual", CrossingRow::residual, 1},
                              {"q", state, elements},
                              {"v", state + elements, n},
                              {"p", state + elements + n, n},
                              {"lambda", state + elements + 2 * n, m}};
    for (std::uint64_t i = 0; i < study_.sections.size(); ++i) {
      const std::string group = "/sections/" + study_.sections[i].name + "/";
      const std::uint64_t total = crossings_->count(i);
      sink_.create(group + "trajectory", Type::u64, {total});
      sink_.create(group + "status", Type::u32, {total});
      for (const Column& column : columns)
        if (column.width > 0)
          sink_.create(group + column.name, Type::f64,
                       column.first < state ? Shape{total} : Shape{total, column.width});
      std::uint64_t written = 0;
      for (std::uint64_t t = 0; t < crossings_->tiles(); ++t) {
        const std::vector<double> rows = crossings_->sorted(t, i);
        const std::uint64_t size = locate_->row_size(), count = rows.size() / size;
        std::vector<std::uint64_t> trajectory(count);
        std::vector<std::uint32_t> status(count);
        for (std::uint64_t k = 0; k < count; ++k) {
          trajectory[k] = static_cast<std::uint64_t>(rows[k * size + CrossingRow::trajectory]);
          status[k] = static_cast<std::uint32_t>(rows[k * size + CrossingRow::status]);
        }
        sink_.write(group + "trajectory", {written}, {count}, trajectory.data());
        sink_.write(group + "status", {written}, {count}, status.data());
        for (const Column& column : columns) {
          std::vector<double> values(count * column.width);
          for (std::uint64_t k = 0; k < count; ++k)
            std::copy_n(rows.data() + k * size + column.first, column.width, values.data() + k * column.width);
          if (column.width > 0)
            sink_.write(group + column.name, column.first < state ? Shape{written} : Shape{written, 0},
                        column.first < state ? Shape{count} : Shape{count, column.width}, values.data());
        }
        written += count;
      }
    }
  }

  void write_attributes() {
    summary_.backend = backend_.name();
    summary_.device = backend_.device();
    summary_.threads = backend_.threads();
    summary_.trajectories = ensemble_.size();
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
    if (options_.progress)
      options_.progress(
          {std::min(control_.trajectory_steps.load(), total_steps_), total_steps_, seconds_since(start_)});
  }

  // Checkpoints

  void stop_or_checkpoint() {
    if (options_.stop.stop_requested()) {
      interrupted_ = true;
      if (!file_) throw Error(Error::Kind::runtime, "interrupted; nothing was written");
      save_checkpoint();
      throw Error(Error::Kind::runtime, "interrupted; 'rattleback resume " + files_->result.string() + "' goes on");
    }
    if (!file_) return;
    const Study::Checkpoint& wanted = study_.output.checkpoint;
    if ((wanted.steps > 0 && steps_since_checkpoint_ >= wanted.steps) ||
        (wanted.seconds > 0 && seconds_since(last_checkpoint_) >= wanted.seconds))
      try_checkpoint();
  }

  /// The space of the result is taken: a disk too full for a checkpoint is no reason to stop.
  void try_checkpoint() {
    try {
      save_checkpoint();
    } catch (const Error& error) {
      if (error.kind() != Error::Kind::runtime) throw;
      if (options_.warn) options_.warn(std::string("no checkpoint: ") + error.what() + "; the run goes on");
    }
    last_checkpoint_ = Clock::now();
    steps_since_checkpoint_ = 0;
  }

  /// After a failure: saves what there is, if that is possible. Returns what to do.
  std::string rescue() {
    try {
      save_checkpoint();
    } catch (const Error&) {
      if (!std::filesystem::exists(files_->checkpoint)) return "nothing could be saved";
    }
    return "'rattleback resume " + files_->result.string() + "' goes on from the last checkpoint";
  }

  void save_checkpoint() {
    if (position_.filled && position_.first < ensemble_.size()) backend_.fetch(tile_);
    if (values_) values_->sync();
    if (crossings_) crossings_->sync();
    file_->sync();
    CheckpointWriter out(files_->checkpoint);
    out.attribute("study", study_.to_toml());
    out.attribute("layout", file_->layout());
    out.attribute("version", std::string(version()));
    out.attribute("git", std::string(git_commit()));
    out.put("/position",
            std::vector<std::uint64_t>{checkpoint_format, input_hash(), tile_size_, position_.first, position_.filled,
                                       position_.sample, static_cast<std::uint64_t>(position_.step), pending_,
                                       pending_first_, pending_samples_, control_.trajectory_steps,
                                       summary_.trajectory_steps, summary_.iterations, summary_.failed});
    out.put("/seconds", std::vector<double>{summary_.wall_seconds});
    put_trees(out, "/trees", trees_);
    put_trees(out, "/co_trees", co_trees_);
    for (std::size_t o = 0; o < histograms_.size(); ++o)
      if (bins_[o] > 0) out.put("/histograms/" + std::to_string(o), histograms_[o]);
    if (values_) out.put("/values", values_->memory());
    if (crossings_) out.put("/crossings", crossings_->position());
    if (position_.filled) out.put("/tile", persistent_rows());
    if (pending_) {
      out.put("/pending/moments", numbers_of(output_.moments));
      out.put("/pending/co_moments", numbers_of(output_.co_moments));
      out.put("/pending/values", output_.values);
      out.put("/pending/records", output_.records);
      out.put("/pending/crossings", output_.crossings);
    }
    out.commit();
  }

  void restore(const CheckpointReader& in) {
    const std::vector<std::uint64_t> at = in.counts("/position");
    if (at.size() != 14 || at[0] != checkpoint_format)
      input_error(files_->checkpoint.string(),
                  "was written by another version of rattleback; finish it with version " + in.text("version"));
    if (at[1] != input_hash())
      input_error(study_.ensemble.file.string(),
                  "has changed since the run began (its other trajectories would start elsewhere); restore it");
    tile_size_ = at[2];
    position_ = {at[3], at[4] != 0, at[5], static_cast<std::int64_t>(at[6])};
    pending_ = at[7] != 0;
    pending_first_ = at[8];
    pending_samples_ = at[9];
    control_.trajectory_steps = at[10];
    summary_.trajectory_steps = at[11];
    summary_.iterations = at[12];
    summary_.failed = at[13];
    summary_.wall_seconds = in.numbers("/seconds").at(0);
    get_trees(in, "/trees", trees_);
    get_trees(in, "/co_trees", co_trees_);
    for (std::size_t o = 0; o < histograms_.size(); ++o)
      if (bins_[o] > 0) histograms_[o] = in.counts("/histograms/" + std::to_string(o));
    if (values_) values_->memory() = in.numbers("/values");
    if (crossings_) crossings_->restore(in.counts("/crossings"));
    if (position_.filled) {
      set_up_tile();
      restore_rows(in.numbers("/tile"));
    }
    if (!pending_) return;
    output_.moments = objects_of<Moments>(in.numbers("/pending/moments"));
    output_.co_moments = objects_of<CoMoments>(in.numbers("/pending/co_moments"));
    output_.values = in.numbers("/pending/values");
    output_.records = in.numbers("/pending/records");
    output_.crossings = in.numbers("/pending/crossings");
  }

  /// Changes when a file that the initial states come from does.
  [[nodiscard]] std::uint64_t input_hash() const {
    return study_.ensemble.file.empty() ? 0 : hash_file(study_.directory / study_.ensemble.file);
  }

  std::vector<double> persistent_rows() const {
    const std::size_t kept = static_cast<std::size_t>(plan_.arguments.layout.persistent) * chunk_size;
    std::vector<double> rows;
    rows.reserve(tile_.chunks() * kept);
    for (std::uint64_t c = 0; c < tile_.chunks(); ++c) rows.insert(rows.end(), tile_.chunk(c), tile_.chunk(c) + kept);
    return rows;
  }

  void restore_rows(const std::vector<double>& rows) {
    const std::size_t kept = static_cast<std::size_t>(plan_.arguments.layout.persistent) * chunk_size;
    for (std::uint64_t c = 0; c < tile_.chunks(); ++c) std::copy_n(rows.data() + c * kept, kept, tile_.chunk(c));
  }

  /// Moments as the numbers they are made of.
  template <class Node>
  static std::vector<double> numbers_of(const std::vector<Node>& nodes) {
    static_assert(sizeof(Node) % sizeof(double) == 0 && std::is_trivially_copyable_v<Node>);
    std::vector<double> numbers(nodes.size() * (sizeof(Node) / sizeof(double)));
    if (!nodes.empty()) std::memcpy(numbers.data(), nodes.data(), nodes.size() * sizeof(Node));
    return numbers;
  }
  template <class Node>
  static std::vector<Node> objects_of(const std::vector<double>& numbers) {
    std::vector<Node> nodes(numbers.size() / (sizeof(Node) / sizeof(double)));
    if (!nodes.empty()) std::memcpy(nodes.data(), numbers.data(), nodes.size() * sizeof(Node));
    return nodes;
  }

  template <class Node>
  static void put_trees(CheckpointWriter& out, const std::string& group, const std::vector<ChunkTree<Node>>& trees) {
    std::vector<std::uint64_t> pushed;
    std::vector<Node> waiting;
    for (const ChunkTree<Node>& tree : trees) {
      pushed.push_back(tree.pushed());
      waiting.insert(waiting.end(), tree.waiting().begin(), tree.waiting().end());
    }
    out.put(group + "/pushed", pushed);
    out.put(group + "/waiting", numbers_of(waiting));
  }
  template <class Node>
  static void get_trees(const CheckpointReader& in, const std::string& group, std::vector<ChunkTree<Node>>& trees) {
    const std::vector<std::uint64_t> pushed = in.counts(group + "/pushed");
    const std::vector<Node> waiting = objects_of<Node>(in.numbers(group + "/waiting"));
    auto next = waiting.begin();
    for (std::size_t i = 0; i < trees.size(); ++i) {
      const auto end = next + std::popcount(pushed.at(i));  // one per bit of the count
      trees[i] = ChunkTree<Node>(pushed[i], {next, end});
      next = end;
    }
  }

  const Study& study_;
  ResultSink& sink_;
  const RunOptions& options_;
  Backend& backend_;
  Tile& tile_;
  SegmentOutput& output_;
  const RunFiles* files_;
  FileSink* file_;
  const SystemEntry& system_;
  const MethodEntry& method_;
  Ensemble ensemble_;
  unsigned threads_;

  Plan plan_;
  SampleGrid grid_;
  std::uint64_t tile_size_ = 0, total_steps_ = 0;
  std::vector<std::uint64_t> recorded_;
  std::uint64_t quantile_observables_ = 0;
  std::vector<std::uint64_t> series_;  // of an observable among those with quantiles

  Position position_;
  bool pending_ = false;  // output_ holds samples [pending_first_, + pending_samples_) that are not in the result yet
  std::uint64_t pending_first_ = 0, pending_samples_ = 0;
  std::int64_t longest_interval_ = 0;  // of the tile, in steps, where they vary
  std::int64_t budget_ = 64;           // steps of a segment

  std::vector<ChunkTree<Moments>> trees_;       // [sample][observable]
  std::vector<ChunkTree<CoMoments>> co_trees_;  // [sample][pair]
  std::vector<std::uint64_t> bins_;             // per observable of the study, with the two outside; 0 without
  std::vector<std::vector<std::uint64_t>> histograms_;
  std::unique_ptr<ValueStore> values_;
  std::unique_ptr<CrossingLocator> locate_;
  std::unique_ptr<CrossingStore> crossings_;

  Control control_;
  Summary summary_;
  Clock::time_point start_ = Clock::now(), last_checkpoint_ = start_;
  std::uint64_t steps_since_checkpoint_ = 0;
  bool interrupted_ = false;
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

  /// The backend, for a validated study.
  Backend& backend_for(const Study& study) {
    if (!backend || !backend->treats(study)) backend = make_backend(options.backend, options.threads, study);
    return *backend;
  }

  Summary run(const Study& study, ResultSink& sink) {
    const Study complete = validated(study);
    return Runner(complete, sink, options, backend_for(complete), buffers)();
  }

  Summary run(const Study& study, const std::filesystem::path& result) {
    const Study complete = validated(study);
    Backend& chosen = backend_for(complete);
    const RunFiles files(result);
    if (files.interrupted())
      input_error(files.checkpoint.string(),
                  "holds an interrupted run into this result; 'rattleback resume " + result.string() +
                      "' goes on with it; delete this file, or choose another with -o, to run anew");
    FileSink sink(result);
    files.remove_scratch();
    try {
      return Runner(complete, sink, options, chosen, buffers, &files, &sink)();
    } catch (...) {
      if (!std::filesystem::exists(files.checkpoint)) {
        sink.discard();
        files.remove_scratch();
      }
      throw;
    }
  }

  Summary resume(const std::filesystem::path& result) {
    const RunFiles files(result);
    if (!std::filesystem::exists(files.checkpoint)) {
      if (!std::filesystem::exists(result)) input_error(result.string(), "has no checkpoint to go on from");
      const ResultFile finished(result);  // throws when it is damaged or not ours
      input_error(result.string(), "is finished; there is nothing to go on with");
    }
    const CheckpointReader checkpoint(files.checkpoint);
    const Study study = Study::parse(checkpoint.text("study"), files.checkpoint.string());
    if (!files.interrupted() && std::filesystem::exists(result)) {
      files.remove_scratch();  // the run ended between putting the result in place and removing the checkpoint
      input_error(result.string(), "is finished; there is nothing to go on with");
    }
    Backend& chosen = backend_for(study);
    FileSink sink(result, checkpoint.text("layout"));
    return Runner(study, sink, options, chosen, buffers, &files, &sink, &checkpoint)();
  }
};

Session::Session(RunOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

Summary Session::run(const Study& study, ResultSink& sink) { return impl_->run(study, sink); }
Summary Session::run(const Study& study, const std::filesystem::path& result) { return impl_->run(study, result); }
Summary Session::resume(const std::filesystem::path& result) { return impl_->resume(result); }

double Session::measure_peak_flops(const Study& study) {
  const Study complete = validated(study);
  return impl_->backend_for(complete).measure_peak_flops(complete);
}

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

Summary run_on(Backend& backend, const Study& study, ResultSink& sink, const RunOptions& options) {
  Buffers buffers;
  return Runner(study, sink, options, backend, buffers)();
}

std::uint64_t state_bytes(const Study& study) {
  const Study complete = validated(study);
  return static_cast<std::uint64_t>(make_plan(complete, Ensemble(complete)).arguments.layout.rows) * sizeof(double);
}

void check_initial_states(const Study& study, unsigned threads) {
  const Study complete = validated(study);
  check_points(complete, Ensemble(complete), worker_count(threads));
}

std::uint64_t result_bytes(const Study& study) {
  const Study complete = validated(study);
  const Ensemble ensemble(complete);
  const SystemEntry& system = complete.system_entry();
  const std::uint64_t state = static_cast<std::uint64_t>(system.elements + 2 * system.n + system.m);
  const std::uint64_t samples = *complete.time.samples + 1;
  std::uint64_t numbers = ensemble.size() * (4 + ensemble.axis_names().size());
  if (complete.output.initial_state) numbers += ensemble.size() * state;
  if (complete.output.final_state) numbers += ensemble.size() * state;
  numbers +=
      samples * state * (complete.output.all_trajectories ? ensemble.size() : complete.output.trajectories.size());
  for (const Observable& observable : complete.observables)
    numbers += samples * (1 + observable.statistics.size() + observable.quantiles.size() +
                          observable.correlation.size() + (observable.histogram ? observable.histogram->bins + 2 : 0));
  std::uint64_t kept = 0;  // for quantiles, until the end
  for (const Observable& observable : complete.observables) kept += observable.quantiles.empty() ? 0 : samples;
  kept = ValueStore::file_bytes(kept, ensemble.size());
  return numbers * sizeof(double) + kept;
}

}  // namespace rattleback
