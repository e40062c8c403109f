// HBVM(k, s) against the tables and figures of L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral
// Solution of Hamiltonian Systems with Holonomic Constraints. The numbers are those of an independent computation with
// 64 bits of mantissa and, for single states, with 40 digits; they agree with the printed ones where those are free of
// round-off.

#include <gtest/gtest.h>

#include "hbvm.hpp"

namespace rattleback {
namespace {

/// Errors of one row: of the state, of the multiplier, of the hidden constraint.
struct Row {
  double state, lambda, hidden;
};

void expect_row(const Row& row, const Row& expected, double tolerance) {
  expect_relative(row.state, expected.state, tolerance, "e_s");
  expect_relative(row.lambda, expected.lambda, tolerance, "e_lambda");
  expect_relative(row.hidden, expected.hidden, tolerance, "e_hc");
}

// Table 1: planar pendulum; 1-norm of the state's error over all times, lambda against that at the step's beginning.
template <int S>
void check_table_1(const std::vector<Row>& expected) {
  std::vector<Row> rows;
  for (int i = 0; i < int(expected.size()); ++i) {
    SCOPED_TRACE("s = " + std::to_string(S) + ", row " + std::to_string(i));
    const int steps = 100 << i;
    const auto run = integrate<S>(planar, {S}, planar_start, 10.0 / steps, steps);
    const Drift errors = drift(planar, run);
    Row row{0.0, 0.0, errors.hidden};
    for (int k = 0; k <= steps; ++k) {
      double lambda;
      const auto exact = planar_exact(k * 10.0 / steps, lambda);
      row.state = std::max(row.state, one_norm(run.states[k].q - exact.q) + one_norm(run.states[k].p - exact.p));
      if (k < steps) row.lambda = std::max(row.lambda, std::abs(run.lambda[k][0] - lambda));
    }
    expect_row(row, expected[i], i < 6 ? 5e-6 : 1e-5);
    EXPECT_LE(errors.energy, 5e-14);
    EXPECT_LE(errors.constraint, 5e-14);
    rows.push_back(row);
  }
  EXPECT_NEAR(std::log2(rows[5].state / rows[6].state), 2.0, 0.01);
  EXPECT_NEAR(std::log2(rows[5].lambda / rows[6].lambda), 1.0, 0.01);
  EXPECT_NEAR(std::log2(rows[5].hidden / rows[6].hidden), 2.0, 0.01);
}

TEST(HbvmTables, PlanarPendulum) {
  check_table_1<1>({{2.570035e-02, 3.425254e-02, 2.348713e-03},
                    {6.426020e-03, 1.738562e-02, 5.863899e-04},
                    {1.606997e-03, 8.740565e-03, 1.465441e-04},
                    {4.018111e-04, 4.383535e-03, 3.663284e-05},
                    {1.004539e-04, 2.194810e-03, 9.158005e-06},
                    {2.511385e-05, 1.098187e-03, 2.289490e-06},
                    {6.278463e-06, 5.492849e-04, 5.723720e-07},
                    {1.569616e-06, 2.746905e-04, 1.430929e-07},
                    {3.924040e-07, 1.373572e-04, 3.577323e-08}});
  check_table_1<2>({{1.669485e-03, 3.517622e-02, 2.353925e-03},
                    {4.141153e-04, 1.758509e-02, 5.867040e-04},
                    {1.033221e-04, 8.791891e-03, 1.465642e-04},
                    {2.581558e-05, 4.395842e-03, 3.663409e-05},
                    {6.453293e-06, 2.197912e-03, 9.158083e-06},
                    {1.613260e-06, 1.098954e-03, 2.289495e-06},
                    {4.033112e-07, 5.494769e-04, 5.723723e-07},
                    {1.008276e-07, 2.747384e-04, 1.430930e-07},
                    {2.520690e-08, 1.373692e-04, 3.577323e-08}});
  check_table_1<3>({{1.665750e-03, 3.517762e-02, 2.353926e-03},
                    {4.138618e-04, 1.758518e-02, 5.867040e-04},
                    {1.033069e-04, 8.791892e-03, 1.465642e-04},
                    {2.581484e-05, 4.395842e-03, 3.663409e-05},
                    {6.453232e-06, 2.197912e-03, 9.158083e-06},
                    {1.613257e-06, 1.098954e-03, 2.289495e-06},
                    {4.033110e-07, 5.494769e-04, 5.723723e-07},
                    {1.008276e-07, 2.747384e-04, 1.430930e-07},
                    {2.520689e-08, 1.373692e-04, 3.577323e-08}});
}

// Table 2: conical pendulum, whose multiplier is constant, after 10 periods.
template <int S>
void check_table_2(const std::vector<std::pair<int, double>>& expected) {
  for (const auto& [n, error] : expected) {
    SCOPED_TRACE("s = " + std::to_string(S) + ", n = " + std::to_string(n));
    const auto run = integrate<S>(conical, {S}, conical_start, conical_period / n, 10 * n);
    const double reached = phase_distance<Conical>(run.states.back(), conical_start);
    if (S < 4) {
      expect_relative(reached, error, 1e-4, "e_s");
    } else {
      EXPECT_NEAR(reached, error, std::max(2e-3 * error, 1e-14));
    }
    const Drift errors = drift(conical, run);
    for (const auto& lambda : run.lambda) EXPECT_NEAR(lambda[0], 0.70710678118654752, 5e-13);
    EXPECT_LE(errors.hidden, 1e-13);
    EXPECT_LE(errors.energy, 5e-14);
    EXPECT_LE(errors.constraint, 5e-14);
  }
}

TEST(HbvmTables, ConicalPendulum) {
  check_table_2<1>({{10, 1.154283e+00},
                    {20, 4.099582e-01},
                    {30, 1.902123e-01},
                    {40, 1.079388e-01},
                    {50, 6.928531e-02},
                    {60, 4.817779e-02},
                    {70, 3.542027e-02},
                    {80, 2.712963e-02},
                    {90, 2.144132e-02},
                    {100, 1.737052e-02}});
  check_table_2<2>({{10, 1.116802e-02},
                    {20, 7.106087e-04},
                    {30, 1.408280e-04},
                    {40, 4.460988e-05},
                    {50, 1.828188e-05},
                    {60, 8.819029e-06},
                    {70, 4.761117e-06},
                    {80, 2.791193e-06}});
  check_table_2<3>({{10, 3.175834e-05},
                    {20, 5.019879e-07},
                    {30, 4.416442e-08},
                    {40, 7.866188e-09},
                    {50, 2.062787e-09},
                    {60, 6.909527e-10}});
  check_table_2<4>({{10, 4.994422e-08}, {20, 1.967920e-10}, {30, 7.690834e-12}, {40, 7.703756e-13}});
}

// Tables 3 and 4: the run with step h against that with h/2, at multiples of 0.1.
template <int S, class System>
void check_halving(const System& system, int k, const HbvmState<System>& start, const std::vector<Row>& expected,
                   double tolerance, double energy, double constraint) {
  const auto run_of = [&](int i) { return integrate<S>(system, {k}, start, 0.1 / (1 << i), 100 << i); };
  auto coarse = run_of(0);
  for (int i = 0; i < int(expected.size()); ++i) {
    SCOPED_TRACE("s = " + std::to_string(S) + ", row " + std::to_string(i));
    const Drift errors = drift(system, coarse);
    auto fine = run_of(i + 1);
    Row row{0.0, 0.0, errors.hidden};
    for (int j = 0; j <= 100; ++j) {
      row.state = std::max(row.state, phase_distance<System>(coarse.states[j << i], fine.states[j << (i + 1)]));
      if (j < 100) row.lambda = std::max(row.lambda, max_norm(coarse.lambda[j << i] - fine.lambda[j << (i + 1)]));
    }
    expect_row(row, expected[i], tolerance);
    EXPECT_LE(errors.energy, energy);
    EXPECT_LE(errors.constraint, constraint);
    coarse = std::move(fine);
  }
}

TEST(HbvmTables, ModifiedPendulum) {
  check_halving<1>(modified, 3, modified_start,
                   {{2.053879e-02, 1.086384e-01, 1.527909e-02},
                    {4.967512e-03, 6.427934e-02, 3.928952e-03},
                    {1.236499e-03, 3.562129e-02, 9.707162e-04},
                    {3.087778e-04, 1.872661e-02, 2.419322e-04},
                    {7.717269e-05, 9.596469e-03, 6.043624e-05},
                    {1.929181e-05, 4.856932e-03, 1.510613e-05},
                    {4.822868e-06, 2.443183e-03, 3.776386e-06},
                    {1.205712e-06, 1.225275e-03, 9.441016e-07},
                    {3.014276e-07, 6.135592e-04, 2.360247e-07}},
                   5e-6, 1e-13, 1e-13);
  check_halving<2>(modified, 6, modified_start,
                   {{6.049472e-03, 1.522394e-01, 1.751620e-02},
                    {1.402733e-03, 7.662740e-02, 4.670992e-03},
                    {3.459961e-04, 3.880564e-02, 1.166592e-03},
                    {8.619663e-05, 1.953198e-02, 2.909089e-04},
                    {2.153011e-05, 9.798767e-03, 7.271619e-05},
                    {5.381336e-06, 4.907611e-03, 1.817548e-05},
                    {1.345260e-06, 2.455865e-03, 4.543959e-06},
                    {3.363102e-07, 1.228447e-03, 1.135974e-06},
                    {8.407727e-08, 6.143524e-04, 2.839925e-07}},
                   5e-6, 1e-13, 1e-13);
  check_halving<3>(modified, 9, modified_start,
                   {{6.069817e-03, 1.523051e-01, 1.753214e-02},
                    {1.404040e-03, 7.663243e-02, 4.671520e-03},
                    {3.460778e-04, 3.880596e-02, 1.166632e-03},
                    {8.620174e-05, 1.953200e-02, 2.909112e-04},
                    {2.153043e-05, 9.798768e-03, 7.271634e-05},
                    {5.381356e-06, 4.907611e-03, 1.817549e-05},
                    {1.345261e-06, 2.455865e-03, 4.543959e-06},
                    {3.363103e-07, 1.228447e-03, 1.135974e-06},
                    {8.407727e-08, 6.143524e-04, 2.839925e-07}},
                   5e-6, 1e-13, 1e-13);
}

TEST(HbvmTables, TetheredSatellites) {
  check_halving<1>(satellites, 6, satellites_start(),
                   {{9.289272e-04, 2.121774e-06, 9.650344e-07},
                    {2.323441e-04, 1.068884e-06, 2.410813e-07},
                    {5.809305e-05, 5.362642e-07, 6.027471e-08},
                    {1.452370e-05, 2.685651e-07, 1.506797e-08}},
                   1e-4, 5e-15, 5e-13);
  check_halving<2>(satellites, 6, satellites_start(),
                   {{1.858606e-07, 2.163524e-06, 1.305253e-06},
                    {3.985894e-08, 1.081225e-06, 3.258436e-07},
                    {9.551754e-09, 5.404769e-07, 8.146376e-08},
                    {2.362126e-09, 2.702045e-07, 2.036411e-08}},
                   1e-4, 5e-15, 5e-13);
  check_halving<3>(satellites, 6, satellites_start(),
                   {{1.508900e-07, 2.163539e-06, 1.305298e-06},
                    {3.767281e-08, 1.081226e-06, 3.258464e-07},
                    {9.415114e-09, 5.404769e-07, 8.146394e-08},
                    {2.353586e-09, 2.702045e-07, 2.036412e-08}},
                   1e-4, 5e-15, 5e-13);
}

// Figures 1 and 2: the error of the state grows linearly, 1.143424e-07 in a period.
TEST(HbvmFigures, ConicalPendulumOverHundredPeriods) {
  const auto run = integrate<2>(conical, {2}, conical_start, conical_period / 100, 10000);
  const auto error = [&](int period) { return phase_distance<Conical>(run.states[100 * period], conical_start); };
  expect_relative(error(100), 1.143424e-5, 1e-5, "e_s");
  EXPECT_NEAR(error(100) / error(10), 10.0, 1e-3);
  const Drift errors = drift(conical, run);
  EXPECT_LE(errors.hidden, 1e-13);
  EXPECT_LE(errors.energy, 5e-14);
  EXPECT_LE(errors.constraint, 5e-14);
}

// Figure 3: 10^4 steps, about 2.8 orbits.
TEST(HbvmFigures, TetheredSatellitesOverTenThousandSteps) {
  const auto run = integrate<2>(satellites, {6}, satellites_start(), 0.1, 10000);
  const Drift errors = drift(satellites, run);
  expect_relative(errors.hidden, 1.090082e-5, 1e-5, "hidden constraint");
  EXPECT_LE(errors.energy, 2e-14);
  EXPECT_LE(errors.constraint, 2e-12);
}

// An ensemble of 64 on the modified pendulum's surface at time 5: means over the members.
TEST(HbvmTables, EnsembleOnTheModifiedSurface) {
  struct Means {
    double energy = 0.0, constraint = 0.0, hidden = 0.0, lambda = 0.0;
  };
  const auto means = [](auto s, int k, int steps, double sweeps) {
    Means r;
    for (int i = 0; i < 64; ++i) {
      const auto start = modified_at((20 + 6 * (i / 8)) / 100.0, (-30 + 8 * (i % 8)) / 100.0, (3 * (i % 5) - 6) / 20.0,
                                     (5 - 2 * (i % 7)) / 10.0);
      const auto run = integrate<decltype(s)::value>(modified, {k}, start, 5.0 / steps, steps);
      const auto& end = run.states.back();
      r.energy += square(energy_of(modified, end) - energy_of(modified, start)) / 64;
      r.constraint += square(modified.position_constraint(end.q)[0]) / 64;
      r.hidden += square(hidden(modified, end)[0]) / 64;
      r.lambda += run.lambda.back()[0] / 64;
      EXPECT_LE(run.sweeps_max, sweeps);
    }
    return r;
  };
  const auto expect = [](const Means& r, const Means& expected, double tolerance) {
    expect_relative(r.energy, expected.energy, tolerance, "energy");
    expect_relative(r.constraint, expected.constraint, tolerance, "constraint");
    expect_relative(r.hidden, expected.hidden, tolerance, "hidden constraint");
    expect_relative(r.lambda, expected.lambda, 1e-9, "lambda");
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  expect(means(one, 1, 100, 14), {3.721249877e-08, 3.325005535e-08, 1.560039903e-06, -0.030661953430}, 1e-9);
  expect(means(one, 1, 200, 12), {2.331346584e-09, 2.081806951e-09, 9.663836084e-08, -0.025603383488}, 1e-9);
  expect(means(two, 2, 100, 12), {4.761690793e-15, 3.153488465e-15, 1.770750658e-06, -0.030331370877}, 1e-6);
  expect(means(two, 2, 200, 11), {1.852761563e-17, 1.230814885e-17, 1.094304287e-07, -0.025532566750}, 1e-6);
  const Means conserving = means(two, 6, 200, 11);
  EXPECT_LE(conserving.energy, 1e-29);
  EXPECT_LE(conserving.constraint, 1e-29);
  expect_relative(conserving.hidden, 1.094296726e-07, 1e-9, "hidden constraint");
  expect_relative(conserving.lambda, -0.025532562107, 1e-9, "lambda");
}

// --- single states, from a computation with 40 digits ---

/// A point of mass diag(1, 2, 3) on a sphere under gravity.
struct Anisotropic {
  using scalar = double;
  static constexpr int n = 3, m = 1;
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return q[2];
  }
  RB_HD Vector<double, n> mass_diagonal() const { return {1.0, 2.0, 3.0}; }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {dot(q, q) - S(1.0)};
  }
};
constexpr Anisotropic anisotropic;
constexpr HbvmState<Anisotropic> anisotropic_start{conical_start.q, {0.5, 1.0, 1.5}, {0.0}};

template <int S, class System>
void expect_gold(const System& system, int k, const HbvmState<System>& start, double h, int steps, double tolerance,
                 const std::type_identity_t<HbvmState<System>>& first,
                 const std::type_identity_t<HbvmState<System>>& last) {
  const auto run = integrate<S>(system, {k}, start, h, steps);
  EXPECT_LE(phase_distance<System>(run.states[1], first), tolerance);
  EXPECT_LE(max_norm(run.lambda[0] - first.lambda), tolerance);
  EXPECT_LE(phase_distance<System>(run.states.back(), last), tolerance);
  EXPECT_LE(max_norm(run.lambda.back() - last.lambda), tolerance);
}

TEST(Hbvm, GivesTheStoredStates) {
  expect_gold<1>(
      planar, 1, planar_start, 0.1, 100, 5e-14,
      {{0.099503104819449018, -0.99503725162995271}, {0.99006209638898024, 0.09925496740094665}, {0.99875311720698257}},
      {{0.12396010963738428, -0.99228720198271614},
       {-0.9845658870034415, -0.12330619657810682},
       {0.97802171666620019}});
  expect_gold<2>(planar, 2, planar_start, 0.1, 100, 5e-14,
                 {{0.099667361220835374, -0.99502081239905504},
                  {0.99002913528408332, 0.099417986736607608},
                  {0.99874896615515274}},
                 {{0.11401375907344004, -0.99347917076400927},
                  {-0.98694708769016459, -0.11355081517946615},
                  {0.98051315869520095}});
  expect_gold<3>(
      planar, 3, planar_start, 0.1, 100, 5e-14,
      {{0.099667416012328619, -0.99502080691080297}, {0.9900291242799425, 0.099418041114759589}, {0.99874896476929731}},
      {{0.11401135933501483, -0.99347944616010153},
       {-0.98694763801008234, -0.11354845726174596},
       {0.98051374059291285}});
  expect_gold<2>(
      planar, 2, planar_generic(), 0.1, 100, 5e-14,
      {{0.91097900163878209, -0.41245273495663459}, {0.57662222854408429, 1.2891111913740583}, {1.3313497113243844}},
      {{0.89032895563975945, 0.4553178568312638},
       {-0.22979367104945883, 0.45382214946695371},
       {-0.094876533227837609}});
  expect_gold<2>(conical, 2, conical_start, conical_period / 20, 20, 5e-14,
                 {{0.67249943522097522, 0.21850517071105974, -0.70710678118654757},
                  {-0.25984790367447641, 0.79974111320009522, 0},
                  {0.70710678118654757}},
                 {{0.70710677866172333, -5.9754837871341316e-05, -0.70710678118654757},
                  {7.1060878352433146e-05, 0.84089641225117562, 0},
                  {0.70710678118654757}});
  expect_gold<2>(anisotropic, 3, anisotropic_start, 0.1, 50, 5e-14,
                 {{0.75208253878093889, 0.049942102691268538, -0.65717398095146184},
                  {0.39847325988302357, 0.99652716710587264, 1.4948112890575824},
                  {0.69496906369013856}},
                 {{-0.22280610086175928, -0.2154263315570186, -0.95076229263189915},
                  {0.84570973203178923, -1.5942717066180585, -0.060867103824501161},
                  {2.0789368141650284}});
  expect_gold<1>(modified, 3, modified_start, 0.1, 100, 5e-14,
                 {{0.71047789678601825, 0.084091509089712649, -0.7045079836752608},
                  {0.067422311989414729, 0.84093376654053842, 0.051975950225733557},
                  {-0.62812941220726126}},
                 {{0.12555039661264025, 0.71933328002190411, -0.59770523607540826},
                  {-0.49018701266973908, -0.52817803299683397, -0.65771886121563339},
                  {0.46139467694511116}});
  expect_gold<2>(modified, 6, modified_start, 0.1, 100, 5e-14,
                 {{0.71047072196932493, 0.084090392877446601, -0.70451351633885884},
                  {0.067546513520141585, 0.84093398319314638, 0.051661346032759875},
                  {-0.63180644403497332}},
                 {{0.11274703508482259, 0.71155337673685681, -0.60716550002728975},
                  {-0.49912348709268328, -0.53475482684884112, -0.632624879319584},
                  {0.45017133042529822}});
  expect_gold<2>(modified, 2, modified_start, 0.1, 50, 5e-14,
                 {{0.71047074006085598, 0.084090476369456033, -0.70451351855243838},
                  {0.067546536108087779, 0.84093398330745261, 0.051661175973270829},
                  {-0.63180742539352508}},
                 {{-0.81039670671769626, -0.46835071326213218, -0.54187092747767085},
                  {0.48651376614007097, -0.31193408092762032, -0.83706238737392635},
                  {0.5627906375655537}});
  expect_gold<1>(satellites, 6, satellites_start(), 0.1, 20, 1e-13,
                 {{1.8659813800073653e-05, 0.5, 19.999401776847471, 1.8659813800073653e-05, -0.5, 19.999401776847471,
                   0.05514088490049087, 0, 19.135132408940976},
                  {0.00037319627600147304, 0, -0.011964463050575604, 0.00037319627600147304, 0, -0.011964463050575604,
                   0.55103545584962887, 0, 0.023156254508299803},
                  {-0.033882939100010209, 0.067703433948121561, 0.067703433948121561}},
                 {{0.091800049594740349, 0.5, 19.790709773571944, 0.091800049594740349, -0.5, 19.790709773571944,
                   0.91986190329609985, 0, 19.537108577903098},
                  {0.13004121180036335, 0, -0.18093239237824049, 0.13004121180036335, 0, -0.18093239237824049,
                   0.2915484880133275, 0, 0.3464237148689972},
                  {-0.033823606663107998, 0.067582860178413653, 0.067582860178413653}});
  expect_gold<2>(satellites, 6, satellites_start(), 0.1, 20, 1e-13,
                 {{1.2450416523293268e-05, 0.5, 19.999401380584491, 1.2450416523293268e-05, -0.5, 19.999401380584491,
                   0.055153310255852774, 0, 19.135133201385361},
                  {0.0003734492445122326, -9.3392765011580697e-11, -0.011968425125763923, 0.0003734492445122326,
                   9.3392765011580697e-11, -0.011968425125763923, 0.55103494987844193, 0, 0.023164178127869261},
                  {-0.03388296207766181, 0.067703481769116156, 0.067703481769116156}},
                 {{0.091763720918064492, 0.5, 19.790590929024283, 0.091763720918064492, -0.5, 19.790590929024283,
                   0.91993467788212124, 0, 19.537346252789543},
                  {0.13011691500012273, -1.4676377676819205e-09, -0.18095553815777385, 0.13011691500012273,
                   1.4676377676819205e-09, -0.18095553815777385, 0.29139707740751208, 0, 0.34647000958279006},
                  {-0.033823571960428241, 0.067582790347022623, 0.067582790347022623}});
}

/// H = p^2/2 - cos q and H = p^2/2 + q^4/4 - q^2/2.
struct Angle {
  using scalar = double;
  static constexpr int n = 1, m = 0;
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return -cos(q[0]);
  }
};
struct DoubleWell {
  using scalar = double;
  static constexpr int n = 1, m = 0;
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.25) * square(square(q[0])) - S(0.5) * square(q[0]);
  }
};

