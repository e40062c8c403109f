#pragma once
// The kernels of one system with one method for CUDA: the lane functions are those of the CPU, and a thread or a tile
// of threads runs each trajectory. This header is for device code: host/rattleback/cuda compiles it at run time with
// NVRTC, and CudaModule launches the kernels. A unit for NVRTC is
//
//   #define RATTLEBACK_ISA cuda
//   #include "rattleback/loop/device.cuh"
//   (headers of the system and of the method)
//   RB_DEVICE_PAIR(system, method)       the kernels of steps, surfaces and observables
//
// where `system` is a template over the scalar and `method` has the member template `of<T, System>`, the step. Another
// unit has RB_DEVICE_TANGENT(system, method), the kernel with the tangent vector, which takes as long to compile as all
// others. A unit defines the kernels `advance`, `fast`, `section`, `tangent` and `observe`, with C linkage, and the
// constant `rattleback_kernels`, which tells what exists (KernelTable). A kernel that does not exist is empty.

#include "rattleback/catalogue/device.hpp"
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
  static constexpr KernelShape shape{Team::lanes, threads, shared_bytes};
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

/// The method with the fast step.
template <class Method>
struct FastMethod {
  template <class T, class System>
  using of = typename Method::template of<T, System>::FastStep;
};

/// Writes the observables of the trajectory of this thread.
inline constexpr int observing_threads = 64;
template <template <class> class System>
__device__ __forceinline__ void observe_chunks(const KernelArguments& arguments, const ObservableCode* codes, int count,
                                               double* values) {
  const std::int64_t k = std::int64_t(blockIdx.x) * observing_threads + threadIdx.x;
  const std::int64_t c = k / chunk_size;
  observe_lanes<double, System>(arguments, arguments.chunks + c * arguments.layout.rows * chunk_size,
                                int(k % chunk_size), codes, count, values + c * count * chunk_size);
}

/// Which kernels a pair has.
template <template <class> class System, class Method>
struct DevicePair {
  using Step = typename Method::template of<double, System<double>>;
  /// The first loop has no robust iteration; the second loop has one and advances the trajectories that need it.
  static constexpr bool has_fast = requires { requires defers_failures<typename Step::FastStep>; };
  /// Otherwise the section kernel also serves runs without surfaces. One kernel less is compiled, and the code of
  /// surfaces costs no registers that matter.
  static constexpr bool has_advance = !has_fast && tile_of<Step>::lanes == 1;
  /// The loop of the kernel that takes the first steps, `advance` or `fast`.
  using First = std::conditional_t<has_fast, PlainLoop<System, FastMethod<Method>>, PlainLoop<System, Method>>;
  static constexpr int first_threads = First::threads;

  template <bool exists>
  __device__ __forceinline__ static void run_first(const KernelArguments& arguments) {
    if constexpr (exists) {
      static_assert(First::shared_bytes == 0);
      RB_SPILL_TO_SHARED_MEMORY;
      First::run(arguments);
    }
  }
  static constexpr KernelTable steps_table{
      sizeof(KernelArguments),
      {has_advance ? First::shape : KernelShape{}, has_fast ? First::shape : KernelShape{},
       SectionLoop<System, Method>::shape, KernelShape{}, KernelShape{1, observing_threads, 0}}};
};
template <template <class> class System, class Method>
inline constexpr KernelTable tangent_table{
    sizeof(KernelArguments),
    {KernelShape{}, KernelShape{}, KernelShape{}, TangentLoop<System, Method>::shape, KernelShape{}}};

RB_NAMESPACE_END

/// The kernels of a pair but for the one with the tangent vector.
#define RB_DEVICE_PAIR(System, Method)                                                                                \
  static_assert(rattleback::Takes<Method, System<double>>, "the step of the method does not take the system");        \
  extern "C" {                                                                                                        \
  __constant__ rattleback::KernelTable rattleback_kernels = rattleback::DevicePair<System, Method>::steps_table;      \
  __global__ void __launch_bounds__(rattleback::DevicePair<System, Method>::first_threads, RATTLEBACK_BLOCKS)         \
      advance(const __grid_constant__ rattleback::KernelArguments arguments) {                                        \
    using Pair = rattleback::DevicePair<System, Method>;                                                              \
    Pair::run_first<Pair::has_advance>(arguments);                                                                    \
  }                                                                                                                   \
  __global__ void __launch_bounds__(rattleback::DevicePair<System, Method>::first_threads, RATTLEBACK_BLOCKS)         \
      fast(const __grid_constant__ rattleback::KernelArguments arguments) {                                           \
    using Pair = rattleback::DevicePair<System, Method>;                                                              \
    Pair::run_first<Pair::has_fast>(arguments);                                                                       \
  }                                                                                                                   \
  __global__ void __launch_bounds__(rattleback::SectionLoop<System, Method>::threads)                                 \
      section(const __grid_constant__ rattleback::KernelArguments arguments) {                                        \
    rattleback::SectionLoop<System, Method>::run(arguments);                                                          \
  }                                                                                                                   \
  __global__ void __launch_bounds__(rattleback::observing_threads)                                                    \
      observe(const __grid_constant__ rattleback::KernelArguments arguments, const rattleback::ObservableCode* codes, \
              int count, double* values) {                                                                            \
    rattleback::observe_chunks<System>(arguments, codes, count, values);                                              \
  }                                                                                                                   \
  }

/// The kernel of a pair with the tangent vector.
#define RB_DEVICE_TANGENT(System, Method)                                                                      \
  static_assert(rattleback::Takes<Method, System<double>>, "the step of the method does not take the system"); \
  extern "C" {                                                                                                 \
  __constant__ rattleback::KernelTable rattleback_kernels = rattleback::tangent_table<System, Method>;         \
  __global__ void __launch_bounds__(rattleback::TangentLoop<System, Method>::threads)                          \
      tangent(const __grid_constant__ rattleback::KernelArguments arguments) {                                 \
    rattleback::TangentLoop<System, Method>::run(arguments);                                                   \
  }                                                                                                            \
  }
