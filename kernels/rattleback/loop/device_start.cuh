#pragma once
// The kernel that prepares initial points on a GPU, and the one that computes their initial tangent vectors: the function of a lane is that
// of the CPU (loop/start.hpp, loop/start_tangents.hpp), and a thread has each point. A unit for NVRTC is
//
//   #define RATTLEBACK_ISA cuda
//   #include "rattleback/loop/start.hpp"
//   #include "rattleback/loop/device_start.cuh"
//   (header of the system)
//   RB_DEVICE_START(rattleback::start_lanes<double, system>)

#include "rattleback/catalogue/device_start.hpp"
#include "rattleback/catalogue/entry.hpp"

/// Calls a function of lanes for the points of chunks, which are `rows_of_chunk` rows apart.
#define RB_DEVICE_START(...)                                                                                          \
  extern "C" {                                                                                                        \
  __constant__ rattleback::StartTable rattleback_start = {sizeof(rattleback::StartArguments)};                        \
  __global__ void __launch_bounds__(rattleback::starting_threads)                                                     \
      start(const __grid_constant__ rattleback::StartArguments arguments, double* rows, std::int64_t rows_of_chunk) { \
    const std::int64_t k = std::int64_t(blockIdx.x) * rattleback::starting_threads + threadIdx.x;                     \
    __VA_ARGS__(arguments, rows + k / rattleback::chunk_size * rows_of_chunk * rattleback::row_size,                  \
                int(k % rattleback::chunk_size));                                                                     \
  }                                                                                                                   \
  }
