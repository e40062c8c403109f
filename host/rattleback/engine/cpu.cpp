#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "rattleback/base/mutex.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/error_derivative.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/kernels/kernels.hpp"
#include "rattleback/study/chunk_points.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {

namespace {

/// Returns how many trajectories a pack has, at least.
int lanes_of(Isa isa) {
  switch (isa) {
    case Isa::scalar:
      return 1;
    case Isa::neon:
      return 2;
    case Isa::avx2:
      return 4;
    case Isa::avx512:
      return 8;
  }
  return 1;
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

namespace {

class CpuBackend final : public Backend {
 public:
  CpuBackend(Isa isa, unsigned threads) : isa_(isa), functions_(functions_of(isa)), threads_(worker_count(threads)) {}

  std::string name() const override { return "cpu"; }
  std::string device() const override { return processor_name() + " (" + to_string(isa_) + ")"; }
  unsigned threads() const override { return threads_; }
  void prepare(std::span<const Problem> problems) override {
    std::vector<Unit> needed, units;
    for (const Problem& problem : problems) {
      std::ranges::move(units_of(problem, isa_), std::back_inserter(needed));
      if (problem.surfaces.count > 0)
        std::ranges::move(units_of_sections(problem, best_isa()), std::back_inserter(needed));
      std::ranges::move(wanted_units_of_start(problem, best_isa()), std::back_inserter(units));
    }
    if (!units.empty()) try {  // all are compiled side by side
        units.insert(units.begin(), needed.begin(), needed.end());
        return Kernels::instance().load(units);
      } catch (const Error& error) {
        if (error.kind() != Error::Kind::input) throw;  // as in load_start_kernel
      }
    Kernels::instance().load(needed);
  }
  std::vector<KernelRecord> records(const Problem& problem, bool) override {
    return Kernels::instance().records(units_of(problem, isa_));
  }
  /// Small tiles take less memory from the system, three at a time, and let the writer begin early; each thread needs some chunks of one.
  std::uint64_t tile_bytes() const override {
    return std::clamp<std::uint64_t>(std::uint64_t{2 * threads_} << 20, std::uint64_t{8} << 20,
                                     std::uint64_t{64} << 20);
  }

  void begin(const Plan& plan, Tile& tile) override {
    plan_ = &plan;
    tile_ = &tile;
    const std::vector<Unit> units = units_of(plan, isa_);
    const CompiledUnit& loop = Kernels::instance().get(units[0]);
    advance_ = plan.carries() ? loop.advance_tangent : loop.advance;
    const CompiledUnit& samples = Kernels::instance().get(units[1]);
    observe_ = samples.observe;
    guard_ = plan.arguments.parasitic_limit > 0.0 ? samples.guard : nullptr;
  }

  void run(const Round& round, RoundOutput& output, Control& control) override {
    const std::uint64_t chunks = tile_->chunks(), observables = plan_->codes.size(), samples = round.samples();
    // Few chunks are split into ranges of 32 lanes so that every thread has work. They are reduced when all lanes are there;
    // a whole chunk is reduced at once, while its values are in the cache.
    const bool whole = chunks >= 4 * threads_;
    const int lanes = whole ? chunk_size : 32;
    const std::uint64_t per_chunk = chunk_size / lanes;
    sample_stride_ = whole && !plan_->keep_values ? 0 : chunks * observables * chunk_size;
    output.values.resize(sample_stride_ == 0 ? chunks * observables * chunk_size : samples * sample_stride_);
    output.moments.resize(samples * observables * chunks);
    output.co_moments.resize(samples * plan_->pairs.size() * chunks);
    output.records.resize(samples * tile_->recorded.size() * plan_->state_rows);
    output.clear();

    Mutex mutex;
    parallel_for(
        chunks * per_chunk, threads_,
        [&](std::uint64_t unit) {
          const int begin = static_cast<int>(unit % per_chunk) * lanes;
          const auto [crossings, calls, waiting, taken, possible] =
              advance(unit / per_chunk, begin, begin + lanes, round, output, control);
          if (crossings.empty() && !plan_->by_density()) return;
          const std::lock_guard lock(mutex);
          output.calls = std::max(output.calls, calls);
          output.taken += taken;
          output.possible += possible;
          output.waiting = output.waiting || waiting;
          output.crossings.insert(output.crossings.end(), crossings.begin(), crossings.end());
        },
        control.tick);
    if (whole) return;
    parallel_for(chunks, threads_, [&](std::uint64_t c) {
      for (std::uint64_t s = 0; s < samples; ++s) reduce(c, s, round, output);
    });
  }

  void fetch(Tile&) override {}

  double measure_peak_flops() override {
    double peak = 0.0;
    int good = 0;
    for (std::int64_t rounds = 1 << 16; good < 5;) {
      std::atomic<double> flops = 0.0;
      const auto start = std::chrono::steady_clock::now();
      parallel_for(threads_, threads_, [&](std::uint64_t) { flops += functions_.fma_chains(rounds); });
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      peak = std::max(peak, flops / seconds);
      if (seconds < 0.02) {
        rounds *= 2;
      } else {
        ++good;
      }
    }
    return peak;
  }

  double measure_copy_rate() override {
    constexpr std::size_t bytes = std::size_t{1} << 27;
    const std::size_t part = bytes / threads_;
    std::vector<std::vector<char>> from(threads_), to(threads_);
    parallel_for(threads_, threads_, [&](std::uint64_t k) {
      from[k].assign(part, 1);  // this allocates the pages before the copy
      to[k].assign(part, 0);
    });
    double best = 0.0;
    for (int repetition = 0; repetition < 5; ++repetition) {
      const auto start = std::chrono::steady_clock::now();
      parallel_for(threads_, threads_, [&](std::uint64_t k) { std::memcpy(to[k].data(), from[k].data(), part); });
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      best = std::max(best, 2.0 * static_cast<double>(part) * threads_ / seconds.count());
    }
    return best;
  }

 private:
  /// What the lanes of a chunk did in a round.
  struct Advanced {
    std::vector<double> crossings;
    std::int64_t calls;
    bool waiting;
    std::uint64_t taken, possible;
  };
  /// Advances lanes [begin, end) of chunk c through the round.
  Advanced advance(std::uint64_t c, int begin, int end, const Round& round, RoundOutput& output, Control& control) {
    const int used =
        static_cast<int>(std::min<std::uint64_t>(end, tile_->count - c * chunk_size));  // the other lanes are padding
    KernelArguments arguments = plan_->arguments;
    double* chunk = tile_->chunk(c);
    std::vector<double> crossings;
    std::uint64_t sample = 0;
    std::int64_t most_calls = 0;
    bool waiting = false;
    std::uint64_t taken = 0, possible = 0;
    for (const Stretch& stretch : round.stretches) {
      arguments.sample = stretch.interval;
      arguments.interval_start = stretch.before;
      if (plan_->by_density() && begin < used) {
        const std::uint64_t before = taken;
        const auto [calls, waits] = follow(c, begin, used, stretch, arguments, crossings, taken, possible);
        control.trajectory_steps += taken - before;
        most_calls = std::max(most_calls, calls);
        waiting = waits;
      }
      for (std::int64_t at = stretch.from; at < stretch.to && begin < used && !plan_->by_density();) {
        const std::int64_t next = stretch.end_of_call(at, guard_ != nullptr);
        arguments.target = arguments.layout.steps_per_sample >= 0 ? next : stretch.before + next;
        do {
          advance_(arguments, chunk, begin, used);
        } while (collect_crossings(c, begin, used, crossings));
        if (guard_ != nullptr && stretch.guards(next)) guard_(arguments, chunk, begin, used);
        control.trajectory_steps += static_cast<std::uint64_t>(next - at) * static_cast<std::uint64_t>(used - begin);
        at = next;
      }
      if (!stretch.observe) continue;
      if (guard_ != nullptr) guard_(arguments, chunk, begin, used);
      observe_(arguments, chunk, begin, end, plan_->codes.data(), static_cast<int>(plan_->codes.size()),
               values_of(c, sample, output));
      for (std::size_t r = 0; r < tile_->recorded.size(); ++r) {
        const std::uint64_t k = tile_->recorded[r];
        const int lane = static_cast<int>(k % chunk_size);
        if (k / chunk_size != c || lane < begin || lane >= end) continue;
        double* record = output.records.data() + (sample * tile_->recorded.size() + r) * plan_->state_rows;
        for (int row = 0; row < plan_->state_rows; ++row) record[row] = chunk[row * row_size + lane];
      }
      if (end - begin == chunk_size) reduce(c, sample, round, output);
      ++sample;
    }
    return {std::move(crossings), most_calls, waiting, taken, possible};
  }

  /// Adds up the steps that lanes have taken since they had taken `before`, and those that they might have taken: as many as the lane
  /// of their pack that took most. Lanes that have ended wait for none.
  void count_steps(const double* before, const double* steps, const double* status, int lanes, std::uint64_t& taken,
                   std::uint64_t& possible) const {
    const int width = lanes_of(isa_);
    for (int first = 0; first < lanes; first += width) {
      const int last = std::min(lanes, first + width);
      double most = 0.0;
      std::uint64_t under_way = 0;
      for (int lane = first; lane < last; ++lane) {
        const double more = steps[lane] - before[lane];
        taken += static_cast<std::uint64_t>(more);
        most = std::max(most, more);
        under_way += status[lane] == 0.0 || more > 0.0 ? 1 : 0;
      }
      possible += static_cast<std::uint64_t>(most) * under_way;
    }
  }

  /// Takes steps that follow a density, towards the time of a stretch. Returns the number of calls, and whether a trajectory has not yet
  /// reached the time.
  std::pair<std::int64_t, bool> follow(std::uint64_t c, int begin, int end, const Stretch& stretch,
                                       KernelArguments& arguments, std::vector<double>& crossings, std::uint64_t& taken,
                                       std::uint64_t& possible) {
    double* chunk = tile_->chunk(c);
    const double* steps = chunk + arguments.layout.steps * row_size;
    std::array<double, chunk_size> before{};
    const double *status = chunk + arguments.layout.status * row_size,
                 *shown = chunk + (arguments.layout.clock + ClockRow::shown) * row_size;
    arguments.sample_time = stretch.time;
    arguments.target = steps_per_call;
    for (std::int64_t calls = 1;; ++calls) {
      std::copy(steps + begin, steps + end, before.begin());
      do {
        advance_(arguments, chunk, begin, end);
      } while (collect_crossings(c, begin, end, crossings));
      count_steps(before.data(), steps + begin, status + begin, end - begin, taken, possible);
      if (guard_ != nullptr) guard_(arguments, chunk, begin, end);
      bool waits = false;
      for (int lane = begin; lane < end; ++lane) waits = waits || (status[lane] == 0.0 && shown[lane] != stretch.time);
      if (!waits || (!stretch.observe && calls >= stretch.to - stretch.from)) return {calls, waits};
    }
  }

  /// Returns the values of chunk c in sample s of a round, [observable][lane].
  double* values_of(std::uint64_t c, std::uint64_t s, RoundOutput& output) const {
    return output.values.data() + s * sample_stride_ + c * plan_->codes.size() * chunk_size;
  }

  /// Reduces chunk c in sample s of a round.
  void reduce(std::uint64_t c, std::uint64_t s, const Round& round, RoundOutput& output) {
    const std::uint64_t chunks = tile_->chunks(), observables = plan_->codes.size(), pairs = plan_->pairs.size();
    const double* values = values_of(c, s, output);
    double* reference_rows = tile_->chunk(c) + plan_->arguments.layout.references * row_size;
    for (std::uint64_t o = 0; o < observables; ++o) {
      double* references = reference_rows + o * row_size;
      if (s == 0 && round.starts_at_initial) set_references(plan_->references[o], values + o * chunk_size, references);
      if (plan_->codes[o].kind == ObservableCode::error_derivative)
        put_error_derivatives(o, values_of(c, s, output), reference_rows);
      output.moments[(s * observables + o) * chunks + c] = functions_.reduce(values + o * chunk_size, references);
    }
    for (const LineFit& fit : plan_->line_fits)
      if (const double weight = fit.weight[round.first_sample + s]; weight == weight)
        functions_.add_to_fit(values + fit.observable * chunk_size, reference_rows + fit.observable * row_size,
                              fit.squared, weight, tile_->chunk(c) + fit.row * row_size);
    for (std::uint64_t i = 0; i < pairs; ++i)
      output.co_moments[(s * pairs + i) * chunks + c] = functions_.co_reduce(
          values + plan_->pairs[i].first * chunk_size, values + plan_->pairs[i].second * chunk_size);
  }

  /// Computes the derivatives of a squared error, which are value `code`, from the values and references of the observable and of the
  /// derivative before it.
  void put_error_derivatives(std::uint64_t code, double* values, const double* references) const {
    const auto of = static_cast<std::uint64_t>(plan_->codes[code].index / max_derivatives) * chunk_size;
    const std::uint64_t by = (code - 1) * chunk_size, referred = of / chunk_size * row_size;
    for (int i = 0; i < chunk_size; ++i)
      values[code * chunk_size + i] = error_derivative(values[of + i], references[referred + i], values[by + i],
                                                       references[(code - 1) * row_size + i]);
  }

  /// Moves the crossings out of the slots. Returns true when a trajectory waits because all slots are full.
  bool collect_crossings(std::uint64_t c, int begin, int end, std::vector<double>& crossings) {
    const ChunkLayout& rows = plan_->arguments.layout;
    if (plan_->arguments.surfaces.count == 0) return false;
    double* chunk = tile_->chunk(c);
    double* counts = chunk + rows.crossings * row_size;
    const int slot_rows = plan_->crossing_size() - 1;
    bool waits = false;
    for (int lane = begin; lane < end; ++lane) {
      const int count = static_cast<int>(counts[lane]);
      for (int i = 0; i < count; ++i) {
        crossings.push_back(static_cast<double>(c * chunk_size + static_cast<std::uint64_t>(lane)));
        const double* slot = chunk + (rows.slots + i * slot_rows) * row_size + lane;
        for (int row = 0; row < slot_rows; ++row) crossings.push_back(slot[row * row_size]);
      }
      waits = waits || count == crossing_slots;
      counts[lane] = 0.0;
    }
    return waits;
  }

  /// Sets the references of a chunk to `reference`, or to `values` where `reference` is NaN. Padding lanes hold NaN and
  /// count as failed.
  static void set_references(double reference, const double* values, double* references) {
    for (int i = 0; i < chunk_size; ++i) references[i] = reference == reference ? reference : values[i];
  }

  Isa isa_;
  const IsaFunctions& functions_;
  unsigned threads_;
  const Plan* plan_ = nullptr;
  Tile* tile_ = nullptr;
  AdvanceFunction advance_ = nullptr;
  ObserveFunction observe_ = nullptr;
  SampleFunction guard_ = nullptr;
  std::uint64_t sample_stride_ = 0;  ///< distance of two samples in the values of a round; 0 where these are not kept
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(Isa isa, unsigned threads) {
  return std::make_unique<CpuBackend>(isa, threads);
}

}  // namespace rattleback
