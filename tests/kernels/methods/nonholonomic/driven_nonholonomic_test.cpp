// The nonholonomic families with explicit time, generalized forces and constraints that the time changes.

#include "driven.hpp"
#include "rattleback/methods/generalized_alpha/generalized_alpha.hpp"
#include "rattleback/methods/nonholonomic/dla.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"
#include "rattleback/tableaus/compositions.hpp"

namespace rattleback {
namespace {

template <class System, DlaLagrangian lagrangian, DlaConstraint rule, class Tau = Cay>
using Dla = DlaStep<double, AtTime<System>, lagrangian, rule, Tau>;
template <class System>
using MidpointDla = Dla<System, DlaLagrangian::midpoint, DlaConstraint::mid>;
template <class System>
using VerletDla = Dla<System, DlaLagrangian::verlet, DlaConstraint::mid>;
template <class System>
using Leapfrog = LeapfrogStep<double, AtTime<System>>;

/// The state at the time 1 by a Lobatto pair of order 6.
template <class System, class Tau = Cay>
const StateAt<System>& exact() {
  static const auto state = motion<LobattoStep<double, AtTime<System>, Tau, 4>>(System{}, begin<System>(), 1.0, 64);
  return state;
}
template <class Step, class System, class... Numbers>
void expect_order(int order, int coarse, const Numbers&... numbers) {
  Errors found[2];
  for (int k = 0; k < 2; ++k) {
    const auto reached = motion<Step>(System{}, begin<System>(), 1.0, coarse << k, numbers...);
    const auto system = at(System{}, 1.0);
    EXPECT_LE(max_norm(constraint(system, reached.q, velocity(system, reached.q, reached.p))), 2e-14);
    found[k] = errors<System>(reached, exact<System>());
  }
  EXPECT_NEAR(std::log2(found[0].q / found[1].q), order, 0.35) << found[0].q << ' ' << found[1].q;
  EXPECT_NEAR(std::log2(found[0].p / found[1].p), order, 0.35) << found[0].p << ' ' << found[1].p;
}
/// A step forward, and one of size -h from its end.
template <class Step, class System>
void expect_symmetric() {
  const auto start = begin<System>();
  auto state = motion<Step>(System{}, start, 0.125, 1);
  EXPECT_EQ(Step(at(System{}, 0.125), to_round_off)(state, -0.125).status, 0.0);
  EXPECT_LE(distance(state.q, start.q), 2e-15);
  EXPECT_LE(distance(state.p, start.p), 4e-15);
}
template <class System>
void expect_second_order() {
  using Trap = Dla<System, DlaLagrangian::verlet, DlaConstraint::trap>;
  expect_order<MidpointDla<System>, System>(2, 32);
  expect_order<VerletDla<System>, System>(2, 32);
  expect_order<Trap, System>(2, 32);
  expect_order<Leapfrog<System>, System>(2, 32);
  expect_symmetric<MidpointDla<System>, System>();
  expect_symmetric<VerletDla<System>, System>();
  expect_symmetric<Trap, System>();
  expect_symmetric<Leapfrog<System>, System>();
}

TEST(DrivenNonholonomic, IsSymmetricAndOfOrderTwo) {
  expect_second_order<DrivenSleigh<double>>();
  expect_second_order<SwellingSleigh<double>>();
}
TEST(DrivenNonholonomic, IsSymmetricAndOfOrderTwoOnGroups) {
  using System = MotorOnSuslov<double>;
  expect_order<VerletDla<System>, System>(2, 32);
  expect_symmetric<VerletDla<System>, System>();
  using ByExp = Dla<System, DlaLagrangian::verlet, DlaConstraint::mid, Exp>;
  expect_order<ByExp, System>(2, 32);
  expect_symmetric<ByExp, System>();
}

TEST(DrivenNonholonomic, CompositionsHaveTheirOrders) {
  const auto expect_order_of = []<class Step, class System>(const Step*, System, const char* name, int coarse) {
    for (const Composition& c : compositions) {
      if (std::string_view(c.name) != name) continue;
      expect_order<Step, System>(c.order, coarse, composition_numbers(c, false));
    }
  };
  using Sleigh = DrivenSleigh<double>;
  using Suslov = MotorOnSuslov<double>;
  using Midpoint = Composed<double, AtTime<Sleigh>, MidpointDla<Sleigh>>;
  using Frog = Composed<double, AtTime<Sleigh>, Leapfrog<Sleigh>>;
  using OnGroup = Composed<double, AtTime<Suslov>, VerletDla<Suslov>>;
  expect_order_of(static_cast<Midpoint*>(nullptr), Sleigh{}, "suzuki4", 8);
  expect_order_of(static_cast<Frog*>(nullptr), Sleigh{}, "kahan-li6", 8);
  expect_order_of(static_cast<OnGroup*>(nullptr), Suslov{}, "suzuki4", 8);
}

TEST(DrivenNonholonomic, TakesTheForceOfAPotentialLikeThePotential) {
  using ByPotential = PushedSleigh<double, false>;
  using ByForce = PushedSleigh<double, true>;
  const auto expect_same = []<class A, class B>(const A*, const B*) {
    const auto a = motion<A>(ByPotential{}, begin<ByPotential>(), 1.0, 8);
    const auto b = motion<B>(ByForce{}, begin<ByForce>(), 1.0, 8);
    EXPECT_LE(distance(a.q, b.q), 2e-15);
    EXPECT_LE(distance(a.p, b.p), 2e-15);
  };
  expect_same(static_cast<MidpointDla<ByPotential>*>(nullptr), static_cast<MidpointDla<ByForce>*>(nullptr));
  expect_same(static_cast<VerletDla<ByPotential>*>(nullptr), static_cast<VerletDla<ByForce>*>(nullptr));
  expect_same(static_cast<Leapfrog<ByPotential>*>(nullptr), static_cast<Leapfrog<ByForce>*>(nullptr));
}

/// The order of the generalized-alpha method; the multiplier has it, too.
template <class Formulation, class System>
void expect_order_of_generalized_alpha(double rho) {
  const auto numbers = GeneralizedAlphaNumbers::of(rho);
  using Step = GeneralizedAlpha<double, AtTime<System>, Formulation>;
  double q[2], p[2], lambda[2];
  for (int k = 0; k < 2; ++k) {
    const int steps = 32 << k;
    const auto start = begin<System>();
    typename Step::State state{start.q, start.p, start.lambda};
    for (int i = 0; i < steps; ++i) {
      const auto report = Step(at(System{}, i / double(steps)), to_round_off, numbers)(state, 1.0 / steps);
      EXPECT_EQ(report.status, 0.0) << i;
    }
    const auto system = at(System{}, 1.0);
    const auto& reference = exact<System>();
    q[k] = distance(state.q, reference.q);
    p[k] = distance(state.p, reference.p);
    const auto v = velocity(system, reference.q, reference.p);
    lambda[k] = distance(state.lambda, multipliers(system, reference.q, v));
    if constexpr (is_holonomic<AtTime<System>>) {
      EXPECT_LE(max_norm(system.position_constraint(state.q)), 2e-14);
    }
    if constexpr (!Formulation::positions_only) {
      EXPECT_LE(max_norm(constraint(system, state.q, velocity(system, state.q, state.p))), 2e-13);
    }
  }
  EXPECT_NEAR(std::log2(q[0] / q[1]), 2.0, 0.35) << q[0] << ' ' << q[1];
  EXPECT_NEAR(std::log2(p[0] / p[1]), 2.0, 0.35) << p[0] << ' ' << p[1];
  EXPECT_GE(std::log2(lambda[0] / lambda[1]), 1.65) << lambda[0] << ' ' << lambda[1];
}
TEST(DrivenGeneralizedAlpha, HasOrderTwo) {
  expect_order_of_generalized_alpha<Stabilised, DrivenSleigh<double>>(0.8);
  expect_order_of_generalized_alpha<Stabilised, SwellingSleigh<double>>(0.8);
  expect_order_of_generalized_alpha<Stabilised, MovingPivot<double, true>>(0.8);
  expect_order_of_generalized_alpha<Stabilised, MovingParts<double>>(0.5);
  expect_order_of_generalized_alpha<Index3, MovingPivot<double, true>>(0.8);
}

}  // namespace
}  // namespace rattleback
