// Observables that a study writes as formulas, and what they share with surfaces of section.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "rattleback/language/model.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace study_formulas_test {

const std::string driver = R"toml([system]
name = "pendulum-cvt"
parameters = { epsilon = "0.2 + e" }
[method]
name = "nonholonomic-lobatto"
[time]
start = 1.5
step = 0.05
end = 4.0
samples = 5
[ensemble]
axes = [{ name = "e", from = 0, to = 0.6, count = 301 }]
[output]
trajectories = "all"
)toml";

/// Returns the observables of two formulas and more.
const std::string formulas = R"toml([[observable]]
name = "driver"
formula = "v1^2/2 - cos(y) + epsilon/2 sin(2 y)"
statistics = ["mean", "mse", "max"]
reference = "initial"
correlation = ["driver_energy", "share"]
[[observable]]
name = "driver_energy"
statistics = ["mean", "mse", "max"]
reference = "initial"
[[observable]]
name = "share"
formula = "driver_energy/energy"
quantiles = [0.5]
histogram = { from = -1, to = 1, bins = 4 }
[[section]]
surface = "atan2(z, 1.5 + x) - tanh(epsilon lambda[0])"
direction = "both"
)toml";

TEST(StudyFormulas, HaveTheSameBitsOnEveryProcessor) {
  const Study study = Study::parse(driver + formulas, "s.toml");
  const Result reference = run(study, {.backend = "cpu:scalar", .threads = 1});
  EXPECT_GT(reference.dataset("/sections/0/trajectory").shape[0], 200u);
  for (const Isa isa : all_isas()) {
    if (!has_isa(isa)) continue;
    for (const std::uint64_t tile : {std::uint64_t{0}, std::uint64_t{256}}) {
      const RunOptions options{
          .backend = std::string("cpu:") + to_string(isa), .threads = tile == 0 ? 3u : 1u, .tile = tile};
      EXPECT_EQ(differences(reference, run(study, options)), "") << options.backend;
    }
  }
}

TEST(StudyFormulas, AgreeWithTheObservablesThatTheyRestate) {
  const Result result = run(Study::parse(driver + formulas, "s.toml"));
  for (const char* statistic : {"mean", "max"}) {
    const auto own = result.statistic("driver", statistic), of_system = result.statistic("driver_energy", statistic);
    for (std::size_t s = 0; s < own.size(); ++s) EXPECT_NEAR(own[s], of_system[s], 1e-15) << statistic;
  }
  EXPECT_NEAR(result.array("/observables/driver/correlation_driver_energy").back(), 1.0, 1e-14);
  EXPECT_EQ(result.statistic("driver", "mse").front(), 0.0);
  const Study bare = Study::parse(
      driver + "[[observable]]\nname = \"energy\"\n[[observable]]\nname = \"same\"\nformula = \"energy\"\n", "s.toml");
  const Result same = run(bare);
  EXPECT_TRUE(std::ranges::equal(same.statistic("same", "mean"), same.statistic("energy", "mean")));
}

