// Long studies of the nonholonomic paper against independently computed numbers.

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/rattleback.hpp"

using namespace rattleback;

namespace acceptance_test {

std::string chaotic(const char* variant, int stages, double step, double end, int members, int samples) {
  return fmt::format(R"toml(
[system]
name = "chaotic"
variant = "{}"
[method]
name = "nonholonomic-lobatto"
stages = {}
[time]
step = {}
end = {}
samples = {}
[ensemble]
axes = [{{ name = "theta", from = 0, to = "pi/2", count = {} }}]
[ensemble.initial]
q = ["cos(theta)", 0.6, 0.4, 0.2, 1, 1, 1]
v = [0, "sin(theta)", 0, 0, 0, 0, 0]
[[observable]]
name = "energy"
reference = 3.06
statistics = ["mse", "maxabs"]
[[observable]]
name = "constraint"
statistics = ["max"]
)toml",
                     variant, stages, step, end, samples, members);
}

std::string cvt(const char* velocity, double epsilon, int stages, double step, int steps) {
  return fmt::format(R"toml(
[system]
name = "pendulum-cvt"
parameters = {{ epsilon = {} }}
[method]
name = "nonholonomic-lobatto"
stages = {}
[time]
step = {:.17g}
steps = {}
sample_every = 1
[ensemble.initial]
q = [1, 0, 1]
v = [0, "{}", 0]
[[observable]]
name = "driver_energy"
[[observable]]
name = "passenger_energy"
)toml",
                     epsilon, stages, step, steps, velocity);
}

constexpr const char* low = "3*sqrt(10)/5";
constexpr const char* high = "sqrt(8)";

struct Range {
  double minimum, maximum;
};

Range range_of(std::span<const double> x) { return {*std::ranges::min_element(x), *std::ranges::max_element(x)}; }

/// Least-squares slope of y over t where t >= from.
double slope(std::span<const double> t, std::span<const double> y, double from = 0.0) {
  double n = 0, st = 0, sy = 0, stt = 0, sty = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (t[i] < from) continue;
    n += 1;
    st += t[i];
    sy += y[i];
    stt += t[i] * t[i];
    sty += t[i] * y[i];
  }
  return (n * sty - st * sy) / (n * stt - st * st);
}

TEST(ChaoticStudy, ReproducesTheMeanSquaredEnergyErrorAtShortTimes) {
  struct Row {
    const char* variant;
    int stages;
    double mu[3];  // mu / h^(4s-4) at t = 1, 10, 30
    double tolerance;
  };
  const Row rows[] = {
      {"contact", 2, {9.674094862e-2, 1.354010962e-1, 1.383923709e-1}, 1e-9},
      {"contact", 3, {1.968169724e-4, 2.395150381e-5, 4.159627377e-4}, 1e-7},
      {"contact", 4, {1.370705e-7, 1.387424e-6, 7.034703e-6}, 1e-4},
      {"printed", 2, {4.258587145e-3, 2.470582152e-2, 2.213775582e-2}, 1e-9},
      {"printed", 3, {3.327661003e-4, 6.016875670e-5, 8.501369439e-5}, 1e-7},
  };
  for (const Row& row : rows) {
    const Result result = run(Study::parse(chaotic(row.variant, row.stages, 0.1, 30, 32, 30)));
    const auto mse = result.statistic("energy", "mse");
    const double scale = std::pow(0.1, 4 * row.stages - 4);
    const int sample[] = {1, 10, 30};
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(mse[sample[i]] / scale / row.mu[i], 1.0, row.tolerance)
          << row.variant << ", s = " << row.stages << ", t = " << sample[i];
    EXPECT_LT(result.statistic("energy", "maxabs").front(), 4e-15);  // every member starts at energy 3.06
    EXPECT_EQ(result.statistic("constraint", "max").front(), 0.0);
  }
}

