// Quasi-random points without the study around them.

#include "rattleback/study/quasi_random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "rattleback/base/fnv.hpp"
#include "rattleback/base/random.hpp"

namespace rattleback {
namespace {

using Points = Axis::Points;

std::uint32_t sobol(std::size_t dimension, std::uint64_t index) {
  return static_cast<std::uint32_t>(quasi_random_bits(Points::sobol, dimension, index, 0) >> 21);
}

// The numbers of scipy.stats.qmc.Sobol(64, scramble=False, bits=32) of SciPy 1.17.1, which has the table of Joe and Kuo.
TEST(Sobol, AgreesWithSciPy) {
  constexpr std::array<std::size_t, 7> dimensions{0, 1, 2, 4, 16, 39, 63};
  struct Point {
    std::uint64_t index;
    std::array<std::uint32_t, 7> numbers;
  };
  const Point points[] = {
      {0, {}},
      {1, {0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000}},
      {3, {0x40000000, 0xc0000000, 0xc0000000, 0x40000000, 0x40000000, 0xc0000000, 0x40000000}},
      {1000, {0x38400000, 0x18c00000, 0x84c00000, 0x47c00000, 0xb8400000, 0x7ac00000, 0x72400000}},
      {123456789, {0xf9d46f20, 0xcadcd1a0, 0x01a3d160, 0xdff6b920, 0xf8a14720, 0xff5bc220, 0x40d40920}},
      {4294967294, {0x80000001, 0x7fffffff, 0x45005555, 0x300ddb9d, 0x1349cb97, 0xbd3df141, 0x921d6761}}};
  for (const Point& point : points)
    for (std::size_t i = 0; i < dimensions.size(); ++i)
      EXPECT_EQ(sobol(dimensions[i], point.index), point.numbers[i]) << point.index << ", " << dimensions[i];

  Fnv1a hash;  // of the first 1024 points, row by row, as 32-bit integers with the low byte first
  for (std::uint64_t index = 0; index < 1024; ++index)
    for (std::size_t dimension = 0; dimension < most_dimensions; ++dimension)
      for (const int byte : {0, 8, 16, 24}) {
        const char c = static_cast<char>(sobol(dimension, index) >> byte & 0xff);
        hash.add({&c, 1});
      }
  EXPECT_EQ(hash.value, 0x6f5481e86a7ec425u);
}

TEST(Sobol, TheFirstTwoDimensionsAreANetOfStrengthZero) {
  for (const std::uint64_t seed : {1, 2, 3})
    for (int m = 0; m <= 9; ++m)
      for (const std::uint64_t first : {0, 1, 12345})  // aligned blocks of the sequence
        for (int a = 0; a <= m; ++a) {
          std::vector<int> counts(std::size_t{1} << m);
          for (std::uint64_t i = 0; i < counts.size(); ++i) {
            const std::uint64_t index = (first << m) + i;
            const auto x = quasi_random_bits(Points::sobol, 0, index, Draw(seed, 0, 0).bits());
            const auto y = quasi_random_bits(Points::sobol, 1, index, Draw(seed, 1, 0).bits());
            ++counts[(x >> (53 - a) << (m - a)) + (y >> (53 - m + a))];
          }
          for (const int count : counts) ASSERT_EQ(count, 1) << m << ", " << a;
        }
}

TEST(QuasiRandom, EveryDimensionHasOnePointPerInterval) {
  for (const Points points : {Points::sobol, Points::lattice})
    for (std::size_t dimension = 0; dimension < most_dimensions; ++dimension)
      for (const std::uint64_t block : {0, 1, 5}) {
        std::array<int, 512> counts{};
        const std::uint64_t shift = Draw(7, static_cast<std::uint32_t>(dimension), block).bits();
        for (std::uint64_t i = 0; i < counts.size(); ++i) {
          const std::uint64_t bits =
              quasi_random_bits(points, dimension, block * counts.size() + i, shift, 8 * counts.size());
          ASSERT_LT(bits, std::uint64_t{1} << 53);
          ++counts[bits >> 44];
        }
        for (const int count : counts) ASSERT_EQ(count, 1) << dimension;
      }
}

TEST(QuasiRandom, TheLastPointIsThere) {
  EXPECT_EQ(most_points(Points::sobol), std::uint64_t{1} << 32);
  EXPECT_EQ(most_points(Points::lattice), std::uint64_t{1} << 24);
  EXPECT_EQ(sobol(0, most_points(Points::sobol) - 1), 1u);  // the Gray code of 2^32 - 1 is 2^31
  EXPECT_EQ(quasi_random_bits(Points::lattice, 0, most_points(Points::lattice) - 1, 0),
            (most_points(Points::lattice) - 1) << 29);
}

TEST(Lattice, PointsAreMultiplesOfOneVector) {
  constexpr std::uint64_t n = 1 << 12, cell = std::uint64_t{1} << 41;
  for (std::size_t dimension = 1; dimension < most_dimensions; ++dimension)
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto number = [&](std::uint64_t index) {
        return quasi_random_bits(Points::lattice, dimension, index, 0, n) / cell;
      };
      // The first dimension is k / n. Point n / 2, the reverse of 1, is the vector itself.
      const std::uint64_t k = quasi_random_bits(Points::lattice, 0, i, 0, n) / cell;
      ASSERT_EQ(number(i), k * number(n / 2) % n);
    }
}

/// The factor of P2 in one dimension: 1 + weight 2 pi^2 B2(x).
double factor(double x, double weight) {
  return 1 + weight * 2 * std::numbers::pi * std::numbers::pi * (x * x - x + 1.0 / 6);
}

/// The squared worst-case error of a lattice rule in the Korobov space with alpha = 2 and weights 1/j^2.
double p2_of_lattice(std::size_t dimensions, std::uint64_t n) {
  double sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    double product = 1;
    for (std::size_t j = 0; j < dimensions; ++j)
      product *= factor(static_cast<double>(quasi_random_bits(Points::lattice, j, i, 0, n)) * 0x1p-53,
                        1 / static_cast<double>((j + 1) * (j + 1)));
    sum += product;
  }
  return sum / static_cast<double>(n) - 1;
}

