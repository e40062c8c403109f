#pragma once
// The kernels of a method on a GPU, and the number of threads that the GPU runs at a time.

#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

struct DeviceKernels {
  std::vector<KernelFigures> figures;
  int threads_of_multiprocessor = 0;
  /// Returns the share of a multiprocessor's threads that the kernel keeps busy.
  [[nodiscard]] double occupancy(const KernelFigures& kernel) const {
    return static_cast<double>(kernel.blocks) * kernel.threads / threads_of_multiprocessor;
  }
};

}  // namespace rattleback
