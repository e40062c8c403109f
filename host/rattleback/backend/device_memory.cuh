#pragma once
// Checked calls of the CUDA runtime, checked launches, and memory of a device.

#include <string>
#include <type_traits>

#include <cuda_runtime.h>

#include "rattleback/base/error.hpp"

namespace rattleback {

/// Returns whether an error comes from the execution of a kernel. Any later call may report such an error.
inline bool is_of_execution(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
      return true;
    default:
      return false;
  }
}

/// Throws Error(runtime), or OutOfMemory, unless the call named `what` succeeded. The runtime forgets the error, so
/// that a later call does not report the error again.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  const std::string message = std::string("CUDA: ") + (is_of_execution(code) ? "execution of kernels" : what) +
                              " failed (" + cudaGetErrorString(code) + ")";
  if (code == cudaErrorMemoryAllocation) throw OutOfMemory(message + "; smaller tiles need less, see --tile");
  throw Error(Error::Kind::runtime, message);
}

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
