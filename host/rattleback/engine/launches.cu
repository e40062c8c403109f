#include "rattleback/engine/launches.hpp"

#include <type_traits>

#include <cuda_runtime.h>
#include <cub/device/device_scan.cuh>

#include "rattleback/engine/error_derivative.hpp"
#include "rattleback/engine/start_launches.hpp"
#include "rattleback/kernels/lane_operations.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/loop/reduction.hpp"

namespace rattleback {
namespace {

/// Returns the row of references of the block's chunk and observable.
__device__ double* reference_row(const KernelArguments& a, int observables) {
  const std::size_t chunk = blockIdx.x / observables, observable = blockIdx.x % observables;
  return a.chunks + (chunk * a.layout.rows + a.layout.references + observable) * row_size;
}

/// Sets the reference values of a chunk's observables at the initial sample.
__global__ void __launch_bounds__(chunk_size)
    reference_kernel(const __grid_constant__ KernelArguments arguments, const double* values, const double* numbers,
                     int observables) {
  const double number = numbers[blockIdx.x % observables];
  reference_row(arguments, observables)[threadIdx.x] =
      number == number ? number : values[std::size_t(blockIdx.x) * chunk_size + threadIdx.x];
}

/// Computes the derivatives of a squared error, which are value `code` of each chunk, from the values and references of observable `of` and
/// of the derivative before it.
__global__ void __launch_bounds__(chunk_size)
    error_derivative_kernel(const __grid_constant__ KernelArguments arguments, double* values, int observables, int of,
                            int code) {
  double* of_chunk = values + std::size_t(blockIdx.x) * observables * chunk_size + threadIdx.x;
  const double* references = arguments.chunks + std::size_t(blockIdx.x) * arguments.layout.rows * row_size +
                             arguments.layout.references * row_size + threadIdx.x;
  of_chunk[code * chunk_size] = error_derivative(of_chunk[of * chunk_size], references[of * row_size],
                                                 of_chunk[(code - 1) * chunk_size], references[(code - 1) * row_size]);
}

/// Adds the sums of the lanes of a block in the tree of reduction.hpp. The first thread finds the result in sums[0].
template <class Sums>
__device__ void reduce_block(Sums* sums) {
  const int lane = threadIdx.x;
  for (int s = chunk_size / 2; s > 0; s /= 2) {
    __syncthreads();
    if (lane < s) sums[lane] = sums[lane] + sums[lane + s];
  }
}

/// Computes the moments of one (chunk, observable) per block.
__global__ void __launch_bounds__(chunk_size)
    reduce_kernel(const __grid_constant__ KernelArguments arguments, const double* values, int observables,
                  std::int64_t chunks, Moments* moments) {
  __shared__ ChunkSums<double> sums[chunk_size];
  const int lane = threadIdx.x;
  const double* of_chunk = values + std::size_t(blockIdx.x) * chunk_size;
  const double* references = reference_row(arguments, observables);
  const Shift shift = shift_of(of_chunk, references);
  sums[lane] = sums_of(of_chunk[lane], references[lane], shift, PlainUnit(), PlainUnit());
  reduce_block(sums);
  __syncthreads();
  const SumUnits units = units_of(sums[0]);
  if (!units.are_plain()) {  // the same for all threads
    __syncthreads();
    sums[lane] = sums_of(of_chunk[lane], references[lane], shift, BinaryUnit(units.first), BinaryUnit(units.second));
    reduce_block(sums);
  }
  if (lane == 0) {
    const std::int64_t chunk = blockIdx.x / observables, observable = blockIdx.x % observables;
    moments[observable * chunks + chunk] = moments_of(sums[0], shift, units);
  }
}

/// Adds a sample to the running sums of a fit in the rows from `row` on. One block per chunk.
__global__ void __launch_bounds__(chunk_size)
    fit_kernel(const __grid_constant__ KernelArguments arguments, const double* values, int observables, int observable,
               bool squared, double weight, int row) {
  double* chunk = arguments.chunks + std::size_t(blockIdx.x) * arguments.layout.rows * row_size + threadIdx.x;
  add_to_fit(values[(std::size_t(blockIdx.x) * observables + observable) * chunk_size + threadIdx.x],
             chunk[(arguments.layout.references + observable) * row_size], squared, weight, chunk + row * row_size);
}

/// Computes the joint moments of one (chunk, pair of observables) per block.
__global__ void __launch_bounds__(chunk_size) co_reduce_kernel(const double* values, int observables, const Pair* pairs,
                                                               int count, std::int64_t chunks, CoMoments* moments) {
  __shared__ CoChunkSums<double> sums[chunk_size];
  const int lane = threadIdx.x;
  const std::int64_t chunk = blockIdx.x / count, pair = blockIdx.x % count;
  const double* of_chunk = values + chunk * observables * chunk_size;
  const double *x = of_chunk + pairs[pair].x * chunk_size, *y = of_chunk + pairs[pair].y * chunk_size;
  const CoShift shift = co_shift_of(x, y);
  sums[lane] = co_sums_of(x[lane], y[lane], shift, PlainUnit(), PlainUnit());
  reduce_block(sums);
  __syncthreads();
  const SumUnits units = co_units_of(sums[0], shift, x, y);
  if (!units.are_plain()) {  // the same for all threads
    __syncthreads();
    sums[lane] = co_sums_of(x[lane], y[lane], shift, BinaryUnit(units.first), BinaryUnit(units.second));
    reduce_block(sums);
  }
  if (lane == 0) moments[pair * chunks + chunk] = co_moments_of(sums[0], shift, units);
}

/// Counts the waiting crossings of every lane. `most` must be 0 before and receives the largest count.
__global__ void __launch_bounds__(chunk_size)
    count_kernel(const __grid_constant__ KernelArguments arguments, int* counts, int* most) {
  const std::size_t chunk = blockIdx.x;
  const int count = static_cast<int>(
      arguments.chunks[(chunk * arguments.layout.rows + arguments.layout.crossings) * row_size + threadIdx.x]);
  counts[chunk * chunk_size + threadIdx.x] = count;
  if (count > 0) atomicMax(most, count);
}

/// Sets `waits` where a trajectory whose steps follow a density has not yet reached the time that is shown next. Adds to `counts` the
/// steps that trajectories have taken since they had taken `before`, which it renews, and those that they might have taken: as many as
/// the trajectory of their warp that took most.
__global__ void __launch_bounds__(chunk_size) waiting_kernel(const __grid_constant__ KernelArguments arguments,
                                                             int* waits, double* before, unsigned long long* counts) {
  const double* rows = arguments.chunks + std::size_t(blockIdx.x) * arguments.layout.rows * row_size + threadIdx.x;
  double& of_lane = before[std::size_t(blockIdx.x) * chunk_size + threadIdx.x];
  const double steps = rows[arguments.layout.steps * row_size], taken = steps - of_lane;
  of_lane = steps;
  double most = taken;
  for (int distance = 16; distance > 0; distance /= 2) {
    const double other = __shfl_xor_sync(0xffffffffu, most, distance);
    most = other > most ? other : most;
  }
  if (rows[arguments.layout.status * row_size] == 0.0 || taken > 0.0) {
    atomicAdd(counts, static_cast<unsigned long long>(taken));
    atomicAdd(counts + 1, static_cast<unsigned long long>(most));
  }
  if (rows[arguments.layout.status * row_size] == 0.0 &&
      rows[(arguments.layout.clock + ClockRow::shown) * row_size] != arguments.sample_time)
    *waits = 1;
}

/// Moves the waiting crossings of every lane to the positions from the scan of the counts, and empties the slots.
__global__ void __launch_bounds__(chunk_size)
    gather_kernel(const __grid_constant__ KernelArguments arguments, const int* counts, const int* positions,
                  int slot_rows, double* crossings) {
  const std::size_t chunk = blockIdx.x, k = chunk * chunk_size + threadIdx.x;
  double* rows = arguments.chunks + chunk * arguments.layout.rows * row_size + threadIdx.x;
  for (int i = 0; i < counts[k]; ++i) {
    double* crossing = crossings + std::size_t(positions[k] + i) * (slot_rows + 1);
    crossing[0] = static_cast<double>(k);
    for (int row = 0; row < slot_rows; ++row)
      crossing[1 + row] = rows[(arguments.layout.slots + i * slot_rows + row) * row_size];
  }
  rows[arguments.layout.crossings * row_size] = 0.0;
}

/// Copies the state rows of the recorded trajectories. Each thread copies one trajectory.
__global__ void record_kernel(const double* chunks, int rows, int state_rows, const std::uint32_t* recorded, int count,
                              double* records) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= count) return;
  const std::uint32_t k = recorded[r];
  const double* chunk = chunks + std::size_t(k / chunk_size) * rows * row_size;
  for (int row = 0; row < state_rows; ++row)
    records[std::size_t(r) * state_rows + row] = chunk[row * row_size + k % chunk_size];
}

