#pragma once
// Estimates the cost of a run.

#include <cstdint>
#include <string>

#include "rattleback/run/run.hpp"

namespace rattleback {

struct Estimate {
  std::uint64_t trajectories, checked;  ///< number of all initial states, and of the checked ones
  double trajectory_steps;              ///< total; an estimate from the checked states where the step varies
  double memory;                        ///< bytes of the trajectories that a backend advances at a time
  double disk;                          ///< bytes: result_bytes
  std::string device;                   ///< the measured device; `run` uses the same device under the same options
  unsigned threads;
  /// Trajectory-steps per second, measured for up to 0.3 s with copies of one trajectory. NaN when the measurement
  /// fails.
  double rate;
};

/// Checks initial states and measures the rate. Up to 10^5 states are all checked; otherwise a sample is checked. The
/// check takes about one second at most. Throws Error(input) when a state cannot start a trajectory.
Estimate estimate(const Problem& problem, const RunOptions& options = {});

}  // namespace rattleback
