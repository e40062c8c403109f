#pragma once
// Initial points of an ensemble, completed by the system and checked.

#include <vector>

#include "rattleback/problem/ensemble.hpp"

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
std::uint64_t check_points(const Problem& problem, const Ensemble& ensemble, unsigned threads);

/// Of check_some_points: how many, and the number of steps of these together.
struct PointSample {
  std::uint64_t count, steps;
};
/// The same for at most 10^5 trajectories and about one second: the corners of the axes, and one at random out of each of as
/// many equal parts of the ensemble as there is room for. All of a smaller ensemble.
PointSample check_some_points(const Problem& problem, const Ensemble& ensemble, unsigned threads);

}  // namespace rattleback
