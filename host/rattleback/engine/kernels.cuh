#pragma once
// Kernels of the CUDA backend: reduction of observables, crossings, records, and a measure of speed.

#include <cstddef>
#include <cstdint>

#include "rattleback/loop/lanes.hpp"
#include "rattleback/loop/reduction.hpp"

namespace rattleback {

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

struct Pair {
  int x, y;
};

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

/// Sets `waits` where a trajectory whose steps follow a density has not yet reached the time that is shown next.
__global__ void __launch_bounds__(chunk_size)
    waiting_kernel(const __grid_constant__ KernelArguments arguments, int* waits) {
  const double* rows = arguments.chunks + std::size_t(blockIdx.x) * arguments.layout.rows * row_size + threadIdx.x;
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

/// Number of independent chains of fused multiply-adds per thread. 8 chains hide the latency.
constexpr int fma_chains = 8;
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

}  // namespace rattleback
