#pragma once
// What a run of a study would take.

#include <cstdint>
#include <string>

#include "rattleback/run/run.hpp"

namespace rattleback {

struct Estimate {
  std::uint64_t trajectories, checked;  ///< initial states in all, and those that were checked
  double trajectory_steps;              ///< in all; from the checked ones where the step varies over the ensemble
  double memory;                        ///< bytes of the trajectories that a backend advances at a time
  double disk;                          ///< bytes: result_bytes
  std::string device;                   ///< what was measured, and what `run` takes under the same options
  unsigned threads;
  /// Trajectory-steps per second, measured over up to 0.3 s with copies of one trajectory. NaN when it cannot be run.
  double rate;
};

/// Checks initial states (all of up to 10^5, else a sample, for about a second at most) and measures. Throws Error(input) when
/// a state cannot start a trajectory.
Estimate estimate(const Problem& problem, const RunOptions& options = {});

}  // namespace rattleback
