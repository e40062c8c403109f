// Parasitic trajectories, in every command that meets them.

#include <algorithm>
#include <cmath>

#include "program.hpp"

namespace {

/// Two sleighs: that of the catalogue is parasitic from t = 12 on, and one that moves so slowly that it is not until the end.
constexpr const char* sleighs = R"toml(
[study]
name = "sleighs"
[system]
name = "chaplygin-sleigh"
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.05
end = 40
sample_every = 40
[ensemble]
axes = [ { name = "speed", values = [1.0, 0.1] } ]
[ensemble.initial]
q = [0, 0, 0.3]
v = ["0.477668244562803*speed", "0.14776010333066977*speed", "1.2*speed"]
[[observable]]
name = "energy"
statistics = ["mean", "maxabs"]
[output]
trajectories = "all"
)toml";

class GuardProgram : public Program {
 protected:
  GuardProgram() { write("s.toml", sleighs); }
  template <class T>
  std::vector<T> numbers(const std::string& path, const std::string& file = "s.h5") const {
    const std::vector<char> bytes = datasets(directory / file).at(path.substr(1));
    std::vector<T> x(bytes.size() / sizeof(T));
    std::memcpy(x.data(), bytes.data(), bytes.size());
    return x;
  }
};

TEST_F(GuardProgram, TakesAParasiticTrajectoryOutAndSaysWhatToDo) {
  const Outcome run = shell("$RB run s.toml --quiet");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.err.find("rattleback: 1 of 2 trajectories failed (1 parasitic)"), 0u) << run.err;
  for (const char* word : {"rattleback: parasitic: ", "multiplier = \"recomputed\"", "nonholonomic-spark",
                           "nonholonomic-leapfrog", "nonholonomic-energy"})
    EXPECT_NE(run.err.find(word), std::string::npos) << word << "\n" << run.err;

  EXPECT_EQ(numbers<std::uint32_t>("/final/status"), (std::vector<std::uint32_t>{16, 0}));
  // It stays at the sample that shows it, which no statistic counts.
  const auto count = numbers<std::uint64_t>("/observables/energy/count");
  const auto steps = numbers<std::uint64_t>("/final/steps");
  const std::size_t first = steps[0] / 40;
  ASSERT_EQ(steps[0], 40 * first);
  ASSERT_GT(first, 4u);
  ASSERT_LT(first, 8u);
  ASSERT_EQ(count.size(), 21u);
  for (std::size_t k = 0; k < count.size(); ++k) EXPECT_EQ(count[k], k < first ? 2u : 1u) << k;
  const auto q = numbers<double>("/trajectories/q"), at_end = numbers<double>("/final/q");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(q[first * 6 + i], at_end[i]);
}

TEST_F(GuardProgram, RecomputesTheMultiplier) {
  EXPECT_EQ(shell("$RB run s.toml --quiet --set method.multiplier=recomputed -o r.h5").exit_code, 0);
  for (const double x : numbers<double>("/observables/energy/maxabs", "r.h5")) EXPECT_LT(x, 2e-4);
  EXPECT_EQ(shell("$RB run s.toml --quiet --set method.multiplier=forgotten -o x.h5").exit_code, 2);
}

/// The parasite turns the sleigh round at t = 26 and is gone again at t = 35: a sample at the end alone would not see it.
TEST_F(GuardProgram, LooksBetweenSamplesThatAreFarApart) {
  std::string sparse = sleighs;
  sparse.replace(sparse.find("sample_every = 40\n"), std::strlen("sample_every = 40\n"), "");
  write("s.toml", sparse);
  for (const char* end : {"40", "100"}) {
    const Outcome run =
        shell(fmt::format("$RB run s.toml --quiet --set time.step=0.01 --set time.end={} -o {}.h5", end, end));
    EXPECT_EQ(run.exit_code, 3) << run.err;
    EXPECT_NE(run.err.find("1 of 2 trajectories failed (1 parasitic)"), std::string::npos) << run.err;
  }
  EXPECT_EQ(numbers<std::uint64_t>("/final/steps", "40.h5")[0], numbers<std::uint64_t>("/final/steps", "100.h5")[0]);
}

