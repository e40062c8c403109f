#pragma once
// One trajectory's initial data.

#include <vector>

namespace rattleback {

/// One trajectory's initial data as the study states it.
struct InitialData {
  double step = 0;
  std::vector<double> axes, parameters, q, v, p, lambda;  ///< parameters: all, in the system's order
};

}  // namespace rattleback
