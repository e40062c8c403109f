#include "rattleback/study/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "rattleback/base/message.hpp"
#include "rattleback/base/normal.hpp"
#include "rattleback/base/random.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/language/expression.hpp"
#include "rattleback/study/quasi_random.hpp"

namespace rattleback {
namespace {

/// TOML stores counts and seeds as signed integers.
constexpr std::uint64_t max_integer = std::numeric_limits<std::int64_t>::max();

bool is_random(const Axis& axis) { return axis.kind == Axis::Kind::uniform || axis.kind == Axis::Kind::normal; }
bool is_joint(const Axis& axis) { return is_random(axis) && !axis.draws; }
bool is_quasi_random(const Axis& axis) { return is_random(axis) && axis.points != Axis::Points::random; }

/// Returns the numbers of draws nearest to `draws` that give each randomisation a power of two of points.
std::string nearest_draws(Axis::Points points, std::uint64_t draws, std::uint64_t randomisations) {
  const std::uint64_t block = std::max<std::uint64_t>(1, std::bit_floor(draws / randomisations));
  const std::uint64_t most = std::min(most_points(points), max_integer / randomisations);
  if (block >= most) return fmt::format("{}", std::bit_floor(most) * randomisations);
  // Fewer draws than randomisations are too few whatever the block.
  if (draws < randomisations || 2 * block > most) return fmt::format("{}", block * randomisations);
  return fmt::format("{} or {}", block * randomisations, 2 * block * randomisations);
}

/// Returns the number of points of one randomisation. `key` is that of the number of draws, `owner` an axis that has the
/// key, or empty.
std::uint64_t points_of_randomisation(Axis::Points points, std::uint64_t draws, std::uint64_t randomisations,
                                      std::string_view where, std::string_view key, std::string_view owner) {
  const auto fail = [&](std::string_view what, std::string_view why) {
    input_error(where, fmt::format("{} = {}{} {} ({}); use {} = {}", key, draws, owner, what, why, key,
                                   nearest_draws(points, draws, randomisations)));
  };
  const std::uint64_t block = draws / randomisations;
  const std::string each = randomisations == 1 ? "" : fmt::format("each of {} randomisations ", randomisations);
  if (draws % randomisations != 0)
    fail(fmt::format("is not a multiple of ensemble.randomisations = {}", randomisations),
         "all randomisations have the same number of points");
  if (!std::has_single_bit(block))
    fail(fmt::format("gives {}{} points", each, block),
         fmt::format("a {} point set needs a power of two", name_of(points)));
  if (block > most_points(points))
    fail(fmt::format("gives {}2^{} points", each, std::countr_zero(block)),
         fmt::format("a {} point set has at most 2^{}", name_of(points), std::countr_zero(most_points(points))));
  return block;
}

AxisNumbers::Kind kind_of(Axis::Kind kind) {
  switch (kind) {
    case Axis::Kind::range:
      return AxisNumbers::Kind::range;
    case Axis::Kind::values:
      return AxisNumbers::Kind::values;
    case Axis::Kind::uniform:
      return AxisNumbers::Kind::uniform;
    case Axis::Kind::normal:
      break;
  }
  return AxisNumbers::Kind::normal;
}
AxisNumbers::Points points_of(Axis::Points points) {
  return points == Axis::Points::random  ? AxisNumbers::Points::random
         : points == Axis::Points::sobol ? AxisNumbers::Points::sobol
                                         : AxisNumbers::Points::lattice;
}

}  // namespace

Grid::Factor Grid::factor(const Axis& axis, std::uint64_t joint_draws) {
  const auto fail = [&](std::string_view message) {
    input_error(axis.where, fmt::format("axis {} {}", quote(axis.name), message));
  };
  const auto number = [&](const Value& value, std::string_view key) {
    return constant(value, fmt::format("{} of axis '{}'", key, axis.name));
  };
  Factor result;
  result.kind = kind_of(axis.kind);
  result.points = points_of(axis.points);
  result.seed = axis.seed;
  switch (axis.kind) {
    case Axis::Kind::range:
      result.count = axis.count;
      if (axis.count == 0) fail("is empty (count = 0); count must be at least 1");
      break;
    case Axis::Kind::values:
      result.list = axis.values;
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
      if (is_quasi_random(axis) && axis.draws)
        result.block = points_of_randomisation(axis.points, *axis.draws, 1, axis.where, "draws",
                                               fmt::format(" of axis {}", quote(axis.name)));
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
  for (const Axis& axis : study.ensemble.axes)
    if (constexpr std::uint64_t most = 1000; axis.dimension && (*axis.dimension == 0 || *axis.dimension > most))
      input_error(axis.where, fmt::format("axis {} has dimension = {}; a vector has 1 to {} components",
                                          quote(axis.name), *axis.dimension, most));
  const std::vector<Axis> axes = components_of(study.ensemble.axes);
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
  join(study, axes);

  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i].joined || (is_joint(axes[i]) && &axes[i] != first_joint)) continue;
    factors_[i].stride = size_;
    if (&axes[i] == first_joint) joint_stride_ = size_;
    if (__builtin_mul_overflow(size_, factors_[i].count, &size_) || size_ > max_integer) {
      input_error(study.place("ensemble.axes"), "the product of the axes exceeds 2^63 trajectories; use fewer points");
    }
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (is_joint(axes[i])) factors_[i].stride = joint_stride_;
    if (!axes[i].joined) continue;
    factors_[i].stride = factors_[i - 1].stride;
    factors_[i].dimension = factors_[i - 1].dimension + 1;
    if (is_quasi_random(axes[i]) && factors_[i].dimension == most_dimensions)
      input_error(axes[i].where,
                  fmt::format("axis {} is one more than a {} point set has dimensions ({}); make the vector "
                              "shorter",
                              quote(axes[i].name), name_of(axes[i].points), most_dimensions));
  }
}

