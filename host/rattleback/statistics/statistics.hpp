#pragma once
// Statistics over the ensemble: the upper part of the reduction tree, and exact quantiles.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/files/scratch.hpp"
#include "rattleback/loop/reduction.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// A statistic of the values x, or of the errors x - r, of all trajectories: one descriptor each. Validation, messages, help and
/// evaluation follow from the table.
struct StatisticEntry {
  const char* name;
  const char* text;
  double (*of)(const Moments& moments);  ///< for moments of at least one value
};
std::span<const StatisticEntry> statistics();
/// The statistic of that name, or null.
const StatisticEntry* find_statistic(std::string_view name);
std::vector<std::string> statistic_names();

/// The statistic of that name, of the moments; NaN where there are no values.
double statistic_of(const Moments& moments, const std::string& name);

/// Covariance of x and y over the trajectories that count; NaN when there is none.
double covariance_of(const CoMoments& moments);
/// Their correlation; NaN when one of them does not vary.
double correlation_of(const CoMoments& moments);

/// Combines chunks in a binary tree over their index: neighbours first, level by level, an unpaired node moves up as it is.
/// Chunks arrive in order; one partial result per level waits for its right neighbour.
template <class Node>
class ChunkTree {
 public:
  ChunkTree() = default;
  /// A tree in the middle of its work.
  ChunkTree(std::uint64_t pushed, std::vector<Node> waiting) : pushed_(pushed), waiting_(std::move(waiting)) {}

  void push(const Node& chunk) {
    Node node = chunk;
    // bit l of the count says that a finished subtree of 2^l chunks waits
    for (std::uint64_t bits = pushed_; bits & 1; bits >>= 1) {
      node = combine(waiting_.back(), node);
      waiting_.pop_back();
    }
    waiting_.push_back(node);
    ++pushed_;
  }

  [[nodiscard]] Node result() const {
    Node node = waiting_.back();
    for (std::size_t i = waiting_.size() - 1; i-- > 0;) node = combine(waiting_[i], node);
    return node;
  }

  [[nodiscard]] std::uint64_t pushed() const { return pushed_; }
  [[nodiscard]] const std::vector<Node>& waiting() const { return waiting_; }

 private:
  std::uint64_t pushed_ = 0;
  std::vector<Node> waiting_;
};

/// Adds values to the counts of a histogram: counts[0] below, counts[1 + i] in bin i, counts[1 + bins] above. A bin holds its
/// left end, the last one also its right end. What is not finite is not counted.
void count_into(const Histogram& histogram, const double* values, std::uint64_t size, std::uint64_t* counts);

/// All values of the observables that need quantiles, in memory or, above a quarter of a gigabyte, in a file.
class ValueStore {
 public:
  /// `series` = samples x observables, each of `trajectories` values. `file` is empty for an unnamed one; `run` is the run
  /// that a named one belongs to.
  ValueStore(std::uint64_t series, std::uint64_t trajectories, const std::filesystem::path& file = {},
             const std::string& run = {});

  void write(std::uint64_t series, std::uint64_t first, const double* values, std::uint64_t count);
  /// Quantiles at `levels` with linear interpolation between order statistics (NumPy's default), of the finite values.
  [[nodiscard]] std::vector<double> quantiles(std::uint64_t series, const std::vector<double>& levels) const;

  /// Size of the file; 0 where the values fit into memory.
  [[nodiscard]] static std::uint64_t file_bytes(std::uint64_t series, std::uint64_t trajectories) {
    const std::uint64_t bytes = series * trajectories * sizeof(double);
    return bytes <= (std::uint64_t{1} << 28) ? 0 : bytes;
  }
  /// The values when they are in memory; a file keeps itself.
  [[nodiscard]] std::vector<double>& memory() { return memory_; }
  /// The file where there is one, or null.
  [[nodiscard]] ScratchFile* file() const { return file_.get(); }

 private:
  std::uint64_t trajectories_;
  std::vector<double> memory_;
  std::unique_ptr<ScratchFile> file_;
};

}  // namespace rattleback
