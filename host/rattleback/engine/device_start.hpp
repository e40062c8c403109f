#pragma once
// Initial states on a GPU: what puts the kernels to use that evaluate axes and formulas, prepare points and move them to their places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "rattleback/engine/device_memory.hpp"
#include "rattleback/engine/start.hpp"
#include "rattleback/engine/start_launches.hpp"
#include "rattleback/kernels/module.hpp"

namespace rattleback {

/// Makes initial states on the present device.
class DeviceStart {
 public:
  /// `modules` are those of StartProgram::units.
  DeviceStart(std::vector<const StartModule*> modules, cudaStream_t stream)
      : modules_(std::move(modules)), stream_(stream) {}

  /// Finds what the points of a range are, until more than `most` are to be prepared by themselves.
  FoundPoints find(const StartProgram& program, const Range& range, std::uint64_t most) {
    upload(program, {});
    FoundPoints found;
    for (Batch batch = batches(program, range.first, range.count()); batch.next();) {
      make(program, batch);
      const PointCounts counts = judge(batch);
      found.left_out += counts.left_out;
      found.steps_per_sample += counts.steps;
      found.too_many = found.alone.size() + alone_.size() > most;
      if (found.too_many) break;
      for (const unsigned k : alone_) found.alone.push_back(batch.first + k);
    }
    return found;
  }

  /// Fills a tile on the device, and in host memory its rows that no step changes, and the arrays of the result.
  void fill(const Plan& plan, Tile& tile, const TileStart& start, double* state) {
    const StartProgram& program = *start.program;
    upload(program, start);
    const std::size_t bytes_of_chunk = std::size_t(tile.rows) * row_size * sizeof(double);
    check(cudaMemsetAsync(state, 0, tile.chunks() * bytes_of_chunk, stream_), "clearing of the state");
    std::vector<std::uint64_t> alone;
    for (Batch batch = batches(program, tile.first, tile.count, start); batch.next();) {
      make(program, batch);
      if (modules_.size() > 1)
        modules_[1]->prepare(program.arguments, rows_.get() + program.point * row_size, program.rows,
                             static_cast<std::int64_t>(batch.chunks()), stream_);
      judge(batch);
      const std::uint64_t offset = batch.first - tile.first;
      for (const unsigned k : alone_) alone.push_back(offset + k);
      PointPlaces places{state + offset / chunk_size * tile.rows * row_size,
                         tile.rows,
                         plan.arguments.layout.status,
                         plan.step_rows,
                         program.step_varies ? plan.arguments.layout.steps_per_sample : -1,
                         copies_.get(),
                         static_cast<int>(start.rows.size()),
                         constants_.get(),
                         static_cast<int>(start.constants.size()),
                         kept_.get(),
                         static_cast<int>(start.kept.size())};
      check(launch_placing(stream_, batch.chunks(), judged_, places),
            "launch of the kernel that places initial states");
      download(program, start, batch, offset);
    }
    const ChunkLayout& layout = plan.arguments.layout;
    if (layout.fixed_rows > 0)
      check(
          cudaMemcpy2DAsync(tile.data.data() + layout.fixed * row_size, bytes_of_chunk, state + layout.fixed * row_size,
                            bytes_of_chunk, std::size_t(layout.fixed_rows) * row_size * sizeof(double), tile.chunks(),
                            cudaMemcpyDeviceToHost, stream_),
          "copy of the state");
    synchronise();
    if (!alone.empty()) put_alone(tile, start, alone, state);
  }

 private:
  /// Some trajectories at a time, from `first` on, whose rows fit into memory.
  struct Batch {
    std::uint64_t most, end, first, count = 0;
    bool next() {
      first += count;
      count = std::min(most, end - first);
      return count > 0;
    }
    [[nodiscard]] std::uint64_t chunks() const { return (count + chunk_size - 1) / chunk_size; }
  };

  void synchronise() { check(cudaStreamSynchronize(stream_), "execution"); }

