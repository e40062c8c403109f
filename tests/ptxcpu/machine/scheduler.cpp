// Blocks one after the other; of each block the threads in turns.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "census.hpp"
#include "fibers.hpp"
#include "launch.hpp"
#include "machine.hpp"
#include "options.hpp"

namespace ptxcpu {
namespace {

void thread_main(void* argument) {
  Lane& lane = *static_cast<Lane*>(argument);
  try {
    lane.thread.block->launch->kernel->run(lane.thread);
  } catch (const ThreadExit&) {
  } catch (const KernelFault&) {
  }
  lane.done = true;
  leave(lane);
  std::abort();  // a thread that ended does not go on
}

void prepare(Lane& lane, char* stack) {
  lane.done = false;
  lane.wait = Wait::none;
  lane.stack_pointer = new_fiber(stack, lane.thread.index, thread_main, &lane);
  lane.thread.stack = reinterpret_cast<std::uint64_t>(stack);
  lane.thread.stack_bytes = options().stack;
}

void resume(Launch& launch, Lane& lane) {
  launch.current = &lane;
  ptxcpu_switch(&launch.scheduler, lane.stack_pointer);
}

/// The order in which the threads of a block take their turns.
class Turns {
 public:
  explicit Turns(std::size_t n) : order_(n) {
    for (std::size_t i = 0; i < n; ++i) order_[i] = i;
    if (options().order == Order::backwards) std::reverse(order_.begin(), order_.end());
  }
  const std::vector<std::size_t>& next_round() {
    if (options().order == Order::random) {
      static std::mt19937_64 generator(options().seed);
      std::shuffle(order_.begin(), order_.end(), generator);
    }
    return order_;
  }

 private:
  std::vector<std::size_t> order_;
};

void run_block_without_meetings(Launch& launch) {  // one stack serves all threads
  for (Lane& lane : launch.lanes) {
    prepare(lane, stack(0));
    resume(launch, lane);
    if (launch.fault != Fault::none) return;
  }
}

void run_block(Launch& launch) {
  constexpr std::uint64_t most_idle_rounds = 1'000'000;  // of sleeping threads that wait for each other
  const std::size_t n = launch.lanes.size();
  for (std::size_t i = 0; i < n; ++i) prepare(launch.lanes[i], stack(i));
  Turns turns(n);
  std::uint64_t idle_rounds = 0;
  for (std::size_t left = n; left > 0;) {
    bool ran = false, only_yields = true;
    for (const std::size_t i : turns.next_round()) {
      Lane& lane = launch.lanes[i];
      if (lane.done || (lane.wait != Wait::none && lane.wait != Wait::yielded)) continue;
      lane.wait = Wait::none;
      resume(launch, lane);
      if (launch.fault != Fault::none) return;
      ran = true;
      only_yields = only_yields && !lane.done && lane.wait == Wait::yielded;
      if (lane.done) {
        --left;
        try_warp(launch, lane.thread.warp);  // the others of the warp no longer wait for this lane
      }
    }
    idle_rounds = only_yields && ran ? idle_rounds + 1 : 0;
    if ((!ran && left > 0) || idle_rounds > most_idle_rounds) {
      deadlock(launch);
      return;
    }
  }
}

std::uint64_t product(Dim d) { return std::uint64_t{d.x} * d.y * d.z; }

/// Bytes of the static variables; dynamic shared memory begins there.
std::uint64_t static_bytes(const Kernel& kernel) { return (std::uint64_t{kernel.shared_bytes} + 15) / 16 * 16; }

}  // namespace

Refusal check(const Kernel& kernel, const Shape& shape) {
  const auto [grid, block, dynamic_shared] = shape;
  const std::uint64_t threads = product(block);
  if (threads == 0 || product(grid) == 0 || threads > thread_limit || block.z > 64 || grid.x > 0x7fffffffu ||
      grid.y > 65535 || grid.z > 65535)
    return Refusal::configuration;
  if (threads > kernel.most_threads) return Refusal::resources;  // .maxntid
  if (static_bytes(kernel) + dynamic_shared > static_shared_limit) return Refusal::configuration;
  return Refusal::none;
}

std::vector<std::uint8_t> pack_arguments(const Kernel& kernel, void** arguments) {
  std::vector<std::uint8_t> bytes(kernel.parameter_bytes);
  std::uint32_t end = 0;
  for (int i = 0; end < kernel.parameter_bytes; ++i) {
    const auto [at, size] = kernel.parameters[i];
    std::memcpy(bytes.data() + at, arguments[i], size);
    end = at + size;
  }
  return bytes;
}

Fault run(const Kernel& kernel, const Shape& shape, std::vector<std::uint8_t> arguments, int device) {
  const auto [grid, block, dynamic_shared] = shape;
  constexpr std::uint64_t shared_alignment = 64;
  const std::uint64_t offset = static_bytes(kernel);
  std::vector<std::uint8_t> shared(offset + dynamic_shared + shared_alignment);
  Launch launch;
  launch.kernel = &kernel;
  launch.device = device;
  launch.lanes.resize(product(block));
  Block& b = launch.block;
  b.nctaid = grid;
  b.ntid = block;
  b.threads = static_cast<std::uint32_t>(launch.lanes.size());
  b.shared = shared.data() + (-reinterpret_cast<std::uint64_t>(shared.data())) % shared_alignment;
  b.shared_bytes = static_cast<std::uint32_t>(offset + dynamic_shared);
  b.dynamic_offset = static_cast<std::uint32_t>(offset);
  b.dynamic_bytes = static_cast<std::uint32_t>(dynamic_shared);
  b.common = kernel.common;
  b.launch = &launch;
  for (std::uint32_t i = 0; i < b.threads; ++i) {
    Thread& t = launch.lanes[i].thread;
    t = {};
    t.tid = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    t.index = i;
    t.lane = i % 32;
    t.warp = i / 32;
    t.block = &b;
    t.parameters = arguments.data();
    t.parameter_bytes = kernel.parameter_bytes;
  }
  Census census(launch);
  if (options().trace)
    std::fprintf(stderr, "ptxcpu: %s<<<(%u, %u, %u), (%u, %u, %u), %zu>>>\n", kernel.name, grid.x, grid.y, grid.z,
                 block.x, block.y, block.z, dynamic_shared);
  for (std::uint64_t k = 0; k < product(grid) && launch.fault == Fault::none; ++k) {
    b.ctaid = {static_cast<std::uint32_t>(k % grid.x), static_cast<std::uint32_t>(k / grid.x % grid.y),
               static_cast<std::uint32_t>(k / grid.x / grid.y)};
    poison_bytes(b.shared, b.shared_bytes);
    if (options().races) launch.races = std::make_unique<Races>(b.threads);
    b.races = launch.races.get();
    if (kernel.synchronises) {
      run_block(launch);
    } else {
      run_block_without_meetings(launch);
    }
    census.add_block();
  }
  return launch.fault;
}

}  // namespace ptxcpu
