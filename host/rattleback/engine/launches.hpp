#pragma once
// The kernels of the CUDA backend itself: reduction of observables, crossings, records, and a measure of speed. nvcc compiles them
// (launches.cu), with a host compiler that may have another C++ library than the rest of the program. So these functions take and
// return only numbers, pointers, and structs of such. Each returns what the launch said.

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

/// Two observables, by their places in the study.
struct Pair {
  int x, y;
};

/// Number of independent chains of fused multiply-adds per thread of launch_fma. 8 chains hide the latency.
constexpr int fma_chains = 8;

/// Sets the reference values of the observables of `count` (chunk, observable) at the initial sample.
cudaError_t launch_references(cudaStream_t stream, std::size_t count, const KernelArguments& arguments,
                              const double* values, const double* numbers, int observables);

/// Computes the derivatives of the squared error of observable `of`, which are value `code` of each chunk, from those of the observable,
/// which are the value before it.
cudaError_t launch_error_derivatives(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments,
                                     double* values, int observables, int of, int code);

/// Computes the moments of `count` (chunk, observable).
cudaError_t launch_statistics(cudaStream_t stream, std::size_t count, const KernelArguments& arguments,
                              const double* values, int observables, std::int64_t chunks, Moments* moments);

/// Adds a sample to the running sums of a fit in the rows from `row` on.
cudaError_t launch_fits(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments, const double* values,
                        int observables, int observable, bool squared, double weight, int row);

/// Computes the joint moments of `count` pairs of observables in each chunk.
cudaError_t launch_correlations(cudaStream_t stream, const double* values, int observables, const Pair* pairs,
                                int count, std::int64_t chunks, CoMoments* moments);

/// Copies the state rows of `count` recorded trajectories.
cudaError_t launch_records(cudaStream_t stream, const double* chunks, int rows, int state_rows,
                           const std::uint32_t* recorded, int count, double* records);

/// Counts the waiting crossings of every lane. `most` must be 0 before and receives the largest count.
cudaError_t launch_counts(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments, int* counts,
                          int* most);

/// Sets `positions` to the sums of the counts before each lane. Without scratch, the call only sets `bytes` to the size of it.
cudaError_t launch_sums(cudaStream_t stream, void* scratch, std::size_t& bytes, const int* counts, int* positions,
                        int lanes);

/// Moves the waiting crossings of every lane to the positions from launch_sums, and empties the slots.
cudaError_t launch_gathering(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments,
                             const int* counts, const int* positions, int slot_rows, double* crossings);

/// Sets `waits` where a trajectory whose steps follow a density has not yet reached the time that is shown next. Adds to two `counts` the
/// steps since each trajectory had taken `before`, which is renewed: those that were taken, and those that a trajectory might have taken
/// while another of its warp took steps.
cudaError_t launch_waiting(cudaStream_t stream, std::size_t chunks, const KernelArguments& arguments, int* waits,
                           double* before, unsigned long long* counts);

/// Lets each thread compute `rounds` fused multiply-adds in each of its chains. `results` has a number per thread.
cudaError_t launch_fma(cudaStream_t stream, unsigned blocks, unsigned threads, std::int64_t rounds, double* results);

/// Returns whether the current device can run these kernels.
cudaError_t find_launches();

/// Returns the architectures that these kernels were compiled for: "75-virtual".
const char* architectures_of_launches();

}  // namespace rattleback
