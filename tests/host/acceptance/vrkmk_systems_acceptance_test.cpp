// The variational Lie group methods as a user runs them on Lagrange's top, R^n, SE(3) and at the order barrier, against
// independently computed numbers; initial states in space and in the body, and what is refused.

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "rattleback/measure/order.hpp"
#include "variational.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

Study top(const Words& overrides, const char* axes, const char* parameters, const char* q, const char* velocity,
          double step) {
  return Study::parse(fmt::format(R"toml(
[system]
name = "heavy-top"
parameters = {{ {} }}
[method]
name = "vrkmk"
[time]
step = {}
steps = 1000
sample_every = 1
[ensemble]
frame = "space"
axes = [{}]
[ensemble.initial]
q = {}
{}
[[observable]]
name = "energy"
statistics = ["maxabs"]
[[observable]]
name = "spatial_momentum_1"
reference = "initial"
statistics = ["maxabs"]
[[observable]]
name = "spatial_momentum_2"
reference = "initial"
statistics = ["maxabs"]
[[observable]]
name = "spatial_momentum_3"
statistics = ["maxabs"]
[[observable]]
name = "axial_momentum"
reference = "initial"
statistics = ["maxabs"]
)toml",
                                  parameters, step, axes, q, velocity),
                      "top", overrides);
}

// Spatial and body symmetries of Lagrange's top and the free body.
TEST_F(Variational, KeepMomentumMaps) {
  struct Row {
    Method method;
    double energy;
  };
  const Row rows[] = {{vrkmk2, 6.486e-4}, {vrkmk3, 5.85e-6}, {vrkmk4, 3.48e-8}, {vrkmk6, 3.4e-12},
                      {vcg2, 6.486e-4},   {vcg4, 3.14e-6},   {vcg6, 5.4e-10}};
  for (const Row& row : rows) {
    const Result tops =
        run(top(row.method.set(), "{ name = \"j\", values = [0, 1, 2, 3, 4, 5, 6, 7] }",
                "moment_1 = 1, moment_2 = 1, moment_3 = 0.5, weight = 1", "[\"0.4 + 0.05*j\", \"0.1*j\", 0]",
                "v = [0.3, \"-0.2 + 0.1*j\", \"1 + 0.1*j\"]", 0.05));
    EXPECT_EQ(tops.summary.failed, 0u);
    EXPECT_LT(largest(tops, "spatial_momentum_3", "maxabs"), 1e-13) << row.method.paper;
    EXPECT_LT(largest(tops, "axial_momentum", "maxabs"), 3e-13) << row.method.paper;
    expect_ratio(largest(tops, "energy", "maxabs"), row.energy, 0.02, row.method.paper);

    const Result body = run(top(row.method.set(), "", "moment_1 = 1.3, moment_2 = 1, moment_3 = 0.4, weight = 0",
                                "[0, 0, 0]", "p = [0.5, -0.3, 0.8]", 0.05));
    for (const char* name : {"spatial_momentum_1", "spatial_momentum_2", "spatial_momentum_3"})
      EXPECT_LT(largest(body, name, "maxabs"), 1e-13) << row.method.paper;
  }
}

// On R^n, where nothing is cut off, a method is the pair (a, ahat) of partitioned Runge-Kutta methods.
TEST_F(Variational, ArePartitionedRungeKuttaMethodsOnRn) {
  const auto state = [](const std::string& method) {
    return final_state(Study::parse("[system]\nname = \"angle-pendulum\"\n[method]\n" + method +
                                    "\n[time]\nstep = 0.1\nsteps = 1\n[ensemble.initial]\nq = [1.1]\np = [0.4]\n"));
  };
  const double h = 0.1, q = 1.1, p = 0.4;
  // trapezoidal is the velocity Verlet method
  const double half = p - h / 2 * std::sin(q), next = q + h * half;
  const State verlet = state("name = \"vrkmk\"\ntableau = \"trapezoidal\"");
  EXPECT_NEAR(verlet.q[0], next, 1e-15);
  EXPECT_NEAR(verlet.p[0], half - h / 2 * std::sin(next), 1e-15);
  const State lobatto = state("name = \"lobatto\"\nstages = 3"),
              iiia = state("name = \"vrkmk\"\ntableau = \"lobatto3\"");
  EXPECT_NEAR(lobatto.q[0], iiia.q[0], 1e-15);
  EXPECT_NEAR(lobatto.p[0], iiia.p[0], 1e-15);
  EXPECT_EQ(state("name = \"vrkmk\"\ntableau = \"gauss3\"\ncutoff = 0").p[0],
            state("name = \"vrkmk\"\ntableau = \"gauss3\"").p[0]);
}

