#pragma once
// The kernels of a method on a GPU, and how many of their threads the GPU runs at a time.

#include <vector>

#include "rattleback/catalogue/entry.hpp"

namespace rattleback {

struct DeviceKernels {
  std::vector<KernelFigures> figures;
  int threads_of_multiprocessor = 0;
  /// Share of the threads that a multiprocessor could hold.
  [[nodiscard]] double occupancy(const KernelFigures& kernel) const {
    return static_cast<double>(kernel.blocks) * kernel.threads / threads_of_multiprocessor;
  }
};

}  // namespace rattleback
