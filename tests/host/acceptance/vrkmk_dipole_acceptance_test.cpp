// The variational Lie group methods as a user runs them on the paper's dipole on a stick, against independently computed
// numbers: orders, energies and momentum maps, ensembles, and single steps to round-off.

#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>

#include "rattleback/measure/order.hpp"
#include "variational.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

// The exact states of the dipole at t = 1/2, by row.
const double exact_minus[] = {
    0.9237505661876837713804612,   0.3829945723223079840740044,   -0.0002214488339615999170338165,
    -0.05090875733554176108307878, 0.1222145098874255446474344,   -0.9911972114566945687019121,
    -0.3795960878282132491083306,  0.9156302589717253129247509,   0.1323935004480455992404085,
    -0.5361870181330790304892717,  0.003780620329717814677515346, 0.0};
const double exact_plus[] = {
    0.9198217951068584992291827,  0.3923363737457300850154816,   0.0001873030891862293088098043,
    0.04534667353280090923778355, -0.1058397950121696900064715,  -0.9933486885234668056663018,
    -0.3897069981998090772162346, 0.9137122674167358999105795,   -0.1151448996971264367303101,
    0.466804046741262021222461,   0.004703511943086367207481574, 0.0};

/// |p - p*|, Euclidean, + |R - R*|, the spectral norm, at t = 1/2 after N steps.
double error_of(const Words& options, int sigma, int steps) {
  const State state =
      final_state(vrkmk_example("order", options + Words{fmt::format("system.parameters.sigma={}", sigma),
                                                         fmt::format("time.step={}", 0.5 / steps)}));
  const double* exact = sigma < 0 ? exact_minus : exact_plus;
  Eigen::Matrix3d rotation;
  Eigen::Vector3d momentum;
  for (int i = 0; i < 9; ++i) rotation(i / 3, i % 3) = state.q[i] - exact[i];
  for (int i = 0; i < 3; ++i) momentum[i] = state.p[i] - exact[9 + i];
  return momentum.norm() +
         std::sqrt((rotation.transpose() * rotation).eval().selfadjointView<Eigen::Lower>().eigenvalues()[2]);
}

// The order plot of the paper's section 6.1, for both signs of gravity.
TEST_F(Variational, ReachTheirOrdersOnTheDipole) {
  struct Row {
    Method method;
    int sigma;
    std::vector<double> errors;  // at N = 5, 10, 20, ..
  };
  const Row rows[] = {{vrkmk2, -1, {3.614e-3, 9.226e-4, 2.319e-4, 5.804e-5, 1.451e-5, 3.629e-6}},
                      {vcg2, -1, {3.614e-3, 9.226e-4, 2.319e-4, 5.804e-5, 1.451e-5, 3.629e-6}},
                      {vrkmk2, 1, {2.744e-3, 6.991e-4, 1.756e-4, 4.395e-5, 1.099e-5, 2.748e-6}},
                      {vcg2, 1, {2.744e-3, 6.991e-4, 1.756e-4, 4.395e-5}},
                      {vrkmk3, -1, {4.282e-4, 1.032e-5, 1.191e-6, 2.948e-7, 4.645e-8, 6.421e-9, 8.414e-10}},
                      {vrkmk3, 1, {2.358e-4, 1.642e-6, 1.733e-6, 3.228e-7, 4.718e-8, 6.332e-9, 8.189e-10}},
                      {vrkmk4, -1, {1.255e-5, 7.785e-7, 4.854e-8, 3.032e-9, 1.894e-10, 1.184e-11}},
                      {vrkmk4, 1, {1.001e-5, 6.222e-7, 3.881e-8, 2.424e-9, 1.514e-10, 9.465e-12}},
                      {vrkmk6, -1, {7.848e-9, 1.180e-10, 1.82e-12}},
                      {vrkmk6, 1, {4.437e-9, 6.732e-11, 1.04e-12}},
                      {vcg4, -1, {6.128e-4, 4.173e-5, 2.668e-6, 1.677e-7, 1.050e-8, 6.564e-10}},
                      {vcg4, 1, {4.248e-4, 2.845e-5, 1.810e-6, 1.137e-7, 7.112e-9, 4.446e-10}},
                      {vcg6, -1, {2.382e-6, 4.087e-8, 6.541e-10, 1.03e-11}},
                      {vcg6, 1, {1.354e-6, 2.276e-8, 3.624e-10, 5.69e-12}}};
  for (const Row& row : rows) {
    int steps = 5;
    for (const double expected : row.errors) {
      expect_ratio(error_of(row.method.set(), row.sigma, steps), expected, 0.02,
                   fmt::format("{} sigma = {}, N = {}", row.method.paper, row.sigma, steps));
      steps *= 2;
    }
  }
}

