#pragma once
// Initial points of an ensemble, completed by the system and checked.

#include <vector>

#include "rattleback/study.hpp"

namespace rattleback {

/// A point with all its parts.
struct Point {
  std::vector<double> q, v, p, lambda;
  PrepareReport report{};

  /// v and p in space or in the body.
  Point(const SystemEntry& system, const Ensemble& ensemble, bool project, const InitialData& data, bool in_space);
};

/// Completes all points. Throws Error(input) naming the first trajectory that cannot start; returns the number of steps of
/// all trajectories together.
std::uint64_t check_points(const Study& study, const Ensemble& ensemble, unsigned threads);

}  // namespace rattleback
