// Ensembles that are a part of their grid, vectors of axes, and initial values that one text stands for.

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/engine/run.hpp"
#include "rattleback/measure/order.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {
namespace condition_test {

/// Motions of the energy E through x = 0, on a grid that is larger than what the energy allows.
std::string henon_heiles(const std::string& ensemble, const std::string& rest = "") {
  return R"toml([system]
name = "henon-heiles"
[method]
name = "lobatto"
[time]
step = 0.1
end = 1.0
samples = 2
[ensemble]
axes = [
  { name = "y", from = -0.5, to = 0.5, count = 21 },
  { name = "w", from = -0.6, to = 0.6, count = 31 },
]
)toml" + ensemble +
         R"toml(
[ensemble.initial]
q = [0, "y"]
v = ["sqrt(0.2 - w^2 - y^2 + 2 y^3/3)", "w"]
[[observable]]
name = "energy"
statistics = ["mean", "maxabs"]
)toml" + rest;
}

const std::string allowed = "where = \"0.2 - w^2 - y^2 + 2 y^3/3 > 0\"";

std::string message_of(const std::string& text) {
  try {
    (void)run(Study::parse(text, "s.toml"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "accepted";
}

void expect_message(const std::string& text, const std::string& part) {
  EXPECT_NE(message_of(text).find(part), std::string::npos) << message_of(text);
}

TEST(Condition, LeavesOutPointsAndKeepsTheIndicesOfTheGrid) {
  const Result result =
      run(Study::parse(henon_heiles(allowed, "quantiles = [0.5]\nvalues = true\n[output]\ntrajectories = \"all\"\n")));
  const auto status = result.status();
  ASSERT_EQ(status.size(), 21u * 31u);
  std::uint64_t left_out = 0;
  for (std::size_t k = 0; k < status.size(); ++k) {
    const double y = result.array("/axes/y")[k], w = result.array("/axes/w")[k];
    const bool taken = 0.2 - w * w - y * y + 2.0 * (y * y * y) / 3.0 > 0;
    left_out += !taken;
    EXPECT_EQ(status[k], taken ? status_good : status_left_out);
    EXPECT_EQ(std::isfinite(result.matrix("/final/q")(static_cast<Eigen::Index>(k), 0)), taken);
    EXPECT_EQ(std::isfinite(result.matrix("/initial/p")(static_cast<Eigen::Index>(k), 1)), taken);
    EXPECT_EQ(std::isfinite(result.array("/observables/energy/values")[status.size() + k]), taken);
  }
  EXPECT_GT(left_out, 100u);
  EXPECT_EQ(result.summary.left_out, left_out);
  EXPECT_EQ(result.summary.failed, 0u);
  EXPECT_EQ(result.summary.trajectory_steps, 10 * (status.size() - left_out));
  EXPECT_NEAR(result.statistic("energy", "mean")[2], 0.1, 1e-3);
  EXPECT_EQ(std::get<std::uint64_t>(*result.attribute("/", "left_out")), left_out);
  const Dataset& counts = result.dataset("/observables/energy/count");
  for (const std::uint64_t count : std::get<std::vector<std::uint64_t>>(counts.values))
    EXPECT_EQ(count, status.size() - left_out);
}

/// Trajectories that are taken have the bits that they have without neighbours that are left out.
TEST(Condition, ChangesNoBitOfTheOthers) {
  Study study = Study::parse(henon_heiles(allowed));
  study.ensemble.axes[0].from = 0.0;
  study.ensemble.axes[0].to = 0.2;
  study.ensemble.axes[1].from = 0.0;
  study.ensemble.axes[1].to = 0.2;
  const Result all = run(study);
  EXPECT_EQ(all.summary.left_out, 0u);
  study.ensemble.condition = Value("y < 0.1 || w > 0.15");
  RunOptions options;
  options.tile = 256;
  const Result part = run(study, options);
  EXPECT_GT(part.summary.left_out, 0u);
  for (Eigen::Index k = 0; k < all.matrix("/final/q").rows(); ++k)
    if (part.status()[static_cast<std::size_t>(k)] == status_good) {
      EXPECT_TRUE(all.matrix("/final/q").row(k) == part.matrix("/final/q").row(k)) << k;
      EXPECT_TRUE(all.matrix("/final/p").row(k) == part.matrix("/final/p").row(k)) << k;
    }
}

TEST(Condition, IsWrittenAndReadAgain) {
  const Study study = Study::parse(henon_heiles(allowed));
  EXPECT_EQ(Study::parse(study.to_toml()).to_toml(), study.to_toml());
  EXPECT_NE(study.to_toml().find(allowed), std::string::npos);
}

TEST(Condition, FaultsHaveAMessage) {
  expect_message(henon_heiles("where = \"y\""), "ensemble.where is not a condition (got 'y')");
  expect_message(henon_heiles("where = \"0 < y < 1\""), "comparisons cannot be chained; join two by &&");
  expect_message(henon_heiles("where = \"(0 < y) < 1\""), "ensemble.where is not a condition");
  expect_message(henon_heiles("where = 1"), "ensemble.where is not a condition (got 1)");
  expect_message(henon_heiles("where = \"z > 0\""), "s.toml:14: unknown name 'z' in ensemble.where = 'z > 0'");
  expect_message(henon_heiles("where = \"y > 0.6\""), "s.toml:14: ensemble.where holds for none of 651 points");
  expect_message(henon_heiles("where = \"y > -1\""), "v[0] = 'sqrt(0.2 - w^2 - y^2 + 2 y^3/3)' is not finite");
  expect_message(henon_heiles(allowed, "[output]\ntrajectories = [0]\n"),
                 "trajectory 0 (y = -0.5, w = -0.6) is left out");
}

/// A condition that only some trajectories meet decides before other expressions, whatever came before.
TEST(Condition, ParametersAreThoseOfEachPoint) {
  const Study study = Study::parse(R"toml([system]
name = "pendulum-cvt"
parameters = { epsilon = "1/a" }
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.1
end = 1.0
[ensemble]
axes = [ { name = "a", values = [2, 0, 4, 0, 4, 2] } ]
where = "a > 0"
)toml");
  const Ensemble ensemble(study);
  Ensemble::Evaluator evaluate(ensemble);
  for (const std::uint64_t k : {0, 1, 2, 3, 4, 5, 3, 0}) {
    const InitialData& data = evaluate(k);
    EXPECT_EQ(data.taken, k != 1 && k != 3);
    if (data.taken) {
      EXPECT_EQ(data.parameters[0], k == 0 || k == 5 ? 0.5 : 0.25);
    }
  }
}

TEST(Condition, OfAFileNamesItsColumns) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("condition-{}", getpid());
  std::filesystem::create_directory(folder);
  run(Study::parse(henon_heiles(allowed))).save(folder / "first.h5");
  const std::string text = R"toml([system]
name = "henon-heiles"
[method]
name = "lobatto"
[time]
step = 0.1
end = 1.0
samples = 2
[ensemble]
file = ")toml" + (folder / "first.h5").string() +
                           "\"\ngroup = \"/final\"\n";
  expect_message(text, "dataset 'p' is not finite in row 0");
  const Result second = run(Study::parse(text + "where = \"status == 0\"\n"));
  const Result first = Result::load(folder / "first.h5");
  EXPECT_EQ(second.summary.left_out, first.summary.left_out);
  expect_message(text + "where = \"steps < 3\"\n", "row 0 is not finite, and ensemble.where takes it");
  std::filesystem::remove_all(folder);
}

TEST(Condition, OrdersAreThoseOfTheTrajectoriesThatAreTaken) {
  const Problem problem = Study::parse(henon_heiles(allowed));
  const std::vector<double> steps{0.1, 0.05};
  Reference reference;
  reference.step = 0.0125;
  const OrderReport report = order(problem, at_steps(problem.study, steps, 2), reference, {}, {});
  EXPECT_EQ(report.failed, 0u);
  EXPECT_LT(report.trajectories, 21u * 31u);
  EXPECT_NEAR(report.variables[0].max.slope, 2.0, 0.1);
}

const std::string chain = R"toml([system]
name = "chain"
dimensions = { N = 4 }
coordinates = ["x[1..N]"]
potential = "sum(i in 1..N: x[i]^2/2)"
initial = { q = [1, 0, 0, 0], v = [0, 0, 0, 0] }
[method]
name = "lobatto"
[time]
step = 0.1
end = 1.0
[ensemble]
)toml";

InitialData first_of(const std::string& ensemble, std::uint64_t k = 1) {
  const Ensemble all(Study::parse(chain + ensemble, "s.toml"));
  all.refuse_unused();
  return Ensemble::Evaluator(all)(k);
}

TEST(VectorAxis, StandsForItsComponents) {
  const std::string
      vector = "draws = 5\naxes = [{ name = \"u\", dimension = 4, distribution = \"normal\", std = 0.1, seed = 3 }]\n",
      listed = R"toml(draws = 5
axes = [
  { name = "u[0]", distribution = "normal", std = 0.1, seed = 3 },
  { name = "u[1]", distribution = "normal", std = 0.1, seed = 3 },
  { name = "u[2]", distribution = "normal", std = 0.1, seed = 3 },
  { name = "u[3]", distribution = "normal", std = 0.1, seed = 3 },
]
)toml";
  const std::string initial = "[ensemble.initial]\nq = \"for i: 1 + u[i]\"\nv = [\"u[0]\", \"for i in 1..2: i\", 7]\n";
  for (std::uint64_t k = 0; k < 5; ++k) {
    const InitialData one = first_of(vector + initial, k), other = first_of(listed + initial, k);
    EXPECT_EQ(one.q, other.q);
    EXPECT_EQ(one.axes, other.axes);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(one.q[i], 1.0 + one.axes[i]);
    EXPECT_EQ(one.v, (std::vector<double>{one.axes[0], 1, 2, 7}));
  }
  const Study study = Study::parse(chain + vector + initial);
  EXPECT_EQ(Study::parse(study.to_toml()).to_toml(), study.to_toml());
  const Result result = run(study);
  EXPECT_EQ(result.array("/axes/u[3]").size(), 5u);
}

