#pragma once
// The machine below the runtime: device memory, kernels, launches.

#include <cstdint>
#include <mutex>
#include <vector>

#include "thread.hpp"

namespace ptxcpu {

/// Every call of the runtime takes this lock: the devices run one at a time.
std::recursive_mutex& machine();

// --- memory: allocations of the host, with their bounds

enum class Space { device, pinned, variable };

/// Memory of the host; device memory is filled with ones (NaNs). Null where there is none.
void* allocate(std::size_t size, int device, Space space);
bool release(void* data, Space space);
/// Makes the memory of a variable known.
void add_variable(const Region& region);
void remove_variable(const Region& region);

struct Allocation {
  std::uint64_t start, size;
  int device;  ///< -1: of all
  Space space;
  bool writable;
};
/// The allocation that has all of [address, address + size); null where there is none.
const Allocation* find_allocation(std::uint64_t address, std::uint64_t size);
std::size_t allocated_bytes(int device);

// --- modules: what host code calls kernels and variables

void name_function(void** module, const void* host, const char* name);
void name_variable(void** module, const void* host, const char* name);
/// The kernel that host code calls `host`, or that is `host`, of a module that was loaded at run time.
const Kernel* kernel_of(const void* host);
const Region* variable_of(const void* host);

/// A kernel of a module that was loaded at run time, which kernel_of then knows; null where there is none of this name.
const Kernel* load_kernel(const Module& module, const char* name);
bool is_loaded(const Kernel& kernel);
/// Forgets the kernels and the variables of such a module.
void unload_module(const Module& module);

// --- launches

inline constexpr int static_shared_limit = 48 * 1024;  ///< bytes of shared memory per block
inline constexpr int thread_limit = 1024;              ///< per block

struct Shape {
  Dim grid, block;
  std::size_t dynamic_shared;
};
enum class Refusal { none, configuration, resources };
/// Whether a device can run a launch of this shape.
Refusal check(const Kernel& kernel, const Shape& shape);

/// A copy of the arguments, laid out as the kernel expects.
std::vector<std::uint8_t> pack_arguments(const Kernel& kernel, void** arguments);

/// Runs all blocks, one after the other, up to a fault.
Fault run(const Kernel& kernel, const Shape& shape, std::vector<std::uint8_t> arguments, int device);

}  // namespace ptxcpu
