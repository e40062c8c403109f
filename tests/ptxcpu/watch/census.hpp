#pragma once
// What a launch executes, where PTXCPU_COUNT=1 made its kernel count.

#include <vector>

#include "launch.hpp"

namespace ptxcpu {

/// Counts of the threads of a block, kept from one block to the next.
class Census {
 public:
  /// Gives every thread its counts, where the kernel counts.
  explicit Census(Launch& launch);
  /// Adds what the threads of a block have counted to the sums of the kernel.
  void add_block();

 private:
  Launch& launch_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace ptxcpu
