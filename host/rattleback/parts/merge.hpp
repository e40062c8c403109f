#pragma once
// Merges parts into the result of the whole ensemble.

#include <functional>
#include <stop_token>
#include <string>

#include "rattleback/parts/folder.hpp"
#include "rattleback/results/result.hpp"

namespace rattleback {

struct MergeOptions {
  bool linked = false;                                ///< data of trajectories stay in the parts, as virtual datasets
  unsigned threads = 0;                               ///< for statistics; 0: all cores
  std::string job = {};                               ///< the attribute `job` of the result; empty: none
  std::function<void(const std::string&)> warn = {};  ///< receives doubts about the numbers
  std::stop_token stop = {};                          ///< ends the merge; the parts stay as they are
};

/// Merges all parts of a folder into its result, which gets the bits of a single run. Reads every part twice: the first time
/// against its checksum. A linked result reads the statistics only, and needs the parts from then on. The parts stay. Memory holds blocks of a few MiB besides the statistics. Throws Error(input) when
/// parts are missing, damaged or of another study, and when the result cannot be written; Error(runtime) on a full disk.
/// Returns the sums over all parts.
Summary merge(const PartsFolder& folder, const MergeOptions& options);

}  // namespace rattleback
