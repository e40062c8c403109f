#pragma once
// Checked calls of the CUDA runtime.

#include <string>

#include <cuda_runtime_api.h>

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

}  // namespace rattleback