/// Makes one point set of the quasi-random axes that are drawn jointly.
void Grid::join(const Study& study, const std::vector<Axis>& axes) {
  const std::optional<std::uint64_t>& given = study.ensemble.randomisations;
  const Axis* first = nullptr;
  std::size_t dimensions = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    if (!is_joint(axis) || !is_quasi_random(axis)) continue;
    if (first == nullptr) first = &axis;
    if (axis.points != first->points)
      input_error(axis.where,
                  fmt::format("axes {} ({}) and {} ({}) are drawn jointly (axes that are drawn jointly share one point "
                              "set); give them the same distribution, or one of them draws of its own",
                              quote(first->name), name_of(first->points), quote(axis.name), name_of(axis.points)));
    if (dimensions == most_dimensions)
      input_error(axis.where, fmt::format("axis {} is one more than a {} point set has dimensions ({}); give the axis "
                                          "distribution = \"{}\" or draws of its own",
                                          quote(axis.name), name_of(axis.points), most_dimensions,
                                          axis.kind == Axis::Kind::normal ? "normal" : "uniform"));
    factors_[i].dimension = dimensions++;
  }
  if (first == nullptr) {
    if (given)
      input_error(
          study.place("ensemble.randomisations"),
          "ensemble.randomisations has no effect (no axis with distribution = \"sobol\" or \"lattice\" is without "
          "draws of its own); leave it out");
    return;
  }
  if (given == 0 || given > max_integer)
    input_error(study.place("ensemble.randomisations"),
                fmt::format("ensemble.randomisations must be in 1 to 2^63 - 1 (got {})", *given));
  quasi_random_ = true;
  randomisations_ = given.value_or(1);
  joint_block_ =
      points_of_randomisation(first->points, *study.ensemble.draws, randomisations_,
                              study.place(given ? "ensemble.randomisations" : "ensemble.draws"), "ensemble.draws", "");
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (is_joint(axes[i])) factors_[i].block = joint_block_;
}

std::uint64_t Grid::axis_count(std::size_t axis) const {
  const Factor& f = factors_[axis];
  return f.kind == AxisNumbers::Kind::range || f.kind == AxisNumbers::Kind::values ? f.count : 0;
}

std::uint64_t Grid::axis_position(std::size_t axis, std::uint64_t trajectory) const {
  const Factor& f = factors_[axis];
  return f.position(trajectory);
}

std::uint64_t Grid::randomisation(std::uint64_t trajectory) const {
  return quasi_random_ ? trajectory / joint_stride_ / joint_block_ % randomisations_ : 0;
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

AxisNumbers Grid::numbers(std::size_t axis) const {
  const Factor& f = factors_[axis];
  AxisNumbers numbers = f;
  numbers.values = f.list.data();
  numbers.stream = static_cast<std::uint32_t>(axis);
  if (f.points != AxisNumbers::Points::random)
    numbers.quasi_random = quasi_random_numbers(
        f.points == AxisNumbers::Points::sobol ? Axis::Points::sobol : Axis::Points::lattice, f.dimension, f.block);
  return numbers;
}

double Grid::value(std::size_t axis, std::uint64_t trajectory) const {
  return numbers(axis).value_at(axis_position(axis, trajectory));
}

void Grid::values(std::size_t axis, std::uint64_t first, std::uint64_t count, const IsaFunctions& functions,
                  double* values) const {
  const AxisNumbers f = numbers(axis);
  std::uint64_t position = axis_position(axis, first), rest = f.stride - first % f.stride;
  const auto next = [&] {  // the position of one trajectory after the other, without divisions
    const std::uint64_t at = position;
    if (--rest == 0) {
      rest = f.stride;
      if (++position == f.count) position = 0;
    }
    return at;
  };
  const bool drawn = f.points == AxisNumbers::Points::random && f.kind == AxisNumbers::Kind::normal;
  if (drawn && f.stride < 4) {
    alignas(64) double pairs[2][chunk_size];
    for (std::uint64_t i = 0; i < chunk_size; ++i) {
      const Draw draw(f.seed, f.stream, i < count ? next() : 0);
      pairs[0][i] = static_cast<double>(draw.bits() + 1) * 0x1p-53;
      pairs[1][i] = static_cast<double>(draw.second_bits()) * 0x1p-53;
    }
    functions.normal(pairs[0], pairs[1], values);
    for (std::uint64_t i = 0; i < count; ++i) values[i] = f.a + values[i] * f.b;
    return;
  }
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = next();
    values[i] = i > 0 && at == before ? values[i - 1] : f.value_at(at);
    before = at;
  }
}

}  // namespace rattleback
