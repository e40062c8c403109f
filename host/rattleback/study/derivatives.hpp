#pragma once
// By what a study has derivatives, and the derivatives of its initial data.

#include <memory>
#include <vector>

#include "rattleback/study/points.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {

/// The derivative of what a trajectory starts from.
struct StartDerivative {
  std::vector<double> tangent;     ///< (dq, dp, dlambda)
  std::vector<double> parameters;  ///< of the system
  double step = 0.0;
};

/// Computes the derivatives of initial states, parameters and step size by all that the study names. Threads must not share an object.
class StartDerivatives {
 public:
  StartDerivatives(const Problem& problem, const Ensemble& ensemble);
  ~StartDerivatives();

  /// Returns the derivatives in the order of Problem::derivatives, for a point that has been completed from the data; `in_space` says
  /// whether its v and p are in space.
  [[nodiscard]] const std::vector<StartDerivative>& operator()(const InitialData& data, const Point& point,
                                                               bool in_space);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rattleback
