// Observables of the last step of a GGL method, of constraints by component, and values that are not finite.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rattleback/kernels/isa.hpp"
#include "rattleback/rattleback.hpp"
#include "testing.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace last_step_test {

/// A study that observes `names`, one statistic each: the mean.
Study study(const std::string& system, const std::string& method, const std::string& rest,
            const std::vector<std::string>& names) {
  std::string text = fmt::format("[system]\n{}\n[method]\nname = \"{}\"\n{}\n", system, method, rest);
  for (const std::string& name : names) text += fmt::format("[[observable]]\nname = \"{}\"\n", name);
  return Study::parse(text);
}

const std::string pendulum = "name = \"spherical-pendulum\"\nparameters = { gravity = 9.81 }",
                  start = "[ensemble.initial]\nq = [1, 0, 0]\nv = [0, 1, 0]\n";

std::string steps(double h, int count) {
  return fmt::format("[time]\nstep = {}\nsteps = {}\nsample_every = 1\n", h, count);
}

TEST(LastStep, HasTheMultipliersOfAFirstStep) {
  // one step of the pendulum, h = 0.05, worked out with 34 digits
  const std::map<std::string, std::array<double, 2>> expected{
      {"ggl-vi-s", {1.24446196394929, 0.0311843324600461}},
      {"ggl-vi-a", {1.05944616215615, 0.0132365053867257}},
      {"ggl-vi-b", {2.00502515735202, 0.0250785377933465}},
      {"energy-momentum", {1.12021547714354, 0.00150263701634412}}};
  for (const auto& [method, numbers] : expected) {
    const Result r = run(study(pendulum, method, steps(0.05, 1) + start, {"lambda[0]", "gamma[0]"}));
    EXPECT_NEAR(r.statistic("lambda[0]", "mean")[1], -numbers[0], 1e-12) << method;
    EXPECT_NEAR(r.statistic("gamma[0]", "mean")[1], numbers[1], 1e-12) << method;
    EXPECT_EQ(r.statistic("gamma[0]", "mean")[0], 0.0) << method;
  }
}

TEST(LastStep, VelocityAndEnergiesAreThoseOfTheEquations) {
  const double h = 0.05, g = 9.81;
  for (const std::string method : {"ggl-vi-s", "ggl-vi-a", "ggl-vi-b", "energy-momentum"}) {
    const Result r = run(study(pendulum, method, steps(h, 20) + start + "[output]\ntrajectories = \"all\"\n",
                               {"gamma[0]", "step_v[0]", "step_v[1]", "step_v[2]", "step_hidden_constraint[0]",
                                "step_energy", "step_kinetic", "step_potential"}));
    const auto q = r.array("/trajectories/q"), p = r.array("/trajectories/p");
    for (std::size_t n = 1; n <= 20; ++n) {
      const double *q_0 = &q[3 * (n - 1)], *q_1 = &q[3 * n], *p_0 = &p[3 * (n - 1)], *p_1 = &p[3 * n];
      const double gamma = r.statistic("gamma[0]", "mean")[n];
      double v[3], drift[3], hidden = 0, squares = 0, work = 0;
      for (std::size_t i = 0; i < 3; ++i) v[i] = r.statistic(fmt::format("step_v[{}]", i), "mean")[n];
      // the state that v belongs to
      const double *q_v = method == "ggl-vi-s" ? q_0 : q_1, *p_v = method == "ggl-vi-s" ? p_0 : p_1;
      for (std::size_t i = 0; i < 3; ++i) {
        // q' - q = h (v + G^T gamma), G at the point of evaluation of the method
        const double at = method == "ggl-vi-s"   ? q_0[i] + h * v[i]
                          : method == "ggl-vi-b" ? q_1[i]
                                                 : (q_0[i] + q_1[i]) / 2;
        const double velocity = method == "energy-momentum" ? (p_0[i] + p_1[i]) / 2 : v[i];
        drift[i] = q_0[i] + h * (velocity + gamma * at) - q_1[i];
        EXPECT_NEAR(drift[i], 0.0, 1e-14) << method << " step " << n;
        hidden += q_v[i] * v[i];
        squares += v[i] * v[i];
        work += p_v[i] * v[i];
      }
      EXPECT_NEAR(r.statistic("step_hidden_constraint[0]", "mean")[n], hidden, 1e-14) << method;
      EXPECT_NEAR(r.statistic("step_kinetic", "mean")[n], squares / 2, 1e-13) << method;
      EXPECT_NEAR(r.statistic("step_potential", "mean")[n], g * q_v[2], 1e-13) << method;
      EXPECT_NEAR(r.statistic("step_energy", "mean")[n], work - squares / 2 + g * q_v[2], 1e-13) << method;
      if (method == "ggl-vi-b" || method == "energy-momentum") {
        EXPECT_NEAR(hidden, 0.0, 1e-13) << method;
      }
    }
  }
}

