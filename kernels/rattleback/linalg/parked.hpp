#pragma once
// Numbers of a thread that are parked in the shared memory of the thread's block.

#include <type_traits>

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

/// Threads per block where each thread advances one trajectory (loop/device.cuh).
#ifndef RATTLEBACK_BLOCK_THREADS  // bench/gpu tries other values
#define RATTLEBACK_BLOCK_THREADS 64
#endif
inline constexpr int threads_of_block = RATTLEBACK_BLOCK_THREADS;
/// Bytes that one thread may park: CUDA gives a block 48 KiB of shared memory without a request.
inline constexpr int most_parked_bytes = 49152 / threads_of_block;

/// Numbers that an iteration rarely reads. On a GPU, with `parks`, shared memory holds these numbers instead of
/// registers. Two objects of the same type share the same memory there, so a step must have only one object of each
/// type.
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
  /// Without volatile the compiler would load the numbers into registers only once.
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
