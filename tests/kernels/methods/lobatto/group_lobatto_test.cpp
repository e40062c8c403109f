// Lobatto pairs on Lie groups: stored states, orders, invariants, the forms of a step against each other, the fold of the
// Cayley map.

#include "eigen.hpp"
#include "representation.hpp"
#include "sweeps.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

using Disc = VerticalDisc<double>;
using SpaceBall = TurntableBall<double, TurntableVariant::space>;
using BodyBall = TurntableBall<double, TurntableVariant::body>;
using Top = HeavyTop<double>;
using Cone = HeavyTopCone<double>;

template <class Step, class System>
auto after(const System& system, double h, int steps) {
  return advance(Step(system, to_round_off), default_start(system), h, steps);
}

/// |a - b| <= 1e-13 in both forms of a step after `steps` steps of 0.1. Stored: 40-digit arithmetic.
template <class Tau, int S, class System>
void expect_stored(const System& system, int steps, const Configuration<System>& q, const Vector<double, System::n>& v,
                   const Vector<double, System::m>& lambda, double multiplier_tolerance = 1e-13) {
  const auto check = [&](const char* form, const auto& state) {
    SCOPED_TRACE(form);
    EXPECT_LT(distance(state.q, q), 1e-13);
    EXPECT_LT(distance(velocity(system, state.q, state.p), v), 1e-13);
    if constexpr (System::m > 0) {
      EXPECT_LT(distance(state.lambda, lambda), multiplier_tolerance);
    }
  };
  check("sweeps", after<GroupLobatto<double, System, Tau, S>>(system, 0.1, steps));
  check("Newton", after<GeneralLobatto<double, System, Tau, S>>(system, 0.1, steps));
}

TEST(GroupLobatto, GivesTheStoredStatesOfTheDisc) {
  const auto disc = make_default<Disc>();
  const auto at = [](double x, double y, double c, double s) { return Vector<double, 3>{x, y, std::atan2(s, c)}; };
  expect_stored<Cay, 2>(disc, 5, at(1.2314771712586278, 0.64307590103076115, 0.65880971753398714, 0.75230961450907171),
                        {0.39040181712069240, 0.0, 1.1}, {0.36775347351922030});
  expect_stored<Cay, 3>(disc, 5, at(1.2311784786453949, 0.64132938408752246, 0.65998258864790421, 0.75128089466032028),
                        {0.38916300123559746, 0.0, 1.1}, {0.35240151939724615});
  expect_stored<Exp, 2>(disc, 5, at(1.2313715637256156, 0.64275800618055212, 0.66009001075554890, 0.75118651325801859),
                        {0.39038952801548440, 0.0, 1.1}, {0.36187505226605583});
  expect_stored<Exp, 3>(disc, 5, at(1.2311786089466349, 0.64132928934660314, 0.65998318052795362, 0.75128037470721048),
                        {0.38916301278406917, 0.0, 1.1}, {0.35289114155640920});
}

TEST(GroupLobatto, GivesTheStoredStatesOfTheBall) {
  expect_stored<Cay, 3>(
      make_default<SpaceBall>(), 5,
      {0.96855601747924533, -0.24792901159279127, -0.020747197771395273, 0.24301808259839566, 0.96063584067927556,
       -0.13461423822397411, 0.053305276802049934, 0.12533948624852058, 0.99068085711394149, 0.87538227706123972,
       0.34168002077519287},
      {0.24171238289231209, 0.052682744993311288, 0.48503231174936639, -0.29762286307862653, 0.66439493630321135},
      {-0.18982681305429564, -0.085036063230927273});
  expect_stored<Cay, 3>(make_default<BodyBall>(), 5,
                        {0.96790079324448396, -0.25027232860153686, -0.023061135554501141, 0.24531757912530982,
                         0.96070514335869774, -0.12986497948346731, 0.054656562358019549, 0.12003911471061580,
                         0.99126347210552228, 0.87538227704697816, 0.34168002012455934},
                        {0.21098734074784154, 0.044057157231828102, 0.5, -0.29762286289273124, 0.66439493629913662},
                        {-0.18982673098085523, -0.085035288495880123});
  auto unequal = make_default<SpaceBall>();
  unequal.b = 0.5;
  unequal.c = 0.6;
  expect_stored<Exp, 2>(
      unequal, 5,
      {0.96814093496537419, -0.24939064439404388, -0.022526351970406867, 0.24421153797256422, 0.96024882343602551,
       -0.13521435504710116, 0.055352098112410586, 0.12540535705643621, 0.99056026654419256, 0.87354899166372803,
       0.34095331561694795},
      {0.24198474851313516, 0.044745651341130551, 0.49102949150518113, -0.30528512496543092, 0.66149390096615179},
      {-0.20760161095378743, -0.090090990829486887});
}

