#pragma once
// The Cartesian product of a study's axes.

#include <cstdint>
#include <vector>

#include "rattleback/study/axis_numbers.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

struct IsaFunctions;

/// Values of the axes for each trajectory. The last axis varies fastest. Random axes without `draws` are drawn jointly:
/// these axes form one factor of the product, at the position of the first such axis. The quasi-random ones among them
/// are the coordinates of one point set. The components of a vector are axes; those of a random one with `draws` are a factor together.
class Grid {
 public:
  /// Throws Error(input) on invalid axes. A study without axes has one trajectory.
  explicit Grid(const Study& study);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::size_t axes() const { return factors_.size(); }
  /// Returns what the values of an axis come from. Its lists are those of this object.
  [[nodiscard]] AxisNumbers numbers(std::size_t axis) const;
  [[nodiscard]] double value(std::size_t axis, std::uint64_t trajectory) const;
  /// Computes the values for trajectories [first, first + count), at most chunk_size: the same bits, faster. `values` has room for
  /// chunk_size numbers.
  void values(std::size_t axis, std::uint64_t first, std::uint64_t count, const IsaFunctions& functions,
              double* values) const;
  /// Returns the number of values of a range or list; 0 for a random axis.
  [[nodiscard]] std::uint64_t axis_count(std::size_t axis) const;
  /// Returns all values of a range or list.
  [[nodiscard]] std::vector<double> axis_values(std::size_t axis) const;
  /// Returns the index of the trajectory's value in the range or list; the index of the draw for a random axis.
  [[nodiscard]] std::uint64_t axis_position(std::size_t axis, std::uint64_t trajectory) const;

  /// Returns whether axes are drawn jointly from a quasi-random point set.
  [[nodiscard]] bool quasi_random() const { return quasi_random_; }
  /// Returns the number of independent randomisations of that point set; 1 without one. Joint draw d belongs to
  /// randomisation d / (draws / randomisations).
  [[nodiscard]] std::uint64_t randomisations() const { return randomisations_; }
  [[nodiscard]] std::uint64_t randomisation(std::uint64_t trajectory) const;
  /// Returns the trajectories at an end of every axis, in ascending order: 2^k where k axes have more than one value,
  /// at most 2^12.
  [[nodiscard]] std::vector<std::uint64_t> corners() const;

 private:
  /// The numbers of an axis, but for the addresses in them.
  struct Factor : AxisNumbers {
    std::vector<double> list;   ///< the values
    std::size_t dimension = 0;  ///< of the quasi-random points
  };
  [[nodiscard]] static Factor factor(const Axis& axis, std::uint64_t joint_draws);
  void join(const Study& study, const std::vector<Axis>& axes);

  std::vector<Factor> factors_;
  std::uint64_t size_ = 1, randomisations_ = 1;
  std::uint64_t joint_stride_ = 1, joint_block_ = 0;  ///< the block is that of the quasi-random axes
  bool quasi_random_ = false;
};

}  // namespace rattleback
