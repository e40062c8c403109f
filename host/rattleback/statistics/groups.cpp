#include "rattleback/statistics/groups.hpp"

#include <algorithm>
#include <cmath>

#include "rattleback/base/random.hpp"

namespace rattleback {
namespace {

constexpr std::uint64_t jackknife_blocks = 32;

bool needs_jackknife(const Study& study) {
  return std::ranges::any_of(study.fits, [](const Fit& fit) { return fit.model != Fit::Model::line; });
}

}  // namespace

Groups::Groups(const Problem& problem, const Ensemble& ensemble) : ensemble_(ensemble) {
  const std::vector<std::string>& names = ensemble.axis_names();
  for (const std::string& name : problem.study.ensemble.group_by) {
    axes_.push_back(static_cast<std::size_t>(std::ranges::find(names, name) - names.begin()));
    shape_.push_back(ensemble.axis_count(axes_.back()));
    cells_ *= shape_.back();
  }
  randomised_ = ensemble.randomisations() > 1;
  blocks_ = randomised_ ? ensemble.randomisations() : needs_jackknife(problem.study) ? jackknife_blocks : 1;
}

std::uint64_t Groups::cell_of(std::uint64_t trajectory) const {
  std::uint64_t cell = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    cell = cell * shape_[i] + ensemble_.axis_position(axes_[i], trajectory);
  return cell;
}

std::uint64_t Groups::block_of(std::uint64_t trajectory) const {
  if (blocks_ == 1) return 0;
  if (randomised_) return ensemble_.randomisation(trajectory);
  // Of 32 neighbours each block has one. The order is turned at random, so that no axis goes along with the blocks.
  const Draw turn(0, 0xffffffff, trajectory / blocks_);
  return (trajectory + static_cast<std::uint64_t>(turn.uniform() * static_cast<double>(blocks_))) % blocks_;
}

double scatter_error(const std::vector<double>& x) {
  const double count = static_cast<double>(x.size());
  double mean = 0.0, squares = 0.0;
  for (const double value : x) mean += value / count;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count * (count - 1.0)));
}

}  // namespace rattleback
