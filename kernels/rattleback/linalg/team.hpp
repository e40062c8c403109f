#pragma once
// Teams: W lanes of a GPU warp that advance one trajectory together. All lanes hold the trajectory and run the
// same code with the same bits. Large data, such as the Jacobian of a coupled system and its factors, exist once per
// team in shared memory, and the lanes distribute the columns. On a CPU one thread does the work of all lanes.
//
// A shared object is written inside for_each, whose items are independent of each other, or by the leader. A sync()
// separates reads from later writes. tests/team/team_test.cpp runs the lanes as threads under the thread sanitizer.

#include <type_traits>

#include "rattleback/real/config.hpp"

#ifdef RATTLEBACK_TEAM_CREW  // a header for the test, where lanes are threads
#include RATTLEBACK_TEAM_CREW
#endif

RB_NAMESPACE_BEGIN

/// The lanes that RATTLEBACK_NVRTCFLAGS asks for (bench/gpu tries values); 0: the program chooses.
#ifdef RATTLEBACK_TEAM_LANES
inline constexpr int forced_team_lanes = RATTLEBACK_TEAM_LANES;
#else
inline constexpr int forced_team_lanes = 0;
#endif

/// Lanes for a coupled system of `unknowns` numbers with so many `coefficients` each (real/dual.hpp). Below 12 unknowns the Jacobian fits into
/// the registers of one thread. Work of the leader costs W times as much, so W is below the number of columns.
/// Registers allow only about 256 threads on a multiprocessor, so 256 / W Jacobians must fit into its shared memory.
constexpr int team_lanes(int unknowns, int coefficients = 1) {
  if (unknowns < 12 || forced_team_lanes == 1) return 1;
  const int lanes = forced_team_lanes > 0 ? forced_team_lanes : unknowns <= 20 ? 8 : unknowns <= 32 ? 16 : 32;
  return lanes * coefficients < 32 ? lanes * coefficients : 32;
}

namespace detail {

// What the machine does for a team: the number of this lane, a barrier that makes writes visible, and memory for all lanes.
#if RB_DEVICE_PASS
inline constexpr bool has_teams = true;
template <int W>
__device__ __forceinline__ int team_lane() {
  return int(threadIdx.x % W);
}
template <int W>
__device__ __forceinline__ void team_sync() {
  __syncwarp(W == 32 ? ~0u : ((1u << (W % 32)) - 1u) << (threadIdx.x % 32 / W * W));
}
/// A block is a warp, and each team has an equal part of the block's shared memory. A team of 16 lanes and its two
/// teams of 8 lanes advance the same trajectory, so these teams use the same part.
template <int W, class Object>
__device__ __forceinline__ Object& team_shared() {
  extern __shared__ double team_memory[];
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return *reinterpret_cast<Object*>(reinterpret_cast<char*>(team_memory) + threadIdx.x / W * (bytes / (32 / W)));
}
#elif defined(RATTLEBACK_TEAM_CREW)
inline constexpr bool has_teams = true;
template <int W>
int team_lane() {
  return team_crew::lane<W>();
}
template <int W>
void team_sync() {
  team_crew::sync<W>();
}
template <int W, class Object>
Object& team_shared() {
  return team_crew::shared<W, Object>();
}
#else
inline constexpr bool has_teams = false;
template <int>
RB_HD int team_lane() {
  return 0;
}
template <int>
RB_HD void team_sync() {}
template <int, class Object>
Object& team_shared();  // never called
#endif

}  // namespace detail

template <int W>
struct LaneTeam {
  static_assert(W == 1 || W == 8 || W == 16 || W == 32);
  static constexpr int lanes = W;

  /// Whether the team has more than one lane.
  RB_HD static constexpr bool shares() { return W > 1 && detail::has_teams; }
  /// Whether this lane does the single writes of the team.
  RB_HD static bool leads() { return lane() == 0; }

  /// Waits until all lanes arrive; then each lane sees the writes of all lanes.
  RB_HD static void sync() {
    if constexpr (shares()) detail::team_sync<W>();
  }

  /// Calls f(i) for begin <= i < end, then sync().
  template <class F>
  RB_HD static void for_each(int begin, int end, const F& f) {
    RB_ROLLED
    for (int i = begin + lane(); i < end; i += shares() ? W : 1) f(i);
    sync();
  }

  /// An object for all lanes, not initialised. Only one such object may exist at a time, because all use the same
  /// memory.
  template <class Object>
  class Shared {
   public:
    RB_HD Object& operator*() {
      if constexpr (shares()) {
        return detail::team_shared<W, Object>();
      } else {
        return own_;
      }
    }

   private:
    struct Nothing {};
    std::conditional_t<W == 1 || !detail::has_teams, Object, Nothing> own_;
  };

 private:
  RB_HD static int lane() {
    if constexpr (shares()) {
      return detail::team_lane<W>();
    } else {
      return 0;
    }
  }
};

/// Shared memory that a block has without asking.
inline constexpr int shared_bytes_max = 48 * 1024;

/// The team of `lanes` lanes where the workspaces of a warp fit into shared memory, and one lane otherwise: each thread then
/// has its workspace in local memory.
template <template <class Team> class Workspace, int lanes>
using FittingTeam = LaneTeam<(sizeof(Workspace<LaneTeam<lanes>>) * (32 / lanes) <= shared_bytes_max ? lanes : 1)>;

/// A step of a team has the types Team (the team) and Workspace (shared by the lanes). Other steps run in one thread.
template <class Step>
concept WithTeam = requires {
  typename Step::Team;
  typename Step::Workspace;
};
struct NoTeam {
  using Team = LaneTeam<1>;
  struct Workspace {};
};
template <class Step>
struct TeamOf : NoTeam {};
template <WithTeam Step>
struct TeamOf<Step> {
  using Team = typename Step::Team;
  using Workspace = typename Step::Workspace;
};
template <class Step>
using team_of = typename TeamOf<Step>::Team;
template <class Step>
using workspace_of = typename TeamOf<Step>::Workspace;

/// Bytes of shared memory for a warp of teams. The part of each team of 8 lanes begins at a multiple of 16 bytes.
template <class Step>
inline constexpr int workspace_bytes =
    team_of<Step>::lanes == 1 ? 0 : (int(sizeof(workspace_of<Step>)) * (32 / team_of<Step>::lanes) + 63) / 64 * 64;

RB_NAMESPACE_END
