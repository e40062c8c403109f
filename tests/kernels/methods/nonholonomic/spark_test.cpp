// SPARK: states and errors of an independent implementation, its scheme of two stages written anew, its forms, orders and structure,
// and motions that contract.

#include "rattleback/methods/nonholonomic/spark.hpp"

#include <algorithm>
#include <array>

#include "nonholonomic_lobatto.hpp"

namespace rattleback {
namespace {

template <class System, int S>
SparkStep<double, System, S> spark(const System& system) {
  return {system, to_round_off};
}
template <class System, int S>
GeneralLobatto<double, System, Cay, S, false, true> newton(const System& system) {
  return {system, to_round_off};
}

double energy_of(const auto& system, const auto& state) {
  return energy(system, state.q, velocity(system, state.q, state.p));
}

TEST(Spark, GoldStates) {
  const auto expect = [](const auto& step, const auto& system, const auto& start, const auto& q, double gold_energy) {
    const auto end = advance(step, start, 0.1, 10);
    for (std::size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(end.q[int(i)], q[i], 1e-13);
    EXPECT_NEAR(energy_of(system, end), gold_energy, 1e-13);
  };
  const std::array particle{1.0232371567761506, 0.94332782416281793, -0.0074549064595267236},
      contact{1.2605265151104729, 0.56817016956666900, 0.084618836428395814};
  const auto chaotic = start(Contact{}, Member(13, 31).q, Member(13, 31).v);
  expect(spark<Particle, 3>({}), Particle{}, default_start(Particle{}), particle, 1.0450000476638204);
  expect(newton<Particle, 3>({}), Particle{}, default_start(Particle{}), particle, 1.0450000476638204);
  expect(spark<Contact, 3>({}), Contact{}, chaotic, contact, 3.0600030596673347);
  expect(newton<Contact, 3>({}), Contact{}, chaotic, contact, 3.0600030596673347);
}

TEST(Spark, ErrorsOfTheParticle) {
  const auto there = default_start(Particle{});
  const auto exact = advance(LobattoStep<double, Particle, Cay, 8>(Particle{}, to_round_off), there, 1.0 / 16, 80);
  const auto error = [&](const auto& step) { return distance(advance(step, there, 1.0 / 16, 80).q, exact.q); };
  EXPECT_NEAR(error(spark<Particle, 3>({})), 1.7460e-7, 1.7460e-9);
  EXPECT_NEAR(error(spark<Particle, 4>({})), 3.526e-11, 3.526e-13);
}

TEST(Spark, EnergyErrorsOfTheChaoticEnsemble) {
  double sum = 0.0;
  for (int j = 0; j <= 1023; ++j) {
    const Member member(j, 1023);
    const auto end = advance(spark<Contact, 2>({}), start(Contact{}, member.q, member.v), 0.1, 100);
    sum += square(energy_of(Contact{}, end) - 3.06);
  }
  EXPECT_NEAR(sum / 1024, 2.962023e-6, 1e-12);
}

// --- two stages and constant mass: the discrete Lagrange-d'Alembert scheme of the trapezoidal L_d and constraint ---

/// With u = (q' - q)/h:  M u - h/2 F(q) = p + h/2 A(q)^T L_1,  (A(q) + A(q')) u + d(q) + d(q') = 0,
///                       p' = M u + h/2 F(q') + h/2 A(q')^T L_2,  A(q') M^-1 p' + d(q') = 0.
template <class System>
struct DiscreteLagrangeDAlembert {
  static constexpr int n = System::n, m = System::m;
  System system;

  StepReport<double> operator()(PhaseState<double, n, m>& state, double h) const {
    const auto forms = [&](const Vector<double, n>& q) {
      const auto mu = system.constraint_matrix(q);
      Mat a(m, n);
      for (int k = 0; k < m; ++k)
        for (int i = 0; i < n; ++i) a(k, i) = mu[k][i];
      return a;
    };
    const auto phi = [&](const Vector<double, n>& q, const Vec& u) {
      return to_eigen(constraint(system, q, from_eigen<n>(u)));
    };
    const auto momentum_of = [&](const Vec& u) { return to_eigen(momentum(system, state.q, from_eigen<n>(u))); };
    const auto force_at = [&](const Vector<double, n>& q) {
      return to_eigen(configuration_force(system, q, Vector<double, n>::zero()));
    };
    const Vec p = to_eigen(state.p);
    const auto end_of = [&](const Vec& u) { return state.q + h * from_eigen<n>(u); };
    const Vec first = solve_numerically(
        [&](const Vec& x) {
          const Vec u = x.head(n);
          Vec r(n + m);
          r.head(n) = momentum_of(u) - p - h / 2 * (force_at(state.q) + forms(state.q).transpose() * Vec(x.tail(m)));
          r.tail(m) = phi(state.q, u) + phi(end_of(u), u);
          return r;
        },
        (Vec(n + m) << to_eigen(velocity(system, state.q, state.p)), Vec::Zero(m)).finished());
    const Vec u = first.head(n);
    const Vector<double, n> q = end_of(u);
    const auto p_with = [&](const Vec& l) {
      return Vec(momentum_of(u) + h / 2 * (force_at(q) + forms(q).transpose() * l));
    };
    const Vec last = solve_numerically(
        [&](const Vec& l) { return phi(q, to_eigen(velocity(system, q, from_eigen<n>(p_with(l))))); }, Vec::Zero(m));
    state.q = q;
    state.p = from_eigen<n>(p_with(last));
    return {0.0, 0.0, 0.0};
  }
};

/// A particle that two constraints drive, one of them with an offset, in a constant mass matrix with entries off the diagonal.
template <class T>
struct Driven {
  using scalar = T;
  static constexpr int n = 4, m = 2;
  static constexpr auto kind = ConstraintKind::velocity;
  static constexpr std::array<double, 4> default_q{0.7, 0.3, -0.2, 0.4}, default_v{0.5, -0.4, 0.3, -0.7};

  RB_HD Matrix<T, n, n> mass_matrix() const {
    const T o(0.0), u(0.25);
    return {{{T(1.5), u, o, o}, {u, T(1.0), o, o}, {o, o, T(0.75), u}, {o, o, u, T(2.0)}}};
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * (q[0] * q[0] + q[1] * q[1]) + cos(q[2]) * q[3];
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{-q[1], S(0.0), S(1.0), S(0.2)}, {S(0.3), sin(q[0]), S(0.0), S(1.0)}}};
  }
  template <class S>
  RB_HD Vector<S, m> constraint_offset(const Vector<S, n>& q) const {
    return {S(0.1) * q[0] * q[2], S(0.2) * cos(q[1])};
  }
};
/// A state of `Driven` on its constraint.
auto driven_start() {
  Random random(5);
  return random_start(Driven<double>{}, random, 0.0);
}

TEST(Spark, WithTwoStagesIsTheTrapezoidalScheme) {
  const auto expect = [](const auto& system, auto state) {
    using System = std::remove_cvref_t<decltype(system)>;
    const auto step = spark<System, 2>(system);
    const DiscreteLagrangeDAlembert<System> other{system};
    for (int k = 0; k < 10; ++k) {
      auto next = state;
      other(next, 0.1);
      state = advance(step, state, 0.1, 1);
      ASSERT_LE(std::max(distance(state.q, next.q), distance(state.p, next.p)), 1e-13) << "step " << k;
    }
  };
  expect(Particle{}, default_start(Particle{}));
  expect(cvt, default_start(cvt));
  expect(Contact{}, start(Contact{}, Member(13, 31).q, Member(13, 31).v));
  expect(Driven<double>{}, driven_start());
}

// --- forms of the same map ---

/// L with a term of fourth order in v.
template <class T>
struct Quartic {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::velocity;
  static constexpr bool quadratic = false;
  static constexpr std::array<double, 3> default_q{1.0, 0.5, 0.0}, default_v{0.5, 0.4, 0.25};

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    return S(0.5) * square + S(0.125) * (square * square) - S(0.5) * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  }
  template <class S>
  RB_HD Vector<S, m> constraint_offset(const Vector<S, n>&) const {
    return {S(0.0)};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{-q[1], S(0.0), S(1.0)}}};
  }
};

