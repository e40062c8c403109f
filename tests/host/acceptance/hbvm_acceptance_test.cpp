// The example studies of line integral methods against the numbers of the papers and of independent computations.

#include <algorithm>
#include <cmath>

#include "acceptance.hpp"

using namespace rattleback;
using namespace rattleback::tests;

namespace {

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
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("hbvm-planar", {"method.k=1"}), "k = 1 nodes are fewer than the s = 2 coefficients");
  has(message("hbvm-planar", {"method.k=13"}), "method.k = 13 is out of range; 'hbvm' takes 1 to 12");
  has(message("hbvm-planar", {"method.s=7"}), "method.s = 7 is out of range; 'hbvm' takes 1 to 6");
  has(message("hbvm-planar", {"ensemble.initial.v=[1,0.5]"}), "initial state of trajectory 0 is off the constraint");
  has(message("hbvm-planar", {"system.parameters.length=0", "ensemble.initial.q=[0,0]", "ensemble.initial.v=[0,0]"}),
      "initial state of trajectory 0 has dependent constraints (the smallest singular value of their derivative is 0");
}

TEST_F(Families, TheMagneticPendulumIsSeparableWithoutItsFieldOnly) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("hbvm-planar", {"system.parameters.magnetic_field=0.5"}),
      "magnetic_field = 0.5 (method 'hbvm' takes systems with holonomic constraints or none and a Lagrangian v.Mv/2 - "
      "U(t, q) on R^n, which 'planar-pendulum' has without it only)");
  has(message("hbvm-planar", {"system.parameters.magnetic_field=b", "ensemble.axes=[{name=\"b\",values=[0]}]"}),
      "magnetic_field = b (method 'hbvm'");
  const Result without = result("hbvm-planar", {"system.parameters.magnetic_field=0"}), plain = result("hbvm-planar");
  EXPECT_LT((without.matrix("/final/q") - plain.matrix("/final/q")).cwiseAbs().maxCoeff(), 1e-13);
}

TEST_F(Families, MethodsSayWhatTheyNeed) {
  const std::string text = message("conversion-kepler", {"system.name=magnetic-polar", "method={name=\"hbvm\"}"});
  EXPECT_NE(
      text.find("method 'hbvm' cannot treat system 'magnetic-polar' (it takes systems with holonomic constraints or "
                "none and a Lagrangian v.Mv/2 - U(t, q) on R^n); use lobatto, variational-conversion, runge-kutta"),
      std::string::npos)
      << text;
}

}  // namespace
