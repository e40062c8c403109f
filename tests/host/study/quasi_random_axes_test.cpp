// Quasi-random axes of a study: values, randomisations, integration errors.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/base/normal.hpp"
#include "rattleback/base/random.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/grid.hpp"
#include "rattleback/study/quasi_random.hpp"

namespace rattleback {
namespace {

using Points = Axis::Points;

Study study_of(const std::string& ensemble) {
  return Study::parse(R"toml([system]
name = "chaplygin-sleigh"
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.1
end = 1.0
[ensemble]
)toml" + ensemble,
                      "s.toml");
}

Grid grid_of(const std::string& ensemble) { return Grid(study_of(ensemble)); }

/// A uniform axis from 0 to 1.
std::string axis(const std::string& name, const std::string& distribution, std::uint64_t seed) {
  return fmt::format("{{ name = \"{}\", distribution = \"{}\", from = 0, to = 1, seed = {} }}, ", name, distribution,
                     seed);
}

double uniform(std::uint64_t bits) { return static_cast<double>(bits) * 0x1p-53; }

TEST(QuasiRandomAxes, AreCoordinatesOfOnePointSetPerRandomisation) {
  for (const auto& [word, points] : {std::pair{"sobol", Points::sobol}, std::pair{"lattice", Points::lattice}}) {
    const Grid grid = grid_of(fmt::format(R"toml(draws = 96
randomisations = 3
axes = [
  {{ name = "a", values = [10, 20] }},
  {{ name = "b", distribution = "{0}", from = -1, to = 3, seed = 8 }},
  {{ name = "c", distribution = "uniform", from = 0, to = 1, seed = 8 }},
  {{ name = "d", from = 0, to = 1, count = 5 }},
  {{ name = "e", distribution = "{0}", std = 0.5, mean = 2, seed = 9 }},
  {{ name = "f", distribution = "{0}", from = 0, to = 1, seed = 8, draws = 4 }},
  {{ name = "g", distribution = "{0}", mean = 0, seed = 8 }},
])toml",
                                          word));
    ASSERT_EQ(grid.size(), 2u * 96 * 5 * 4);
    EXPECT_TRUE(grid.quasi_random());
    EXPECT_EQ(grid.randomisations(), 3u);
    for (std::uint64_t k = 0; k < grid.size(); ++k) {
      const std::uint64_t draw = k / 20 % 96, r = draw / 32, i = draw % 32;
      ASSERT_EQ(grid.randomisation(k), r);
      const auto bits = [&](std::size_t dimension, std::uint64_t seed, std::uint32_t position) {
        return quasi_random_bits(points, dimension, i, Draw(seed, position, r).bits(), 32);
      };
      ASSERT_EQ(grid.value(0, k), k < grid.size() / 2 ? 10 : 20);
      ASSERT_EQ(grid.value(1, k), -1 + 4 * uniform(bits(0, 8, 1)));
      ASSERT_EQ(grid.value(2, k), Draw(8, 2, draw).uniform());
      ASSERT_EQ(grid.value(4, k), 2 + 0.5 * normal_quantile_of_cell(bits(1, 9, 4)));
      ASSERT_EQ(grid.value(5, k), uniform(quasi_random_bits(points, 0, k % 4, Draw(8, 5, 0).bits(), 4)));
      ASSERT_EQ(grid.value(6, k), normal_quantile_of_cell(bits(2, 8, 6)));
    }
  }
}

TEST(QuasiRandomAxes, PositionsOfDeterministicAxes) {
  const Study study = study_of(R"toml(draws = 8
axes = [
  { name = "a", values = [1, 2, 3] },
  { name = "b", distribution = "sobol", from = 0, to = 1, seed = 1 },
  { name = "c", from = 0, to = 1, count = 5 },
])toml");
  const Ensemble ensemble(study);
  EXPECT_EQ(ensemble.axis_count(0), 3u);
  EXPECT_EQ(ensemble.axis_count(1), 0u);
  EXPECT_EQ(ensemble.axis_count(2), 5u);
  EXPECT_EQ(ensemble.randomisations(), 1u);
  for (std::uint64_t k = 0; k < ensemble.size(); ++k) {
    EXPECT_EQ(ensemble.axis_position(0, k), k / 40);
    EXPECT_EQ(ensemble.axis_position(1, k), k / 5 % 8);
    EXPECT_EQ(ensemble.axis_position(2, k), k % 5);
    EXPECT_EQ(ensemble.randomisation(k), 0u);
  }
}

