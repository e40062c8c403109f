// Discrete Lagrange-d'Alembert integrators: states of an independent implementation, orders, identities, contracting flows, and the
// passenger of the CVT, which they lose.

#include "rattleback/methods/nonholonomic/dla.hpp"

#include "contracting.hpp"
#include "nonholonomic_lobatto.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"
#include "rattleback/tableaus/compositions.hpp"

namespace rattleback {
namespace {

constexpr auto midpoint = DlaLagrangian::midpoint, verlet = DlaLagrangian::verlet;
constexpr auto mid = DlaConstraint::mid, trap = DlaConstraint::trap;

template <class System, DlaLagrangian lagrangian, DlaConstraint rule>
auto dla(const System& system) {
  return DlaStep<double, System, lagrangian, rule>(system, to_round_off);
}
/// Calls f(step) for the forms that a system has.
template <DlaLagrangian lagrangian, DlaConstraint rule, class System, class F>
void for_each_form(const System& system, F&& f) {
  if constexpr (Condensable<System>) f(CondensedDla<double, System, lagrangian, rule>(system, to_round_off));
  f(GeneralDla<double, System, lagrangian, rule>(system, to_round_off));
}
/// Calls f(lagrangian, rule) for all steps, as constants.
template <class F>
void for_each_dla(F&& f) {
  const auto with = [&](auto l, auto c) {
    SCOPED_TRACE(::testing::Message() << "lagrangian " << static_cast<int>(l()) << ", constraint "
                                      << static_cast<int>(c()));
    f(l, c);
  };
  with(std::integral_constant<DlaLagrangian, midpoint>{}, std::integral_constant<DlaConstraint, mid>{});
  with(std::integral_constant<DlaLagrangian, midpoint>{}, std::integral_constant<DlaConstraint, trap>{});
  with(std::integral_constant<DlaLagrangian, verlet>{}, std::integral_constant<DlaConstraint, mid>{});
  with(std::integral_constant<DlaLagrangian, verlet>{}, std::integral_constant<DlaConstraint, trap>{});
}

TEST(DiscreteLagrangeDAlembert, GoldStates) {
  for_each_form<verlet, mid>(Particle{}, [](const auto& step) {
    const auto state = advance(step, default_start(Particle{}), 0.1, 10);
    EXPECT_LE(distance(state.q, Vector<double, 3>{1.0231922787967261, 0.94417593619144559, -0.0072453881762283693}),
              1e-13);
  });
  const Sleigh system = make_default<Sleigh>();
  for_each_form<midpoint, mid>(system, [&](const auto& step) {
    const auto state = advance(step, default_start(system), 0.1, 10);
    EXPECT_LE(distance(state.q, Vector<double, 3>{0.44816365393052970, 0.53856019263479733, 1.2898281092475714}),
              1e-13);
    EXPECT_NEAR(energy(system, state.q, velocity(system, state.q, state.p)), 0.59972777489669322, 1e-13);
  });
}

TEST(DiscreteLagrangeDAlembert, ErrorConstantsOfTheParticle) {
  const Vector<double, 3> q{-0.93682153194653513, -0.62530832699889767, -0.28618286593039145};
  const auto error = [&](const auto& step) {
    return distance(advance(step, default_start(Particle{}), 1.0 / 16, 80).q, q);
  };
  EXPECT_NEAR(error(dla<Particle, verlet, mid>({})), 2.4474e-4, 0.01 * 2.4474e-4);
  EXPECT_NEAR(error(dla<Particle, midpoint, mid>({})), 1.1482e-3, 0.01 * 1.1482e-3);
}

/// mu(10) of the chaotic system with 1024 members.
template <DlaLagrangian lagrangian>
double mean_squared_energy_error() {
  const auto step = dla<Contact, lagrangian, mid>({});
  double sum = 0.0;
  for (int j = 0; j < 1024; ++j) {
    const Member member(j, 1023);
    const auto state = advance(step, start(Contact{}, member.q, member.v), 0.1, 100);
    const double error = energy(Contact{}, state.q, state.p) - 3.06;
    sum += error * error;
  }
  return sum / 1024;
}
TEST(DiscreteLagrangeDAlembert, EnergyErrorsOfTheChaoticSystem) {
  EXPECT_NEAR(mean_squared_energy_error<verlet>(), 2.962023e-6, 5e-13);
  EXPECT_NEAR(mean_squared_energy_error<midpoint>(), 4.650323e-6, 5e-13);
}

/// The order of q against fine steps, and that of the composed steps.
template <class System>
void expect_orders(const System& system, const auto& begin, double time) {
  for_each_dla([&](auto l, auto c) {
    const auto slope = [&](const auto& step, int steps) {
      const auto at = [&](int count) { return advance(step, begin, time / count, count).q; };
      return std::log2(distance(at(steps), at(2 * steps)) / distance(at(2 * steps), at(4 * steps)));
    };
    EXPECT_NEAR(slope(dla<System, l(), c()>(system), 64), 2.0, 0.05);
    for (const Composition& composition : compositions) {
      if (composition.kind != Composition::Kind::substeps || composition.order > 6) continue;
      const auto numbers = composition_numbers(composition, false);
      const ComposedDlaStep<double, System, l(), c()> composed(system, to_round_off, numbers);
      EXPECT_NEAR(slope(composed, composition.order == 4 ? 64 : 32), composition.order, 0.2) << composition.name;
    }
  });
}
TEST(DiscreteLagrangeDAlembert, Orders) {
  expect_orders(Particle{}, default_start(Particle{}), 5.0);
  expect_orders(cvt, start(cvt, {1, 0, 1}, cvt_low), 5.0);
  const Sleigh sleigh = make_default<Sleigh>();  // its mass varies
  expect_orders(sleigh, default_start(sleigh), 2.0);
}

template <class System>
void expect_symmetry_and_exact_constraint(const System& system) {
  Random random{7};
  const auto begin = random_start(system, random, 0.1);
  for_each_dla([&](auto l, auto c) {
    for_each_form<l(), c()>(system, [&](const auto& step) {
      auto state = advance(step, begin, 0.05, 20);
      EXPECT_LE(max_norm(constraint(system, state.q, velocity(system, state.q, state.p))), 1e-14);
      state = advance(step, state, -0.05, 20);
      EXPECT_LE(distance(state.q, begin.q), 1e-13);
      EXPECT_LE(distance(state.p, begin.p), 1e-13);
    });
  });
}
TEST(DiscreteLagrangeDAlembert, IsSymmetricAndExactOnTheConstraint) {
  expect_symmetry_and_exact_constraint(make_default<Particle>());
  expect_symmetry_and_exact_constraint(cvt);
  expect_symmetry_and_exact_constraint(make_default<Contact>());
  expect_symmetry_and_exact_constraint(make_default<Sleigh>());
}

TEST(DiscreteLagrangeDAlembert, StaysOnTheConstraintInTenThousandSteps) {
  const Member member(13, 31);
  for_each_dla([&](auto l, auto c) {
    const auto step = dla<Contact, l(), c()>({});
    auto state = start(Contact{}, member.q, member.v);
    double largest = 0.0;
    for (int k = 0; k < 10000; ++k) {
      ASSERT_EQ(step(state, 0.1).status, 0.0);
      largest = std::max(largest, max_norm(constraint(Contact{}, state.q, state.p)));
    }
    EXPECT_LE(largest, 1e-14);
  });
}

/// 2 C((q + q')/2) = C(q) + C(q') where C is linear in q.
TEST(DiscreteLagrangeDAlembert, RulesOfTheConstraintAgreeWhereItIsLinear) {
  const auto compare = [](const auto& system, const auto& begin) {
    using System = std::remove_cvref_t<decltype(system)>;
    EXPECT_LE(distance(advance(dla<System, verlet, mid>(system), begin, 0.1, 10),
                       advance(dla<System, verlet, trap>(system), begin, 0.1, 10)),
              1e-13);
    EXPECT_LE(distance(advance(dla<System, midpoint, mid>(system), begin, 0.1, 10),
                       advance(dla<System, midpoint, trap>(system), begin, 0.1, 10)),
              1e-13);
  };
  compare(Particle{}, default_start(Particle{}));
  const Member member(13, 31);
  compare(Contact{}, start(Contact{}, member.q, member.v));
  compare(Printed{}, start(Printed{}, member.q, member.v));
}

/// The constraint of the "printed" system is x + |z|^2/2 = const.
struct IntegratedPrinted {
  using scalar = double;
  static constexpr int n = 7, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;
  double value;

