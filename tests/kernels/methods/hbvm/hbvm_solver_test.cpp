// HBVM(k, s) with its constraint imposed directly, its two solvers, its options, its rounding errors, and the systems written
// for it.

#include <gtest/gtest.h>

#include "hbvm.hpp"
#include "rattleback/systems/unconstrained/henon_heiles.hpp"
#include "rattleback/systems/unconstrained/kepler.hpp"

namespace rattleback {
namespace {

// --- the constraint g(q') = 0 in place of the line integral ---

TEST(HbvmDirect, KeepsTheConstraintAndNotTheEnergy) {
  const auto errors = [](auto s, int k, int steps) {
    return drift(modified, integrate<decltype(s)::value>(modified, {k, true}, modified_start, 2.0 / steps, steps));
  };
  const auto check = [&](auto s, int k, double coarse, double fine) {
    const Drift a = errors(s, k, 20), b = errors(s, k, 40);
    expect_relative(a.energy, coarse, 1e-3, "energy");
    expect_relative(b.energy, fine, 1e-3, "energy");
    EXPECT_LE(std::max(a.constraint, b.constraint), 5e-15);
  };
  check(Number<1>{}, 1, 7.921e-4, 2.024e-4);
  check(Number<1>{}, 2, 1.213e-7, 7.675e-9);
  check(Number<2>{}, 2, 1.346e-6, 8.341e-8);
}

TEST(HbvmDirect, IsTheLineIntegralWhereThatIsExact) {
  const auto end = [](auto s, const auto& system, int k, bool direct, const auto& start) {
    return integrate<decltype(s)::value>(system, {k, direct}, start, 0.1, 50).states.back();
  };
  EXPECT_LE(phase_distance<Modified>(end(Number<2>{}, modified, 6, false, modified_generic()),
                                     end(Number<2>{}, modified, 6, true, modified_generic())),
            1e-12);
  EXPECT_LE(phase_distance<Satellites>(end(Number<2>{}, satellites, 3, false, satellites_generic()),
                                       end(Number<2>{}, satellites, 3, true, satellites_generic())),
            1e-12);
  EXPECT_GE(phase_distance<Modified>(end(Number<2>{}, modified, 2, false, modified_generic()),
                                     end(Number<2>{}, modified, 2, true, modified_generic())),
            1e-9);
}

// --- the solvers ---

TEST(HbvmSolver, NewtonAndTheFixedPointGiveTheSameStep) {
  const auto check = [](auto s, const auto& system, int k, const auto& start, double h) {
    for (const bool direct : {false, true}) {
      const auto a = integrate<decltype(s)::value>(system, {k, direct, false}, start, h, 20);
      const auto b = integrate<decltype(s)::value>(system, {k, direct, true}, start, h, 20);
      EXPECT_LE(phase_distance<std::remove_cvref_t<decltype(system)>>(a.states.back(), b.states.back()), 3e-13);
      EXPECT_LE(max_norm(a.lambda.back() - b.lambda.back()), 1e-11);
      EXPECT_GE(a.sweeps_max, b.sweeps_max);
      EXPECT_LE(b.sweeps_max, 8);
    }
  };
  check(Number<1>{}, planar, 1, planar_generic(), 0.4);
  check(Number<2>{}, planar, 2, planar_generic(), 0.1);
  check(Number<3>{}, conical, 4, conical_start, 0.1);
  check(Number<1>{}, modified, 3, modified_generic(), 0.1);
  check(Number<4>{}, modified, 7, modified_generic(), 0.1);
  check(Number<6>{}, modified, 9, modified_generic(), 0.1);
  check(Number<2>{}, satellites, 6, satellites_generic(), 0.1);
  const auto a = integrate<2>(HenonHeiles<double>{}, {3}, {{0.1, 0.2}, {0.3, -0.1}, {}}, 0.5, 20);
  const auto b = integrate<2>(HenonHeiles<double>{}, {3, false, true}, {{0.1, 0.2}, {0.3, -0.1}, {}}, 0.5, 20);
  EXPECT_LE(phase_distance<HenonHeiles<double>>(a.states.back(), b.states.back()), 1e-13);
}

// Steps for which the fixed point does not contract.
TEST(HbvmSolver, GoesOnWithNewtonWhereTheFixedPointDoesNotContract) {
  const auto planar_run = integrate<1>(planar, {1}, planar_start, 1.5, 6);
  EXPECT_GE(planar_run.sweeps_max, 20);
  EXPECT_LE(phase_distance<Planar>(planar_run.states.back(),
                                   integrate<1>(planar, {1, false, true}, planar_start, 1.5, 6).states.back()),
            1e-12);
  const auto satellites_run = integrate<1>(satellites, {6}, satellites_start(), 3.0, 3);
  EXPECT_LE(drift(satellites, satellites_run).energy, 1e-13);
  EXPECT_LE(drift(satellites, satellites_run).constraint, 1e-13);
}

// What only tries takes the same steps, and hands over those.
TEST(HbvmSolver, HandsOverWhereTheFixedPointDoesNotContract) {
  const HbvmNumbers numbers = HbvmNumbers::of(1, {1});
  const Hbvm<double, Planar, 1> step(planar, {1e-16, 50}, numbers);
  const Hbvm<double, Planar, 1>::FastStep fast(planar, {1e-16, 50}, numbers);
  static_assert(!step.defers_failures && fast.defers_failures);
  for (const double h : {0.1, 1.5}) {
    auto x = planar_start, y = planar_start;
    EXPECT_EQ(step(x, h).status, 0.0);
    if (h > 1.0) {
      EXPECT_EQ(fast(y, h).status, double(status_not_converged));
    } else {
      EXPECT_EQ(fast(y, h).status, 0.0);
      EXPECT_EQ(phase_distance<Planar>(x, y), 0.0);
      EXPECT_EQ(x.lambda[0], y.lambda[0]);
    }
  }
}

TEST(HbvmOptions, SettleNumbersOrRefuse) {
  const SystemEntry system{};
  const std::vector<OptionValue> good{{2.0, {}}, {6.0, {}}, {1.0, {}}, {0.0, {}}};
  const Settlement settled = methods::hbvm.settle(good, system);
  EXPECT_EQ(settled.verdict, Settled::good);
  const auto expected = Settlement::of(HbvmNumbers::of(2, {6, true, false}));
  EXPECT_EQ(settled.numbers, expected.numbers);
  const std::vector<OptionValue> bad{{3.0, {}}, {2.0, {}}, {0.0, {}}, {0.0, {}}};
  const Settlement refused = methods::hbvm.settle(bad, system);
  EXPECT_EQ(refused.verdict, Settled::refused);
  EXPECT_NE(refused.message.find("set k = 3"), std::string::npos);
}

TEST(HbvmSolver, NeedsTheKnownNumberOfSweeps) {
  const SolverOptions<double> solver{4.44e-16, 50};
  EXPECT_LE(integrate<2>(planar, {2}, planar_start, 0.1, 100, solver).sweeps_max, 8);
  EXPECT_LE(integrate<2>(modified, {6}, modified_start, 0.1, 100, solver).sweeps_max, 16);
  EXPECT_LE(integrate<2>(satellites, {6}, satellites_start(), 0.1, 30, solver).sweeps_max, 7);
}

TEST(HbvmSolver, ReportsWhatItCannotSolve) {
  auto x = planar_start;
  EXPECT_EQ((HbvmTest<2, Planar>(planar, {2}, {1e-16, 2})(x, 1.0).status), double(status_not_converged));
  x = {{0.0, 0.0}, {1.0, 0.0}, {0.0}};  // Dg = 0 at all nodes
  x.p = Vector<double, 2>::zero();
  EXPECT_EQ((HbvmTest<1, Planar>({1.0, 1.0, 0.0, 2.0}, {1})(x, 0.1).status), double(status_singular));
  HbvmState<HenonHeiles<double>> star{{HUGE_VAL, 0.0}, {0.0, 0.0}, {}};
  EXPECT_NE((HbvmTest<1, HenonHeiles<double>>({}, {1})(star, 0.1).status), 0.0);
}

TEST(HbvmSolver, ConvergesAtRest) {
  // at the stable equilibrium, and next to it
  for (const double angle : {0.0, 1e-13, 1e-7}) {
    HbvmState<Planar> x{{std::sin(angle), -std::cos(angle)}, {0.0, 0.0}, {0.0}};
    const HbvmTest<2, Planar> step(planar, {2});
    for (int i = 0; i < 50; ++i) EXPECT_EQ(step(x, 0.1).status, 0.0);
    EXPECT_LE(std::abs(x.q[0]), angle + 1e-15);
    EXPECT_NEAR(-x.lambda[0], 0.5, 1e-13);
  }
}

// The derivative of a step, by dual numbers through the iteration, against differences.
TEST(HbvmSolver, HasTheTangentMapOfTheStep) {
  using D = Dual<double, 1>;
  for (const bool newton : {false, true}) {
    const HbvmNumbers numbers = HbvmNumbers::of(2, {6, false, newton});
    const Hbvm<D, ModifiedPendulum<D>, 2> step({D(1.0), D(0.625)}, {D(1e-14), 100}, numbers);
    const auto at = modified_generic();
    const auto direction = modified_at(0.381, -0.139, 0.301, -0.401);
    PhaseState<D, 3, 1> x;
    for (int i = 0; i < 3; ++i) {
      x.q[i].value = at.q[i];
      x.q[i].partial[0] = direction.q[i] - at.q[i];
      x.p[i].value = at.p[i];
      x.p[i].partial[0] = direction.p[i] - at.p[i];
    }
    x.lambda[0] = D(0.0);
    EXPECT_EQ(step(x, D(0.1)).status.value, 0.0);
    const auto image = [&](double shift) {
      auto y = at;
      y.q = at.q + shift * (direction.q - at.q);
      y.p = at.p + shift * (direction.p - at.p);
      return integrate<2>(modified, {6}, y, 0.1, 1).states.back();
    };
    const auto a = image(1e-2), b = image(-1e-2), c = image(2e-2), d = image(-2e-2);
    for (int i = 0; i < 3; ++i) {
      const auto slope = [&](auto of) { return (8 * (of(a) - of(b)) - (of(c) - of(d))) / 12e-2; };
      EXPECT_NEAR(x.q[i].partial[0], slope([&](const auto& y) { return y.q[i]; }), 1e-13);
      EXPECT_NEAR(x.p[i].partial[0], slope([&](const auto& y) { return y.p[i]; }), 1e-12);
    }
  }
}

// --- compensated summation ---

TEST(HbvmRounding, CompensationHoldsTheDriftDown) {
  const auto errors = [](bool compensated) {
    const HbvmTest<2, Planar> step(planar, {2});
    auto x = planar_generic();
    StateRounding<double, 2> rounding{{0.0, 0.0}, {0.0, 0.0}};
    const double start = energy_of(planar, x);
    Drift d;
    for (int i = 0; i < 200000; ++i) {
      EXPECT_EQ(compensated ? step(x, rounding, 0.02).status : step(x, 0.02).status, 0.0);
      d.energy = std::max(d.energy, std::abs(energy_of(planar, x) - start));
      d.constraint = std::max(d.constraint, max_norm(planar.position_constraint(x.q)));
    }
    return d;
  };
  const Drift plain = errors(false), compensated = errors(true);
  EXPECT_LE(compensated.energy, 0.3 * plain.energy);
  EXPECT_LE(compensated.constraint, 0.1 * plain.constraint);
}

// --- the systems ---

template <class System>
void check_system(double scale) {
  constexpr int n = System::n, m = System::m;
  const auto system = make_system<System>([](int i) { return 0.9 * parameters_of<System>()[i].value + 0.1; });
  for (int trial = 0; trial < 20; ++trial) {
    Vector<double, n> q;
    for (int i = 0; i < n; ++i) q[i] = System::default_q[i] + 0.4 * std::sin(7.0 * trial + 3.0 * i);
    Vector<Dual<double, n>, n> x;
    for (int i = 0; i < n; ++i) x[i] = Dual<double, n>(q[i], i);
    const auto u = system.potential(x);
    const auto f = force(system, q);
    for (int i = 0; i < n; ++i) EXPECT_NEAR(f[i], -u.partial[i], 1e-15 * scale);
    if constexpr (m > 0) {
      const auto g = system.position_constraint(x);
      const auto by_hand = position_constraint(system, q);
      for (int k = 0; k < m; ++k) {
        EXPECT_EQ(by_hand.value[k], g[k].value);
        for (int i = 0; i < n; ++i) {
          EXPECT_NEAR(by_hand.jacobian[k][i], g[k].partial[i], 1e-15 * scale);
          if constexpr (requires { System::constraint_entry(0, 0); }) {
            EXPECT_TRUE(System::constraint_entry(k, i) || g[k].partial[i] == 0.0);
          }
          if constexpr (requires { System::constraint_opposite(0, 0); }) {
            const int j = System::constraint_opposite(k, i);
            if (j != i) {
              EXPECT_EQ(g[k].partial[i], -g[k].partial[j]);
            }
          }
        }
      }
    }
  }
}

TEST(HbvmSystems, DerivativesByHandAreThoseOfDualNumbers) {
  check_system<Planar>(1.0);
  check_system<Conical>(1.0);
  check_system<Modified>(10.0);
  check_system<Satellites>(1.0);
  check_system<Kepler<double>>(500.0);  // near the centre
}

TEST(HbvmSystems, PendulumIsSeparableWithoutItsField) {
  using Magnetic = MagneticPendulum<double, 3>;
  static_assert(Separable<Conical> && !Separable<Magnetic> && SeparableForm<Magnetic>);
  static_assert(separable_without<Magnetic>().size() == 1 && separable_without<Conical>().empty());
  const Vector<double, 3> q{0.3, -0.4, 0.5}, v{0.2, 0.7, -0.1};
  const Magnetic system{1.3, 1.0, 0.8, 1.0, 0.0};
  const double separable = 0.5 * dot(v, Mass<Magnetic>(system).times(v)) - system.potential(q);
  EXPECT_NEAR(separable, system.lagrangian(q, v), 1e-16);
}

TEST(HbvmSystems, InitialDataHaveTheKnownEnergies) {
  EXPECT_NEAR(energy_of(modified, modified_start), 0.60355339059327376, 1e-15);
  EXPECT_NEAR(energy_of(modified, modified_generic()), 0.511462621128823814, 1e-15);
  EXPECT_NEAR(energy_of(satellites, satellites_start()), 0.0, 1e-16);
  EXPECT_NEAR(energy_of(satellites, satellites_generic()), -0.09662001556909560, 1e-15);
  EXPECT_NEAR(energy_of(planar, planar_generic()), 0.584697694131860282, 1e-15);
  Vector<double, 3> lambda;
  const auto start = satellites_start();
  ASSERT_TRUE(detail::continuous_multiplier(satellites, start.q, start.p, lambda));
  EXPECT_LE(max_norm(lambda + Vector<double, 3>{-0.0338830088008204924, 0.0677035761496479727, 0.0677035761496479727}),
            1e-15);
}

TEST(HbvmSystems, KeplerMovesOnAnEllipse) {
  const Kepler<double> sun{1.0};
  Vector<double, 2> q{0.4, 0.0}, v{0.0, 2.0};
  ASSERT_TRUE(sun.exact(2.0, q, v));
  EXPECT_LE(max_norm(q - Vector<double, 2>{-1.33985904713897, 0.53820952967653}), 1e-14);
  EXPECT_LE(max_norm(v - Vector<double, 2>{-0.46592888954410, -0.40991821689644}), 1e-14);
  // in pieces, over periods, and back; from other states
  for (const double attraction : {1.0, 2.5})
    for (const double speed : {0.9, 0.3, -1.1}) {
      const Kepler<double> system{attraction};
      const Vector<double, 2> q0{0.7, -0.5}, v0{0.4 * speed, speed};
      auto a = q0, av = v0, b = q0, bv = v0;
      ASSERT_TRUE(system.exact(7.3, a, av) && system.exact(3.1, b, bv) && system.exact(4.2, b, bv));
      EXPECT_LE(std::max(max_norm(a - b), max_norm(av - bv)), 5e-13);
      EXPECT_NEAR(energy(system, a, av), energy(system, q0, v0), 5e-14);
      ASSERT_TRUE(system.exact(-7.3, a, av));
      EXPECT_LE(std::max(max_norm(a - q0), max_norm(av - v0)), 5e-13);
    }
  q = {1.0, 0.0};
  v = {0.0, 2.0};
  EXPECT_FALSE(sun.exact(1.0, q, v)) << "the orbit is not bound";
  // the numerical solution converges to it with order 2s
  const auto error = [&](int steps) {
    const auto x = integrate<3>(sun, {6}, {{0.4, 0.0}, {0.0, 2.0}, {}}, 2.0 / steps, steps).states.back();
    return max_norm(x.q - Vector<double, 2>{-1.33985904713897, 0.53820952967653});
  };
  EXPECT_NEAR(rate(error(40), error(80)), 6.0, 0.2);
}

}  // namespace
}  // namespace rattleback