TEST(Hbvm, GivesTheStoredStatesWithoutConstraints) {
  const auto expect = [](auto s, const auto& system, int k, double q, double p) {
    const auto end = integrate<decltype(s)::value>(system, {k}, {{0.0}, {1.0}, {}}, 0.1, 100).states.back();
    EXPECT_NEAR(end.q[0], q, 5e-14);
    EXPECT_NEAR(end.p[0], p, 5e-14);
  };
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  expect(one, Angle{}, 2, 0.120354027311385296, -0.992739837431687777);
  expect(two, Angle{}, 4, 0.11425304866044546, -0.993458823880845772);
  expect(one, DoubleWell{}, 2, 0.19774863741926196, -1.01898966713021056);
  expect(two, DoubleWell{}, 4, 0.177650163543217414, -1.01541202329049127);
}

// Errors at t = 10 of the pendulum as an angle, which is of order 2s, and of the energy, which is of order 2k.
TEST(Hbvm, HasOrderTwiceSWithoutConstraints) {
  const auto check = [](auto s, int k, const std::array<double, 3>& states, const std::array<double, 3>& energies,
                        double tolerance) {
    std::array<double, 3> error;
    for (int i = 0; i < 3; ++i) {
      const auto run = integrate<decltype(s)::value>(Angle{}, {k}, {{0.0}, {1.0}, {}}, 0.2 / (1 << i), 50 << i);
      const auto& end = run.states.back();
      error[i] = std::max(std::abs(end.q[0] - 0.1142522550176043), std::abs(end.p[0] + 0.99345891495522783));
      expect_relative(error[i], states[i], tolerance, "error of the state");
      const double drifted = drift(Angle{}, run).energy;
      if (energies[i] > 1e-12) {
        expect_relative(drifted, energies[i], 1e-3, "error of the energy");
      } else {
        EXPECT_LE(drifted, energies[i] + 5e-15);
      }
    }
    for (int i = 1; i < 3; ++i) EXPECT_NEAR(std::log2(error[i - 1] / error[i]), 2.0 * decltype(s)::value, 0.05);
  };
  check(std::integral_constant<int, 1>{}, 1, {2.1659e-2, 5.4320e-3, 1.3590e-3}, {4.131e-4, 1.039e-4, 2.603e-5}, 5e-5);
  check(std::integral_constant<int, 2>{}, 4, {1.2672e-5, 7.9364e-7, 4.9628e-8}, {4.63e-14, 0.0, 0.0}, 5e-5);
  check(std::integral_constant<int, 2>{}, 3, {1.2671e-5, 7.9363e-7, 4.9628e-8}, {6.068e-10, 9.526e-12, 1.490e-13},
        5e-5);
  check(std::integral_constant<int, 3>{}, 6, {4.9548e-9, 7.7737e-11, 1.2159e-12}, {0.0, 0.0, 0.0}, 0.02);
}

