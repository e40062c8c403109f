// Several devices as one backend. Each device takes a range of consecutive chunks of every tile. Chunks are reduced
// separately and combined in order (loop/reduction.hpp), so the ranges do not change the result.

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "rattleback/base/mutex.hpp"
#include "rattleback/base/parallel.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/plan.hpp"
#include "rattleback/engine/start.hpp"

namespace rattleback {
namespace {

class SplitBackend final : public Backend {
 public:
  explicit SplitBackend(std::vector<std::unique_ptr<Backend>> backends) : parts_(backends.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i].backend = std::move(backends[i]);
  }

  std::string name() const override { return parts_[0].backend->name(); }
  std::string device() const override {
    std::vector<std::pair<std::string, int>> kinds;
    for (const Part& part : parts_) {
      const std::string device = part.backend->device();
      const auto known = std::ranges::find(kinds, device, &std::pair<std::string, int>::first);
      if (known == kinds.end()) {
        kinds.emplace_back(device, 1);
      } else {
        ++known->second;
      }
    }
    std::string r;
    for (const auto& [device, count] : kinds)
      r += fmt::format("{}{}{}", r.empty() ? "" : ", ", count > 1 ? fmt::format("{} x ", count) : "", device);
    return r;
  }
  std::string driver() const override { return parts_[0].backend->driver(); }
  unsigned threads() const override {
    unsigned r = 0;
    for (const Part& part : parts_) r += part.backend->threads();
    return r;
  }
  void prepare(std::span<const Problem> problems) override {
    for (Part& part : parts_) part.backend->prepare(problems);
  }
  /// Devices of one kind have the same kernels.
  std::vector<KernelRecord> records(const Problem& problem, bool with_start) override {
    std::vector<KernelRecord> records;
    for (Part& part : parts_)
      for (KernelRecord& record : part.backend->records(problem, with_start))
        if (std::ranges::find(records, record.key, &KernelRecord::key) == records.end())
          records.push_back(std::move(record));
    return records;
  }
  /// The parts have equal size, so the smallest limit of a device decides.
  std::uint64_t tile_bytes() const override {
    std::uint64_t least = parts_[0].backend->tile_bytes();
    for (const Part& part : parts_) least = std::min(least, part.backend->tile_bytes());
    return least * parts_.size();
  }

  void begin(const Plan& plan, Tile& tile) override {
    share(plan, tile, [](Tile& part, const double* from, const double* to) { part.data.assign(from, to); });
    each([&](Part& part) { part.backend->begin(plan, part.tile); });
  }

  /// Shares a tile out. `set` gives a part its data, which lie in a range of those of the tile.
  template <class Set>
  void share(const Plan& plan, Tile& tile, Set set) {
    plan_ = &plan;
    chunks_ = tile.chunks();
    recorded_ = tile.recorded.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      part.chunk = chunks_ * i / parts_.size();
      const std::uint64_t end_chunk = chunks_ * (i + 1) / parts_.size();
      const std::uint64_t begin = part.chunk * chunk_size, end = std::min(tile.count, end_chunk * chunk_size);
      part.tile.first = tile.first + begin;
      part.tile.count = end - begin;
      part.tile.rows = tile.rows;
      set(part.tile, tile.chunk(part.chunk), tile.chunk(end_chunk));
      const auto from = std::ranges::lower_bound(tile.recorded, begin),
                 to = std::ranges::lower_bound(tile.recorded, end);
      part.recorded = static_cast<std::uint64_t>(from - tile.recorded.begin());
      part.tile.recorded.assign(from, to);
      for (std::uint32_t& k : part.tile.recorded) k -= static_cast<std::uint32_t>(begin);
    }
  }

