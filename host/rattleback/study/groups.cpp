#include "rattleback/study/groups.hpp"

#include <algorithm>

#include "rattleback/base/random.hpp"

namespace rattleback {
namespace {

constexpr std::uint64_t jackknife_blocks = 32;

bool needs_jackknife(const Study& study) {
  return std::ranges::any_of(study.fits, [](const Fit& fit) { return fit.model != Fit::Model::line; });
}

}  // namespace

Groups::Groups(const Study& study, const Grid& grid) : grid_(grid) {
  const std::vector<Axis> axes = components_of(study.ensemble.axes);
  for (const std::string& name : study.ensemble.group_by) {
    const auto found = std::ranges::find(axes, name, &Axis::name);
    axes_.push_back(static_cast<std::size_t>(found - axes.begin()));
    shape_.push_back(grid.axis_count(axes_.back()));
    cells_ *= shape_.back();
  }
  randomised_ = grid.randomisations() > 1;
  blocks_ = randomised_ ? grid.randomisations() : needs_jackknife(study) ? jackknife_blocks : 1;
}

std::uint64_t Groups::cell_of(std::uint64_t trajectory) const {
  std::uint64_t cell = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) cell = cell * shape_[i] + grid_.axis_position(axes_[i], trajectory);
  return cell;
}

std::uint64_t Groups::block_of(std::uint64_t trajectory) const {
  if (blocks_ == 1) return 0;
  if (randomised_) return grid_.randomisation(trajectory);
  // Of 32 neighbours each block has one. The order is turned at random, so that no axis goes along with the blocks.
  const Draw turn(0, 0xffffffff, trajectory / blocks_);
  return (trajectory + static_cast<std::uint64_t>(turn.uniform() * static_cast<double>(blocks_))) % blocks_;
}

}  // namespace rattleback
