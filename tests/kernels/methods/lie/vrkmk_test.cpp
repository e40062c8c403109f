// Variational Munthe-Kaas methods on the dipole and the heavy top, against an independent computation in many digits:
// single steps, convergence, energy, momentum maps, symplecticity.

#include "vrkmk.hpp"
#include "named.hpp"

using namespace rattleback;
using namespace rattleback::variational;

namespace {

struct Published {
  const char* name;
  const char* tableau;
  int cutoff;
};
constexpr Published published[] = {
    {"VRKMK2", "gauss1", 0}, {"VRKMK3", "kutta3", 1}, {"VRKMK4", "gauss2", 2}, {"VRKMK6", "gauss3", 4}};

TEST(Vrkmk, OneStepFromAGenericState) {
  struct Spot {
    const char* tableau;
    int cutoff;
    bool pade;
    double mu_1, mu_2, q_11, energy;
  };
  const Spot spots[] = {
      {"gauss1", 0, false, -0.030645819414109892867, 0.0042497717434985732929, 0.94632335459274378192, 5.5493372e-7},
      {"kutta3", 1, false, -0.030642896544989683232, 0.004250042610178800746, 0.9463298815945461458, 4.177114e-7},
      {"gauss2", 2, false, -0.030642977207566265941, 0.0042499671169018812294, 0.94632887418103622923, 3.6268946e-9},
      {"gauss3", 4, false, -0.030642975894858060515, 0.0042499672689246232777, 0.94632890345263278799, -7.0384488e-13},
      {"gauss2", 2, true, -0.030642977270922710574, 0.0042499672741584809241, 0.94632887263718598923, 4.0193173e-9}};
  const auto system = dipole(-1.0);
  for (const Spot& spot : spots)
    for (const auto iteration :
         {StageIteration::newton, StageIteration::chord, StageIteration::fixed_point, StageIteration::sweeps}) {
      SCOPED_TRACE(spot.tableau);
      auto state = generic_dipole_state();
      EXPECT_NEAR(energy_of(system, state), 0.03442096585095064232, 1e-16);
      const auto report = vrkmk(system, spot.tableau, spot.cutoff, spot.pade, iteration)(state, 0.05);
      EXPECT_EQ(report.status, 0.0);
      EXPECT_LT(report.residual, 1e-16);
      EXPECT_NEAR(state.p[0], spot.mu_1, 2e-16);
      EXPECT_NEAR(state.p[1], spot.mu_2, 2e-16);
      EXPECT_NEAR(state.p[2], 0.03, 1e-16);
      EXPECT_NEAR(state.q[0], spot.q_11, 3e-16);
      EXPECT_NEAR(energy_of(system, state) - 0.03442096585095064232, spot.energy,
                  1e-7 * std::fabs(spot.energy) + 1e-16);
    }
}

TEST(Vrkmk, ReachesThePublishedTimes) {
  const auto at = [](const char* tableau, int cutoff, double h, int steps) {
    return run<Dipole>(vrkmk(dipole(-1.0), tableau, cutoff), dipole_state(dipole(-1.0)), h, steps);
  };
  const auto midpoint = at("gauss1", 0, 0.025, 20);
  EXPECT_LT(distance(midpoint.p, {-0.53619301339558109015, 0.003802414766693867224, 0.0}), 1e-15);
  EXPECT_NEAR(midpoint.q[0], 0.92382972961911511871, 1e-15);
  const auto fourth = at("gauss2", 2, 0.025, 20);
  EXPECT_LT(distance(fourth.p, {-0.53618701880389644571, 0.0037806212958890117192, 0.0}), 1e-15);
  EXPECT_NEAR(fourth.q[0], 0.92375058432898938715, 1e-15);
  const auto later = at("gauss2", 2, 0.02, 250);
  EXPECT_LT(distance(later.p, {1.0356674950556139768, 0.30733635538018848391, 0.0}), 3e-14);
  EXPECT_NEAR(later.q[8], 0.97500672488580338787, 3e-14);
}

TEST(Vrkmk, ConvergesAsInTheOrderPlot) {
  struct Row {
    const char* tableau;
    int cutoff;
    double sigma;
    std::vector<double> errors;
  };
  const Row rows[] = {
      {"gauss1", 0, -1, {3.614e-3, 9.226e-4, 2.319e-4, 5.804e-5, 1.451e-5, 3.629e-6, 9.072e-7, 3.716e-7}},
      {"gauss1", 0, 1, {2.744e-3, 6.991e-4, 1.756e-4, 4.395e-5, 1.099e-5, 2.748e-6, 6.870e-7, 2.814e-7}},
      {"kutta3", 1, -1, {4.282e-4, 1.032e-5, 1.191e-6, 2.948e-7, 4.645e-8, 6.421e-9, 8.414e-10, 2.243e-10}},
      {"kutta3", 1, 1, {2.358e-4, 1.642e-6, 1.733e-6, 3.228e-7, 4.718e-8, 6.332e-9, 8.189e-10, 2.173e-10}},
      {"gauss2", 2, -1, {1.255e-5, 7.785e-7, 4.854e-8, 3.032e-9, 1.894e-10, 1.184e-11, 7.41e-13, 1.25e-13}},
      {"gauss2", 2, 1, {1.001e-5, 6.222e-7, 3.881e-8, 2.424e-9, 1.514e-10, 9.465e-12, 5.91e-13, 1.00e-13}},
      {"gauss3", 4, -1, {7.848e-9, 1.180e-10, 1.82e-12, 2.9e-14}},
      {"gauss3", 4, 1, {4.437e-9, 6.732e-11, 1.04e-12, 1.7e-14}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.tableau) + " sigma " + std::to_string(row.sigma));
    expect_errors(vrkmk(dipole(row.sigma), row.tableau, row.cutoff), row.sigma, row.errors);
  }
}