TEST(GroupLobatto, GivesTheStoredStatesOfTheTops) {
  expect_stored<Exp, 3>(
      make_default<Top>(), 5,
      {0.99794058584994594, 0.033601206182417276, 0.054640150590507734, -8.8335798143783748e-5, 0.85254090123718221,
       -0.52266050540908474, -0.064144986633823893, 0.52157930428725776, 0.85078813463104123},
      {0.50101475320568031, 0.77648157476718865, -0.70898082884016585}, {});
  const auto top = make_default<Top>();
  const auto state = after<GroupLobatto<double, Top, Cay, 2>>(top, 0.1, 5);
  EXPECT_LT(distance(velocity(top, state.q, state.p), {0.50038291820114210, 0.77672554454389379, -0.70894577500428684}),
            1e-13);
  // Lambda_s is a second difference of positions: its round-off is theirs over h b_s, 1e-16/0.017, over h
  expect_stored<Cay, 3>(
      make_default<Cone>(), 5,
      {0.93541760546082161, -0.036427565161329339, -0.35166309998400427, -0.15002431913212224, 0.85978348361378811,
       -0.48812402622067488, 0.32013529493463513, 0.50935782491423066, 0.79879158679580378},
      {0.46980778855065050, -0.018295522481959151, -0.59506308548221387}, {0.48517570668630271}, 3e-13);
}

/// log2 of the ratios of errors at h = end/steps and half of it.
template <class Error>
double slope(Error error, int steps) {
  return std::log2(error(steps) / error(2 * steps));
}

template <class Tau>
class DiscOrder : public ::testing::Test {};
using Retractions = ::testing::Types<Cay, Exp>;
TYPED_TEST_SUITE(DiscOrder, Retractions);

TYPED_TEST(DiscOrder, IsThatOfThePair) {
  const auto disc = make_default<Disc>();
  auto exact = default_start(disc);
  auto v = to_vector(Disc::default_v);
  ASSERT_TRUE(disc.exact(3.0, exact.q, v));
  Vector<double, 1> lambda;
  ASSERT_TRUE(detail::continuous_multiplier(disc, exact.q, v, lambda));
  const auto errors = [&]<int S>(std::integral_constant<int, S>, int steps) {
    const auto state = after<LobattoStep<double, Disc, TypeParam, S>>(disc, 3.0 / steps, steps);
    const Vector<double, 4> error{state.q[0] - exact.q[0], state.q[1] - exact.q[1],
                                  std::cos(state.q[2]) - std::cos(exact.q[2]),
                                  std::sin(state.q[2]) - std::sin(exact.q[2])};
    return std::array{max_norm(error), distance(velocity(disc, state.q, state.p), v), distance(state.lambda, lambda)};
  };
  const auto expect_slopes = [&](auto s, int steps, double tolerance, double multiplier_order) {
    SCOPED_TRACE("s = " + std::to_string(s()));
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(slope([&](int k) { return errors(s, k)[i]; }, steps), 2 * s() - 2, tolerance);
    EXPECT_NEAR(slope([&](int k) { return errors(s, k)[2]; }, steps), multiplier_order, 0.15);
  };
  expect_slopes(std::integral_constant<int, 2>{}, 96, 0.05, 2);
  expect_slopes(std::integral_constant<int, 3>{}, 96, 0.25, 2);
  expect_slopes(std::integral_constant<int, 4>{}, 48, 0.1, 4);
  expect_slopes(std::integral_constant<int, 5>{}, 12, 0.15, 4);

  const double cay[] = {2.608e-3, 4.963e-7, 5.857e-11}, exp[] = {1.976e-3, 1.818e-8, 5.549e-11};
  const double* observed = std::is_same_v<TypeParam, Cay> ? cay : exp;
  for_stages<2, 3, 4>([&](auto s) { EXPECT_NEAR(errors(s, 48)[0], observed[s() - 2], 0.01 * observed[s() - 2]); });
}