  bool starts(const Problem& problem) override {
    return std::ranges::all_of(parts_, [&](const Part& part) { return part.backend->starts(problem); });
  }
  FoundPoints find_points(const StartProgram& program, const Range& range, std::uint64_t most) override {
    const std::uint64_t chunks = (range.count() + chunk_size - 1) / chunk_size, parts = parts_.size();
    std::vector<FoundPoints> found(parts);
    parallel_for(parts, static_cast<unsigned>(parts), [&](std::uint64_t i) {
      const auto first_of = [&](std::uint64_t part) { return range.first + chunks * part / parts * chunk_size; };
      const Range of_part{first_of(i), std::min(range.last, first_of(i + 1))};
      if (of_part.first < of_part.last) found[i] = parts_[i].backend->find_points(program, of_part, most);
    });
    for (std::size_t i = 1; i < parts; ++i) {
      found[0].left_out += found[i].left_out;
      found[0].steps_per_sample += found[i].steps_per_sample;
      found[0].too_many = found[0].too_many || found[i].too_many;
      found[0].alone.insert(found[0].alone.end(), found[i].alone.begin(), found[i].alone.end());
    }
    found[0].too_many = found[0].too_many || found[0].alone.size() > most;
    return std::move(found[0]);
  }
  void begin_at_start(const Plan& plan, Tile& tile, const TileStart& start) override {
    share(plan, tile, [](Tile& part, const double*, const double*) {
      part.data.resize(part.chunks() * static_cast<std::uint64_t>(part.rows) * row_size);
    });
    Mutex mutex;
    each([&](Part& part) {
      const std::uint64_t begin = part.chunk * chunk_size;
      TileStart of_part = start;
      for (double*& axis : of_part.axes) axis += begin;
      for (KeptRows& kept : of_part.kept) kept.to += begin * static_cast<std::uint64_t>(kept.width);
      of_part.fill_alone = [&](std::span<const std::uint64_t> alone) {
        std::vector<std::uint64_t> of_tile(alone.begin(), alone.end());
        for (std::uint64_t& k : of_tile) k += begin;
        const std::lock_guard lock(mutex);
        start.fill_alone(of_tile);
        for (const std::uint64_t k : alone)
          for (int row = 0; row < tile.rows; ++row) part.tile.at(k, row) = tile.at(begin + k, row);
      };
      part.backend->begin_at_start(plan, part.tile, of_part);
      const ChunkLayout& rows = plan.arguments.layout;
      join(part, {{rows.fixed, rows.fixed + rows.fixed_rows}}, tile);
    });
  }

  void run(const Round& round, RoundOutput& output, Control& control) override {
    const std::uint64_t before = control.trajectory_steps;
    for (Part& part : parts_) {
      part.control.trajectory_steps = 0;
      part.output.clear();
    }
    const auto count = [&] {
      std::uint64_t steps = before;
      for (const Part& part : parts_) steps += part.control.trajectory_steps;
      control.trajectory_steps = steps;
    };
    each([&](Part& part) { part.backend->run(round, part.output, part.control); },
         [&] {
           count();
           if (control.tick) control.tick();
         });
    count();

    const std::uint64_t samples = round.samples(), observables = plan_->codes.size(), pairs = plan_->pairs.size(),
                        kept = plan_->keep_values ? observables * chunk_size : 0,
                        state_rows = static_cast<std::uint64_t>(plan_->state_rows);
    output.clear();
    for (const Part& part : parts_) {
      output.taken += part.output.taken;
      output.possible += part.output.possible;
      output.calls = std::max(output.calls, part.output.calls);
      output.waiting = output.waiting || part.output.waiting;
    }
    // Joins one array of all parts. The array has `rows` rows of `all` chunks or recorded trajectories with `width`
    // numbers each. A part fills size(part) places of each row, from first(part) on.
    const auto gather = [&](auto RoundOutput::* field, std::uint64_t rows, std::uint64_t all, auto first, auto size,
                            std::uint64_t width) {
      auto& to = output.*field;
      to.resize(rows * all * width);
      for (const Part& part : parts_)
        for (std::uint64_t row = 0; row < rows; ++row)
          std::copy_n((part.output.*field).begin() + static_cast<std::ptrdiff_t>(row * size(part) * width),
                      size(part) * width, to.begin() + static_cast<std::ptrdiff_t>((row * all + first(part)) * width));
    };
    const auto first_chunk = [](const Part& part) { return part.chunk; };
    const auto chunks = [](const Part& part) { return part.tile.chunks(); };
    gather(&RoundOutput::moments, samples * observables, chunks_, first_chunk, chunks, 1);
    gather(&RoundOutput::co_moments, samples * pairs, chunks_, first_chunk, chunks, 1);
    if (kept > 0) gather(&RoundOutput::values, samples, chunks_, first_chunk, chunks, kept);
    gather(
        &RoundOutput::records, samples, recorded_, [](const Part& part) { return part.recorded; },
        [](const Part& part) -> std::uint64_t { return part.tile.recorded.size(); }, state_rows);
    const auto size = static_cast<std::size_t>(plan_->crossing_size());
    for (Part& part : parts_) {
      for (std::size_t i = 0; i < part.output.crossings.size(); i += size)
        part.output.crossings[i] += static_cast<double>(part.chunk * chunk_size);
      output.crossings.insert(output.crossings.end(), part.output.crossings.begin(), part.output.crossings.end());
    }
  }

