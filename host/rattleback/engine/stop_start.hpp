#pragma once
// What a trajectory with stops starts with, on the host and on a GPU.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/real/config.hpp"

namespace rattleback {

/// The stops of a run, with rows of a chunk. The values of their surfaces are in the rows from `values` on, and the crossings that are left
/// until each stop in the rows behind them (loop/surface.hpp).
struct StopStarts {
  int count = 0, values = 0;
  int beyond = 0;  ///< row of the stops beyond whose surface a trajectory starts, as bits
  double crossings[max_surfaces] = {};
  int direction[max_surfaces] = {};  ///< 0 for a stop that takes crossings of a section

  /// Sets the rows of a trajectory, from the values of the surfaces at its start.
  RB_HD void set(double* rows) const {
    unsigned bits = 0;
    for (int s = 0; s < count; ++s) {
      rows[(values + count + s) * row_size] = crossings[s];
      if (direction[s] * rows[(values + s) * row_size] > 0.0) bits |= 1u << s;
    }
    rows[beyond * row_size] = bits;
  }
};

}  // namespace rattleback
