#pragma once
// Initial states on a GPU: kernels that evaluate axes and formulas and move points to their places, and what puts them to use.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rattleback/engine/device_memory.cuh"
#include "rattleback/engine/start.hpp"
#include "rattleback/kernels/lane_operations.hpp"
#include "rattleback/kernels/module.hpp"

namespace rattleback {

/// A StartProgram in device memory.
struct DeviceProgram {
  const AxisNumbers* axes;
  const int* axis_rows;
  int axis_count;
  const Node* nodes;
  int node_count;
  const StartProgram::Copy* given;
  int given_count, rows;
};

/// The lane of this thread.
struct ForThisLane {
  template <class F>
  __device__ __forceinline__ void operator()(const F& f) const {
    f(static_cast<int>(threadIdx.x));
  }
};

/// Computes axes and formulas of the trajectories from `first` on, a thread each. Lanes behind the last trajectory get numbers, too.
__global__ void __launch_bounds__(chunk_size)
    point_kernel(const __grid_constant__ DeviceProgram program, std::uint64_t first, double* rows) {
  const std::uint64_t chunk = blockIdx.x;
  double* of_chunk = rows + chunk * program.rows * row_size;
  for (int i = 0; i < program.axis_count; ++i) {
    const AxisNumbers& axis = program.axes[i];
    of_chunk[program.axis_rows[i] * row_size + threadIdx.x] =
        axis.value_at(axis.position(first + chunk * chunk_size + threadIdx.x));
  }
  for (int i = 0; i < program.node_count; ++i) {
    const Node& node = program.nodes[i];
    double* results = of_chunk + i * row_size;
    if (node.op == Op::variable) continue;
    if (node.op == Op::constant) {
      results[threadIdx.x] = node.number;
      continue;
    }
    const double* operands[3];
    for (int k = 0; k < 3; ++k) operands[k] = of_chunk + node.operand[k] * row_size;
    apply_to_lanes<double>(node.op, node.index, operands, results, ForThisLane());
  }
  for (int i = 0; i < program.given_count; ++i)
    of_chunk[program.given[i].to * row_size + threadIdx.x] = of_chunk[program.given[i].from * row_size + threadIdx.x];
}

/// What the points of some chunks are.
struct PointCounts {
  unsigned long long left_out, alone;
};
struct JudgeArguments {
  const double* rows;
  int rows_of_chunk, doubtful, condition;
  const int* finite;
  int finite_count;
  std::uint64_t count;  ///< of trajectories
  PointCounts* counts;
  unsigned* alone;  ///< those to be prepared by themselves, in no order
};
enum class PointKind { good, left_out, alone, none };

/// The point of this thread, as ChunkPoints judges it.
__device__ __forceinline__ PointKind kind_of_point(const JudgeArguments& a) {
  if (std::uint64_t(blockIdx.x) * chunk_size + threadIdx.x >= a.count) return PointKind::none;
  const double* rows = a.rows + std::size_t(blockIdx.x) * a.rows_of_chunk * row_size + threadIdx.x;
  const bool taken = a.condition < 0 || rows[a.condition * row_size] != 0.0;
  PointKind kind = !taken                               ? PointKind::left_out
                   : rows[a.doubtful * row_size] != 0.0 ? PointKind::alone
                                                        : PointKind::good;
  for (int i = 0; i < a.finite_count; ++i)
    if (!is_finite(rows[a.finite[i] * row_size])) kind = PointKind::alone;
  return kind;
}

__global__ void __launch_bounds__(chunk_size) judge_kernel(const __grid_constant__ JudgeArguments arguments) {
  const PointKind kind = kind_of_point(arguments);
  if (kind == PointKind::left_out) atomicAdd(&arguments.counts->left_out, 1ull);
  if (kind == PointKind::alone)
    arguments.alone[atomicAdd(&arguments.counts->alone, 1ull)] = blockIdx.x * chunk_size + threadIdx.x;
}

struct PlaceArguments {
  double* chunks;
  int rows_of_chunk, status, step_rows;
  const StartProgram::Copy* copies;
  int copy_count;
  const TileStart::Constant* constants;
  int constant_count;
  const TileStart::Kept* kept;  ///< with pointers to device memory
  int kept_count;
};

/// Moves the points to their places in a tile whose rows are 0, and in arrays of the result.
__global__ void __launch_bounds__(chunk_size)
    place_kernel(const __grid_constant__ JudgeArguments points, const __grid_constant__ PlaceArguments places) {
  const PointKind kind = kind_of_point(points);
  const double* from = points.rows + std::size_t(blockIdx.x) * points.rows_of_chunk * row_size + threadIdx.x;
  double* to = places.chunks + std::size_t(blockIdx.x) * places.rows_of_chunk * row_size + threadIdx.x;
  if (kind == PointKind::none) {
    to[places.status * row_size] = status_padding;
    return;
  }
  if (kind == PointKind::good) {
    for (int i = 0; i < places.copy_count; ++i)
      to[places.copies[i].to * row_size] = from[places.copies[i].from * row_size];
    for (int i = 0; i < places.constant_count; ++i) to[places.constants[i].row * row_size] = places.constants[i].number;
  } else if (kind == PointKind::left_out) {
    to[places.status * row_size] = status_left_out;
    for (int row = 0; row < places.step_rows; ++row) to[row * row_size] = __builtin_nan("");
  }
  const std::size_t k = std::size_t(blockIdx.x) * chunk_size + threadIdx.x;
  for (int i = 0; i < places.kept_count; ++i) {
    const TileStart::Kept& kept = places.kept[i];
    for (int j = 0; j < kept.width; ++j)
      kept.to[k * kept.width + j] = kind == PointKind::good ? from[(kept.row + j) * row_size] : __builtin_nan("");
  }
}

/// Moves trajectories, [trajectory][row], to their places in a tile: a block each.
__global__ void column_kernel(const double* columns, const unsigned* trajectories, int rows, double* chunks) {
  const unsigned k = trajectories[blockIdx.x];
  double* chunk = chunks + std::size_t(k / chunk_size) * rows * row_size + k % chunk_size;
  for (int row = threadIdx.x; row < rows; row += blockDim.x)
    chunk[row * row_size] = columns[std::size_t(blockIdx.x) * rows + row];
}

/// Makes initial states on the present device.
class DeviceStart {
 public:
  DeviceStart(const StartModule& module, cudaStream_t stream) : module_(module), stream_(stream) {}

