#pragma once
// Numbers of a map of labels over two axes: its boundary, how uncertain a label is, and the entropy of the basins.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rattleback {

/// The label of a trajectory that failed or is left out. Boxes and neighbourhoods with it do not count.
inline constexpr std::uint32_t no_label = ~std::uint32_t{0};

/// The labels of a map, row by row.
struct LabelMap {
  std::uint64_t rows = 0, columns = 0;
  std::span<const std::uint32_t> labels;
  [[nodiscard]] std::uint32_t operator()(std::uint64_t i, std::uint64_t j) const { return labels[i * columns + j]; }
};

/// Of a scale in cells: how many of all boxes, or of all cells, have more than one label.
struct MixedShare {
  std::uint64_t scale, mixed, all;
  [[nodiscard]] double share() const { return static_cast<double>(mixed) / static_cast<double>(all); }
};

/// Returns the sizes 1, 2, 4, .. of which a map has at least 4 boxes along both axes.
[[nodiscard]] std::vector<std::uint64_t> scales_of_map(std::uint64_t rows, std::uint64_t columns);
/// Returns, for these sizes, the boxes with more than one label. Boxes are closed:
/// one of size s has (s + 1)^2 cells, and shares those at its edges with its neighbours, so that no boundary lies between boxes.
[[nodiscard]] std::vector<MixedShare> boundary_of(const LabelMap& map);
/// Returns, for the same distances d, the cells whose label differs from that of the cell at +d or at -d along an axis, of all cells that have
/// both; the counts of both axes are added (C. Grebogi, S. W. McDonald, E. Ott, J. A. Yorke, Phys. Lett. A 99 (1983) 415).
[[nodiscard]] std::vector<MixedShare> uncertain_of(const LabelMap& map);
/// Returns the slope of ln(share) against ln(scale) over the scales with a share above 0 and of at most 1/2: larger ones are
/// saturated. NaN with fewer than three.
[[nodiscard]] double slope_of(std::span<const MixedShare> shares);

/// The means of -sum p ln p over the boxes of 4 x 4 cells that fit, with the share p of each label, and over those boxes with two
/// labels or more; NaN without such boxes (A. Daza, A. Wagemakers, B. Georgeot, D. Guery-Odelin, M. A. F. Sanjuan, Sci. Rep. 6 (2016) 31416).
struct BasinEntropy {
  double all, boundary;
};
[[nodiscard]] BasinEntropy entropy_of(const LabelMap& map);

}  // namespace rattleback
