// Runner: the integration, and the output of its rounds.

#include "rattleback/engine/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

}  // namespace

Runner::Runner(const Problem& problem, ResultSink& sink, const RunOptions& options, Backend& backend, Buffers& buffers,
               const RunFiles* files, FileSink* file, const CheckpointReader* from, const std::optional<Range>& part)
    : problem_(problem),
      study_(problem.study),
      target_(sink),
      sink_(sink, summary_.phases.write),
      options_(options),
      backend_(backend),
      buffers_(buffers),
      files_(files),
      file_(file),
      system_(*problem.system),
      method_(*problem.method),
      whole_(!part),
      resumed_(from != nullptr),
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
  check();
  create_datasets();
  control_.tick = [this] { report_progress(); };
  if (plan_.arguments.surfaces.count > 0) {
    locate_ = std::make_unique<CrossingLocator>(plan_, study_.time.start, threads_);
    crossings_ = std::make_unique<CrossingStore>(files_ ? files_->crossings : std::filesystem::path(),
                                                 file_ ? file_->run() : std::string(), locate_->row_size(),
                                                 study_.sections.size() + study_.stops.size());
  }
  if (from) restore(*from);
  summary_.phases.read += problem.read_seconds;
  summary_.phases.compile += backend_.compile_seconds;
  if (!file_) return;
  file_->compress(static_cast<unsigned>(study_.output.compression.value_or(0)), threads_);
  spend(summary_.phases.write, [this] { file_->reserve(); });  // in memory this takes as long as to write the file
  if (from) write_checkpoint();                                // describes the present part
}

Summary Runner::operator()() {
  try {
    report_progress();
    while (position_.first < range_.last) run_tile();
    await([this] { writer_.finish(); });
    refuse_none(problem_, ensemble_, summary_.left_out);
    spend(summary_.phases.reduce, [this] {
      if (whole_) {
        statistics_.write(sink_, options_.warn);
      } else {
        statistics_.save_part(sink_);
      }
      write_crossings();
    });
    warn_of_waiting();
    write_attributes();
    report_progress();
    sink_.commit();
    if (file_ && options_.warn && !file_->doubt().empty()) options_.warn(file_->doubt());
  } catch (const FaultyEnsemble&) {  // as if the run had not begun
    if (std::error_code code; files_) std::filesystem::remove(files_->checkpoint, code);
    throw;
  } catch (const Error& error) {
    if (!file_ || interrupted_ || file_->complete()) throw;
    throw Error(Error::Kind::runtime, std::string(error.what()) + "; " + rescue());
  } catch (const std::bad_alloc&) {
    if (!file_ || file_->complete()) throw;
    throw Error(Error::Kind::runtime, "out of memory; " + rescue());
  }
  if (files_) files_->remove_scratch();
  return summary_;
}

void Runner::warn_of_waiting() const {
  constexpr double most = 1.0 / 3.0;
  if (!options_.warn || possible_ == 0) return;
  const double waiting = 1.0 - static_cast<double>(taken_) / static_cast<double>(possible_);
  if (waiting > most)
    options_.warn(fmt::format(
        "in {:.0f} % of the computing time trajectories waited for others of their pack or warp, because all stop at "
        "every sample; take fewer samples, or an ensemble in which neighbours take about as many steps",
        100.0 * waiting));
}

std::uint64_t Runner::tile_trajectories() const {
  std::uint64_t wanted = options_.tile;
  if (wanted == 0)
    wanted = backend_.tile_bytes() / (static_cast<std::uint64_t>(plan_.arguments.layout.rows) * sizeof(double));
  const std::uint64_t chunks = std::max<std::uint64_t>(1, (wanted + chunk_size - 1) / chunk_size);
  return chunks * chunk_size;
}

Runner::Prepared Runner::prepare(std::uint64_t first) {
  writer_.wait([this] {
    const std::lock_guard lock(mutex_);
    return tiles_.size() < most_tiles;
  });
  const auto start = Clock::now();
  std::shared_ptr<TileInWork> work = make_tile(first);
  begin_filling(*work);
  if (work->filled) fill(*work);
  end_filling(*work);
  return {std::move(work), seconds_since(start)};
}