TEST(Vrkmk, TheCutoffLimitsTheOrder) {
  struct Row {
    const char* tableau;
    int cutoff;
    bool pade;
    double at_20, at_40, slope;
  };
  const Row rows[] = {
      {"gauss2", 0, false, 4.31e-4, 1.07e-4, 2.01},    {"gauss2", 1, false, 3.86e-6, 4.77e-7, 3.02},
      {"gauss3", 1, false, 3.92e-6, 4.81e-7, 3.03},    {"gauss3", 2, false, 3.56e-11, 1.06e-12, 5.06},
      {"kutta3", 0, false, 4.28e-4, 1.06e-4, 2.01},    {"trapezoidal", 0, false, 4.84e-4, 1.21e-4, 2.00},
      {"lobatto3", 2, false, 4.65e-9, 2.87e-10, 4.02}, {"gauss2", 1, true, 7.70e-6, 9.54e-7, 3.01},
      {"gauss2", 2, true, 5.81e-8, 3.61e-9, 4.01},     {"gauss3", 2, true, 9.86e-9, 6.02e-10, 4.03},
      {"gauss3", 3, true, 2.06e-10, 6.26e-12, 5.04},   {"gauss3", 4, true, 1.95e-12, 3.05e-14, 6.00}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.tableau) + " cut-off " + std::to_string(row.cutoff) + (row.pade ? " pade" : ""));
    const auto step = vrkmk(dipole(-1.0), row.tableau, row.cutoff, row.pade);
    double error[2];
    for (int i = 0; i < 2; ++i)
      error[i] = dipole_error(-1.0, run<Dipole>(step, dipole_state(dipole(-1.0)), 0.025 / (1 + i), 20 * (1 + i)));
    EXPECT_NEAR(error[0], row.at_20, 0.01 * row.at_20 + 1e-14);
    EXPECT_NEAR(error[1], row.at_40, 0.01 * row.at_40 + 1e-14);
    if (row.at_40 > 1e-13) {
      EXPECT_NEAR(std::log2(error[0] / error[1]), row.slope, 0.02);
    }
  }
  const RungeKuttaTableau explicit_theta{"theta", 1, 1, {{0.0}}, {1.0}};
  for (const int steps : {20, 40})
    EXPECT_NEAR(dipole_error(-1.0, run<Dipole>(vrkmk(dipole(-1.0), explicit_theta, 0), dipole_state(dipole(-1.0)),
                                               0.5 / steps, steps)),
                steps == 20 ? 6.94e-3 : 3.47e-3, 1e-5);
  // the odd cut-offs above 1 add nothing to dexp^-1, but something to dexp
  auto second = generic_dipole_state(), third = second;
  vrkmk(dipole(-1.0), "gauss2", 2)(second, 0.05);
  vrkmk(dipole(-1.0), "gauss2", 3)(third, 0.05);
  EXPECT_EQ(distance(second, third), 0.0);
  auto pade = generic_dipole_state();
  vrkmk(dipole(-1.0), "gauss2", 3, true)(pade, 0.05);
  EXPECT_GT(distance(second, pade), 1e-11);
}

