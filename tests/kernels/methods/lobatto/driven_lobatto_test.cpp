// Lobatto pairs with explicit time, generalized forces and constraints of both kinds.

#include "driven.hpp"

#include "rattleback/methods/nonholonomic/spark.hpp"
#include "rattleback/tableaus/compositions.hpp"

namespace rattleback {
namespace {

TEST(WorkedStates, MovingHolonomicConstraint) {
  using System = AtTime<BreathingSphere<double>>;
  const auto start = begin<BreathingSphere<double>>();
  EXPECT_LE(distance(start.p, {.208519138097600, .729259569048800, .187221292853500}), 1e-13);
  const auto two = motion<LobattoStep<double, System, Cay, 2>>(BreathingSphere<double>{}, start, 0.125, 1);
  EXPECT_LE(distance(two.q, {.552910476738, .356329320069, -.778603344821}), printed);
  EXPECT_LE(distance(two.p, {.0859616947887, .689975042012, .178577360905}), printed);
  EXPECT_LE(distance(two.lambda, {-.601403644911}), printed);
  const auto three = motion<LobattoStep<double, System, Cay, 3>>(BreathingSphere<double>{}, start, 0.125, 1);
  EXPECT_LE(distance(three.q, {.552838257390, .356059460121, -.778778062235}), printed);
  EXPECT_LE(distance(three.p, {.0858934452120, .690132076128, .178313585119}), printed);
  EXPECT_LE(distance(three.lambda, {-.587212671605}), printed);
}

TEST(WorkedStates, BothKindsOfConstraints) {
  using System = AtTime<SphereAndDrive<double>>;
  const auto start = begin<SphereAndDrive<double>>();
  EXPECT_LE(distance(start.lambda, {-.686592667027, .385877351860}), printed);
  const auto two = motion<LobattoStep<double, System, Cay, 2>>(SphereAndDrive<double>{}, start, 0.125, 1);
  EXPECT_LE(distance(two.q, {.660980318314, .0466918782855, -.774486046031, .326475074652}), printed);
  EXPECT_LE(distance(two.p, {.437961144403, .358272335334, .196085619577, .610164219674}), printed);
  EXPECT_LE(distance(two.lambda, {-.621974470973, .294095060796}), printed);
  const auto three = motion<LobattoStep<double, System, Cay, 3>>(SphereAndDrive<double>{}, start, 0.125, 1);
  EXPECT_LE(distance(three.q, {.660722509900, .0465594906974, -.774713964590, .326184487928}), printed);
  EXPECT_NEAR(three.lambda[1], .293006550141, printed);
}

/// The numbers of a composition.
struct CompositionOf {
  CompositionNumbers numbers;
  int order = 0;
  CompositionOf(std::string_view name, bool split) {
    for (const Composition& c : compositions) {
      if (c.name != name) continue;
      numbers = composition_numbers(c, split);
      order = c.order;
    }
  }
};

TEST(WorkedStates, Splitting) {
  using Step = SplitLobattoStep<double, AtTime<SwellingWell<double>>, Cay, 2>;
  const CompositionOf composition("blanes-moan4", true);
  const auto state = motion<Step>(SwellingWell<double>{}, begin<SwellingWell<double>>(), 0.125, 1, composition.numbers);
  EXPECT_LE(distance(state.q, {.528098281049, -.152792254374}), printed);
  EXPECT_LE(distance(state.p, {.197141405758, .801568766045}), printed);
}

/// Orders from errors of `coarse` and 2 `coarse` steps up to the time 1; checks that constraints hold.
template <class System, class Tau, int S>
void expect_orders(int coarse) {
  SCOPED_TRACE("s = " + std::to_string(S));
  using Step = LobattoStep<double, AtTime<System>, Tau, S>;
  static const auto reference = motion<LobattoStep<double, AtTime<System>, Tau, 4>>(System{}, begin<System>(), 1.0, 32);
  Errors found[2];
  for (int k = 0; k < 2; ++k) {
    const auto reached = motion<Step>(System{}, begin<System>(), 1.0, coarse << k);
    found[k] = errors<System>(reached, reference);
    const auto system = at(System{}, 1.0);
    EXPECT_LE(max_norm(constraint(system, reached.q, velocity(system, reached.q, reached.p))), 2e-14);
    if constexpr (position_count<AtTime<System>> > 0) {
      EXPECT_LE(max_norm(system.position_constraint(reached.q)), 2e-14);
    }
  }
  const auto order = [&](double Errors::* of) { return std::log2(found[0].*of / (found[1].*of)); };
  EXPECT_NEAR(order(&Errors::q), 2 * S - 2, 0.35);
  EXPECT_NEAR(order(&Errors::p), 2 * S - 2, 0.35);
  if constexpr (velocity_count<AtTime<System>> > 0) {
    EXPECT_GE(order(&Errors::mu), (S % 2 == 0 ? S : S - 1) - 0.35);
  }
}
template <class System, class Tau = Cay>
void expect_orders() {
  expect_orders<System, Tau, 2>(32);
  expect_orders<System, Tau, 3>(16);
}

TEST(DrivenLobatto, HasItsOrdersOnRn) {
  expect_orders<BreathingSphere<double>>();
  expect_orders<MovingPivot<double, true>>();
  expect_orders<SphereAndDrive<double>>();
  expect_orders<MovingEverything<double>>();
}
TEST(DrivenLobatto, HasItsOrdersOnGroups) {
  expect_orders<DrivenSuslov<double>>();
  expect_orders<RollingDisc<double>, Exp>();
}

TEST(DrivenLobatto, TakesTheForceOfAPotentialLikeThePotential) {
  const auto expect_same = [](auto s) {
    constexpr int S = s();
    const auto by_potential = motion<LobattoStep<double, AtTime<MovingPivot<double, false>>, Cay, S>>(
        MovingPivot<double, false>{}, begin<MovingPivot<double, false>>(), 1.0, 8);
    const auto by_force = motion<LobattoStep<double, AtTime<MovingPivot<double, true>>, Cay, S>>(
        MovingPivot<double, true>{}, begin<MovingPivot<double, true>>(), 1.0, 8);
    EXPECT_LE(distance(by_potential.q, by_force.q), 2e-15);
    EXPECT_LE(distance(by_potential.p, by_force.p), 2e-15);
  };
  for_stages<2, 3>(expect_same);
}

/// Sweeps and Newton's method from the time 1/4, and how many sweeps there are.
template <class System, int S>
void expect_sweeps_solve() {
  const auto system = at(System{}, 0.25);
  StateAt<System> start{System::start_q(), {}, {}};
  Vector<double, System::n> v = System::start_v();
  if constexpr (System::m > 0) {
    start.q = detail::displaced<AtTime<System>>(start.q, Vector<double, System::n>::zero());
    v = on_constraint(system, start.q, v);
    start.lambda = multipliers(system, start.q, v);
  }
  start.p = momentum(system, start.q, v);
  auto swept = start, solved = start;
  const auto report = fast_step_of<LobattoStep<double, AtTime<System>, Cay, S>>(system, to_round_off)(swept, 0.125);
  EXPECT_EQ(report.status, 0.0);
  EXPECT_LE(report.iterations, 14.0);
  EXPECT_EQ((GeneralLobatto<double, AtTime<System>, Cay, S>(system, to_round_off)(solved, 0.125).status), 0.0);
  EXPECT_LE(distance(swept.q, solved.q), 1e-14);
  EXPECT_LE(distance(swept.p, solved.p), 1e-14);
  EXPECT_LE(distance(swept.lambda, solved.lambda), 1e-12);
}
template <class System>
void expect_sweeps_solve() {
  expect_sweeps_solve<System, 2>();
  expect_sweeps_solve<System, 3>();
}
TEST(DrivenLobatto, SweepsSolveItsEquations) {
  expect_sweeps_solve<BreathingSphere<double>>();
  expect_sweeps_solve<MovingPivot<double, true>>();
  expect_sweeps_solve<SwellingWell<double>>();
  expect_sweeps_solve<DraggedParticle<double>>();
  expect_sweeps_solve<DrivenSkate<double>>();
  expect_sweeps_solve<FastSkate<double>>();
  expect_sweeps_solve<DampedBody<double, ConstraintKind::none>>();
  expect_sweeps_solve<DampedBody<double, ConstraintKind::holonomic>>();
  expect_sweeps_solve<DampedBody<double, ConstraintKind::velocity>>();
}

/// Says that its force does not depend on the velocity, and it does.
template <class T>
struct WrongWell : DampedWell<T> {
  static constexpr bool force_of_velocity = false;
};
TEST(DrivenLobatto, AForceThatDependsOnTheVelocityAgainstItsWordFails) {
  for_stages<2, 3>([](auto s) {
    auto state = begin<WrongWell<double>>();
    const auto system = at(WrongWell<double>{}, 0.0);
    EXPECT_NE((LobattoStep<double, AtTime<WrongWell<double>>, Cay, s()>(system, to_round_off)(state, 0.125).status),
              0.0);
  });
}

/// A step forward, and one of size -h from its end.
template <class System, int S>
void expect_symmetric() {
  using Step = LobattoStep<double, AtTime<System>, Cay, S>;
  const auto start = begin<System>();
  auto state = motion<Step>(System{}, start, 0.125, 1);
  EXPECT_EQ(Step(at(System{}, 0.125), to_round_off)(state, -0.125).status, 0.0);
  EXPECT_LE(distance(state.q, start.q), 1e-15);
  EXPECT_LE(distance(state.p, start.p), 2e-15);
  EXPECT_LE((errors<System>(state, start).mu), 1e-13);
}
TEST(DrivenLobatto, IsSymmetricOnRn) {
  expect_symmetric<MovingPivot<double, true>, 2>();
  expect_symmetric<MovingPivot<double, true>, 3>();
  expect_symmetric<SphereAndDrive<double>, 2>();
  expect_symmetric<SphereAndDrive<double>, 3>();
  expect_symmetric<MovingEverything<double>, 2>();
}

/// The order of a composed step.
template <class Step, class System>
void expect_order_of(const char* name, int coarse) {
  SCOPED_TRACE(name);
  const CompositionOf composition(name, Condensable<AtTime<System>> && System::m == 0);
  const auto reference = motion<LobattoStep<double, AtTime<System>, Cay, 4>>(System{}, begin<System>(), 1.0, 64);
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const auto reached = motion<Step>(System{}, begin<System>(), 1.0, coarse << k, composition.numbers);
    error[k] = std::max(distance(reached.q, reference.q), distance(reached.p, reference.p));
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), composition.order, 0.4);
}
TEST(DrivenCompositions, HaveTheirOrders) {
  // of substeps, two of which go back: any force
  using Sphere = ComposedLobattoStep<double, AtTime<BreathingSphere<double>>, Cay, 2>;
  using Pivot = ComposedLobattoStep<double, AtTime<MovingPivot<double, true>>, Cay, 2>;
  using Well = ComposedLobattoStep<double, AtTime<SwellingWell<double>>, Cay, 2>;
  expect_order_of<Sphere, BreathingSphere<double>>("suzuki4", 16);
  expect_order_of<Pivot, MovingPivot<double, true>>("kahan-li6", 8);
  expect_order_of<Pivot, MovingPivot<double, true>>("kahan-li8", 4);
  expect_order_of<Well, SwellingWell<double>>("kahan-li6", 8);
  // of kicks and drifts
  using Split = SplitLobattoStep<double, AtTime<SwellingWell<double>>, Cay, 2>;
  expect_order_of<Split, SwellingWell<double>>("blanes-moan4", 8);
  expect_order_of<Split, SwellingWell<double>>("blanes-moan6", 4);
  expect_order_of<Split, SwellingWell<double>>("blanes-moan-rkn6", 4);
  // whose force may not depend on velocities
  const CompositionOf composition("blanes-moan4", true);
  auto state = begin<DampedWell<double>>();
  const SplitLobattoStep<double, AtTime<DampedWell<double>>, Cay, 2> step(at(DampedWell<double>{}, 0.0), to_round_off,
                                                                          composition.numbers);
  EXPECT_EQ(step(state, 0.125).status, status_not_finite);
  using Damped = ComposedLobattoStep<double, AtTime<DampedWell<double>>, Cay, 2>;
  expect_order_of<Damped, DampedWell<double>>("suzuki4", 8);
}

