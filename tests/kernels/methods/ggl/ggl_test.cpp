// GGL variational integrators: stored states, orders, constraints at both levels, momentum maps, symplecticity, and steps that
// have no solution.

#include "ggl_cases.hpp"

namespace rattleback {
namespace {

template <class Scheme, class System, class State>
void expect_position(const Scheme& scheme, const System& system, const State& start, double h, int steps,
                     const Vector<double, 3>& expected, int first = 0, double tolerance = 1e-11) {
  const State state = advance(scheme.on(system), start, h, steps);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(state.q[first + i], expected[i], tolerance) << i;
}

TEST(Ggl, PendulumReachesTheStoredStates) {
  const MagneticPendulum<double, 3> general{1.0, 1.0, 9.81, 1.0, 0.0};
  const auto both = [&](const auto& scheme, const Vector<double, 3>& expected) {
    expect_position(scheme, pendulum, pendulum_start(), 0.05, 200, expected, 0, 1e-12);
    expect_position(scheme, general, pendulum_start(), 0.05, 200, expected, 0, 1e-12);
  };
  both(vi_s, {-0.000275507553253304, 0.627294238088504, -0.778782294968595});
  both(vi_a, {0.287588579297629, -0.228547869715661, -0.936745465204274});
  both(vi_b, {0.058209052767055, 0.463958075259017, -0.883942651181574});
  both(vi_bs, {0.170832236736577, 0.203118670903261, -0.964136480184248});
}

TEST(Ggl, FirstStepOfThePendulum) {
  const auto expect = [](const auto& scheme, const Vector<double, 3>& q, double lambda) {
    const auto state = advance(scheme.on(pendulum), pendulum_start(), 0.05, 1);
    EXPECT_LT(distance(state.q, q), 1e-14);
    EXPECT_NEAR(state.lambda[0], -lambda, 1e-12);
  };
  expect(vi_s, {0.998443210748677, 0.0500779608311501, -0.0245632397876791}, 1.24446196394929);
  expect(vi_a, {0.999338174730664, 0.049966919683228, -0.0122543870523117}, 1.05944616215615);
  expect(vi_b, {0.998746073110333, 0.0500627750598189, 0.0}, 2.00502515735202);
}

TEST(Ggl, FourParticlesReachTheStoredStates) {
  const auto expect = [](const auto& scheme, const Vector<double, 3>& q) {
    expect_position(scheme, four_particle, four_particle_start(), 0.01, 1000, q, 9);
  };
  expect(vi_s, {0.261556928913109, 0.576037012065512, 2.91149840098101});
  expect(vi_a, {0.261268910718215, 0.576161476161982, 2.91241032239221});
  expect(vi_b, {0.261556928913109, 0.576037012065512, 2.91149840098101});
  expect(vi_bs, {0.261263999572465, 0.576264506582337, 2.91217537116778});
}

TEST(Ggl, TopReachesTheStoredStates) {
  const auto expect = [](const auto& scheme, const Vector<double, 3>& q) {
    expect_position(scheme, top, top_start(), 0.002, 1000, q);
  };
  expect(vi_s, {0.0608692148697522, -0.0209649637536194, 0.0384760831679806});
  expect(vi_a, {0.0586582985103261, -0.0285441718794421, 0.0370057297967153});
  expect(vi_b, {0.0600650907656824, -0.0226203911741098, 0.0388008089405439});
  expect(vi_bs, {0.0595984523714804, -0.0254425264982586, 0.0377584734901954});
}

TEST(Ggl, PathsAreOneMap) {
  const auto planar = make_default<Pendulum<double, 2>>();
  expect_paths_are_one_map(planar, default_start(planar), 0.05);
  expect_paths_are_one_map(pendulum, pendulum_start(), 0.05);
  expect_paths_are_one_map(four_particle, four_particle_start(), 0.01);
}

TEST(Ggl, PositionsSatisfyTheConstraintExceptWithOptionA) {
  const auto violation = [](const auto& scheme, const auto& system, const auto& start, double h, int steps) {
    return range_over(scheme.on(system), start, h, steps, position_violation(system)).high;
  };
  const auto on_it = [&](const auto& scheme) {
    EXPECT_LT(violation(scheme, pendulum, pendulum_start(), 0.05, 200), 1e-14);
    EXPECT_LT(violation(scheme, four_particle, four_particle_start(), 0.01, 1000), 1e-14);
    EXPECT_LT(violation(scheme, top, top_start(), 0.002, 1000), 1e-14);
  };
  on_it(vi_s);
  on_it(vi_b);
  on_it(vi_bs);
  EXPECT_NEAR(violation(vi_a, pendulum, pendulum_start(), 0.05, 200), 6.472e-3, 6.5e-5);
  EXPECT_NEAR(violation(vi_a, four_particle, four_particle_start(), 0.01, 1000), 3.46e-5, 3.5e-7);
  EXPECT_NEAR(violation(vi_a, top, top_start(), 0.002, 1000), 2.03e-2, 2e-4);
}

TEST(Ggl, MomentaAndTheHiddenConstraint) {
  const auto violation = [](const auto& scheme, const auto& system, const auto& start, double h, int steps) {
    return range_over(scheme.on(system), start, h, steps, hidden_violation(system)).high;
  };
  EXPECT_LT(violation(vi_s, pendulum, pendulum_start(), 0.05, 200), 1e-14);
  EXPECT_LT(violation(vi_s, four_particle, four_particle_start(), 0.01, 1000), 1e-14);
  EXPECT_NEAR(violation(vi_b, pendulum, pendulum_start(), 0.05, 200) / 0.3161, 1.0, 0.01);
  EXPECT_NEAR(violation(vi_b, four_particle, four_particle_start(), 0.01, 1000) / 1.83e-2, 1.0, 0.01);
  EXPECT_NEAR(violation(vi_b, top, top_start(), 0.002, 1000) / 43.5, 1.0, 0.01);
  EXPECT_NEAR(violation(vi_a, pendulum, pendulum_start(), 0.05, 200) / 3.303e-2, 1.0, 0.01);
  EXPECT_NEAR(violation(vi_a, four_particle, four_particle_start(), 0.01, 1000) / 2.11e-4, 1.0, 0.01);
  EXPECT_NEAR(violation(vi_a, top, top_start(), 0.002, 1000) / 15.4, 1.0, 0.01);
  // VI-S on the top: exact for the linear constraints only
  const double expected[9] = {1.5e-2, 1.5e-2, 1.3e-2, 2.5e-2, 3.7e-1, 3.7e-1, 0.0, 0.0, 0.0};
  for (int k = 0; k < 9; ++k) {
    const double worst = range_over(vi_s.on(top), top_start(), 0.002, 1000, [&](const auto& s) {
                           return constraint(top, s.q, velocity(top, s.q, s.p))[k];
                         }).size();
    EXPECT_NEAR(worst, expected[k], k < 6 ? 0.05 * expected[k] : 1e-12) << k;
  }
}

/// The velocities of the steps, as they follow from the recorded multipliers, are tangent where the scheme says so.
template <class System, class State>
void expect_tangent_velocities(const System& system, State state, double h, int steps, double tolerance) {
  State after_b = state;
  double worst_s = 0.0, worst_b = 0.0;
  for (int i = 0; i < steps; ++i) {
    const auto g_0 = position_constraint(system, state.q).jacobian;
    const State next = advance(vi_s.on(system), state, h, 1);
    const auto f = lagrangian_of(system);
    const auto force = gradient<1>(f, state.q, Vector<double, System::n>::zero()).dq[0];
    const auto v = velocity(system, state.q, state.p + h * (force + transpose_times(g_0, next.lambda)));
    worst_s = std::max(
        worst_s, max_norm(position_constraint(system, state.q + h * v).jacobian * velocity(system, next.q, next.p)));
    state = next;
    const auto g_b = position_constraint(system, after_b.q).jacobian;
    const State next_b = advance(vi_b.on(system), after_b, h, 1);
    const auto v_b = velocity(system, after_b.q, after_b.p + 0.5 * h * transpose_times(g_b, next_b.lambda));
    worst_b = std::max(worst_b, max_norm(position_constraint(system, next_b.q).jacobian * v_b));
    after_b = next_b;
  }
  EXPECT_LT(worst_s, tolerance);
  EXPECT_LT(worst_b, tolerance);
}

TEST(Ggl, VelocitiesAreTangent) {
  expect_tangent_velocities(pendulum, pendulum_start(), 0.05, 200, 1e-13);
  expect_tangent_velocities(four_particle, four_particle_start(), 0.01, 200, 1e-13);
  expect_tangent_velocities(top, top_start(), 0.002, 200, 1e-11);
}

TEST(Ggl, ConstraintAOfThePendulumAlternates) {
  auto state = pendulum_start();
  const double h = 0.05;
  for (int i = 0; i < 200; ++i) {
    const auto next = advance(vi_a.on(pendulum), state, h, 1);
    const auto u = (1 / h) * (next.q - state.q);
    EXPECT_NEAR(pendulum.position_constraint(next.q)[0] + pendulum.position_constraint(state.q)[0],
                0.25 * h * h * dot(u, u), 1e-14);
    state = next;
  }
}

TEST(Ggl, MomentumMapsAreKept) {
  const auto change = [](const auto& scheme, const auto& system, const auto& start, double h, int steps, int count) {
    return range_over(scheme.on(system), start, h, steps, invariant_error(system, start, 0, count)).high;
  };
  const auto keeps = [&](const auto& scheme) {
    EXPECT_LT(change(scheme, pendulum, pendulum_start(), 0.05, 200, 1), 1e-13);
    EXPECT_LT(change(scheme, four_particle, four_particle_start(), 0.01, 1000, 6), 1e-12);
    EXPECT_LT(change(scheme, top, top_start(), 0.002, 1000, 1), 1e-13);
  };
  keeps(vi_s);
  keeps(vi_a);
  keeps(vi_b);
  keeps(vi_bs);
  // with a magnetic field the momentum map has its share of the field
  const MagneticPendulum<double, 3> magnetic{1.0, 1.0, 9.81, 1.0, 2.0};
  const auto from = start(magnetic, {1, 0, 0}, {0, 1, 0});
  EXPECT_LT(change(vi_s, magnetic, from, 0.05, 200, 1), 1e-13);
  EXPECT_LT(change(vi_a, magnetic, from, 0.05, 200, 1), 1e-13);
  EXPECT_LT(change(vi_b, magnetic, from, 0.05, 200, 1), 1e-13);
}

TEST(Ggl, EnergyOscillates) {
  const auto expect = [](const auto& scheme, const auto& system, const auto& start, double h, int steps, double low,
                         double high) {
    const Range r = range_over(scheme.on(system), start, h, steps, energy_error(system, start));
    EXPECT_NEAR(r.low, low, 1e-3 * std::fabs(low) + 1e-14);
    EXPECT_NEAR(r.high, high, (high < 1e-4 ? 0.05 : 1e-3) * high + 1e-14);
  };
  expect(vi_s, pendulum, pendulum_start(), 0.05, 200, -0.6978, 0.6427);
  expect(vi_a, pendulum, pendulum_start(), 0.05, 200, -0.09791, 1.5e-5);
  expect(vi_b, pendulum, pendulum_start(), 0.05, 200, -0.6802, 0.6553);
  expect(vi_bs, pendulum, pendulum_start(), 0.05, 200, -0.09208, 0.0);
  expect(vi_s, four_particle, four_particle_start(), 0.01, 1000, -2.736e-4, 3.495e-4);
  expect(vi_a, four_particle, four_particle_start(), 0.01, 1000, -4.660e-5, 5.188e-5);
  expect(vi_b, four_particle, four_particle_start(), 0.01, 1000, -2.602e-4, 4.393e-4);
}

TEST(Ggl, HeightOfTheTopIsNotConstant) {
  const auto expect = [](const auto& scheme, double low, double high) {
    const Range r = range_over(scheme.on(top), top_start(), 0.002, 1000, [](const auto& s) { return s.q[2]; });
    EXPECT_NEAR(r.low / low, 1.0, 1e-3);
    EXPECT_NEAR(r.high / high, 1.0, 1e-3);
  };
  expect(vi_s, 0.0372487, 0.0389367);
  expect(vi_a, 0.0369921, 0.0375036);
  expect(vi_b, 0.0372409, 0.0388930);
}

/// Errors against stored ones, to 2 %, and the order of the last halving.
void expect_errors(const std::vector<double>& h, const std::vector<double>& errors, const std::vector<double>& stored,
                   double order) {
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_NEAR(errors[i] / stored[i], 1.0, 0.02) << i;
  const std::size_t last = h.size() - 1;
  EXPECT_NEAR(std::log(errors[last - 1] / errors[last]) / std::log(h[last - 1] / h[last]), order, 0.1);
}

TEST(Ggl, OrdersOnThePendulum) {
  const Vector<double, 3> q{-0.90612889042745, -0.39458146879706, -0.15243325888622};
  const std::vector<double> steps{0.02, 0.01, 0.005, 0.0025};
  const auto expect = [&](const auto& scheme, const std::vector<double>& stored, double order) {
    std::vector<double> errors;
    for (const double h : steps)
      errors.push_back(relative_error(advance(scheme.on(pendulum), pendulum_start(), h, int(std::lround(1 / h))).q, q));
    expect_errors(steps, errors, stored, order);
  };
  expect(vi_s, {2.095e-2, 9.558e-3, 4.544e-3, 2.213e-3}, 1);
  expect(vi_a, {2.362e-3, 5.904e-4, 1.476e-4, 3.690e-5}, 2);
  expect(vi_b, {1.334e-2, 7.647e-3, 4.066e-3, 2.093e-3}, 1);
  expect(vi_bs, {1.260e-3, 3.150e-4, 7.874e-5, 1.968e-5}, 2);
}

TEST(Ggl, OrdersOnTheTop) {
  auto exact_q = to_vector(HeavyTopDirectors<double>::default_q),
       exact_v = to_vector(HeavyTopDirectors<double>::default_v);
  ASSERT_TRUE(top.exact(1e-3, exact_q, exact_v));
  const Vector<double, 3> exact_p = part<0>(momentum(top, exact_q, exact_v));
  const std::vector<double> steps{1e-4, 5e-5, 1e-5};
  const auto expect = [&](const auto& scheme, const std::vector<double>& of_q, const std::vector<double>& of_p,
                          double order) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto state = advance(scheme.on(top), top_start(), steps[i], int(std::lround(1e-3 / steps[i])));
      errors.push_back(std::fabs(state.q[2] - 0.0375) / 0.0375);
      EXPECT_NEAR(relative_error(part<0>(state.p), exact_p) / of_p[i], 1.0, 0.02);
    }
    expect_errors(steps, errors, of_q, order);
  };
  expect(vi_s, {8.6539e-6, 4.3274e-6, 8.6555e-7}, {1.18085e-5, 4.6147e-6, 7.1733e-7}, 1);
  expect(vi_b, {8.6579e-6, 4.3284e-6, 8.6559e-7}, {1.74418e-5, 8.7167e-6, 1.7430e-6}, 1);
  expect(vi_a, {5.0587e-9, 1.2648e-9, 5.0593e-11}, {4.4281e-7, 1.1072e-7, 4.4288e-9}, 2);
}