TEST_F(Variational, ShowTheirOrdersInTheCommandsReport) {
  for (const auto& [method, expected] :
       {std::pair{vrkmk2, 2.0}, {vrkmk4, 4.0}, {vrkmk6, 6.0}, {vcg2, 2.0}, {vcg4, 4.0}, {vcg6, 6.0}}) {
    const OrderReport report = order(vrkmk_example("order", method.set()), {0.05, 0.025, 0.0125});
    for (const VariableOrder& variable : report.variables)
      EXPECT_NEAR(variable.max.slope, expected, 0.25) << method.paper << " " << variable.name;
  }
}

// Errors with N = 20, 40 of truncated series and other tableaus.
TEST_F(Variational, AreLimitedByTheirCutoff) {
  struct Row {
    const char *name, *tableau;
    int cutoff;
    double coarse, fine;
  };
  const Row rows[] = {{"vrkmk", "gauss2", 0, 4.31e-4, 1.07e-4},       {"vrkmk", "gauss2", 1, 3.86e-6, 4.77e-7},
                      {"vrkmk", "gauss3", 1, 3.92e-6, 4.81e-7},       {"vrkmk", "gauss3", 2, 3.56e-11, 1.06e-12},
                      {"vrkmk", "kutta3", 0, 4.28e-4, 1.06e-4},       {"vrkmk", "trapezoidal", 0, 4.84e-4, 1.21e-4},
                      {"vrkmk", "lobatto3", 2, 4.65e-9, 2.87e-10},    {"vrkmk-pade", "gauss2", 1, 7.70e-6, 9.54e-7},
                      {"vrkmk-pade", "gauss2", 2, 5.81e-8, 3.61e-9},  {"vrkmk-pade", "gauss3", 2, 9.86e-9, 6.02e-10},
                      {"vrkmk-pade", "gauss3", 3, 2.06e-10, 6.26e-12}};
  for (const Row& row : rows) {
    const Words options{fmt::format("method.name={}", row.name), fmt::format("method.tableau={}", row.tableau),
                        fmt::format("method.cutoff={}", row.cutoff)};
    const std::string what = fmt::format("{} {} r = {}", row.name, row.tableau, row.cutoff);
    expect_ratio(error_of(options, -1, 20), row.coarse, 0.01, what);
    expect_ratio(error_of(options, -1, 40), row.fine, 0.01, what);
  }
  // the inconsistent half of Euler's method, and Ruth's coefficients
  const Words theta{"method.tableau={ a = [[0]], b = [1] }"};
  expect_ratio(error_of(theta, -1, 20), 6.94e-3, 0.01, "theta = 0");
  expect_ratio(error_of(theta, -1, 40), 3.47e-3, 0.01, "theta = 0");
  expect_ratio(error_of({"method.name=vcg", "method.tableau=ruth3"}, -1, 20), 1.185e-6, 0.01, "ruth3");
  expect_ratio(error_of({"method.name=vcg", "method.tableau=ruth3"}, -1, 40), 1.469e-7, 0.01, "ruth3");
}

// The regular regime of the paper's energy plot, and all of it.
TEST_F(Variational, KeepTheEnergyAndTheMomentum) {
  const Words first{"ensemble.axes[0].values=[0]", "time.end=5", "time.sample_every=1"};
  const auto energy = [&](const Method& method, int sigma) {
    const Result result =
        run(vrkmk_example("energy", method.set() + first + Words{fmt::format("system.parameters.sigma={}", sigma)}));
    EXPECT_LT(largest(result, "spatial_momentum_3", "maxabs"), 1e-13);
    return largest(result, "energy", "maxabs");
  };
  expect_ratio(energy(vrkmk2, -1), 6.208e-4, 1e-3, "VRKMK2");
  expect_ratio(energy(vrkmk4, -1), 5.247e-8, 1e-3, "VRKMK4");
  expect_ratio(energy(vcg4, -1), 4.843e-6, 1e-3, "VCG4");
  expect_ratio(energy(vrkmk6, -1), 6.02e-12, 1e-2, "VRKMK6");
  expect_ratio(energy(vrkmk2, 1), 8.849e-6, 1e-3, "VRKMK2");
  expect_ratio(energy(vrkmk4, 1), 2.578e-10, 1e-3, "VRKMK4");
  expect_ratio(energy(vcg4, 1), 4.228e-8, 1e-3, "VCG4");
  EXPECT_LT(energy(vrkmk6, 1), 2e-14);

  // chaos: bounds, of all eight trajectories
  for (const auto& [method, low, high, momentum] : {std::tuple{vrkmk2, 0.9e-3, 1.3e-3, 1e-13},
                                                    {vcg2, 0.9e-3, 1.3e-3, 3e-13},
                                                    {vrkmk3, 0.0, 3e-5, 1e-13},
                                                    {vrkmk4, 1.2e-7, 2.0e-7, 1e-13},
                                                    {vcg4, 0.9e-5, 1.5e-5, 3e-13},
                                                    {vrkmk6, 0.0, 1.5e-10, 1e-13},
                                                    {vcg6, 0.0, 1e-8, 3e-13}}) {
    const Result result = run(vrkmk_example("energy", method.set()));
    EXPECT_EQ(result.summary.failed, 0u);
    EXPECT_GT(largest(result, "energy", "maxabs"), low) << method.paper;
    EXPECT_LT(largest(result, "energy", "maxabs"), high) << method.paper;
    EXPECT_LT(largest(result, "spatial_momentum_3", "maxabs"), momentum) << method.paper;
  }
}