TEST(Vrkmk, EnergyErrorsOfAnEnsemble) {
  struct Row {
    const char* tableau;
    int cutoff;
    double h, mse;
  };
  const Row rows[] = {{"gauss1", 0, 0.04, 4.7775e-5},  {"gauss1", 0, 0.02, 2.9765e-6},  {"gauss1", 0, 0.01, 1.8583e-7},
                      {"kutta3", 1, 0.04, 1.5029e-6},  {"kutta3", 1, 0.02, 5.1125e-9},  {"kutta3", 1, 0.01, 3.4938e-11},
                      {"gauss2", 2, 0.04, 8.9297e-11}, {"gauss2", 2, 0.02, 3.5664e-13}, {"gauss2", 2, 0.01, 1.3962e-15},
                      {"gauss3", 4, 0.04, 1.6559e-16}, {"gauss3", 4, 0.02, 4.2038e-20}};
  for (const Row& row : rows) {
    double drift;
    EXPECT_NEAR(ensemble_energy_error(vrkmk(dipole(-1.0), row.tableau, row.cutoff), row.h, drift) / row.mse, 1.0, 0.01)
        << row.tableau << " h = " << row.h;
    EXPECT_LT(drift, 1e-14);
  }
}

TEST(Vrkmk, EnergyStaysNearForLong) {
  // at t = 5, where the motion is still regular, to three digits
  struct Row {
    const char* tableau;
    int cutoff;
    double sigma, worst;
  };
  const Row rows[] = {{"gauss1", 0, -1, 6.208e-4},
                      {"gauss2", 2, -1, 5.247e-8},
                      {"gauss3", 4, -1, 6.02e-12},
                      {"gauss1", 0, 1, 8.849e-6},
                      {"gauss2", 2, 1, 2.578e-10}};
  for (const Row& row : rows) {
    const auto system = dipole(row.sigma);
    const auto step = vrkmk(system, row.tableau, row.cutoff);
    auto state = dipole_state(system);
    const double start = energy_of(system, state);
    EXPECT_NEAR(start, -0.0462392537159164140952, 1e-16);
    double worst = 0.0;
    for (int k = 0; k < 500; ++k) {
      state = run<Dipole>(step, state, 0.01, 1);
      worst = std::max(worst, std::fabs(energy_of(system, state) - start));
    }
    EXPECT_NEAR(worst / row.worst, 1.0, 5e-3) << row.tableau << " sigma " << row.sigma;
  }
  const auto system = dipole(-1.0);
  for (const auto iteration : {StageIteration::newton, StageIteration::sweeps}) {
    const auto step = vrkmk(system, "gauss2", 2, false, iteration);
    const auto start = dipole_state(system, 3);
    auto state = start;
    double worst = 0.0, vertical = 0.0;
    for (int k = 0; k < 100000; ++k) {
      state = run<Dipole>(step, state, 0.01, 1);
      worst = std::max(worst, std::fabs(energy_of(system, state) - energy_of(system, start)));
      vertical = std::max(vertical, std::fabs(state.p[2] - start.p[2]));
    }
    EXPECT_GT(worst, 1.2e-7);
    EXPECT_LT(worst, 2.0e-7);
    EXPECT_LT(vertical, 1e-13);
    EXPECT_LT(SO3::defect(state.q), 1e-12);
  }
}

TEST(Vrkmk, KeepsMomentumMaps) {
  const double energies[] = {6.486e-4, 5.85e-6, 3.48e-8, 3.4e-12};
  for (int i = 0; i < 4; ++i) {
    SCOPED_TRACE(published[i].name);
    const auto worst = momentum_errors(vrkmk(lagrange_top(), published[i].tableau, published[i].cutoff),
                                       vrkmk(free_body(), published[i].tableau, published[i].cutoff));
    EXPECT_LT(worst.vertical, 1e-13);
    EXPECT_LT(worst.axial, 3e-13);
    EXPECT_LT(worst.free, 1e-13);
    EXPECT_NEAR(worst.energy / energies[i], 1.0, 0.02);
  }
}