/// The sleigh on a turntable: the mass matrix varies, and the constraint has an offset.
template <class T>
struct Turntable : ChaplyginSleigh<T> {
  template <class S>
  RB_HD Vector<S, 1> constraint_offset(const Vector<S, 3>& q) const {
    S s, c;
    sincos(q[2], s, c);
    return {S(0.3) * (s * q[1] + c * q[0])};
  }
};
auto turntable_start() {
  const auto system = make_default<Turntable<double>>();
  Random random(5);
  return random_start(system, random, 0.0);
}

TEST(Spark, FastFormsAndNewtonFindTheSameStep) {
  const auto expect = [](const auto& system, const auto& start) {
    using System = std::remove_cvref_t<decltype(system)>;
    for_stages<2, 3, 8>([&](auto s) {
      auto state = start;
      const auto fast = spark<System, s()>(system);
      const auto general = newton<System, s()>(system);
      for (int k = 0; k < 20; ++k) {
        const auto other = advance(general, state, 0.1, 1);
        state = advance(fast, state, 0.1, 1);
        ASSERT_LE(distance(state, other), 5e-14) << "step " << k;
      }
    });
  };
  expect(Particle{}, default_start(Particle{}));
  expect(Driven<double>{}, driven_start());
  expect(make_default<Sleigh>(), default_start(make_default<Sleigh>()));
  expect(make_default<Turntable<double>>(), turntable_start());
  expect(Quartic<double>{}, default_start(Quartic<double>{}));
}

