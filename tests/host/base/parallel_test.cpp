// Threads have room for the matrices of a large step.

#include <atomic>
#include <cstddef>

#include <gtest/gtest.h>

#include "rattleback/base/parallel.hpp"

using namespace rattleback;

namespace {

/// Writes to both ends of an array on the stack.
template <std::size_t size>
[[gnu::noinline]] int touch() {
  volatile char array[size];
  array[0] = 1;
  array[size - 1] = 2;
  return array[0] + array[size - 1];
}

TEST(ParallelFor, StepsKeepManyMegabytesOnTheStack) {
  std::atomic<int> sum{0};
  parallel_for(4, 2, [&](std::uint64_t) { sum += touch<(std::size_t{100} << 20)>(); });
  EXPECT_EQ(sum, 12);
}

}  // namespace