  template <class S>
  S potential(const Vector<S, n>& q) const {
    return Printed{}.potential(q);
  }
  template <class S>
  Vector<S, m> position_constraint(const Vector<S, n>& q) const {
    return {q[0] + S(0.5) * (q[4] * q[4] + q[5] * q[5] + q[6] * q[6]) - S(value)};
  }
};
TEST(DiscreteLagrangeDAlembert, IsRattleWhereTheConstraintIsIntegrable) {
  const Member member(13, 31);
  const IntegratedPrinted holonomic{member.q[0] + 1.5};
  auto of_rattle = start(holonomic, member.q, member.v);
  of_rattle = advance(LobattoStep<double, IntegratedPrinted, Cay, 2>(holonomic, to_round_off), of_rattle, 0.1, 10);
  const auto of_dla = advance(dla<Printed, verlet, mid>({}), start(Printed{}, member.q, member.v), 0.1, 10);
  EXPECT_LE(distance(of_dla.q, of_rattle.q), 1e-13);
  EXPECT_LE(distance(of_dla.p, of_rattle.p), 1e-13);
}

/// The middles of leapfrog steps satisfy the two-step form with "verlet" and "mid": the second difference of positions is h^2 F and
/// a force of the constraint, and C((q + q')/2) (q' - q) = 0.
template <class System>
void expect_two_step_form(const System& system, const auto& begin) {
  const double h = 0.1;
  const LeapfrogStep<double, System> step(system, to_round_off);
  auto state = begin;
  Vector<double, System::n> middle[3];
  for (int k = 0; k < 12; ++k) {
    middle[0] = middle[1];
    middle[1] = middle[2];
    middle[2] = state.q + (0.5 * h) * state.p;
    step(state, h);
    if (k < 2) continue;
    const auto center = 0.5 * (middle[1] + middle[2]);
    EXPECT_LE(max_norm(constraint(system, center, (1 / h) * (middle[2] - middle[1]))), 2e-14);
    const auto rest = middle[2] - 2.0 * middle[1] + middle[0] - (h * h) * force(system, middle[1]);
    const auto forms = system.constraint_matrix(middle[1]);
    const auto along = (dot(forms[0], rest) / dot(forms[0], forms[0])) * forms[0];
    EXPECT_LE(max_norm(rest - along), 1e-14);
  }
}
TEST(DiscreteLagrangeDAlembert, HoldsTheMiddlesOfTheLeapfrog) {
  expect_two_step_form(Particle{}, default_start(Particle{}));
  expect_two_step_form(cvt, start(cvt, {1, 0, 1}, cvt_low));
  const Member member(13, 31);
  expect_two_step_form(Contact{}, start(Contact{}, member.q, member.v));
}

/// The particle with a constraint that has an offset, v_z - y v_x + x y/2 = 0. Its energy is no invariant.
template <class T>
struct DrivenParticle {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::velocity;