TEST(LastStep, MassMatricesMayDependOnTheConfiguration) {
  const double h = 0.02;
  for (const std::string method : {"ggl-vi-s", "ggl-vi-a"}) {
    const Result r =
        run(study("name = \"cylindrical-pendulum\"", method, steps(h, 10) + "[output]\ntrajectories = \"all\"\n",
                  {"gamma[0]", "step_v[0]", "step_v[1]", "step_v[2]"}));
    const auto q = r.array("/trajectories/q");
    for (std::size_t n = 1; n <= 10; ++n) {
      const double *q_0 = &q[3 * (n - 1)], *q_1 = &q[3 * n], gamma = r.statistic("gamma[0]", "mean")[n];
      double v[3], x[3];  // x: where q' - q = h (v + M^-1 G^T gamma) is evaluated
      for (std::size_t i = 0; i < 3; ++i) {
        v[i] = r.statistic(fmt::format("step_v[{}]", i), "mean")[n];
        x[i] = method == "ggl-vi-s" ? q_0[i] + h * v[i] : (q_0[i] + q_1[i]) / 2;
      }
      // M = diag(1/(4u), u, 1), g = (u + z^2 - 1)/2
      const double turned[3] = {4 * x[0] * 0.5, 0.0, x[2]};
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(q_1[i] - q_0[i], h * (v[i] + turned[i] * gamma), 1e-14) << method << " step " << n;
      EXPECT_NE(gamma, 0.0);
    }
  }
}

TEST(LastStep, ConstraintsHaveComponents) {
  std::vector<std::string> names{"constraint", "hidden_constraint"};
  for (int i = 0; i < 9; ++i) {
    names.push_back(fmt::format("constraint[{}]", i));
    names.push_back(fmt::format("hidden_constraint[{}]", i));
  }
  const Result r = run(study("name = \"heavy-top-directors\"", "ggl-vi-s", steps(0.002, 20), names));
  for (std::size_t n = 0; n <= 20; ++n)
    for (const std::string name : {"constraint", "hidden_constraint"}) {
      double largest = 0.0;
      for (int i = 0; i < 9; ++i)
        largest = std::max(largest, std::fabs(r.statistic(fmt::format("{}[{}]", name, i), "mean")[n]));
      EXPECT_EQ(largest, r.statistic(name, "mean")[n]) << name;
    }
  // of the hidden constraints only those on the point of support hold
  EXPECT_GT(std::fabs(r.statistic("hidden_constraint[4]", "mean")[20]), 1e-3);
  EXPECT_LT(std::fabs(r.statistic("hidden_constraint[7]", "mean")[20]), 1e-11);
}