TEST(GroupLobatto, KeepsTheDiscUprightAndTurning) {
  const auto disc = make_default<Disc>();
  for_stages<2, 3, 4, 5>([&](auto s) {
    const LobattoStep<double, Disc, Cay, s()> step(disc, to_round_off);
    auto state = default_start(disc);
    for (int k = 0; k < 60; ++k) {
      ASSERT_EQ(step(state, 0.05).status, 0.0);
      const auto v = velocity(disc, state.q, state.p);
      EXPECT_LT(std::fabs(v[1]), 1e-14);
      EXPECT_LT(std::fabs(v[2] - 1.1), 1e-14);
    }
  });
}

/// Largest deviations of the invariants of the ball up to `end`.
template <class Step, class System>
auto drift(const System& ball, double h, double end) {
  const Step step(ball, to_round_off);
  auto state = default_start(ball);
  const auto invariants = [&] { return ball.evaluate_invariants(state.q, velocity(ball, state.q, state.p)); };
  const auto from = invariants();
  auto worst = from - from;
  double constraints = 0.0;
  for (int k = 0; k < std::lround(end / h); ++k) {
    EXPECT_EQ(step(state, h).status, 0.0);
    const auto now = invariants();
    for (int i = 0; i < from.size; ++i) worst[i] = std::max(worst[i], std::fabs(now[i] - from[i]));
    constraints = std::max(constraints, max_norm(constraint(ball, state.q, velocity(ball, state.q, state.p))));
  }
  EXPECT_LT(constraints, 1e-14);
  EXPECT_LT(SpaceBall::Group::defect(state.q), 1e-13);
  return worst;
}

template <class System, class Tau, int S>
void expect_moving_energy_error(double coarse, double fine, double factor, double spread) {
  const auto ball = make_default<System>();
  using Step = LobattoStep<double, System, Tau, S>;
  const auto at = drift<Step>(ball, 0.1, 40.0), half = drift<Step>(ball, 0.05, 40.0);
  for (int i = 1; i <= 3; ++i) EXPECT_LT(at[i], 5e-14) << "integral " << i;
  EXPECT_NEAR(at[0], coarse, 0.02 * coarse);
  EXPECT_NEAR(half[0], fine, 0.02 * fine);
  EXPECT_NEAR(at[0] / half[0], factor, spread);
}

TEST(GroupLobatto, KeepsTheIntegralsOfTheBall) {
  expect_moving_energy_error<SpaceBall, Cay, 2>(1.5457e-7, 9.659e-9, 16, 1);
  expect_moving_energy_error<BodyBall, Cay, 2>(1.5457e-7, 9.659e-9, 16, 1);
  expect_moving_energy_error<BodyBall, Cay, 3>(3.5295e-7, 2.188e-8, 16, 1);
  expect_moving_energy_error<BodyBall, Exp, 3>(3.2771e-7, 2.049e-8, 16, 1);
  expect_moving_energy_error<SpaceBall, Cay, 3>(1.9078e-9, 1.192e-10, 16, 1);
  expect_moving_energy_error<SpaceBall, Exp, 3>(1.9078e-9, 1.192e-10, 16, 1);
  expect_moving_energy_error<BodyBall, Cay, 4>(1.891e-10, 2.99e-12, 61, 5);
  const auto exact = drift<LobattoStep<double, SpaceBall, Cay, 4>>(make_default<SpaceBall>(), 0.1, 40.0);
  EXPECT_LT(exact[0], 5e-14);
}

