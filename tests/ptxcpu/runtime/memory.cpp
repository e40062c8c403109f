// Allocation, copies, fills.

#include <cstdio>
#include <cstring>

#include "state.hpp"

using namespace ptxcpu;

namespace {

const Allocation* allocation_of(const void* data, std::size_t size) {
  return find_allocation(reinterpret_cast<std::uint64_t>(data), size);
}

/// Pointers of the host may not lie in device memory, pointers of the device must. `size` > 0.
cudaError_t check_copy(const void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
  bool on_device[2];
  for (const bool source : {false, true}) {
    const void* const data = source ? from : to;
    const Allocation* const found = allocation_of(data, size);
    if (!found && allocation_of(data, 1)) {
      std::fprintf(stderr, "ptxcpu: a copy of %zu bytes runs over the end of an allocation\n", size);
      return cudaErrorInvalidValue;
    }
    on_device[source] = found && found->space != Space::pinned;
  }
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && (on_device[0] != wants_to || on_device[1] != wants_from)) {
    std::fprintf(stderr, "ptxcpu: a copy of %zu bytes in the wrong direction\n", size);
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind, cudaStream_t handle) {
  cudaStream_t stream = nullptr;
  if (const cudaError_t code = enter(Call::copy); code != cudaSuccess) return code;
  if (const cudaError_t code = stream_of(handle, stream); code != cudaSuccess) return code;
  if (size == 0) return cudaSuccess;
  if (const cudaError_t code = check_copy(to, from, size, kind); code != cudaSuccess) return code;
  enqueue(stream, [=] { std::memmove(to, from, size); });
  return cudaSuccess;
}

cudaError_t fill(void* data, int value, std::size_t size, cudaStream_t handle) {
  cudaStream_t stream = nullptr;
  if (const cudaError_t code = enter(Call::copy); code != cudaSuccess) return code;
  if (const cudaError_t code = stream_of(handle, stream); code != cudaSuccess) return code;
  if (size == 0) return cudaSuccess;
  if (!allocation_of(data, size)) return cudaErrorInvalidValue;
  enqueue(stream, [=] { std::memset(data, value, size); });
  return cudaSuccess;
}

/// Memory of a module's variable; null where [offset, offset + size) does not lie in the variable.
std::uint8_t* variable(const void* symbol, std::size_t size, std::size_t offset) {
  const Region* const region = variable_of(symbol);
  return region && offset <= region->size && size <= region->size - offset ? region->data + offset : nullptr;
}

cudaError_t enter_symbol() {
  const cudaError_t code = enter(Call::copy);
  if (code == cudaSuccess && !has_kernel_image()) return cudaErrorNoKernelImageForDevice;
  if (code == cudaSuccess) finish_default();
  return code;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** data, size_t size) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(Call::malloc); code != cudaSuccess) return result(code);
  *data = nullptr;
  if (size == 0) return result(cudaSuccess);
  const std::size_t used = allocated_bytes(current_device);
  if (used > options().memory || size > options().memory - used) return result(cudaErrorMemoryAllocation);
  *data = allocate(size, current_device, Space::device);
  return result(*data ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* data) {
  const Lock lock(machine());
  if (const cudaError_t code = data ? enter(Call::free) : enter(); code != cudaSuccess) return result(code);
  finish_all();
  return result(!data || release(data, Space::device) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMallocAsync(void** data, size_t size, cudaStream_t) { return cudaMalloc(data, size); }
cudaError_t cudaFreeAsync(void* data, cudaStream_t) { return cudaFree(data); }
cudaError_t cudaMallocHost(void** data, size_t size) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(Call::malloc); code != cudaSuccess) return result(code);
  *data = allocate(size, -1, Space::pinned);
  return result(*data ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaHostAlloc(void** data, size_t size, unsigned) { return cudaMallocHost(data, size); }
cudaError_t cudaFreeHost(void* data) {
  const Lock lock(machine());
  if (const cudaError_t code = data ? enter(Call::free) : enter(); code != cudaSuccess) return result(code);
  finish_all();
  return result(!data || release(data, Space::pinned) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  const Lock lock(machine());
  if (const cudaError_t code = enter(); code != cudaSuccess) return result(code);
  *total = options().memory;
  *free = *total - allocated_bytes(current_device);
  return result(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  const Lock lock(machine());
  return result(copy(to, from, size, kind, stream));
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind kind) {
  const Lock lock(machine());
  const cudaError_t code = copy(to, from, size, kind, nullptr);
  if (code == cudaSuccess) finish_default();
  return result(code);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  const Lock lock(machine());
  if (width > to_pitch || width > from_pitch) return result(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row)
    if (const cudaError_t code = copy(static_cast<std::uint8_t*>(to) + row * to_pitch,
                                      static_cast<const std::uint8_t*>(from) + row * from_pitch, width, kind, stream);
        code != cudaSuccess)
      return result(code);
  return result(cudaSuccess);
}
cudaError_t cudaMemsetAsync(void* data, int value, size_t size, cudaStream_t stream) {
  const Lock lock(machine());
  return result(fill(data, value, size, stream));
}
cudaError_t cudaMemset(void* data, int value, size_t size) {
  const Lock lock(machine());
  return result(fill(data, value, size, nullptr));
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset, cudaMemcpyKind) {
  const Lock lock(machine());
  if (const cudaError_t code = enter_symbol(); code != cudaSuccess) return result(code);
  std::uint8_t* const data = variable(symbol, size, offset);
  if (!data) return result(cudaErrorInvalidValue);
  std::memcpy(data, from, size);
  return result(cudaSuccess);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, cudaMemcpyKind) {
  const Lock lock(machine());
  if (const cudaError_t code = enter_symbol(); code != cudaSuccess) return result(code);
  const std::uint8_t* const data = variable(symbol, size, offset);
  if (!data) return result(cudaErrorInvalidValue);
  std::memcpy(to, data, size);
  return result(cudaSuccess);
}

}  // extern "C"
