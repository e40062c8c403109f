// Variational Crouch-Grossman methods, as compositions of one-stage methods, against an independent computation in many
// digits and against the method on which all coincide.

#include "vrkmk.hpp"

using namespace rattleback;
using namespace rattleback::variational;

namespace {

constexpr const char* sets[] = {"midpoint", "triple-jump4", "yoshida6"};

TEST(Vcg, OneStepFromAGenericState) {
  const auto system = dipole(-1.0);
  for (const auto iteration : {StageIteration::newton, StageIteration::chord, StageIteration::fixed_point}) {
    auto state = generic_dipole_state();
    EXPECT_EQ(vcg(system, "triple-jump4", iteration)(state, 0.05).status, 0.0);
    EXPECT_LT(distance(state.p, {-0.030643024024888535002, 0.0042499699111670682051, 0.03}), 3e-16);
    EXPECT_NEAR(state.q[0], 0.94632833203980497222, 3e-16);
    EXPECT_NEAR(energy_of(system, state) - 0.03442096585095064232, 6.0960058e-8, 1e-15);
  }
}

TEST(Vcg, ConvergesAsInTheOrderPlot) {
  struct Row {
    const char* set;
    double sigma;
    std::vector<double> errors;
  };
  const Row rows[] = {
      {"midpoint", -1, {3.614e-3, 9.226e-4, 2.319e-4, 5.804e-5, 1.451e-5, 3.629e-6, 9.072e-7, 3.716e-7}},
      {"midpoint", 1, {2.744e-3, 6.991e-4, 1.756e-4, 4.395e-5, 1.099e-5, 2.748e-6, 6.870e-7, 2.814e-7}},
      {"triple-jump4", -1, {6.128e-4, 4.173e-5, 2.668e-6, 1.677e-7, 1.050e-8, 6.564e-10, 4.103e-11, 6.88e-12}},
      {"triple-jump4", 1, {4.248e-4, 2.845e-5, 1.810e-6, 1.137e-7, 7.112e-9, 4.446e-10, 2.780e-11, 4.66e-12}},
      {"yoshida6", -1, {2.382e-6, 4.087e-8, 6.541e-10, 1.03e-11, 1.6e-13}},
      {"yoshida6", 1, {1.354e-6, 2.276e-8, 3.624e-10, 5.69e-12, 9.0e-14}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.set) + " sigma " + std::to_string(row.sigma));
    expect_errors(vcg(dipole(row.sigma), row.set), row.sigma, row.errors);
  }
  const auto ruth = [](int steps) {
    return dipole_error(-1.0, run<Dipole>(vcg(dipole(-1.0), "ruth3"), dipole_state(dipole(-1.0)), 0.5 / steps, steps));
  };
  EXPECT_NEAR(ruth(20), 1.185e-6, 1e-9);
  EXPECT_NEAR(ruth(40), 1.469e-7, 1e-10);
}

TEST(Vcg, TheMidpointMethodIsThatOfMuntheKaas) {
  const auto system = dipole(-1.0);
  auto a = generic_dipole_state(), b = a;
  const auto by_vcg = vcg(system, "midpoint"), by_vrkmk = vrkmk(system, "gauss1", 0);
  for (int k = 0; k < 100; ++k) {
    by_vcg(a, 0.05);
    by_vrkmk(b, 0.05);
    ASSERT_LE(distance(a, b), 1e-14);
  }
}

TEST(Vcg, EnergyErrorsOfAnEnsemble) {
  struct Row {
    const char* set;
    double h, mse;
  };
  const Row rows[] = {{"triple-jump4", 0.04, 7.9363e-7},  {"triple-jump4", 0.02, 3.9428e-9},
                      {"triple-jump4", 0.01, 1.6453e-11}, {"yoshida6", 0.04, 2.6447e-11},
                      {"yoshida6", 0.02, 8.4202e-15},     {"yoshida6", 0.01, 2.2035e-18}};
  for (const Row& row : rows) {
    double drift;
    EXPECT_NEAR(ensemble_energy_error(vcg(dipole(-1.0), row.set), row.h, drift) / row.mse, 1.0, 0.01)
        << row.set << " h = " << row.h;
    EXPECT_LT(drift, 1e-13);
  }
}

TEST(Vcg, EnergyStaysNear) {
  const auto system = dipole(-1.0);
  const auto step = vcg(system, "triple-jump4");
  auto state = dipole_state(system);
  const double start = energy_of(system, state);
  double worst = 0.0;
  for (int k = 0; k < 500; ++k) {
    state = run<Dipole>(step, state, 0.01, 1);
    worst = std::max(worst, std::fabs(energy_of(system, state) - start));
  }
  EXPECT_NEAR(worst / 4.843e-6, 1.0, 5e-3);
}

TEST(Vcg, KeepsMomentumMaps) {
  const double energies[] = {6.486e-4, 3.14e-6, 5.4e-10};
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(sets[i]);
    const auto worst = momentum_errors(vcg(lagrange_top(), sets[i]), vcg(free_body(), sets[i]));
    EXPECT_LT(worst.vertical, 1e-13);
    EXPECT_LT(worst.axial, 3e-13);
    EXPECT_LT(worst.free, 1e-13);
    EXPECT_NEAR(worst.energy / energies[i], 1.0, 0.02);
  }
}

TEST(Vcg, IsSymplectic) {
  const auto system = dipole(-1.0);
  for (const char* set : {"midpoint", "triple-jump4", "yoshida6", "ruth3"}) {
    const auto step = vcg(system, set);
    EXPECT_LT(symplecticity_defect<Dipole>([&](auto& s) { step(s, 0.05); }, generic_dipole_state(), 1e-5), 2e-9) << set;
  }
}

TEST(Vcg, GoingBackAndForth) {
  const auto defect = [](const char* set) {
    const auto start = generic_dipole_state();
    auto state = start;
    const auto step = vcg(dipole(-1.0), set);
    step(state, 0.05);
    step(state, -0.05);
    return distance(state, start);
  };
  for (const char* set : sets) EXPECT_LT(defect(set), 2e-15) << set;
  EXPECT_GT(defect("ruth3"), 1e-9);
}

TEST(Vcg, SaysWhichSubstepFails) {
  auto state = dipole_state(dipole(-1.0));
  const auto report = vcg(dipole(-1.0), "triple-jump4", StageIteration::newton, {1e-15, 1})(state, 0.1);
  EXPECT_EQ(report.status, double(status_not_converged));
  // substeps after the failure do not count
  EXPECT_EQ(report.iterations, 1.0);
}

}  // namespace
