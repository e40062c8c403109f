// Barriers and warp operations.

#include "fibers.hpp"
#include "launch.hpp"

namespace ptxcpu {
namespace {

constexpr std::uint32_t warp_size = 32;

std::uint32_t alive(const Launch& launch, std::uint32_t warp) {  // mask of the lanes of a warp that have not ended
  std::uint32_t mask = 0;
  for (std::uint32_t i = 0; i < warp_size && warp * warp_size + i < launch.lanes.size(); ++i)
    if (!launch.lanes[warp * warp_size + i].done) mask |= 1u << i;
  return mask;
}

template <class F>
void for_each_of(std::uint32_t mask, F&& f) {
  for (std::uint32_t i = 0; i < warp_size; ++i)
    if (mask >> i & 1u) f(i);
}

std::uint32_t voted(Vote mode, std::uint32_t ballot, std::uint32_t members) {
  switch (mode) {
    case Vote::all_:
      return ballot == members;
    case Vote::any_:
      return ballot != 0;
    case Vote::uni_:
      return ballot == members || ballot == 0;
    case Vote::ballot_:
      return ballot;
  }
  return 0;
}

std::uint32_t reduced(Reduction operation, std::uint32_t a, std::uint32_t b) {
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  switch (operation) {
    case Reduction::add_u32:
    case Reduction::add_s32:
      return a + b;
    case Reduction::min_u32:
      return a < b ? a : b;
    case Reduction::min_s32:
      return sa < sb ? a : b;
    case Reduction::max_u32:
      return a > b ? a : b;
    case Reduction::max_s32:
      return sa > sb ? a : b;
    case Reduction::and_b32:
      return a & b;
    case Reduction::or_b32:
      return a | b;
    case Reduction::xor_b32:
      return a ^ b;
  }
  return 0;
}

/// The lane that lane i reads in a shuffle, and whether that lane is within the segment (PTX manual, shfl.sync).
std::pair<std::int32_t, bool> source_of(const Lane& lane, std::uint32_t i) {
  const std::uint32_t bound = lane.c & 31u, segment = lane.c >> 8 & 31u, by = lane.b & 31u;
  const auto most = static_cast<std::int32_t>((i & segment) | (bound & ~segment));
  const auto at = static_cast<std::int32_t>(i), least = static_cast<std::int32_t>(i & segment);
  std::int32_t source = at;
  bool valid = true;
  switch (static_cast<Shuffle>(lane.mode)) {
    case Shuffle::up:
      source = at - static_cast<std::int32_t>(by);
      valid = source >= most;
      break;
    case Shuffle::down:
      source = at + static_cast<std::int32_t>(by);
      valid = source <= most;
      break;
    case Shuffle::bfly:
      source = at ^ static_cast<std::int32_t>(by);
      valid = source <= most;
      break;
    case Shuffle::idx:
      source = least | static_cast<std::int32_t>(by & ~segment);
      valid = source <= most;
      break;
  }
  return {valid ? source : at, valid};
}

/// Gives the lanes of a complete warp operation what they get, and lets them go on.
void carry_out(Launch& launch, std::uint32_t warp, std::uint32_t members) {
  Lane* const lanes = &launch.lanes[warp * warp_size];
  std::uint32_t ballot = 0;
  std::vector<std::uint32_t> joined;
  for_each_of(members, [&](std::uint32_t i) { ballot |= std::uint32_t(lanes[i].value != 0) << i; });
  for_each_of(members, [&](std::uint32_t i) {
    Lane& lane = lanes[i];
    switch (lane.operation) {
      case WarpOperation::sync:
        joined.push_back(warp * warp_size + i);
        break;
      case WarpOperation::vote:
        lane.result = voted(static_cast<Vote>(lane.mode), ballot, members);
        break;
      case WarpOperation::reduction: {
        bool first = true;
        for_each_of(members, [&](std::uint32_t j) {
          lane.result =
              first ? lanes[j].value : reduced(static_cast<Reduction>(lane.mode), lane.result, lanes[j].value);
          first = false;
        });
        break;
      }
      case WarpOperation::shuffle: {
        const auto [source, valid] = source_of(lane, i);
        lane.valid = valid;
        if (members >> source & 1u) {
          lane.result = lanes[source].value;
        } else {
          tell(lane.thread, Fault::divergence, static_cast<std::uint64_t>(source), lane.line,
               " (a shuffle reads a lane that does not take part)");
          launch.fault = Fault::divergence;
        }
        break;
      }
    }
  });
  if (launch.races && !joined.empty()) launch.races->join(joined);
  for_each_of(members, [&](std::uint32_t i) { lanes[i].wait = Wait::none; });
}

/// Lets a barrier go on where enough threads wait there.
void try_barrier(Launch& launch, std::uint32_t id) {
  std::uint32_t waiting = 0, count = 0;
  std::vector<std::uint32_t> there;
  for (std::uint32_t i = 0; i < launch.lanes.size(); ++i) {
    const Lane& lane = launch.lanes[i];
    if (lane.done || lane.wait != Wait::barrier || lane.barrier != id) continue;
    there.push_back(i);
    ++waiting;
    count = lane.count;
  }
  // the hardware wants all threads of the block: a barrier misses those that have ended, see deadlock()
  const std::uint32_t wanted = count ? count : static_cast<std::uint32_t>(launch.lanes.size());
  if (waiting == 0 || waiting < wanted) return;
  for (std::uint32_t i : there) launch.lanes[i].wait = Wait::none;
  if (launch.races) launch.races->join(there);
}

void enter_warp(Thread& t, WarpOperation operation, std::uint32_t mask, int line) {
  Launch& launch = *t.block->launch;
  Lane& lane = *launch.current;
  if (!(mask >> t.lane & 1u)) {
    tell(t, Fault::divergence, mask, line, " (the mask lacks the lane itself)");
    launch.fault = Fault::divergence;
    throw KernelFault{};
  }
  lane.operation = operation;
  lane.mask = mask;
  lane.line = line;
  lane.wait = Wait::warp;
  try_warp(launch, t.warp);
  if (lane.wait != Wait::none) leave(lane);  // else the lane was the last to come
}

}  // namespace

void leave(Lane& lane) { ptxcpu_switch(&lane.stack_pointer, lane.thread.block->launch->scheduler); }

void try_warp(Launch& launch, std::uint32_t warp) {
  Lane* const lanes = &launch.lanes[warp * warp_size];
  const std::uint32_t there = alive(launch, warp);
  for_each_of(there, [&](std::uint32_t i) {
    if (lanes[i].wait != Wait::warp) return;
    const std::uint32_t members = lanes[i].mask & there;
    bool complete = true;
    for_each_of(members, [&](std::uint32_t j) {
      complete = complete && lanes[j].wait == Wait::warp && lanes[j].mask == lanes[i].mask &&
                 lanes[j].operation == lanes[i].operation &&
                 (lanes[i].operation == WarpOperation::sync || lanes[j].line == lanes[i].line);
    });
    if (complete) carry_out(launch, warp, members);
  });
}

void barrier(Thread& t, uint32_t id, uint32_t count, int line) {
  Lane& lane = *t.block->launch->current;
  lane.barrier = id;
  lane.count = count;
  lane.line = line;
  lane.wait = Wait::barrier;
  try_barrier(*t.block->launch, id);
  if (lane.wait != Wait::none) leave(lane);
}

void warp_sync(Thread& t, uint32_t mask, int line) { enter_warp(t, WarpOperation::sync, mask, line); }

uint32_t shuffle(Thread& t, Shuffle mode, uint32_t value, uint32_t b, uint32_t c, uint32_t mask, bool& valid,
                 int line) {
  Lane& lane = *t.block->launch->current;
  lane.value = value;
  lane.b = b;
  lane.c = c;
  lane.mode = static_cast<int>(mode);
  enter_warp(t, WarpOperation::shuffle, mask, line);
  valid = lane.valid;
  return lane.result;
}

uint32_t vote(Thread& t, Vote mode, bool predicate, uint32_t mask, int line) {
  Lane& lane = *t.block->launch->current;
  lane.value = predicate;
  lane.mode = static_cast<int>(mode);
  enter_warp(t, WarpOperation::vote, mask, line);
  return lane.result;
}

uint32_t reduce(Thread& t, Reduction operation, uint32_t value, uint32_t mask, int line) {
  Lane& lane = *t.block->launch->current;
  lane.value = value;
  lane.mode = static_cast<int>(operation);
  enter_warp(t, WarpOperation::reduction, mask, line);
  return lane.result;
}

void yield(Thread& t) {
  Lane& lane = *t.block->launch->current;
  lane.wait = Wait::yielded;
  leave(lane);
}

}  // namespace ptxcpu
