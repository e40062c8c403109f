// Sections and the statistics over the ensemble beyond moments, through the host API.

#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/rattleback.hpp"
#include "rattleback/study/statistics.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

using Overrides = std::vector<std::string>;

const std::string henon = henon_heiles_orbits + R"toml(
end = 60
samples = 6
[[observable]]
name = "energy"
statistics = ["mean"]
)toml";

Study parse(const std::string& text, const Overrides& overrides) { return Study::parse(text, "s.toml", overrides); }

std::string message_of(const Overrides& overrides) {
  try {
    (void)parse(henon, overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "no error";
}

/// The crossings of one section of one trajectory, found again: every step is recorded, and where the sign changes the
/// state is that of a run of its own with as many steps and a shorter one, found by bisection.
struct Crossing {
  double time;
  std::vector<double> q;
};
std::vector<Crossing> crossings_by_bisection(double a, const std::function<double(std::span<const double>)>& g) {
  const auto state_after = [&](int steps, double h) {
    Overrides overrides{"ensemble.axes=[]", "time.samples=1", "output.trajectories=[]"};
    Study study =
        parse(henon, {"ensemble.axes=[]", "ensemble.initial.q=[0," + std::to_string(a) + "]", "time.samples=1"});
    study.observables.clear();
    study.time.steps.reset();
    study.time.sample_every.reset();
    study.time.samples.reset();
    study.time.end.reset();
    std::vector<double> q{0.0, a}, p{0.35, 0.1};
    for (const auto& [count, size] : {std::pair{steps, 0.05}, {1, h}}) {
      if (count == 0 || size == 0.0) continue;
      study.ensemble.q.assign(q.begin(), q.end());
      study.ensemble.v.clear();
      study.ensemble.p.assign(p.begin(), p.end());
      study.time.step = size;
      study.time.steps = static_cast<std::uint64_t>(count);
      study.time.end.reset();
      study.time.sample_every.reset();
      study.time.samples.reset();
      const Result result = run(study);
      q.assign(result.array("/final/q").begin(), result.array("/final/q").end());
      p.assign(result.array("/final/p").begin(), result.array("/final/p").end());
    }
    return q;
  };
  Study every = parse(henon, {"ensemble.axes=[]", "ensemble.initial.q=[0," + std::to_string(a) + "]",
                              "time.samples=1200", "output.trajectories=[0]"});
  const Result all = run(every);
  const auto q = all.array("/trajectories/q");
  std::vector<Crossing> found;
  for (std::size_t k = 0; k + 1 < all.time().size(); ++k) {
    if (!(g(q.subspan(2 * k, 2)) < 0.0 && g(q.subspan(2 * k + 2, 2)) >= 0.0)) continue;
    double low = 0.0, high = 0.05;
    for (int i = 0; i < 50; ++i) {
      const double middle = 0.5 * (low + high);
      (g(state_after(static_cast<int>(k), middle)) < 0.0 ? low : high) = middle;
    }
    found.push_back({0.05 * static_cast<double>(k) + high, state_after(static_cast<int>(k), high)});
  }
  return found;
}

TEST(Sections, AreWhereAShorterStepMeetsTheSurface) {
  const Result result = run(
      parse(henon, {"ensemble.axes=[{name=\"a\", values=[0.1, 0.25]}]", "section=[{surface=\"x^2 - 0.2*y - 0.01\"}]"}));
  const auto trajectory = std::get<std::vector<std::uint64_t>>(result.dataset("/sections/0/trajectory").values);
  const auto q = result.matrix("/sections/0/q");
  const auto time = result.array("/sections/0/time");
  std::size_t row = 0;
  for (const double a : {0.1, 0.25}) {
    const auto expected =
        crossings_by_bisection(a, [](std::span<const double> x) { return x[0] * x[0] - 0.2 * x[1] - 0.01; });
    EXPECT_GE(expected.size(), 10u);
    for (const Crossing& crossing : expected) {
      ASSERT_LT(row, trajectory.size());
      EXPECT_EQ(trajectory[row], a == 0.1 ? 0u : 1u);
      EXPECT_NEAR(time[row], crossing.time, 1e-13);
      for (int i = 0; i < 2; ++i)
        EXPECT_NEAR(q(static_cast<Eigen::Index>(row), i), crossing.q[static_cast<std::size_t>(i)], 1e-14);
      EXPECT_EQ(result.array("/sections/0/direction")[row], 1.0);
      EXPECT_LE(result.array("/sections/0/residual")[row], 1e-16);
      ++row;
    }
  }
  EXPECT_EQ(row, trajectory.size());
}

TEST(Sections, BothDirectionsAreTheUnionOfTheTwo) {
  const Result result = run(parse(henon, {"section=[{name=\"up\", surface=\"v[0]\", direction=\"+\"}, "
                                          "{name=\"down\", surface=\"v[0]\", direction=\"-\"}, "
                                          "{name=\"both\", surface=\"v[0]\", direction=\"both\"}]"}));
  const auto up = result.array("/sections/up/time"), down = result.array("/sections/down/time"),
             both = result.array("/sections/both/time"), sign = result.array("/sections/both/direction");
  EXPECT_EQ(up.size() + down.size(), both.size());
  EXPECT_GT(up.size(), 1000u);
  std::size_t i = 0, j = 0;
  for (std::size_t k = 0; k < both.size(); ++k) EXPECT_EQ(both[k], sign[k] > 0 ? up[i++] : down[j++]);
}

TEST(Sections, DoNotDependOnHowTheyAreRun) {
  const Overrides sections{
      "section=[{surface=\"x\"}, {surface=\"tanh(p[1]) - 0.1*atan2(y, 1.5)\", direction=\"both\"}]",
      "observable=[{name=\"energy\", histogram={from=0.05, to=0.2, bins=7}, correlation=[\"q[1]\"]}]",
      "output.covariance=[\"q\", \"v\"]", "time.step=\"0.05*(1+(a>0))\""};
  const Result reference = run(parse(henon, sections), {.backend = "cpu:scalar", .threads = 1});
  for (const Isa isa : all_isas()) {
    if (!has_isa(isa)) continue;
    for (const unsigned threads : {1u, 3u})
      for (const std::uint64_t tile : {0u, 256u}) {
        const RunOptions options{.backend = std::string("cpu:") + to_string(isa), .threads = threads, .tile = tile};
        const Result result = run(parse(henon, sections), options);
        for (const char* path :
             {"/sections/0/time", "/sections/0/q", "/sections/0/p", "/sections/1/v", "/sections/1/residual",
              "/observables/energy/correlation_q[1]", "/state/covariance", "/state/mean"}) {
          const auto a = reference.array(path), b = result.array(path);
          ASSERT_EQ(a.size(), b.size()) << path;
          EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0) << path << ' ' << options.backend;
        }
        EXPECT_TRUE(reference.dataset("/observables/energy/histogram").values ==
                    result.dataset("/observables/energy/histogram").values);
      }
  }
}

/// A particle that moves along x at speed 1 from x = 0 in steps of 1/8, exact in binary, and oscillates in y.
Study straight_line(const std::string& sections) {
  return Study::parse(R"toml(
[system]
name = "straight-line"
coordinates = ["x", "y"]
potential = "y^2/2"
[method]
name = "lobatto"
stages = 2
[time]
step = 0.125
end = 1
[ensemble.initial]
q = [0, 0]
v = [1, 0]
)toml" + sections);
}

TEST(Sections, ACrossingIsARoot) {
  struct Row {
    const char* surface;
    double residual;  ///< of the one crossing; negative for none
  };
  const Row rows[] = {{"x - 0.3", 1e-16},
                      {"x < 0.3 ? -1 : 1", -1.0},
                      {"sign(x - 0.3)", -1.0},
                      {"1/(x - 0.3)", -1.0},
                      {"x - 0.3 + 1e-4*sign(x - 0.3)", -1.0},
                      {"sign(x - 0.3)*sqrt(abs(x - 0.3))", 2e-8},
                      {"tanh(1e12*(x - 0.3))", 2e-4},
                      {"sqrt(x - 0.3)", -1.0}};
  std::string sections;
  for (const Row& row : rows) sections += fmt::format("[[section]]\nsurface = \"{}\"\n", row.surface);
  const Result result = run(straight_line(sections));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(rows[i].surface);
    const auto time = result.array(fmt::format("/sections/{}/time", i));
    ASSERT_EQ(time.size(), rows[i].residual < 0 ? 0u : 1u);
    if (time.empty()) continue;
    EXPECT_NEAR(time[0], 0.3, 1e-15);
    EXPECT_LE(result.array(fmt::format("/sections/{}/residual", i))[0], rows[i].residual);
  }
}