TEST(LastStep, NumbersOfTheExamplesAreTheirs) {
  struct Row {
    const char* method;
    double gamma_low, gamma_high, energy_low, energy_high, hidden, step_hidden;
  };
  for (const Row& row : {Row{"ggl-vi-s", 0.02511, 0.5451, -1.1230, 0.4583, 0.0, 1.05},
                         Row{"ggl-vi-a", -0.02779, 0.02762, -0.2229, 0.0, 0.0330, 0.493},
                         Row{"ggl-vi-b", 0.02508, 0.5307, -0.7986, 0.5659, 0.316, 0.0},
                         Row{"energy-momentum", -0.01636, 0.01637, 0.0, 0.0, 0.0, 0.0}}) {
    const Result r = run(Study::load(RATTLEBACK_EXAMPLES "/ggl-pendulum-step.toml",
                                     std::vector<std::string>{fmt::format("method.name={}", row.method)}));
    // before the first step gamma is 0
    const auto range = [&](const std::string& name) {
      return std::ranges::minmax(r.statistic(name, "mean").subspan(name == "gamma[0]" ? 1 : 0));
    };
    const auto largest = [&](const char* name) { return std::max(-range(name).min, range(name).max); };
    EXPECT_NEAR(range("gamma[0]").min, row.gamma_low, 1e-4) << row.method;
    EXPECT_NEAR(range("gamma[0]").max, row.gamma_high, 1e-4) << row.method;
    EXPECT_NEAR(range("step_energy").min - 0.5, row.energy_low, 1e-4) << row.method;
    EXPECT_NEAR(range("step_energy").max - 0.5, row.energy_high, 1e-4) << row.method;
    EXPECT_NEAR(largest("hidden_constraint[0]"), row.hidden, row.hidden == 0.0 ? 1e-13 : 1e-3) << row.method;
    EXPECT_NEAR(largest("step_hidden_constraint[0]"), row.step_hidden, row.step_hidden == 0.0 ? 1e-13 : 1e-2)
        << row.method;
  }
  const Result top = run(Study::load(RATTLEBACK_EXAMPLES "/ggl-top-constraints.toml", {}));
  const double expected[9] = {0.0155, 0.0154, 0.0128, 0.0249, 0.374, 0.374, 0.0, 0.0, 0.0};
  for (int k = 0; k < 9; ++k)
    EXPECT_NEAR(std::ranges::max(top.statistic(fmt::format("hidden_constraint[{}]", k), "maxabs")), expected[k],
                expected[k] == 0.0 ? 1e-12 : 5e-4);
}

TEST(LastStep, CostsNoRowsWhereNobodyAsks) {
  const auto bytes = [](const std::string& observable) {
    return state_bytes(study(pendulum, "ggl-vi-s", steps(0.05, 1), {observable}));
  };
  EXPECT_EQ(bytes("gamma[0]") - bytes("energy"), (1 + 3 * 3) * sizeof(double));
}

TEST(LastStep, IsOfferedByMethodsThatHaveIt) {
  const auto refused = [](const std::string& method, const std::string& observable) {
    try {
      study("name = \"four-particle\"", method, steps(0.01, 1), {observable});
      return false;
    } catch (const Error& error) {
      return error.kind() == Error::Kind::input;
    }
  };
  EXPECT_FALSE(refused("energy-momentum", "gamma[1]"));
  EXPECT_TRUE(refused("energy-momentum", "gamma[2]"));
  EXPECT_TRUE(refused("energy-momentum-index3", "gamma[0]"));
  EXPECT_FALSE(refused("energy-momentum-index3", "step_energy"));
}

TEST(LastStep, HasTheSameBitsHoweverItRuns) {
  const std::string swept = "name = \"spherical-pendulum\"\nparameters = { gravity = \"g\" }";
  const std::string rest = "[time]\nstep = 0.05\nsteps = 90\nsample_every = 30\n" + start +
                           "[ensemble]\naxes = [ { name = \"g\", from = 1, to = 10, count = 300 } ]\n" +
                           "[[section]]\nsurface = \"q[1]\"\n";
  for (const std::string method : {"ggl-vi-s", "ggl-vi-a", "energy-momentum"}) {
    const std::vector<std::string> names{"gamma[0]", "step_v[1]", "step_energy", "step_hidden_constraint[0]"};
    const Study whole = study(swept, method, rest, names);
    const Result reference = run(whole, {.backend = "cpu:scalar", .threads = 1});
    for (const char* backend : {has_isa(Isa::avx2) ? "cpu:avx2" : "cpu:scalar", "cpu"})
      for (const std::uint64_t tile : {0, 256}) {
        const Result other = run(whole, {.backend = backend, .threads = 2, .tile = tile});
        for (const std::string& name : names)
          EXPECT_TRUE(std::ranges::equal(other.statistic(name, "mean"), reference.statistic(name, "mean")))
              << method << " " << name << " " << backend;
      }
    const Result resumed = in_two_pieces(whole);
    for (const std::string& name : names)
      EXPECT_TRUE(std::ranges::equal(resumed.statistic(name, "mean"), reference.statistic(name, "mean")))
          << method << " " << name;
    EXPECT_TRUE(resumed.matrix("/sections/0/q") == reference.matrix("/sections/0/q")) << method;
  }
}

