#pragma once
// Compiles one system with one method for CUDA with nvcc, like instantiate.hpp, and launches the loops of device.cuh.

#include "rattleback/loop/device.cuh"

RB_NAMESPACE_BEGIN

template <template <class> class System, class Method>
__global__ void __launch_bounds__(PlainLoop<System, Method>::threads, RATTLEBACK_BLOCKS)
    advance_kernel(const __grid_constant__ KernelArguments arguments) {
  static_assert(PlainLoop<System, Method>::shared_bytes == 0);
  RB_SPILL_TO_SHARED_MEMORY;
  PlainLoop<System, Method>::run(arguments);
}

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

template <template <class> class System>
__global__ void __launch_bounds__(observing_threads)
    observe_kernel(const __grid_constant__ KernelArguments arguments, const ObservableCode* codes, int count,
                   double* values) {
  observe_chunks<System>(arguments, codes, count, values);
}

/// Enqueues a kernel for all trajectories of `chunks` chunks.
template <class Loop>
void launch(void (*kernel)(KernelArguments), const KernelArguments& arguments, std::int64_t chunks, void* stream) {
  kernel<<<Loop::blocks(chunks), Loop::threads, Loop::shared_bytes, static_cast<cudaStream_t>(stream)>>>(arguments);
}

template <template <class> class System, class Method, bool sections>
void launch_advance(const KernelArguments& arguments, std::int64_t chunks, void* stream) {
  using Pair = DevicePair<System, Method>;
  if constexpr (!sections && Pair::has_fast) {
    launch<PlainLoop<System, FastMethod<Method>>>(fast_kernel<System, Method>, arguments, chunks, stream);
  }
  if constexpr (sections || !Pair::has_advance) {
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
  using Pair = DevicePair<System, Method>;
  int count = 0;
  if constexpr (Pair::has_fast) {
    figures[count++] = figures_of<PlainLoop<System, FastMethod<Method>>>("fast", fast_kernel<System, Method>, error);
  } else if constexpr (Pair::has_advance) {
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