TEST(GroupLobatto, ChangesTheMovingEnergyOfAnUnequalBallLikeItsOrder) {
  auto ball = make_default<SpaceBall>();
  ball.b = 0.5;
  ball.c = 0.6;
  const auto error = [&]<class Tau, int S>(Tau, std::integral_constant<int, S>, double h) {
    const LobattoStep<double, SpaceBall, Tau, S> step(ball, to_round_off);
    auto state = default_start(ball);
    // E - Om (x vy - y vx + (R I w)_3)
    const auto moving_energy = [&] {
      const auto i = ball.evaluate_invariants(state.q, velocity(ball, state.q, state.p));
      return i[0] - ball.spin * i[4];
    };
    const double from = moving_energy();
    double worst = 0.0;
    for (int k = 0; k < std::lround(20.0 / h); ++k) {
      EXPECT_EQ(step(state, h).status, 0.0);
      worst = std::max(worst, std::fabs(moving_energy() - from));
    }
    return worst;
  };
  const auto expect = [&](auto tau, auto s, double coarse, double middle, double fine) {
    EXPECT_NEAR(error(tau, s, 0.2), coarse, 0.03 * coarse);
    EXPECT_NEAR(error(tau, s, 0.1), middle, 0.03 * middle);
    EXPECT_NEAR(error(tau, s, 0.05), fine, 0.03 * fine);
  };
  const std::integral_constant<int, 2> two;
  const std::integral_constant<int, 3> three;
  const std::integral_constant<int, 4> four;
  expect(Cay{}, two, 1.43e-2, 2.99e-3, 7.26e-4);
  expect(Cay{}, three, 1.07e-4, 4.76e-6, 2.37e-7);
  expect(Cay{}, four, 1.07e-7, 1.35e-9, 2.02e-11);
  expect(Exp{}, two, 1.05e-2, 2.47e-3, 6.07e-4);
  expect(Exp{}, three, 2.18e-5, 1.31e-6, 8.10e-8);
  expect(Exp{}, four, 8.71e-8, 1.28e-9, 2.01e-11);
}

template <class System, class Tau>
void expect_position_errors(const double (&coarse)[3], const double (&spread)[3]) {
  const auto ball = make_default<System>();
  auto exact = default_start(ball);
  auto v = to_vector(System::default_v);
  ASSERT_TRUE(ball.exact(40.0, exact.q, v));
  for_stages<2, 3, 4>([&](auto s) {
    if (coarse[s() - 2] == 0.0) return;
    // the largest error on the way, against the circle
    const auto error = [&](double h) {
      const LobattoStep<double, System, Tau, s()> step(ball, to_round_off);
      auto state = default_start(ball);
      const double nu = 2.0 / 7.0, cx = -1.45, cy = -0.7;
      double worst = 0.0;
      for (int k = 1; k <= std::lround(40.0 / h); ++k) {
        EXPECT_EQ(step(state, h).status, 0.0);
        const double c = std::cos(nu * h * k), q = std::sin(nu * h * k);
        const double x = cx + c * (1.0 - cx) - q * (0.0 - cy), y = cy + q * (1.0 - cx) + c * (0.0 - cy);
        worst = std::max({worst, std::fabs(state.q[9] - x), std::fabs(state.q[10] - y)});
      }
      return worst;
    };
    const double at = error(0.1);
    EXPECT_NEAR(at, coarse[s() - 2], 0.02 * coarse[s() - 2]);
    EXPECT_NEAR(std::log2(at / error(0.05)), 2 * s() - 2, spread[s() - 2]);
  });
}

