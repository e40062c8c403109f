// Stated errors are true: intervals of one and of 1.96 errors cover the known answer as often as they should, over many
// synthetic ensembles. The least-squares error over times, which takes samples as independent, is the control that fails.

#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "rattleback/base/random.hpp"
#include "rattleback/kernels/isa.hpp"
#include "rattleback/study/fit.hpp"
#include "rattleback/study/groups.hpp"
#include "rattleback/study/quasi_random.hpp"
#include "rattleback/study/statistics.hpp"

using namespace rattleback;

namespace {

constexpr std::size_t size = 1024;
constexpr int repetitions = 4000;

/// How often intervals of one error, and of 1.96 errors, hold the truth.
struct Coverage {
  int one = 0, two = 0, all = 0;
  void add(ValueWithError estimate, double truth) {
    const double distance = std::abs(estimate.value - truth) / estimate.error;
    one += distance <= 1.0;
    two += distance <= 1.959964;
    ++all;
  }
  [[nodiscard]] double share_of_one() const { return 100.0 * one / all; }
  [[nodiscard]] double share_of_two() const { return 100.0 * two / all; }
};

void expect_true(const Coverage& coverage, const std::string& what) {
  EXPECT_GE(coverage.share_of_one(), 66.0) << what;
  EXPECT_LE(coverage.share_of_one(), 70.5) << what;
  EXPECT_GE(coverage.share_of_two(), 93.5) << what;
  EXPECT_LE(coverage.share_of_two(), 96.5) << what;
}

Moments moments(const std::vector<double>& x, double reference) {
  const std::vector<double> references(chunk_size, reference);
  ChunkTree<Moments> tree;
  for (std::size_t i = 0; i < x.size(); i += chunk_size)
    tree.push(functions_of(best_isa()).reduce(x.data() + i, references.data()));
  return tree.result();
}
CoMoments joint(const std::vector<double>& x, const std::vector<double>& y) {
  ChunkTree<CoMoments> tree;
  for (std::size_t i = 0; i < x.size(); i += chunk_size)
    tree.push(functions_of(best_isa()).co_reduce(x.data() + i, y.data() + i));
  return tree.result();
}

struct Distribution {
  const char* name;
  std::function<double(std::mt19937_64&)> draw;
  double mean, variance, median, ninth;  ///< ninth: the quantile of level 0.9
};

TEST(Coverage, OfStatisticsOfOneObservable) {
  const Distribution distributions[] = {
      {"normal", [](auto& e) { return std::normal_distribution<double>(2.0, 1.5)(e); }, 2.0, 2.25, 2.0,
       2.0 + 1.5 * 1.2815515655446004},
      {"uniform", [](auto& e) { return std::uniform_real_distribution<double>(-1.0, 2.0)(e); }, 0.5, 0.75, 0.5, 1.7},
      {"exponential", [](auto& e) { return std::exponential_distribution<double>(1.0)(e); }, 1.0, 1.0, std::log(2.0),
       std::log(10.0)}};
  constexpr double reference = 0.25;
  for (const Distribution& d : distributions) {
    Coverage mean, mse, rms, spread, median, ninth;
    std::mt19937_64 engine(11);
    std::vector<double> x(size);
    const double square = d.variance + (d.mean - reference) * (d.mean - reference);
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      for (double& value : x) value = d.draw(engine);
      const Moments m = moments(x, reference);
      const auto add = [&](Coverage& coverage, const char* name, double truth) {
        coverage.add({statistic_of(m, name), error_of(m, name)}, truth);
      };
      add(mean, "mean", d.mean);
      add(mse, "mse", square);
      add(rms, "rms", std::sqrt(square));
      add(spread, "std", std::sqrt(d.variance));
      const std::vector<ValueWithError> quantiles = quantiles_of(x, {0.5, 0.9});
      median.add(quantiles[0], d.median);
      ninth.add(quantiles[1], d.ninth);
    }
    expect_true(mean, std::string("mean, ") + d.name);
    expect_true(mse, std::string("mse, ") + d.name);
    expect_true(rms, std::string("rms, ") + d.name);
    // The fourth moment of exponential draws is itself uncertain by a tenth at this size.
    if (std::string(d.name) != "exponential") expect_true(spread, std::string("std, ") + d.name);
    EXPECT_GT(spread.share_of_one(), 64.0) << d.name;
    expect_true(median, std::string("median, ") + d.name);
    expect_true(ninth, std::string("quantile 0.9, ") + d.name);
  }
}

TEST(Coverage, OfCorrelationAndCovariance) {
  for (const double rho : {0.0, 0.6, -0.9}) {
    Coverage correlation, covariance;
    std::mt19937_64 engine(12);
    std::normal_distribution<double> normal;
    std::vector<double> x(size), y(size);
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      for (std::size_t i = 0; i < size; ++i) {
        x[i] = normal(engine);
        y[i] = 3.0 * (rho * x[i] + std::sqrt(1.0 - rho * rho) * normal(engine));
      }
      const CoMoments m = joint(x, y);
      correlation.add({correlation_of(m), correlation_error(m)}, rho);
      covariance.add({covariance_of(m), covariance_error(m)}, 3.0 * rho);
    }
    expect_true(correlation, "correlation " + std::to_string(rho));
    expect_true(covariance, "covariance " + std::to_string(rho));
  }
}