  void upload(const StartProgram& program, const TileStart& start) {
    axes_.assign(program.axes.begin(), program.axes.end());
    std::vector<double> lists;
    std::vector<std::uint32_t> numbers;
    for (const AxisNumbers& axis : axes_) {
      if (axis.kind == AxisNumbers::Kind::values) lists.insert(lists.end(), axis.values, axis.values + axis.count);
      if (axis.quasi_random != nullptr)
        numbers.insert(numbers.end(), axis.quasi_random, axis.quasi_random + axis.quasi_random_count());
    }
    const double* list = lists_.upload(lists.data(), lists.size(), stream_);
    const std::uint32_t* number = quasi_random_.upload(numbers.data(), numbers.size(), stream_);
    for (AxisNumbers& axis : axes_) {
      if (axis.kind == AxisNumbers::Kind::values) axis.values = std::exchange(list, list + axis.count);
      if (axis.quasi_random != nullptr) axis.quasi_random = std::exchange(number, number + axis.quasi_random_count());
    }
    const auto put = [this](auto& array, const auto& host) { return array.upload(host.data(), host.size(), stream_); };
    program_ = {put(device_axes_, axes_),
                put(axis_rows_, program.axis_rows),
                static_cast<int>(axes_.size()),
                put(nodes_, program.nodes),
                static_cast<int>(program.nodes.size()),
                put(given_, program.given),
                static_cast<int>(program.given.size()),
                program.rows};
    put(finite_, program.finite);
    put(copies_, start.rows);
    put(constants_, start.constants);
    synchronise();  // before what was uploaded is destroyed
  }

  /// Reserves memory for the rows of as many chunks as fit, and for what is kept of them.
  Batch batches(const StartProgram& program, std::uint64_t first, std::uint64_t count, const TileStart& start = {}) {
    constexpr std::size_t most_bytes = std::size_t{256} << 20;
    const std::size_t bytes = std::size_t(program.rows) * row_size * sizeof(double);
    std::uint64_t chunks = std::clamp<std::uint64_t>(most_bytes / bytes, 1,
                                                     std::max<std::uint64_t>(1, (count + chunk_size - 1) / chunk_size));
    for (;;) try {
        rows_.reserve(chunks * program.rows * row_size);
        alone_on_device_.reserve(chunks * chunk_size);
        counts_.reserve(1);
        std::size_t width = 0;
        for (const KeptRows& kept : start.kept) width += static_cast<std::size_t>(kept.width);
        double* to = kept_numbers_.reserve(chunks * chunk_size * width);
        std::vector<KeptRows> kept = start.kept;
        for (KeptRows& one : kept) one.to = std::exchange(to, to + chunks * chunk_size * one.width);
        kept_.upload(kept.data(), kept.size(), stream_);
        synchronise();
        return {chunks * chunk_size, first + count, first};
      } catch (const OutOfMemory&) {
        if (chunks == 1) throw;
        chunks = (chunks + 1) / 2;
      }
  }

  void make(const StartProgram& program, const Batch& batch) {
    check(launch_points(stream_, batch.chunks(), program_, batch.first, rows_.get()),
          "launch of the kernel of axes and formulas");
    modules_[0]->prepare(program.arguments, rows_.get() + program.point * row_size, program.rows,
                         static_cast<std::int64_t>(batch.chunks()), stream_);
    const StartLayout& at = program.arguments.layout;
    judged_ = {rows_.get(),
               program.rows,
               program.point + at.doubtful,
               program.condition,
               program.step_varies ? program.point + at.step : -1,
               program.counter,
               finite_.get(),
               static_cast<int>(program.finite.size()),
               batch.count,
               counts_.get(),
               alone_on_device_.get()};
  }

