#pragma once
// Statistics over the ensemble: the upper part of the reduction tree, and exact quantiles.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/scratch.hpp"
#include "rattleback/loop/reduction.hpp"
#include "rattleback/study/study.hpp"
#include "rattleback/study/with_error.hpp"

namespace rattleback {

/// A statistic of the values x, or of the errors x - r, of all trajectories. Validation, messages, help and evaluation
/// use the table of these entries.
struct StatisticEntry {
  const char* name;
  const char* text;
  double (*of)(const Moments& moments);     ///< called only for moments of at least one value
  double (*error)(const Moments& moments);  ///< the standard error, for moments of at least two values; null: none
};
std::span<const StatisticEntry> statistics();
/// Returns the statistic of this name, or null.
const StatisticEntry* find_statistic(std::string_view name);
std::vector<std::string> statistic_names();

/// Returns the named statistic of the moments; NaN without values.
double statistic_of(const Moments& moments, const std::string& name);
/// Returns whether a statistic has a standard error. An extreme value of a sample has none.
bool has_error(const std::string& statistic);
/// Returns the standard error of the named statistic, as if the trajectories were independent draws; NaN for fewer than
/// two values, and for a statistic without error. The errors hold for every distribution with finite fourth moments, for
/// many trajectories: mean and mse sd / sqrt(c), std and rms by linearisation.
double error_of(const Moments& moments, const std::string& statistic);
/// Returns the number of Gaussian errors x - r whose mse would have the same relative error: 2 (mse / mse_error)^2. NaN
/// for fewer than two values, and when all errors are equal.
double effective_number(const Moments& moments);
/// Returns the largest (x - r)^2 over the sum of all, from 0 to 1; NaN where all errors are 0.
double largest_share(const Moments& moments);

/// Returns t/2, where a number with Student's distribution of `freedom` degrees of freedom lies in [-t, t] as often as a
/// normal one in [-2, 2], 95.45 % of the time: 6.98, 2.26, 1.65, .., 1.09 for 15. A standard error from the scatter of a few
/// estimates times this factor makes an interval of two errors as wide as it must be. NaN for freedom = 0.
[[nodiscard]] double student_factor(std::uint64_t freedom);
/// Returns the error of the mean of R independent estimates: student_factor(R - 1) sqrt(sum (x - mean)^2 / (R (R - 1))).
[[nodiscard]] double scatter_error(const std::vector<double>& estimates);

/// Returns the covariance of x and y over the trajectories that count; NaN when no trajectory counts.
double covariance_of(const CoMoments& moments);
/// Returns the standard error of the covariance; NaN for fewer than two pairs.
double covariance_error(const CoMoments& moments);
/// Returns the correlation of x and y; NaN when x or y does not vary.
double correlation_of(const CoMoments& moments);
/// Returns the standard error of the correlation by linearisation in the moments of degree four, which assumes no
/// distribution.
double correlation_error(const CoMoments& moments);

/// Returns the quantiles of the finite values at `levels`, with linear interpolation between order statistics (NumPy's
/// default). The error is a quarter of the distance between the order statistics that bound the interval of 95 %, from
/// the binomial distribution of the number of values below, which assumes no distribution of the values (the exact
/// factor is 2 times 1.96). The error is NaN where the interval leaves the sample.
std::vector<ValueWithError> quantiles_of(std::vector<double> values, const std::vector<double>& levels);

/// Returns the quantiles of the union of blocks, which are independent samples of one distribution. The error begins with the
/// shares of the values of each block that lie below the quantile: their scatter_error, at least that of steps of one value.
/// It is a quarter of the distance between the quantiles of the union at the level +- two of these errors (R. S. Woodruff, J.
/// Amer. Stat. Assoc. 47 (1952) 635-646). The error is NaN where the interval leaves the sample.
std::vector<ValueWithError> quantiles_of_blocks(std::vector<std::vector<double>> blocks,
                                                const std::vector<double>& levels);

/// Combines chunks in a binary tree over the chunk index. Neighbours combine level by level; an unpaired node moves up
/// unchanged. Chunks arrive in order. At most one partial result per level waits for the right neighbour. A tree may begin
/// at a later chunk: it then has the nodes of the whole tree that lie in its chunks, and waits for no earlier chunk.
template <class Node>
class ChunkTree {
 public:
  /// An empty tree whose first chunk is `begin`.
  explicit ChunkTree(std::uint64_t begin = 0) : begin_(begin), end_(begin) {}
  /// Restores a tree of the chunks [begin, end), with the nodes that wait.
  ChunkTree(std::uint64_t begin, std::uint64_t end, std::vector<Node> waiting)
      : begin_(begin), end_(end), waiting_(std::move(waiting)) {}

