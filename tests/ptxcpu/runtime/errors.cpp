// Names of errors, and what a GPU's runtime says of them.

#include <cuda_runtime_api.h>

namespace {

struct Text {
  cudaError_t code;
  const char *name, *sentence;
};

#define PTXCPU_ERROR(code, sentence) {code, #code, sentence}
constexpr Text texts[] = {
    PTXCPU_ERROR(cudaSuccess, "no error"),
    PTXCPU_ERROR(cudaErrorInvalidValue, "invalid argument"),
    PTXCPU_ERROR(cudaErrorMemoryAllocation, "out of memory"),
    PTXCPU_ERROR(cudaErrorInitializationError, "initialization error"),
    PTXCPU_ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    PTXCPU_ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    PTXCPU_ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    PTXCPU_ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    PTXCPU_ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    PTXCPU_ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    PTXCPU_ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    PTXCPU_ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    PTXCPU_ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    PTXCPU_ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    PTXCPU_ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    PTXCPU_ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    PTXCPU_ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    PTXCPU_ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    PTXCPU_ERROR(cudaErrorNotReady, "device not ready"),
    PTXCPU_ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    PTXCPU_ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    PTXCPU_ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    PTXCPU_ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    PTXCPU_ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    PTXCPU_ERROR(cudaErrorAssert, "device-side assert triggered"),
    PTXCPU_ERROR(cudaErrorNotSupported, "operation not supported"),
};
#undef PTXCPU_ERROR

constexpr const char* unknown = "unrecognized error code";

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t code) {
  for (const Text& text : texts)
    if (text.code == code) return text.name;
  return unknown;
}
const char* cudaGetErrorString(cudaError_t code) {
  for (const Text& text : texts)
    if (text.code == code) return text.sentence;
  return unknown;
}

}  // extern "C"
