// The example studies of index reduction by the GGL principle against the numbers of the papers and of independent computations.

#include <array>
#include <map>
#include <span>

#include "acceptance.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

double mean(std::span<const double> x) {
  double sum = 0.0;
  for (const double y : x) sum += y;
  return sum / static_cast<double>(x.size());
}

TEST_F(Families, GglPendulum) {
  const std::map<std::string, std::array<double, 3>> expected{
      {"ggl-vi-s", {-0.000275507553, 0.627294238089, -0.778782294969}},
      {"ggl-vi-a", {0.287588579298, -0.228547869716, -0.936745465204}},
      {"ggl-vi-b", {0.058209052767, 0.463958075259, -0.883942651182}},
      {"ggl-vi-bs", {0.170832236737, 0.203118670903, -0.964136480184}},
      {"energy-momentum", {0.252304496125, -0.078833415201, -0.964431300759}}};
  for (const auto& [method, q] : expected) {
    const Result r = result("ggl-pendulum", {"method.name=" + method});
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(r.matrix("/final/q")(0, i), q[static_cast<std::size_t>(i)], 1e-10) << method;
    EXPECT_LT(largest(r, "angular_momentum", "maxabs"), 1e-12) << method;
    if (method != "ggl-vi-a") {
      EXPECT_LT(largest(r, "constraint", "max"), 1e-13) << method;
    }
    if (method == "energy-momentum") {
      EXPECT_LT(largest(r, "energy", "maxabs"), 1e-12);
      EXPECT_LT(largest(r, "hidden_constraint", "max"), 1e-13);
    } else {
      EXPECT_GT(largest(r, "energy", "maxabs"), 1e-4) << method;
    }
  }
  const Result control = result("ggl-pendulum", {"method.name=classical-ggl"});
  EXPECT_LT(largest(control, "constraint", "max"), 1e-13);
  EXPECT_GT(largest(control, "energy", "maxabs"), 1e-4);
  EXPECT_GT(largest(control, "angular_momentum", "maxabs"), 1e-5);
}

TEST_F(Families, ComposedEnergyMomentumHasItsOrder) {
  const auto end = [](const char* composition, int steps) {
    return result("ggl-pendulum",
                  {"method={name=\"energy-momentum\", composition=\"" + std::string(composition) + "\"}",
                   "time.step=\"2.5/" + std::to_string(steps) + "\"", "time.steps=" + std::to_string(steps)});
  };
  const Result reference = end("kahan-li8", 250);
  for (const auto& [composition, order] : {std::pair{"suzuki4", 4}, {"kahan-li6", 6}}) {
    double errors[2] = {};
    for (const int fine : {0, 1}) {
      const Result r = end(composition, fine == 0 ? 50 : 100);
      errors[fine] = (r.matrix("/final/q") - reference.matrix("/final/q")).norm();
      EXPECT_LT(largest(r, "energy", "maxabs"), 1e-12) << composition;
      EXPECT_LT(largest(r, "angular_momentum", "maxabs"), 1e-12) << composition;
      EXPECT_LT(largest(r, "constraint", "max"), 1e-13) << composition;
      EXPECT_LT(largest(r, "hidden_constraint", "max"), 1e-13) << composition;
    }
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), order, 0.15) << composition;
  }
}

TEST_F(Families, GglFourParticles) {
  const std::map<std::string, std::array<double, 3>> expected{
      {"ggl-vi-s", {0.261556928913, 0.576037012066, 2.911498400981}},
      {"ggl-vi-b", {0.261556928913, 0.576037012066, 2.911498400981}},
      {"ggl-vi-a", {0.261268910718, 0.576161476162, 2.912410322392}},
      {"ggl-vi-bs", {0.261263999572, 0.576264506582, 2.912175371168}},
      {"energy-momentum", {0.261234819390, 0.576152329646, 2.912282909726}},
      {"energy-momentum-index3", {0.261234817483, 0.576152331549, 2.912282911653}}};
  for (const auto& [method, q] : expected) {
    const Result r = result("ggl-four-particle", {"method.name=" + method});
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR(r.matrix("/final/q")(0, 9 + i), q[static_cast<std::size_t>(i)], 1e-9) << method;
  }
}

