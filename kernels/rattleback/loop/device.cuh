#pragma once
// The kernels of one system with one method for CUDA: the lane functions are those of the CPU, and a thread or a team
// of threads runs each trajectory. This header is for device code: host/rattleback/kernels compiles it at run time with
// NVRTC, and CudaModule launches the kernels. A unit for NVRTC is
//
//   #define RATTLEBACK_ISA cuda
//   #include "rattleback/loop/device.cuh"
//   (headers of the system and of the method)
//   RB_DEVICE_ADVANCE(system, method, surfaces)
//
// where `system` is a template over the scalar, `method` has the member template `of<T, System>`, the step, and `surfaces`
// are the surfaces of section (loop/formula.hpp), or rattleback::NoFormulas. Other units have RB_DEVICE_TANGENT(system,
// method, companion, surfaces), the same with a companion (CarryTangent, CarryFrame, CarryMassFrame, CarryVariations), or RB_DEVICE_SAMPLES(system, formulas), the observables. With
// surfaces RB_DEVICE_SURFACES(system, surfaces) follows a loop. A unit defines kernels with C linkage (DeviceKernel), and the constant `rattleback_kernels`, which tells what exists (KernelTable).
// A kernel that does not exist is empty.

#include "rattleback/catalogue/device.hpp"
#include "rattleback/linalg/parked.hpp"
#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/frame.hpp"
#include "rattleback/loop/observe.hpp"
#include "rattleback/loop/tangent.hpp"
#include "rattleback/loop/variations.hpp"

RB_NAMESPACE_BEGIN

/// Threads per block of the kernels that look at the states between steps.
inline constexpr int observing_threads = 64;

/// A loop of advance.hpp in a kernel.
template <template <class> class System, class Method, class Companion, template <class> class Surfaces>
struct Loop {
  using Step = typename Method::template of<double, System<double>>;
  using Team = TeamOfLoop<Step, Companion>;
  /// Threads per block. With one thread per trajectory a block is a slice of a chunk, so memory access is coalesced; a
  /// step with all 255 registers still fits several times on a multiprocessor. With teams a block is a warp, because
  /// the shared memory per block is limited.
  static constexpr int threads = Team::lanes > 1 ? 32 : threads_of_block;
  /// The step ends before the companion's step begins, so both use the same memory.
  static constexpr int shared_bytes =
      workspace_bytes<Step> > workspace_bytes<Companion> ? workspace_bytes<Step> : workspace_bytes<Companion>;
  static_assert(shared_bytes <= shared_bytes_max, "more than a block can have without asking");

  /// Advances the trajectory of this thread.
  __device__ __forceinline__ static void run(const KernelArguments& arguments) {
    const std::int64_t k = (std::int64_t(blockIdx.x) * threads + threadIdx.x) / Team::lanes;
    double* chunk = arguments.chunks + k / chunk_size * arguments.layout.rows * row_size;
    advance_lanes<double, System, Method::template of, Companion, Surfaces>(arguments, chunk, int(k % chunk_size));
  }
  static constexpr KernelShape shape{Team::lanes, threads, shared_bytes};
  static constexpr KernelShape of_surfaces =
      Surfaces<double>::count > 0 ? KernelShape{1, observing_threads, 0} : KernelShape{};
  static unsigned blocks(std::int64_t chunks) {
    return static_cast<unsigned>(chunks * (chunk_size * Team::lanes / threads));
  }
};
template <template <class> class System, class Method, template <class, template <class> class, class> class Companion,
          template <class> class Surfaces>
using CompanionLoop = Loop<System, Method, Companion<double, System, Method>, Surfaces>;

// With 255 registers per thread four blocks of 64 threads fit on a multiprocessor; bench/gpu tries other numbers.
// Registers spill to shared memory while there is room. Kernels of teams with workspaces in shared memory do not spill
// there, because the assembler refuses.
#ifndef RATTLEBACK_BLOCKS
#define RATTLEBACK_BLOCKS 4
#endif
#if RB_NVCC_VERSION >= 13
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

/// Which kernels advance the trajectories of a pair.
template <template <class> class System, class Method, template <class> class Surfaces>
struct DevicePair {
  using Step = typename Method::template of<double, System<double>>;
  /// The first loop has no robust iteration; the second loop has one and advances the trajectories that need it. The first
  /// loop looks at no surfaces.
  static constexpr bool has_fast =
      Surfaces<double>::count == 0 && requires { requires defers_failures<typename Step::FastStep>; };
  using Whole = Loop<System, Method, NoCompanion, Surfaces>;
  template <class T>
  using FastSurfaces = std::conditional_t<has_fast, Surfaces<T>, NoFormulas<T>>;  // a density, averages, or nothing
  using Fast = Loop<System, std::conditional_t<has_fast, FastMethod<Method>, Method>, NoCompanion, FastSurfaces>;
  static constexpr bool plain = !has_density<Surfaces<double>> && !has_averages<Surfaces<double>>;
  /// Whether the kernel `advance` takes most steps, and its thread needs nothing but registers.
  static constexpr bool spills = !has_fast && team_of<Step>::lanes == 1 && Surfaces<double>::count == 0 && plain;