// Root mean square over time and the eight trajectories.
TEST_F(Variational, HaveEnergyErrorsOfTheirOrder) {
  struct Row {
    Method method;
    double coarse, fine;  // h = 0.02, 0.01
  };
  for (const Row& row : {Row{vrkmk2, 7.321e-4, 1.929e-4}, {vrkmk4, 2.773e-7, 1.754e-8}, {vcg4, 2.226e-5, 1.536e-6}}) {
    const auto rms = [&](const char* step) {
      const Result result = run(vrkmk_example(
          "energy", row.method.set() + Words{"time.end=20", fmt::format("time.step={}", step), "time.sample_every=1"}));
      const std::vector<double> series = values(result, "/observables/energy/rms");
      double sum = 0.0;
      for (std::size_t i = 1; i < series.size(); ++i) sum += series[i] * series[i];
      return std::sqrt(sum / static_cast<double>(series.size() - 1));
    };
    expect_ratio(rms("0.02"), row.coarse, 0.01, row.method.paper);
    expect_ratio(rms("0.01"), row.fine, 0.01, row.method.paper);
  }
}

TEST_F(Variational, HaveTheEnsembleErrorsOfTheirOrder) {
  struct Row {
    Method method;
    double errors[3];  // h = 0.04, 0.02, 0.01
  };
  const Row rows[] = {{vrkmk2, {4.7775e-5, 2.9765e-6, 1.8583e-7}},    {vrkmk3, {1.5029e-6, 5.1125e-9, 3.4938e-11}},
                      {vrkmk4, {8.9297e-11, 3.5664e-13, 1.3962e-15}}, {vrkmk6, {1.6559e-16, 4.2038e-20, 0.0}},
                      {vcg4, {7.9363e-7, 3.9428e-9, 1.6453e-11}},     {vcg6, {2.6447e-11, 8.4202e-15, 2.2035e-18}}};
  const char* const steps[] = {"0.04", "0.02", "0.01"};
  for (const Row& row : rows)
    for (int i = 0; i < 3; ++i) {
      if (row.errors[i] == 0.0) continue;
      const Result result =
          run(vrkmk_example("ensemble", row.method.set() + Words{fmt::format("time.step={}", steps[i])}));
      EXPECT_EQ(result.summary.failed, 0u);
      expect_ratio(result.statistic("energy", "mse").back(), row.errors[i], 0.01,
                   fmt::format("{} h = {}", row.method.paper, steps[i]));
      EXPECT_LT(largest(result, "spatial_momentum_3", "maxabs"), 1e-13);
    }
}

