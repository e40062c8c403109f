#include "rattleback/study/basins.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "rattleback/real/elementary.hpp"

namespace rattleback {
namespace {

constexpr std::uint64_t least_boxes = 4;  ///< along an axis
constexpr std::uint64_t entropy_box = 4;  ///< cells along an edge
constexpr double unknown_number = std::numeric_limits<double>::quiet_NaN();

/// Adds a set of labels to a share.
struct Labels {
  std::uint32_t first;
  bool mixed = false, known = true;
  void operator()(std::uint32_t label) {
    mixed |= label != first;
    known &= label != no_label;
  }
  void add_to(MixedShare& share) const {
    share.mixed += known && mixed;
    share.all += known;
  }
};

}  // namespace

std::vector<std::uint64_t> scales_of_map(std::uint64_t rows, std::uint64_t columns) {
  std::vector<std::uint64_t> scales;
  const std::uint64_t least = std::min(rows, columns);
  for (std::uint64_t s = 1; least > 0 && (least - 1) / s >= least_boxes; s *= 2) scales.push_back(s);
  return scales;
}

std::vector<MixedShare> boundary_of(const LabelMap& map) {
  std::vector<MixedShare> shares;
  for (const std::uint64_t s : scales_of_map(map.rows, map.columns)) {
    MixedShare& share = shares.emplace_back(s, 0, 0);
    for (std::uint64_t i = 0; i + s < map.rows; i += s)
      for (std::uint64_t j = 0; j + s < map.columns; j += s) {
        Labels labels{map(i, j)};
        for (std::uint64_t a = i; a <= i + s; ++a)
          for (std::uint64_t b = j; b <= j + s; ++b) labels(map(a, b));
        labels.add_to(share);
      }
  }
  return shares;
}

std::vector<MixedShare> uncertain_of(const LabelMap& map) {
  std::vector<MixedShare> shares;
  for (const std::uint64_t d : scales_of_map(map.rows, map.columns)) {
    MixedShare& share = shares.emplace_back(d, 0, 0);
    const auto add = [&](std::uint32_t label, std::uint32_t before, std::uint32_t behind) {
      Labels labels{label};
      for (const std::uint32_t other : {label, before, behind}) labels(other);
      labels.add_to(share);
    };
    for (std::uint64_t i = 0; i < map.rows; ++i)
      for (std::uint64_t j = 0; j < map.columns; ++j) {
        if (i >= d && i + d < map.rows) add(map(i, j), map(i - d, j), map(i + d, j));
        if (j >= d && j + d < map.columns) add(map(i, j), map(i, j - d), map(i, j + d));
      }
  }
  return shares;
}

double slope_of(std::span<const MixedShare> shares) {
  std::vector<double> x, y;
  for (const MixedShare& share : shares) {
    if (share.mixed == 0 || 2 * share.mixed > share.all) continue;
    x.push_back(log(static_cast<double>(share.scale)));
    y.push_back(log(share.share()));
  }
  if (x.size() < 3) return unknown_number;
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / static_cast<double>(x.size());
    mean_y += y[i] / static_cast<double>(x.size());
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xy / xx;
}

BasinEntropy entropy_of(const LabelMap& map) {
  double sum = 0.0;
  std::uint64_t boxes = 0, mixed = 0;
  for (std::uint64_t i = 0; i + entropy_box <= map.rows; i += entropy_box)
    for (std::uint64_t j = 0; j + entropy_box <= map.columns; j += entropy_box) {
      std::map<std::uint32_t, int> counts;  // of the labels
      for (std::uint64_t a = 0; a < entropy_box; ++a)
        for (std::uint64_t b = 0; b < entropy_box; ++b) ++counts[map(i + a, j + b)];
      if (counts.contains(no_label)) continue;
      ++boxes;
      mixed += counts.size() > 1;
      for (const auto& [label, count] : counts) {
        const double p = count / static_cast<double>(entropy_box * entropy_box);
        if (p < 1.0) sum -= p * log(p);
      }
    }
  const auto mean = [&](std::uint64_t n) { return n == 0 ? unknown_number : sum / static_cast<double>(n); };
  return {mean(boxes), mean(mixed)};
}

}  // namespace rattleback
