// Errors, fits and groups of runs, against independent sums over the stored trajectories.

#include "rattleback/engine/ensemble_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/run.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace ensemble_statistics_test {

const char* const study = R"toml([system]
name = "chaotic"
parameters = { m = 2 }
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.1
steps = 60
sample_every = 6
[ensemble]
axes = [
  { name = "theta", from = 0.1, to = "pi/2", count = 5 },
  { name = "x", distribution = "uniform", from = 0.3, to = 0.5, seed = 3, draws = 130 },
]
group_by = ["theta"]
[ensemble.initial]
q = ["cos(theta)", 0.6, "x", 1, 1]
v = [0, "sin(theta)", 0, 0, 0]
[[observable]]
name = "energy"
statistics = ["mse", "mean", "std", "rms", "maxabs"]
quantiles = [0.5]
correlation = ["q[0]"]
[[observable]]
name = "q[0]"
statistics = ["mean"]
[[fit]]
name = "growth"
observable = "energy"
from = 1
to = 5
[[fit]]
name = "drift"
observable = "q[0]"
statistic = "mean"
[[fit]]
name = "power"
observable = "energy"
from = 1
model = "power"
[output]
trajectories = "all"
)toml";

Result run_with(const std::vector<std::string>& overrides, const std::string& backend = "cpu:scalar",
                std::uint64_t tile = 0, std::string* warnings = nullptr) {
  RunOptions options;
  options.backend = backend;
  options.tile = tile;
  if (warnings) options.warn = [warnings](const std::string& warning) { *warnings += warning + "\n"; };
  return run(Study::parse(study, "study", overrides), options);
}

TEST(EnsembleStatisticsOfRuns, FitsAreTheMeansOfFitsToTrajectories) {
  const Result result = run_with({});
  const std::size_t n = 650, samples = 11;
  const auto q = result.array("/trajectories/q");  // [sample][trajectory][5]
  const auto time = result.time();
  std::vector<double> slopes(n);
  double t_mean = 0.0, t_squares = 0.0;
  for (const double t : time) t_mean += t / double(samples);
  for (const double t : time) t_squares += (t - t_mean) * (t - t_mean);
  double mean = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t s = 0; s < samples; ++s) slopes[k] += (time[s] - t_mean) * q[(s * n + k) * 5] / t_squares;
    mean += slopes[k] / double(n);
  }
  double squares = 0.0;
  for (const double slope : slopes) squares += (slope - mean) * (slope - mean);
  EXPECT_NEAR(result.array("/fits/drift/slope")[0], mean, 1e-13);
  EXPECT_NEAR(result.array("/fits/drift/slope_error")[0], std::sqrt(squares / (double(n) * double(n - 1))), 1e-13);
  // In a group: trajectories 130 g to 130 (g + 1).
  for (std::size_t g = 0; g < 5; ++g) {
    double group = 0.0;
    for (std::size_t k = 130 * g; k < 130 * (g + 1); ++k) group += slopes[k] / 130.0;
    EXPECT_NEAR(result.array("/groups/fits/drift/slope")[g], group, 1e-13) << g;
  }
  // A power law through the means: a line in logarithms.
  const auto mse = result.statistic("energy", "mse");
  double lx = 0, ly = 0, lxx = 0, lxy = 0, count = 0;
  for (std::size_t s = 0; s < samples; ++s) {
    if (time[s] < 1.0) continue;
    const double x = std::log(time[s]), y = std::log(mse[s]);
    lx += x, ly += y, lxx += x * x, lxy += x * y, count += 1;
  }
  EXPECT_NEAR(result.array("/fits/power/exponent")[0], (count * lxy - lx * ly) / (count * lxx - lx * lx), 1e-9);
  EXPECT_GT(result.array("/fits/power/exponent_error")[0], 0.0);
}

TEST(EnsembleStatisticsOfRuns, FitsHaveTheirWindowAtNegativeTimes) {
  const Result result =
      run_with({"time.start=-6", "ensemble.group_by=[]",
                "fit=[{ name = \"drift\", observable = \"q[0]\", statistic = \"mean\", from = -5, to = -1 },"
                " { name = \"decay\", observable = \"energy\", from = -4, to = -0.5, model = \"exponential\" }]"});
  const auto time = result.time(), mean = result.statistic("q[0]", "mean"), mse = result.statistic("energy", "mse");
  ASSERT_EQ(time.front(), -6.0);
  const auto slope = [&](double from, double to, auto value) {
    double t = 0, y = 0, tt = 0, ty = 0, count = 0;
    for (std::size_t s = 0; s < time.size(); ++s) {
      if (time[s] < from || time[s] > to) continue;
      t += time[s], y += value(s), tt += time[s] * time[s], ty += time[s] * value(s), count += 1;
    }
    return (count * ty - t * y) / (count * tt - t * t);
  };
  EXPECT_NEAR(result.array("/fits/drift/slope")[0], slope(-5, -1, [&](std::size_t s) { return mean[s]; }), 1e-13);
  EXPECT_NEAR(result.array("/fits/decay/rate")[0], slope(-4, -0.5, [&](std::size_t s) { return std::log(mse[s]); }),
              1e-12);
  for (const char* name : {"/fits/drift/slope_error", "/fits/decay/rate_error"}) {
    EXPECT_GT(result.array(name)[0], 0.0) << name;
    EXPECT_LT(result.array(name)[0], 1.0) << name;
  }
}