// Five and six coefficients need long steps, for round-off comes soon.
TEST(Hbvm, HasOrderTwiceSForManyCoefficients) {
  const auto check = [](auto s, int coarse, double error_of_coarse) {
    const auto error = [&](int steps) {
      const auto run = integrate<decltype(s)::value>(Angle{}, {2 * s()}, {{0.0}, {1.0}, {}}, 10.0 / steps, steps);
      EXPECT_LE(drift(Angle{}, run).energy, 1e-14);
      const auto& end = run.states.back();
      return std::max(std::abs(end.q[0] - 0.1142522550176043), std::abs(end.p[0] + 0.99345891495522783));
    };
    const double at = error(coarse), half = error(2 * coarse);
    expect_relative(at, error_of_coarse, 1e-3, "error of the state");
    EXPECT_NEAR(std::log2(at / half), 2.0 * s(), 0.35);
  };
  check(std::integral_constant<int, 4>{}, 12, 2.8892e-7);
  check(std::integral_constant<int, 5>{}, 10, 2.2235e-8);
  check(std::integral_constant<int, 6>{}, 10, 3.3058e-10);
}

TEST(Hbvm, ConservesTheEnergyOfAQuarticPotential) {
  const auto energy_error = [](auto s, int k) {
    return drift(DoubleWell{}, integrate<decltype(s)::value>(DoubleWell{}, {k}, {{0.0}, {1.0}, {}}, 0.1, 100)).energy;
  };
  EXPECT_LE(energy_error(std::integral_constant<int, 1>{}, 2), 1e-14);
  EXPECT_LE(energy_error(std::integral_constant<int, 2>{}, 4), 1e-14);
  EXPECT_LE(energy_error(std::integral_constant<int, 3>{}, 6), 1e-14);
  // at steps that are ten times as long
  const auto error_of_long_steps = [](auto s, int k) {
    return drift(DoubleWell{}, integrate<decltype(s)::value>(DoubleWell{}, {k}, {{0.0}, {1.0}, {}}, 1.0, 100)).energy;
  };
  EXPECT_LE(error_of_long_steps(std::integral_constant<int, 5>{}, 10), 2e-14);
  EXPECT_LE(error_of_long_steps(std::integral_constant<int, 6>{}, 12), 2e-14);
  // the controls: fewer nodes than degree times s/2
  expect_relative(energy_error(std::integral_constant<int, 1>{}, 1), 3.819e-3, 2e-4, "HBVM(1,1)");
  expect_relative(energy_error(std::integral_constant<int, 2>{}, 3), 8.335e-10, 2e-4, "HBVM(3,2)");
  expect_relative(error_of_long_steps(std::integral_constant<int, 5>{}, 8), 1.034e-9, 1e-3, "HBVM(8,5)");
  expect_relative(error_of_long_steps(std::integral_constant<int, 6>{}, 9), 8.41e-11, 1e-3, "HBVM(9,6)");
}

}  // namespace
}  // namespace rattleback