TEST(Ggl, OrdersWithAConfigurationDependentMass) {
  const Vector<double, 3> exact{-0.90612889042745, -0.39458146879706, -0.15243325888622};
  const std::vector<double> steps{0.01, 0.005, 0.0025};
  const auto expect = [&](const auto& scheme, const std::vector<double>& stored) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto from = default_start(cylindrical);
      const auto s = advance(scheme.on(cylindrical), from, steps[i], int(std::lround(1 / steps[i])));
      const double r = std::sqrt(s.q[0]);
      EXPECT_NEAR(norm(Vector<double, 3>{r * std::cos(s.q[1]), r * std::sin(s.q[1]), s.q[2]} - exact) / stored[i], 1.0,
                  0.02);
      EXPECT_NEAR(s.p[1], 1.0, 1e-14);
    }
  };
  expect(vi_s, {1.791e-2, 6.203e-3, 2.546e-3});
  expect(vi_a, {2.069e-3, 5.291e-4, 1.330e-4});
  expect(vi_b, {8.564e-3, 4.132e-3, 2.091e-3});
  expect(vi_bs, {1.900e-3, 4.874e-4, 1.226e-4});
}

TEST(Ggl, MultiplierOfViBAlternatesAndItsMeanDoesNot) {
  auto exact_q = to_vector(HeavyTopDirectors<double>::default_q),
       exact_v = to_vector(HeavyTopDirectors<double>::default_v);
  const std::vector<double> steps{1e-3, 5e-4, 2.5e-4, 1.25e-4}, stored{1.005, 1.004, 1.004, 1.004},
      of_mean{2.21e-2, 5.98e-3, 1.92e-3, 7.53e-4};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const int count = int(std::lround(0.02 / steps[i]));
    const auto error = [&](double time, const Vector<double, 9>& lambda) {
      auto q = exact_q, v = exact_v;
      EXPECT_TRUE(top.exact(time, q, v));
      Vector<double, 9> exact;
      EXPECT_TRUE(detail::continuous_multiplier(top, q, v, exact));
      return std::sqrt(dot(lambda - exact, lambda - exact) / dot(exact, exact));
    };
    const auto before = advance(vi_b.on(top), top_start(), steps[i], count - 1);
    const auto after = advance(vi_b.on(top), before, steps[i], 1);
    EXPECT_NEAR(error(0.02, after.lambda) / stored[i], 1.0, 0.02);
    EXPECT_NEAR(error(0.02 - steps[i], 0.5 * (before.lambda + after.lambda)) / of_mean[i], 1.0, 0.02);
  }
}