__global__ void fma_kernel(std::int64_t rounds, double* results) {
  double x[fma_chains];
#pragma unroll
  for (int i = 0; i < fma_chains; ++i) x[i] = threadIdx.x + i;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < fma_chains; ++i) x[i] = __fma_rn(x[i], 0.5, 1.0);
  }
  double sum = 0.0;
#pragma unroll
  for (int i = 0; i < fma_chains; ++i) sum += x[i];
  results[std::size_t(blockIdx.x) * blockDim.x + threadIdx.x] = sum;  // the compiler must not remove the chains
}

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

enum class PointKind { good, left_out, alone, none };

/// The point of this thread, as ChunkPoints judges it.
__device__ __forceinline__ PointKind kind_of_point(const DevicePoints& a) {
  if (std::uint64_t(blockIdx.x) * chunk_size + threadIdx.x >= a.count) return PointKind::none;
  const double* rows = a.rows + std::size_t(blockIdx.x) * a.rows_of_chunk * row_size + threadIdx.x;
  const bool taken = a.condition < 0 || rows[a.condition * row_size] != 0.0;
  PointKind kind = !taken                               ? PointKind::left_out
                   : rows[a.doubtful * row_size] != 0.0 ? PointKind::alone
                                                        : PointKind::good;
  for (int i = 0; i < a.finite_count; ++i)
    if (!is_finite(rows[a.finite[i] * row_size])) kind = PointKind::alone;
  if (a.step >= 0 && kind == PointKind::good && a.counter(rows[a.step * row_size]) < 0.0) kind = PointKind::alone;
  return kind;
}

