// The example studies of converted one-step methods against the numbers of the papers and of independent computations.

#include <array>
#include <cmath>
#include <map>

#include "acceptance.hpp"
#include "rattleback/measure/order.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

TEST_F(Families, DependentConstraintsAreFound) {
  // the lower rod has no length: its constraint has no derivative
  try {
    (void)run(Study::parse(R"toml(
system = { name = "double-spherical-pendulum", parameters = { length_2 = "l" } }
method.name = "runge-kutta"
time = { step = 0.1, steps = 1 }
[ensemble]
axes = [{ name = "l", values = [1, 0] }]
[ensemble.initial]
q = [0, 0, -1, 0, 0, "-1 - l"]
v = [0, 0, 0, 0, 0, 0]
)toml"));
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "study:5: initial state of trajectory 1 (l = 0) has dependent constraints (the smallest singular value "
        "of their derivative is 0, the largest 1); choose another state");
  }
}

TEST_F(Families, ConvertedMethodsReachTheErrorsOfAnIndependentComputation) {
  const double q[] = {0.07979570580729, 0.93031935928794, -0.35796443268681},
               v[] = {-0.74775240736150, -0.14511148026109, -0.54381785641438};
  struct Row {
    const char *base, *bias;
    int steps;
    double error;
  };
  const Row rows[] = {{"euler", "[0, 1]", 40, 2.054e-2},      {"euler", "[-0.5, 0.5]", 40, 1.107e-3},
                      {"heun2", "[-0.5, 0.5]", 40, 6.357e-4}, {"rk3", "[0, 1]", 40, 2.451e-5},
                      {"rk3", "[-0.5, 0.5]", 40, 7.726e-7},   {"rk4", "[0, 1]", 40, 7.611e-7},
                      {"rk4", "[-0.5, 0.5]", 40, 4.767e-8},   {"rk4", "[\"-1/3\", \"2/3\"]", 40, 1.041e-7},
                      {"dp5", "[-0.5, 0.5]", 20, 3.575e-9},   {"rk6", "[0, 1]", 20, 1.703e-8}};
  for (const Row& row : rows) {
    const Result r =
        result("conversion-order", {fmt::format("method.base={}", row.base), fmt::format("method.bias={}", row.bias),
                                    fmt::format("time.step={}", 2.0 / row.steps)});
    double error = 0.0;
    for (int i = 0; i < 3; ++i)
      error =
          std::max({error, std::abs(r.matrix("/final/q")(0, i) - q[i]), std::abs(r.matrix("/final/v")(0, i) - v[i])});
    expect_ratio(error, row.error, 2e-3, fmt::format("{} {}", row.base, row.bias));
    EXPECT_LT(largest(r, "constraint", "max"), 1e-13);
    EXPECT_LT(largest(r, "hidden_constraint", "max"), 1e-13);
  }
}

TEST_F(Families, ConvertedMethodsHaveTheirOrderOnEverySystem) {
  struct Row {
    const char *system, *base, *bias;
    int steps;
    double error;
    int order;
  };
  const Row rows[] = {{"torus-particle", "rk4", "[-0.5, 0.5]", 40, 1.257e-7, 4},
                      {"torus-particle", "heun2", "[0, 1]", 40, 2.725e-3, 2},
                      {"double-spherical-pendulum", "rk4", "[-0.5, 0.5]", 40, 8.607e-8, 4},
                      {"variable-mass-pendulum", "rk4", "[0, 1]", 40, 4.191e-7, 4},
                      {"rigid-body-matrix", "rk4", "[-0.5, 0.5]", 40, 8.317e-9, 4},
                      {"rigid-body-matrix", "heun2", "[-0.5, 0.5]", 40, 2.288e-4, 2}};
  for (const Row& row : rows) {
    const Study study = Study::parse(
        fmt::format("system.name = \"{}\"\nmethod = {{ name = \"variational-conversion\", base = \"{}\", bias = {} }}\n"
                    "time = {{ step = 0.1, end = 2.0, samples = 1 }}\n",
                    row.system, row.base, row.bias));
    const double h = 2.0 / row.steps;
    const OrderReport report = order(study, {h, h / 2}, {.exact = false, .result = {}, .step = h / 16, .stages = {}});
    double error = 0.0, slope = 0.0;
    for (const VariableOrder& variable : report.variables) {
      if (variable.name != "q" && variable.name != "v") continue;
      if (variable.max.error[0] > error) slope = variable.max.order[1];
      error = std::max(error, variable.max.error[0]);
    }
    EXPECT_NEAR(slope, row.order, 0.1) << row.system;
    expect_ratio(error, row.error, 0.01, row.system);
  }
}

