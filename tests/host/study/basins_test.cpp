// Numbers of maps of labels.

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "rattleback/study/basins.hpp"

using namespace rattleback;

namespace {

constexpr std::uint64_t side = 256;

/// A disc of radius 100 in the middle of a map.
std::vector<std::uint32_t> disc() {
  std::vector<std::uint32_t> labels;
  for (std::uint64_t i = 0; i < side; ++i)
    for (std::uint64_t j = 0; j < side; ++j) {
      const double x = static_cast<double>(i) - 127.5, y = static_cast<double>(j) - 127.5;
      labels.push_back(x * x + y * y < 1e4 ? 1 : 0);
    }
  return labels;
}

TEST(Basins, TheBoundaryOfADiscIsACurve) {
  const std::vector<std::uint32_t> labels = disc();
  const LabelMap map{side, side, labels};
  const std::vector<MixedShare> boundary = boundary_of(map);
  const std::uint64_t mixed[] = {800, 400, 200, 100, 52, 24}, boxes[] = {65025, 16129, 3969, 961, 225, 49};
  ASSERT_EQ(boundary.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(boundary[i].scale, std::uint64_t{1} << i);
    EXPECT_EQ(boundary[i].mixed, mixed[i]);
    EXPECT_EQ(boundary[i].all, boxes[i]);
  }
  EXPECT_NEAR(2.0 - slope_of(boundary), 1.0, 0.1);
  EXPECT_NEAR(slope_of(uncertain_of(map)), 1.0, 0.05);
}

TEST(Basins, BoxesWithoutALabelDoNotCount) {
  std::vector<std::uint32_t> labels(32 * 32, 1);
  labels[5 * 32 + 6] = no_label;
  const LabelMap map{32, 32, labels};
  EXPECT_EQ(boundary_of(map)[0].all, 31u * 31u - 4u);
  EXPECT_EQ(boundary_of(map)[0].mixed, 0u);
  EXPECT_EQ(uncertain_of(map)[0].all, 2u * 30u * 32u - 6u);
  EXPECT_EQ(entropy_of(map).all, 0.0);
}

TEST(Basins, HalvesAndMixtures) {
  std::vector<std::uint32_t> labels(64 * 64);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = i % 64 < 30 ? 1 : 2;  // the border halves boxes of 4
  const BasinEntropy halves = entropy_of({64, 64, labels});
  EXPECT_NEAR(halves.boundary, std::numbers::ln2, 1e-15);
  EXPECT_NEAR(halves.all, std::numbers::ln2 / 16.0, 1e-15);
  labels.assign(labels.size(), 7);
  EXPECT_EQ(entropy_of({64, 64, labels}).all, 0.0);
  EXPECT_TRUE(std::isnan(entropy_of({64, 64, labels}).boundary));
  EXPECT_TRUE(std::isnan(slope_of(boundary_of({64, 64, labels}))));
  EXPECT_TRUE(boundary_of({4, 64, labels}).empty());
}

}  // namespace