/// Only samples and fixed numbers of steps count, so neither rounds nor parts nor backends change a bit.
TEST_F(GuardProgram, GivesTheSameBitsHoweverTheRunIsCut) {
  std::string many = sleighs;
  const std::string two = "values = [1.0, 0.1]";
  many.replace(many.find(two), two.size(), "from = 0.1, to = 1.0, count = 300");
  write("s.toml", many);
  EXPECT_EQ(shell("$RB run s.toml --quiet").exit_code, 3);
  const auto whole = datasets(directory / "s.h5");
  EXPECT_EQ(shell("$RB run s.toml --quiet --parts 2 -o p.h5").exit_code, 3);
  EXPECT_TRUE(datasets(directory / "p.h5") == whole);
  const Outcome compared = shell("$RB compare s.toml --json --backends cpu:scalar,cpu");
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  const auto json = nlohmann::json::parse(compared.out);
  EXPECT_EQ(json["runs"][1]["failures"]["parasitic"], json["runs"][0]["failures"]["parasitic"]);
  EXPECT_GT(json["runs"][1]["failures"]["parasitic"], 100) << compared.out;
}

/// What a method does not carry is that of the continuous equations, wherever it is read. The sleigh has the force of a body in a turn.
TEST_F(GuardProgram, ShowsTheMultiplierOfAMethodThatCarriesNone) {
  write("m.toml", std::string(sleighs) + R"toml(
covariance = ["lambda"]
[[observable]]
name = "lambda[0]"
statistics = ["max"]
[[observable]]
name = "force"
formula = "abs(lambda0)"
statistics = ["max"]
[[section]]
surface = "lambda0 - 0.1"
direction = "-"
)toml");
  const Outcome run = shell("$RB run m.toml --quiet --set method.name=nonholonomic-spark --set method.stages=2");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto of = [&](const std::string& path) { return numbers<double>(path, "m.h5"); };
  const auto along = of("/trajectories/lambda"), at_end = of("/final/lambda"), v = of("/trajectories/v"),
             q = of("/trajectories/q");
  const auto largest = of("/observables/lambda[0]/max"), force = of("/observables/force/max");
  ASSERT_EQ(along.size(), 42u);
  for (std::size_t k = 0; k < along.size(); ++k) {
    // Newton's law across the edge: the knife edge moves along the heading at u, and the body turns at w
    const double u = v[3 * k] * std::cos(q[3 * k + 2]) + v[3 * k + 1] * std::sin(q[3 * k + 2]), w = v[3 * k + 2];
    const double expected = 0.5 / (0.5 + 0.4 * 0.4) * u * w;
    EXPECT_NEAR(along[k], expected, 1e-12) << k;
  }
  for (std::size_t s = 0; s < 21; ++s) {
    EXPECT_EQ(largest[s], std::max(along[2 * s], along[2 * s + 1])) << s;
    EXPECT_EQ(force[s], std::max(std::fabs(along[2 * s]), std::fabs(along[2 * s + 1]))) << s;
  }
  EXPECT_EQ(at_end, (std::vector<double>{along[40], along[41]}));
  const auto crossing = of("/sections/0/lambda");
  ASSERT_FALSE(crossing.empty());
  for (const double x : crossing) EXPECT_NEAR(x, 0.1, 1e-12);
}

TEST_F(GuardProgram, IsMetByOrderBenchAndReport) {
  const Outcome order = shell("$RB order s.toml --steps 0.1,0.05 --quiet");
  EXPECT_EQ(order.exit_code, 3) << order.err;
  EXPECT_NE(order.err.find("1 of 2 trajectories failed"), std::string::npos) << order.err;
  EXPECT_EQ(shell("$RB run s.toml --quiet --set time.step=0.0125 --set time.sample_every=160").exit_code, 3);
  const Outcome reference = shell("$RB order s.toml --steps 0.1,0.05 --quiet --reference s.h5");
  EXPECT_EQ(reference.exit_code, 2) << reference.err;
  EXPECT_NE(reference.err.find("parasitic: set multiplier = \"recomputed\""), std::string::npos) << reference.err;
  const Outcome bench = shell("$RB bench s.toml --quiet --repetitions 1 --json");
  EXPECT_EQ(bench.exit_code, 3) << bench.err;
  EXPECT_NE(bench.err.find("1 parasitic"), std::string::npos) << bench.err;
  EXPECT_EQ(shell("$RB run s.toml --quiet").exit_code, 3);
  if (std::system("/usr/bin/python3 -c 'import matplotlib, h5py' 2> /dev/null") != 0)
    GTEST_SKIP() << "Python has no matplotlib or h5py";
  EXPECT_EQ(shell("$RB report s.h5").exit_code, 0);
  EXPECT_NE(read_file(directory / "report.html").find("has left that of the equations of motion"), std::string::npos);
}

}  // namespace