TEST(Ggl, VarthetaMovesMultipliersOnly) {
  const Scheme<GglScheme::theta_b> at_0{{0.7, 0.0}}, at_quarter{{0.7, 0.25}}, at_half{{0.7, 0.5}};
  const auto a = advance(at_0.on(pendulum), pendulum_start(), 0.05, 200);
  EXPECT_LT(distance(advance(at_quarter.on(pendulum), pendulum_start(), 0.05, 200).q, a.q), 1e-12);
  const auto b = advance(at_half.on(pendulum), pendulum_start(), 0.05, 200);
  EXPECT_LT(distance(b.q, a.q), 1e-12);
  EXPECT_GT(distance(b.p, a.p), 1e-2);
  // the control: theta does
  EXPECT_GT(distance(advance(vi_b.on(pendulum), pendulum_start(), 0.05, 200).q, a.q), 1e-2);
}

TEST(Ggl, NumbersThatCannotBeUsedAreNamed) {
  EXPECT_EQ(unusable(GglScheme::theta_a, ggl_vi_a_numbers), nullptr);
  EXPECT_EQ(unusable(GglScheme::theta_b, ggl_vi_b_numbers), nullptr);
  EXPECT_EQ(unusable(GglScheme::theta_b, {0.0, 0.0}), nullptr);
  EXPECT_NE(unusable(GglScheme::theta_a, {0.45, 0.5}), nullptr);
  EXPECT_NE(unusable(GglScheme::theta_b, {0.5, 0.6}), nullptr);
  EXPECT_NE(unusable(GglScheme::theta_b, {0.5, 1.0}), nullptr);
  EXPECT_NE(unusable(GglScheme::theta_b, {-0.1, 0.5}), nullptr);
  EXPECT_NE(unusable(GglScheme::theta_b, {0.5, std::nan("")}), nullptr);
  // and the reason is true: the multiplier grows by vartheta/(1 - vartheta) a step, and option A drifts off
  const Scheme<GglScheme::theta_b> growing{{1.0, 0.6}};
  const auto after = advance(growing.on(pendulum), pendulum_start(), 0.05, 20);
  EXPECT_GT(std::fabs(after.lambda[0]), 1e3);
  const Scheme<GglScheme::theta_a> drifting{{0.45, 0.5}};
  EXPECT_GT(range_over(drifting.on(pendulum), pendulum_start(), 0.05, 30, position_violation(pendulum)).high, 0.05);
  const Scheme<GglScheme::theta_b> singular{{0.5, 1.0}};
  auto state = pendulum_start();
  EXPECT_NE(singular.on(pendulum)(state, 0.05).status, 0.0);
}

