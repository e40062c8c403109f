#pragma once
// Lane tiles: the W lanes of a GPU warp that take the steps of one trajectory together. All of them hold the trajectory and run
// the same code, to the same bits; what is large, the Jacobian of a coupled system and its factors, exists once for all of
// them, in shared memory, and its columns are dealt out among them. Elsewhere one thread does the work of all lanes.
//
// A shared object is written inside for_each, whose items are independent of each other, or by the leader, and a sync()
// separates reading from later writing. tests/tile/tile_test.cpp runs the lanes as threads under the thread sanitizer.

#include <type_traits>

#include "rattleback/real/config.hpp"

#ifdef RATTLEBACK_TILE_CREW  // a header where lanes are threads, for the test
#include RATTLEBACK_TILE_CREW
#endif

RB_NAMESPACE_BEGIN

/// Lanes for a coupled system of `unknowns`, each a number of `parts` doubles. Below 12 the Jacobian fits into the registers of
/// one thread. What only the leader does costs W times as much, so W stays below the number of columns; but as registers let
/// only about 256 threads run on a multiprocessor, 256 / W Jacobians have to fit into its shared memory.
constexpr int tile_lanes(int unknowns, int parts = 1) {
  if (unknowns < 12) return 1;
#ifdef RATTLEBACK_TILE_LANES  // bench/gpu tries others
  const int lanes = RATTLEBACK_TILE_LANES;
#else
  const int lanes = unknowns <= 20 ? 8 : unknowns <= 32 ? 16 : 32;
#endif
  return lanes * parts < 32 ? lanes * parts : 32;
}

namespace detail {

// What a tile asks of the machine: the number of this lane, a barrier that makes writes visible, memory for all lanes.
#if RB_DEVICE_PASS
inline constexpr bool has_tiles = true;
template <int W>
__device__ __forceinline__ int tile_lane() {
  return int(threadIdx.x % W);
}
template <int W>
__device__ __forceinline__ void tile_sync() {
  __syncwarp(W == 32 ? ~0u : ((1u << (W % 32)) - 1u) << (threadIdx.x % 32 / W * W));
}
/// A block is a warp, and each of its tiles has an equal part of the block's shared memory. So a tile of 16 lanes and the two
/// tiles of 8 lanes in it, which take the steps of the same trajectory, have the same part.
template <int W, class Object>
__device__ __forceinline__ Object& tile_shared() {
  extern __shared__ double tile_memory[];
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return *reinterpret_cast<Object*>(reinterpret_cast<char*>(tile_memory) + threadIdx.x / W * (bytes / (32 / W)));
}
#elif defined(RATTLEBACK_TILE_CREW)
inline constexpr bool has_tiles = true;
template <int W>
int tile_lane() {
  return tile_crew::lane<W>();
}
template <int W>
void tile_sync() {
  tile_crew::sync<W>();
}
template <int W, class Object>
Object& tile_shared() {
  return tile_crew::shared<W, Object>();
}
#else
inline constexpr bool has_tiles = false;
template <int>
RB_HD int tile_lane() {
  return 0;
}
template <int>
RB_HD void tile_sync() {}
template <int, class Object>
Object& tile_shared();  // there is none
#endif

}  // namespace detail

template <int W>
struct LaneTile {
  static_assert(W == 1 || W == 8 || W == 16 || W == 32);
  static constexpr int lanes = W;

  /// Whether there are other lanes.
  RB_HD static constexpr bool shares() { return W > 1 && detail::has_tiles; }
  /// Whether this lane writes what is written once.
  RB_HD static bool leads() { return lane() == 0; }

  /// All lanes have come here, and see what any of them has written.
  RB_HD static void sync() {
    if constexpr (shares()) detail::tile_sync<W>();
  }

  /// f(i) for begin <= i < end, and a sync.
  template <class F>
  RB_HD static void for_each(int begin, int end, const F& f) {
    RB_ROLLED
    for (int i = begin + lane(); i < end; i += shares() ? W : 1) f(i);
    sync();
  }

  /// An object for all lanes, not initialised. There is one at a time: the memory is the same for all.
  template <class Object>
  class Shared {
   public:
    RB_HD Object& operator*() {
      if constexpr (shares()) {
        return detail::tile_shared<W, Object>();
      } else {
        return own_;
      }
    }

   private:
    struct Nothing {};
    std::conditional_t<W == 1 || !detail::has_tiles, Object, Nothing> own_;
  };

 private:
  RB_HD static int lane() {
    if constexpr (shares()) {
      return detail::tile_lane<W>();
    } else {
      return 0;
    }
  }
};

/// What a tile takes together has the types Team, its tile, and Workspace, which its lanes share. A thread takes the rest.
template <class Step>
concept Tiled = requires {
  typename Step::Team;
  typename Step::Workspace;
};
struct NotTiled {
  using Team = LaneTile<1>;
  struct Workspace {};
};
template <class Step>
struct TileOf : NotTiled {};
template <Tiled Step>
struct TileOf<Step> {
  using Team = typename Step::Team;
  using Workspace = typename Step::Workspace;
};
template <class Step>
using tile_of = typename TileOf<Step>::Team;
template <class Step>
using workspace_of = typename TileOf<Step>::Workspace;

/// Shared memory of a warp whose tiles take the step: the part of every tile of 8 lanes begins at a multiple of 16 bytes.
template <class Step>
inline constexpr int workspace_bytes = tile_of<Step>::lanes == 1
                                           ? 0
                                           : (int(sizeof(workspace_of<Step>)) * (32 / tile_of<Step>::lanes) + 63) / 64 *
                                                 64;

RB_NAMESPACE_END