  __device__ __forceinline__ static void advance(const KernelArguments& arguments) {
    if constexpr (spills) {
      static_assert(Whole::shared_bytes == 0);
      RB_SPILL_TO_SHARED_MEMORY;
    }
    Whole::run(arguments);
  }
  __device__ __forceinline__ static void fast(const KernelArguments& arguments) {
    if constexpr (has_fast) {
      static_assert(Fast::shared_bytes == 0);
      if constexpr (plain) {
        RB_SPILL_TO_SHARED_MEMORY;
      }
      Fast::run(arguments);
    }
  }
  static constexpr KernelTable table{
      sizeof(KernelArguments),
      {Whole::shape, has_fast ? Fast::shape : KernelShape{}, KernelShape{}, KernelShape{}, Whole::of_surfaces}};
};
template <class TangentLoop>
inline constexpr KernelTable tangent_table{
    sizeof(KernelArguments),
    {KernelShape{}, KernelShape{}, TangentLoop::shape, KernelShape{}, TangentLoop::of_surfaces}};

/// Guards the multiplier of the trajectory of this thread and writes its observables.
template <template <class> class System, template <class> class Formulas>
__device__ __forceinline__ void observe_chunks(const KernelArguments& arguments, const ObservableCode* codes, int count,
                                               double* values) {
  const std::int64_t k = std::int64_t(blockIdx.x) * observing_threads + threadIdx.x;
  const std::int64_t c = k / chunk_size;
  double* chunk = arguments.chunks + c * arguments.layout.rows * row_size;
  const int lane = int(k % chunk_size);
  if (arguments.parasitic_limit > 0.0) guard_multiplier<double, System>(arguments, chunk, lane);
  observe_lanes<double, System, Formulas>(arguments, chunk, lane, codes, count, values + c * count * chunk_size);
}
inline constexpr KernelTable samples_table{
    sizeof(KernelArguments),
    {KernelShape{}, KernelShape{}, KernelShape{}, KernelShape{1, observing_threads, 0}, KernelShape{}}};

/// Writes the values of the surfaces at the state of the trajectory of this thread.
template <template <class> class System, template <class> class Surfaces>
__device__ __forceinline__ void surfaces_of_chunks(const KernelArguments& arguments) {
  const std::int64_t k = std::int64_t(blockIdx.x) * observing_threads + threadIdx.x;
  double* chunk = arguments.chunks + k / chunk_size * arguments.layout.rows * row_size;
  evaluate_surfaces<double, System, Surfaces>(arguments, chunk, int(k % chunk_size));
}

RB_NAMESPACE_END

#define RB_DEVICE_TAKES(System, Method) \
  static_assert(rattleback::Takes<Method, System<double>>, "the step of the method does not take the system")

/// The kernels of steps of a pair.
#define RB_DEVICE_ADVANCE(System, Method, Surfaces)                                                                   \
  RB_DEVICE_TAKES(System, Method);                                                                                    \
  extern "C" {                                                                                                        \
  __constant__ rattleback::KernelTable rattleback_kernels = rattleback::DevicePair<System, Method, Surfaces>::table;  \
  __global__ void __launch_bounds__(rattleback::DevicePair<System, Method, Surfaces>::Whole::threads,                 \
                                    rattleback::DevicePair<System, Method, Surfaces>::spills ? RATTLEBACK_BLOCKS : 0) \
      advance(const __grid_constant__ rattleback::KernelArguments arguments) {                                        \
    rattleback::DevicePair<System, Method, Surfaces>::advance(arguments);                                             \
  }                                                                                                                   \
  __global__ void __launch_bounds__(rattleback::DevicePair<System, Method, Surfaces>::Fast::threads,                  \
                                    RATTLEBACK_BLOCKS)                                                                \
      fast(const __grid_constant__ rattleback::KernelArguments arguments) {                                           \
    rattleback::DevicePair<System, Method, Surfaces>::fast(arguments);                                                \
  }                                                                                                                   \
  }

/// The kernel of a pair with a companion.
#define RB_DEVICE_TANGENT(System, Method, ...)                                                       \
  RB_DEVICE_TAKES(System, Method);                                                                   \
  extern "C" {                                                                                       \
  __constant__ rattleback::KernelTable rattleback_kernels =                                          \
      rattleback::tangent_table<rattleback::CompanionLoop<System, Method, __VA_ARGS__>>;             \
  __global__ void __launch_bounds__(rattleback::CompanionLoop<System, Method, __VA_ARGS__>::threads) \
      tangent(const __grid_constant__ rattleback::KernelArguments arguments) {                       \
    rattleback::CompanionLoop<System, Method, __VA_ARGS__>::run(arguments);                          \
  }                                                                                                  \
  }

/// The kernel of observables of a system.
#define RB_DEVICE_SAMPLES(System, Formulas)                                                                           \
  extern "C" {                                                                                                        \
  __constant__ rattleback::KernelTable rattleback_kernels = rattleback::samples_table;                                \
  __global__ void __launch_bounds__(rattleback::observing_threads)                                                    \
      observe(const __grid_constant__ rattleback::KernelArguments arguments, const rattleback::ObservableCode* codes, \
              int count, double* values) {                                                                            \
    rattleback::observe_chunks<System, Formulas>(arguments, codes, count, values);                                    \
  }                                                                                                                   \
  }

/// The kernel of surfaces of section of a system.
#define RB_DEVICE_SURFACES(System, Surfaces)                                    \
  extern "C" __global__ void __launch_bounds__(rattleback::observing_threads)   \
      surfaces(const __grid_constant__ rattleback::KernelArguments arguments) { \
    rattleback::surfaces_of_chunks<System, Surfaces>(arguments);                \
  }
