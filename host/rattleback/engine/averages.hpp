#pragma once
// The averages over the time of trajectories (loop/averages.hpp), from their sums, and their statistics over the ensemble.

#include <cstdint>
#include <string>
#include <vector>

#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/stops.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

class StateReader;
class StateWriter;

/// The averages of the trajectories of a tile that is at the end, [average][trajectory]. Those of a trajectory that failed, is left out
/// or was stopped are NaN: the weights of its steps are those of a longer time.
struct TileAverages {
  std::vector<std::vector<double>> values;
  std::vector<std::vector<double>> digits;  ///< -log10 of how far the averages of the two halves of the time differ

  /// `ends` are empty for a study without stops.
  TileAverages(const Plan& plan, const Tile& tile, const std::vector<TrajectoryEnd>& ends);
  /// Writes them from row `first` of their datasets on.
  void write(ResultSink& sink, const Study& study, std::uint64_t first) const;
};

/// The statistics of averages over the ensemble. Trajectories are added in order.
class AverageStatistics {
 public:
  explicit AverageStatistics(const Study& study) : averages_(study.averages), values_(study.averages.size()) {}

  /// Creates the datasets of the averages of single trajectories.
  void create_values(ResultSink& sink, std::uint64_t trajectories) const;
  void add(const TileAverages& averages);
  /// Creates and writes the statistics.
  void write(ResultSink& sink, const IsaFunctions& functions) const;

  void save(StateWriter& out) const;
  void restore(const StateReader& in);
  /// Adds the trajectories of a part, which come next. Throws std::out_of_range when the part has another layout.
  void append(const StateReader& in);

 private:
  const std::vector<Study::Average>& averages_;
  std::vector<std::vector<double>> values_;  ///< [average]: of the trajectories that have one
};

}  // namespace rattleback