// From mu = 0 the momentum of the barrier stays 0; from other momenta the cut-off limits the order, degenerate or not.
TEST_F(Variational, MeetTheOrderBarrier) {
  const Result rest = run(vrkmk_example("barrier", {"ensemble.initial.p=[0, 0, 0]"}));
  for (const double p : values(rest, "/final/p")) EXPECT_EQ(p, 0.0);
  struct Row {
    const char* tableau;
    int cutoff, order;
  };
  for (const double epsilon : {1.0, 0.0})
    for (const Row& row :
         {Row{"gauss2", 0, 2}, {"gauss2", 1, 3}, {"gauss2", 2, 4}, {"gauss3", 2, 5}, {"gauss3", 4, 6}}) {
      const OrderReport report = order(vrkmk_example("barrier", {fmt::format("system.parameters.epsilon={}", epsilon),
                                                                 fmt::format("method.tableau={}", row.tableau),
                                                                 fmt::format("method.cutoff={}", row.cutoff)}),
                                       {0.1, 0.05, 0.025});
      for (const VariableOrder& variable : report.variables)
        EXPECT_NEAR(variable.max.slope, row.order, 0.15)
            << variable.name << " " << row.tableau << " r = " << row.cutoff << " epsilon = " << epsilon;
    }
}

// Errors |p - p*| + |q - q*| on SE(3), q* from many stages.
TEST_F(Variational, ReachTheirOrdersOnRigidMotions) {
  const auto study = [](const Words& overrides) {
    return Study::parse(R"toml(
[system]
name = "rigid-body-spring"
[method]
name = "vrkmk"
[time]
step = 0.1
end = 1.0
)toml",
                        "spring", overrides);
  };
  const State exact = final_state(study({"method.tableau=gauss3", "time.step=0.0125"}));
  const auto error = [&](const Words& options, const char* step) {
    const State state = final_state(study(options + Words{fmt::format("time.step={}", step)}));
    return std::max((state.q - exact.q).norm(), (state.p - exact.p).norm());
  };
  for (const auto& [method, expected] : {std::pair{vrkmk2, 2.0}, {vrkmk4, 4.0}, {vrkmk6, 6.0}, {vcg4, 4.0}})
    EXPECT_NEAR(std::log2(error(method.set(), "0.1") / error(method.set(), "0.05")), expected, 0.15) << method.paper;
}