TEST(VectorAxis, WithDrawsOfItsOwnIsOneFactor) {
  for (const char* distribution : {"normal", "sobol", "lattice"}) {
    const Study study = Study::parse(chain + R"toml(axes = [
  { name = "a", values = [1, 2] },
  { name = "u", dimension = 3, distribution = ")toml" +
                                     distribution + R"toml(", std = 1, seed = 3, draws = 8 },
]
[ensemble.initial]
q = ["a", "for i: u[i - 1]"]
v = "for i: 0"
)toml");
    const Ensemble ensemble(study);
    ASSERT_EQ(ensemble.size(), 16u);
    Ensemble::Evaluator evaluate(ensemble);
    const std::vector<double> first = evaluate(3).axes, second = evaluate(11).axes;
    EXPECT_EQ(first[0], 1);
    EXPECT_EQ(second[0], 2);
    for (std::size_t i = 1; i < 4; ++i) {
      EXPECT_EQ(first[i], second[i]);
      EXPECT_NE(first[i], evaluate(4).axes[i]);
      for (std::size_t j = 1; j < i; ++j) EXPECT_NE(first[i], first[j]);
    }
  }
}

TEST(VectorAxis, OfARangeIsAProduct) {
  const std::string ensemble =
      "axes = [{ name = \"u\", dimension = 2, from = 0, to = 2, count = 3 }]\ngroup_by = [\"u[1]\"]\n"
      "[ensemble.initial]\nq = [\"u[0]\", \"for i in 1..3: 0\"]\nv = \"for i: 0\"\n";
  EXPECT_EQ(first_of(ensemble, 5).axes, (std::vector<double>{1, 2}));
}

