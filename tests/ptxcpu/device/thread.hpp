#pragma once
// What translated PTX and the machine share: threads, modules, checked memory, and what threads do together.

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ptxcpu {

inline constexpr int instruction_classes = 14;  ///< of translate/census.py

struct Dim {
  uint32_t x, y, z;
};

struct Races;
struct Launch;

struct Block {
  Dim ctaid, nctaid, ntid;
  uint32_t threads;
  uint8_t* shared;        ///< static variables, then dynamic memory
  uint32_t shared_bytes;  ///< of both
  uint32_t dynamic_offset, dynamic_bytes;
  const uint32_t* common;  ///< of the kernel
  Races* races;            ///< null where races are not looked for
  Launch* launch;
};

struct Thread {
  Dim tid;
  uint32_t index, lane, warp;
  Block* block;
  uint8_t* parameters;
  uint32_t parameter_bytes;
  uint32_t* counts;                        ///< how often the thread came to every basic block, where that is counted
  uint64_t stack, stack_bytes;             ///< local memory lies on the fiber's stack
  uint64_t read_from = 0, read_bytes = 0;  ///< the allocation that the thread read last
  uint64_t write_to = 0, write_bytes = 0;  ///< the allocation that the thread wrote last
};

struct ThreadExit {};

enum class Fault { none, address, alignment, shared, division, branch, trap, assertion, deadlock, divergence, race };

/// Tells of a mistake of the kernel and ends the launch. `line` is a line of the PTX.
[[noreturn]] void fault(Thread& t, Fault kind, uint64_t address, int line);

// --- modules

struct ParameterLayout {
  uint32_t offset, size;
};

struct Kernel {
  const char* name;
  void (*run)(Thread&);
  ParameterLayout parameters[24];
  uint32_t parameter_bytes, shared_bytes, local_bytes, most_threads;
  bool synchronises;                              ///< its threads meet: each thread needs a stack of its own
  const uint32_t* common;                         ///< offsets of the shared variables that several kernels may use
  const uint32_t (*blocks)[instruction_classes];  ///< instructions of the basic blocks of the module, by class
  uint32_t block_count;                           ///< 0 where the module does not count
};

/// A variable of a module.
struct Region {
  uint8_t* data;
  uint64_t size;
  bool writable;
  const char* name;
};

struct Module {
  const Kernel* kernels;
  int count;
  const Region* regions;  ///< up to the first without data
  void (*relocate)();     ///< fills in initial values that are addresses
};

void** register_module(Module& module);

// --- memory

/// Strong accesses are volatile, relaxed, acquire, release or atomic: a strong access makes no race.
enum class Access { read, write, strong_read, strong_write };

constexpr bool writes(Access a) { return a == Access::write || a == Access::strong_write; }

/// The slow path: looks up the allocation of an address and remembers the allocation in the thread, or fails.
void find_global(Thread& t, uint64_t address, uint32_t size, bool write, int line);

/// For the search for races.
void note_access(Thread& t, uint64_t address, uint32_t size, Access access, int line);

template <uint32_t size, Access access>
inline uint8_t* at_global(Thread& t, uint64_t address, int line) {
  if (address % size != 0) [[unlikely]]
    fault(t, Fault::alignment, address, line);
  if constexpr (writes(access)) {
    if (address - t.write_to + size > t.write_bytes || address < t.write_to) [[unlikely]]
      find_global(t, address, size, true, line);
  } else {
    if (address - t.read_from + size > t.read_bytes || address < t.read_from) [[unlikely]]
      find_global(t, address, size, false, line);
  }
  if (t.block->races) [[unlikely]]
    note_access(t, address, size, access, line);
  return reinterpret_cast<uint8_t*>(address);
}

/// Shared addresses are offsets, as on a GPU.
template <uint32_t size, Access access>
inline uint8_t* at_shared(Thread& t, uint64_t offset, int line) {
  if (offset % size != 0) [[unlikely]]
    fault(t, Fault::alignment, offset, line);
  if (offset + size > t.block->shared_bytes) [[unlikely]]
    fault(t, Fault::shared, offset, line);
  uint8_t* address = t.block->shared + offset;
  if (t.block->races) [[unlikely]]
    note_access(t, reinterpret_cast<uint64_t>(address), size, access, line);
  return address;
}

/// A generic address is an address of the host: local, shared, of a parameter, or global.
template <uint32_t size, Access access>
inline uint8_t* at_generic(Thread& t, uint64_t address, int line) {
  if (address - t.stack < t.stack_bytes) {
    if (address % size != 0) [[unlikely]]
      fault(t, Fault::alignment, address, line);
    return reinterpret_cast<uint8_t*>(address);
  }
  const uint64_t in_shared = address - reinterpret_cast<uint64_t>(t.block->shared);
  if (in_shared < t.block->shared_bytes) return at_shared<size, access>(t, in_shared, line);
  const uint64_t in_parameters = address - reinterpret_cast<uint64_t>(t.parameters);
  if (!writes(access) && in_parameters < t.parameter_bytes) {
    if (address % size != 0) [[unlikely]]
      fault(t, Fault::alignment, address, line);
    return reinterpret_cast<uint8_t*>(address);
  }
  return at_global<size, access>(t, address, line);
}

template <class T>
inline T load(const uint8_t* from) {
  T x;
  std::memcpy(&x, from, sizeof(T));
  return x;
}
template <class T>
inline void store(uint8_t* to, T x) {
  std::memcpy(to, &x, sizeof(T));
}
template <class T>
inline void store_bytes(uint8_t* to, T x) {
  std::memcpy(to, &x, sizeof(T));
}

/// What registers and memory hold before the kernel writes them: all bits set, a NaN.
template <class T>
inline T poison() {
  if constexpr (std::is_same_v<T, bool>) {
    return true;
  } else {
    T x;
    std::memset(&x, 0xff, sizeof(T));
    return x;
  }
}
inline void poison_bytes(uint8_t* data, std::size_t size) { std::memset(data, 0xff, size); }

bool is_shared(const Thread& t, uint64_t address);
bool is_local(const Thread& t, uint64_t address);
bool is_global(const Thread& t, uint64_t address);

// --- threads together

enum class Shuffle { up, down, bfly, idx };
enum class Vote { all_, any_, uni_, ballot_ };
enum class Reduction { add_u32, add_s32, min_u32, min_s32, max_u32, max_s32, and_b32, or_b32, xor_b32 };

/// `count` threads meet at the barrier `id`; 0 stands for all threads of the block.
void barrier(Thread& t, uint32_t id, uint32_t count, int line);
void warp_sync(Thread& t, uint32_t mask, int line);
uint32_t shuffle(Thread& t, Shuffle mode, uint32_t value, uint32_t b, uint32_t c, uint32_t mask, bool& valid, int line);
uint32_t vote(Thread& t, Vote mode, bool predicate, uint32_t mask, int line);
uint32_t reduce(Thread& t, Reduction operation, uint32_t value, uint32_t mask, int line);
/// Lets the other threads of the block run.
void yield(Thread& t);

// --- functions of the device's runtime

void external_vprintf(Thread& t, uint8_t* result, uint8_t* format, uint8_t* arguments);
void external___assertfail(Thread& t, uint8_t* message, uint8_t* file, uint8_t* line, uint8_t* function, uint8_t* size);

}  // namespace ptxcpu