  void fetch(Tile& tile) override {
    each([&](Part& part) {
      part.backend->fetch(part.tile);
      join(part, rows_to_fetch(*plan_), tile);
    });
  }
  void fetch_counts(Tile& tile) override {
    each([&](Part& part) {
      part.backend->fetch_counts(part.tile);
      join(part, rows_of_counts(*plan_), tile);
    });
  }

  double measure_peak_flops() override {
    return sum([](Backend& backend) { return backend.measure_peak_flops(); });
  }
  DeviceKernels kernels(const Problem& problem) override { return parts_.front().backend->kernels(problem); }
  double measure_copy_rate() override {
    return sum([](Backend& backend) { return backend.measure_copy_rate(); });
  }

 private:
  struct Part {
    std::unique_ptr<Backend> backend;
    std::uint64_t chunk = 0;     ///< index of the part's first chunk in the tile
    std::uint64_t recorded = 0;  ///< index of the part's first recorded trajectory in the tile
    Tile tile;
    RoundOutput output;
    Control control;
  };

  /// Copies rows of a part into the tile.
  static void join(const Part& part, const std::vector<RowRange>& ranges, Tile& tile) {
    for (std::uint64_t c = 0; c < part.tile.chunks(); ++c)
      for (const RowRange& rows : ranges)
        std::copy(part.tile.chunk(c) + rows.first * row_size, part.tile.chunk(c) + rows.end * row_size,
                  tile.chunk(part.chunk + c) + rows.first * row_size);
  }

  /// Calls work(part) at the same time for all parts that have chunks.
  void each(const std::function<void(Part&)>& work, const std::function<void()>& tick = {}) {
    parallel_for(
        parts_.size(), static_cast<unsigned>(parts_.size()),
        [&](std::uint64_t i) {
          if (parts_[i].tile.count > 0) work(parts_[i]);
        },
        tick);
  }
  double sum(const std::function<double(Backend&)>& measure) {
    std::vector<double> values(parts_.size());
    parallel_for(parts_.size(), static_cast<unsigned>(parts_.size()),
                 [&](std::uint64_t i) { values[i] = measure(*parts_[i].backend); });
    double r = 0.0;
    for (const double value : values) r += value;
    return r;
  }

  std::vector<Part> parts_;
  const Plan* plan_ = nullptr;
  std::uint64_t chunks_ = 0, recorded_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_split_backend(std::vector<std::unique_ptr<Backend>> backends) {
  return std::make_unique<SplitBackend>(std::move(backends));
}

}  // namespace rattleback