// --- orders ---

/// Slopes of the errors of q and p from h = 1/16 to 1/32, against the nonholonomic Lobatto pair with eight stages.
template <class System, class State>
void expect_orders(const System& system, const State& there, double time, double tolerance) {
  constexpr double h = 1.0 / 16;
  const int steps = static_cast<int>(std::lround(time / h));
  const auto exact = advance(LobattoStep<double, System, Cay, 8>(system, to_round_off), there, h, steps);
  for_stages<2, 3, 4>([&](auto s) {
    const auto step = spark<System, s()>(system);
    const auto coarse = advance(step, there, h, steps), fine = advance(step, there, h / 2, 2 * steps);
    EXPECT_NEAR(std::log2(distance(coarse.q, exact.q) / distance(fine.q, exact.q)), 2 * s() - 2, tolerance);
    EXPECT_NEAR(std::log2(distance(coarse.p, exact.p) / distance(fine.p, exact.p)), 2 * s() - 2, tolerance);
  });
}

TEST(Spark, HasTheOrderTwiceTheStagesLessTwo) {
  expect_orders(Particle{}, default_start(Particle{}), 5.0, 0.03);
  expect_orders(Contact{}, start(Contact{}, Member(13, 31).q, Member(13, 31).v), 2.0, 0.03);
  expect_orders(cvt, start(cvt, {1, 0, 1}, cvt_low), 5.0, 0.1);
  expect_orders(make_default<Sleigh>(), default_start(make_default<Sleigh>()), 2.0, 0.1);
  expect_orders(Driven<double>{}, driven_start(), 2.0, 0.1);
  expect_orders(make_default<Turntable<double>>(), turntable_start(), 2.0, 0.1);
  expect_orders(Quartic<double>{}, default_start(Quartic<double>{}), 2.0, 0.1);
}

// --- structure ---

