#pragma once
// Estimates the cost of a run.

#include <cstdint>
#include <map>
#include <string>

#include "rattleback/engine/run.hpp"

namespace rattleback {

struct Estimate {
  std::uint64_t trajectories, checked;  ///< number of all points of the ensemble, and of the checked ones
  std::uint64_t left_out;               ///< the checked ones that the condition of the ensemble leaves out
  std::uint64_t measured;               ///< the trajectory whose copies are measured
  double trajectory_steps;              ///< total; an estimate from the checked states where the step varies
  double memory;                        ///< bytes of the trajectories that a backend advances at a time
  double disk;                          ///< bytes: result_bytes
  std::string device;                   ///< the measured device; `run` uses the same device under the same options
  unsigned threads;
  double preparation;  ///< seconds to load the kernels, and to compile the missing ones, which later runs need not do
  /// Seconds of a run after the preparation: initial states, integration, observables. Measured with copies of one
  /// trajectory. NaN when the kernels are missing.
  double seconds;
  double step_seconds;  ///< those of its steps and observables, as a run tells them
  double rate;          ///< trajectory_steps / step_seconds
  std::string fault;    ///< why the kernels are missing; otherwise empty
  /// Why copies of the trajectory failed, and how many (failures_of); empty where they went on. The time is then too short.
  std::map<std::string, std::uint64_t> failures;
};

/// Checks initial states and measures the time of a run. Up to 10^5 states are all checked; otherwise a sample is checked.
/// The check takes about one second at most, the measurement half a second, and one that compiles kernels longer. Throws
/// Error(input) when a state cannot start a trajectory, and Error(runtime) after a stop.
Estimate estimate(const Problem& problem, const RunOptions& options = {});

}  // namespace rattleback
