#pragma once
// Numbers of a thread that wait in the shared memory of its block.

#include <type_traits>

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// Threads of a block where each has a trajectory to itself (loop/instantiate.cuh).
#ifndef RATTLEBACK_BLOCK_THREADS  // bench/gpu tries others
#define RATTLEBACK_BLOCK_THREADS 64
#endif
inline constexpr int threads_of_block = RATTLEBACK_BLOCK_THREADS;

/// Numbers that an iteration looks at from time to time. On a GPU, with `parks`, they wait in shared memory and not in
/// registers. Two of the same type are the same memory there: a step has one of each.
template <class Numbers, bool parks>
class Parked {
 public:
  Parked() = default;
  RB_HD explicit Parked(const Numbers& numbers) { *this = numbers; }

#if RB_DEVICE_PASS
  RB_HD void operator=(const Numbers& numbers) {
    if constexpr (parks) {
      const double* from = reinterpret_cast<const double*>(&numbers);
      RB_UNROLL
      for (int i = 0; i < count; ++i) place(i) = from[i];
    } else {
      numbers_ = numbers;
    }
  }
  RB_HD Numbers operator()() const {
    if constexpr (parks) {
      Numbers r;
      double* to = reinterpret_cast<double*>(&r);
      RB_UNROLL
      for (int i = 0; i < count; ++i) to[i] = place(i);
      return r;
    } else {
      return numbers_;
    }
  }

 private:
  static constexpr int count = sizeof(Numbers) / sizeof(double), threads = threads_of_block;
  /// Volatile, or the compiler fetches the numbers once and for all.
  __device__ __forceinline__ static volatile double& place(int i) {
    __shared__ double numbers[count * threads];
    return numbers[i * threads + threadIdx.x];
  }
  struct Nothing {};
  std::conditional_t<parks, Nothing, Numbers> numbers_;
#else
  RB_HD void operator=(const Numbers& numbers) { numbers_ = numbers; }
  RB_HD const Numbers& operator()() const { return numbers_; }

 private:
  Numbers numbers_;
#endif
};

RB_NAMESPACE_END
