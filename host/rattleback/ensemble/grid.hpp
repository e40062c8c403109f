#pragma once
// The Cartesian product of a study's axes.

#include <cstdint>
#include <vector>

#include "rattleback/study/study.hpp"

namespace rattleback {

/// Values of the axes for each trajectory. The last axis varies fastest. Random axes without `draws` are drawn jointly:
/// these axes form one factor of the product, at the position of the first such axis.
class Grid {
 public:
  /// Throws Error(input) on invalid axes. A study without axes has one trajectory.
  explicit Grid(const Study& study);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] double value(std::size_t axis, std::uint64_t trajectory) const;
  /// Returns the number of values of an axis, and the index of the value of a trajectory.
  [[nodiscard]] std::uint64_t axis_count(std::size_t axis) const { return factors_[axis].count; }
  [[nodiscard]] std::uint64_t axis_position(std::size_t axis, std::uint64_t trajectory) const {
    return trajectory / factors_[axis].stride % factors_[axis].count;
  }
  /// Returns all values of an axis that is not random.
  [[nodiscard]] std::vector<double> axis_values(std::size_t axis) const;
  /// Returns the trajectories at an end of every axis, in ascending order: 2^k where k axes have more than one value,
  /// at most 2^12.
  [[nodiscard]] std::vector<std::uint64_t> corners() const;

 private:
  struct Factor {
    Axis::Kind kind;
    double a, b;  ///< from and to, or mean and standard deviation
    std::vector<double> values;
    std::uint64_t seed, count, stride;
  };
  [[nodiscard]] static Factor factor(const Axis& axis, std::uint64_t joint_draws);

  std::vector<Factor> factors_;
  std::uint64_t size_ = 1;
};

}  // namespace rattleback
