// Explicit Runge-Kutta methods and their conversion with explicit time, generalized forces, and constraints that move.

#include "conversion_problems.hpp"
#include "driven.hpp"

namespace rattleback {
namespace {

template <class System>
using RungeKuttaAt = RungeKutta<double, AtTime<System>>;
template <class System>
using ConversionAt = VariationalConversion<double, AtTime<System>>;

TEST(WorkedStates, RungeKuttaAndConversion) {
  const auto start = begin<BreathingSphere<double>>();
  const problems::Numbers rk4("rk4", true), symmetric("rk4", {-0.5, 0.5});
  const auto plain = motion<RungeKuttaAt<BreathingSphere<double>>>(BreathingSphere<double>{}, start, 0.125, 1, rk4);
  EXPECT_LE(distance(plain.q, {.552838409794, .356059293868, -.778778030057}), printed);
  EXPECT_LE(distance(plain.p, {.0858942457602, .690132133231, .178314056367}), printed);
  EXPECT_LE(distance(plain.lambda, {-.587484920331}), printed);
  const auto converted =
      motion<ConversionAt<BreathingSphere<double>>>(BreathingSphere<double>{}, start, 0.125, 1, symmetric);
  EXPECT_LE(distance(converted.q, {.552838205218, .356059378657, -.778778136516}), printed);
  EXPECT_LE(distance(converted.p, {.0858937133803, .690132117016, .178313699227}), printed);
  EXPECT_LE(distance(converted.lambda, {-.587484919936}), printed);
}

/// The state at the time 1 by a Lobatto pair of order 6.
template <class System>
const StateAt<System>& exact() {
  static const auto state = motion<LobattoStep<double, AtTime<System>, Cay, 4>>(System{}, begin<System>(), 1.0, 32);
  return state;
}

/// Errors at the time 1; constraints hold to round-off.
template <class Step, class System>
Errors errors_of(int steps, const problems::Numbers& numbers) {
  const auto reached = motion<Step>(System{}, begin<System>(), 1.0, steps, numbers);
  const auto system = at(System{}, 1.0);
  if constexpr (System::m > 0) {
    const auto v = velocity(system, reached.q, reached.p);
    EXPECT_LE(max_norm(constraint(system, reached.q, v)), 2e-14);
    EXPECT_LE(distance(reached.lambda, multipliers(system, reached.q, v)), 1e-12);
  }
  if constexpr (position_count<AtTime<System>> > 0) {
    EXPECT_LE(max_norm(system.position_constraint(reached.q)), 2e-14);
  }
  return errors<System>(reached, exact<System>());
}
template <class Step, class System>
void expect_order(int order, int coarse, const problems::Numbers& numbers) {
  const Errors a = errors_of<Step, System>(coarse, numbers), b = errors_of<Step, System>(2 * coarse, numbers);
  EXPECT_NEAR(std::log2(a.q / b.q), order, 0.35) << a.q << ' ' << b.q;
  EXPECT_NEAR(std::log2(a.p / b.p), order, 0.35) << a.p << ' ' << b.p;
}

template <class System>
void expect_orders_of_runge_kutta() {
  for (const auto& [base, order, coarse] : {std::tuple("heun2", 2, 64), std::tuple("rk4", 4, 16)}) {
    SCOPED_TRACE(base);
    expect_order<RungeKuttaAt<System>, System>(order, coarse, {base, true});
  }
}
TEST(DrivenRungeKutta, HasTheOrderOfItsBase) {
  expect_orders_of_runge_kutta<SwellingWell<double>>();
  expect_orders_of_runge_kutta<MovingPivot<double, true>>();
  expect_orders_of_runge_kutta<SphereAndDrive<double>>();
  expect_orders_of_runge_kutta<MovingEverything<double>>();
  expect_orders_of_runge_kutta<DrivenSleigh<double>>();
}
TEST(DrivenRungeKutta, LeavesTheConstraintsWithoutProjection) {
  const auto reached = motion<RungeKuttaAt<SphereAndDrive<double>>>(
      SphereAndDrive<double>{}, begin<SphereAndDrive<double>>(), 1.0, 16, problems::Numbers("rk4", false));
  const double off = max_norm(at(SphereAndDrive<double>{}, 1.0).position_constraint(reached.q));
  EXPECT_GT(off, 1e-9);
  EXPECT_LT(off, 1e-5);
  EXPECT_LT(errors<SphereAndDrive<double>>(reached, exact<SphereAndDrive<double>>()).q, 1e-5);
}

template <class System>
void expect_orders_of_conversion() {
  using Step = ConversionAt<System>;
  expect_order<Step, System>(2, 64, {"euler", {-0.5, 0.5}});
  expect_order<Step, System>(3, 16, {"rk3", {0.0, 1.0}});
  expect_order<Step, System>(4, 8, {"rk4", {-0.5, 0.5}});
}
TEST(DrivenConversion, HasTheOrderOfItsBaseAndTheNextEvenOneWithTheSymmetricBias) {
  expect_orders_of_conversion<SwellingWell<double>>();
  expect_orders_of_conversion<MovingPivot<double, true>>();
  expect_orders_of_conversion<MovingParts<double>>();
  expect_orders_of_conversion<MovingPivotOfEverything<double>>();
}
TEST(DrivenConversion, HasTheOrderInNodes) {
  const auto expect_fourth_order = []<class System>(System) {
    const auto error = [](int steps) {
      const problems::Numbers numbers("rk4", {-0.5, 0.5}, ConversionState::node);
      const auto reached = motion<ConversionAt<System>>(System{}, begin<System>(), 1.0, steps, numbers);
      return errors<System>(reached, exact<System>()).q;
    };
    EXPECT_NEAR(std::log2(error(8) / error(16)), 4.0, 0.35);
  };
  expect_fourth_order(MovingPivot<double, true>{});
  expect_fourth_order(MovingPivotOfEverything<double>{});
}

TEST(DrivenConversion, TakesTheForceOfAPotentialLikeThePotential) {
  for (const char* base : {"euler", "rk4"}) {
    const auto run = [&]<bool by_force>(std::bool_constant<by_force>, auto step) {
      using System = MovingPivot<double, by_force>;
      if constexpr (step()) {
        return motion<ConversionAt<System>>(System{}, begin<System>(), 1.0, 8, problems::Numbers(base, {-0.5, 0.5}));
      } else {
        return motion<RungeKuttaAt<System>>(System{}, begin<System>(), 1.0, 8, problems::Numbers(base, true));
      }
    };
    const auto expect_same = [](const auto& a, const auto& b) {
      EXPECT_LE(distance(a.q, b.q), 4e-15);
      EXPECT_LE(distance(a.p, b.p), 4e-15);
    };
    expect_same(run(std::false_type{}, std::true_type{}), run(std::true_type{}, std::true_type{}));
    expect_same(run(std::false_type{}, std::false_type{}), run(std::true_type{}, std::false_type{}));
  }
}

TEST(DrivenConversion, IsSymmetric) {
  const auto expect_symmetric = []<class System>(System) {
    for (const ConversionState kind : {ConversionState::segment, ConversionState::node}) {
      const problems::Numbers numbers("rk3", {-0.5, 0.5}, kind);
      using Step = ConversionAt<System>;
      const auto start = begin<System>();
      auto state = motion<Step>(System{}, start, 0.125, 1, numbers);
      EXPECT_EQ(Step(at(System{}, 0.125), to_round_off, numbers)(state, -0.125).status, 0.0);
      EXPECT_LE(distance(state.q, start.q), 2e-15);
      // the momentum of a node is that of the velocity on the constraint
      EXPECT_LE(distance(state.p, start.p), 4e-15);
    }
  };
  expect_symmetric(MovingPivot<double, true>{});
  expect_symmetric(MovingParts<double>{});
  expect_symmetric(MovingPivotOfEverything<double>{});
}

TEST(DrivenRungeKutta, HasTangentMaps) {
  using D = Dual<double, 1>;
  const problems::Numbers numbers("rk4", true);
  const auto start = begin<SphereAndDrive<double>>();
  const Vector<double, 4> direction{.3, -.2, .5, .4};
  StateOf<D, AtTime<SphereAndDrive<D>>> state{detail::along(start.q, direction), lift<D>(start.p),
                                              lift<D>(start.lambda)};
  const RungeKutta<D, AtTime<SphereAndDrive<D>>> step(at(SphereAndDrive<D>{}, D(0.0)), {D(0.0), 50}, numbers);
  EXPECT_EQ(value_of(step(state, D(0.125)).status), 0.0);
  const auto moved = [&](double by) {
    auto other = start;
    other.q = fma(by, direction, other.q);
    RungeKuttaAt<SphereAndDrive<double>>(at(SphereAndDrive<double>{}, 0.0), to_round_off, numbers)(other, 0.125);
    return other;
  };
  const double small = 1e-5;
  const auto forward = moved(small), backward = moved(-small);
  EXPECT_LE(distance(detail::derivative(state.q), (0.5 / small) * (forward.q - backward.q)), 1e-9);
  EXPECT_LE(distance(detail::derivative(state.p), (0.5 / small) * (forward.p - backward.p)), 1e-9);
}

}  // namespace
}  // namespace rattleback
