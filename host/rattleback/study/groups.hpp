#pragma once
// Sets of trajectories with statistics of their own.

#include <cstdint>
#include <vector>

#include "rattleback/study/grid.hpp"

namespace rattleback {

/// The sets of an ensemble. A cell has the trajectories with one value of every axis of `group_by`; without such axes the
/// ensemble is one cell. A cell has blocks of equal size, from whose scatter errors come: the randomisations of a
/// quasi-random ensemble or, for fits that are not linear, 32 blocks of the jackknife. Set = cell * blocks + block.
class Groups {
 public:
  /// `grid` is the grid of the study, and must outlive the object.
  Groups(const Study& study, const Grid& grid);

  [[nodiscard]] const std::vector<std::uint64_t>& shape() const {
    return shape_;
  }  ///< number of values of each axis of `group_by`
  /// Returns the index, among the axes of the study, of the axis `i` of `group_by`.
  [[nodiscard]] std::size_t axis(std::size_t i) const { return axes_[i]; }
  [[nodiscard]] std::uint64_t cells() const { return cells_; }
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  [[nodiscard]] std::uint64_t sets() const { return cells_ * blocks_; }
  /// Returns whether blocks are independent randomisations, each an estimate of its own.
  [[nodiscard]] bool randomised() const { return randomised_; }
  [[nodiscard]] std::uint64_t cell_of(std::uint64_t trajectory) const;
  [[nodiscard]] std::uint64_t block_of(std::uint64_t trajectory) const;
  [[nodiscard]] std::uint64_t set_of(std::uint64_t trajectory) const {
    return cell_of(trajectory) * blocks_ + block_of(trajectory);
  }

 private:
  const Grid& grid_;
  std::vector<std::size_t> axes_;  ///< indices of the axes of group_by
  std::vector<std::uint64_t> shape_;
  std::uint64_t cells_ = 1, blocks_ = 1;
  bool randomised_ = false;
};

}  // namespace rattleback
