#pragma once
// What host code has to know of the kernels of a CUDA image: which there are, and the shape of their launches. The
// image holds this table as the constant `rattleback_kernels` (loop/device.cuh).

#include <cstdint>

namespace rattleback {

/// The kernels of a system with a method. An image has some of them.
struct DeviceKernel {
  enum Kind : int {
    advance,  ///< steps
    fast,     ///< steps without the robust iteration; `advance` then advances the trajectories that need it
    tangent,  ///< the same with the tangent vector
    observe,  ///< values of observables
    kinds     ///< number of kinds
  };
};
inline constexpr const char* device_kernel_names[DeviceKernel::kinds] = {"advance", "fast", "tangent", "observe"};

/// The shape of a launch.
struct KernelShape {
  int lanes = 0;         ///< threads per trajectory; 0: the image does not have the kernel
  int threads = 0;       ///< per block
  int shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// The constant of an image.
struct KernelTable {
  std::int64_t argument_bytes;  ///< size of KernelArguments, which host and image must agree on
  KernelShape shapes[DeviceKernel::kinds];
};
inline constexpr const char* kernel_table_name = "rattleback_kernels";

}  // namespace rattleback
