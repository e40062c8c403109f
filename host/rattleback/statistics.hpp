#pragma once
// Statistics over the ensemble: the upper part of the reduction tree, and exact quantiles.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rattleback/ensemble/reduction.hpp"

namespace rattleback {

/// A statistic of the moments; NaN when no trajectory is good.
double statistic_of(const Moments& moments, const std::string& name);

/// Combines chunks in a binary tree over their index: neighbours first, level by level, an unpaired node moves up as it is.
/// Chunks arrive in order; one partial result per level waits for its right neighbour.
class ChunkTree {
 public:
  void push(const Moments& chunk);
  [[nodiscard]] Moments result() const;

 private:
  std::uint64_t pushed_ = 0;
  std::vector<Moments> waiting_;
};

/// All values of the observables that need quantiles, in memory or, above a quarter of a gigabyte, in an unnamed temporary
/// file.
class ValueStore {
 public:
  /// `series` = samples x observables, each of `trajectories` values.
  ValueStore(std::uint64_t series, std::uint64_t trajectories);
  ~ValueStore();
  ValueStore(const ValueStore&) = delete;
  ValueStore& operator=(const ValueStore&) = delete;

  void write(std::uint64_t series, std::uint64_t first, const double* values, std::uint64_t count);
  /// Quantiles at `levels` with linear interpolation between order statistics (NumPy's default), NaN values left out.
  [[nodiscard]] std::vector<double> quantiles(std::uint64_t series, const std::vector<double>& levels) const;

 private:
  std::uint64_t trajectories_;
  std::vector<double> memory_;
  int file_ = -1;
};

}  // namespace rattleback