// The last digits of Newton's method are those of the numbers.
TEST_F(Variational, GiveThePublishedSteps) {
  struct Row {
    const char *name, *tableau;
    double p[3], r11, energy;
  };
  const Row rows[] = {{"vrkmk",
                       "gauss1",
                       {-0.030645819414109892867, 0.0042497717434985732929, 0.03},
                       0.94632335459274378192,
                       5.5493372e-7},
                      {"vcg",
                       "midpoint",
                       {-0.030645819414109892867, 0.0042497717434985732929, 0.03},
                       0.94632335459274378192,
                       5.5493372e-7},
                      {"vrkmk",
                       "kutta3",
                       {-0.030642896544989683232, 0.004250042610178800746, 0.03},
                       0.9463298815945461458,
                       4.177114e-7},
                      {"vrkmk",
                       "gauss2",
                       {-0.030642977207566265941, 0.0042499671169018812294, 0.03},
                       0.94632887418103622923,
                       3.6268946e-9},
                      {"vrkmk",
                       "gauss3",
                       {-0.030642975894858060515, 0.0042499672689246232777, 0.03},
                       0.94632890345263278799,
                       -7.0384488e-13},
                      {"vcg",
                       "triple-jump4",
                       {-0.030643024024888535002, 0.0042499699111670682051, 0.03},
                       0.94632833203980497222,
                       6.0960058e-8},
                      {"vrkmk-pade",
                       "gauss2",
                       {-0.030642977270922710574, 0.0042499672741584809241, 0.03},
                       0.94632887263718598923,
                       4.0193173e-9}};
  // exp(0.1, -0.2, 0.3) times the published start
  const Eigen::Matrix3d start =
      Eigen::AngleAxisd(std::sqrt(0.14), Eigen::Vector3d(0.1, -0.2, 0.3).normalized()).toRotationMatrix() *
      (Eigen::Matrix3d() << 1, 0, 0, 0, 0, -1, 0, 1, 0).finished();
  std::string q;
  for (int i = 0; i < 9; ++i) q += fmt::format("{}{:.17g}", i == 0 ? "" : ", ", start(i / 3, i % 3));
  for (const Row& row : rows)
    for (const char* iteration : {"newton", "chord", "sweeps"}) {
      const Result result = run(Study::parse(fmt::format(R"toml(
[system]
name = "dipole-on-a-stick"
[method]
name = "{}"
tableau = "{}"
iteration = "{}"
[time]
step = 0.05
steps = 1
[ensemble.initial]
q = [{}]
p = [0.02, 0.02, 0.03]
[[observable]]
name = "energy"
statistics = ["mean"]
)toml",
                                                         row.name, row.tableau, iteration, q)));
      const std::string what = fmt::format("{} {} {}", row.name, row.tableau, iteration);
      const auto p = result.matrix("/final/p");
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(p(0, i), row.p[i], 4e-16) << what;
      EXPECT_NEAR(result.matrix("/final/q")(0, 0), row.r11, 4e-16) << what;
      const auto energy = values(result, "/observables/energy/mean");
      EXPECT_NEAR(energy[0], 0.03442096585095064232, 1e-15);
      EXPECT_NEAR(energy[1] - energy[0], row.energy, 1e-14) << what;  // eight digits
    }
}

TEST_F(Variational, GiveThePublishedStates) {
  const State second = final_state(vrkmk_example("order", vrkmk2.set()));
  EXPECT_NEAR(second.p[0], -0.53619301339558109015, 2e-15);
  EXPECT_NEAR(second.p[1], 0.003802414766693867224, 2e-15);
  EXPECT_NEAR(second.q[0], 0.92382972961911511871, 2e-15);
  const State fourth = final_state(vrkmk_example("order", vrkmk4.set()));
  EXPECT_NEAR(fourth.p[0], -0.53618701880389644571, 2e-15);
  EXPECT_NEAR(fourth.p[1], 0.0037806212958890117192, 2e-15);
  EXPECT_NEAR(fourth.q[0], 0.92375058432898938715, 2e-15);
  const State later = final_state(vrkmk_example("order", vrkmk4.set() + Words{"time.step=0.02", "time.end=5"}));
  EXPECT_NEAR(later.p[0], 1.0356674950556139768, 3e-14);
  EXPECT_NEAR(later.p[1], 0.30733635538018848391, 3e-14);
  EXPECT_NEAR(later.p[2], 0.0, 3e-15);
  EXPECT_NEAR(later.q[8], 0.97500672488580338787, 3e-14);
}

// One map under two names, and coefficients given by hand.
TEST_F(Variational, AgreeWhereTheyAreTheSameMethod) {
  const auto difference = [](const Words& a, const Words& b) {
    const State x = final_state(vrkmk_example("order", a)), y = final_state(vrkmk_example("order", b));
    return std::max((x.q - y.q).cwiseAbs().maxCoeff(), (x.p - y.p).cwiseAbs().maxCoeff());
  };
  EXPECT_LT(difference(vrkmk2.set(), vcg2.set()), 1e-14);
  EXPECT_LT(difference(vrkmk2.set(), {"method.name=vrkmk-pade", "method.tableau=gauss1"}), 1e-14);
  EXPECT_EQ(
      difference(vrkmk3.set(), {"method.tableau={ a = [[0, 0, 0], [0.5, 0, 0], [-1, 2, 0]], b = [\"1/6\", \"2/3\", "
                                "\"1/6\"] }"}),
      0.0);
  EXPECT_EQ(
      difference(vcg4.set(), {"method.name=vcg", "method.tableau=given", "method.theta=[0.5, 0.5, 0.5]",
                              "method.weights=[1.3512071919596576340, -1.7024143839193152681, 1.3512071919596576340]"}),
      0.0);
}

}  // namespace
