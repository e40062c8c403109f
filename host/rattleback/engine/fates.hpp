#pragma once
// How many trajectories have each fate, and the maps of labels over two axes.

#include <cstdint>
#include <string>
#include <vector>

#include "rattleback/engine/stops.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/basins.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/fates.hpp"

namespace rattleback {

/// Trajectories are added in order.
class FateStatistics {
 public:
  /// Labels are kept where the study has maps, a byte for each trajectory.
  FateStatistics(const Study& study, const Ensemble& ensemble);

  void add(const TrajectoryEnd& end);

  void create(ResultSink& sink) const;
  void write(ResultSink& sink) const;

  void save(StateWriter& out) const;
  void restore(const StateReader& in);
  /// Adds the trajectories of a part, which come next. Throws std::out_of_range when the part has another layout.
  void append(const StateReader& in);

 private:
  /// Labels of trajectories, eight in a number.
  struct Labels {
    std::uint64_t size = 0;
    std::vector<std::uint64_t> packed;
    void add(std::uint32_t label);
    /// Adds labels that begin with a number of their own.
    void append(const Labels& next);
    [[nodiscard]] std::uint32_t operator[](std::uint64_t k) const;
  };
  [[nodiscard]] bool maps(const char* of) const;
  void write_map(ResultSink& sink, std::size_t i) const;

  const Study& study_;
  const Ensemble& ensemble_;
  std::vector<std::uint64_t> counts_;  ///< [fate], the first one for none, of the trajectories that have not failed
  Labels fates_, stops_;               ///< empty where no map is of them
};

}  // namespace rattleback
