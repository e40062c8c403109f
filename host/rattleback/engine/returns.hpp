#pragma once
// Statistics of a list of numbers in order, whatever the pieces in which they come: return times of sections, times of stops.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/statistics.hpp"

namespace rattleback {

/// The moments of numbers, by the tree of sums over chunks of them.
class MomentsInOrder {
 public:
  explicit MomentsInOrder(const IsaFunctions& functions);
  void add(double number);
  [[nodiscard]] Moments operator()() const;

 private:
  [[nodiscard]] Moments reduced() const;

  const IsaFunctions& functions_;
  ChunkTree<Moments> tree_;
  std::array<double, chunk_size> chunk_;  ///< the numbers that wait; NaN behind them
  std::size_t size_ = 0;
};

/// What the result says of the times between the crossings of a section, of all trajectories.
class ReturnStatistics {
 public:
  ReturnStatistics(const Study::Section& section, const IsaFunctions& functions);
  /// Adds return times, in the order of the trajectories; the first crossing of each has none, which is NaN.
  void add(std::span<const double> times);
  /// Creates and writes the datasets below /sections/NAME/returns.
  void write(ResultSink& sink) const;

 private:
  const Study::Section& section_;
  const Study::Section::Returns& returns_;
  MomentsInOrder moments_;
  std::vector<double> times_;          ///< for quantiles
  std::vector<std::uint64_t> counts_;  ///< of the histogram: below, its bins, above
};

}  // namespace rattleback
