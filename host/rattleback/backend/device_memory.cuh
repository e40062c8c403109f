#pragma once
// Calls of the CUDA runtime that are checked, launches included, and memory of a device.

#include <string>
#include <type_traits>

#include <cuda_runtime.h>

#include "rattleback/base/error.hpp"

namespace rattleback {

/// Errors of kernels that run later than they are launched: any call may be the one that tells of them.
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

/// Throws Error(runtime), or OutOfMemory, unless the call named `what` succeeded. An error of this call alone is forgotten by the runtime then,
/// or a later call would tell of it again.
inline void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();
  const std::string message = std::string("CUDA: ") + (is_of_execution(code) ? "execution of kernels" : what) +
                              " failed (" + cudaGetErrorString(code) + ")";
  if (code == cudaErrorMemoryAllocation) throw OutOfMemory(message + "; smaller tiles need less, see --tile");
  throw Error(Error::Kind::runtime, message);
}

/// Enqueues a kernel.
template <class... Parameters>
void launch(const char* what, void (*kernel)(Parameters...), std::size_t blocks, unsigned threads, cudaStream_t stream,
            const std::type_identity_t<Parameters>&... arguments) {
  kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(arguments...);
  check(cudaGetLastError(), what);
}

/// Memory for objects on the current device; grows when it must.
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
  /// Gives the memory back. A device that is lost has lost it already: its error says nothing new.
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
