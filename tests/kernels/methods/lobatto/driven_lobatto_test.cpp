// Lobatto pairs with explicit time, generalized forces and constraints of both kinds.

#include "driven.hpp"

#include "rattleback/tableaus/compositions.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

constexpr double h = 0.125;

/// One step from t = 0, whose solution has been computed with 25 digits.
template <class Step, class System, int n = System::n, int m = System::m>
auto one_step(const System& system, const Vector<double, n>& q, const Vector<double, n>& v,
              const Vector<double, m>& lambda) {
  const auto beginning = at(system, 0.0);
  typename Step::State state{q, momentum(beginning, q, v), lambda};
  EXPECT_EQ(Step(beginning, to_round_off)(state, h).status, 0.0);
  return state;
}
constexpr double printed = 1e-11;

TEST(WorkedStates, MovingHolonomicConstraint) {
  using System = AtTime<BreathingSphere>;
  const double root = std::sqrt(14.0);
  const Vector<double, 3> q{2 / root, 1 / root, -3 / root}, v{.208519138097600, .729259569048800, .187221292853500};
  const auto two = one_step<LobattoStep<double, System, Cay, 2>>(BreathingSphere{}, q, v, {});
  EXPECT_LE(distance(two.q, {.552910476738, .356329320069, -.778603344821}), printed);
  EXPECT_LE(distance(two.p, {.0859616947887, .689975042012, .178577360905}), printed);
  EXPECT_LE(distance(two.lambda, {-.601403644911}), printed);
  const auto three = one_step<LobattoStep<double, System, Cay, 3>>(BreathingSphere{}, q, v, {});
  EXPECT_LE(distance(three.q, {.552838257390, .356059460121, -.778778062235}), printed);
  EXPECT_LE(distance(three.p, {.0858934452120, .690132076128, .178313585119}), printed);
  EXPECT_LE(distance(three.lambda, {-.587212671605}), printed);
}

TEST(WorkedStates, BothKindsOfConstraints) {
  using System = AtTime<BreathingSphereWithDrive>;
  const Vector<double, 4> q{.6, 0, -.8, .25}, v{.53375, .386029411764706, .205, .606617647058824};
  const Vector<double, 2> lambda{-.686592667027, .385877351860};
  const auto two = one_step<LobattoStep<double, System, Cay, 2>>(BreathingSphereWithDrive{}, q, v, lambda);
  EXPECT_LE(distance(two.q, {.660980318314, .0466918782855, -.774486046031, .326475074652}), printed);
  EXPECT_LE(distance(two.p, {.437961144403, .358272335334, .196085619577, .610164219674}), printed);
  EXPECT_LE(distance(two.lambda, {-.621974470973, .294095060796}), printed);
  const auto three = one_step<LobattoStep<double, System, Cay, 3>>(BreathingSphereWithDrive{}, q, v, lambda);
  EXPECT_LE(distance(three.q, {.660722509900, .0465594906974, -.774713964590, .326184487928}), printed);
  EXPECT_NEAR(three.lambda[1], .293006550141, printed);
}

TEST(WorkedStates, Splitting) {
  using System = AtTime<SwellingWell>;
  double numbers[max_method_numbers]{};
  const auto& composition = *std::find_if(std::begin(compositions), std::end(compositions),
                                          [](const Composition& c) { return c.name == std::string("blanes-moan4"); });
  write_composition(composition, true, numbers + CompositionNumbers::at_count);
  const SplitLobattoStep<double, System, Cay, 2> step(at(SwellingWell{}, 0.0), to_round_off, numbers);
  PhaseState<double, 2, 0> state{{.5, -.25}, {.25, .75}, {}};
  EXPECT_EQ(step(state, h).status, 0.0);
  EXPECT_LE(distance(state.q, {.528098281049, -.152792254374}), printed);
  EXPECT_LE(distance(state.p, {.197141405758, .801568766045}), printed);
}

}  // namespace
}  // namespace rattleback
