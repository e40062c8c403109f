// The nonholonomic leapfrog: states of an independent implementation, orders, symmetry, contracting flows, and the passenger of the
// CVT, which it loses.

#include "rattleback/methods/nonholonomic/leapfrog.hpp"

#include "contracting.hpp"
#include "nonholonomic_lobatto.hpp"
#include "rattleback/tableaus/compositions.hpp"

namespace rattleback {
namespace {

template <class System>
using Leapfrog = LeapfrogStep<double, System>;

/// Calls f(step, composition) for the compositions of a system's step.
template <class System, class F>
void for_each_composition(const System& system, F&& f) {
  for (const Composition& c : compositions) {
    if (c.kind != Composition::Kind::substeps) continue;
    SCOPED_TRACE(c.name);
    const auto numbers = composition_numbers(c, false);
    f(ComposedLeapfrogStep<double, System>(system, to_round_off, numbers), c);
  }
}

template <class System>
double error_at_5(const System& system, const auto& step, double h) {
  const Vector<double, 3> q{-0.93682153194653513, -0.62530832699889767, -0.28618286593039145};
  return distance(advance(step, default_start(system), h, static_cast<int>(std::lround(5.0 / h))).q, q);
}

TEST(NonholonomicLeapfrog, GoldStates) {
  const auto check = [](const auto& system, const auto& begin, const auto& q, double energy_of_it) {
    using System = std::remove_cvref_t<decltype(system)>;
    const auto expect = [&](const auto& step) {
      const auto state = advance(step, begin, 0.1, 10);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(state.q[i], q[i], 1e-13);
      EXPECT_NEAR(energy(system, state.q, velocity(system, state.q, state.p)), energy_of_it, 1e-13);
    };
    expect(CondensedLeapfrog<double, System>(system, to_round_off));
    expect(GeneralLeapfrog<double, System>(system, to_round_off));
  };
  check(Particle{}, default_start(Particle{}),
        Vector<double, 3>{1.0231253984541457, 0.94249043541463386, -0.0080900248555331404}, 1.0443970001472888);
  const Member member(13, 31);
  check(Contact{}, start(Contact{}, member.q, member.v),
        Vector<double, 3>{1.2598924731174413, 0.56621533908260999, 0.083878952134750346}, 3.0646755064326007);
}

TEST(NonholonomicLeapfrog, ErrorConstantsOfTheParticle) {
  EXPECT_NEAR(error_at_5(Particle{}, Leapfrog<Particle>(Particle{}, to_round_off), 1.0 / 16), 9.4990e-4,
              0.01 * 9.4990e-4);
  const double errors[] = {1.0296e-7, 9.66e-11};
  int i = 0;
  for_each_composition(Particle{}, [&](const auto& step, const Composition& c) {
    if (c.order > 6) return;
    EXPECT_NEAR(error_at_5(Particle{}, step, 1.0 / 16), errors[i], 0.02 * errors[i]);
    ++i;
  });
}

/// The orders of q at the finest halving whose errors stand well above round-off, against fine steps of the composition of order 8.
template <class System>
void expect_orders(const System& system, const auto& begin, double time) {
  for_each_composition(system, [&](const auto& step, const Composition& c) {
    const double end = c.order < 8 ? time : 12.0;
    const auto slope = [&](const auto& of, int order) {
      const auto fine = advance(step, begin, end / 2048, 2048);
      double error = 0.0, found = 0.0;
      for (int steps = order < 8 ? 16 : 8; steps <= 1024; steps *= 2) {
        const double coarser = error;
        error = distance(advance(of, begin, end / steps, steps).q, fine.q);
        if (error < 1e-11) break;
        if (coarser > 0.0) found = std::log2(coarser / error);
      }
      return found;
    };
    if (c.order == 8) {
      EXPECT_GT(slope(step, 8), 7.5);
    } else {
      EXPECT_NEAR(slope(step, c.order), c.order, 0.1);
    }
    if (c.order == 6) {
      EXPECT_NEAR(slope(Leapfrog<System>(system, to_round_off), 2), 2.0, 0.03);
    }
  });
}
TEST(NonholonomicLeapfrog, Orders) {
  expect_orders(Particle{}, default_start(Particle{}), 5.0);
  expect_orders(cvt, start(cvt, {1, 0, 1}, cvt_low), 5.0);
  const Member member(13, 31);
  expect_orders(Contact{}, start(Contact{}, member.q, member.v), 2.0);
  const Sleigh sleigh = make_default<Sleigh>();  // its mass varies
  expect_orders(sleigh, default_start(sleigh), 2.0);
}

template <class System>
void expect_symmetry_and_exact_constraint(const System& system) {
  Random random{7};
  const auto begin = random_start(system, random, 0.1);
  const auto check = [&](const auto& step) {
    auto state = advance(step, begin, 0.05, 20);
    EXPECT_LE(max_norm(constraint(system, state.q, velocity(system, state.q, state.p))), 1e-14);
    state = advance(step, state, -0.05, 20);
    EXPECT_LE(distance(state.q, begin.q), 1e-13);
    EXPECT_LE(distance(state.p, begin.p), 1e-13);
  };
  check(Leapfrog<System>(system, to_round_off));
  for_each_composition(system, [&](const auto& step, const Composition&) { check(step); });
}
TEST(NonholonomicLeapfrog, IsSymmetricAndExactOnTheConstraint) {
  expect_symmetry_and_exact_constraint(make_default<Particle>());
  expect_symmetry_and_exact_constraint(cvt);
  expect_symmetry_and_exact_constraint(make_default<Contact>());
  expect_symmetry_and_exact_constraint(make_default<Printed>());
  expect_symmetry_and_exact_constraint(make_default<Sleigh>());
}

TEST(NonholonomicLeapfrog, StaysOnTheConstraintInTenThousandSteps) {
  const Member member(13, 31);
  const Leapfrog<Contact> step(Contact{}, to_round_off);
  auto state = start(Contact{}, member.q, member.v);
  double largest = 0.0;
  for (int k = 0; k < 10000; ++k) {
    ASSERT_EQ(step(state, 0.1).status, 0.0);
    largest = std::max(largest, max_norm(constraint(Contact{}, state.q, state.p)));
  }
  EXPECT_LE(largest, 1e-14);
}

TEST(NonholonomicLeapfrog, KeepsTheMotionWhereTheFlowContracts) {
  expect_energy_errors<Leapfrog>(9.8e-5, 1.6e-5, 9.8e-5, 1.6e-5);
}

TEST(NonholonomicLeapfrog, LosesThePassengerOfTheCvt) {
  const auto end = advance(Leapfrog<Cvt>(cvt, to_round_off), start(cvt, {1, 0, 1}, cvt_high), 0.1, 100000);
  const double passenger =
      0.5 * (end.p[0] * end.p[0] + end.p[2] * end.p[2] + end.q[0] * end.q[0] + end.q[2] * end.q[2]);
  EXPECT_NEAR(passenger, std::exp(-0.0225 * 0.01 * 1e4), 0.02);
}

}  // namespace
}  // namespace rattleback