__global__ void __launch_bounds__(chunk_size) judge_kernel(const __grid_constant__ DevicePoints arguments) {
  const PointKind kind = kind_of_point(arguments);
  if (kind == PointKind::left_out) atomicAdd(&arguments.counts->left_out, 1ull);
  if (kind == PointKind::alone)
    arguments.alone[atomicAdd(&arguments.counts->alone, 1ull)] = blockIdx.x * chunk_size + threadIdx.x;
  if (kind == PointKind::good && arguments.step >= 0) {
    const double* rows = arguments.rows + std::size_t(blockIdx.x) * arguments.rows_of_chunk * row_size + threadIdx.x;
    atomicAdd(&arguments.counts->steps,
              static_cast<unsigned long long>(arguments.counter(rows[arguments.step * row_size])));
  }
}

/// Moves the points to their places in a tile whose rows are 0, and in arrays of the result.
__global__ void __launch_bounds__(chunk_size)
    place_kernel(const __grid_constant__ DevicePoints points, const __grid_constant__ PointPlaces places) {
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
    if (places.steps_per_sample >= 0)
      to[places.steps_per_sample * row_size] = points.counter(from[points.step * row_size]);
  } else if (kind == PointKind::left_out) {
    to[places.status * row_size] = status_left_out;
    for (int row = 0; row < places.step_rows; ++row) to[row * row_size] = __builtin_nan("");
  }
  const std::size_t k = std::size_t(blockIdx.x) * chunk_size + threadIdx.x;
  for (int i = 0; i < places.kept_count; ++i) {
    const KeptRows& kept = places.kept[i];
    for (int j = 0; j < kept.width; ++j)
      kept.to[k * kept.width + j] = kind == PointKind::good ? from[(kept.row + j) * row_size] : __builtin_nan("");
  }
}

__global__ void __launch_bounds__(chunk_size)
    stop_kernel(double* tile, int rows_of_chunk, int status, const __grid_constant__ StopStarts stops) {
  double* rows = tile + std::size_t(blockIdx.x) * rows_of_chunk * row_size + threadIdx.x;
  if (rows[status * row_size] != status_padding) stops.set(rows);
}

/// Moves trajectories, [trajectory][row], to their places in a tile: a block each.
__global__ void column_kernel(const double* columns, const unsigned* trajectories, int rows, double* chunks) {
  const unsigned k = trajectories[blockIdx.x];
  double* chunk = chunks + std::size_t(k / chunk_size) * rows * row_size + k % chunk_size;
  for (int row = threadIdx.x; row < rows; row += blockDim.x)
    chunk[row * row_size] = columns[std::size_t(blockIdx.x) * rows + row];
}