TEST_F(Families, ATableauOfTheStudyIsTheBaseOfThatName) {
  const std::vector<std::string> tableau{"method.base=tableau",
                                         "method.a=[[0, 0, 0, 0], [0.5, 0, 0, 0], [0, \"1/2\", 0, 0], [0, 0, 1, 0]]",
                                         "method.b=[\"1/6\", \"1/3\", \"1/3\", \"1/6\"]"};
  for (const char* example : {"conversion-order", "runge-kutta-pendulum"}) {
    auto few = tableau;
    if (std::string(example) != "conversion-order") few.emplace_back("time.steps=20");
    const auto named =
        result(example, few.size() > 3 ? std::vector<std::string>{"time.steps=20"} : std::vector<std::string>{});
    const auto own = result(example, few);
    EXPECT_EQ(values(named, "/trajectories/q"), values(own, "/trajectories/q"));
    const Study study = load(example, few);
    EXPECT_EQ(Study::parse(study.to_toml()).to_toml(), study.to_toml());
    EXPECT_NE(study.to_toml().find("a = [[0.0, 0.0, 0.0, 0.0], [0.5, "), std::string::npos) << study.to_toml();
  }
  const auto with = [&](const char* a, const char* b) {
    return message("conversion-order", {"method.base=tableau", a, b});
  };
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(with("method.a=[[0.5]]", "method.b=[1]"), "the base method is not explicit");
  has(with("method.a=[[0, 0], [1, 0]]", "method.b=[1]"), "method.a is not a square matrix");
  has(with("method.a=[[0, 0], [1]]", "method.b=[0.5, 0.5]"),
      "method.a has rows of different lengths (2 in row 0, 1 in row 1)");
  has(with("method.a=[0, 1]", "method.b=[0.5, 0.5]"), "method.a must be an array of rows");
  has(with("method.a=[[0, 0], [1, 0]]", "method.b=[0.5, 0.4]"), "the weights b_i do not sum to 1");
  has(message("conversion-order", {"method.a=[[0]]", "method.b=[1]"}), "are for method.base = \"tableau\"");
  has(message("conversion-order", {"method.bias=[-0.5, 0.4]"}), "the bias does not span the step");
}

TEST_F(Families, ConvertedMethodsHoldTheEnergyThatTheirBasesLose) {
  const auto quarters = [](const Result& r) {
    const auto x = r.statistic("energy", "maxabs");
    return std::pair{*std::ranges::max_element(x.first(x.size() / 4)), *std::ranges::max_element(x.last(x.size() / 4))};
  };
  const auto converted = quarters(result("conversion-kepler")), base = quarters(result("runge-kutta-kepler"));
  expect_ratio(converted.first, 9.018e-7, 1e-2);
  EXPECT_LT(converted.second, 1.02 * converted.first);
  EXPECT_GT(base.second, 3.5 * base.first);
  expect_ratio(base.second, 1.06e-2, 0.05);
}

TEST_F(Families, ConvertedMethodsKeepTheMomentumAtTheNodes) {
  const Result nodes = result("conversion-pendulum"), base = result("runge-kutta-pendulum"),
               segments = result("conversion-pendulum", {"method.state=segment", "time.sample_every=1"});
  EXPECT_LT(largest(nodes, "angular_momentum", "maxabs"), 1e-12);
  EXPECT_LT(largest(nodes, "constraint", "max"), 1e-13);
  expect_ratio(largest(segments, "energy", "maxabs"), 9.662e-7, 1e-2);
  expect_ratio(largest(segments, "angular_momentum", "maxabs"), 4.01e-7, 1e-2);
  expect_ratio(largest(base, "energy", "maxabs"), 1.12e-3, 1e-2);
  expect_ratio(largest(base, "angular_momentum", "maxabs"), 5.54e-4, 1e-2);
}

TEST_F(Families, ConvertedEnsembleOfPendulums) {
  const std::size_t at[] = {10, 100, 500, 1000};
  const std::map<std::string, std::array<double, 4>> expected{
      {"rk4", {1.454855e-12, 8.304768e-13, 8.067178e-13, 1.761735e-12}},
      {"heun2", {7.757518e-6, 5.590492e-6, 5.462695e-6, 9.225681e-6}}};
  for (const auto& [base, numbers] : expected) {
    const Result r = result("conversion-ensemble", {"method.base=" + base});
    for (std::size_t i = 0; i < 4; ++i)
      expect_ratio(r.statistic("energy", "mse")[at[i]], numbers[i], base == "rk4" ? 2e-3 : 1e-4, base);
  }
  const Result projected = result("conversion-ensemble", {"method={name=\"runge-kutta\"}"});
  expect_ratio(projected.statistic("energy", "mse")[1000], 6.572534e-8, 2e-3);
}

}  // namespace