/// The same of any points: the mean over all pairs of points.
template <class Point>
double p2_of_pairs(std::size_t dimensions, std::uint64_t n, Point point) {
  double sum = 0;
  for (std::uint64_t i = 0; i < n; ++i)
    for (std::uint64_t k = 0; k < n; ++k) {
      double product = 1;
      for (std::size_t j = 0; j < dimensions; ++j)
        product *= factor(std::abs(point(j, i) - point(j, k)), 1 / static_cast<double>((j + 1) * (j + 1)));
      sum += product;
    }
  return sum / static_cast<double>(n * n) - 1;
}

/// The expectation for random points: the diagonal of the mean over pairs.
double p2_of_random(std::size_t dimensions, std::uint64_t n) {
  double product = 1;
  for (std::size_t j = 0; j < dimensions; ++j) product *= factor(0, 1 / static_cast<double>((j + 1) * (j + 1)));
  return (product - 1) / static_cast<double>(n);
}

TEST(Lattice, FigureP2IsFarBelowThatOfRandomPoints) {
  // Over pairs the figure is that of the single sum for a lattice and near its expectation for random points.
  const auto lattice = [](std::size_t j, std::uint64_t i) {
    return static_cast<double>(quasi_random_bits(Points::lattice, j, i, Draw(3, 0, j).bits(), 256)) * 0x1p-53;
  };
  EXPECT_NEAR(p2_of_pairs(5, 256, lattice), p2_of_lattice(5, 256), 1e-12);
  double ratio = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    ratio += p2_of_pairs(5, 128,
                         [&](std::size_t j, std::uint64_t i) {
                           return Draw(seed, static_cast<std::uint32_t>(j), i).uniform();
                         }) /
             p2_of_random(5, 128) / 20;
  EXPECT_NEAR(ratio, 1, 0.16);  // four standard errors

  EXPECT_LT(p2_of_lattice(2, 1 << 10), p2_of_random(2, 1 << 10) / 50);
  EXPECT_LT(p2_of_lattice(2, 1 << 16), p2_of_random(2, 1 << 16) / 2000);
  EXPECT_LT(p2_of_lattice(5, 1 << 12), p2_of_random(5, 1 << 12) / 10);
  EXPECT_LT(p2_of_lattice(5, 1 << 16), p2_of_random(5, 1 << 16) / 50);
  for (int m = 4; m <= 16; m += 2)
    EXPECT_LT(p2_of_lattice(most_dimensions, std::uint64_t{1} << m),
              p2_of_random(most_dimensions, std::uint64_t{1} << m) / (m < 8 ? 1 : 1.5))
        << m;
}

/// P2 of a lattice with this vector.
double p2_of_vector(const std::vector<std::uint64_t>& z, std::uint64_t n) {
  double sum = 0;
  for (std::uint64_t k = 0; k < n; ++k) {
    double product = 1;
    for (std::size_t j = 0; j < z.size(); ++j)
      product *= factor(static_cast<double>(k * z[j] % n) / static_cast<double>(n),
                        1 / static_cast<double>((j + 1) * (j + 1)));
    sum += product;
  }
  return sum / static_cast<double>(n) - 1;
}

// With two axes the construction tries every vector; with more it is greedy, and better than random vectors.
TEST(Lattice, VectorsAreThoseOfTheSmallestP2) {
  for (int m = 1; m <= 11; ++m) {
    const std::uint64_t n = std::uint64_t{1} << m;
    double least = 1e300;
    for (std::uint64_t z = 1; z < n; z += 2) least = std::min(least, p2_of_vector({1, z}, n));
    EXPECT_NEAR(p2_of_lattice(2, n), least, 1e-9 * least) << m;
  }
  for (const std::size_t dimensions : {3, 5, 10})
    for (const int m : {6, 8, 10}) {
      const std::uint64_t n = std::uint64_t{1} << m;
      std::vector<double> random;
      for (std::uint64_t k = 0; k < 200; ++k) {
        std::vector<std::uint64_t> z{1};
        while (z.size() < dimensions) z.push_back(Draw(k, static_cast<std::uint32_t>(z.size()), 0).bits() % n | 1);
        random.push_back(p2_of_vector(z, n));
      }
      std::ranges::sort(random);
      EXPECT_LE(p2_of_lattice(dimensions, n), random[9]) << dimensions << ' ' << m;
    }
}

}  // namespace
}  // namespace rattleback
