// The variational methods on groups with explicit time and generalized forces.

#include "driven.hpp"
#include "named.hpp"
#include "rattleback/methods/lie/vcg.hpp"

namespace rattleback {
namespace {

/// The state at the time 0, with the momentum in space.
template <class System>
StateAt<System> begin_in_space() {
  auto state = begin<System>();
  if constexpr (on_group<System>) state.p = group_of<System>::Ad_inverse_star(state.q, state.p);
  return state;
}

/// The numbers of a step of `vrkmk` or, with `pade`, of `vrkmk-pade`.
template <int S>
struct MuntheKaas : VrkmkNumbers<S> {
  MuntheKaas(const char* tableau, int cutoff, StageIteration iteration = StageIteration::sweeps, bool pade = false)
      : VrkmkNumbers<S>(VrkmkNumbers<S>::of(iteration, *named(runge_kutta_tableaus, tableau), cutoff, pade)) {}
};
VcgNumbers crouch_grossman(std::string_view name) {
  for (const CrouchGrossmanSet& set : crouch_grossman_sets)
    if (set.name == name) return VcgNumbers::of(StageIteration::sweeps, set);
  return {};
}
template <class System, int S>
using MuntheKaasAt = VrkmkStep<double, AtTime<System>, S>;

TEST(WorkedStates, MuntheKaas) {
  using System = DrivenTop<double>;
  const auto expect_printed = []<class Of>(Of, const MuntheKaas<2>& numbers) {
    const auto state = motion<MuntheKaasAt<Of, 2>>(Of{}, begin_in_space<Of>(), 0.125, 1, numbers);
    EXPECT_LE(distance(segment<0, 3>(state.q), {.882084294861, -.387179420563, -.268364291687}), printed);
    EXPECT_LE(distance(state.p, {.366618622261, .500619473885, .875649179436}), printed);
  };
  for (const auto iteration : {StageIteration::sweeps, StageIteration::newton, StageIteration::chord}) {
    expect_printed(System{}, {"gauss2", 2, iteration});
    expect_printed(DrivenTop<double, true>{}, {"gauss2", 2, iteration});
  }
}

/// The state at the time 1 by a Lobatto pair of order 6, with the momentum in space.
template <class System>
const StateAt<System>& exact() {
  static const auto state = [] {
    auto end = motion<LobattoStep<double, AtTime<System>, Exp, 4>>(System{}, begin<System>(), 1.0, 64);
    if constexpr (on_group<System>) end.p = group_of<System>::Ad_inverse_star(end.q, end.p);
    return end;
  }();
  return state;
}
template <class Step, class System>
void expect_order(int order, int coarse, const auto& numbers) {
  Errors found[2];
  for (int k = 0; k < 2; ++k)
    found[k] =
        errors<System>(motion<Step>(System{}, begin_in_space<System>(), 1.0, coarse << k, numbers), exact<System>());
  EXPECT_NEAR(std::log2(found[0].q / found[1].q), order, 0.35) << found[0].q << ' ' << found[1].q;
  EXPECT_NEAR(std::log2(found[0].p / found[1].p), order, 0.35) << found[0].p << ' ' << found[1].p;
}

template <class System>
void expect_orders() {
  expect_order<MuntheKaasAt<System, 1>, System>(2, 32, MuntheKaas<1>("gauss1", 0));
  expect_order<MuntheKaasAt<System, 2>, System>(4, 16, MuntheKaas<2>("gauss2", 2));
  expect_order<MuntheKaasAt<System, 2>, System>(4, 16, MuntheKaas<2>("gauss2", 2, StageIteration::sweeps, true));
  expect_order<MuntheKaasAt<System, 3>, System>(3, 32, MuntheKaas<3>("kutta3", 1));
  for (const CrouchGrossmanSet& set : crouch_grossman_sets) {
    SCOPED_TRACE(set.name);
    expect_order<VcgStep<double, AtTime<System>>, System>(set.order, set.order > 4 ? 4 : 16, crouch_grossman(set.name));
  }
}
TEST(DrivenMuntheKaas, HasTheOrdersOfItsTableaus) {
  expect_orders<DrivenTop<double>>();
  expect_orders<SwellingWell<double>>();
  expect_order<MuntheKaasAt<DrivenTop<double>, 3>, DrivenTop<double>>(6, 4, MuntheKaas<3>("gauss3", 4));
}
TEST(DrivenMuntheKaas, HasTheErrorsOfTheReference) {
  using System = DrivenTop<double>;
  const auto expect = [](const StateAt<System>& reached, double error) {
    EXPECT_NEAR(distance(reached.q, exact<System>().q), error, 0.02 * error);
  };
  const auto start = begin_in_space<System>();
  expect(motion<MuntheKaasAt<System, 1>>(System{}, start, 1.0, 64, MuntheKaas<1>("gauss1", 0)), 1.18e-5);
  expect(motion<MuntheKaasAt<System, 2>>(System{}, start, 1.0, 32, MuntheKaas<2>("gauss2", 2)), 8.9e-10);
  expect(motion<MuntheKaasAt<System, 3>>(System{}, start, 1.0, 16, MuntheKaas<3>("gauss3", 4)), 6.7e-13);
}
TEST(DrivenMuntheKaas, HasTheOrdersOfItsTableausWhereTheInertiaSwells) {
  using Disc = SwellingDisc<double>;
  expect_order<MuntheKaasAt<Disc, 2>, Disc>(4, 16, MuntheKaas<2>("gauss2", 2));
  expect_order<VcgStep<double, AtTime<Disc>>, Disc>(2, 32, crouch_grossman("midpoint"));
}

TEST(DrivenMuntheKaas, IsSymmetric) {
  const auto expect_symmetric = []<class Step, class System>(Step*, System, const auto& numbers) {
    const auto start = begin_in_space<System>();
    auto state = motion<Step>(System{}, start, 0.125, 1, numbers);
    EXPECT_EQ(Step(at(System{}, 0.125), to_round_off, numbers)(state, -0.125).status, 0.0);
    EXPECT_LE(distance(state.q, start.q), 2e-15);
    EXPECT_LE(distance(state.p, start.p), 2e-15);
  };
  using Top = DrivenTop<double>;
  expect_symmetric(static_cast<MuntheKaasAt<Top, 1>*>(nullptr), Top{}, MuntheKaas<1>("gauss1", 0));
  expect_symmetric(static_cast<VcgStep<double, AtTime<Top>>*>(nullptr), Top{}, crouch_grossman("triple-jump4"));
  expect_symmetric(static_cast<MuntheKaasAt<SwellingWell<double>, 2>*>(nullptr), SwellingWell<double>{},
                   MuntheKaas<2>("gauss2", 0));
}

/// The momentum of a ball in space obeys J' = -c J, and the momenta in space of the stages are those of the Gauss method, also where
/// sweeps do not contract.
TEST(DrivenMuntheKaas, FrictionOfABallIsThatOfANumber) {
  using System = DampedBall<double>;
  const MuntheKaas<2> numbers("gauss2", 2);
  const auto start = begin_in_space<System>();
  for (const double h : {0.125, 1.0}) {
    const double z = -0.75 * h;
    const auto state = motion<MuntheKaasAt<System, 2>>(System{}, start, h, 1, numbers);
    const double factor = (1.0 + z / 2 + z * z / 12) / (1.0 - z / 2 + z * z / 12);
    EXPECT_LE(distance(state.p, factor * start.p), 2e-15);
  }
  const double h = 0.125, z = -64 * h;
  const auto state = motion<MuntheKaasAt<StickyBall<double>, 2>>(StickyBall<double>{}, start, h, 1, numbers);
  EXPECT_LE(distance(state.p, (1.0 + z / 2 + z * z / 12) / (1.0 - z / 2 + z * z / 12) * start.p), 2e-15);
}

}  // namespace
}  // namespace rattleback
