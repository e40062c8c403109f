#pragma once
// CUDA twin of instantiate.hpp: the same lane functions with one thread per trajectory.

#include "rattleback/ensemble/advance.hpp"
#include "rattleback/ensemble/observe.hpp"
#include "rattleback/ensemble/tangent.hpp"

RB_NAMESPACE_BEGIN

/// Threads per block of the advance kernel. A block is a slice of a chunk: lanes stay coalesced, and a step that needs the
/// full 255 registers still finds room for several blocks on a multiprocessor.
inline constexpr int block_size = 64;

/// The trajectory of this thread through the time loop.
template <template <class> class System, class Method, class Companion, bool sections>
__device__ __forceinline__ void advance_thread(const KernelArguments& arguments) {
  const std::int64_t k = std::int64_t(blockIdx.x) * block_size + threadIdx.x;
  double* chunk = arguments.chunks + k / chunk_size * arguments.layout.rows * chunk_size;
  advance_lanes<double, System, Method::template of, Companion, sections>(arguments, chunk, int(k % chunk_size));
}

// Four blocks are what all 255 registers leave room for. What does not fit into them goes to shared memory, as far as it holds,
// which these kernels have no other use for.
#if __CUDACC_VER_MAJOR__ >= 13 && !defined(RATTLEBACK_CUDA_QUICK)
#define RB_SPILL_TO_SHARED_MEMORY asm volatile(".pragma \"enable_smem_spilling\";")
#else
#define RB_SPILL_TO_SHARED_MEMORY
#endif

template <template <class> class System, class Method>
__global__ void __launch_bounds__(block_size, 4) advance_kernel(const __grid_constant__ KernelArguments arguments) {
  RB_SPILL_TO_SHARED_MEMORY;
  advance_thread<System, Method, Alone, false>(arguments);
}

/// The method with the step that hands over.
template <class Method>
struct Trying {
  template <class T, class System>
  using of = typename Method::template of<T, System>::Trying;
};

template <template <class> class System, class Method>
__global__ void __launch_bounds__(block_size, 4) trying_kernel(const __grid_constant__ KernelArguments arguments) {
  RB_SPILL_TO_SHARED_MEMORY;
  advance_thread<System, Trying<Method>, Alone, false>(arguments);
}

template <template <class> class System, class Method>
__global__ void __launch_bounds__(block_size) section_kernel(const __grid_constant__ KernelArguments arguments) {
  advance_thread<System, Method, Alone, true>(arguments);
}

template <template <class> class System, class Method>
__global__ void __launch_bounds__(block_size) tangent_kernel(const __grid_constant__ KernelArguments arguments) {
  advance_thread<System, Method, Tangent<double, System, Method::template of>, true>(arguments);
}

template <template <class> class System>
__global__ void __launch_bounds__(block_size) observe_kernel(const __grid_constant__ KernelArguments arguments,
                                                             const ObservableCode* codes, int count, double* values) {
  const std::int64_t k = std::int64_t(blockIdx.x) * block_size + threadIdx.x;
  const std::int64_t c = k / chunk_size;
  observe_lanes<double, System>(arguments, arguments.chunks + c * arguments.layout.rows * chunk_size,
                                int(k % chunk_size), codes, count, values + c * count * chunk_size);
}

inline unsigned blocks_for(std::int64_t chunks) { return static_cast<unsigned>(chunks * (chunk_size / block_size)); }

template <template <class> class System, class Method, bool sections>
void launch_advance(const KernelArguments& arguments, std::int64_t chunks, void* stream) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  if constexpr (sections) {
    section_kernel<System, Method><<<blocks_for(chunks), block_size, 0, cuda_stream>>>(arguments);
  } else {
    if constexpr (requires { typename Method::template of<double, System<double>>::Trying; }) {
      // first without the robust iteration, then with it the trajectories that need it; that kernel serves sections too, which
      // saves compiling another
      trying_kernel<System, Method><<<blocks_for(chunks), block_size, 0, cuda_stream>>>(arguments);
      section_kernel<System, Method><<<blocks_for(chunks), block_size, 0, cuda_stream>>>(arguments);
    } else {
      advance_kernel<System, Method><<<blocks_for(chunks), block_size, 0, cuda_stream>>>(arguments);
    }
  }
}

template <template <class> class System, class Method>
void launch_advance_with_tangent(const KernelArguments& arguments, std::int64_t chunks, void* stream) {
  tangent_kernel<System, Method><<<blocks_for(chunks), block_size, 0, static_cast<cudaStream_t>(stream)>>>(arguments);
}

template <template <class> class System>
void launch_observe(const KernelArguments& arguments, std::int64_t chunks, const ObservableCode* codes, int count,
                    double* values, void* stream) {
  observe_kernel<System>
      <<<blocks_for(chunks), block_size, 0, static_cast<cudaStream_t>(stream)>>>(arguments, codes, count, values);
}

template <template <class> class System, class Method>
constexpr CompiledCudaPair compiled_cuda_pair(PairKey key) {
  if constexpr (Takes<Method, System<double>>) {
    return {key, launch_advance<System, Method, false>, launch_advance<System, Method, true>,
            launch_advance_with_tangent<System, Method>, launch_observe<System>};
  } else {
    return {key};
  }
}

RB_NAMESPACE_END