TEST(DrivenLobatto, RecomputesMultipliersAtTheEnd) {
  using System = SphereAndDrive<double>;
  const auto reached =
      motion<RecomputedLobattoStep<double, AtTime<System>, Cay, 3>>(System{}, begin<System>(), 0.125, 1);
  const auto end = at(System{}, 0.125);
  EXPECT_LE(distance(reached.lambda, multipliers(end, reached.q, velocity(end, reached.q, reached.p))), 1e-14);
}

/// Friction of a free particle.
struct Dragged {
  using scalar = double;
  static constexpr int n = 1, m = 0;
  template <class S>
  S potential(const Vector<S, 1>&) const {
    return S(0.0);
  }
  template <class S>
  Vector<S, 1> force(const S&, const Vector<S, 1>&, const Vector<S, 1>& v) const {
    return -v;
  }
};
template <int S>
void expect_damping(const std::array<double, 3>& factors) {
  // beyond the reach of the sweeps Newton's method solves
  for (std::size_t k = 0; k < 3; ++k) {
    const double h = std::array{2.0, 20.0, 200.0}[k];
    StateAt<Dragged> state{{0.0}, {1.0}, {}};
    EXPECT_EQ((LobattoStep<double, AtTime<Dragged>, Cay, S>(at(Dragged{}, 0.0), to_round_off)(state, h).status), 0.0);
    EXPECT_NEAR(state.p[0], factors[k], 0.006) << "s = " << S << ", h c = " << h;
  }
}
TEST(DrivenLobatto, DampsLikeItsStabilityFunction) {
  expect_damping<2>({0.0, -0.82, -0.98});
  expect_damping<3>({0.14, 0.55, 0.94});
  expect_damping<4>({0.135, -0.30, -0.89});
  expect_damping<5>({0.135, 0.14, 0.82});
}