// steps * step differs from the end in its last bit: 3 * 0.3 is 0.8999999999999999, 3 * 0.1 is 0.30000000000000004.
TEST(EnsembleStatisticsOfRuns, EndAtTheTimeGivenAndFitUpToIt) {
  struct Grid {
    double step;
    int steps;
    double end;
  };
  for (const auto& [step, steps, end] : {Grid{0.3, 3, 0.9}, {0.1, 3, 0.3}, {0.15, 6, 0.9}, {0.07, 10, 0.7}}) {
    const Result result = run_with(
        {fmt::format("time.step={}", step), fmt::format("time.end={}", end), "time.sample_every=1",
         "ensemble.group_by=[]", "ensemble.axes[1].draws=4",
         fmt::format("fit=[{{ name = \"drift\", observable = \"q[0]\", statistic = \"mean\", to = {} }}]", end)});
    const auto time = result.time(), mean = result.statistic("q[0]", "mean");
    ASSERT_EQ(time.size(), std::size_t(steps) + 1);
    EXPECT_EQ(time.back(), end);
    double t = 0, y = 0, tt = 0, ty = 0;
    const double count = steps + 1;
    for (std::size_t s = 0; s < time.size(); ++s)
      t += time[s], y += mean[s], tt += time[s] * time[s], ty += time[s] * mean[s];
    const double slope = (count * ty - t * y) / (count * tt - t * t);
    EXPECT_NEAR(result.array("/fits/drift/slope")[0], slope, 1e-12 * (1.0 + std::abs(slope))) << step;
  }
}

TEST(FitTimes, AreThoseOfTheWindowInBothDirections) {
  Fit fit;
  fit.from = -5.0, fit.to = -1.0;
  std::vector<double> times, y, curve;
  for (int s = 0; s <= 12; ++s) times.push_back(-0.5 * s);  // a run back in time
  for (const double t : times)
    y.push_back(t < -5.0 || t > -1.0 ? 1e3 : 2.0 - 3.0 * t), curve.push_back(std::exp(y.back()));
  const FitTimes back(fit, times);
  EXPECT_EQ(back.count, 9.0);
  EXPECT_EQ(back.mean, -3.0);
  EXPECT_TRUE(std::isnan(back.weight[1]) && std::isnan(back.weight[11]));
  EXPECT_EQ(back.weight[2], 2.0);
  EXPECT_EQ(back.weight[10], -2.0);
  EXPECT_NEAR(line_through(back, y).slope, -3.0, 1e-14);
  EXPECT_NEAR(line_through(back, y).intercept, 2.0, 1e-14);
  EXPECT_NEAR(curve_through(back, curve).slope, -3.0, 1e-13);
  EXPECT_EQ(first_without_logarithm(back, curve), curve.size());
  curve[0] = curve[12] = 0.0;  // outside
  EXPECT_EQ(first_without_logarithm(back, curve), curve.size());
  curve[2] = 0.0;
  EXPECT_EQ(first_without_logarithm(back, curve), 2u);
  for (std::vector<double>* values : {&times, &y}) std::reverse(values->begin(), values->end());
  EXPECT_NEAR(line_through(FitTimes(fit, times), y).slope, -3.0, 1e-14);
}

TEST(EnsembleStatisticsOfRuns, SayWhyAFitHasNoNumbers) {
  const auto warnings = [](const std::vector<std::string>& overrides) {
    std::string text;
    (void)run_with(overrides, "cpu:scalar", 0, &text);
    return text;
  };
  EXPECT_EQ(warnings({}), "");
  // The errors are 0 at the start.
  const std::string zero = warnings({"fit[2].model=\"exponential\"", "fit[2].from=0"});
  const std::string reason =
      "the mse of 'energy' is 0 at time 0, and the model needs numbers above 0; change from and to, or take model = "
      "\"line\"\n";
  EXPECT_EQ(zero, "the fit 'power' has no parameters: " + reason +
                      "the fit 'power' has no parameters in 5 of 5 groups: " + reason);
  const std::string alone = warnings(
      {"ensemble.axes[0].to=0.1", "ensemble.axes[0].count=1", "ensemble.axes[1].draws=1", "ensemble.group_by=[]"});
  for (const char* line : {"the fit 'growth' has no errors: an error needs more than one trajectory",
                           "the fit 'power' has no errors: without one block of trajectories no trajectory counts at "
                           "time 1.2, and the model needs"})
    EXPECT_NE(alone.find(line), std::string::npos) << line << "\n" << alone;
}