TEST(ChaoticStudy, EnergyErrorScalesWithTheOrder) {
  for (const int stages : {2, 3, 4})
    for (const int t : {10, 30}) {
      double previous = 0.0;
      for (const double step : {0.2, 0.1, 0.05}) {
        const Result result = run(Study::parse(chaotic("contact", stages, step, t, 128, 1)));
        const double mse = result.statistic("energy", "mse").back();
        if (previous > 0.0) {
          EXPECT_NEAR(std::log2(previous / mse), 4 * stages - 4, 0.15) << "s = " << stages << ", t = " << t;
        }
        previous = mse;
      }
    }
}

TEST(ChaoticStudy, EnergyErrorGrowsLinearly) {
  const double bounds[][2] = {{0.7e-3, 1.4e-3}, {0.6e-5, 1.3e-5}};
  for (const int stages : {2, 3}) {
    const Result result = run(Study::parse(chaotic("contact", stages, 0.1, 1e4, 128, 1000)));
    std::vector<double> mu(result.statistic("energy", "mse").begin(), result.statistic("energy", "mse").end());
    for (double& x : mu) x /= std::pow(0.1, 4 * stages - 4);
    const double rate = slope(result.time(), mu);
    EXPECT_GT(rate, bounds[stages - 2][0]);
    EXPECT_LT(rate, bounds[stages - 2][1]);
    std::vector<double> log_t, log_mu;
    for (std::size_t i = 0; i < mu.size(); ++i)
      if (result.time()[i] >= 100) {
        log_t.push_back(std::log(result.time()[i]));
        log_mu.push_back(std::log(mu[i]));
      }
    const double exponent = slope(log_t, log_mu);
    EXPECT_GT(exponent, 0.8);
    EXPECT_LT(exponent, 1.1);
    EXPECT_LT(range_of(result.statistic("constraint", "max")).maximum, 1e-14);
  }
}

TEST(CvtStudy, EnergiesStayInTheirRangesAndDoNotDrift) {
  struct Row {
    const char* velocity;
    Range passenger, driver;
  };
  const Row rows[] = {{low, {0.98742, 1.00126}, {0.79746, 0.80427}}, {high, {0.9751, 1.0013}, {2.9946, 3.0127}}};
  for (const Row& row : rows) {
    double error[2];
    for (const int i : {0, 1}) {
      const Result result = run(Study::parse(cvt(row.velocity, 0.5, 2, 0.1 / (i + 1), 100000 * (i + 1))));
      const auto passenger = result.statistic("passenger_energy", "mean");
      const Range p = range_of(passenger), d = range_of(result.statistic("driver_energy", "mean"));
      error[i] = std::max(std::abs(p.minimum - 1), std::abs(p.maximum - 1));
      if (i == 1) continue;
      EXPECT_GE(p.minimum, row.passenger.minimum);
      EXPECT_LE(p.maximum, row.passenger.maximum);
      EXPECT_GE(d.minimum, row.driver.minimum);
      EXPECT_LE(d.maximum, row.driver.maximum);
      EXPECT_LT(std::abs(slope(result.time(), passenger)), 2e-9);
    }
    EXPECT_GT(error[0] / error[1], 4.0);
    EXPECT_LT(error[0] / error[1], 4.3);
  }
}

TEST(CvtStudy, AStepOfPiOverTenIsErratic) {
  const Result result = run(Study::parse(cvt(low, 0.5, 2, M_PI / 10, 318)));
  EXPECT_LT(range_of(result.statistic("passenger_energy", "mean")).minimum, 0.7);
}

TEST(CvtStudy, ThreeStagesDriftInTheRotatingRegimeOnly) {
  const auto drift = [](const char* velocity, double epsilon, int stages) {
    const Result result = run(Study::parse(cvt(velocity, epsilon, stages, 0.1, 100000)));
    return slope(result.time(), result.statistic("passenger_energy", "mean"));
  };
  const double rotating = drift(high, 0.5, 3);
  EXPECT_GT(rotating, -4.5e-7);
  EXPECT_LT(rotating, -3.2e-7);
  for (const int stages : {3, 4}) {
    EXPECT_LT(std::abs(drift(low, 0.5, stages)), 1e-10);
    EXPECT_LT(std::abs(drift(low, 0.0, stages)), 1e-10);
    EXPECT_LT(std::abs(drift(high, 0.0, stages)), 1e-10);
  }
}

}  // namespace acceptance_test