// Initial states in space or in the body, by hand, by default, from a file, and from the result of another method.
TEST_F(Variational, TakeInitialStatesInSpaceAndInTheBody) {
  const auto study = [](const char* method, const std::string& rest) {
    return Study::parse(
        fmt::format("[system]\nname = \"heavy-top\"\n[method]\nname = \"{}\"\n[time]\nstep = 0.01\nend = "
                    "1.0\n{}",
                    method, rest));
  };
  const char* const in_body =
      "[ensemble]\nframe = \"body\"\n[ensemble.initial]\nq = [0.3, -0.4, 0.2]\nv = [0.5, 0.8, -0.6]\n";
  const Result by_default = run(study("vrkmk", "")), by_frame = run(study("vrkmk", in_body));
  const Result lobatto = run(study("lobatto", ""));
  EXPECT_LT((by_default.matrix("/initial/v") - by_frame.matrix("/initial/v")).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_LT((by_default.matrix("/final/q") - by_frame.matrix("/final/q")).cwiseAbs().maxCoeff(), 1e-13);
  // the same motion; v and p of vrkmk are in space
  EXPECT_LT((by_default.matrix("/final/q") - lobatto.matrix("/final/q")).cwiseAbs().maxCoeff(), 1e-3);
  Eigen::Matrix3d rotation;
  for (int i = 0; i < 9; ++i) rotation(i / 3, i % 3) = by_default.matrix("/final/q")(0, i);
  for (const char* part : {"v", "p"}) {
    const Eigen::Vector3d space = by_default.matrix(fmt::format("/final/{}", part)).row(0).transpose();
    const Eigen::Vector3d body = lobatto.matrix(fmt::format("/final/{}", part)).row(0).transpose();
    EXPECT_LT((rotation.transpose() * space - body).cwiseAbs().maxCoeff(), 1e-3) << part;
  }
  // a result tells what its states are in
  const auto directory = std::filesystem::temp_directory_path() / fmt::format("rattleback-frames-{}", getpid());
  std::filesystem::create_directory(directory);
  run(study("lobatto", ""), *make_file_sink(directory / "lobatto.h5"));
  run(study("vrkmk", ""), *make_file_sink(directory / "vrkmk.h5"));
  const auto from = [&](const char* method, const char* file, const char* more) {
    return run(study(method, fmt::format("[ensemble]\nfile = \"{}\"\n{}", (directory / file).string(), more)));
  };
  const Result original = run(study("vrkmk", ""));
  const Result turned = from("vrkmk", "lobatto.h5", ""), same = from("vrkmk", "vrkmk.h5", "");
  EXPECT_LT((turned.matrix("/final/p") - original.matrix("/final/p")).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_EQ((same.matrix("/final/p") - original.matrix("/final/p")).cwiseAbs().maxCoeff(), 0.0);
  const Result back = from("lobatto", "vrkmk.h5", "");
  EXPECT_LT((back.matrix("/final/p") - lobatto.matrix("/final/p")).cwiseAbs().maxCoeff(), 1e-13);
  // on purpose in the other one
  EXPECT_GT((from("vrkmk", "lobatto.h5", "frame = \"space\"\n").matrix("/final/p") - original.matrix("/final/p"))
                .cwiseAbs()
                .maxCoeff(),
            1e-2);
  // a reference of another method: initial states must be stated alike, final ones are turned
  Reference reference;
  reference.result = directory / "lobatto.h5";
  EXPECT_THROW(order(study("vrkmk", ""), {0.1, 0.05}, reference), Error);
  run(study("lobatto", in_body), *make_file_sink(directory / "fine.h5"));
  reference.result = directory / "fine.h5";
  const OrderReport report = order(study("vrkmk", in_body), {0.2, 0.1}, reference);
  for (const VariableOrder& variable : report.variables) EXPECT_LT(variable.max.error[1], 1e-3) << variable.name;
  std::filesystem::remove_all(directory);
}

TEST_F(Variational, RefuseWhatDoesNotFit) {
  const auto refused = [](const Words& overrides, const char* part, const char* study = "order") {
    try {
      run(vrkmk_example(study, overrides));
      FAIL() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::input);
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused({"method.stages=3"}, "the tableau \"gauss2\" has 2 stages");
  refused({"method.tableau={ a = [[0, 0], [1, 0]], b = [1, 0] }"}, "a weight b_i is 0");
  refused({"method.tableau={ a = [[0]], b = [0.5, 0.5] }"}, "not a square matrix");
  refused({"method.tableau={ a = [[0.5]], b = [0.9] }"}, "do not sum to 1");
  refused({"method.tableau=given"}, "method.b has 0 weights");
  refused({"method.tableau=gauss5"}, "is not known");
  refused({"method.b=[1]"}, "set tableau = \"given\"");
  refused({"method.iteration=quick"}, "method.iteration");
  refused({"method.cutoff=9"}, "out of range");
  refused({"method.name=vcg"}, "method.tableau = 'gauss2' is not known");
  refused({"system.name=kepler"}, "");
  refused({"ensemble.frame=inertial"}, "unknown ensemble.frame");
  refused({"ensemble.initial.q=[1, 2]"}, "initial q");

  std::vector<std::string> warnings;
  run(vrkmk_example("order", {"method.cutoff=1"}),
      {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("from 4 to 3"), std::string::npos) << warnings[0];
}

}  // namespace