template <int S>
void expect_order_of_spark(int coarse) {
  using Skate = DrivenSkate<double>;
  const auto exact = motion<LobattoStep<double, AtTime<Skate>, Cay, 4>>(Skate{}, begin<Skate>(), 1.0, 64);
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const auto reached = motion<SparkStep<double, AtTime<Skate>, S>>(Skate{}, begin<Skate>(), 1.0, coarse << k);
    error[k] = std::max(distance(reached.q, exact.q), distance(reached.p, exact.p));
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), 2 * S - 2, 0.2);
}
TEST(DrivenSpark, HasItsOrders) {
  expect_order_of_spark<2>(32);
  expect_order_of_spark<3>(16);
}

TEST(DrivenLobatto, HasTangentMaps) {
  using D = Dual<double, 1>;
  const auto start = begin<SphereAndDrive<double>>();
  const Vector<double, 4> direction{.3, -.2, .5, .4};
  StateOf<D, AtTime<SphereAndDrive<D>>> state{detail::along(start.q, direction), lift<D>(start.p),
                                              lift<D>(start.lambda)};
  const LobattoStep<D, AtTime<SphereAndDrive<D>>, Cay, 3> step(at(SphereAndDrive<D>{}, D(0.25)),
                                                               {D(0.0), to_round_off.max_iterations});
  EXPECT_EQ(value_of(step(state, D(0.125)).status), 0.0);
  const auto moved = [&](double by) {
    auto other = start;
    other.q = fma(by, direction, other.q);
    const LobattoStep<double, AtTime<SphereAndDrive<double>>, Cay, 3> plain(at(SphereAndDrive<double>{}, 0.25),
                                                                            to_round_off);
    plain(other, 0.125);
    return other;
  };
  const double small = 1e-5;
  const auto forward = moved(small), backward = moved(-small);
  EXPECT_LE(distance(detail::derivative(state.q), (0.5 / small) * (forward.q - backward.q)), 1e-9);
  EXPECT_LE(distance(detail::derivative(state.p), (0.5 / small) * (forward.p - backward.p)), 1e-9);
  EXPECT_LE(distance(detail::derivative(state.lambda), (0.5 / small) * (forward.lambda - backward.lambda)), 1e-8);
}

}  // namespace
}  // namespace rattleback