TEST(GroupLobatto, MovesTheBallOnItsCircle) {
  const double spread[] = {0.02, 0.15, 0.25};
  expect_position_errors<SpaceBall, Cay>({3.7325e-3, 1.6530e-8, 0.0}, spread);
  expect_position_errors<BodyBall, Cay>({3.7325e-3, 2.5578e-6, 8.706e-9}, spread);
  expect_position_errors<BodyBall, Exp>({3.7325e-3, 2.0078e-6, 3.030e-9}, spread);
}

TEST(GroupLobatto, MovesTheTopsWithItsOrder) {
  const auto check = [&]<class System>(const System& system, const Vector<double, 3>& reference, auto tau,
                                       double tolerance) {
    for_stages<2, 3, 4>([&](auto s) {
      const auto error = [&](int steps) {
        const auto state = after<LobattoStep<double, System, decltype(tau), s()>>(system, 3.0 / steps, steps);
        if constexpr (System::m > 0) {
          EXPECT_LT(max_norm(system.position_constraint(state.q)), 1e-14);
          EXPECT_LT(max_norm(constraint(system, state.q, velocity(system, state.q, state.p))), 1e-14);
        }
        return distance(velocity(system, state.q, state.p), reference);
      };
      EXPECT_NEAR(slope(error, s() == 4 ? 48 : 96), 2 * s() - 2, tolerance);
    });
  };
  const Vector<double, 3> free{-1.0737849198678450, 1.4085848561193131, -0.44476451226626664};
  check(make_default<Top>(), free, Exp{}, 0.05);
  check(make_default<Top>(), free, Cay{}, 0.1);
  const Vector<double, 3> held{0.76187245989879828, 1.0299680822760817, -1.3750437391578647};
  check(make_default<Cone>(), held, Exp{}, 0.15);
  check(make_default<Cone>(), held, Cay{}, 0.15);
}

// The chart is attached to the start of a step: where the group is not commutative, a step back does not retrace it
// exactly, but to the order of the method.
TEST(GroupLobatto, IsNotSymmetricWhereTheGroupIsNotCommutative) {
  const auto return_error = [](auto s, double h) {
    const auto top = make_default<Top>();
    const LobattoStep<double, Top, Cay, s()> step(top, to_round_off);
    const auto from = default_start(top);
    return distance(advance(step, advance(step, from, h, 20), -h, 20).q, from.q);
  };
  const std::integral_constant<int, 2> two;
  const std::integral_constant<int, 3> three;
  EXPECT_GT(return_error(two, 0.05), 1e-9);
  EXPECT_LT(return_error(two, 0.05), 1e-5);
  EXPECT_LT(return_error(three, 0.05), 1e-8);
  EXPECT_GT(return_error(two, 0.1) / return_error(two, 0.05), 3.5);
  EXPECT_GT(return_error(three, 0.1) / return_error(three, 0.05), 14.0);
}

/// The left-trivialised symplectic form <nu', xi> - <nu, xi'> + <mu, [xi, xi']> in the coordinates of (xi, nu); without the
/// bracket it is the control.
Eigen::Matrix<double, 6, 6> symplectic_form(const Vector<double, 3>& mu, bool with_bracket) {
  Eigen::Matrix<double, 6, 6> form = Eigen::Matrix<double, 6, 6>::Zero();
  for (int i = 0; i < 3; ++i) {
    form(i, 3 + i) = 1.0;
    form(3 + i, i) = -1.0;
    for (int j = 0; j < 3 && with_bracket; ++j) {
      Vector<double, 3> x{}, y{};
      x[i] = y[j] = 1.0;
      form(i, j) = dot(mu, cross(x, y));
    }
  }
  return form;
}

