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
  /// Where a run goes on along the orbit of an earlier one, whose steps follow a density: its q, p and lambda, then its numbers
  /// (orbit_numbers). Empty otherwise.
  std::vector<double> orbit;
};

/// The numbers of an orbit whose steps follow a density (loop/clock.hpp), besides its state: datasets of /final/orbit.
inline constexpr const char* orbit_numbers[] = {"time", "time_rounding", "density", "density_error"};

/// Consecutive trajectories [first, last) of an ensemble.
struct Range {
  std::uint64_t first = 0, last = std::numeric_limits<std::uint64_t>::max();  ///< by default all trajectories

  [[nodiscard]] std::uint64_t count() const { return last - first; }
  friend bool operator==(const Range&, const Range&) = default;
};

}  // namespace rattleback
