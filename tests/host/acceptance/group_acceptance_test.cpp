// The studies of the paper on Lie groups, as a user runs them, against independently computed numbers.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/measure/order.hpp"
#include "rattleback/rattleback.hpp"

using namespace rattleback;

namespace {

Study example(const char* name, std::vector<std::string> overrides) {
  return Study::load(std::string(RATTLEBACK_EXAMPLES "/") + name + ".toml", overrides);
}

double largest(const Result& result, const char* observable, const char* statistic = "maxabs") {
  return std::ranges::max(result.statistic(observable, statistic));
}

const char* const cay_and_exp[] = {"cay", "exp"};

// Figure 8: three integrals at round-off, the moving energy within a band that falls like h^4.
TEST(TurntableStudy, KeepsTheIntegralsAndBoundsTheMovingEnergy) {
  struct Row {
    const char *variant, *retraction;
    int stages;
    double moving_energy[3];  // at h = 0.2, 0.1, 0.05
  };
  const Row rows[] = {
      {"space", "cay", 2, {2.480e-6, 1.5457e-7, 9.659e-9}},  {"body", "exp", 2, {2.480e-6, 1.5457e-7, 9.659e-9}},
      {"body", "cay", 3, {5.371e-6, 3.5295e-7, 2.188e-8}},   {"body", "exp", 3, {5.232e-6, 3.2771e-7, 2.049e-8}},
      {"space", "cay", 3, {3.053e-8, 1.9078e-9, 1.192e-10}}, {"space", "exp", 3, {3.053e-8, 1.9078e-9, 1.192e-10}},
      {"body", "cay", 4, {1.152e-8, 1.891e-10, 2.99e-12}},   {"body", "exp", 4, {1.230e-8, 1.915e-10, 3.00e-12}}};
  const double steps[] = {0.2, 0.1, 0.05};
  for (const Row& row : rows)
    for (int i = 0; i < 3; ++i) {
      SCOPED_TRACE(fmt::format("{} {} s = {}, h = {}", row.variant, row.retraction, row.stages, steps[i]));
      const Result result = run(
          example("turntable-ball",
                  {fmt::format("system.variant={}", row.variant), fmt::format("method.retraction={}", row.retraction),
                   fmt::format("method.stages={}", row.stages), fmt::format("time.step={}", steps[i])}));
      for (const char* integral : {"integral_1", "integral_2", "integral_3"})
        EXPECT_LT(largest(result, integral), 5e-14);
      EXPECT_LT(largest(result, "constraint", "max"), 1e-14);
      EXPECT_NEAR(largest(result, "moving_energy") / row.moving_energy[i], 1.0, 0.02);
    }
  const Result fine = run(example("turntable-ball", {"method.stages=4"}));
  EXPECT_LT(largest(fine, "moving_energy"), 5e-14);
}

// Figure 7: errors against the exact solution.
TEST(DiscStudy, ShowsTheOrders) {
  for (const char* retraction : cay_and_exp)
    for (const int stages : {2, 3, 4, 5}) {
      SCOPED_TRACE(fmt::format("{} s = {}", retraction, stages));
      const std::vector<double> steps =
          stages == 5 ? std::vector{0.25, 0.125} : std::vector{0.125, 0.0625, 0.03125, 0.015625};
      const OrderReport report = order(example("vertical-disc-order", {fmt::format("method.retraction={}", retraction),
                                                                       fmt::format("method.stages={}", stages)}),
                                       steps);
      EXPECT_EQ(report.reference, "exact solution");
      for (const VariableOrder& variable : report.variables) {
        const double expected = variable.name != "lambda" ? 2 * stages - 2 : stages % 2 == 0 ? stages : stages - 1;
        EXPECT_NEAR(variable.max.slope, expected, 0.25) << variable.name;
      }
    }
}

TEST(TopStudy, ReachesTheReferenceState) {
  const auto state = [](const char* system, const char* method, const char* retraction, int stages, double step) {
    const Result result = run(Study::parse(fmt::format(R"toml(
[system]
name = "{}"
[method]
name = "{}"
stages = {}
retraction = "{}"
[time]
step = {}
end = 3.0
samples = 1
)toml",
                                                       system, method, stages, retraction, step)));
    EXPECT_EQ(result.summary.failed, 0u);
    const auto v = result.matrix("/final/v");
    return std::array{v(0, 0), v(0, 1), v(0, 2)};
  };
  const double free[] = {-1.0737849198678450, 1.4085848561193131, -0.44476451226626664};
  const double held[] = {0.76187245989879828, 1.0299680822760817, -1.3750437391578647};
  for (const char* retraction : cay_and_exp)
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(state("heavy-top", "lobatto", retraction, 5, 1.0 / 64)[i], free[i], 2e-13);
      EXPECT_NEAR(state("heavy-top-cone", "holonomic-lobatto", retraction, 5, 1.0 / 64)[i], held[i], 2e-13);
    }
}

TEST(RattlebackStudy, ReversesItsSpinInOneSenseOnly) {
  const auto spins = [](double spin) {
    const Result result =
        run(example("rattleback-reversal", {fmt::format("ensemble.axes[0].values=[{}]", spin), "time.end=4.0"}));
    EXPECT_EQ(result.summary.failed, 0u);
    EXPECT_LT(largest(result, "energy"), 1e-5 * 0.5);
    EXPECT_LT(largest(result, "plane_height"), 1e-6);
    EXPECT_GT(std::ranges::min(result.statistic("lambda[2]", "min")), 0.0);  // it stays on the plane
    return std::array{result.statistic("spin", "min").front(), result.statistic("spin", "min").back()};
  };
  EXPECT_NEAR(spins(5.0)[0], 5.0, 1e-2);
  EXPECT_LT(spins(5.0)[1], -2.0);
  EXPECT_LT(spins(-5.0)[1], -3.0);
}

TEST(FoldStudy, ReportsTheFoldPerTrajectory) {
  const Result result = run(Study::parse(R"toml(
[system]
name = "heavy-top"
parameters = { moment_1 = 1.0, moment_2 = 1.0, moment_3 = 1.0, weight = 0.0 }
[method]
name = "lobatto"
stages = 2
retraction = "cay"
[time]
step = 0.1
steps = 1
[ensemble]
axes = [{ name = "w", values = [7.0, 7.4, 8.0, 20.0] }]
[ensemble.initial]
q = [0, 0, 0]
v = [0, 0, "w"]
)toml"));
  const auto status = std::get<std::vector<std::uint32_t>>(result.dataset("/final/status").values);
  EXPECT_EQ(status, (std::vector<std::uint32_t>{0, 0, status_fold, status_fold}));
  EXPECT_EQ(result.summary.failed, 2u);
}

}  // namespace
