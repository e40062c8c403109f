#pragma once
// How an ensemble is cut into parts.

#include <cstdint>
#include <string>

#include "rattleback/study/initial_data.hpp"

namespace rattleback {

struct Problem;

/// Parts of consecutive chunks, numbered from 1, of about the same size. Where a part has 64 chunks or more, it begins at a
/// multiple of a power of two, so that it consists of few nodes of the reduction tree; sizes then differ by at most 1/32. When
/// the chunks are 2^k times the parts, each part is one node.
class Cut {
 public:
  /// Throws Error(input) when there are no trajectories for every part, or more parts than files in a folder.
  Cut(std::uint64_t trajectories, std::uint64_t parts);

  [[nodiscard]] std::uint64_t trajectories() const { return trajectories_; }
  [[nodiscard]] std::uint64_t parts() const { return parts_; }
  /// Returns the trajectories of part `number`, from 1.
  [[nodiscard]] Range range(std::uint64_t number) const;
  /// Returns the name of a part in files: "003-of-064".
  [[nodiscard]] std::string name(std::uint64_t number) const;

 private:
  std::uint64_t trajectories_, parts_, chunks_, multiple_ = 1;
};

/// Returns the number of trajectories of a study. A file of initial states is not read whole for that, unless it is CSV.
[[nodiscard]] std::uint64_t trajectories_of(const Problem& problem);

/// Returns the largest number of parts: one per chunk, and no more files than a folder should have.
[[nodiscard]] std::uint64_t most_parts(std::uint64_t trajectories);

}  // namespace rattleback
