// Lobatto pairs of 6, 7 and 8 stages: orders, constraints, symmetry. The steps are long, for round-off comes soon.

#include <cmath>

#include "testing.hpp"

namespace rattleback {
namespace {

using Contact = Chaotic<double, 3, ChaoticVariant::contact>;
using Galactic = HenonHeiles<double>;
using Spherical = Pendulum<double, 3>;
using Ball = TurntableBall<double, TurntableVariant::body>;
using Top = HeavyTop<double>;
using Cone = HeavyTopCone<double>;

/// The mean distance to a fine solution, from eight starts: of one trajectory it is no smooth function of the step.
template <class System, class Tau, int S>
double error_of(double time, int steps, double spread = 0.2) {
  constexpr int starts = 8, fine = 32;
  const auto system = make_default<System>();
  const LobattoStep<double, System, Tau, S> step(system, to_round_off);
  const LobattoStep<double, System, Tau, 8> fine_step(system, to_round_off);
  Random random(3);
  double sum = 0.0;
  for (int i = 0; i < starts; ++i) {
    const auto from = random_start(system, random, spread);
    const auto to = advance(step, from, time / steps, steps), exact = advance(fine_step, from, time / fine, fine);
    sum += distance(to.q, exact.q) + distance(to.p, exact.p);
  }
  return sum / starts;
}

template <class System, class Tau, int S>
void expect_order(double time, int coarse, int fine) {
  SCOPED_TRACE("s = " + std::to_string(S));
  const double at_coarse = error_of<System, Tau, S>(time, coarse), at_fine = error_of<System, Tau, S>(time, fine);
  EXPECT_GE(at_fine, 1e-14) << "is round-off";
  EXPECT_NEAR(std::log(at_coarse / at_fine) / std::log(double(fine) / coarse), 2 * S - 2, 0.9);
}
template <class System, class Tau>
void expect_orders(double time, int coarse, int fine) {
  for_stages<6, 7, 8>([&](auto s) { expect_order<System, Tau, s()>(time, coarse, fine); });
}

TEST(ManyStages, HaveTheirOrderOnRn) {
  expect_orders<Contact, Cay>(4.0, 4, 12);
  expect_orders<Galactic, Cay>(8.0, 4, 8);
  expect_orders<Spherical, Cay>(4.0, 4, 6);
}

TEST(ManyStages, HaveTheirOrderOnGroups) {
  expect_orders<Ball, Exp>(4.0, 4, 6);
  expect_order<Top, Cay, 6>(3.0, 8, 16);
  expect_order<Top, Cay, 7>(3.0, 6, 12);
  expect_order<Top, Cay, 8>(3.0, 4, 8);
  expect_order<Top, Exp, 6>(3.0, 6, 12);
  expect_order<Top, Exp, 7>(3.0, 4, 8);
  expect_order<Top, Exp, 8>(3.0, 4, 6);
  expect_order<Cone, Cay, 6>(3.0, 6, 12);
  expect_order<Cone, Cay, 7>(3.0, 6, 12);
  expect_order<Cone, Cay, 8>(3.0, 4, 8);
  expect_order<Cone, Exp, 6>(3.0, 6, 12);
  expect_order<Cone, Exp, 7>(3.0, 4, 8);
  expect_order<Cone, Exp, 8>(3.0, 4, 6);
}

template <class System, class Tau>
void expect_constraints() {
  for_stages<6, 7, 8>([](auto s) {
    const auto system = make_default<System>();
    const LobattoStep<double, System, Tau, s()> step(system, to_round_off);
    const double h = 0.1 * time_scale<System>();
    auto state = default_start(system);
    for (int k = 0; k < 300; ++k) {
      state = advance(step, state, h, 1);
      const auto v = velocity(system, state.q, state.p);
      ASSERT_LE(max_norm(constraint(system, state.q, v)), 1e-14 * std::max(1.0, max_norm(v))) << k;
      if constexpr (is_holonomic<System>) {
        ASSERT_LE(max_norm(system.position_constraint(state.q)), 1e-14) << k;
      }
    }
  });
}

TEST(ManyStages, KeepConstraints) {
  expect_constraints<Contact, Cay>();
  expect_constraints<Spherical, Cay>();
  expect_constraints<Cone, Cay>();
  expect_constraints<Cone, Exp>();
  expect_constraints<Ball, Cay>();
  expect_constraints<Ball, Exp>();
  expect_constraints<Rattleback<double>, Cay>();
  expect_constraints<Rattleback<double>, Exp>();
}

template <class System>
void expect_symmetry() {
  for_stages<6, 7, 8>([](auto s) {
    const auto system = make_default<System>();
    const LobattoStep<double, System, Cay, s()> step(system, to_round_off);
    const auto there = default_start(system);
    const auto back = advance(step, advance(step, there, 0.2, 20), -0.2, 20);
    EXPECT_LE(distance(back.q, there.q), 1e-13);
    EXPECT_LE(distance(back.p, there.p), 1e-13);
    if constexpr (!is_holonomic<System>) {  // there the multiplier of the start is of no account
      EXPECT_LE(distance(back.lambda, there.lambda), 1e-12);
    }
  });
}

TEST(ManyStages, AreSymmetricOnRn) {
  expect_symmetry<Contact>();
  expect_symmetry<Galactic>();
  expect_symmetry<Spherical>();
}

// The rattleback spins so fast that its errors show no slope before round-off.
TEST(ManyStages, GainAccuracyOnTheRattleback) {
  using System = Rattleback<double>;
  const double error[] = {7.1e-10, 3.1e-11, 2.9e-13};
  for_stages<6, 7, 8>([&](auto s) {
    EXPECT_NEAR((error_of<System, Cay, s()>(0.04, 8, 0.02)) / error[s() - 6], 1.0, 0.1);
    EXPECT_NEAR((error_of<System, Exp, s()>(0.04, 8, 0.02)) / error[s() - 6], 1.0, 0.1);
  });
}

}  // namespace
}  // namespace rattleback
