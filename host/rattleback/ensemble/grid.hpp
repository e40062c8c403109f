#pragma once
// The Cartesian product of a study's axes.

#include <cstdint>
#include <vector>

#include "rattleback/study/study.hpp"

namespace rattleback {

/// Values of the axes per trajectory, last axis fastest. The random axes without draws of their own are drawn jointly:
/// together they are one factor of the product, at the position of the first of them.
class Grid {
 public:
  /// Throws Error(input) on axes that make no sense by themselves. No axes give one trajectory.
  explicit Grid(const Study& study);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] double value(std::size_t axis, std::uint64_t trajectory) const;
  /// The trajectories at an end of every axis, ascending: 2^k where k axes have more than one value, at most 2^12.
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