TEST(QuasiRandomAxes, WithoutThemThereIsOneRandomisation) {
  const Study study = study_of("draws = 6\naxes = [" + axis("a", "uniform", 1) + "]");
  EXPECT_FALSE(study.ensemble.randomisations.has_value());
  const Ensemble ensemble(study);
  EXPECT_EQ(ensemble.randomisations(), 1u);
  for (std::uint64_t k = 0; k < ensemble.size(); ++k) EXPECT_EQ(ensemble.randomisation(k), 0u);
  // draws of an axis's own are no joint point set
  const Grid own = grid_of(R"toml(axes = [{ name = "a", distribution = "sobol", seed = 1, std = 1, draws = 8 }])toml");
  EXPECT_FALSE(own.quasi_random());
  EXPECT_EQ(own.randomisations(), 1u);
  EXPECT_EQ(own.randomisation(7), 0u);
}

TEST(QuasiRandomAxes, AStudyKeepsThemWhenItIsWritten) {
  for (const char* given : {"", "randomisations = 4\n"}) {
    const Study study = study_of(std::string("draws = 64\n") + given + R"toml(axes = [
  { name = "a", distribution = "lattice", from = 0, to = "pi", seed = 3 },
  { name = "b", distribution = "lattice", std = 2, seed = 4 },
  { name = "c", distribution = "sobol", from = 0, to = 1, seed = 5, draws = 16 },
])toml");
    EXPECT_EQ(study.ensemble.randomisations, *given == 0 ? 1u : 4u);
    const std::string text = study.to_toml();
    const Study again = Study::parse(text);
    EXPECT_EQ(again.to_toml(), text);
    EXPECT_EQ(again.ensemble.axes[0].points, Points::lattice);
    EXPECT_EQ(again.ensemble.axes[1].kind, Axis::Kind::normal);
    EXPECT_EQ(again.ensemble.axes[2].points, Points::sobol);
    const Grid one(study), two(again);
    EXPECT_EQ(one.size(), 1024u);
    for (std::uint64_t k = 0; k < one.size(); ++k)
      for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(one.value(i, k), two.value(i, k));
  }
}

TEST(QuasiRandomAxes, ValuesDependOnTheTrajectoryOnly) {
  const Ensemble ensemble(study_of("draws = 4096\nrandomisations = 8\naxes = [" + axis("a", "sobol", 1) +
                                   "{ name = \"b\", distribution = \"sobol\", std = 1, seed = 2 }]"));
  std::vector<std::vector<double>> in_order(ensemble.size()), mixed(ensemble.size());
  Ensemble::Evaluator evaluate(ensemble);
  for (std::uint64_t k = 0; k < ensemble.size(); ++k) in_order[k] = evaluate(k).axes;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Ensemble::Evaluator other(ensemble);
      for (std::uint64_t i = t; i < ensemble.size(); i += 4) {
        const std::uint64_t k = i * 1237 % ensemble.size();  // an odd factor: every k once
        mixed[k] = other(k).axes;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(in_order, mixed);
}

TEST(QuasiRandomAxes, ARandomisationKeepsItsPointsWhenOthersAreAdded) {
  const auto with = [&](int draws, int randomisations) {
    return grid_of(fmt::format("draws = {}\nrandomisations = {}\naxes = [{}]", draws, randomisations,
                               axis("a", "lattice", 1) + axis("b", "lattice", 2)));
  };
  const Grid few = with(128, 2), many = with(1024, 16);
  for (std::uint64_t k = 0; k < few.size(); ++k)
    for (const std::size_t i : {0, 1}) EXPECT_EQ(few.value(i, k), many.value(i, k));
}

TEST(QuasiRandomAxes, PointsAreUniform) {
  // Over the shifts each point is uniform: 64 cells of a square, chi squared of 63 degrees of freedom.
  for (const std::string word : {"sobol", "lattice"}) {
    const Grid grid =
        grid_of("draws = 65536\nrandomisations = 16384\naxes = [" + axis("a", word, 1) + axis("b", word, 1) + "]");
    for (const std::uint64_t i : {0, 3}) {
      std::array<double, 64> counts{};
      for (std::uint64_t r = 0; r < 16384; ++r) {
        const std::uint64_t k = 4 * r + i;
        ASSERT_EQ(grid.randomisation(k), r);
        ++counts[static_cast<std::size_t>(8 * grid.value(0, k)) * 8 + static_cast<std::size_t>(8 * grid.value(1, k))];
      }
      double chi_squared = 0;
      for (const double count : counts) chi_squared += (count - 256) * (count - 256) / 256;
      EXPECT_NEAR(chi_squared, 63, 4 * std::sqrt(2 * 63.0)) << word;
    }
  }
}

TEST(QuasiRandomAxes, NormalMarginalsHaveTheirMoments) {
  for (const char* word : {"sobol", "lattice"}) {
    const Grid grid = grid_of(fmt::format(
        "draws = 4096\naxes = [{{ name = \"a\", distribution = \"{}\", mean = 1, std = 2, seed = 5 }}]", word));
    double mean = 0, square = 0;
    for (std::uint64_t k = 0; k < 4096; ++k) {
      const double x = (grid.value(0, k) - 1) / 2;
      mean += x / 4096;
      square += x * x / 4096;
    }
    // The standard errors of random draws would be 0.016 and 0.022.
    EXPECT_NEAR(mean, 0, 0.003) << word;
    EXPECT_NEAR(square, 1, 0.006) << word;
  }
}

/// A smooth function of 5 numbers in [0, 1] with mean 1.
double smooth(const Grid& grid, std::uint64_t k) {
  double product = 1;
  for (std::size_t j = 0; j < 5; ++j) {
    const double rate = 1 / static_cast<double>(j + 1);
    product *= rate * std::exp(rate * grid.value(j, k)) / (std::exp(rate) - 1);
  }
  return product;
}

std::string five_axes(const std::string& word, std::uint64_t seed) {
  std::string axes;
  for (const char* name : {"a", "b", "c", "d", "e"}) axes += axis(name, word, seed);
  return axes;
}

/// The means of `smooth` over 16 equal parts of the draws, which are the randomisations where there are some.
std::vector<double> means_of(const std::string& word, std::uint64_t points, std::uint64_t seed) {
  const bool random = word == "uniform";
  const Grid grid = grid_of(fmt::format("draws = {}\n{}axes = [{}]", 16 * points, random ? "" : "randomisations = 16\n",
                                        five_axes(word, seed)));
  std::vector<double> means(16);
  for (std::uint64_t k = 0; k < grid.size(); ++k)
    means[random ? k / points : grid.randomisation(k)] += smooth(grid, k) / static_cast<double>(points);
  return means;
}

/// The root mean square of the errors of 8 times 16 means.
double rms_error(const std::string& word, std::uint64_t points) {
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const double mean : means_of(word, points, seed)) sum += (mean - 1) * (mean - 1) / 128;
  return std::sqrt(sum);
}

