// Devices and their properties. The numbers are those of an H100, except for the two multiprocessors and the memory.

#include <algorithm>
#include <cstdio>

#include "state.hpp"

using namespace ptxcpu;

namespace {

constexpr int runtime_version = 13000;

bool exists(int device) { return device >= 0 && device < options().devices; }

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = options().devices;
  return options().devices > 0 ? cudaSuccess : result(cudaErrorNoDevice);
}
cudaError_t cudaSetDevice(int device) {
  const Lock lock(machine());
  if (!exists(device)) return result(cudaErrorInvalidDevice);
  current_device = device;
  return result(cudaSuccess);
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (!exists(device)) return result(cudaErrorInvalidDevice);
  *p = {};
  std::snprintf(p->name, sizeof(p->name), "PTX on the CPU");
  p->major = options().architecture / 10;
  p->minor = options().architecture % 10;
  p->multiProcessorCount = 2;
  p->totalGlobalMem = options().memory;
  p->sharedMemPerBlock = static_shared_limit;
  p->sharedMemPerBlockOptin = static_shared_limit;
  p->sharedMemPerMultiprocessor = 228 * 1024;
  p->reservedSharedMemPerBlock = 1024;
  p->regsPerBlock = 65536;
  p->regsPerMultiprocessor = 65536;
  p->warpSize = 32;
  p->maxThreadsPerBlock = thread_limit;
  p->maxThreadsPerMultiProcessor = 2048;
  p->maxBlocksPerMultiProcessor = 32;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 0x7fffffff;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 65536;
  p->unifiedAddressing = 1;
  p->l2CacheSize = 50 << 20;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp p;
  if (const cudaError_t code = cudaGetDeviceProperties(&p, device); code != cudaSuccess) return code;
  const auto of = [&]() -> std::size_t {
    switch (attribute) {
      case cudaDevAttrMaxThreadsPerBlock:
        return static_cast<std::size_t>(p.maxThreadsPerBlock);
      case cudaDevAttrMaxBlockDimX:
        return static_cast<std::size_t>(p.maxThreadsDim[0]);
      case cudaDevAttrMaxGridDimX:
        return static_cast<std::size_t>(p.maxGridSize[0]);
      case cudaDevAttrMaxSharedMemoryPerBlock:
        return p.sharedMemPerBlock;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        return p.sharedMemPerBlockOptin;
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        return p.sharedMemPerMultiprocessor;
      case cudaDevAttrReservedSharedMemoryPerBlock:
        return p.reservedSharedMemPerBlock;
      case cudaDevAttrWarpSize:
        return static_cast<std::size_t>(p.warpSize);
      case cudaDevAttrMultiProcessorCount:
        return static_cast<std::size_t>(p.multiProcessorCount);
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        return static_cast<std::size_t>(p.maxThreadsPerMultiProcessor);
      case cudaDevAttrMaxBlocksPerMultiprocessor:
        return static_cast<std::size_t>(p.maxBlocksPerMultiProcessor);
      case cudaDevAttrMaxRegistersPerBlock:
        return static_cast<std::size_t>(p.regsPerBlock);
      case cudaDevAttrComputeCapabilityMajor:
        return static_cast<std::size_t>(p.major);
      case cudaDevAttrComputeCapabilityMinor:
        return static_cast<std::size_t>(p.minor);
      case cudaDevAttrL2CacheSize:
        return static_cast<std::size_t>(p.l2CacheSize);
      default:
        return ~std::size_t{0};
    }
  };
  if (attribute == cudaDevAttrMemoryPoolsSupported) {
    *value = 0;
    return cudaSuccess;
  }
  const std::size_t found = of();
  if (found == ~std::size_t{0}) {
    std::fprintf(stderr, "ptxcpu: attribute %d of a device is not known\n", static_cast<int>(attribute));
    return result(cudaErrorInvalidValue);
  }
  *value = static_cast<int>(found);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const Lock lock(machine());
  if (const cudaError_t code = enter(Call::synchronise); code != cudaSuccess) return result(code);
  finish_device();
  return result(cudaSuccess);
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = runtime_version;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = runtime_version;
  return cudaSuccess;
}

}  // extern "C"
