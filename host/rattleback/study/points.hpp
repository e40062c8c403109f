#pragma once
// The system completes and checks the initial points of an ensemble.

#include <vector>

#include "rattleback/study/ensemble.hpp"

namespace rattleback {

/// A point with all parts of the state.
struct Point {
  std::vector<double> q, v, p, lambda;
  PrepareReport report{};

  /// The point of a study's initial data; `in_space` says whether the resulting v and p are in space or in the body.
  Point(const SystemEntry& system, const Ensemble& ensemble, const Study& study, const InitialData& data,
        bool in_space);
};

/// Completes and checks all points of the ensemble's range. Throws Error(input) naming the first trajectory that cannot start. Returns the
/// total number of their steps.
std::uint64_t check_points(const Problem& problem, const Ensemble& ensemble, unsigned threads);

/// The number of checked trajectories and the total number of their steps.
struct PointSample {
  std::uint64_t count, steps;
};
/// Like check_points, but for at most 10^5 trajectories and about one second. A larger ensemble is sampled: the corners
/// of the axes, and one random trajectory from each of many equal parts of the ensemble.
PointSample check_some_points(const Problem& problem, const Ensemble& ensemble, unsigned threads);

}  // namespace rattleback
