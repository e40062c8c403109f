#include <gtest/gtest.h>

#include <cmath>

#include "rattleback/base/random.hpp"

namespace rattleback {
namespace {

using Counter = std::array<std::uint32_t, 4>;

// The vectors published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, IsAConstantExpression) { static_assert(philox4x32({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5); }

TEST(Draw, UniformTakesTheTop53BitsOfTheFirstTwoWords) {
  const std::uint64_t bits = 0xe169c58d6627e8d5;
  EXPECT_EQ(Draw(0, 0, 0).uniform(), static_cast<double>(bits >> 11) / 9007199254740992.0);
}

TEST(Draw, NormalIsBoxMullerOfBothPairsOfWords) {
  const double u = static_cast<double>((0xe169c58d6627e8d5 >> 11) + 1) / 9007199254740992.0;
  const double w = static_cast<double>(0x9b00dbd8bc57ac4c >> 11) / 9007199254740992.0;
  EXPECT_DOUBLE_EQ(Draw(0, 0, 0).normal(), std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * w));
}

TEST(Draw, SeedStreamAndBothHalvesOfTheIndexMatter) {
  const double base = Draw(1, 2, 3).uniform();
  EXPECT_NE(Draw(2, 2, 3).uniform(), base);
  EXPECT_NE(Draw(1 + (std::uint64_t{1} << 32), 2, 3).uniform(), base);
  EXPECT_NE(Draw(1, 3, 3).uniform(), base);
  EXPECT_NE(Draw(1, 2, 4).uniform(), base);
  EXPECT_NE(Draw(1, 2, 3 + (std::uint64_t{1} << 32)).uniform(), base);
}

TEST(Draw, MomentsAreThoseOfTheDistributions) {
  constexpr int count = 100000;
  double uniform_mean = 0, mean = 0, square = 0, fourth = 0;
  for (int i = 0; i < count; ++i) {
    const Draw draw(7, 0, static_cast<std::uint64_t>(i));
    uniform_mean += draw.uniform() / count;
    const double x = draw.normal();
    mean += x / count;
    square += x * x / count;
    fourth += x * x * x * x / count;
  }
  // Four standard errors.
  EXPECT_NEAR(uniform_mean, 0.5, 4 * std::sqrt(1.0 / 12 / count));
  EXPECT_NEAR(mean, 0, 4 * std::sqrt(1.0 / count));
  EXPECT_NEAR(square, 1, 4 * std::sqrt(2.0 / count));
  EXPECT_NEAR(fourth, 3, 4 * std::sqrt(96.0 / count));
}

}  // namespace
}  // namespace rattleback
