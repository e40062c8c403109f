#pragma once
// Trajectories that end where a stop of the study says so: their final states, and their statistics.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rattleback/engine/sections.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/statistics.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

class StateReader;
class StateWriter;

/// The trajectories of a tile that stops have ended, as the tile's crossings say.
class StoppedTrajectories {
 public:
  /// `store` has the crossings of the tile, whose end it does not know yet; null for a study without sections and stops.
  StoppedTrajectories(const Study& study, const Tile& tile, const CrossingStore* store);

  /// Returns the row of the crossing (CrossingRow) that ended trajectory k of the tile; null where none did.
  [[nodiscard]] const double* row(std::uint64_t k) const { return rows_.empty() ? nullptr : rows_[k]; }
  /// Returns 1 + the index of the stop that ended trajectory k; 0 where none did.
  [[nodiscard]] std::uint32_t stop(std::uint64_t k) const;

 private:
  std::size_t sections_;
  std::vector<std::vector<double>> crossings_;  ///< of each stop
  std::vector<const double*> rows_;             ///< of each trajectory; empty for a study without stops
};

/// What is known of a trajectory at its end.
struct TrajectoryEnd {
  std::uint32_t stop;    ///< 1 + the index of the stop that ended it; 0 where none did
  bool failed;           ///< its steps failed, or it is left out
  double time;           ///< at which it was stopped
  std::uint64_t sample;  ///< the first sample at which a trajectory that was stopped or failed does not count
  std::uint32_t beyond;  ///< the stops beyond whose surface it started, as bits
  std::uint32_t fate;    ///< 1 + the index of its fate; 0 for none
};

/// Returns the share of `count` in `all` independent trajectories. Without trajectories of both kinds the spread is unknown.
[[nodiscard]] ValueWithError share_of(std::uint64_t count, std::uint64_t all);
/// Writes numbers to a dataset, and their errors to the one with "_error" behind its name.
void write_with_errors(ResultSink& sink, const std::string& path, const std::vector<ValueWithError>& estimates);

/// How many trajectories each stop has ended by each sample, and when. Trajectories are added in order.
class StopStatistics {
 public:
  StopStatistics(const Study& study, std::uint64_t samples);

  void add(const TrajectoryEnd& end);

  void create(ResultSink& sink) const;
  /// Writes the statistics of `trajectories` trajectories. `warn` receives how many start beyond a surface.
  void write(ResultSink& sink, std::uint64_t trajectories, const IsaFunctions& functions,
             const std::function<void(const std::string&)>& warn) const;

  void save(StateWriter& out) const;
  void restore(const StateReader& in);
  /// Adds the trajectories of a part, which come next. Throws std::out_of_range when the part has another layout.
  void append(const StateReader& in);

 private:
  const std::vector<Study::Stop>& stops_;
  std::uint64_t samples_;
  std::vector<std::uint64_t> counts_;       ///< [stop][sample]: ended between the sample before and this one
  std::vector<std::uint64_t> failed_;       ///< [sample]
  std::vector<std::uint64_t> beyond_;       ///< [stop]
  std::vector<std::vector<double>> times_;  ///< [stop]: of the trajectories that it ended, in order
};

}  // namespace rattleback
