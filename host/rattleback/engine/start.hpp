#pragma once
// Initial states that a backend makes by itself, where the steps are.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/stop_start.hpp"
#include "rattleback/study/points.hpp"
#include "rattleback/study/start_program.hpp"

namespace rattleback {

/// The initial states of a tile: what a backend makes of the points of a program.
struct TileStart {
  const StartProgram* program = nullptr;
  std::vector<StartProgram::Copy> rows;  ///< from the rows of the points to those of the tile
  std::vector<ConstantRow> constants;
  std::vector<double*> axes;   ///< arrays of the result, a number per trajectory of the tile
  std::vector<KeptRows> kept;  ///< of the tile, in host memory
  StopStarts stops;
  /// Fills the rows of trajectories of the tile, in host memory, that are to be prepared by themselves, and their places in the arrays.
  std::function<void(std::span<const std::uint64_t>)> fill_alone;
};

/// Returns whether a backend may make the initial states of a problem: they come from axes and formulas, and nothing else that a tile
/// begins with has to be computed on the host.
[[nodiscard]] bool may_start_on_device(const Problem& problem);

}  // namespace rattleback