void Runner::take_tile() {
  if (position_.filled) {  // the tile of a checkpoint, with output that could not be written
    if (!work_->outputs.empty()) add([this, work = work_] { absorb(*work); });
  } else {
    if (!next_.valid()) prepare_next(position_.first);
    await([this] {
      while (next_.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout) {
        report_progress();
        if (!options_.stop.stop_requested()) continue;
        if (position_.first == range_.first) {  // no tile is there yet
          interrupted_ = true;
          stop_before_start();
        }
        stop_or_checkpoint();
      }
    });
    auto [work, seconds] = next_.get();
    summary_.phases.prepare += seconds;
    work->steps_before = control_.trajectory_steps;
    work_ = std::move(work);
    {
      const std::lock_guard lock(mutex_);
      tiles_.push_back(work_);
    }
    if (work_->filled) hand_over_start();
    position_.filled = true;
  }
  if (const std::uint64_t first = position_.first + tile_size_; first < range_.last) prepare_next(first);
}

void Runner::prepare_next(std::uint64_t first) {
  next_ = std::async(std::launch::async | std::launch::deferred, [this, first] {
    const FloatingPointScope environment;
    return prepare(first);
  });
}

void Runner::run_tile() {
  const std::uint64_t first = position_.first;
  take_tile();
  Tile& tile = work_->tile;
  longest_interval_ = calls_ = 0;
  reached_ = false;
  try {
    if (work_->filled) {
      integrate([&] { backend_.begin(plan_, tile); });
    } else {
      begin_at_start();
      hand_over_start();
    }
    states_ = States::backend;
    if (const int row = plan_.arguments.layout.steps_per_sample; row >= 0)
      for (std::uint64_t k = 0; k < tile.count; ++k)
        longest_interval_ = std::max(longest_interval_, static_cast<std::int64_t>(tile.at(k, row)));
    integrate_tile();
  } catch (const OutOfMemory&) {
    // No output of this tile has left the backend, so a smaller tile can begin again.
    if (position_.sample > 0 || position_.step > 0 || !halve_tile()) throw;
    return;
  }
  integrate([&] {
    if (end_needs_states()) {
      backend_.fetch(tile);
    } else {
      backend_.fetch_counts(tile);
    }
  });
  states_ = States::host;
  {
    const std::lock_guard lock(mutex_);
    work_->end = position_;
    work_->steps_after = control_.trajectory_steps;
  }
  position_ = {first + tile_size_};
  add([this, work = std::exchange(work_, nullptr)] {
    spend(summary_.phases.reduce, [&] { end_tile(work->tile); });
    const std::lock_guard lock(mutex_);
    buffers_.tiles.push_back(std::move(work->tile));
    tiles_.pop_front();
  });
}

bool Runner::end_needs_states() const {
  return study_.output.final_state || !fates_.empty() || plan_.stops > 0 || plan_.by_density() || plan_.carries();
}

bool Runner::halve_tile() {
  const std::uint64_t chunks = work_->tile.chunks();
  states_ = States::host;
  if (chunks == 1) return false;
  writer_.finish();  // it may write the initial states of the tile
  cancelled_ = true;
  next_ = {};  // it waits for the memory of the tile
  cancelled_ = false;
  control_.trajectory_steps = work_->steps_before;
  {
    const std::lock_guard lock(mutex_);
    tiles_.pop_back();
    work_ = nullptr;
  }
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
    RoundOutput computed;
    {
      const std::lock_guard lock(mutex_);
      if (!buffers_.outputs.empty()) {
        computed = std::move(buffers_.outputs.back());
        buffers_.outputs.pop_back();
      }
    }
    states_ = States::nowhere;
    const double seconds = integrate([&] { backend_.run(round, computed, control_); });
    if (plan_.by_density()) steps = computed.calls * steps_per_call * static_cast<std::int64_t>(round.stretches.size());
    adapt_budget(steps + static_cast<std::int64_t>(round.stretches.size()), seconds);
    if (plan_.by_density()) {
      taken_ += computed.taken;
      possible_ += computed.possible;
      const bool known = samples > 0 && !reached_ && sample > 0;
      reached_ = samples == 0 && !computed.waiting;
      if (reached_ || known) calls_ = computed.calls + (samples == 0 ? position_.step : 0);
    }
    position_ = next;
    states_ = States::backend;
    steps_since_checkpoint_ += static_cast<std::uint64_t>(steps);
    hand_over({sample, samples, std::move(computed)});
    stop_or_checkpoint();
  }
}