TEST(VectorAxis, FaultsHaveAMessage) {
  const std::string vector = "axes = [{ name = \"u\", dimension = 2, from = 0, to = 2, count = 3 }]\n";
  const auto refused = [&](const std::string& initial, const std::string& part) {
    expect_message(chain + vector + "[ensemble.initial]\n" + initial, part);
  };
  refused("q = \"for i: u[i]\"\nv = [0, 0, 0, 0]\n", "unknown name 'u[2]' in q[2]");
  refused("q = [\"u[0]\", 0, 0, 0]\nv = [0, 0, 0, 0]\n", "nothing uses the axis 'u[1]'");
  refused("q = [\"for i in 0..1: u[i]\"]\nv = [0, 0, 0, 0]\n", "initial q needs n = 4 values for 'chain' (got 2)");
  refused("q = [\"for i = 1: u[i]\"]\nv = [0, 0, 0, 0]\n", "several are written");
  refused("q = [\"for i in 0..1.5: u[i]\"]\nv = [0, 0, 0, 0]\n", "has a bound that is not a whole number");
  refused("q = \"u\"\nv = [0, 0, 0, 0]\n", "ensemble.initial.q must be an array");
  expect_message(chain + "axes = [{ name = \"u\", dimension = 0, from = 0, to = 2, count = 3 }]\n", "dimension");
  first_of(vector + "unused = [\"u\"]\n");
}

}  // namespace condition_test
}  // namespace rattleback
