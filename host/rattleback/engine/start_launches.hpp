#pragma once
// The kernels of the CUDA backend that make initial states: axes and formulas, and the places of points. As in launches.hpp, nvcc compiles
// them, and these functions take numbers, pointers, and structs of such.

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "rattleback/engine/stop_start.hpp"
#include "rattleback/study/start_program.hpp"

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

/// What the points of some chunks are.
struct PointCounts {
  unsigned long long left_out, alone, steps;  ///< steps per sample of all good points, where they vary
};
/// Points in the rows of a program.
struct DevicePoints {
  const double* rows;
  int rows_of_chunk, doubtful, condition;
  int step;  ///< row of a step that varies; -1 where it is uniform
  StepCounter counter;
  const int* finite;
  int finite_count;
  std::uint64_t count;  ///< of trajectories
  PointCounts* counts;
  unsigned* alone;  ///< those to be prepared by themselves, in no order
};

/// A tile, and arrays of the result, in device memory.
struct PointPlaces {
  double* chunks;
  int rows_of_chunk, status, step_rows, steps_per_sample;
  const StartProgram::Copy* copies;
  int copy_count;
  const ConstantRow* constants;
  int constant_count;
  const KeptRows* kept;
  int kept_count;
};

/// Computes axes and formulas of the trajectories of chunks from `first` on. Lanes behind the last trajectory get numbers, too.
cudaError_t launch_points(cudaStream_t stream, std::size_t chunks, const DeviceProgram& program, std::uint64_t first,
                          double* rows);

/// Counts the points that are left out, and lists those that are to be prepared by themselves. The counts must be 0 before.
cudaError_t launch_judging(cudaStream_t stream, std::size_t chunks, const DevicePoints& points);

/// Moves the points to their places in a tile whose rows are 0, and in the arrays.
cudaError_t launch_placing(cudaStream_t stream, std::size_t chunks, const DevicePoints& points,
                           const PointPlaces& places);

/// Sets the rows of stops of all trajectories of a tile, whose surfaces are known.
cudaError_t launch_stops(cudaStream_t stream, std::size_t chunks, double* tile, int rows_of_chunk, int status,
                         const StopStarts& stops);

/// Moves `count` trajectories, [trajectory][row], to their places in a tile.
cudaError_t launch_columns(cudaStream_t stream, std::size_t count, const double* columns, const unsigned* trajectories,
                           int rows, double* chunks);

}  // namespace rattleback