TEST(Ggl, OneSidedThetasAreAdjoint) {
  // theta = 0 with a step h undoes theta = 1 with a step -h, where the weights of the multipliers are exchanged too
  const Scheme<GglScheme::theta_b> forward{{1.0, 0.5}}, backward{{0.0, 0.5}};
  const auto there = advance(forward.on(pendulum), pendulum_start(), 0.02, 1);
  EXPECT_LT(distance(advance(backward.on(pendulum), there, -0.02, 1).q, pendulum_start().q), 1e-13);
  const auto twice = advance(vi_bs.on(pendulum), advance(vi_bs.on(pendulum), pendulum_start(), 0.02, 20), -0.02, 20);
  EXPECT_LT(distance(twice.q, pendulum_start().q), 1e-13);
}

TEST(Ggl, FreeRotorHasNoSolutionBeyondHalfATurnsSpeed) {
  const MagneticPendulum<double, 3> general{1.0, 1.0, 0.0, 1.0, 0.0};
  const Pendulum<double, 3> condensed{1.0, 1.0, 0.0, 1.0};
  const auto status = [](const auto& scheme, const auto& system, double speed) {
    PhaseState<double, 3, 1> state{{1, 0, 0}, {0, speed, 0}, {0}};
    return scheme.on(system)(state, 1.0).status;
  };
  const auto limit = [&](const auto& scheme, double below, double above) {
    EXPECT_EQ(status(scheme, general, below), 0.0);
    EXPECT_EQ(status(scheme, condensed, below), 0.0);
    EXPECT_NE(status(scheme, general, above), 0.0);
    EXPECT_NE(status(scheme, condensed, above), 0.0);
  };
  limit(vi_s, 0.499, 0.501);
  limit(vi_b, 0.499, 0.501);
  limit(vi_bs, 0.99, 1.01);
  EXPECT_EQ(status(vi_a, general, 3.0), 0.0);
  EXPECT_EQ(status(vi_a, condensed, 3.0), 0.0);
}

