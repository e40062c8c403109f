#pragma once
// Computes parts.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rattleback/engine/run.hpp"
#include "rattleback/parts/folder.hpp"

namespace rattleback {

struct WorkerOptions {
  std::vector<std::uint64_t> only = {};  ///< these parts; empty: all parts
  double stale_seconds = 60.0;           ///< without a sign of life, a claim is stale after this time
  std::stop_token stop = {};             ///< leaves a checkpoint of the part, with which any worker goes on
  std::function<void(const std::string&)> tell = {};   ///< receives a line about every part
  std::function<void(const Progress&)> progress = {};  ///< of the present part
};

struct WorkerReport {
  std::uint64_t parts = 0;                                           ///< parts that this worker has finished
  std::uint64_t trajectories = 0, failed = 0, trajectory_steps = 0;  ///< of these parts
  std::map<std::string, std::uint64_t> failures = {};                ///< failures_of these parts
};

/// Takes parts until none is left: first those that nobody has, then those of workers that are gone; then duplicates the
/// slowest, where a duplicate may be ready before it. Waits while other workers have the last parts, in case one of them is lost.
/// With `only`, returns when these parts are finished, by whomever. Throws what Session::run_part throws.
WorkerReport work(Session& session, const Problem& problem, const PartsFolder& folder, const WorkerOptions& options);

}  // namespace rattleback
