#include <cstdio>
#include <cstdlib>

#include "launch.hpp"
#include "options.hpp"

namespace ptxcpu {
namespace {

const char* describe(Fault kind) {
  switch (kind) {
    case Fault::none:
      return "nothing";
    case Fault::address:
      return "access outside every allocation";
    case Fault::alignment:
      return "misaligned access";
    case Fault::shared:
      return "access outside the block's shared memory";
    case Fault::division:
      return "integer division by zero";
    case Fault::branch:
      return "branch out of its table";
    case Fault::trap:
      return "trap";
    case Fault::assertion:
      return "failed assertion";
    case Fault::deadlock:
      return "deadlock";
    case Fault::divergence:
      return "diverged threads in a warp operation";
    case Fault::race:
      return "race";
  }
  return "?";
}

}  // namespace

void tell(const Thread& t, Fault kind, std::uint64_t address, int line, const char* more) {
  const Dim thread = t.tid, block = t.block->ctaid;
  std::fprintf(stderr, "ptxcpu: %s at 0x%llx%s, line %d of the PTX, thread (%u, %u, %u) of block (%u, %u, %u) of %s\n",
               describe(kind), static_cast<unsigned long long>(address), more, line, thread.x, thread.y, thread.z,
               block.x, block.y, block.z, t.block->launch->kernel->name);
}

void fault(Thread& t, Fault kind, uint64_t address, int line) {
  tell(t, kind, address, line);
  if (options().abort) std::abort();
  t.block->launch->fault = kind;
  throw KernelFault{};
}

void deadlock(Launch& launch) {
  constexpr std::size_t most_shown = 64;
  const Dim block = launch.block.ctaid;
  std::fprintf(stderr, "ptxcpu: deadlock in block (%u, %u, %u) of %s:\n", block.x, block.y, block.z,
               launch.kernel->name);
  for (std::size_t i = 0; i < launch.lanes.size() && i < most_shown; ++i) {
    const Lane& lane = launch.lanes[i];
    if (lane.done) {
      std::fprintf(stderr, "  thread %u has ended\n", lane.thread.index);
    } else if (lane.wait == Wait::barrier) {
      std::fprintf(stderr, "  thread %u waits at barrier %u, line %d\n", lane.thread.index, lane.barrier, lane.line);
    } else if (lane.wait == Wait::warp) {
      static const char* const names[] = {"bar.warp.sync", "shfl.sync", "vote.sync", "redux.sync"};
      std::fprintf(stderr, "  thread %u waits in %s of lanes %08x, line %d\n", lane.thread.index,
                   names[static_cast<int>(lane.operation)], lane.mask, lane.line);
    } else {
      std::fprintf(stderr, "  thread %u sleeps\n", lane.thread.index);
    }
  }
  launch.fault = Fault::deadlock;
}

void external_vprintf(Thread&, uint8_t*, uint8_t* format, uint8_t*) {  // the format alone, without values
  std::printf("ptxcpu: printf: %s", reinterpret_cast<const char*>(load<uint64_t>(format)));
}

void external___assertfail(Thread& t, uint8_t* message, uint8_t*, uint8_t* line, uint8_t*, uint8_t*) {
  std::fprintf(stderr, "ptxcpu: assertion '%s'\n", reinterpret_cast<const char*>(load<uint64_t>(message)));
  fault(t, Fault::assertion, 0, static_cast<int>(load<uint32_t>(line)));
}

}  // namespace ptxcpu