TEST(Ggl, TopHasNoSolutionBeyondHalfATurnsSpeed) {
  auto state = top_start();
  EXPECT_EQ(vi_s.on(top)(state, 0.0035).status, 0.0);
  state = top_start();
  EXPECT_NE(vi_s.on(top)(state, 0.0036).status, 0.0);
  state = top_start();
  EXPECT_EQ(vi_b.on(top)(state, 0.0035).status, 0.0);
  state = top_start();
  EXPECT_NE(vi_b.on(top)(state, 0.0036).status, 0.0);
}

TEST(Ggl, SingularMassFails) {
  auto particles = four_particle;
  particles.mass_3 = 0.0;
  const auto status = [&](const auto& scheme) {
    auto state = four_particle_start();
    return scheme.on(particles)(state, 0.01).status;
  };
  EXPECT_NE(status(vi_s), 0.0);
  EXPECT_NE(status(vi_a), 0.0);
  EXPECT_NE(status(vi_b), 0.0);
  EXPECT_NE(status(em), 0.0);
}

TEST(Ggl, EnsemblesHaveTheStoredEnergyErrors) {
  const auto expect = [](const auto& scheme, const auto& system, int members, double h, int steps, auto start_of,
                         double at_end, double mean) {
    const auto step = scheme.on(system);
    double end_sum = 0.0, mean_sum = 0.0;
    for (int i = 0; i < members; ++i) {
      auto state = start_of(i);
      const auto error = energy_error(system, state);
      double e = 0.0;
      for (int k = 0; k < steps; ++k) {
        state = advance(step, state, h, 1);
        e = error(state);
        mean_sum += e * e;
      }
      end_sum += e * e;
    }
    EXPECT_NEAR(end_sum / members / at_end, 1.0, 1e-6);
    EXPECT_NEAR(mean_sum / members / steps / mean, 1.0, 1e-6);
  };
  const double turn = 2 * std::acos(-1.0);
  const auto pendulums = [&](int i) {
    const double a = turn * i / 32, theta = 0.5 * turn * (0.25 + 0.5 * (i + 0.5) / 32);
    return start(pendulum, {std::sin(theta), 0, -std::cos(theta)}, {0, 1 + 0.5 * std::cos(a), 0});
  };
  expect(vi_s, pendulum, 32, 0.02, 100, pendulums, 3.900231988769e-2, 3.637251216726e-2);
  expect(vi_a, pendulum, 32, 0.02, 100, pendulums, 1.642460380572e-4, 7.067911813388e-5);
  expect(vi_b, pendulum, 32, 0.02, 100, pendulums, 3.620120152613e-2, 3.511247603954e-2);
  expect(vi_bs, pendulum, 32, 0.02, 100, pendulums, 2.130703660342e-4, 7.100265036226e-5);
  const auto particles = [&](int i) {
    const double a = turn * i / 16;
    auto v = Vector<double, 12>::zero();
    v[10] = 3 / 1.7 * std::cos(a);
    v[11] = 2 / 1.7 * (1 + 0.25 * std::sin(a));
    return start(four_particle, to_vector(FourParticle<double>::default_q), v);
  };
  expect(vi_s, four_particle, 16, 0.01, 100, particles, 2.825590897343e-2, 2.752251278397e-2);
  expect(vi_a, four_particle, 16, 0.01, 100, particles, 1.196589702801e-5, 5.002933074301e-6);
  expect(vi_b, four_particle, 16, 0.01, 100, particles, 4.477702172255e-2, 2.723727003234e-2);
  expect(vi_bs, four_particle, 16, 0.01, 100, particles, 1.074146904357e-5, 4.561316887332e-6);
  const auto tops = [&](int i) {
    const double spin = 135.6 * (1 + 0.1 * std::cos(turn * i / 16));
    const auto q = to_vector(HeavyTopDirectors<double>::default_q);
    const Vector<double, 3> omega = Vector<double, 3>{0, 0, 10} + spin * part<9>(q);
    return start(top, q,
                 join(join(cross(omega, part<0>(q)), cross(omega, part<3>(q))),
                      join(cross(omega, part<6>(q)), cross(omega, part<9>(q)))));
  };
  expect(vi_s, top, 16, 0.001, 50, tops, 1.401487419498e-8, 4.739337695314e-9);
  expect(vi_a, top, 16, 0.001, 50, tops, 1.055467269059e-6, 1.240413134517e-3);
  expect(vi_b, top, 16, 0.001, 50, tops, 1.676900896086e-7, 6.767641710849e-3);
  expect(vi_bs, top, 16, 0.001, 50, tops, 1.105703403724e-11, 1.021501537512e-11);
}

}  // namespace
}  // namespace rattleback
