#pragma once
// Compiles one system with one method for CUDA, like instantiate.hpp: the lane functions are the same, and a thread or
// a tile of threads runs each trajectory.

#include "rattleback/linalg/parked.hpp"
#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/observe.hpp"
#include "rattleback/loop/tangent.hpp"

RB_NAMESPACE_BEGIN

/// A loop of advance.hpp in a kernel.
template <template <class> class System, class Method, class Companion, bool sections>
struct Loop {
  using Step = typename Method::template of<double, System<double>>;
  using Team = TileOfLoop<Step, Companion>;
  /// Threads per block. With one thread per trajectory a block is a slice of a chunk, so memory access is coalesced; a
  /// step with all 255 registers still fits several times on a multiprocessor. With tiles a block is a warp, because
  /// the shared memory per block is limited.
  static constexpr int threads = Team::lanes > 1 ? 32 : threads_of_block;
  /// The step ends before the companion's step begins, so both use the same memory.
  static constexpr int shared_bytes =
      workspace_bytes<Step> > workspace_bytes<Companion> ? workspace_bytes<Step> : workspace_bytes<Companion>;
  static_assert(shared_bytes <= shared_bytes_max, "more than a block can have without asking");

  /// Advances the trajectory of this thread.
  __device__ __forceinline__ static void run(const KernelArguments& arguments) {
    const std::int64_t k = (std::int64_t(blockIdx.x) * threads + threadIdx.x) / Team::lanes;
    double* chunk = arguments.chunks + k / chunk_size * arguments.layout.rows * chunk_size;
    advance_lanes<double, System, Method::template of, Companion, sections>(arguments, chunk, int(k % chunk_size));
  }
  static unsigned blocks(std::int64_t chunks) {
    return static_cast<unsigned>(chunks * (chunk_size * Team::lanes / threads));
  }
};
template <template <class> class System, class Method>
using PlainLoop = Loop<System, Method, NoCompanion, false>;
template <template <class> class System, class Method>
using SectionLoop = Loop<System, Method, NoCompanion, true>;
template <template <class> class System, class Method>
using TangentLoop = Loop<System, Method, Tangent<double, System, Method::template of>, true>;

// With 255 registers per thread four blocks of 64 threads fit on a multiprocessor; bench/gpu tries other numbers.
// Registers spill to shared memory while there is room. Kernels of tiles with workspaces in shared memory do not spill
// there, because the assembler refuses.
#ifndef RATTLEBACK_BLOCKS
#define RATTLEBACK_BLOCKS 4
#endif
#if RB_NVCC_VERSION >= 13 && !defined(RATTLEBACK_CUDA_QUICK)
#define RB_SPILL_TO_SHARED_MEMORY asm volatile(".pragma \"enable_smem_spilling\";")
#else
#define RB_SPILL_TO_SHARED_MEMORY
#endif

template <template <class> class System, class Method>
__global__ void __launch_bounds__(PlainLoop<System, Method>::threads, RATTLEBACK_BLOCKS)
    advance_kernel(const __grid_constant__ KernelArguments arguments) {
  static_assert(PlainLoop<System, Method>::shared_bytes == 0);
  RB_SPILL_TO_SHARED_MEMORY;
  PlainLoop<System, Method>::run(arguments);
}

/// The method with the fast step.
template <class Method>
struct FastMethod {
  template <class T, class System>
  using of = typename Method::template of<T, System>::FastStep;
};

template <template <class> class System, class Method>
__global__ void __launch_bounds__(PlainLoop<System, FastMethod<Method>>::threads, RATTLEBACK_BLOCKS)
    fast_kernel(const __grid_constant__ KernelArguments arguments) {
  static_assert(PlainLoop<System, FastMethod<Method>>::shared_bytes == 0);
  RB_SPILL_TO_SHARED_MEMORY;
  PlainLoop<System, FastMethod<Method>>::run(arguments);
}

template <template <class> class System, class Method>
__global__ void __launch_bounds__(SectionLoop<System, Method>::threads)
    section_kernel(const __grid_constant__ KernelArguments arguments) {
  SectionLoop<System, Method>::run(arguments);
}

template <template <class> class System, class Method>
__global__ void __launch_bounds__(TangentLoop<System, Method>::threads)
    tangent_kernel(const __grid_constant__ KernelArguments arguments) {
  TangentLoop<System, Method>::run(arguments);
}

