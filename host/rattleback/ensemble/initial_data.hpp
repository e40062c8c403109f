#pragma once

#include <vector>

namespace rattleback {

/// The initial data of one trajectory, as given by the study.
struct InitialData {
  double step = 0;
  std::vector<double> axes, parameters, q, v, p, lambda;  ///< `parameters` holds all parameters in the system's order
};

}  // namespace rattleback