  template <class S>
  S potential(const Vector<S, n>& q) const {
    return S(0.5) * (q[0] * q[0] + q[1] * q[1]);
  }
  template <class S>
  Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{-q[1], S(0.0), S(1.0)}}};
  }
  template <class S>
  Vector<S, m> constraint_offset(const Vector<S, n>& q) const {
    return {S(0.5) * q[0] * q[1]};
  }
};
/// Orders and the constraint of a step, and the distance of its states from those of Lobatto IIIA-IIIB with six stages.
TEST(DiscreteLagrangeDAlembert, TakesConstraintsWithAnOffset) {
  using System = DrivenParticle<double>;
  const System system;
  const auto begin = start(system, {1.0, 0.5, 0.0}, {0.4, 0.8, -0.05});
  const auto exact = advance(LobattoStep<double, System, Cay, 6>(system, to_round_off), begin, 1.0 / 64, 64);
  const auto check = [&](const auto& step) {
    const auto coarse = advance(step, begin, 1.0 / 64, 64), fine = advance(step, begin, 1.0 / 128, 128);
    EXPECT_NEAR(std::log2(distance(coarse.q, exact.q) / distance(fine.q, exact.q)), 2.0, 0.05);
    EXPECT_LE(max_norm(constraint(system, fine.q, fine.p)), 1e-14);
    EXPECT_LE(distance(advance(step, fine, -1.0 / 128, 128).q, begin.q), 1e-13);
  };
  for_each_dla([&](auto l, auto c) { for_each_form<l(), c()>(system, check); });
  check(CondensedLeapfrog<double, System>(system, to_round_off));
  check(GeneralLeapfrog<double, System>(system, to_round_off));
}