  /// Finds what the points of a range are.
  FoundPoints find(const StartProgram& program, const Range& range) {
    upload(program, {});
    FoundPoints found;
    for (Batch batch = batches(program, range.first, range.count()); batch.next();) {
      make(program, batch);
      const PointCounts counts = judge(batch);
      found.left_out += counts.left_out;
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
      judge(batch);
      const std::uint64_t offset = batch.first - tile.first;
      for (const unsigned k : alone_) alone.push_back(offset + k);
      PlaceArguments places{state + offset / chunk_size * tile.rows * row_size,
                            tile.rows,
                            plan.arguments.layout.status,
                            plan.step_rows,
                            copies_.get(),
                            static_cast<int>(start.rows.size()),
                            constants_.get(),
                            static_cast<int>(start.constants.size()),
                            kept_.get(),
                            static_cast<int>(start.kept.size())};
      launch("launch of the kernel that places initial states", place_kernel, batch.chunks(), chunk_size, stream_,
             judged_, places);
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
      if (axis.kind == Axis::Kind::values) lists.insert(lists.end(), axis.values, axis.values + axis.count);
      if (axis.quasi_random != nullptr)
        numbers.insert(numbers.end(), axis.quasi_random,
                       axis.quasi_random + count_of_quasi_random_numbers(axis.points));
    }
    const double* list = lists_.upload(lists.data(), lists.size(), stream_);
    const std::uint32_t* number = quasi_random_.upload(numbers.data(), numbers.size(), stream_);
    for (AxisNumbers& axis : axes_) {
      if (axis.kind == Axis::Kind::values) axis.values = std::exchange(list, list + axis.count);
      if (axis.quasi_random != nullptr)
        axis.quasi_random = std::exchange(number, number + count_of_quasi_random_numbers(axis.points));
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
        for (const TileStart::Kept& kept : start.kept) width += static_cast<std::size_t>(kept.width);
        double* to = kept_numbers_.reserve(chunks * chunk_size * width);
        std::vector<TileStart::Kept> kept = start.kept;
        for (TileStart::Kept& one : kept) one.to = std::exchange(to, to + chunks * chunk_size * one.width);
        kept_.upload(kept.data(), kept.size(), stream_);
        synchronise();
        return {chunks * chunk_size, first + count, first};
      } catch (const OutOfMemory&) {
        if (chunks == 1) throw;
        chunks = (chunks + 1) / 2;
      }
  }

  void make(const StartProgram& program, const Batch& batch) {
    launch("launch of the kernel of axes and formulas", point_kernel, batch.chunks(), chunk_size, stream_, program_,
           batch.first, rows_.get());
    module_.prepare(program.arguments, rows_.get() + program.point * row_size, program.rows,
                    static_cast<std::int64_t>(batch.chunks()), stream_);
    judged_ = {rows_.get(),       program.rows,  program.point + program.arguments.layout.doubtful,
               program.condition, finite_.get(), static_cast<int>(program.finite.size()),
               batch.count,       counts_.get(), alone_on_device_.get()};
  }

  /// Counts the points of a batch, and lists those that are to be prepared by themselves in alone_.
  PointCounts judge(const Batch& batch) {
    PointCounts counts{};
    check(cudaMemsetAsync(counts_.get(), 0, sizeof counts, stream_), "clearing of a counter");
    launch("launch of the kernel that judges initial states", judge_kernel, batch.chunks(), chunk_size, stream_,
           judged_);
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
    for (const TileStart::Kept& kept : start.kept) {
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
      launch("launch of the kernel that places trajectories", column_kernel, count, 64, stream_, columns_.get(),
             alone_on_device_.get(), tile.rows, state);
      synchronise();
    }
  }

  const StartModule& module_;
  cudaStream_t stream_;
  DeviceProgram program_{};
  JudgeArguments judged_{};
  std::vector<AxisNumbers> axes_;
  std::vector<unsigned> alone_;
  DeviceArray<AxisNumbers> device_axes_;
  DeviceArray<double> lists_, rows_, kept_numbers_, columns_;
  DeviceArray<std::uint32_t> quasi_random_;
  DeviceArray<int> axis_rows_, finite_;
  DeviceArray<Node> nodes_;
  DeviceArray<StartProgram::Copy> given_, copies_;
  DeviceArray<TileStart::Constant> constants_;
  DeviceArray<TileStart::Kept> kept_;
  DeviceArray<PointCounts> counts_;
  DeviceArray<unsigned> alone_on_device_;
};

}  // namespace rattleback
