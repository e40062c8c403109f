#include <sys/mman.h>

#include <cstring>
#include <map>

#include "launch.hpp"
#include "machine.hpp"
#include "options.hpp"

namespace ptxcpu {
namespace {

constexpr std::uint64_t page = 4096, granularity = 256;  // bytes; a GPU aligns allocations to 256 bytes

std::map<std::uint64_t, Allocation>& allocations() {  // by their first address
  static std::map<std::uint64_t, Allocation> all;
  return all;
}

std::uint64_t round_up(std::uint64_t x, std::uint64_t to) { return (x + to - 1) / to * to; }

/// Pages of an allocation, and what lies before the allocation in the first of them.
struct Area {
  std::uint64_t bytes, before;
  explicit Area(std::uint64_t size)
      : bytes(round_up(round_up(size, granularity), page)), before(bytes - round_up(size, granularity)) {}
};

}  // namespace

// Behind every allocation comes a page that cannot be touched: the host is caught too where the host runs over the end.
void* allocate(std::size_t size, int device, Space space) {
  const Area area(size);
  void* const pages =
      mmap(nullptr, area.bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  mprotect(static_cast<char*>(pages) + area.bytes, page, PROT_NONE);
  char* const data = static_cast<char*>(pages) + area.before;
  if (space == Space::device && options().poison) std::memset(pages, 0xff, area.bytes);
  const std::uint64_t start = reinterpret_cast<std::uint64_t>(data);
  allocations()[start] = {start, size, device, space, true};
  return data;
}

bool release(void* data, Space space) {
  const auto at = allocations().find(reinterpret_cast<std::uint64_t>(data));
  if (at == allocations().end() || at->second.space != space) return false;
  const Area area(at->second.size);
  munmap(static_cast<char*>(data) - area.before, area.bytes + page);
  allocations().erase(at);
  return true;
}

void add_variable(const Region& region) {
  const std::uint64_t start = reinterpret_cast<std::uint64_t>(region.data);
  allocations()[start] = {start, region.size, -1, Space::variable, region.writable};
}
void remove_variable(const Region& region) { allocations().erase(reinterpret_cast<std::uint64_t>(region.data)); }

const Allocation* find_allocation(std::uint64_t address, std::uint64_t size) {
  auto at = allocations().upper_bound(address);
  if (at == allocations().begin()) return nullptr;
  --at;
  const std::uint64_t offset = address - at->first;
  return offset <= at->second.size && size <= at->second.size - offset ? &at->second : nullptr;
}

std::size_t allocated_bytes(int device) {
  std::size_t sum = 0;
  for (const auto& [start, a] : allocations()) sum += a.device == device && a.space == Space::device ? a.size : 0;
  return sum;
}

void find_global(Thread& t, uint64_t address, uint32_t size, bool write, int line) {
  const Allocation* const found = find_allocation(address, size);
  if (!found || (write && !found->writable)) fault(t, Fault::address, address, line);
  if (found->device >= 0 && found->device != t.block->launch->device) {
    tell(t, Fault::address, address, line, " (memory of another device)");
    t.block->launch->fault = Fault::address;
    throw KernelFault{};
  }
  t.read_from = found->start;
  t.read_bytes = found->size;
  if (found->writable) {
    t.write_to = found->start;
    t.write_bytes = found->size;
  }
}

bool is_shared(const Thread& t, uint64_t address) {
  return address - reinterpret_cast<uint64_t>(t.block->shared) < t.block->shared_bytes;
}
bool is_local(const Thread& t, uint64_t address) { return address - t.stack < t.stack_bytes; }
bool is_global(const Thread& t, uint64_t address) { return !is_shared(t, address) && !is_local(t, address); }

}  // namespace ptxcpu
