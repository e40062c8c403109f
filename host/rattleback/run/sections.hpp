#pragma once
// Crossings of surfaces of section: located, kept, sorted.

#include <memory>

#include "rattleback/backend/backend.hpp"
#include "rattleback/files/scratch.hpp"

namespace rattleback {

/// A located crossing is a row of numbers: section, trajectory, time, direction (1 or -1), residual |g|, status of the
/// steps taken to locate it, then q, v, p, lambda.
struct CrossingRow {
  enum : int { section, trajectory, time, direction, residual, status, state };
};

/// Locates crossings to round-off: the step that crosses is taken again from the state before it with a fraction of its
/// size, which a bracketing root finder (Chandrupatla, Adv. Eng. Softw. 28 (1997) 145) drives to g = 0. So a located state
/// is what the method itself gives after that shorter step. Runs on the host whatever the backend; the bits are the same.
class CrossingLocator {
 public:
  CrossingLocator(const Plan& plan, double start, unsigned threads);

  /// Numbers of a located crossing.
  [[nodiscard]] std::uint64_t row_size() const { return row_size_; }
  /// Rows of the crossings of a tile (Plan::crossing_size numbers each), in no order.
  [[nodiscard]] std::vector<double> operator()(const Tile& tile, const std::vector<double>& crossings) const;

 private:
  struct Job;
  class Batch;

  const Plan& plan_;
  double start_;
  unsigned threads_;
  std::uint64_t row_size_;
  const CompiledPair* pair_;
  KernelArguments arguments_;  ///< one step of its own size per lane, all varying parameters in rows
};

/// Rows in a file, until all are there.
class CrossingStore {
 public:
  /// `file` is empty for an unnamed one; `run` is the run that a named one belongs to.
  CrossingStore(const std::filesystem::path& file, const std::string& run, std::uint64_t row_size,
                std::uint64_t sections)
      : file_(file, run, "crossings"), row_size_(row_size), counts_(sections) {}

  void append(const std::vector<double>& rows);
  /// The rows that follow are of the next tile.
  void end_tile() { tile_ends_.push_back(size_); }

  [[nodiscard]] std::uint64_t count(std::uint64_t section) const { return counts_[section]; }
  [[nodiscard]] std::uint64_t tiles() const { return tile_ends_.size(); }
  /// Rows of a tile and section, ordered by trajectory and time.
  [[nodiscard]] std::vector<double> sorted(std::uint64_t tile, std::uint64_t section) const;

  /// Numbers that a checkpoint keeps: rows, rows per section, ends of the tiles.
  [[nodiscard]] std::vector<std::uint64_t> position() const;
  void restore(const std::vector<std::uint64_t>& position);
  [[nodiscard]] ScratchFile& file() { return file_; }

 private:
  ScratchFile file_;
  std::uint64_t row_size_, size_ = 0;
  std::vector<std::uint64_t> counts_, tile_ends_;
};

}  // namespace rattleback