template <class Tau, int S>
double symplecticity_error(bool with_bracket) {
  using D = Dual<double, 1>;
  const auto top = make_system<HeavyTop<D>>([](int i) { return D(Top::parameters()[i].value); });
  const auto from = default_start(make_default<Top>());
  Eigen::Matrix<double, 6, 6> tangent;
  Vector<double, 3> mu;
  for (int k = 0; k < 6; ++k) {
    Vector<double, 3> xi{};
    if (k < 3) xi[k] = 1.0;
    StateOf<D, HeavyTop<D>> state;
    state.q = moving<SO3>(from.q, xi);
    for (int i = 0; i < 3; ++i) {
      state.p[i] = D(from.p[i]);
      state.p[i].partial[0] = k == 3 + i ? 1.0 : 0.0;
    }
    const GeneralLobatto<D, HeavyTop<D>, Tau, S> step(top, {D(0.0), 50});
    EXPECT_EQ(step(state, D(0.3)).status.value, 0.0);
    // R^T dR = hat(xi)
    Vector<double, 9> rotation, rate;
    for (int i = 0; i < 9; ++i) {
      rotation[i] = state.q[i].value;
      rate[i] = state.q[i].partial[0];
    }
    const auto out = Representation<SO3>::vee(SO3::matrix(SO3::product(SO3::inverse(rotation), rate)));
    for (int i = 0; i < 3; ++i) {
      tangent(i, k) = out[i];
      tangent(3 + i, k) = state.p[i].partial[0];
      mu[i] = state.p[i].value;
    }
  }
  return (tangent.transpose() * symplectic_form(mu, with_bracket) * tangent - symplectic_form(from.p, with_bracket))
      .cwiseAbs()
      .maxCoeff();
}

TEST(GroupLobatto, IsSymplectic) {
  EXPECT_LT((symplecticity_error<Cay, 2>(true)), 1e-13);
  EXPECT_LT((symplecticity_error<Exp, 3>(true)), 1e-13);
  EXPECT_LT((symplecticity_error<Cay, 4>(true)), 1e-13);
  EXPECT_LT((symplecticity_error<Exp, 8>(true)), 1e-13);
  EXPECT_GT((symplecticity_error<Cay, 2>(false)), 1e-2);
}

TEST(GroupLobatto, KeepsTheSpatialMomentumOfAFreeBody) {
  auto body = make_default<Top>();
  body.weight = 0.0;
  for_stages<2, 3, 4, 5, 8>([&](auto s) {
    const auto from = default_start(body);
    const auto to = advance(LobattoStep<double, Top, Cay, s()>(body, to_round_off), from, 0.1, 200);
    EXPECT_LT(distance(SO3::Ad_inverse_star(to.q, to.p), SO3::Ad_inverse_star(from.q, from.p)), 2e-14);
  });
}

/// The two forms of a step are the same map.
template <class System, class Tau, int S>
void expect_same_map() {
  const auto system = make_default<System>();
  const auto sweeps = after<GroupLobatto<double, System, Tau, S>>(system, 0.1, 50);
  const auto newton = after<GeneralLobatto<double, System, Tau, S>>(system, 0.1, 50);
  EXPECT_LT(distance(sweeps.q, newton.q), 1e-13);
  EXPECT_LT(distance(sweeps.p, newton.p), 1e-13);
  if constexpr (System::m > 0) {
    EXPECT_LT(distance(sweeps.lambda, newton.lambda),
              round_off_of_multiplier(S, 0.1) * std::max(1.0, max_norm(newton.lambda)));
  }
}

TEST(GroupLobatto, SweepsAndNewtonAreTheSameMap) {
  for_stages<2, 3, 4, 8>([](auto s) {
    expect_same_map<Disc, Cay, s()>();
    expect_same_map<SpaceBall, Cay, s()>();
    expect_same_map<Top, Exp, s()>();
    expect_same_map<Cone, Cay, s()>();
  });
  expect_same_map<SpaceBall, Cay, 5>();
  expect_same_map<DoubleSphericalPendulum<double>, Cay, 4>();
  expect_same_map<DoubleSphericalPendulum<double>, Cay, 5>();
}

/// A system on R^n as one on the group of translations.
template <template <class> class System>
struct AsGroup {
  template <class T>
  struct of : System<T> {
    using Group = Rn<System<T>::n>;
  };
};

