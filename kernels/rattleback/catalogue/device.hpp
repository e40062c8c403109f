#pragma once
// What host code has to know of the kernels in a CUDA image: which of them it has, and the shape of their launches. The image itself
// says so, in the constant `rattleback_kernels` (loop/device.cuh), because the shapes depend on what was compiled.

#include <cstdint>

namespace rattleback {

/// The kernels of a system with a method. An image has some of them.
struct DeviceKernel {
  enum Kind : int {
    advance,   ///< steps
    fast,      ///< steps without the robust iteration; `advance` then advances the trajectories that need it
    tangent,   ///< the same with the tangent vector
    observe,   ///< values of observables
    surfaces,  ///< values of surfaces of section at the present states
    kinds      ///< number of kinds
  };
};
inline constexpr const char* device_kernel_names[DeviceKernel::kinds] = {"advance", "fast", "tangent", "observe",
                                                                         "surfaces"};

/// The shape of a launch.
struct KernelShape {
  int lanes = 0;         ///< threads per trajectory; 0: the image does not have the kernel
  int threads = 0;       ///< per block
  int shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// The constant of an image.
struct KernelTable {
  std::int64_t argument_bytes;  ///< size of KernelArguments, in which an image of another version differs from the host
  KernelShape shapes[DeviceKernel::kinds];
};
inline constexpr const char* kernel_table_name = "rattleback_kernels";

}  // namespace rattleback