TEST(Vrkmk, LooseSolvesLoseMomentumMaps) {
  const auto error = [](double tolerance) {
    auto state = dipole_state(dipole(-1.0), 5);
    const double start = state.p[2];
    const auto step = vrkmk(dipole(-1.0), "gauss2", 2, false, StageIteration::fixed_point, {tolerance, 100});
    state = run<Dipole>(step, state, 0.05, 100);
    return std::fabs(state.p[2] - start);
  };
  EXPECT_LT(error(1e-15), 1e-12);
  EXPECT_GT(error(1e-6), 1e-10);
}

TEST(Vrkmk, IsSymplectic) {
  const auto system = dipole(-1.0);
  const auto state = generic_dipole_state();
  const auto defect = [&](const StepOf<Dipole>& step) {
    return symplecticity_defect<Dipole>([&](auto& s) { EXPECT_EQ(step(s, 0.05).status, 0.0); }, state, 1e-5);
  };
  for (const Published& method : published) EXPECT_LT(defect(vrkmk(system, method.tableau, method.cutoff)), 2e-9);
  for (const int cutoff : {0, 1, 2, 3, 4}) EXPECT_LT(defect(vrkmk(system, "gauss2", cutoff, true)), 2e-9);
  EXPECT_LT(defect(vrkmk(system, "lobatto3", 2)), 2e-9);
  EXPECT_LT(defect(vrkmk(system, "gauss3", 6)), 2e-9);
  // the negative control: Lie-Euler
  const auto euler = [&](StateOf<double, Dipole>& s) {
    const auto m = SO3::Ad_star(s.q, s.p), eta = velocity(system, s.q, m);
    s.p = s.p + 0.05 * SO3::Ad_inverse_star(s.q, force(system, s.q));
    s.q = SO3::product(s.q, exponential<SO3>(0.05 * eta));
  };
  EXPECT_GT(symplecticity_defect<Dipole>(euler, state, 1e-5), 1e-2);
}

TEST(Vrkmk, GoingBackAndForth) {
  const auto defect = [](const StepOf<Dipole>& step) {
    const auto start = generic_dipole_state();
    auto state = start;
    step(state, 0.05);
    step(state, -0.05);
    return distance(state, start);
  };
  const auto system = dipole(-1.0);
  EXPECT_LT(defect(vrkmk(system, "gauss1", 0)), 1e-15);
  EXPECT_LT(defect(vrkmk(system, "trapezoidal", 0)), 1e-15);
  EXPECT_NEAR(defect(vrkmk(system, "gauss2", 2)), 8.659e-10, 4e-10);
  EXPECT_NEAR(defect(vrkmk(system, "gauss2", 2, true)), 9.544e-10, 5e-10);
}

TEST(Vrkmk, Iterations) {
  // mean iterations to t = 5, against those reported for stops at round-off
  struct Row {
    StageIteration iteration;
    const char* tableau;
    int cutoff;
    double h, sigma, most;
  };
  const Row rows[] = {{StageIteration::newton, "gauss2", 2, 0.2, 1, 6.0},
                      {StageIteration::newton, "gauss2", 2, 0.1, -1, 5.5},
                      {StageIteration::newton, "gauss2", 2, 0.05, -1, 4.5},
                      {StageIteration::newton, "gauss2", 2, 0.01, -1, 3.7},
                      {StageIteration::chord, "gauss2", 2, 0.05, -1, 8.7},
                      {StageIteration::chord, "gauss2", 2, 0.01, -1, 5.1},
                      {StageIteration::fixed_point, "gauss2", 2, 0.05, -1, 29},
                      {StageIteration::fixed_point, "gauss2", 2, 0.01, -1, 14},
                      {StageIteration::fixed_point, "gauss1", 0, 0.01, -1, 11.5},
                      {StageIteration::newton, "gauss3", 4, 0.05, -1, 4.5},
                      {StageIteration::fixed_point, "gauss3", 4, 0.01, -1, 14},
                      {StageIteration::sweeps, "gauss2", 2, 0.05, -1, 14},
                      {StageIteration::sweeps, "gauss2", 2, 0.01, -1, 6.5},
                      {StageIteration::sweeps, "gauss1", 0, 0.01, -1, 6.5},
                      {StageIteration::sweeps, "gauss3", 4, 0.01, -1, 6.5}};
  for (const Row& row : rows) {
    const auto step = vrkmk(dipole(row.sigma), row.tableau, row.cutoff, false, row.iteration,
                            {row.iteration == StageIteration::fixed_point ? 1e-15 : 1e-14, 100});
    auto state = dipole_state(dipole(row.sigma));
    const int steps = static_cast<int>(std::lround(5.0 / row.h));
    double iterations = 0.0;
    for (int k = 0; k < steps; ++k) {
      const auto report = step(state, row.h);
      ASSERT_EQ(report.status, 0.0) << row.tableau << " h = " << row.h << " step " << k;
      iterations += report.iterations / steps;
    }
    EXPECT_LT(iterations, row.most) << static_cast<int>(row.iteration) << " " << row.tableau << " h = " << row.h;
  }
}