TEST(Sections, EndsOfStepsBelongToTheStepThatReachesThem) {
  const Result result = run(straight_line(R"toml(
[[section]]
name = "through"
surface = "x - 0.5"
direction = "both"
[[section]]
name = "touching"
surface = "-(x - 0.5)^2"
direction = "both"
[[section]]
name = "start"
surface = "x"
direction = "both"
[[section]]
name = "noise"
surface = "(energy - 0.5)*1e-30 + (x - 0.3)*1e-25"
)toml"));
  for (const char* name : {"through", "touching"}) {
    const auto time = result.array(fmt::format("/sections/{}/time", name));
    ASSERT_EQ(time.size(), 1u) << name;
    EXPECT_EQ(time[0], 0.5);
    EXPECT_EQ(result.array(fmt::format("/sections/{}/residual", name))[0], 0.0);
  }
  EXPECT_EQ(result.array("/sections/start/time").size(), 0u);
  EXPECT_EQ(result.array("/sections/noise/time").size(), 1u);
}

/// The multiplier of a crossing just after the beginning of a step is that of the state there.
TEST(Sections, MultipliersDoNotDependOnTheFractionOfTheStep) {
  for (const char* method : {"{name=\"holonomic-lobatto\", stages=3}", "{name=\"ggl-vi-s\"}"}) {
    const Result result = run(Study::parse(fmt::format(R"toml(
system = {{ name = "planar-pendulum" }}
method = {}
time = {{ step = 0.05, steps = 1 }}
[ensemble]
project = true
axes = [{{ name = "e", values = [1e-3, 1e-5, 1e-7, 1e-9, 1e-12, 1e-14] }}]
[ensemble.initial]
q = ["-0.05*0.9*e", -1]
v = [0.9, 0]
[[section]]
surface = "x"
)toml",
                                                       method)));
    const auto time = result.array("/sections/0/time"), lambda = result.array("/sections/0/lambda");
    ASSERT_EQ(time.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(lambda[i], -1.81, i == 0 ? 1e-4 : 1e-8) << method << time[i];
  }
}

TEST(Sections, ReturnsAreThoseOfTheTable) {
  const Result result = run(parse(
      henon,
      {"section=[{surface=\"x\", name=\"a\", returns={statistics=[\"mean\",\"std\",\"min\",\"max\"], quantiles=[0.5], "
       "histogram={from=5.9, to=6.2, bins=3}}}]"}));
  std::vector<double> times;
  for (const double time : result.array("/sections/a/return_time"))
    if (!std::isnan(time)) times.push_back(time);
  ASSERT_GT(times.size(), chunk_size / 2);
  const auto number = [&](const std::string& name) { return result.array("/sections/a/returns/" + name)[0]; };
  const auto count = [&](const std::string& name) {
    return std::get<std::vector<std::uint64_t>>(result.dataset("/sections/a/returns/" + name).values);
  };
  const Eigen::Map<const Eigen::ArrayXd> t(times.data(), static_cast<Eigen::Index>(times.size()));
  const double n = static_cast<double>(times.size()), std = std::sqrt((t - t.mean()).square().sum() / (n - 1.0));
  EXPECT_EQ(count("count")[0], times.size());
  EXPECT_NEAR(number("mean"), t.mean(), 1e-14 * t.mean());
  EXPECT_NEAR(number("mean_error"), std / std::sqrt(n), 1e-12);
  EXPECT_NEAR(number("std"), std * std::sqrt((n - 1.0) / n), 1e-12);
  EXPECT_EQ(number("min"), t.minCoeff());
  EXPECT_EQ(number("max"), t.maxCoeff());
  EXPECT_EQ(number("quantile_0.5"), quantiles_of(times, {0.5})[0].value);
  std::vector<std::uint64_t> counts(5);
  count_into({5.9, 6.2, 3}, times.data(), times.size(), counts.data());
  EXPECT_EQ(count("histogram"), std::vector<std::uint64_t>(counts.begin() + 1, counts.end() - 1));
  EXPECT_EQ(count("histogram_outside"), (std::vector<std::uint64_t>{counts[0], counts[4]}));
}

TEST(Sections, ChangeNoOtherNumber) {
  const Result with = run(parse(henon, {"section=[{surface=\"x\"}]"})), without = run(parse(henon, {}));
  EXPECT_TRUE(with.matrix("/final/q") == without.matrix("/final/q"));
  EXPECT_EQ(with.statistic("energy", "mean").back(), without.statistic("energy", "mean").back());
}

TEST(Statistics, HistogramCorrelationAndCovarianceAgreeWithEigen) {
  const Result result = run(parse(
      henon,
      {"output.trajectories=\"all\"", "output.covariance=[\"q\", \"p\"]",
       "observable=[{name=\"q[0]\", statistics=[], histogram={from=-0.3, to=0.3, bins=11}, correlation=[\"q[1]\", "
       "\"q[0]\"]}]"}));
  const auto q = result.array("/trajectories/q"), p = result.array("/trajectories/p");
  const std::size_t samples = result.time().size(), size = 700;
  const auto histogram = std::get<std::vector<std::uint64_t>>(result.dataset("/observables/q[0]/histogram").values);
  const auto outside =
      std::get<std::vector<std::uint64_t>>(result.dataset("/observables/q[0]/histogram_outside").values);
  const auto edges = result.array("/observables/q[0]/histogram_edges");
  for (std::size_t s = 0; s < samples; ++s) {
    Eigen::MatrixXd x(size, 4);
    for (std::size_t k = 0; k < size; ++k)
      x.row(static_cast<Eigen::Index>(k)) << q[(s * size + k) * 2], q[(s * size + k) * 2 + 1], p[(s * size + k) * 2],
          p[(s * size + k) * 2 + 1];
    const Eigen::MatrixXd centred = x.rowwise() - x.colwise().mean();
    const Eigen::MatrixXd covariance = centred.transpose() * centred / static_cast<double>(size);
    for (Eigen::Index i = 0; i < 4; ++i) {
      EXPECT_NEAR(result.array("/state/mean")[s * 4 + static_cast<std::size_t>(i)], x.col(i).mean(), 1e-15);
      for (Eigen::Index j = 0; j < 4; ++j)
        EXPECT_NEAR(result.array("/state/covariance")[s * 16 + static_cast<std::size_t>(4 * i + j)], covariance(i, j),
                    1e-15);
    }
    const double correlation = covariance(0, 1) / std::sqrt(covariance(0, 0) * covariance(1, 1));
    if (s == 0) {  // q[0] does not vary yet
      EXPECT_TRUE(std::isnan(result.array("/observables/q[0]/correlation_q[1]")[s]));
    } else {
      EXPECT_NEAR(result.array("/observables/q[0]/correlation_q[1]")[s], correlation, 1e-12);
      EXPECT_NEAR(result.array("/observables/q[0]/correlation_q[0]")[s], 1.0, 1e-15);
    }
    std::uint64_t counted = outside[2 * s] + outside[2 * s + 1];
    for (std::size_t b = 0; b < 11; ++b) {
      std::uint64_t expected = 0;
      for (std::size_t k = 0; k < size; ++k) {
        const double value = q[(s * size + k) * 2];
        expected += value >= edges[b] && value < edges[b + 1];
      }
      EXPECT_EQ(histogram[s * 11 + b], expected) << s << ' ' << b;
      counted += histogram[s * 11 + b];
    }
    EXPECT_EQ(counted, size);
  }
}

TEST(Statistics, HistogramsCountEveryNumberOnce) {
  const double values[] = {-1.0, 0.0, 0.24999, 0.25, 1.0, 1.0000001, std::nan("")};
  std::uint64_t counts[6] = {};
  count_into({0.0, 1.0, 4}, values, 7, counts);
  EXPECT_EQ(std::vector<std::uint64_t>(counts, counts + 6), (std::vector<std::uint64_t>{1, 2, 1, 0, 1, 1}));
}

TEST(Sections, BadInputGivesItsMessage) {
  const std::pair<std::string, std::string> table[] = {
      {"section=[{surface=\"w\"}]", "unknown name 'w' (known: "},
      {"section=[{surface=\"q[2]\"}]", "unknown name 'q[2]'"},
      {"section=[{surface=\"x +\"}]", "it ends where a value is expected"},
      {"section=[{surface=\"(x\"}]", "a ')' is missing"},
      {"section=[{surface=\"x ) y\"}]", "(column 3): ') y' is not expected"},
      {"section=[{surface=\"x/(y - y)\"}]", "it divides by 0"},
      {"section=[{surface=\"1 + 2\"}]", "it depends neither on the state nor on the time"},
      {"section=[{surface=\"x\", direction=\"up\"}]", "section[0].direction must be \"+\", \"-\" or \"both\""},
      {"section=[{direction=\"+\"}]", "section[0].surface is missing"},
      {"section=[{surface=\"x\", name=\"a\"}, {surface=\"y\", name=\"a\"}]", "section 'a' appears twice"},
      {"section=[{surface=\"x\", name=\"a/b\"}]", "a section cannot be called 'a/b'"},
      {"section=[{surfcae=\"x\"}]", "did you mean 'surface'?"},
      {"section=[{surface=\"x\", returns={statistics=[\"mse\"]}}]",
       "unknown statistic 'mse' of the returns to section '0'"},
      {"section=[{surface=\"x\", returns={quantiles=[2]}}]", "section[0].returns.quantiles[0] = 2 is out of range"},
      {"section=[{surface=\"x\", returns={bins=3}}]", "returns"},
      {"observable=[{name=\"energy\", histogram={from=1, to=0, bins=3}}]", "needs from < to"},
      {"observable=[{name=\"energy\", histogram={from=0, to=1, bins=0}}]",
       "histogram.bins = 0 is out of range; it must be in 1 to 100000"},
      {"observable=[{name=\"energy\", histogram={from=0, to=1}}]", "observable[0].histogram.bins is missing"},
      {"observable=[{name=\"energy\", correlation=[\"enrgy\"]}]", "unknown observable 'enrgy'"},
      {"output.covariance=[\"x\"]", "unknown output.covariance[0] 'x' (known: q, v, p, lambda)"},
      {"output.covariance=[\"lambda\"]", "which 'lobatto' does not carry"},
      {"output.checkpoint=\"10 minutes\"", "output.checkpoint must be a time"},
      {"output.checkpoint=0", "output.checkpoint must be a time"},
  };
  for (const auto& [text, message] : table) {
    const std::string got = message_of({text});
    EXPECT_NE(got.find(message), std::string::npos) << text << " gave " << got;
  }
}

TEST(Study, CheckpointIntervalsSurviveWriting) {
  for (const char* text : {"\"10min\"", "\"1.5s\"", "\"2h\"", "\"off\"", "12000", "\"50ms\""}) {
    const Study study = parse(henon, {std::string("output.checkpoint=") + text});
    const Study again = Study::parse(study.to_toml());
    EXPECT_EQ(study.output.checkpoint.seconds, again.output.checkpoint.seconds) << text;
    EXPECT_EQ(study.output.checkpoint.steps, again.output.checkpoint.steps) << text;
  }
}

}  // namespace