TEST(EnsembleStatisticsOfRuns, GroupsHaveTheNumbersOfRunsOfTheirOwn) {
  const Result all = run_with({});
  ASSERT_EQ(all.array("/groups/axes/theta")[0], 0.1);
  // A study with the first value alone has the same draws.
  const Result alone = run_with({"ensemble.axes[0].to=0.1", "ensemble.axes[0].count=1"});
  for (const char* name : {"mean", "mse", "std", "rms", "mean_error", "mse_error", "std_error", "quantile_0.5",
                           "quantile_0.5_error", "correlation_q[0]", "correlation_q[0]_error"})
    for (std::size_t s = 1; s < 11; ++s) {
      const double expected = alone.statistic("energy", name)[s],
                   found = all.array("/groups/observables/energy/" + std::string(name))[s];
      // The error of a correlation near 1 is a difference of numbers near 1.
      const double round_off = std::string(name) == "correlation_q[0]_error" ? 1e-9 : 0.0;
      EXPECT_NEAR(found, expected, 1e-9 * std::abs(expected) + round_off) << name << " " << s;
    }
}

TEST(EnsembleStatisticsOfRuns, HaveTheSameBitsHoweverTheyRun) {
  const Result reference = run_with({});
  for (const auto& [backend, tile] :
       {std::pair<std::string, std::uint64_t>{"cpu", 0}, {"cpu:scalar", 256}, {"cpu", 300}}) {
    const Result other = run_with({}, backend, tile);
    EXPECT_EQ(differences(reference, other), "") << backend << " " << tile;
  }
  EXPECT_EQ(differences(reference, in_two_pieces(Study::parse(study))), "");
}

TEST(CudaBackend, StatisticsHaveTheBitsOfTheProcessor) {
  std::string reason;
  if (!make_cuda_backend(reason)) GTEST_SKIP() << reason;
  EXPECT_EQ(differences(run_with({}), run_with({}, "cuda")), "");
}

TEST(EnsembleStatisticsOfRuns, ErrorsOfRepetitionsAreTheirScatter) {
  // 60 repetitions with other draws: the scatter of each number is the error that the runs state.
  constexpr int repetitions = 60;
  std::vector<double> mean, mse, median, slope;
  double mean_error = 0, mse_error = 0, median_error = 0, slope_error = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const Result result = run_with(
        {"ensemble.axes[0].count=1", "ensemble.axes[0].to=0.1", "ensemble.group_by=[]", "ensemble.axes[1].draws=512",
         "ensemble.axes[1].seed=" + std::to_string(100 + repetition), "output.trajectories=[]"});
    const auto last = [&](const std::string& name) { return result.statistic("energy", name).back(); };
    mean.push_back(last("mean")), mean_error += last("mean_error") / repetitions;
    mse.push_back(last("mse")), mse_error += last("mse_error") / repetitions;
    median.push_back(last("quantile_0.5")), median_error += last("quantile_0.5_error") / repetitions;
    slope.push_back(result.array("/fits/growth/slope")[0]);
    slope_error += result.array("/fits/growth/slope_error")[0] / repetitions;
  }
  const auto scatter = [](const std::vector<double>& x) {
    return scatter_error(x) / student_factor(x.size() - 1) * std::sqrt(double(x.size()));
  };
  EXPECT_NEAR(scatter(mean) / mean_error, 1.0, 0.3);
  EXPECT_NEAR(scatter(mse) / mse_error, 1.0, 0.3);
  EXPECT_NEAR(scatter(median) / median_error, 1.0, 0.3);
  EXPECT_NEAR(scatter(slope) / slope_error, 1.0, 0.3);
}