TEST(Missing, ValuesThatAreNotFiniteCountForNothingAndAreCounted) {
  // v^2 exceeds the largest number where v = 1e200; the trajectories themselves are good
  const Study overflowing = Study::parse(R"toml(
[system]
name = "kepler"
[method]
name = "runge-kutta"
[time]
step = 0.01
steps = 4
sample_every = 1
[ensemble]
axes = [ { name = "v", values = [1, 1e200, 2, 1e200, 1.5] } ]
[ensemble.initial]
q = [1, 0]
v = [0, "v"]
[[observable]]
name = "energy"
reference = 0
statistics = ["mean", "std", "mse", "min", "max", "maxabs"]
quantiles = [0.0, 1.0]
histogram = { from = -10, to = 10, bins = 2 }
correlation = ["v[1]"]
)toml");
  std::vector<std::string> warnings;
  RunOptions options;
  options.warn = [&](const std::string& text) { warnings.push_back(text); };
  const Result r = run(overflowing, options);
  EXPECT_EQ(r.summary.failed, 0u);
  EXPECT_EQ(warnings,
            std::vector<std::string>{"observable 'energy' was not finite in 10 values; they count as missing"});
  EXPECT_EQ(r.summary.missing, (std::map<std::string, std::uint64_t>{{"energy", 10}}));
  const auto counts = [&](const char* name) {
    return std::get<std::vector<std::uint64_t>>(r.dataset(std::string("/observables/energy/") + name).values);
  };
  EXPECT_EQ(counts("count"), std::vector<std::uint64_t>(5, 3));
  EXPECT_EQ(counts("missing"), std::vector<std::uint64_t>(5, 2));
  EXPECT_EQ(counts("histogram"), (std::vector<std::uint64_t>{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(counts("histogram_outside"), std::vector<std::uint64_t>(10, 0));
  for (std::size_t s = 0; s < 5; ++s) {
    EXPECT_NEAR(r.statistic("energy", "mean")[s], (-0.5 + 1.0 + 0.125) / 3, 1e-9);
    EXPECT_NEAR(r.statistic("energy", "quantile_0")[s], -0.5, 1e-9);
    EXPECT_NEAR(r.statistic("energy", "quantile_1")[s], 1.0, 1e-9);
    EXPECT_NEAR(r.statistic("energy", "maxabs")[s], 1.0, 1e-9);
    EXPECT_NEAR(r.statistic("energy", "correlation_v[1]")[s], 0.99, 0.01);
  }
}

/// What a study is refused with.
std::string refusal(const std::string& text) {
  try {
    run(Study::parse(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input) << error.what();
    return error.what();
  }
  return "";
}

TEST(Missing, MassMatricesWithoutAnInverseAreRefusedAtTheStart) {
  const std::string why = refusal(R"toml(
[system]
name = "angle-pendulum"
parameters = { mass = 0 }
[method]
name = "runge-kutta"
[time]
step = 0.1
steps = 1
)toml");
  EXPECT_NE(why.find("the mass matrix is singular there"), std::string::npos) << why;
}

TEST(Missing, WhatKeepsAMultiplierFromBeingDeterminedIsNamed) {
  const auto with = [](const std::string& parameters) {
    return refusal(fmt::format(R"toml(
[system]
name = "spherical-pendulum"
parameters = {{ {} }}
[method]
name = "ggl-vi-s"
[time]
step = 0.1
steps = 1
)toml",
                               parameters));
  };
  EXPECT_NE(with("mass = 0").find("the mass matrix is singular there"), std::string::npos) << with("mass = 0");
  EXPECT_NE(with("mass = -1, gravity = 1e308").find("the mass matrix is not positive definite there"),
            std::string::npos);
  EXPECT_NE(with("mass = -1").find("the mass matrix is not positive definite there"), std::string::npos);
  const std::string overflow = with("mass = 10, gravity = 1e308");
  EXPECT_NE(overflow.find("exceeds the range of floating-point numbers"), std::string::npos) << overflow;
}

}  // namespace last_step_test
