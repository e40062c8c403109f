#pragma once
// A point of the ensemble, ready to start a trajectory.

#include <vector>

#include "rattleback/study.hpp"

namespace rattleback {

/// A point with all its parts, completed by the system.
struct Point {
  std::vector<double> q, v, p, lambda;
  PrepareReport report{};

  Point(const SystemEntry& system, const Ensemble& ensemble, bool project, const InitialData& data)
      : q(data.q), v(data.v), p(data.p), lambda(data.lambda) {
    v.resize(static_cast<std::size_t>(system.n));
    p.resize(static_cast<std::size_t>(system.n));
    lambda.resize(static_cast<std::size_t>(system.m));
    report = system.prepare(data.parameters.data(), {q.data(), v.data(), p.data(), lambda.data()},
                            {ensemble.from_momentum(), ensemble.multiplier_given(), project});
  }
};

}  // namespace rattleback