TEST(EnsembleStatisticsOfRuns, OfRandomisationsScatterAsStated) {
  // The error of a quasi-random ensemble comes from its randomisations, and is far below that of independent draws.
  const std::vector<std::string> sobol{
      "ensemble.axes=[{ name = \"theta\", distribution = \"sobol\", from = 0.1, to = 0.2, seed = 5 }, "
      "{ name = \"x\", distribution = \"sobol\", from = 0.3, to = 0.5, seed = 6 }]",
      "ensemble.draws=4096", "ensemble.randomisations=16", "ensemble.group_by=[]", "output.trajectories=[]"};
  const Result result = run_with(sobol);
  std::vector<std::string> random = sobol;
  for (std::size_t at; (at = random[0].find("sobol")) != std::string::npos;) random[0].replace(at, 5, "uniform");
  std::erase_if(random, [](const std::string& s) { return s.starts_with("ensemble.randomisations"); });
  const Result draws = run_with(random);
  const double error = result.statistic("q[0]", "mean_error").back(),
               other = draws.statistic("q[0]", "mean_error").back();
  EXPECT_GT(error, 0.0);
  EXPECT_LT(error, 0.1 * other);
  EXPECT_LT(std::abs(result.statistic("q[0]", "mean").back() - draws.statistic("q[0]", "mean").back()), 4.0 * other);
}

TEST(EnsembleStatisticsOfRuns, ErrorsOfTheStateComeFromRandomisations) {
  constexpr std::size_t n = 1024, blocks = 8, samples = 11, d = 5;
  const std::vector<std::string> overrides{
      "ensemble.axes=[{ name = \"theta\", distribution = \"sobol\", from = 0.1, to = 0.2, seed = 5 }, "
      "{ name = \"x\", distribution = \"sobol\", from = 0.3, to = 0.5, seed = 6 }]",
      "ensemble.draws=1024", "ensemble.randomisations=8", "ensemble.group_by=[]", "output.covariance=[\"q\"]"};
  const Result result = run_with(overrides);
  const auto q = result.array("/trajectories/q");  // [sample][trajectory][d]
  for (std::size_t s = 0; s < samples; s += 5)
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j) {
        std::vector<double> mean(blocks), covariance(blocks);
        for (std::size_t b = 0; b < blocks; ++b) {
          double x = 0.0, y = 0.0, xy = 0.0;
          constexpr std::size_t size = n / blocks;
          const auto at = [&](std::size_t k, std::size_t c) { return q[(s * n + b * size + k) * d + c]; };
          for (std::size_t k = 0; k < size; ++k) x += at(k, i) / size, y += at(k, j) / size;
          for (std::size_t k = 0; k < size; ++k) xy += (at(k, i) - x) * (at(k, j) - y) / size;
          mean[b] = x, covariance[b] = xy;
        }
        EXPECT_NEAR(result.array("/state/mean_error")[s * d + i], scatter_error(mean), 1e-14) << s << " " << i;
        EXPECT_NEAR(result.array("/state/covariance_error")[(s * d + i) * d + j], scatter_error(covariance), 1e-14)
            << s << " " << i << " " << j;
      }
  // The mean of q[0] is also that of the observable; far below the error of independent draws.
  const auto of_state = result.array("/state/mean_error");
  EXPECT_EQ(of_state[10 * d], result.statistic("q[0]", "mean_error").back());
  const auto covariance = result.array("/state/covariance");
  EXPECT_LT(of_state[10 * d], 0.1 * std::sqrt(covariance[10 * d * d] / n));
  EXPECT_EQ(differences(result, run_with(overrides, "cpu", 256)), "");
}

TEST(FitsOfStudies, RefuseBadInput) {
  const auto fault = [](const std::vector<std::string>& overrides) {
    try {
      (void)Study::parse(study, "study", overrides);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto expect = [&](const std::string& override, const std::string& text) {
    EXPECT_NE(fault({override}).find(text), std::string::npos) << override << ": " << fault({override});
  };
  expect("fit[0].statistic=\"max\"", "has no error");
  expect("fit[0].statistic=\"std\"", "not a mean over the trajectories");
  expect("fit[0].statistic=\"msee\"", "unknown statistic");
  expect("fit[0].observable=\"enrgy\"", "did you mean 'energy'");
  expect("fit[0].model=\"cubic\"", "unknown model");
  expect("fit[0].from=4.5", "has 1 sample between");
  expect("fit[0].from=9", "needs from < to");
  expect("fit[0].to=0.5", "needs from < to");
  expect("fit[0].name=\"drift\"", "appears twice");
  expect("fit[2].from=0", "is a power of the time");
  expect("ensemble.group_by=[\"x\"]", "is random");
  expect("ensemble.group_by=[\"thata\"]", "did you mean 'theta'");
  expect("ensemble.group_by=[\"theta\", \"theta\"]", "appears twice");
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(Study::parse(Study::parse(study).to_toml()).to_toml(), Study::parse(study).to_toml());
}

}  // namespace ensemble_statistics_test
