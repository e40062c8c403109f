// The example studies of the holonomic families against the numbers of the papers and of independent computations.

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/measure/order.hpp"
#include "rattleback/problem/options.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;

namespace {

std::vector<double> values(const Result& result, const std::string& path) {
  const auto x = result.array(path);
  return {x.begin(), x.end()};
}
double largest(const Result& result, const std::string& observable, const std::string& statistic) {
  return std::ranges::max(result.statistic(observable, statistic));
}
double mean(std::span<const double> x) {
  double sum = 0.0;
  for (const double y : x) sum += y;
  return sum / static_cast<double>(x.size());
}
void expect_ratio(double value, double expected, double tolerance, const std::string& what = "") {
  EXPECT_NEAR(value / expected, 1.0, tolerance) << what << " " << value << " instead of " << expected;
}
/// Difference of two trajectories of a result with all trajectories: max norm of (q, p) over the samples.
double distance(const Result& result, std::size_t a, std::size_t b) {
  double difference = 0.0;
  for (const char* part : {"q", "p"}) {
    const auto& dataset = result.dataset(fmt::format("/trajectories/{}", part));
    const auto x = result.array(fmt::format("/trajectories/{}", part));
    const std::size_t members = dataset.shape[1], width = dataset.shape[2];
    for (std::size_t k = 0; k < dataset.shape[0]; ++k)
      for (std::size_t i = 0; i < width; ++i)
        difference =
            std::max(difference, std::abs(x[(k * members + a) * width + i] - x[(k * members + b) * width + i]));
  }
  return difference;
}

/// Examples that need a system left out of this build are skipped.
class Families : public testing::Test {
 protected:
  static Study load(const std::string& example, const std::vector<std::string>& overrides = {}) {
    return Study::load(fmt::format("{}/{}.toml", RATTLEBACK_EXAMPLES, example), overrides);
  }
  static Result result(const std::string& example, const std::vector<std::string>& overrides = {}) {
    return run(load(example, overrides));
  }
  static std::string message(const std::string& example, const std::vector<std::string>& overrides) {
    try {
      (void)result(example, overrides);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
};

// Line integrals

/// sn, cn, dn of (u | m) by descending Landen transformations.
struct Jacobi {
  double sn, cn, dn;
  Jacobi(double u, double m) {
    double a[12] = {1.0}, c[12] = {std::sqrt(m)};
    double b = std::sqrt(1.0 - m);
    int n = 0;
    for (; n < 11 && std::abs(c[n]) > 1e-17; ++n) {
      a[n + 1] = 0.5 * (a[n] + b);
      c[n + 1] = 0.5 * (a[n] - b);
      b = std::sqrt(a[n] * b);
    }
    double phi = std::ldexp(a[n] * u, n), before = phi;
    for (; n > 0; --n) {
      before = phi;
      phi = 0.5 * (phi + std::asin(c[n] * std::sin(phi) / a[n]));
    }
    sn = std::sin(phi);
    cn = std::cos(phi);
    dn = cn / std::cos(before - phi);
  }
};

TEST_F(Families, HbvmPlanarPendulumTable1) {
  NEED("planar-pendulum");
  const double state[] = {1.669485e-03, 4.141153e-04}, multiplier[] = {3.517622e-02, 1.758509e-02},
               hidden[] = {2.353925e-03, 5.867040e-04}, momentum[] = {9.4616e-04, 2.3537e-04},
               projected[] = {9.7087e-06, 6.0562e-07};
  for (const int n : {0, 1}) {
    const double h = 0.1 / (1 << n);
    const Result r = result("hbvm-planar", {fmt::format("time.step={}", h)});
    const auto q = values(r, "/trajectories/q"), p = values(r, "/trajectories/p"),
               lambda = values(r, "/trajectories/lambda");
    const auto projected_x = r.statistic("p_projected[0]", "mean"), projected_y = r.statistic("p_projected[1]", "mean");
    double error = 0.0, multiplier_error = 0.0, momentum_error = 0.0, projected_error = 0.0;
    for (std::size_t k = 0; 2 * k < q.size(); ++k) {
      const auto [sn, cn, dn] = Jacobi(h * static_cast<double>(k), 0.25);
      const double x = sn * dn, y = 0.5 * sn * sn - 1.0;  // theta' = cn
      momentum_error = std::max({momentum_error, std::abs(p[2 * k] + cn * y), std::abs(p[2 * k + 1] - cn * x)});
      projected_error =
          std::max({projected_error, std::abs(projected_x[k] + cn * y), std::abs(projected_y[k] - cn * x)});
      error = std::max(error, std::abs(q[2 * k] - x) + std::abs(q[2 * k + 1] - y) + std::abs(p[2 * k] + cn * y) +
                                  std::abs(p[2 * k + 1] - cn * x));
      // that of the step which begins here
      if (k + 1 < lambda.size())
        multiplier_error = std::max(multiplier_error, std::abs(lambda[k + 1] + 0.5 * (cn * cn - y)));
    }
    expect_ratio(error, state[n], 5e-6, "state");
    expect_ratio(multiplier_error, multiplier[n], 5e-6, "multiplier");
    expect_ratio(momentum_error, momentum[n], 1e-5, "momentum");
    expect_ratio(projected_error, projected[n], 1e-5, "projected momentum");
    expect_ratio(largest(r, "hidden_constraint", "max"), hidden[n], 5e-6, "hidden constraint");
    EXPECT_LT(largest(r, "energy", "maxabs"), 5e-14);
    EXPECT_LT(largest(r, "constraint", "max"), 5e-14);
  }
}

TEST_F(Families, HbvmConicalPendulumReturns) {
  NEED("spherical-pendulum");
  const Result r = result("hbvm-conical");
  const auto q = values(r, "/trajectories/q"), p = values(r, "/trajectories/p");
  double error = 0.0;
  for (std::size_t i = 0; i < q.size(); ++i)
    error = std::max({error, std::abs(q[i] - q[i % 3]), std::abs(p[i] - p[i % 3])});
  expect_ratio(error, 1.143424e-05, 1e-5);
  EXPECT_LT(largest(r, "lambda[0]", "maxabs"), 5e-13);
  EXPECT_LT(largest(r, "hidden_constraint", "max"), 1e-13);
  EXPECT_LT(largest(r, "energy", "maxabs"), 5e-14);
  EXPECT_LT(largest(r, "constraint", "max"), 5e-14);
}

TEST_F(Families, HbvmModifiedPendulumTable3AndWhereEnergyIsNotConserved) {
  NEED("modified-pendulum");
  const Result r = result("hbvm-modified");
  expect_ratio(distance(r, 0, 1), 6.049472e-03, 5e-6);
  expect_ratio(distance(r, 1, 2), 1.402733e-03, 5e-6);
  expect_ratio(distance(r, 8, 9), 8.407727e-08, 5e-6);
  EXPECT_LT(largest(r, "energy", "maxabs"), 1e-13);
  EXPECT_LT(largest(r, "constraint", "max"), 1e-13);
  const std::string one = "ensemble.axes[0].values=[0.1]";
  const Result coarse = result("hbvm-modified", {"method.k=2", one}),
               four = result("hbvm-modified", {"method.k=4", one});
  expect_ratio(largest(coarse, "energy", "maxabs"), 2.338e-06, 0.1);
  expect_ratio(largest(coarse, "constraint", "max"), 2.931e-06, 0.1);
  EXPECT_LT(largest(four, "energy", "maxabs"), 1e-13);
  EXPECT_GT(largest(four, "constraint", "max"), 1e-12);
  const Result direct = result("hbvm-modified", {"method.constraint=direct", one});
  EXPECT_LT(largest(direct, "constraint", "max"), 1e-13);
}

TEST_F(Families, HbvmSatellitesTable4AndFigure3) {
  NEED("tethered-satellites");
  const Result r = result("hbvm-satellites");
  const double expected[] = {1.858606e-07, 3.985894e-08, 9.551754e-09, 2.362126e-09};
  for (std::size_t n = 0; n < 4; ++n) expect_ratio(distance(r, n, n + 1), expected[n], 1e-4);
  EXPECT_LT(largest(r, "energy", "maxabs"), 5e-15);
  EXPECT_LT(largest(r, "constraint", "max"), 5e-13);
  const Result longer = result("hbvm-satellites-long", {"time.sample_every=1"});
  expect_ratio(largest(longer, "hidden_constraint", "max"), 5.41895e-06, 1e-5);
  EXPECT_LT(largest(longer, "energy", "maxabs"), 2e-14);
  EXPECT_LT(largest(longer, "constraint", "max"), 2e-12);
}

TEST_F(Families, HbvmEnsembleOfModifiedPendulums) {
  NEED("modified-pendulum");
  struct Row {
    int k, s;
    double energy, constraint, hidden, lambda, tolerance;
  };
  const Row rows[] = {{1, 1, 3.721249877e-08, 3.325005535e-08, 1.560039903e-06, 0.030661953430, 1e-8},
                      {2, 2, 4.761690793e-15, 3.153488465e-15, 1.770750658e-06, 0.030331370877, 1e-6},
                      {6, 2, 0.0, 0.0, 1.770701454e-06, 0.030331317541, 1e-6}};
  for (const Row& row : rows) {
    const Result r = result("hbvm-ensemble", {fmt::format("method.k={}", row.k), fmt::format("method.s={}", row.s)});
    const auto last = [&](const char* observable, const char* statistic) {
      return r.statistic(observable, statistic).back();
    };
    if (row.energy > 0.0) {
      expect_ratio(last("energy", "mse"), row.energy, row.tolerance);
      expect_ratio(last("constraint", "mse"), row.constraint, row.tolerance);
    } else {
      EXPECT_LT(last("energy", "mse"), 1e-29);
      EXPECT_LT(last("constraint", "mse"), 1e-29);
    }
    expect_ratio(last("hidden_constraint", "mse"), row.hidden, row.tolerance);
    expect_ratio(last("lambda[0]", "mean"), row.lambda, row.tolerance);
  }
}

TEST_F(Families, HbvmMultipliersAlternateAboutTheMiddleOfTheSteps) {
  NEED("planar-pendulum");
  const auto exact =
      values(result("hbvm-sawtooth", {"method={name=\"holonomic-lobatto\",stages=5}", "time.step=0.0125"}),
             "/trajectories/lambda");
  double middle[2], averaged[2];
  for (const int n : {0, 1}) {
    const std::size_t each = n == 0 ? 8 : 4;  // samples of the reference per step
    const auto lambda =
        values(result("hbvm-sawtooth", {fmt::format("time.step={}", 0.0125 * static_cast<double>(each))}),
               "/trajectories/lambda");
    middle[n] = averaged[n] = 0.0;
    for (std::size_t k = 1; k < lambda.size(); ++k) {
      middle[n] = std::max(middle[n], std::abs(lambda[k] - exact[k * each - each / 2]));
      if (k + 1 < lambda.size())
        averaged[n] = std::max(averaged[n], std::abs(0.5 * (lambda[k] + lambda[k + 1]) - exact[k * each]));
    }
  }
  expect_ratio(middle[0], 3.3352e-2, 1e-3);
  expect_ratio(middle[0] / middle[1], 2.0, 0.05);
  expect_ratio(averaged[0], 3.9839e-3, 1e-3);
  expect_ratio(averaged[0] / averaged[1], 4.0, 0.05);
}

TEST_F(Families, HbvmKeepsTheRoundingErrorsOfAMillionSteps) {
  NEED("planar-pendulum");
  const std::vector<std::string> longer{"time.steps=1000000", "time.sample_every=10000", "output.trajectories=[]"};
  const auto with = [&](const char* more) {
    auto overrides = longer;
    overrides.emplace_back(more);
    return result("hbvm-planar", overrides);
  };
  const Result plain = with("method.compensated=false"), compensated = with("method.compensated=true");
  for (const Result* r : {&plain, &compensated}) EXPECT_LT(largest(*r, "energy", "maxabs"), 1e-13);
  EXPECT_LT(largest(plain, "constraint", "max"), 1e-12);
  EXPECT_LT(largest(compensated, "constraint", "max"), 0.3 * largest(plain, "constraint", "max"));
}

TEST_F(Families, HbvmRefusesWhatItCannotDo) {
  NEED("planar-pendulum");
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("hbvm-planar", {"method.k=1"}), "k = 1 nodes are fewer than the s = 2 coefficients");
  has(message("hbvm-planar", {"method.k=13"}), "method.k = 13 is out of range; 'hbvm' takes 1 to 12");
  has(message("hbvm-planar", {"method.s=5"}), "method.s = 5 is out of range; 'hbvm' takes 1 to 4");
  has(message("hbvm-planar", {"ensemble.initial.v=[1,0.5]"}), "initial state of trajectory 0 is off the constraint");
  has(message("hbvm-planar", {"system.parameters.length=0", "ensemble.initial.q=[0,0]", "ensemble.initial.v=[0,0]"}),
      "initial state of trajectory 0 has dependent constraints (the smallest singular value of their derivative is 0");
}

TEST_F(Families, TheMagneticPendulumIsSeparableWithoutItsFieldOnly) {
  if (Catalogue::instance().instances("planar-pendulum").size() < 2) GTEST_SKIP() << "it is not in this build";
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("hbvm-planar", {"system.parameters.magnetic_field=0.5"}),
      "magnetic_field = 0.5 (method 'hbvm' takes systems with holonomic constraints or none and a Lagrangian v.Mv/2 - "
      "U(q) on R^n, which 'planar-pendulum' has without it only)");
  has(message("hbvm-planar", {"system.parameters.magnetic_field=b", "ensemble.axes=[{name=\"b\",values=[0]}]"}),
      "magnetic_field = b (method 'hbvm'");
  const Result without = result("hbvm-planar", {"system.parameters.magnetic_field=0"}), plain = result("hbvm-planar");
  EXPECT_LT((without.matrix("/final/q") - plain.matrix("/final/q")).cwiseAbs().maxCoeff(), 1e-13);
}

TEST_F(Families, MethodsSayWhatTheyNeed) {
  NEED("magnetic-polar");
  NEED("kepler");
  const std::string text = message("conversion-kepler", {"system.name=magnetic-polar", "method={name=\"hbvm\"}"});
  EXPECT_NE(
      text.find("method 'hbvm' cannot treat system 'magnetic-polar' (it takes systems with holonomic constraints or "
                "none and a Lagrangian v.Mv/2 - U(q) on R^n); use lobatto, variational-conversion, runge-kutta"),
      std::string::npos)
      << text;
}

TEST_F(Families, DependentConstraintsAreFound) {
  NEED("double-spherical-pendulum");
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

// Converted one-step methods

TEST_F(Families, ConvertedMethodsReachTheErrorsOfAnIndependentComputation) {
  NEED("spherical-pendulum");
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
#ifdef RATTLEBACK_PART_OF_CATALOGUE
    if (Catalogue::instance().instances(row.system).empty()) continue;
#endif
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
  NEED("spherical-pendulum");
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
  NEED("kepler");
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
  NEED("spherical-pendulum");
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
  NEED("spherical-pendulum");
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

// Index reduction by the GGL principle

TEST_F(Families, GglPendulum) {
  NEED("spherical-pendulum");
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

TEST_F(Families, GglFourParticles) {
  NEED("four-particle");
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
  NEED("heavy-top-directors");
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
#ifdef RATTLEBACK_PART_OF_CATALOGUE
    if (Catalogue::instance().instances(row.system).empty()) continue;
#endif
    const Result r = result(row.example, {fmt::format("method.name={}", row.method)});
    const auto mse = r.statistic("energy", "mse");
    const std::string what = fmt::format("{} {}", row.example, row.method);
    expect_ratio(mse.back(), row.at_end, 1e-5, what);
    expect_ratio(mean(mse.subspan(1)), row.over_time, 1e-5, what);
  }
}

TEST_F(Families, GglThetaRefusesWhatGrows) {
  NEED("spherical-pendulum");
  EXPECT_LT(largest(result("ggl-theta"), "constraint", "max"), 1e-13);
  for (const char* bad : {"method.vartheta=0.7", "method.vartheta=-0.1", "method.theta=1.2", "method.constraint=A"}) {
    const std::string text = message("ggl-theta", {bad});
    EXPECT_NE(text.find("theta = "), std::string::npos) << bad << " " << text;
    EXPECT_NE(text.find(" must be "), std::string::npos) << bad << " " << text;
  }
}

}  // namespace