TEST(Spark, KeepsTheConstraintAndIsSymmetric) {
  const auto expect = [](const auto& system, const auto& there, int steps) {
    using System = std::remove_cvref_t<decltype(system)>;
    for_stages<2, 3, 8>([&](auto s) {
      const auto step = spark<System, s()>(system);
      const auto back = advance(step, advance(step, there, 0.1, 20), -0.1, 20);
      EXPECT_LE(distance(back, there), 1e-13);
      auto state = there;
      double worst = 0.0;
      for (int k = 0; k < steps; ++k) {
        state = advance(step, state, 0.1, 1);
        worst = std::max(worst, max_norm(constraint(system, state.q, velocity(system, state.q, state.p))));
      }
      EXPECT_LE(worst, 1e-14);
      EXPECT_EQ(distance(state.lambda, there.lambda), 0.0);  // not carried
    });
  };
  expect(Contact{}, start(Contact{}, Member(13, 31).q, Member(13, 31).v), 500);
  expect(cvt, start(cvt, {1, 0, 1}, cvt_high), 500);
  expect(make_default<Sleigh>(), default_start(make_default<Sleigh>()), 300);
  expect(Driven<double>{}, driven_start(), 300);
}

TEST(Spark, KeepsTheHiddenIntegral) {
  const auto there = start(Printed{}, Member(13, 31).q, Member(13, 31).v);
  const auto integral = [](const auto& state) {  // of the printed variant, whose constraint is integrable
    double sum = state.q[0];
    for (int i = 4; i < 7; ++i) sum += state.q[i] * state.q[i] / 2;
    return sum;
  };
  for_stages<2, 3>([&](auto s) {
    EXPECT_NEAR(integral(advance(spark<Printed, s()>({}), there, 0.1, 1000)), integral(there), 2e-13);
  });
}

// --- motions that contract ---

/// A sleigh in the coordinates of its centre of mass, U = 0.
template <class T>
struct CentredSleigh {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  RB_HD Vector<T, n> mass_diagonal() const { return {T(1.0), T(1.0), T(0.5)}; }
  template <class S>
  RB_HD S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    S s, c;
    sincos(q[2], s, c);
    return {{{-s, c, S(-0.4)}}};
  }
};
/// The roller racer, U = 0: x, y, theta, phi.
template <class T>
struct Racer {
  using scalar = T;
  static constexpr int n = 4, m = 2;
  static constexpr double d1 = 0.6, d2 = 0.3;
  RB_HD Matrix<T, n, n> mass_matrix() const {
    const T o(0.0), i(0.05);
    return {{{T(1.0), o, o, o}, {o, T(1.0), o, o}, {o, o, T(0.45), i}, {o, o, i, i}}};
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{-sin(q[2]), cos(q[2]), S(0.0), S(0.0)},
             {-sin(q[2] + q[3]), cos(q[2] + q[3]), fma(S(d1), cos(q[3]), S(d2)), S(d2)}}};
  }
};

/// The largest energy error up to t = 100.
template <class Step, class System, class State>
double energy_error(const Step& step, const System& system, State state, double h) {
  const double at_start = energy_of(system, state);
  double worst = 0.0;
  for (int k = 0; k < std::lround(100 / h); ++k) {
    state = advance(step, state, h, 1);
    worst = std::max(worst, std::fabs(energy_of(system, state) - at_start));
  }
  return worst;
}

