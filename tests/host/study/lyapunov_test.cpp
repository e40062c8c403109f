// Lyapunov exponents through studies. The map and the exponents themselves: tests/kernels/tangent_test.cpp; the same bits
// everywhere: catalogue_test.cpp.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "rattleback/rattleback.hpp"

using namespace rattleback;

namespace {

/// Orbits through the section x = 0 with vy = 0: two chaotic ones just below the escape energy, two regular ones.
constexpr const char* henon_heiles = R"toml(
[system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 3
[time]
step = 0.1
end = 10000.0
samples = 4
[ensemble]
axes = [ { name = "energy", values = [0.1665, "1/12"] }, { name = "y", values = [-0.1, 0.0] } ]
[ensemble.initial]
q = [0, "y"]
v = ["sqrt(2*energy - y^2 + 2*y^3/3)", 0]
[[observable]]
name = "lyapunov"
statistics = ["mean", "max", "rms"]
)toml";

TEST(Lyapunov, TellsChaoticFromRegularOrbits) {
  const Result result = run(Study::parse(henon_heiles));
  const auto exponent = result.array("/final/lyapunov");
  for (const int k : {0, 1}) {
    EXPECT_GT(exponent[k], 0.1);
    EXPECT_LT(exponent[k], 0.15);
  }
  for (const int k : {2, 3}) EXPECT_LT(std::abs(exponent[k]), 2e-3);
  const auto mean = result.statistic("lyapunov", "mean"), max = result.statistic("lyapunov", "max");
  EXPECT_EQ(mean.front(), 0.0);
  EXPECT_EQ(max.back(), std::max(exponent[0], exponent[1]));
  EXPECT_NEAR(mean.back(), (exponent[0] + exponent[1] + exponent[2] + exponent[3]) / 4, 1e-16);
  EXPECT_EQ(result.statistic("lyapunov", "rms").front(), 0.0);  // the reference is 0
}

TEST(Lyapunov, DoesNotDependOnTheSampleTimes) {
  const Result few = run(Study::parse(henon_heiles));
  for (const char* samples : {"time.samples=1", "time.samples=1000"}) {
    const Result other = run(Study::parse(henon_heiles, "study", std::vector<std::string>{samples}));
    EXPECT_TRUE(std::ranges::equal(other.array("/final/lyapunov"), few.array("/final/lyapunov"))) << samples;
  }
}

TEST(Lyapunov, OfAFailedTrajectoryIsNoNumber) {
  // the third orbit escapes to infinity
  const Result result =
      run(Study::parse(henon_heiles, "study",
                       std::vector<std::string>{
                           "ensemble.axes=[{name=\"energy\", values=[0.1, 0.11, 5.0]}, {name=\"y\", values=[0.1]}]"}));
  EXPECT_NE(result.status()[2], 0u);
  EXPECT_TRUE(std::isnan(result.array("/final/lyapunov")[2]));
  EXPECT_EQ(std::get<std::vector<std::uint64_t>>(result.dataset("/observables/lyapunov/count").values).back(), 2u);
  EXPECT_TRUE(std::isfinite(result.statistic("lyapunov", "mean").back()));
}

TEST(Lyapunov, IsThereWhereItIsAskedFor) {
  Study study = Study::parse(henon_heiles);
  EXPECT_EQ(Problem(study).observable_code("lyapunov").kind, ObservableCode::lyapunov);
  study.observables.clear();
  study.time.end = 10.0;
  study.time.steps.reset();
  study.time.sample_every.reset();
  EXPECT_FALSE(run(study).has("/final/lyapunov"));
}

}  // namespace
