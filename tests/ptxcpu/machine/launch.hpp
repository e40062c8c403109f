#pragma once
// A launch while it runs: lanes are threads with what they wait for.

#include <cstdint>
#include <memory>
#include <vector>

#include "races.hpp"
#include "thread.hpp"

namespace ptxcpu {

enum class Wait { none, barrier, warp, yielded };
enum class WarpOperation { sync, shuffle, vote, reduction };

struct Lane {
  Thread thread;
  void* stack_pointer = nullptr;  ///< of the fiber, while another one runs
  Wait wait = Wait::none;
  bool done = false;
  std::uint32_t barrier = 0, count = 0;  ///< of a lane that waits at a barrier
  WarpOperation operation{};             ///< of a lane that waits in a warp, with the operands
  std::uint32_t mask = 0, value = 0, b = 0, c = 0, result = 0;
  int mode = 0, line = 0;
  bool valid = false;
};

struct Launch {
  const Kernel* kernel;
  int device;
  Block block{};
  std::vector<Lane> lanes;
  void* scheduler = nullptr;  ///< stack pointer of the scheduler, while a lane runs
  Lane* current = nullptr;
  Fault fault = Fault::none;
  std::unique_ptr<Races> races;
};

/// Lets other lanes run until the scheduler goes on with this one.
void leave(Lane& lane);

/// Lets a warp operation go on where all lanes of its mask have come.
void try_warp(Launch& launch, std::uint32_t warp);

// --- faults

/// Leaves the kernel of a thread; `fault` of the launch says why.
struct KernelFault {};

void tell(const Thread& t, Fault kind, std::uint64_t address, int line, const char* more = "");
/// Tells on stderr what every thread waits for, and ends the launch.
void deadlock(Launch& launch);

}  // namespace ptxcpu