/// Two constraints that depend on the coordinates that they push.
struct Twisted {
  using scalar = double;
  static constexpr int n = 4, m = 2;
  static constexpr auto kind = ConstraintKind::velocity;
  static constexpr std::array<double, n> default_q{0.5, -0.3, 0.8, 0.2}, default_v{0.4, 0.8, -0.5, 0.3};

  template <class S>
  Vector<S, n> mass_diagonal() const {
    return {S(1.0), S(0.5), S(2.0), S(1.0)};
  }
  template <class S>
  S potential(const Vector<S, n>& q) const {
    return S(0.5) * dot(q, q);
  }
  template <class S>
  Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{S(1.0), sin(q[1]), q[0] * q[3], S(0.0)}, {cos(q[0]), S(0.0), S(1.0), q[1] * q[2]}}};
  }
};
/// The updates of the multiplier end at the solution of the general form, after one update where the equation is linear.
TEST(DiscreteLagrangeDAlembert, FindsTheMultipliers) {
  const Twisted system;
  Random random{11};
  const auto begin = random_start(system, random, 0.3);
  const auto compare = [&](const auto& condensed, const auto& general) {
    auto a = begin;
    auto b = begin;
    for (const double h : {0.1, 0.1, 0.3, -0.1, 0.5}) {
      const auto report = condensed(a, h);
      EXPECT_EQ(report.status, 0.0);
      EXPECT_LE(report.iterations, 6.0);
      EXPECT_EQ(general(b, h).status, 0.0);
      EXPECT_LE(distance(a.q, b.q), 1e-14);
      EXPECT_LE(distance(a.p, b.p), 2e-14);
      EXPECT_LE(max_norm(constraint(system, a.q, velocity(system, a.q, a.p))), 4e-15);
    }
  };
  compare(CondensedDla<double, Twisted, verlet, mid>(system, to_round_off),
          GeneralDla<double, Twisted, verlet, mid>(system, to_round_off));
  compare(CondensedDla<double, Twisted, verlet, trap>(system, to_round_off),
          GeneralDla<double, Twisted, verlet, trap>(system, to_round_off));
  compare(CondensedLeapfrog<double, Twisted>(system, to_round_off),
          GeneralLeapfrog<double, Twisted>(system, to_round_off));

  const Member member(13, 31);
  auto state = start(Contact{}, member.q, member.v);
  const auto step = dla<Contact, verlet, trap>({});
  for (int k = 0; k < 100; ++k) EXPECT_EQ(step(state, 0.1).iterations, 1.0);
}

template <class System>
using VerletMid = DlaStep<double, System, verlet, mid>;
template <class System>
using VerletTrap = DlaStep<double, System, verlet, trap>;
TEST(DiscreteLagrangeDAlembert, KeepsTheMotionWhereTheFlowContracts) {
  expect_energy_errors<VerletMid>(3.9e-5, 6.3e-6, 2.1e-4, 3.3e-5);
  expect_energy_errors<VerletTrap>(2e-15, 4e-15, 2.0e-5, 3.1e-6);
}

TEST(DiscreteLagrangeDAlembert, LosesThePassengerOfTheCvt) {
  const auto passenger = [](const auto& step) {
    const auto end = advance(step, start(cvt, {1, 0, 1}, cvt_high), 0.1, 100000);
    return 0.5 * (end.p[0] * end.p[0] + end.p[2] * end.p[2] + end.q[0] * end.q[0] + end.q[2] * end.q[2]);
  };
  const double decayed = std::exp(-0.0225 * 0.01 * 1e4);
  EXPECT_NEAR(passenger(dla<Cvt, verlet, mid>(cvt)), decayed, 0.02);
  EXPECT_NEAR(passenger(dla<Cvt, midpoint, mid>(cvt)), decayed, 0.02);
}

}  // namespace
}  // namespace rattleback