/// The slope of the mean square of random walks is the variance of a step. The error from the scatter of the slopes of
/// single walks holds. The least-squares error of the line through the means does not.
TEST(Coverage, OfAFitThroughRandomWalks) {
  constexpr int walks = 512, samples = 64, ensembles = 1500;
  Fit fit{"growth", "x", "mse", Fit::Model::line, 8.0, double(samples), {}};
  std::vector<double> times;
  for (int s = 0; s <= samples; ++s) times.push_back(s);
  const FitTimes window(fit, times);
  std::mt19937_64 engine(13);
  std::normal_distribution<double> normal;
  Coverage honest, least_squares;
  const std::vector<double> zero(chunk_size, 0.0);
  for (int ensemble = 0; ensemble < ensembles; ++ensemble) {
    std::vector<double> x(walks, 0.0), mean(times.size(), 0.0);
    std::vector<double> sums(2 * walks / chunk_size * row_size, 0.0);  // per chunk, two rows
    for (int s = 1; s <= samples; ++s) {
      for (double& value : x) value += normal(engine), mean[std::size_t(s)] += value * value / walks;
      if (std::isnan(window.weight[std::size_t(s)])) continue;
      for (std::size_t c = 0; c < walks / chunk_size; ++c)
        functions_of(best_isa())
            .add_to_fit(x.data() + c * chunk_size, zero.data(), true, window.weight[std::size_t(s)],
                        sums.data() + 2 * c * row_size);
    }
    std::vector<double> intercept(walks), slope(walks);
    for (std::size_t k = 0; k < walks; ++k) {
      const std::size_t row = 2 * (k / chunk_size) * row_size + k % chunk_size;
      const Line line = line_from_sums(window, sums[row], sums[row + row_size]);
      intercept[k] = line.intercept;
      slope[k] = line.slope;
    }
    const FitEstimate estimate = estimate_of_lines(joint(intercept, slope));
    honest.add(estimate.second, 1.0);
    const Line line = line_through(window, mean);
    EXPECT_NEAR(line.slope, estimate.second.value, 1e-10);
    double residuals = 0.0;
    for (std::size_t s = 0; s < times.size(); ++s)
      if (!std::isnan(window.weight[s])) residuals += std::pow(mean[s] - line.intercept - line.slope * times[s], 2);
    least_squares.add({line.slope, std::sqrt(residuals / (window.count - 2.0) / window.squares)}, 1.0);
  }
  EXPECT_GE(honest.share_of_one(), 65.0);
  EXPECT_LE(honest.share_of_one(), 71.0);
  EXPECT_GE(honest.share_of_two(), 93.0);
  EXPECT_LE(honest.share_of_two(), 96.5);
  EXPECT_LT(least_squares.share_of_one(), 30.0) << "the control must fail";
}

/// A power law through the mean squares of random walks, with the jackknife over 32 blocks.
TEST(Coverage, OfAPowerLawWithTheJackknife) {
  constexpr int walks = 512, samples = 32, ensembles = 1500, blocks = 32;
  Fit fit{"growth", "x", "mse", Fit::Model::power, 4.0, double(samples), {}};
  std::vector<double> times;
  for (int s = 0; s <= samples; ++s) times.push_back(s);
  const FitTimes window(fit, times);
  std::mt19937_64 engine(14);
  std::normal_distribution<double> normal;
  Coverage coverage;
  for (int ensemble = 0; ensemble < ensembles; ++ensemble) {
    std::vector<double> x(walks, 0.0), all(times.size(), 0.0);
    std::vector<std::vector<double>> without(blocks, all);
    for (std::size_t s = 1; s < times.size(); ++s)
      for (std::size_t k = 0; k < walks; ++k) {
        x[k] += normal(engine);
        all[s] += x[k] * x[k] / walks;
        without[k % blocks][s] += x[k] * x[k] / walks;
      }
    std::vector<Line> lines;
    for (std::vector<double>& block : without) {
      for (std::size_t s = 0; s < times.size(); ++s) block[s] = (all[s] - block[s]) * blocks / (blocks - 1);
      lines.push_back(curve_through(window, block));
    }
    FitEstimate estimate;
    estimate.second.value = curve_through(window, all).slope;
    coverage.add(with_jackknife(estimate, lines).second, 1.0);
  }
  EXPECT_GE(coverage.share_of_one(), 64.0);  // 31 degrees of freedom
  EXPECT_LE(coverage.share_of_one(), 71.0);
  EXPECT_GE(coverage.share_of_two(), 92.5);
  EXPECT_LE(coverage.share_of_two(), 96.5);
}

