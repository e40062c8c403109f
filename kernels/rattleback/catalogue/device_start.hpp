#pragma once
// What host code has to know of a kernel in a CUDA image that prepares initial points or their tangent vectors (loop/device_start.cuh).

#include <cstdint>

namespace rattleback {

inline constexpr int starting_threads = 64;  ///< per block, one for each point
inline constexpr const char* start_kernel_name = "start";

/// The constant of an image.
struct StartTable {
  std::int64_t argument_bytes;  ///< size of StartArguments, in which an image of another version differs from the host
};
inline constexpr const char* start_table_name = "rattleback_start";

}  // namespace rattleback
