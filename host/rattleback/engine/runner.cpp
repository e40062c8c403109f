// Runner: the integration, and the output of its rounds.

#include "rattleback/engine/runner.hpp"

#include <algorithm>
#include <functional>
#include <future>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/loop/exponents.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/results/checkpoint.hpp"
#include "rattleback/study/points.hpp"

namespace rattleback {
namespace {

/// Limit in bytes for the host memory of one round's output.
constexpr std::uint64_t round_bytes = std::uint64_t{4} << 20;
/// Wanted time of a round in seconds. A stop is noticed after a round. The value does not change the result.
constexpr double round_seconds = 0.25;
/// Least time of a round in seconds, even when a study wants frequent checkpoints.
constexpr double least_seconds = 0.01;

SampleGrid sample_grid(const Problem& problem, const Ensemble& ensemble, double step) {
  const Study::Time& time = problem.study.time;
  SampleGrid grid{problem.sample_times(step), {0}, {0}};
  for (std::uint64_t s = 1; s <= *time.samples; ++s) {
    const std::uint64_t every = ensemble.step_varies() ? 0 : *time.sample_every, before = (s - 1) * every;
    grid.before.push_back(static_cast<std::int64_t>(before));
    grid.steps.push_back(every == 0 ? 0 : static_cast<std::int64_t>(std::min(s * every, *time.steps) - before));
  }
  return grid;
}

/// Starts the work in a new thread. If the system gives no thread, the work is done when the caller waits for the
/// future.
std::future<void> in_background(const std::function<void()>& work) {
  return std::async(std::launch::async | std::launch::deferred, [work] {
    const FloatingPointScope environment;
    work();
  });
}

}  // namespace

Runner::Runner(const Problem& problem, ResultSink& sink, const RunOptions& options, Backend& backend, Buffers& buffers,
               const RunFiles* files, FileSink* file, const CheckpointReader* from, const std::optional<Range>& part)
    : problem_(problem),
      study_(problem.study),
      target_(sink),
      sink_(sink, summary_.phases.write),
      options_(options),
      backend_(backend),
      tile_(buffers.tile),
      output_(buffers.output),
      computed_(buffers.computed),
      files_(files),
      file_(file),
      system_(*problem.system),
      method_(*problem.method),
      whole_(!part),
      ensemble_(problem, part.value_or(Range{})),
      start_kernel_(find_start_kernel(problem, ensemble_)),
      range_(ensemble_.range()),
      input_digest_(files ? ensemble_.file_digest() : 0),
      threads_(worker_count(options.threads)),
      plan_(make_plan(problem, ensemble_)),
      grid_(sample_grid(problem, ensemble_, plan_.arguments.step)),
      statistics_(problem, ensemble_, range_, plan_, grid_.time, threads_,
                  files_ ? files_->values : std::filesystem::path(), file_ ? file_->run() : std::string()),
      fates_(problem),
      position_{range_.first} {
  if (!problem.warning.empty() && options_.warn) options_.warn(problem.warning);
  check(from != nullptr);
  create_datasets();
  control_.tick = [this] { report_progress(); };
  if (plan_.arguments.surfaces.count > 0) {
    locate_ = std::make_unique<CrossingLocator>(plan_, study_.time.start, threads_);
    crossings_ = std::make_unique<CrossingStore>(files_ ? files_->crossings : std::filesystem::path(),
                                                 file_ ? file_->run() : std::string(), locate_->row_size(),
                                                 study_.sections.size() + study_.stops.size());
  }
  if (from) restore(*from);
  summary_.phases.compile += backend_.compile_seconds;
  if (!file_) return;
  file_->compress(static_cast<unsigned>(study_.output.compression.value_or(0)));
  file_->reserve();
  if (from) write_checkpoint();  // describes the present part
}

Summary Runner::operator()() {
  try {
    while (position_.first < range_.last) run_tile();
    spend(summary_.phases.reduce, [this] {
      if (whole_) {
        statistics_.write(sink_, options_.warn);
      } else {
        statistics_.save_part(sink_);
      }
      write_crossings();
    });
    write_attributes();
    report_progress();
    sink_.commit();
    if (file_ && options_.warn && !file_->doubt().empty()) options_.warn(file_->doubt());
  } catch (const Error& error) {
    if (!file_ || interrupted_ || file_->complete()) throw;
    throw Error(Error::Kind::runtime, std::string(error.what()) + "; " + rescue());
  }
  if (files_) files_->remove_scratch();
  return summary_;
}

std::uint64_t Runner::tile_trajectories() const {
  std::uint64_t wanted = options_.tile;
  if (wanted == 0)
    wanted = backend_.tile_bytes() / (static_cast<std::uint64_t>(plan_.arguments.layout.rows) * sizeof(double));
  const std::uint64_t chunks = std::max<std::uint64_t>(1, (wanted + chunk_size - 1) / chunk_size);
  return chunks * chunk_size;
}

void Runner::run_tile() {
  const std::uint64_t first = position_.first;
  if (!position_.filled) {
    spend(summary_.phases.prepare, [this] {
      if (std::exchange(filled_by_check_, false)) {
        list_recorded();
      } else {
        set_up_tile();
        begin_filling(tile_);
        fill(tile_);
      }
      end_filling(tile_);
    });
    position_.filled = true;
  }
  longest_interval_ = calls_ = 0;
  reached_ = false;
  if (const int row = plan_.arguments.layout.steps_per_sample; row >= 0)
    for (std::uint64_t k = 0; k < tile_.count; ++k)
      longest_interval_ = std::max(longest_interval_, static_cast<std::int64_t>(tile_.at(k, row)));

  const std::uint64_t steps_before = control_.trajectory_steps;
  try {
    integrate([&] { backend_.begin(plan_, tile_); });
    states_ = States::backend;
    integrate_tile();
  } catch (const OutOfMemory&) {
    // No output of this tile has left the backend, so a smaller tile can begin again.
    if (position_.sample > 0 || position_.step > 0 || !halve_tile()) throw;
    control_.trajectory_steps = steps_before;
    return;
  }
  if (pending_) absorb();
  integrate([&] { backend_.fetch(tile_); });
  states_ = States::host;
  spend(summary_.phases.reduce, [this] { end_tile(); });
  position_ = {first + tile_size_};
}

bool Runner::halve_tile() {
  const std::uint64_t chunks = tile_.chunks();
  states_ = States::host;
  if (chunks == 1) return false;
  tile_size_ = (chunks + 1) / 2 * chunk_size;
  position_.filled = false;
  if (!halved_ && options_.warn) options_.warn("the device has too little memory for a tile; it is halved");
  halved_ = true;
  return true;
}

void Runner::integrate_tile() {
  while (position_.sample < grid_.time.size()) {
    Position next = position_;
    const Round round = next_round(next);
    const std::uint64_t sample = position_.sample, samples = round.samples();
    std::int64_t steps = 0;
    for (const Stretch& stretch : round.stretches) steps += stretch.to - stretch.from;
    std::future<void> output;  // output of the round before
    if (pending_) output = in_background([this] { absorb(); });
    states_ = States::nowhere;
    const double seconds = integrate([&] { backend_.run(round, computed_, control_); });
    if (plan_.by_density())
      steps = computed_.calls * steps_per_call * static_cast<std::int64_t>(round.stretches.size());
    adapt_budget(steps + static_cast<std::int64_t>(round.stretches.size()), seconds);
    if (plan_.by_density()) {
      const bool known = samples > 0 && !reached_ && sample > 0;
      reached_ = samples == 0 && !computed_.waiting;
      if (reached_ || known) calls_ = computed_.calls + (samples == 0 ? position_.step : 0);
    }
    position_ = next;
    states_ = States::backend;
    steps_since_checkpoint_ += static_cast<std::uint64_t>(steps);
    try {
      if (output.valid()) output.get();
    } catch (...) {  // the new output joins the pending output
      output_.append(computed_);
      pending_samples_ += samples;
      throw;
    }
    std::swap(output_, computed_);
    pending_first_ = sample;
    pending_samples_ = samples;
    pending_ = true;
    stop_or_checkpoint();
  }
}

template <class Work>
double Runner::integrate(Work work) {
  const auto start = Clock::now();
  work();
  const double seconds = seconds_since(start);
  summary_.phases.integrate = summary_.wall_seconds += seconds;
  return seconds;
}

void Runner::set_up_tile() {
  tile_.first = position_.first;
  tile_.count = std::min(tile_size_, range_.last - tile_.first);
  tile_.rows = plan_.arguments.layout.rows;
  tile_.data.assign(tile_.chunks() * static_cast<std::uint64_t>(tile_.rows) * row_size, 0.0);
  list_recorded();
}

void Runner::list_recorded() {
  tile_.recorded.clear();
  for (auto k = std::ranges::lower_bound(recorded_, tile_.first);
       k != recorded_.end() && *k < tile_.first + tile_.count; ++k)
    tile_.recorded.push_back(static_cast<std::uint32_t>(*k - tile_.first));
}

Round Runner::next_round(Position& at) {
  const std::uint64_t per_sample =
      sizeof(double) * (tile_.chunks() * plan_.codes.size() * chunk_size +
                        tile_.recorded.size() * static_cast<std::uint64_t>(plan_.state_rows) * 2);
  const std::uint64_t most = std::clamp<std::uint64_t>(round_bytes / std::max<std::uint64_t>(per_sample, 1), 1, 4096);
  Round round;
  round.starts_at_initial = at.sample == 0;
  round.first_sample = at.sample;
  std::int64_t budget = budget_;
  if (plan_.by_density()) {
    // An interval of unknown or great length is done in parts. Then its sample is a stretch of its own, for which nothing is left to do.
    const std::int64_t calls = std::max<std::int64_t>(1, budget / steps_per_call),
                       each = std::max<std::int64_t>(1, calls_);
    if (at.sample > 0 && !reached_ && (calls_ == 0 || at.step > 0 || calls_ > calls)) {
      round.stretches.push_back({0, 0, at.step, at.step + calls, false, grid_.time[at.sample]});
      at.step += calls;
      return round;
    }
    const std::int64_t together = reached_ || at.sample == 0 ? 1 : std::max<std::int64_t>(1, calls / each);
    const std::uint64_t samples =
        std::min<std::uint64_t>({most, grid_.time.size() - at.sample, static_cast<std::uint64_t>(together)});
    for (std::uint64_t s = 0; s < samples; ++s)
      round.stretches.push_back({0, 0, 0, 0, true, grid_.time[at.sample + s]});
    at.sample += samples;
    at.step = 0;
    return round;
  }
  for (std::uint64_t samples = 0; at.sample < grid_.time.size() && samples < most && budget > 0;) {
    const bool varying = plan_.arguments.layout.steps_per_sample >= 0;
    const std::int64_t length = varying && at.sample > 0 ? longest_interval_ : grid_.steps[at.sample];
    const std::int64_t to = std::min(length, at.step + budget);
    const std::int64_t interval = std::max<std::int64_t>(static_cast<std::int64_t>(at.sample) - 1, 0);
    round.stretches.push_back({interval, grid_.before[at.sample], at.step, to, to == length, grid_.time[at.sample]});
    budget -= to - at.step + 1;
    at.step = to;
    if (to < length) break;
    ++at.sample;
    at.step = 0;
    ++samples;
  }
  return round;
}

void Runner::adapt_budget(std::int64_t done, double seconds) {
  double wanted = round_seconds;
  if (const double limit = study_.output.checkpoint.seconds; file_ && limit > 0)
    wanted = std::clamp(limit / 4, least_seconds, round_seconds);
  const auto steps_within = [&](double time) {
    const double factor = std::clamp(time / std::max(seconds, 1e-6), 0.25, 4.0);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(done) * factor), 1,
                                    std::int64_t{1} << 40);
  };
  budget_ = steps_within(wanted);
  if (const std::uint64_t steps = study_.output.checkpoint.steps; file_ && steps > 0)
    budget_ = std::min(budget_, std::max(steps_within(least_seconds),
                                         static_cast<std::int64_t>(std::min<std::uint64_t>(steps, 1ull << 40))));
}

void Runner::absorb() {
  spend(summary_.phases.reduce, [this] {
    write_records(tile_, pending_first_, pending_samples_);
    statistics_.store(sink_, tile_, output_, pending_first_, pending_samples_);
    if (crossings_ && !output_.crossings.empty()) crossings_->append((*locate_)(tile_, output_.crossings));
    statistics_.add(tile_, output_, pending_first_, pending_samples_);
  });
  pending_ = false;
}

void Runner::report_progress() {
  if (!options_.progress) return;
  const std::uint64_t done = control_.trajectory_steps.load();
  if (!plan_.by_density())
    return options_.progress({std::min(done, total_steps_), total_steps_, seconds_since(start_)});
  // How many steps there will be follows from the share of the samples that are there.
  const double part = static_cast<double>(position_.sample) / static_cast<double>(grid_.time.size()),
               share = (static_cast<double>(position_.first - range_.first) + part * static_cast<double>(tile_.count)) /
                       static_cast<double>(range_.count());
  const double total = share > 0.0 ? static_cast<double>(done) / share : static_cast<double>(done);
  options_.progress({done, std::max(done, static_cast<std::uint64_t>(total)), seconds_since(start_)});
}

}  // namespace rattleback
