#pragma once
// Checked launches, and memory of a device.

#include <type_traits>

#include <cuda_runtime.h>

#include "rattleback/kernels/check.hpp"

namespace rattleback {

/// Launches a kernel and checks the launch.
template <class... Parameters>
void launch(const char* what, void (*kernel)(Parameters...), std::size_t blocks, unsigned threads, cudaStream_t stream,
            const std::type_identity_t<Parameters>&... arguments) {
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(arguments...);
  check(cudaGetLastError(), what);
}

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
      check(cudaMalloc(&data_, size * sizeof(T)), "allocation of device memory");
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
