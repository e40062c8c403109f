#include "rattleback/ensemble/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rattleback/base/message.hpp"
#include "rattleback/base/random.hpp"
#include "rattleback/expression/expression.hpp"

namespace rattleback {
namespace {

/// TOML stores counts and seeds as signed integers.
constexpr std::uint64_t max_integer = std::numeric_limits<std::int64_t>::max();

bool is_random(const Axis& axis) { return axis.kind == Axis::Kind::uniform || axis.kind == Axis::Kind::normal; }
bool is_joint(const Axis& axis) { return is_random(axis) && !axis.draws; }

}  // namespace

Grid::Factor Grid::factor(const Axis& axis, std::uint64_t joint_draws) {
  const auto fail = [&](std::string_view message) {
    input_error(axis.where, fmt::format("axis {} {}", quote(axis.name), message));
  };
  const auto number = [&](const Value& value, std::string_view key) {
    return constant(value, fmt::format("{} of axis '{}'", key, axis.name));
  };
  Factor result{axis.kind, 0, 0, {}, axis.seed, 0, 1};
  switch (axis.kind) {
    case Axis::Kind::range:
      result.count = axis.count;
      if (axis.count == 0) fail("is empty (count = 0); count must be at least 1");
      break;
    case Axis::Kind::values:
      result.values = axis.values;
      result.count = axis.values.size();
      if (axis.values.empty()) fail("is empty (values = []); give at least one value");
      for (const double value : axis.values) {
        if (!std::isfinite(value)) fail(fmt::format("has a value that is not finite ({})", value));
      }
      break;
    case Axis::Kind::uniform:
    case Axis::Kind::normal:
      result.count = axis.draws.value_or(joint_draws);
      if (result.count == 0) fail("is empty (draws = 0); draws must be at least 1");
      if (axis.seed > max_integer) fail("has a seed above 2^63 - 1");
      break;
  }
  if (axis.kind == Axis::Kind::normal) {
    result.a = number(axis.mean, "mean");
    result.b = number(axis.std, "std");
    if (result.b < 0) fail(fmt::format("has a negative std ({})", result.b));
  } else if (axis.kind != Axis::Kind::values) {
    result.a = number(axis.from, "from");
    result.b = number(axis.to, "to");
  }
  // A normal number from 53 random bits is within 10 standard deviations of the mean.
  const bool normal = axis.kind == Axis::Kind::normal;
  if (!std::isfinite(normal ? std::abs(result.a) + 10 * result.b : result.b - result.a)) {
    fail(fmt::format("has values that are not finite (it goes {} {} {}); use smaller numbers",
                     normal ? "from mean" : "from", result.a,
                     fmt::format("{} {}", normal ? "by std" : "to", result.b)));
  }
  return result;
}

Grid::Grid(const Study& study) {
  const std::vector<Axis>& axes = study.ensemble.axes;
  const std::optional<std::uint64_t> draws = study.ensemble.draws;
  const Axis* first_joint = nullptr;
  for (const Axis& axis : axes) {
    if (is_joint(axis)) {
      if (!draws) {
        input_error(axis.where,
                    fmt::format("random axis '{}' has no number of draws; give ensemble.draws (drawn jointly "
                                "with the other random axes) or draws in the axis (a factor of its own)",
                                axis.name));
      }
      if (first_joint == nullptr) first_joint = &axis;
    }
    factors_.push_back(factor(axis, draws.value_or(0)));
  }
  if (draws && first_joint == nullptr) {
    input_error(study.place("ensemble.draws"),
                "ensemble.draws has no effect (no random axis is without draws of its own)");
  }

  std::uint64_t joint_stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (is_joint(axes[i]) && &axes[i] != first_joint) continue;
    factors_[i].stride = size_;
    if (&axes[i] == first_joint) joint_stride = size_;
    if (__builtin_mul_overflow(size_, factors_[i].count, &size_) || size_ > max_integer) {
      input_error(study.place("ensemble.axes"), "the product of the axes exceeds 2^63 trajectories; use fewer points");
    }
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (is_joint(axes[i])) factors_[i].stride = joint_stride;
  }
}

std::vector<std::uint64_t> Grid::corners() const {
  constexpr std::size_t most = std::size_t{1} << 12;
  std::vector<std::uint64_t> corners{0};
  std::uint64_t stride = 0;  // axes that are drawn jointly have the same stride
  for (const Factor& f : factors_) {
    if (f.count < 2 || f.stride == stride || 2 * corners.size() > most) continue;
    stride = f.stride;
    const std::size_t half = corners.size();
    for (std::size_t i = 0; i < half; ++i) corners.push_back(corners[i] + (f.count - 1) * f.stride);
  }
  std::ranges::sort(corners);
  return corners;
}

std::vector<double> Grid::axis_values(std::size_t axis) const {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < factors_[axis].count; ++i) values.push_back(value(axis, i * factors_[axis].stride));
  return values;
}

double Grid::value(std::size_t axis, std::uint64_t trajectory) const {
  const Factor& f = factors_[axis];
  const std::uint64_t i = axis_position(axis, trajectory);
  switch (f.kind) {
    case Axis::Kind::range:
      if (i == 0) return f.a;
      // The last point is exactly `to`, without rounding.
      return i + 1 == f.count ? f.b : f.a + static_cast<double>(i) * (f.b - f.a) / static_cast<double>(f.count - 1);
    case Axis::Kind::values:
      return f.values[i];
    case Axis::Kind::uniform:
      return f.a + Draw(f.seed, static_cast<std::uint32_t>(axis), i).uniform() * (f.b - f.a);
    case Axis::Kind::normal:
      return f.a + Draw(f.seed, static_cast<std::uint32_t>(axis), i).normal() * f.b;
  }
  return 0;  // all kinds are handled above
}

}  // namespace rattleback
