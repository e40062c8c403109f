// Systems on Lie groups along the motion of their continuous equations: reference values, invariants, exact solutions,
// geometry of the constraints.

#include "group_motion.hpp"
#include "rattleback/systems/nonholonomic/rattleback.hpp"
#include "rattleback/systems/nonholonomic/suslov.hpp"
#include "rattleback/systems/nonholonomic/turntable_ball.hpp"
#include "rattleback/systems/nonholonomic/vertical_disc.hpp"
#include "rattleback/systems/unconstrained/heavy_top.hpp"

namespace rattleback {
namespace {

using namespace motions;
using Disc = VerticalDisc<double>;
using SpaceBall = TurntableBall<double, TurntableVariant::space>;
using BodyBall = TurntableBall<double, TurntableVariant::body>;
using Top = HeavyTop<double>;
using Cone = HeavyTopCone<double>;
using Celt = Rattleback<double>;
using Body = Suslov<double>;

// --- all systems ---

template <class System>
class GroupSystem : public ::testing::Test {
 protected:
  static constexpr int n = System::n, m = System::m;
  using G = group_of<System>;
  /// Calls f(system, q, v) for systems with parameters about the default ones, and states on the constraint.
  template <class F>
  void at_random_points(F f) {
    Random random(1);
    // far from rest the rattleback turns by some 100 radians a second
    constexpr double distance = std::is_same_v<System, Celt> ? 0.02 : 0.5;
    for (int trial = 0; trial < 20; ++trial) {
      const auto system =
          make_system<System>([&](int i) { return parameters_of<System>()[i].value * random.uniform(0.7, 1.3); });
      const auto state = random_start(system, random, distance);
      f(system, Motion<System>{state.q, velocity(system, state.q, state.p)});
    }
  }
};
using Systems = ::testing::Types<Disc, SpaceBall, BodyBall, Top, Cone, Celt, Body>;
TYPED_TEST_SUITE(GroupSystem, Systems);

TYPED_TEST(GroupSystem, StartsOnTheGroupAndOnTheConstraint) {
  const auto system = make_default<TypeParam>();
  const auto x = default_motion<TypeParam>();
  EXPECT_LE(TestFixture::G::defect(x.q), 3e-16);
  EXPECT_LE(max_norm(constraint(system, x.q, x.v)), 2e-16);
  if constexpr (is_holonomic<TypeParam>) {
    EXPECT_LE(max_norm(system.position_constraint(x.q)), 2e-16);
  }
}

// along g exp(e zeta), by differences of order 8
TYPED_TEST(GroupSystem, ForceIsMinusTheTrivialisedDerivativeOfThePotential) {
  this->at_random_points([](const auto& system, const auto& x) {
    using G = typename TestFixture::G;
    const auto f = force(system, x.q);
    for (int i = 0; i < TestFixture::n; ++i) {
      constexpr double e = 0x1p-6, weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
      double slope = 0.0;
      for (int k = 1; k <= 4; ++k)
        for (const int sign : {-1, 1}) {
          auto zeta = Vector<double, TestFixture::n>::zero();
          zeta[i] = sign * k * e;
          slope += sign * weight[k - 1] / e * system.potential(G::product(x.q, Chart<G, Exp, double>(zeta).tau()));
        }
      EXPECT_NEAR(f[i], -slope, 1e-13) << i;
    }
  });
}

TYPED_TEST(GroupSystem, InvariantsAreConstantAlongTheMotion) {
  constexpr auto listed = observables<TypeParam>();
  this->at_random_points([&](const auto& system, const auto& x) {
    const auto first = evaluate_observables(system, x.q, x.v);
    const auto last = flow(system, x, 0.1, 0.001);
    const auto after = evaluate_observables(system, last.q, last.v);
    EXPECT_GE(distance(last.v, x.v), 1e-5);
    EXPECT_LE(TestFixture::G::defect(last.q), 1e-13);
    for (int i = 0; i < int(listed.size()); ++i) {
      if (listed[i].conserved || std::string(listed[i].name).find("constraint") != std::string::npos) {
        EXPECT_NEAR(after[i], first[i], 2e-13 * std::max(1.0, std::fabs(first[i]))) << listed[i].name;
      }
    }
  });
}

// --- vertical disc ---

TEST(VerticalDisc, HasTheKnownStateAtTimeThree) {
  const auto system = make_default<Disc>();
  auto x = default_motion<Disc>();
  const auto flowed = flow(system, x, 3.0);
  ASSERT_TRUE(system.exact(3.0, x.q, x.v));
  for (const auto& y : {flowed, x}) {
    EXPECT_LE(distance(y.q, {1.0686602929035553, 0.69984253900433768, 0.3 + 3.3}), 2e-14);
    EXPECT_LE(distance(y.v, {0.54689377349319390, 0.0, 1.1}), 2e-14);
    EXPECT_NEAR(multiplier(system, y)[0], 1.0484806412715168, 2e-14);
  }
}

TEST(VerticalDisc, ExactSolutionIsTheFlow) {
  for (const Disc& system : {Disc{2.0, 0.5, 1.0}, Disc{1.3, 0.2, 4.0}, Disc{1.0, 1.0, 0.0}})
    for (const double w : {1.1, -0.6, 0.0, 1e-5}) {
      Motion<Disc> x{{1.0, 0.5, 0.3}, {0.7, 0.0, w}};
      const auto flowed = flow(system, x, 2.0);
      ASSERT_TRUE(system.exact(2.0, x.q, x.v));
      EXPECT_LE(std::max(distance(x.q, flowed.q), distance(x.v, flowed.v)), 1e-14) << system.stiffness << " " << w;
    }
  Motion<Disc> x{{1.0, 0.5, 0.3}, {0.7, 0.0, 0.2}};
  EXPECT_FALSE((Disc{1.0, 1.0, -1.0}.exact(1.0, x.q, x.v)));
}

// --- ball on a turntable ---

TEST(TurntableBall, CentreRunsInTheKnownCircle) {
  const auto check = [](const auto& system) {
    using System = std::remove_cvref_t<decltype(system)>;
    const auto start = default_motion<System>();
    const double expected[] = {0.5, -0.4142857142857143, -0.2, -0.359}, nu = 2.0 / 7.0;
    for (const double t : {1.0, 7.0}) {
      const auto x = flow(system, start, t);
      // about (-1.45, -0.7), from (1, 0)
      const double c = std::cos(nu * t), s = std::sin(nu * t);
      EXPECT_NEAR(x.q[System::x], -1.45 + c * 2.45 - s * 0.7, 1e-14);
      EXPECT_NEAR(x.q[System::y], -0.7 + s * 2.45 + c * 0.7, 1e-14);
      for (int i = 0; i < 3; ++i)
        EXPECT_NEAR(value(system, x, "integral_" + std::to_string(i + 1)), expected[i], 1e-14);
      EXPECT_NEAR(value(system, x, "moving_energy"), expected[3], 4e-14);
    }
    EXPECT_GE(change(system, start, "energy"), 0.1);
  };
  check(make_default<SpaceBall>());
  check(make_default<BodyBall>());
}

TEST(TurntableBall, ExactSolutionIsTheFlow) {
  const auto check = [](const auto& system) {
    using System = std::remove_cvref_t<decltype(system)>;
    Random random(2);
    for (int trial = 0; trial < 5; ++trial) {
      const auto state = random_start(system, random, 0.5);
      Motion<System> x{state.q, velocity(system, state.q, state.p)};
      const auto from = x, flowed = flow(system, x, 4.0);
      ASSERT_TRUE(system.exact(4.0, x.q, x.v));
      EXPECT_LE(std::max(distance(x.q, flowed.q), distance(x.v, flowed.v)), 3e-14);
      ASSERT_TRUE(system.exact(-4.0, x.q, x.v));
      EXPECT_LE(std::max(distance(x.q, from.q), distance(x.v, from.v)), 3e-14);
    }
  };
  check(make_default<SpaceBall>());
  check(make_default<BodyBall>());
  check(SpaceBall{0.7, 0.0, 0.4, 0.4, 0.4});
  check(SpaceBall{1.2, -1.5, 2.0 / 3, 2.0 / 3, 2.0 / 3});
  auto x = default_motion<SpaceBall>();
  EXPECT_FALSE((SpaceBall{1.0, 1.0, 0.4, 0.5, 0.6}.exact(1.0, x.q, x.v)));
}

TEST(TurntableBall, IntegralsThatUnequalMomentsKeep) {
  const SpaceBall space{1.0, 1.0, 0.4, 0.5, 0.6};
  const BodyBall body{1.0, 1.0, 0.4, 0.5, 0.6};
  const auto start = default_motion<SpaceBall>();
  EXPECT_LE(change(space, start, "moving_energy"), 2e-14);
  EXPECT_LE(change(space, start, "vertical_momentum"), 2e-14);
  const auto body_start = default_motion<BodyBall>();
  EXPECT_LE(change(body, body_start, "moving_energy"), 2e-14);
  for (const char* name : {"energy", "integral_1", "integral_2", "integral_3"}) {
    EXPECT_GE(change(space, start, name), 1e-3) << name;
    EXPECT_GE(change(body, body_start, name), 1e-3) << name;
  }
}

// The constraint is the velocity of the lowest point of the ball against the table below it.
TEST(TurntableBall, RollsOnTheTable) {
  const SpaceBall system{0.8, 1.3, 0.4, 0.5, 0.6};
  Random random(3);
  for (int trial = 0; trial < 10; ++trial) {
    const auto q = detail::displaced<SpaceBall>(to_vector(SpaceBall::default_q), random.vector<5>(-1.0, 1.0));
    const auto v = random.vector<5>(-1.0, 1.0);
    const auto turn = SO3::Ad(segment<0, 9>(q), segment<0, 3>(v));
    const auto below = cross(turn, {0.0, 0.0, -0.8}),
               table = cross(Vector<double, 3>{0.0, 0.0, 1.3}, {q[9], q[10], 0.0});
    EXPECT_LE(distance(constraint(system, q, v), {v[3] + below[0] - table[0], v[4] + below[1] - table[1]}), 1e-15);
  }
}

// --- heavy tops ---

TEST(HeavyTop, HasTheKnownVelocityAtTimeThree) {
  const auto x = flow(make_default<Top>(), default_motion<Top>(), 3.0);
  EXPECT_LE(distance(x.v, {-1.0737849198678450, 1.4085848561193131, -0.44476451226626664}), 1e-14);
}

TEST(HeavyTop, OnTheConeHasTheKnownVelocityAndMultiplierAtTimeThree) {
  const auto system = make_default<Cone>();
  const auto x = flow(system, default_motion<Cone>(), 3.0);
  EXPECT_LE(distance(x.v, {0.76187245989879828, 1.0299680822760817, -1.3750437391578647}), 1e-14);
  EXPECT_NEAR(multiplier(system, x)[0], -0.11197115931427251, 1e-14);
  EXPECT_LE(max_norm(system.position_constraint(x.q)), 1e-14);
}

TEST(HeavyTop, IntegralsOfSpecialTops) {
  const auto start = default_motion<Top>();
  const Top general{1.0, 1.4, 0.7, 0.9, 0.1, -0.2, 0.8}, lagrange{1.0, 1.0, 0.5, 1.0, 0.0, 0.0, 1.0},
      free{1.3, 1.0, 0.4, 0.0, 0.0, 0.0, 1.0};
  for (const char* name : {"spatial_momentum_1", "spatial_momentum_2", "axial_momentum"})
    EXPECT_GE(change(general, start, name), 0.1) << name;
  for (const Top& system : {general, lagrange, free}) EXPECT_LE(change(system, start, "spatial_momentum_3"), 1e-14);
  EXPECT_LE(change(lagrange, start, "axial_momentum"), 1e-14);
  EXPECT_LE(change(free, start, "spatial_momentum_1"), 1e-14);
  EXPECT_LE(change(free, start, "spatial_momentum_2"), 1e-14);
  // on the cone the force of the constraint has a moment about the vertical
  const auto cone = make_default<Cone>();
  EXPECT_GE(change(cone, default_motion<Cone>(), "spatial_momentum_3"), 0.1);
  auto symmetric = cone, weightless = cone;
  symmetric.moment_2 = symmetric.moment_1;
  EXPECT_LE(change(symmetric, projected(symmetric, default_motion<Cone>()), "axial_momentum"), 1e-14);
  weightless.weight = 0.0;
  EXPECT_LE(change(weightless, default_motion<Cone>(), "spatial_momentum_1"), 1e-14);
}

// --- Suslov's problem ---

// by extrapolation to order 20 with 30 digits, of the reduced equations for w1, w2
TEST(Suslov, HasTheKnownStateAtTimeFive) {
  const auto free = make_default<Body>();
  Body heavy = free;
  heavy.weight = 0.9, heavy.centre_1 = 0.5, heavy.centre_2 = -0.3, heavy.centre_3 = 0.7;
  const auto start = default_motion<Body>();
  auto x = flow(free, start, 5.0), y = start;
  ASSERT_TRUE(free.exact(5.0, y.q, y.v));
  for (const auto& z : {x, y}) {
    EXPECT_LE(distance(z.q, {-0.0214514082131339087, 0.778989522761502903, -0.626669897564482861,  //
                             0.126526372916972181, 0.623889534003470815, 0.771202260316583435,     //
                             0.991731271082115661, -0.0627468946541419227, -0.111946027929146446}),
              2e-14);
    EXPECT_LE(distance(z.v, {0.572814234358553597, 0.68758576239945933, 0.0}), 4e-15);
    EXPECT_NEAR(multiplier(free, z)[0], 0.147653704756520931, 4e-15);
  }
  x = flow(heavy, start, 5.0);
  EXPECT_LE(distance(x.q, {0.866670959948624076, -0.287893995229156376, -0.407429128429380867,  //
                           0.15687371956459144, 0.932529118827747747, -0.3252384950283626,      //
                           0.47357373585504123, 0.21795983586280021, 0.853358908466397173}),
            2e-14);
  EXPECT_LE(distance(x.v, {0.824660508443601125, 0.437900039166279658, 0.0}), 1e-14);
  EXPECT_NEAR(multiplier(heavy, x)[0], 0.428650441744746734, 1e-14);
  EXPECT_FALSE(heavy.exact(1.0, x.q, x.v));
}

TEST(Suslov, ExactSolutionIsTheFlow) {
  Random random(4);
  const Body systems[] = {make_default<Body>(),
                          {1.0, 0.4, 1.2, 0.0, 0.5, 0.0, 0.6, 0.8, 0.0},
                          {2.0, 1.4, 1.2, 0.0, 0.0, 0.0, 0.6, 0.8, 0.0}};
  for (const Body& system : systems)
    for (int trial = 0; trial < 5; ++trial) {
      auto x = default_motion<Body>();
      x.v = random.vector<3>(-1.5, 1.5);
      x.v[2] = 0.0;
      const auto from = x, flowed = flow(system, x, 4.0);
      ASSERT_TRUE(system.exact(4.0, x.q, x.v));
      EXPECT_LE(std::max(distance(x.q, flowed.q), distance(x.v, flowed.v)), 3e-14);
      ASSERT_TRUE(system.exact(-4.0, x.q, x.v));
      EXPECT_LE(std::max(distance(x.q, from.q), distance(x.v, from.v)), 1e-12);  // the motion contracts
    }
}

// All free motions tend to steady rotations with I13 w1 + I23 w2 = 0, from one sense of it to the other.
TEST(Suslov, TendsToSteadyRotations) {
  const auto system = make_default<Body>();
  const auto start = default_motion<Body>();
  auto late = start, early = start;
  ASSERT_TRUE(system.exact(100.0, late.q, late.v) && system.exact(-100.0, early.q, early.v));
  EXPECT_NEAR(system.product_13 * late.v[0] + system.product_23 * late.v[1], 0.0, 1e-8);
  EXPECT_LE(distance(late.v, -early.v), 1e-7);
}

TEST(Suslov, KharlamovaIntegral) {
  const auto start = default_motion<Body>();
  const Body kharlamova{1.0, 1.4, 1.2, 0.0, 0.0, 0.9, 0.6, 0.8, 0.0};
  EXPECT_LE(change(kharlamova, start, "kharlamova_integral"), 1e-14);
  EXPECT_GE(distance(flow(kharlamova, start, 3.0).v, start.v), 0.1);
  Body skew = kharlamova, raised = kharlamova;
  skew.product_13 = 0.3;
  raised.centre_3 = 0.5;
  EXPECT_GE(change(skew, start, "kharlamova_integral"), 1e-3);
  EXPECT_GE(change(raised, start, "kharlamova_integral"), 1e-3);
}

}  // namespace
}  // namespace rattleback
