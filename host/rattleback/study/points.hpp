#pragma once
// The system completes and checks the initial points of an ensemble.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "rattleback/base/error.hpp"
#include "rattleback/study/chunk_points.hpp"
#include "rattleback/study/ensemble.hpp"

namespace rattleback {

/// A point with all parts of the state.
struct Point {
  std::vector<double> q, v, p, lambda;
  PrepareReport report{};

  Point() = default;
  Point(const SystemEntry& system, const Ensemble& ensemble, const Study& study, const InitialData& data,
        bool in_space) {
    complete(system, ensemble, study, data, in_space);
  }
  /// Becomes the point of a study's initial data; `in_space` says whether the resulting v and p are in space or in the body. An
  /// object that is used for one point after another allocates memory for the first one only.
  void complete(const SystemEntry& system, const Ensemble& ensemble, const Study& study, const InitialData& data,
                bool in_space);
};

/// Receives a trajectory, its initial data and its completed point; null where the condition of the ensemble leaves it out.
using PointVisitor = std::function<void(std::uint64_t trajectory, const InitialData& data, const Point* point)>;
/// Receives the points of a chunk. Those of them that are to be prepared alone, a PointVisitor receives afterwards.
using ChunkVisitor = std::function<void(ChunkPoints& points)>;
/// What receives the points of some consecutive trajectories, in one thread.
struct PointVisitors {
  PointVisitor point;
  ChunkVisitor chunk;
};

/// An ensemble has a point that cannot start, or none at all: no run of it can come to its end. An input error.
class FaultyEnsemble : public Error {
 public:
  explicit FaultyEnsemble(const std::string& message) : Error(Kind::input, message) {}
};

/// What a check has found.
struct PointSample {
  std::uint64_t count;  ///< of points, with those that the condition of the ensemble leaves out
  std::uint64_t left_out;
  std::uint64_t steps;               ///< of all trajectories together
  std::optional<std::uint64_t> one;  ///< a trajectory that is taken, near the middle of the ensemble
};

/// Throws Error(input) when the ensemble does not use an axis or a column of its file, and when its condition leaves out a trajectory whose
/// states are to be kept.
void check_ensemble(const Problem& problem, const Ensemble& ensemble);
/// Throws FaultyEnsemble when the condition of the ensemble leaves out so many points, and these are all.
void refuse_none(const Problem& problem, const Ensemble& ensemble, std::uint64_t left_out);
/// Completes and checks the points of a range. Throws FaultyEnsemble naming the first trajectory that cannot start. With a kernel the
/// points are prepared in packs. `in_space` says whether v and p of the points are in space or in the body. Each point that can start goes
/// to visitors; `make_visitors` is called from any thread, once for some chunks.
PointSample check_range(const Problem& problem, const Ensemble& ensemble, const Range& range, unsigned threads,
                        const std::optional<StartKernel>& kernel, bool in_space,
                        const std::function<PointVisitors()>& make_visitors);
/// Does all of these for the ensemble's range. `tick` is called from any thread, for each point
/// that is prepared by itself and for each chunk of those that packs prepare.
PointSample check_points(const Problem& problem, const Ensemble& ensemble, unsigned threads,
                         const std::optional<StartKernel>& kernel = {}, const std::function<void()>& tick = {});

/// What a backend finds of the points of a range.
struct FoundPoints {
  std::uint64_t left_out = 0;          ///< of those that are not in the list
  std::uint64_t steps_per_sample = 0;  ///< of all others together, where the step varies
  std::vector<std::uint64_t> alone;    ///< trajectories that are to be prepared by themselves, in ascending order
  bool too_many = false;               ///< there are more of these, and the list is not complete
};
/// Like check_points, where a backend has prepared the points of the ensemble's range. `visit` is called with those that are prepared by
/// themselves. Returns nothing where these are too many.
std::optional<PointSample> check_found_points(const Problem& problem, const Ensemble& ensemble, unsigned threads,
                                              const std::function<FoundPoints()>& find, const PointVisitor& visit);

/// Like check_points, but for at most 10^5 trajectories and about one second. A larger ensemble is sampled: the corners
/// of the axes, and one random trajectory from each of many equal parts of the ensemble.
PointSample check_some_points(const Problem& problem, const Ensemble& ensemble, unsigned threads);

}  // namespace rattleback