/// Two errors from the scatter of few estimates hold the truth as often as two of many.
TEST(Coverage, OfTwoErrorsOfFewEstimates) {
  std::mt19937_64 engine(15);
  std::normal_distribution<double> normal;
  for (const std::size_t count : {2, 3, 4, 8, 16, 64}) {
    int inside = 0;
    for (int repetition = 0; repetition < 20000; ++repetition) {
      std::vector<double> x(count);
      double mean = 0.0;
      for (double& value : x) value = normal(engine), mean += value / double(count);
      inside += std::abs(mean) <= 2.0 * scatter_error(x);
    }
    EXPECT_NEAR(inside / 20000.0, 0.9545, 0.005) << count;
  }
  EXPECT_NEAR(student_factor(1), 6.9838650996, 1e-9);
  EXPECT_NEAR(student_factor(9), 1.15990294913, 1e-9);
  EXPECT_NEAR(student_factor(10), 1.14183910124, 5e-6);
  EXPECT_NEAR(student_factor(30), 1.04342216366, 1e-7);
  EXPECT_TRUE(std::isnan(student_factor(0)));
}

/// Quantiles and other statistics of randomised Sobol points, with the errors from the scatter of the randomisations.
TEST(Coverage, OfFewRandomisations) {
  constexpr std::size_t points = 64;
  constexpr int ensembles = 1200;
  // e^x (1 + sin 3y) + y^2 of uniform numbers x and y, by the midpoint rule with 6000 x 6000 points
  constexpr double deviation = 0.99997351, truths[] = {3.0542169, 4.6419352};
  for (const std::size_t randomisations : {4, 8, 16}) {
    int two[2] = {}, all_of[2] = {}, two_of_std = 0;
    for (int e = 0; e < ensembles; ++e) {
      std::vector<std::vector<double>> blocks(randomisations, std::vector<double>(points));
      std::vector<double> deviations;
      double all = 0.0, squares = 0.0;
      for (std::size_t r = 0; r < randomisations; ++r) {
        const auto shift = static_cast<std::uint64_t>(e) * randomisations + r;
        double sum = 0.0, square = 0.0;
        for (std::size_t i = 0; i < points; ++i) {
          const auto uniform = [&](std::uint32_t d) {
            return double(quasi_random_bits(Axis::Points::sobol, d, i, Draw(3, d, shift).bits())) * 0x1p-53;
          };
          const double y = uniform(1), x = std::exp(uniform(0)) * (1.0 + std::sin(3.0 * y)) + y * y;
          blocks[r][i] = x, sum += x / points, square += x * x / points;
        }
        deviations.push_back(std::sqrt(square - sum * sum));
        all += sum / double(randomisations), squares += square / double(randomisations);
      }
      const std::vector<ValueWithError> q = quantiles_of_blocks(blocks, {0.5, 0.9});
      for (std::size_t l = 0; l < 2; ++l) {
        if (std::isnan(q[l].error)) continue;  // the interval leaves the sample
        two[l] += std::abs(q[l].value - truths[l]) <= 2.0 * q[l].error;
        ++all_of[l];
      }
      two_of_std += std::abs(std::sqrt(squares - all * all) - deviation) <= 2.0 * scatter_error(deviations);
    }
    for (int l = 0; l < 2; ++l) {
      EXPECT_GE(two[l] / double(all_of[l]), 0.93) << randomisations << ' ' << l;
      EXPECT_GE(all_of[l], 0.9 * ensembles) << randomisations << ' ' << l;
    }
    EXPECT_GE(two_of_std / double(ensembles), 0.93) << randomisations;
  }
}

TEST(Errors, HaveDefiniteValuesAtTheEnds) {
  EXPECT_TRUE(std::isnan(error_of(moments(std::vector<double>(chunk_size, std::nan("")), 0.0), "mean")));
  const Moments equal = moments(std::vector<double>(chunk_size, 3.0), 1.0);
  for (const char* name : {"mean", "std", "mse", "rms"}) EXPECT_EQ(error_of(equal, name), 0.0) << name;
  EXPECT_TRUE(std::isnan(effective_number(equal)));
  EXPECT_DOUBLE_EQ(largest_share(equal), 1.0 / chunk_size);
  for (const char* name : {"min", "max", "maxabs"}) EXPECT_TRUE(std::isnan(error_of(equal, name))) << name;
  std::vector<double> x(chunk_size, 0.0);
  x[17] = 1.0;
  EXPECT_DOUBLE_EQ(largest_share(moments(x, 0.0)), 1.0);
  EXPECT_NEAR(effective_number(moments(x, 0.0)), 2.0, 0.02);                // one trajectory carries all
  EXPECT_TRUE(std::isnan(quantiles_of({1.0, 2.0, 3.0}, {0.99})[0].error));  // the interval leaves the sample
}

}  // namespace