  void push(const Node& chunk) { push(chunk, 0); }

  /// Adds the tree of the next chunks: next.begin() is end().
  void append(const ChunkTree& next) {
    const std::vector<int> levels = levels_of(next.begin_, next.end_);
    for (std::size_t i = 0; i < levels.size(); ++i) push(next.waiting_[i], levels[i]);
  }

  [[nodiscard]] Node result() const {
    Node node = waiting_.back();
    for (std::size_t i = waiting_.size() - 1; i-- > 0;) node = combine(waiting_[i], node);
    return node;
  }

  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }
  [[nodiscard]] std::uint64_t pushed() const { return end_ - begin_; }
  [[nodiscard]] const std::vector<Node>& waiting() const { return waiting_; }

  /// Returns the levels of the nodes that wait in a tree of the chunks [begin, end): the largest nodes of the whole tree
  /// that lie in these chunks, from left to right. A node of level l has 2^l chunks.
  [[nodiscard]] static std::vector<int> levels_of(std::uint64_t begin, std::uint64_t end) {
    std::vector<int> levels;
    while (begin < end) {
      const int level = std::min(std::countr_zero(begin), static_cast<int>(std::bit_width(end - begin)) - 1);
      levels.push_back(level);
      begin += std::uint64_t{1} << level;
    }
    return levels;
  }

 private:
  /// Adds a node of 2^level chunks.
  void push(const Node& next, int level) {
    Node node = next;
    const std::uint64_t end = end_ + (std::uint64_t{1} << level);
    // The node at `first` has a left neighbour when it is a right child and the neighbour lies in this tree.
    for (std::uint64_t first = end_, size = std::uint64_t{1} << level; (first & size) != 0 && first - size >= begin_;
         first -= size, size *= 2) {
      node = combine(waiting_.back(), node);
      waiting_.pop_back();
    }
    waiting_.push_back(node);
    end_ = end;
  }

  std::uint64_t begin_, end_;
  std::vector<Node> waiting_;
};

/// The bins of a histogram. Edge i is from + (to - from) i / bins. Bin i has the values with edge i <= x < edge i + 1;
/// the last one also has the right end.
class Bins {
 public:
  explicit Bins(const Histogram& histogram);
  [[nodiscard]] const std::vector<double>& edges() const { return edges_; }
  /// Adds values to counts: counts[0] below, counts[1 + i] in bin i, counts[1 + bins] above. Values that are not finite are
  /// not counted.
  void count_into(const double* values, std::uint64_t size, std::uint64_t* counts) const;

 private:
  std::vector<double> edges_;
  double scale_;  ///< bins per unit
};
/// Adds values to the counts of a histogram, as Bins does.
void count_into(const Histogram& histogram, const double* values, std::uint64_t size, std::uint64_t* counts);

/// Stores all values of the observables with quantiles, in memory or, above 256 MiB, in a file.
class ValueStore {
 public:
  /// `series` is samples x observables. Each series has `trajectories` values. An empty `file` means an unnamed file. A
  /// named file belongs to the run `run`.
  ValueStore(std::uint64_t series, std::uint64_t trajectories, const std::filesystem::path& file = {},
             const std::string& run = {});

  [[nodiscard]] std::uint64_t trajectories() const { return trajectories_; }
  void write(std::uint64_t series, std::uint64_t first, const double* values, std::uint64_t count);
  /// Returns the values of a series, one per trajectory.
  [[nodiscard]] std::vector<double> read(std::uint64_t series) const;

  /// Returns the size of the file in bytes; 0 when the values fit into memory.
  [[nodiscard]] static std::uint64_t file_bytes(std::uint64_t series, std::uint64_t trajectories) {
    const std::uint64_t bytes = series * trajectories * sizeof(double);
    return bytes <= (std::uint64_t{1} << 28) ? 0 : bytes;
  }
  /// Returns the values in memory; empty when a file has the values.
  [[nodiscard]] std::vector<double>& memory() { return memory_; }
  /// Returns the file, or null when the values are in memory.
  [[nodiscard]] ScratchFile* file() const { return file_.get(); }

 private:
  std::uint64_t trajectories_;
  std::vector<double> memory_;
  std::unique_ptr<ScratchFile> file_;
};

}  // namespace rattleback
