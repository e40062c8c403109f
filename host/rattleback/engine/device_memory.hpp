#pragma once
// Memory of a device.

#include <cstddef>

#include <cuda_runtime_api.h>

#include "rattleback/kernels/check.hpp"

namespace rattleback {

/// An array on the current device. The array grows on demand.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  ~DeviceArray() { release(); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* reserve(std::size_t size) {
    if (size > capacity_) {
      release();
      void* memory = nullptr;
      check(cudaMalloc(&memory, size * sizeof(T)), "allocation of device memory");
      data_ = static_cast<T*>(memory);
      capacity_ = size;
    }
    return data_;
  }
  T* upload(const T* host, std::size_t size, cudaStream_t stream) {
    reserve(size);
    check(cudaMemcpyAsync(data_, host, size * sizeof(T), cudaMemcpyHostToDevice, stream), "copy to the device");
    return data_;
  }
  T* get() const { return data_; }
  /// Frees the memory. The function ignores errors, because a lost device has no memory to free.
  void release() {
    if (cudaFree(data_) != cudaSuccess) (void)cudaGetLastError();
    data_ = nullptr;
    capacity_ = 0;
  }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace rattleback