template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), std::size_t blocks, unsigned threads, cudaStream_t stream,
                   const std::type_identity_t<Parameters>&... arguments) {
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(arguments...);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_references(cudaStream_t stream, std::size_t count, const KernelArguments& arguments,
                              const double* values, const double* numbers, int observables) {
  return launch(reference_kernel, count, chunk_size, stream, arguments, values, numbers, observables);
}

cudaError_t launch_error_derivatives(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments,
                                     double* values, int observables, int of, int code) {
  return launch(error_derivative_kernel, chunks, chunk_size, stream, arguments, values, observables, of, code);
}

cudaError_t launch_statistics(cudaStream_t stream, std::size_t count, const KernelArguments& arguments,
                              const double* values, int observables, std::int64_t chunks, Moments* moments) {
  return launch(reduce_kernel, count, chunk_size, stream, arguments, values, observables, chunks, moments);
}

cudaError_t launch_fits(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments, const double* values,
                        int observables, int observable, bool squared, double weight, int row) {
  return launch(fit_kernel, chunks, chunk_size, stream, arguments, values, observables, observable, squared, weight,
                row);
}

cudaError_t launch_correlations(cudaStream_t stream, const double* values, int observables, const Pair* pairs,
                                int count, std::int64_t chunks, CoMoments* moments) {
  return launch(co_reduce_kernel, static_cast<std::size_t>(chunks * count), chunk_size, stream, values, observables,
                pairs, count, chunks, moments);
}

cudaError_t launch_records(cudaStream_t stream, const double* chunks, int rows, int state_rows,
                           const std::uint32_t* recorded, int count, double* records) {
  return launch(record_kernel, (static_cast<std::size_t>(count) + 127) / 128, 128, stream, chunks, rows, state_rows,
                recorded, count, records);
}

cudaError_t launch_counts(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments, int* counts,
                          int* most) {
  return launch(count_kernel, chunks, chunk_size, stream, arguments, counts, most);
}

cudaError_t launch_sums(cudaStream_t stream, void* scratch, std::size_t& bytes, const int* counts, int* positions,
                        int lanes) {
  return cub::DeviceScan::ExclusiveSum(scratch, bytes, counts, positions, lanes, stream);
}

cudaError_t launch_gathering(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments,
                             const int* counts, const int* positions, int slot_rows, double* crossings) {
  return launch(gather_kernel, chunks, chunk_size, stream, arguments, counts, positions, slot_rows, crossings);
}

cudaError_t launch_waiting(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments, int* waits,
                           double* before, unsigned long long* counts) {
  return launch(waiting_kernel, chunks, chunk_size, stream, arguments, waits, before, counts);
}

cudaError_t launch_fma(cudaStream_t stream, unsigned blocks, unsigned threads, std::int64_t rounds, double* results) {
  return launch(fma_kernel, blocks, threads, stream, rounds, results);
}

cudaError_t launch_points(cudaStream_t stream, std::size_t chunks, const DeviceProgram& program, std::uint64_t first,
                          double* rows) {
  return launch(point_kernel, chunks, chunk_size, stream, program, first, rows);
}

cudaError_t launch_judging(cudaStream_t stream, std::size_t chunks, const DevicePoints& points) {
  return launch(judge_kernel, chunks, chunk_size, stream, points);
}

cudaError_t launch_placing(cudaStream_t stream, std::size_t chunks, const DevicePoints& points,
                           const PointPlaces& places) {
  return launch(place_kernel, chunks, chunk_size, stream, points, places);
}

cudaError_t launch_stops(cudaStream_t stream, std::size_t chunks, double* tile, int rows_of_chunk, int status,
                         const StopStarts& stops) {
  return launch(stop_kernel, chunks, chunk_size, stream, tile, rows_of_chunk, status, stops);
}

cudaError_t launch_columns(cudaStream_t stream, std::size_t count, const double* columns, const unsigned* trajectories,
                           int rows, double* chunks) {
  return launch(column_kernel, count, 64, stream, columns, trajectories, rows, chunks);
}

cudaError_t find_launches() {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, reference_kernel);
}

const char* architectures_of_launches() { return RATTLEBACK_CUDA_ARCHITECTURES; }

}  // namespace rattleback
