#pragma once
// Statistics of a list of numbers in order, whatever the pieces in which they come: return times of sections, times of stops,
// averages of trajectories.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
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

/// What the result says of numbers: of the times between the crossings of a section, or of averages, of all trajectories.
class NumberStatistics {
 public:
  /// `asked` has what a study asks for: statistics, quantiles, histogram. `group` is that of the result, "/sections/NAME/returns/".
  template <class Asked>
  NumberStatistics(std::string group, const Asked& asked, const IsaFunctions& functions)
      : group_(std::move(group)),
        statistics_(asked.statistics),
        levels_(asked.quantiles),
        histogram_(asked.histogram),
        moments_(functions),
        counts_(histogram_ ? histogram_->bins + 2 : 0) {}
  /// Adds numbers, in the order of the trajectories. NaN is none: the first crossing of a trajectory has no time of return.
  void add(std::span<const double> numbers);
  /// Creates and writes the datasets of the group.
  void write(ResultSink& sink) const;

 private:
  std::string group_;
  std::vector<std::string> statistics_;
  std::vector<double> levels_;
  std::optional<Histogram> histogram_;
  MomentsInOrder moments_;
  std::vector<double> numbers_;        ///< for quantiles
  std::vector<std::uint64_t> counts_;  ///< of the histogram: below, its bins, above
};

}  // namespace rattleback