inline constexpr int observing_threads = 64;
template <template <class> class System>
__global__ void __launch_bounds__(observing_threads)
    observe_kernel(const __grid_constant__ KernelArguments arguments, const ObservableCode* codes, int count,
                   double* values) {
  const std::int64_t k = std::int64_t(blockIdx.x) * observing_threads + threadIdx.x;
  const std::int64_t c = k / chunk_size;
  observe_lanes<double, System>(arguments, arguments.chunks + c * arguments.layout.rows * chunk_size,
                                int(k % chunk_size), codes, count, values + c * count * chunk_size);
}

/// Enqueues a kernel for all trajectories of `chunks` chunks.
template <class Loop>
void launch(void (*kernel)(KernelArguments), const KernelArguments& arguments, std::int64_t chunks, void* stream) {
  kernel<<<Loop::blocks(chunks), Loop::threads, Loop::shared_bytes, static_cast<cudaStream_t>(stream)>>>(arguments);
}

template <template <class> class System, class Method, bool sections>
void launch_advance(const KernelArguments& arguments, std::int64_t chunks, void* stream) {
  using Step = typename Method::template of<double, System<double>>;
  constexpr bool has_fast_step = requires { requires defers_failures<typename Step::FastStep>; };
  if constexpr (!sections && has_fast_step) {
    // The first loop has no robust iteration; the second loop has one and advances the trajectories that need it.
    launch<PlainLoop<System, FastMethod<Method>>>(fast_kernel<System, Method>, arguments, chunks, stream);
  }
  // The section kernel also serves runs without surfaces here. One kernel less is compiled, and the code of surfaces
  // costs no registers that matter.
  if constexpr (sections || has_fast_step || tile_of<Step>::lanes > 1) {
    launch<SectionLoop<System, Method>>(section_kernel<System, Method>, arguments, chunks, stream);
  } else {
    launch<PlainLoop<System, Method>>(advance_kernel<System, Method>, arguments, chunks, stream);
  }
}

template <template <class> class System, class Method>
void launch_advance_with_tangent(const KernelArguments& arguments, std::int64_t chunks, void* stream) {
  launch<TangentLoop<System, Method>>(tangent_kernel<System, Method>, arguments, chunks, stream);
}

template <template <class> class System>
void launch_observe(const KernelArguments& arguments, std::int64_t chunks, const ObservableCode* codes, int count,
                    double* values, void* stream) {
  observe_kernel<System><<<static_cast<unsigned>(chunks * (chunk_size / observing_threads)), observing_threads, 0,
                           static_cast<cudaStream_t>(stream)>>>(arguments, codes, count, values);
}

template <class Loop>
KernelFigures figures_of(const char* name, void (*kernel)(KernelArguments), int& error) {
  cudaFuncAttributes attributes{};
  int blocks = 0;
  cudaError_t code = cudaFuncGetAttributes(&attributes, kernel);
  if (code == cudaSuccess)
    code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, Loop::threads, Loop::shared_bytes);
  if (code != cudaSuccess) error = code;
  return {name,
          Loop::Team::lanes,
          Loop::threads,
          attributes.numRegs,
          attributes.localSizeBytes,
          attributes.sharedSizeBytes + Loop::shared_bytes,
          blocks};
}

template <template <class> class System, class Method>
int kernel_figures(KernelFigures figures[4], int& error) {
  using Step = typename Method::template of<double, System<double>>;
  int count = 0;
  constexpr bool has_fast_step = requires { requires defers_failures<typename Step::FastStep>; };
  if constexpr (has_fast_step) {
    figures[count++] = figures_of<PlainLoop<System, FastMethod<Method>>>("fast", fast_kernel<System, Method>, error);
  } else if constexpr (tile_of<Step>::lanes == 1) {
    figures[count++] = figures_of<PlainLoop<System, Method>>("advance", advance_kernel<System, Method>, error);
  }
  figures[count++] = figures_of<SectionLoop<System, Method>>("section", section_kernel<System, Method>, error);
  figures[count++] = figures_of<TangentLoop<System, Method>>("tangent", tangent_kernel<System, Method>, error);
  return count;
}

template <template <class> class System, class Method>
constexpr CompiledCudaPair compiled_cuda_pair(PairKey key) {
  if constexpr (Takes<Method, System<double>>) {
    return {key,
            launch_advance<System, Method, false>,
            launch_advance<System, Method, true>,
            launch_advance_with_tangent<System, Method>,
            launch_observe<System>,
            kernel_figures<System, Method>};
  } else {
    return {key};
  }
}

RB_NAMESPACE_END