TEST(Vrkmk, WhatSweepsDoNotSolveIsForNewton) {
  const auto numbers = VrkmkNumbers<2>::of(StageIteration::sweeps, *named(runge_kutta_tableaus, "gauss2"), 2, false);
  using Whole = VrkmkStep<double, Dipole, 2>;
  static_assert(!Whole::defers_failures && Whole::FastStep::defers_failures);
  const Whole whole(dipole(-1.0), {1e-14, 50}, numbers);
  const Whole::FastStep fast(dipole(-1.0), {1e-14, 50}, numbers);
  int handed_over = 0;
  auto state = dipole_state(dipole(-1.0));
  for (int k = 0; k < 50; ++k) {
    auto next = state, tried = state;
    ASSERT_EQ(whole(next, 0.1).status, 0.0);
    if (fast(tried, 0.1).status == 0.0) {
      EXPECT_EQ(distance(next, tried), 0.0);
    } else {
      ++handed_over;
    }
    state = next;
  }
  EXPECT_GT(handed_over, 0);
  EXPECT_LT(handed_over, 50);
}

TEST(Vrkmk, DerivativesOfSteps) {
  // over dual numbers a step gives its tangent map
  using D = Dual<double, 1>;
  for (const auto iteration : {StageIteration::newton, StageIteration::sweeps}) {
    const auto numbers = VrkmkNumbers<2>::of(iteration, *named(runge_kutta_tableaus, "gauss2"), 2, false);
    const VrkmkStep<double, Dipole, 2> step(dipole(-1.0), tightly, numbers);
    const VrkmkStep<D, DipoleOnAStick<D>, 2> dual({D(1.0), D(0.1), D(1.0), D(1.0), D(-1.0)}, {D(1e-14), 100}, numbers);
    const auto start = generic_dipole_state();
    const Vector<double, 3> along{0.3, -0.5, 0.7};
    StateOf<D, DipoleOnAStick<D>> moved;
    for (int i = 0; i < 9; ++i) moved.q[i] = D(start.q[i]);
    for (int i = 0; i < 3; ++i) {
      moved.p[i].value = start.p[i];
      moved.p[i].partial[0] = along[i];
    }
    EXPECT_EQ(dual(moved, D(0.05)).status.value, 0.0);
    auto forward = start, backward = start;
    forward.p = forward.p + 1e-6 * along;
    backward.p = backward.p + -1e-6 * along;
    step(forward, 0.05);
    step(backward, 0.05);
    for (int i = 0; i < 9; ++i) EXPECT_NEAR(moved.q[i].partial[0], (forward.q[i] - backward.q[i]) / 2e-6, 1e-8);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(moved.p[i].partial[0], (forward.p[i] - backward.p[i]) / 2e-6, 1e-8);
  }
}

TEST(Vrkmk, SaysWhenItFails) {
  auto state = dipole_state(dipole(-1.0));
  EXPECT_EQ(vrkmk(dipole(-1.0), "gauss2", 2, false, StageIteration::newton, {1e-15, 1})(state, 0.1).status,
            double(status_not_converged));
  state = dipole_state(dipole(-1.0));
  EXPECT_NE(vrkmk(dipole(-1.0), "gauss2", 2, false, StageIteration::fixed_point)(state, 2.0).status, 0.0);
  state = dipole_state(dipole(-1.0));
  state.p[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(vrkmk(dipole(-1.0), "gauss2", 2)(state, 0.1).status, 0.0);
}

}  // namespace
