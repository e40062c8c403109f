#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace rattleback {

/// The initial data of one trajectory, as given by the study.
struct InitialData {
  bool taken = true;  ///< whether the condition of the ensemble holds; if not, only the axes are those of the point
  double step = 0;
  std::vector<double> axes, parameters, q, v, p, lambda;  ///< `parameters` holds all parameters in the system's order
  std::vector<double> periods;                            ///< of the sections with a period, in order
};

/// Consecutive trajectories [first, last) of an ensemble.
struct Range {
  std::uint64_t first = 0, last = std::numeric_limits<std::uint64_t>::max();  ///< by default all trajectories

  [[nodiscard]] std::uint64_t count() const { return last - first; }
  friend bool operator==(const Range&, const Range&) = default;
};

}  // namespace rattleback