struct Function {
  const char* formula;
  double (*value)(double x, double y, double p);
};
const Function functions_of_the_language[] = {
    {"sqrt(1 + x^2) + exp(y) log(2 + x)",
     [](double x, double y, double) { return std::sqrt(1 + x * x) + std::exp(y) * std::log(2 + x); }},
    {"log2(3 + y) log10(2 + x) - ln(2)",
     [](double x, double y, double) { return std::log2(3 + y) * std::log10(2 + x) - std::log(2.0); }},
    {"sin(x) cos(y) tan(p0)", [](double x, double y, double p) { return std::sin(x) * std::cos(y) * std::tan(p); }},
    {"asin(x) + acos(y) + atan(3 p0)",
     [](double x, double y, double p) { return std::asin(x) + std::acos(y) + std::atan(3 * p); }},
    {"atan2(x, -y) + sinh(x) - cosh(y)",
     [](double x, double y, double) { return std::atan2(x, -y) + std::sinh(x) - std::cosh(y); }},
    {"tanh(p[0]) + asinh(x) + acosh(1 + y^2) + atanh(y)",
     [](double x, double y, double p) { return std::tanh(p) + std::asinh(x) + std::acosh(1 + y * y) + std::atanh(y); }},
    {"abs(x - y) + min(x, y, p0) + 2 max(x, y)",
     [](double x, double y, double p) { return std::abs(x - y) + std::min({x, y, p}) + 2 * std::max(x, y); }},
    {"sign(x - 0.1) + 10 rint(10 y)",
     [](double x, double y, double) { return (x > 0.1) - (x < 0.1) + 10 * std::floor(10 * y + 0.5); }},
    {"x > 0.1 && y <= 0.2 ? x : y >= 0.25 || x == y ? 2 : -3 (p0 != 0)",
     [](double x, double y, double p) {
       return x > 0.1 && y <= 0.2 ? x : y >= 0.25 || x == y ? 2.0 : -3.0 * (p != 0);
     }},
    {"(1 + x)^2.5 + (1 + y)^-3 + x^7",
     [](double x, double y, double) { return std::pow(1 + x, 2.5) + std::pow(1 + y, -3.0) + std::pow(x, 7.0); }},
    {"avg(x, y) + sum(i, 0, 1, q[i]^2) + t", [](double x, double y, double) { return 0.5 * (x + y) + x * x + y * y; }},
};

TEST(StudyFormulas, TakeAllFunctionsOfTheLanguage) {
  Study study = Study::parse(R"toml([system]
name = "henon-heiles"
[method]
name = "lobatto"
[time]
step = 0.05
steps = 1
[ensemble]
axes = [{ name = "a", from = -0.2, to = 0.3, count = 9 }, { name = "b", from = -0.24, to = 0.35, count = 8 }]
[ensemble.initial]
q = ["a", "b"]
p = ["0.3 - a b", 0]
)toml",
                             "s.toml");
  for (const Function& function : functions_of_the_language) {
    Observable& observable = study.observables.emplace_back();
    observable.name = "f" + std::to_string(study.observables.size());
    observable.formula = function.formula;
    observable.statistics = {"min", "max"};
  }
  study.validate();
  EXPECT_EQ(Study::parse(study.to_toml(), "s.toml").to_toml(), study.to_toml());
  const Result result = run(study);
  const auto q = result.matrix("/initial/q"), p = result.matrix("/initial/p");
  for (std::size_t f = 0; f < std::size(functions_of_the_language); ++f) {
    const Function& function = functions_of_the_language[f];
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (Eigen::Index k = 0; k < q.rows(); ++k) {
      const double value = function.value(q(k, 0), q(k, 1), p(k, 0));
      least = std::min(least, value);
      most = std::max(most, value);
    }
    const std::string name = "f" + std::to_string(f + 1);
    EXPECT_NEAR(result.statistic(name, "min").front(), least, 4e-15) << function.formula;
    EXPECT_NEAR(result.statistic(name, "max").front(), most, 4e-15) << function.formula;
  }
}

TEST(StudyFormulas, SayWhereTheyAreWrong) {
  const std::string terms(600, ' ');  // an excerpt is the neighbourhood of the fault
  const std::pair<std::string, std::string> table[] = {
      {"x +* y", "  x +* y\n     ^"},
      {"spin(x) 2", "  spin(x) 2\n  ^"},
      {"x" + terms + "+* y", "  " + std::string(99, ' ') + "+* y\n  " + std::string(100, ' ') + "^"},
      {"x + w\\u0085", ""},  // a control character
      {"1/0", ""}};
  for (const auto& [formula, excerpt] : table) {
    try {
      (void)Study::parse(driver + "[[observable]]\nname = \"f\"\nformula = \"" + formula + "\"\n", "s.toml");
      ADD_FAILURE() << formula;
    } catch (const FormulaError& error) {
      EXPECT_EQ(error.excerpt(), excerpt);
      EXPECT_TRUE(std::string(error.what()).starts_with("s.toml:17: observable[0].formula = '")) << error.what();
    }
  }
}

}  // namespace study_formulas_test
