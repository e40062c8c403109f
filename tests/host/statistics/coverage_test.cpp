// Stated errors are true: intervals of one and of 1.96 errors cover the known answer as often as they should, over many
// synthetic ensembles. The least-squares error over times, which takes samples as independent, is the control that fails.

#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "rattleback/ensemble/groups.hpp"
#include "rattleback/isa/isa.hpp"
#include "rattleback/statistics/fit.hpp"
#include "rattleback/statistics/statistics.hpp"

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