TEST(Contracting, EnergyErrorsOfTwoStages) {
  const CentredSleigh<double> sleigh;
  const Racer<double> racer;
  const PhaseState<double, 3, 1> sliding{{0, 0, 0}, {0.5, 0.4, 0.5}, {0}};
  const auto rolling = start(racer, {0, 0, 0, 0.5}, {1, 0, 0, std::sin(0.5) / Racer<double>::d2});
  for (const double h : {0.05, 0.02})
    EXPECT_LE(energy_error(spark<CentredSleigh<double>, 2>(sleigh), sleigh, sliding, h), 1e-14);
  EXPECT_NEAR(energy_error(spark<Racer<double>, 2>(racer), racer, rolling, 0.05), 2.0e-5, 0.2e-5);
  EXPECT_NEAR(energy_error(spark<Racer<double>, 2>(racer), racer, rolling, 0.02), 3.1e-6, 0.31e-6);
  // higher orders; the Lobatto pair loses 0.45 of 0.455
  EXPECT_LE(energy_error(spark<CentredSleigh<double>, 3>(sleigh), sleigh, sliding, 0.05), 1e-8);
  EXPECT_LE(energy_error(spark<CentredSleigh<double>, 4>(sleigh), sleigh, sliding, 0.05), 1e-12);
  EXPECT_LE(energy_error(spark<Racer<double>, 3>(racer), racer, rolling, 0.05), 1e-7);
}

TEST(Contracting, SleighOfTheCatalogueFollowsItsSolution) {
  const auto system = make_default<Sleigh>();
  const auto there = default_start(system);
  auto q = there.q, v = velocity(system, there.q, there.p);
  ASSERT_TRUE(system.exact(100.0, q, v));
  const double bounds[] = {0.1, 1e-5, 1e-9};  // positions grow to 108
  for_stages<2, 3, 4>([&](auto s) {
    const auto end = advance(spark<Sleigh, s()>(system), there, 0.05, 2000);
    EXPECT_LE(distance(end.q, q), bounds[s() - 2]);
    EXPECT_LE(distance(velocity(system, end.q, end.p), v), bounds[s() - 2]);
  });
}

// --- failures ---

/// A constraint matrix that vanishes at q = 0.
template <class T>
struct Vanishing {
  using scalar = T;
  static constexpr int n = 2, m = 1;
  template <class S>
  RB_HD S potential(const Vector<S, n>&) const {
    return S(0.0);
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{q[0], q[1]}}};
  }
};

TEST(Spark, FailuresHaveAStatus) {
  const auto status = [](const auto& step, auto state, double h) { return step(state, h).status; };
  const auto sleigh = make_default<Sleigh>();
  for_stages<2, 3, 5>([&](auto s) {
    auto state = start(Contact{}, Member(13, 31).q, Member(13, 31).v);
    auto sliding = default_start(sleigh);
    EXPECT_EQ(status(spark<Contact, s()>({}), state, 0.1), status_good);
    EXPECT_NE(status(spark<Contact, s()>({}), state, 1e200), status_good);
    EXPECT_NE(status(spark<Sleigh, s()>(sleigh), sliding, 1e200), status_good);
    // With two stages the equation of the multiplier is linear here, so that one update solves it.
    EXPECT_EQ(status(SparkStep<double, Contact, s()>(Contact{}, {1e-14, 1}), state, 0.1),
              s() == 2 ? status_good : status_not_converged);
    EXPECT_EQ(status(SparkStep<double, Sleigh, s()>(sleigh, {1e-14, 1}), sliding, 0.1), status_not_converged);
    using Flat = Vanishing<double>;
    const PhaseState<double, 2, 1> at_rest{{0.0, 0.0}, {0.0, 0.0}, {0.0}};
    EXPECT_EQ(status(spark<Flat, s()>({}), at_rest, 0.1), status_singular);
    EXPECT_EQ(status(newton<Flat, s()>({}), at_rest, 0.1), status_singular);
    state.p[0] = sliding.p[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(status(spark<Contact, s()>({}), state, 0.1), status_good);
    EXPECT_NE(status(spark<Sleigh, s()>(sleigh), sliding, 0.1), status_good);
  });
}

template <class System>
concept TakenBySpark = requires { typename SparkStep<double, System, 2>; };
static_assert(TakenBySpark<Sleigh> && TakenBySpark<Driven<double>>);
static_assert(!TakenBySpark<Isokinetic>, "the constraint is not affine in v");
static_assert(!TakenBySpark<VerticalDisc<double>>, "the configuration space is a group");

}  // namespace
}  // namespace rattleback