void Runner::hand_over_start() {
  add([this, begun = work_] {
    spend(summary_.phases.reduce, [&] { begin_tile(*begun); });
    const std::lock_guard lock(mutex_);
    begun->begun = true;
  });
}

void Runner::hand_over(TileInWork::Output output) {
  {
    const std::lock_guard lock(mutex_);
    work_->outputs.push_back(std::move(output));
  }
  add([this, work = work_] { absorb(*work); });
}

void Runner::absorb(TileInWork& work) {
  TileInWork::Output* output = nullptr;
  {
    const std::lock_guard lock(mutex_);
    output = &work.outputs.front();
  }
  spend(summary_.phases.reduce, [&] {
    write_records(work.tile, *output);
    statistics_.store(sink_, work.tile, output->numbers, output->first, output->samples);
    if (crossings_ && !output->numbers.crossings.empty())
      crossings_->append((*locate_)(work.tile, output->numbers.crossings));
    statistics_.add(work.tile, output->numbers, output->first, output->samples);
  });
  const std::lock_guard lock(mutex_);
  buffers_.outputs.push_back(std::move(output->numbers));
  work.outputs.pop_front();
}

void Runner::go_back() {
  const std::lock_guard lock(mutex_);
  if (tiles_.empty()) {  // a tile that is not yet taken has nothing to be saved
    position_.filled = false;
    return;
  }
  const std::shared_ptr<TileInWork>& first = tiles_.front();
  if (first == work_ && first->begun) return;
  const bool integrated = first != work_;
  work_ = first;
  if (integrated) states_ = States::host;
  if (first->begun) {
    position_ = first->end;
    control_.trajectory_steps = first->steps_after;
  } else {
    position_ = {first->tile.first};
    states_ = States::host;
    first->outputs.clear();
    control_.trajectory_steps = first->steps_before;
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

std::shared_ptr<TileInWork> Runner::make_tile(std::uint64_t first) {
  auto work = std::make_shared<TileInWork>();
  Tile& tile = work->tile;
  {
    const std::lock_guard lock(mutex_);
    if (!buffers_.tiles.empty()) {
      tile = std::move(buffers_.tiles.back());
      buffers_.tiles.pop_back();
    }
  }
  tile.first = first;
  tile.count = std::min(tile_size_, range_.last - tile.first);
  tile.rows = plan_.arguments.layout.rows;
  work->filled = !start_program_;
  const std::uint64_t numbers = tile.chunks() * static_cast<std::uint64_t>(tile.rows) * row_size;
  if (start_program_) {
    tile.data.resize(numbers);
  } else {
    tile.data.assign(numbers, 0.0);
  }
  return work;
}

void Runner::list_recorded(Tile& tile) const {
  tile.recorded.clear();
  for (auto k = std::ranges::lower_bound(recorded_, tile.first); k != recorded_.end() && *k < tile.first + tile.count;
       ++k)
    tile.recorded.push_back(static_cast<std::uint32_t>(*k - tile.first));
}

Round Runner::next_round(Position& at) {
  const std::uint64_t per_sample =
      sizeof(double) * (work_->tile.chunks() * plan_.codes.size() * chunk_size +
                        work_->tile.recorded.size() * static_cast<std::uint64_t>(plan_.state_rows) * 2);
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

void Runner::report_progress() {
  if (!options_.progress) return;
  const std::uint64_t done = control_.trajectory_steps.load();
  if (!plan_.by_density())
    return options_.progress({std::min(done, total_steps_), total_steps_, seconds_since(start_)});
  // How many steps there will be follows from the share of the samples that are there.
  const double part = static_cast<double>(position_.sample) / static_cast<double>(grid_.time.size()),
               share = (static_cast<double>(position_.first - range_.first) +
                        part * static_cast<double>(work_ ? work_->tile.count : 0)) /
                       static_cast<double>(range_.count());
  const double total = share > 0.0 ? static_cast<double>(done) / share : static_cast<double>(done);
  options_.progress(
      {done, std::max({done, static_cast<std::uint64_t>(total), std::uint64_t{1}}), seconds_since(start_)});
}

}  // namespace rattleback