  /// Counts the points of a batch, and lists those that are to be prepared by themselves in alone_.
  PointCounts judge(const Batch& batch) {
    PointCounts counts{};
    check(cudaMemsetAsync(counts_.get(), 0, sizeof counts, stream_), "clearing of a counter");
    check(launch_judging(stream_, batch.chunks(), judged_), "launch of the kernel that judges initial states");
    check(cudaMemcpyAsync(&counts, counts_.get(), sizeof counts, cudaMemcpyDeviceToHost, stream_), "copy of a counter");
    synchronise();
    alone_.resize(counts.alone);
    if (counts.alone > 0) {
      check(cudaMemcpyAsync(alone_.data(), alone_on_device_.get(), counts.alone * sizeof(unsigned),
                            cudaMemcpyDeviceToHost, stream_),
            "copy of numbers");
      synchronise();
      std::ranges::sort(alone_);
    }
    return counts;
  }

  /// Copies what the result keeps of a batch that begins with trajectory `offset` of the tile.
  void download(const StartProgram& program, const TileStart& start, const Batch& batch, std::uint64_t offset) {
    const std::size_t pitch = std::size_t(program.rows) * row_size * sizeof(double),
                      width = std::size_t(chunk_size) * sizeof(double);
    for (std::size_t i = 0; i < start.axes.size(); ++i) {
      const double* from = rows_.get() + program.axis_rows[i] * row_size;
      const std::uint64_t whole = batch.count / chunk_size, rest = batch.count % chunk_size;
      if (whole > 0)
        check(cudaMemcpy2DAsync(start.axes[i] + offset, width, from, pitch, width, whole, cudaMemcpyDeviceToHost,
                                stream_),
              "copy of axes");
      if (rest > 0)
        check(cudaMemcpyAsync(start.axes[i] + offset + whole * chunk_size, from + whole * program.rows * row_size,
                              rest * sizeof(double), cudaMemcpyDeviceToHost, stream_),
              "copy of axes");
    }
    double* from = kept_numbers_.get();
    for (const KeptRows& kept : start.kept) {
      check(cudaMemcpyAsync(kept.to + offset * kept.width, from, batch.count * kept.width * sizeof(double),
                            cudaMemcpyDeviceToHost, stream_),
            "copy of initial states");
      from += batch.most * kept.width;
    }
  }

  /// Has the host fill trajectories, and copies them to the device.
  void put_alone(Tile& tile, const TileStart& start, const std::vector<std::uint64_t>& alone, double* state) {
    start.fill_alone(alone);
    constexpr std::size_t most = 1 << 16;
    for (std::size_t done = 0; done < alone.size(); done += most) {
      const std::size_t count = std::min(most, alone.size() - done);
      std::vector<double> columns;
      std::vector<unsigned> trajectories;
      for (std::size_t i = done; i < done + count; ++i) {
        trajectories.push_back(static_cast<unsigned>(alone[i]));
        for (int row = 0; row < tile.rows; ++row) columns.push_back(tile.at(alone[i], row));
      }
      columns_.upload(columns.data(), columns.size(), stream_);
      alone_on_device_.upload(trajectories.data(), count, stream_);
      check(launch_columns(stream_, count, columns_.get(), alone_on_device_.get(), tile.rows, state),
            "launch of the kernel that places trajectories");
      synchronise();
    }
  }

  std::vector<const StartModule*> modules_;
  cudaStream_t stream_;
  DeviceProgram program_{};
  DevicePoints judged_{};
  std::vector<AxisNumbers> axes_;
  std::vector<unsigned> alone_;
  DeviceArray<AxisNumbers> device_axes_;
  DeviceArray<double> lists_, rows_, kept_numbers_, columns_;
  DeviceArray<std::uint32_t> quasi_random_;
  DeviceArray<int> axis_rows_, finite_;
  DeviceArray<Node> nodes_;
  DeviceArray<StartProgram::Copy> given_, copies_;
  DeviceArray<ConstantRow> constants_;
  DeviceArray<KeptRows> kept_;
  DeviceArray<PointCounts> counts_;
  DeviceArray<unsigned> alone_on_device_;
};

}  // namespace rattleback