TEST_F(Families, GglTopAndWhereItHasNoSolution) {
  const std::map<std::string, std::array<double, 2>> expected{{"ggl-vi-s", {0.0372487, 0.0389367}},
                                                              {"ggl-vi-a", {0.0369921, 0.0375036}},
                                                              {"ggl-vi-b", {0.0372409, 0.0388930}},
                                                              {"energy-momentum", {0.0373788, 0.0375}},
                                                              {"bobenko-suris", {0.0369002, 0.0380964}}};
  for (const auto& [method, range] : expected) {
    const Result r = result("ggl-top", {"method.name=" + method});
    EXPECT_NEAR(std::ranges::min(r.statistic("q[2]", "min")), range[0], 1e-7) << method;
    EXPECT_NEAR(std::ranges::max(r.statistic("q[2]", "max")), range[1], 1e-7) << method;
  }
  EXPECT_EQ(result("ggl-top", {"time.step=0.0036", "time.steps=20"}).summary.failed, 1u);
}

TEST_F(Families, GglEnsembles) {
  struct Row {
    const char *example, *system, *method;
    double at_end, over_time;
  };
  const Row rows[] = {
      {"ggl-ensemble-pendulum", "spherical-pendulum", "ggl-vi-s", 3.900231988769e-2, 3.637251216726e-2},
      {"ggl-ensemble-pendulum", "spherical-pendulum", "ggl-vi-a", 1.642460380572e-4, 7.067911813388e-5},
      {"ggl-ensemble-pendulum", "spherical-pendulum", "ggl-vi-b", 3.620120152613e-2, 3.511247603954e-2},
      {"ggl-ensemble-pendulum", "spherical-pendulum", "ggl-vi-bs", 2.130703660342e-4, 7.100265036226e-5},
      {"ggl-ensemble-four-particle", "four-particle", "ggl-vi-s", 2.825590897343e-2, 2.752251278397e-2},
      {"ggl-ensemble-four-particle", "four-particle", "ggl-vi-a", 1.196589702801e-5, 5.002933074301e-6},
      {"ggl-ensemble-four-particle", "four-particle", "ggl-vi-b", 4.477702172255e-2, 2.723727003234e-2},
      {"ggl-ensemble-four-particle", "four-particle", "ggl-vi-bs", 1.074146904357e-5, 4.561316887332e-6},
      {"ggl-ensemble-top", "heavy-top-directors", "ggl-vi-s", 1.401487419498e-8, 4.739337695314e-9},
      {"ggl-ensemble-top", "heavy-top-directors", "ggl-vi-a", 1.055467269059e-6, 1.240413134517e-3},
      {"ggl-ensemble-top", "heavy-top-directors", "ggl-vi-b", 1.676900896086e-7, 6.767641710849e-3},
      {"ggl-ensemble-top", "heavy-top-directors", "ggl-vi-bs", 1.105703403724e-11, 1.021501537512e-11}};
  for (const Row& row : rows) {
    const Result r = result(row.example, {fmt::format("method.name={}", row.method)});
    const auto mse = r.statistic("energy", "mse");
    const std::string what = fmt::format("{} {}", row.example, row.method);
    expect_ratio(mse.back(), row.at_end, 1e-5, what);
    expect_ratio(mean(mse.subspan(1)), row.over_time, 1e-5, what);
  }
}

TEST_F(Families, GglThetaRefusesWhatGrows) {
  EXPECT_LT(largest(result("ggl-theta"), "constraint", "max"), 1e-13);
  for (const char* bad : {"method.vartheta=0.7", "method.vartheta=-0.1", "method.theta=1.2", "method.constraint=A"}) {
    const std::string text = message("ggl-theta", {bad});
    EXPECT_NE(text.find("theta = "), std::string::npos) << bad << " " << text;
    EXPECT_NE(text.find(" must be "), std::string::npos) << bad << " " << text;
  }
}

}  // namespace
