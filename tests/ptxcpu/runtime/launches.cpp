// Registration of modules, and launches.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "state.hpp"

using namespace ptxcpu;

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};
std::vector<Configuration>& configurations() {  // of <<<...>>>, from the call to the stub
  thread_local std::vector<Configuration> stack;
  return stack;
}

cudaError_t code_of(Fault fault) {
  switch (fault) {
    case Fault::none:
      return cudaSuccess;
    case Fault::address:
      return cudaErrorIllegalAddress;
    case Fault::alignment:
      return cudaErrorMisalignedAddress;
    case Fault::assertion:
      return cudaErrorAssert;
    case Fault::deadlock:
      return cudaErrorLaunchTimeout;
    default:
      return cudaErrorLaunchFailure;
  }
}

cudaError_t start(const Kernel* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                  cudaStream_t handle) {
  const Lock lock(machine());
  cudaStream_t stream = nullptr;
  if (const cudaError_t code = enter(Call::launch); code != cudaSuccess) return result(code);
  if (!kernel) return result(cudaErrorInvalidDeviceFunction);
  if (!has_kernel_image(*kernel)) return result(cudaErrorNoKernelImageForDevice);
  if (const cudaError_t code = stream_of(handle, stream); code != cudaSuccess) return result(code);
  const int device = device_of(stream);
  if (device != current_device) {
    std::fprintf(stderr, "ptxcpu: launch of %s in a stream of another device\n", kernel->name);
    return result(cudaErrorInvalidResourceHandle);
  }
  const Shape shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared};
  switch (check(*kernel, shape)) {
    case Refusal::none:
      break;
    case Refusal::configuration:
      return result(cudaErrorInvalidConfiguration);
    case Refusal::resources:
      return result(cudaErrorLaunchOutOfResources);
  }
  // the arguments are copied now, the kernel may run later
  enqueue(stream, [kernel, shape, device, values = pack_arguments(*kernel, arguments)] {
    const cudaError_t code = code_of(run(*kernel, shape, values, device));
    if (code != cudaSuccess) lose_context(code);
  });
  return result(cudaSuccess);
}

const Kernel* find_kernel(const void* host) {
  const Lock lock(machine());
  return kernel_of(host);
}

/// The kernel of a host function; an error where the device cannot run the kernel.
cudaError_t usable_kernel(const void* host, const Kernel*& kernel) {
  if (const cudaError_t code = enter(); code != cudaSuccess) return code;
  kernel = kernel_of(host);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  return has_kernel_image(*kernel) ? cudaSuccess : cudaErrorNoKernelImageForDevice;
}

}  // namespace

extern "C" {

// --- what nvcc's stubs call

/// Objects that the launcher made call the function of their module instead. Others link, but have no kernels.
void** __cudaRegisterFatBinary(void*) {
  static const Region none[] = {{nullptr, 0, false, nullptr}};
  static Module empty{nullptr, 0, none, [] {}};
  return register_module(empty);
}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  const Lock lock(machine());
  name_function(handle, host, name);
}
void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t, int, int) {
  const Lock lock(machine());
  name_variable(handle, host, name);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations().empty()) return result(cudaErrorMissingConfiguration);
  const Configuration c = configurations().back();
  configurations().pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  const Kernel* const found = find_kernel(host);
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<Kernel*>(found));
  return found ? cudaSuccess : result(cudaErrorInvalidDeviceFunction);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  return start(reinterpret_cast<const Kernel*>(kernel), grid, block, arguments, shared, stream);
}

// --- what programs call

cudaError_t cudaLaunchKernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return start(find_kernel(host), grid, block, arguments, shared, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* host, void** arguments) {
  return start(find_kernel(host), c->gridDim, c->blockDim, arguments, c->dynamicSmemBytes, c->stream);
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, const void* host) {
  const Lock lock(machine());
  const Kernel* kernel = nullptr;
  if (const cudaError_t code = usable_kernel(host, kernel); code != cudaSuccess) return result(code);
  *a = {};
  a->sharedSizeBytes = kernel->shared_bytes;
  a->localSizeBytes = kernel->local_bytes;
  a->maxThreadsPerBlock = static_cast<int>(kernel->most_threads);
  a->numRegs = 32;
  a->ptxVersion = a->binaryVersion = module_architecture;
  a->maxDynamicSharedSizeBytes = static_shared_limit - static_cast<int>(kernel->shared_bytes);
  return result(cudaSuccess);
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return result(cudaErrorNotSupported); }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                   size_t shared, unsigned) {
  const Lock lock(machine());
  const Kernel* kernel = nullptr;
  if (const cudaError_t code = usable_kernel(host, kernel); code != cudaSuccess) return result(code);
  const bool fits = threads > 0 && threads <= static_cast<int>(kernel->most_threads) &&
                    kernel->shared_bytes + shared <= static_shared_limit;
  // of a multiprocessor with 2048 threads and 228 KiB of shared memory, of which a block takes 1 KiB for itself
  const std::size_t bytes = kernel->shared_bytes + shared + 1024;
  *blocks = fits ? static_cast<int>(std::min({std::size_t{32}, std::size_t{2048} / static_cast<std::size_t>(threads),
                                              (std::size_t{228} << 10) / bytes}))
                 : 0;
  return result(cudaSuccess);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}

}  // extern "C"