/// On R^n the condensed form, the sweeps over the group of translations, and Newton's method are the same map.
template <template <class> class System, int S>
void expect_same_on_rn() {
  using Plain = System<double>;
  using Grouped = typename AsGroup<System>::template of<double>;
  const auto plain = make_default<Plain>();
  const Grouped grouped{plain};
  static_assert(on_group<Grouped> && Mechanical<Grouped> && Condensable<Plain>);
  const auto from = default_start(plain);
  const auto condensed = advance(CondensedLobatto<double, Plain, S>(plain, to_round_off), from, 0.1, 50);
  const auto sweeps = advance(GroupLobatto<double, Grouped, Cay, S>(grouped, to_round_off), from, 0.1, 50);
  const auto newton = advance(GeneralLobatto<double, Plain, Cay, S>(plain, to_round_off), from, 0.1, 50);
  for (const auto& other : {sweeps, newton}) {
    EXPECT_LT(distance(condensed.q, other.q), 1e-13);
    EXPECT_LT(distance(condensed.p, other.p), 1e-13);
    EXPECT_LT(distance(condensed.lambda, other.lambda), round_off_of_multiplier(S, 0.1));
  }
}
template <class T>
using Contact = Chaotic<T, 2, ChaoticVariant::contact>;

TEST(GroupLobatto, AgreesWithTheCondensedFormOnRn) {
  for_stages<2, 3, 4, 8>([](auto s) {
    expect_same_on_rn<NonholonomicParticle, s()>();
    expect_same_on_rn<Contact, s()>();
    expect_same_on_rn<HenonHeiles, s()>();
  });
}

// A free body with equal moments, tau = cay: no solution beyond the fold, and never a wrong one.
TEST(GroupLobatto, ReportsTheFoldOfTheCayleyMap) {
  Top body{1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  const double h = 0.1;
  const auto status = [&]<class Tau, int S>(Tau, std::integral_constant<int, S>, double angle) {
    const LobattoStep<double, Top, Tau, S> step(body, {1e-16, 50});
    auto state = start(body, SO3::identity<double>(), {0.0, 0.0, angle / h});
    const double result = step(state, h).status;
    if (result == 0.0) {
      EXPECT_LT(distance(velocity(body, state.q, state.p), {0.0, 0.0, angle / h}), 1e-12 * angle / h);
      const auto turned = Chart<SO3, Exp, double>::inverse(state.q);
      EXPECT_GT(turned[2], 0.0);
      EXPECT_LT(turned[2], angle + 0.7);  // on this side of the fold
    }
    return result;
  };
  const std::integral_constant<int, 2> two;
  EXPECT_EQ(status(Cay{}, two, 0.70), 0.0);
  EXPECT_EQ(status(Cay{}, two, 0.75), 0.0);
  EXPECT_EQ(status(Cay{}, two, 0.76), status_fold);
  EXPECT_EQ(status(Cay{}, two, 0.80), status_fold);
  EXPECT_EQ(status(Cay{}, std::integral_constant<int, 3>{}, 1.5), 0.0);
  EXPECT_EQ(status(Cay{}, std::integral_constant<int, 3>{}, 1.6), status_fold);
  EXPECT_EQ(status(Cay{}, std::integral_constant<int, 6>{}, 2.33), 0.0);
  EXPECT_EQ(status(Cay{}, std::integral_constant<int, 7>{}, 2.44), 0.0);
  EXPECT_EQ(status(Cay{}, std::integral_constant<int, 7>{}, 2.45), status_fold);
  EXPECT_EQ(status(Cay{}, std::integral_constant<int, 8>{}, 2.52), 0.0);
  EXPECT_EQ(status(Cay{}, std::integral_constant<int, 8>{}, 2.53), status_fold);
  EXPECT_EQ(status(Exp{}, two, 0.80), 0.0);
  EXPECT_EQ(status(Exp{}, two, 2.5), 0.0);
}

}  // namespace
}  // namespace rattleback