TEST(QuasiRandomAxes, ErrorsOfASmoothFunctionFallFasterThanThoseOfRandomDraws) {
  // With 128 times the points the error of random draws falls by 11.3; the standard error of that factor is 9 %.
  const double random = rms_error("uniform", 1 << 12);
  EXPECT_NEAR(rms_error("uniform", 1 << 5) / random, std::sqrt(128.0), 4);
  for (const char* word : {"sobol", "lattice"}) {
    const double few = rms_error(word, 1 << 5), many = rms_error(word, 1 << 12);
    EXPECT_GT(few / many, 40) << word;
    EXPECT_LT(many / random, 0.1) << word;
  }
}

TEST(QuasiRandomAxes, ALatticeIsForPeriodicFunctions) {
  const auto largest_error = [](const std::string& word) {
    const Grid grid = grid_of("draws = 16384\nrandomisations = 16\naxes = [" + five_axes(word, 1) + "]");
    std::vector<double> means(16);
    for (std::uint64_t k = 0; k < grid.size(); ++k) {
      double product = 1;
      for (std::size_t j = 0; j < 5; ++j) {
        const double rate = 1 / static_cast<double>(j + 2);
        product *= std::exp(rate * std::cos(2 * std::numbers::pi * grid.value(j, k))) / std::cyl_bessel_i(0, rate);
      }
      means[grid.randomisation(k)] += product / 1024;
    }
    double largest = 0;
    for (const double mean : means) largest = std::max(largest, std::abs(mean - 1));
    return largest;
  };
  EXPECT_LT(largest_error("lattice"), largest_error("sobol") / 10);
}

TEST(QuasiRandomAxes, RandomisationsAreIndependent) {
  for (const std::string word : {"sobol", "lattice"}) {
    constexpr int seeds = 400;
    int covered = 0;
    double of_mean = 0, of_scatter = 0, product = 0, square = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const std::vector<double> means = means_of(word, 8, seed);
      const double mean = std::accumulate(means.begin(), means.end(), 0.0) / 16;
      double scatter = 0;
      for (const double m : means) scatter += (m - mean) * (m - mean) / 15;
      covered += std::abs(mean - 1) < std::sqrt(scatter / 16) ? 1 : 0;
      of_mean += (mean - 1) * (mean - 1);
      of_scatter += scatter / 16;
      for (std::size_t r = 0; r + 1 < 16; ++r) product += (means[r] - 1) * (means[r + 1] - 1) / 15;
      for (const double m : means) square += (m - 1) * (m - 1) / 16;
    }
    // The scatter of the means tells the error of their mean: Student's t with 15 degrees of freedom is below 1 with
    // probability 0.667. Four standard errors.
    EXPECT_NEAR(covered / static_cast<double>(seeds), 0.667, 4 * std::sqrt(0.667 * 0.333 / seeds)) << word;
    EXPECT_NEAR(of_mean / of_scatter, 1, 4 * std::sqrt(2.0 / seeds)) << word;
    EXPECT_NEAR(product / square, 0, 4 / std::sqrt(15.0 * seeds)) << word;
  }
}

}  // namespace
}  // namespace rattleback
