// The nonholonomic Lobatto IIIA-IIIB integrator on R^n (D. Martin de Diego, R. T. Sato Martin de Almagro, High-order
// geometric methods for nonholonomic mechanical systems): states computed with 40 digits, orders, symmetry, other forms
// of the same map written independently, and wrong variants that these checks must tell apart.

#include <array>
#include <functional>
#include <optional>

#include "eigen.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

using Vec = Eigen::VectorXd;
using Mat = Eigen::MatrixXd;

using Particle = NonholonomicParticle<double>;
using Cvt = PendulumCvt<double>;
using Sleigh = ChaplyginSleigh<double>;
using Isokinetic = IsokineticParticle<double>;
using Galactic = HenonHeiles<double>;
template <ChaoticVariant Variant>
using Chaotic3 = Chaotic<double, 3, Variant>;
using Contact = Chaotic3<ChaoticVariant::contact>;
using Printed = Chaotic3<ChaoticVariant::printed>;

constexpr Cvt cvt{0.5};
const Vector<double, 3> cvt_low{0.0, 3.0 * std::sqrt(10.0) / 5.0, 0.0}, cvt_high{0.0, std::sqrt(8.0), 0.0};

/// Member j of the ensemble of section 7.3 with J + 1 members.
struct Member {
  Vector<double, 7> q, v;
  Member(int j, int J) : q{std::cos(j * M_PI / (2 * J)), 0.6, 0.4, 0.2, 1, 1, 1}, v{0, std::sin(j * M_PI / (2 * J))} {}
};

// --- states after ten steps of size 0.1 ---

template <int n, int m>
struct Gold {
  Vector<double, n> q;
  std::optional<Vector<double, n>> p;
  Vector<double, m> lambda;
  double energy;
};

template <int S, class System, int n = System::n, int m = System::m>
void expect_gold(const System& system, const std::type_identity_t<Vector<double, n>>& q,
                 const std::type_identity_t<Vector<double, n>>& v, const Gold<System::n, System::m>& gold) {
  const auto check = [&](const char* form, const auto& step) {
    SCOPED_TRACE(form);
    const auto state = advance(step, start(system, q, v), 0.1, 10);
    EXPECT_LE(distance(state.q, gold.q), 1e-13);
    if (gold.p) {
      EXPECT_LE(distance(state.p, *gold.p), 1e-13);
    }
    EXPECT_LE(distance(state.lambda, gold.lambda), 1e-13);
    EXPECT_NEAR(energy(system, state.q, velocity(system, state.q, state.p)), gold.energy, 1e-13);
  };
  if constexpr (Condensable<System>) check("condensed", CondensedLobatto<double, System, S>(system, to_round_off));
  check("general", GeneralLobatto<double, System, Cay, S>(system, to_round_off));
}
template <int S, class System>
void expect_gold(const System& system, const Gold<System::n, System::m>& gold) {
  expect_gold<S>(system, to_vector(System::default_q), to_vector(System::default_v), gold);
}

TEST(GoldStates, Particle) {
  expect_gold<2>(Particle{}, {{1.0230912131188440, 0.94417593619144559, -0.0064534820603924508},
                              {{-0.28368961208026981, 0.011639244529382032, -0.26785290507367678}},
                              {-0.51228726186109432},
                              1.0452721378079287});
  expect_gold<3>(Particle{}, {{1.0232375688204008, 0.94332782416281793, -0.0074545832057878050},
                              {{-0.28451804982031500, 0.011506246390587236, -0.26839379287204598}},
                              {-0.51241153124040389},
                              1.0450003242585199});
  expect_gold<4>(Particle{}, {{1.0232370812334650, 0.94332794078820789, -0.0074549101630086553},
                              {{-0.28451815136997144, 0.011506352293879909, -0.26839392184870279}},
                              {-0.51248468053642180},
                              1.0450000000851628});
}

TEST(GoldStates, PendulumCvt) {
  expect_gold<2>(cvt, {1, 0, 1}, cvt_low,
                 {{0.83400114431638160, 1.5669903753568607, 1.1208660378132412},
                  {{-0.15129734830691756, 1.2687884604959811, 0.15129625251704625}},
                  {0.96951053861641556},
                  1.8018491073738368});
  expect_gold<2>(cvt, {1, 0, 1}, cvt_high,
                 {{0.88212618678606098, 2.5141982977274109, 1.0912354445600860},
                  {{-0.14998435252647838, 2.2064860691768390, 0.088046413582181557}},
                  {0.98076713022325161},
                  4.0058237626675218});
  expect_gold<3>(cvt, {1, 0, 1}, cvt_high,
                 {{0.88316841344294520, 2.5116347907842921, 1.0909936387640585},
                  {{-0.14862720810444096, 2.2045245944647767, 0.087557880003585384}},
                  {0.99687761306192519},
                  4.0000055327162816});
}

TEST(GoldStates, Chaotic) {
  const Member member(13, 31);
  expect_gold<2>(Contact{}, member.q, member.v,
                 {{1.2630002441769088, 0.56859455653553246, 0.084158561927970597, 0.036813627780370293,
                   0.56497763216507747, 0.42490981787823452, 0.67323313345448512},
                  {},
                  {0.49623591134613101},
                  3.0575735606304836});
  expect_gold<3>(Contact{}, member.q, member.v,
                 {{1.2605261175867920, 0.56817041860063548, 0.084618984611711153, 0.037056292721008238,
                   0.56482241612413444, 0.42508736756123088, 0.67309754149402115},
                  {{0.55935954980150861, -0.58538332511604219, -0.50071976273327024, -0.26333463174952864,
                    -0.78919160354524805, -1.0171011232794008, -0.67190104383132381}},
                  {0.49924301206305852},
                  3.0600012983566516});
  expect_gold<2>(Printed{}, member.q, member.v,
                 {{1.0993198238177445, 0.56376145509905543, 0.071944212938545194, 0.025651682923089154,
                   0.57037528523149004, 0.74929563378953028, 1.2252429494138129},
                  {},
                  {0.86890293373631949},
                  3.0596706844737092});
  expect_gold<3>(Printed{}, member.q, member.v,
                 {{1.0982025464972829, 0.56361585362722493, 0.072402072695660675, 0.025900419854571066,
                   0.56992505158238203, 0.74933551586555463, 1.2242667329805631},
                  {},
                  {0.86937076552870498},
                  3.0600018034725759});
}

TEST(GoldStates, ChaplyginSleigh) {
  expect_gold<3>(make_default<Sleigh>(), {{0.44722476718575724, 0.53858929096658201, 1.2900275503349854},
                                          {{-0.047758863230955171, 0.94876448415232866, 0.50949703850914811}},
                                          {0.52525923863589455},
                                          0.60020004901242752});
}

TEST(GoldStates, IsokineticParticle) {
  expect_gold<3>(Isokinetic{}, {{0.83817044775868633, 0.62102951605792007},
                                {{-0.081251958921563972, 0.99669359342347961}},
                                {1.4796710635165307},
                                1.4550883492102902});
}

TEST(GoldStates, HenonHeiles) {
  expect_gold<3>(Galactic{}, {{0.28258143443399268, 0.018115852684732135},
                              {{0.039568387150956315, -0.25304405488239763}},
                              {},
                              0.074333311217865312});
}

// --- orders ---

using Long = long double;
using LongVector = std::vector<Long>;

/// Solution of y' = f(y) after `time`: Gragg's midpoint rule extrapolated to order 16 on intervals of about 0.05.
template <class F>
LongVector flow(F f, LongVector y, Long time) {
  constexpr int rows = 8;
  const int intervals = static_cast<int>(std::ceil(time / 0.05L));
  const auto add = [](const LongVector& a, Long s, const LongVector& b) {
    LongVector r = a;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] += s * b[i];
    return r;
  };
  for (int interval = 0; interval < intervals; ++interval) {
    std::array<LongVector, rows> table;
    for (int k = 0; k < rows; ++k) {
      const int steps = 2 * (k + 1);
      const Long h = time / intervals / steps;
      LongVector before = y, now = add(y, h, f(y));
      for (int i = 1; i < steps; ++i) before = std::exchange(now, add(before, 2 * h, f(now)));
      // Gragg's smoothing, (before + now + h f(now)) / 2
      LongVector column = add(add(before, 1.0L, now), h, f(now));
      for (Long& x : column) x /= 2;
      for (int j = 1; j <= k; ++j) {
        const Long ratio = Long(k + 1) / Long(k + 1 - j);
        const LongVector correction = add(column, -1.0L, table[j - 1]);
        std::swap(table[j - 1], column);
        column = add(table[j - 1], 1 / (ratio * ratio - 1), correction);
      }
      table[k] = column;
    }
    y = table[rows - 1];
  }
  return y;
}

/// The continuous equations of a particle of unit mass with one constraint: q'' = force + lambda mu.
template <class Equations, int n = Equations::n>
PhaseState<double, n, 1> exact(const Vector<double, n>& q, const Vector<double, n>& v, double time) {
  LongVector y(2 * n);
  for (int i = 0; i < n; ++i) {
    y[i] = q[i];
    y[n + i] = v[i];
  }
  const auto rates = [](const LongVector& x) {
    LongVector r(2 * n), force(n), mu(n);
    const Long lambda = Equations::evaluate(x.data(), x.data() + n, force.data(), mu.data());
    for (int i = 0; i < n; ++i) {
      r[i] = x[n + i];
      r[n + i] = force[i] + lambda * mu[i];
    }
    return r;
  };
  y = flow(rates, y, time);
  LongVector force(n), mu(n);
  PhaseState<double, n, 1> state;
  state.lambda[0] = static_cast<double>(Equations::evaluate(y.data(), y.data() + n, force.data(), mu.data()));
  for (int i = 0; i < n; ++i) {
    state.q[i] = static_cast<double>(y[i]);
    state.p[i] = static_cast<double>(y[n + i]);
  }
  return state;
}

struct ParticleEquations {
  static constexpr int n = 3;
  static Long evaluate(const Long* q, const Long* v, Long* force, Long* mu) {
    force[0] = -q[0], force[1] = -q[1], force[2] = 0;
    mu[0] = -q[1], mu[1] = 0, mu[2] = 1;
    return (v[0] * v[1] - q[0] * q[1]) / (1 + q[1] * q[1]);
  }
};

struct CvtEquations {
  static constexpr int n = 3;
  static Long evaluate(const Long* q, const Long* v, Long* force, Long* mu) {
    const Long s = std::sin(q[1]), c = std::cos(q[1]);
    force[0] = -q[0], force[1] = -s - 0.5L * std::cos(2 * q[1]), force[2] = -q[2];
    mu[0] = s, mu[1] = 0, mu[2] = 1;
    return (-c * v[1] * v[0] + s * q[0] + q[2]) / (1 + s * s);
  }
};

struct ContactEquations {
  static constexpr int n = 7;
  static Long evaluate(const Long* q, const Long* v, Long* force, Long* mu) {
    const Long *y = q + 1, *z = q + 4;
    force[0] = -q[0];
    mu[0] = 1;
    Long numerator = -q[0], denominator = 1;
    for (int i = 0; i < 3; ++i) {
      force[1 + i] = -y[i] - y[i] * z[i] * z[i];
      force[4 + i] = -z[i] - y[i] * y[i] * z[i] - (i < 2 ? z[i] * z[1 - i] * z[1 - i] : 0);
      mu[1 + i] = 0;
      mu[4 + i] = y[i];
      numerator += v[1 + i] * v[4 + i] + y[i] * force[4 + i];
      denominator += y[i] * y[i];
    }
    return -numerator / denominator;
  }
};

/// An initial value problem with its solution at a final time.
template <class System>
struct Problem {
  System system;
  Vector<double, System::n> q, v;
  double time;
  PhaseState<double, System::n, System::m> solution;
};

template <class Equations, class System>
Problem<System> problem(const System& system, const std::type_identity_t<Vector<double, System::n>>& q,
                        const std::type_identity_t<Vector<double, System::n>>& v, double time) {
  return {system, q, v, time, exact<Equations>(q, v, time)};
}
const Problem<Particle> particle_problem =
    problem<ParticleEquations>(Particle{}, to_vector(Particle::default_q), to_vector(Particle::default_v), 5.0);

/// For problems whose solution is known in q only.
template <class System>
Problem<System> default_problem(const Vector<double, System::n>& q_at_5) {
  return {make_default<System>(), to_vector(System::default_q), to_vector(System::default_v), 5.0, {q_at_5, {}, {}}};
}

constexpr double unit_roundoff_floor = 1e-12, multiplier_floor = 1e-11;

/// Errors at the final time for h = 1/2, 1/4, ...
class Errors {
 public:
  void add(double error) { errors_.push_back(error); }
  /// The error at h = 2^-k.
  double at(int k) const { return errors_.at(k - 1); }
  /// log2 of the ratio of the finest pair above the floor.
  double order(double floor) const {
    std::size_t last = errors_.size() - 1;
    while (last > 1 && errors_[last] < floor) --last;
    return std::log2(errors_[last - 1] / errors_[last]);
  }

 private:
  std::vector<double> errors_;
};
struct StateErrors {
  Errors q, p, lambda;
};

/// The errors of `integrate(state, h, steps)`.
template <class System, class Integrate>
StateErrors errors_of(const Problem<System>& problem, Integrate integrate, int finest) {
  StateErrors errors;
  for (int k = 1; k <= finest; ++k) {
    const double h = std::ldexp(1.0, -k);
    const auto state =
        integrate(start(problem.system, problem.q, problem.v), h, static_cast<int>(std::lround(problem.time / h)));
    errors.q.add(distance(state.q, problem.solution.q));
    errors.p.add(distance(state.p, problem.solution.p));
    errors.lambda.add(distance(state.lambda, problem.solution.lambda));
  }
  return errors;
}
template <int S, class System>
StateErrors errors_of(const Problem<System>& problem, int finest = 6) {
  const LobattoStep<double, System, Cay, S> step(problem.system, to_round_off);
  const auto integrate = [&](const auto& state, double h, int steps) { return advance(step, state, h, steps); };
  return errors_of(problem, integrate, finest);
}

TEST(Reference, ExtrapolationAgreesWithTheKnownSolution) {
  const PhaseState<double, 3, 1> known{{-0.93682153194653513, -0.62530832699889767, -0.28618286593039145},
                                       {0.48140325005912975, 0.70639188570215026, -0.30102546090630642},
                                       {-0.17666506081139642}};
  EXPECT_LE(distance(particle_problem.solution, known), 2e-16);
}

TEST(Order, OfTheParticle) {
  // positions, momenta: 2s - 2; multipliers: s for even s, s - 1 for odd s
  const double tolerance[] = {0.03, 0.03, 0.06, 0.1}, order_of_lambda[] = {2, 2, 4, 4};
  for_stages<2, 3, 4, 5>([&](auto s) {
    const StateErrors errors = errors_of<s()>(particle_problem);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 2 * s() - 2, tolerance[s() - 2]);
    EXPECT_NEAR(errors.p.order(unit_roundoff_floor), 2 * s() - 2, 0.1);
    EXPECT_NEAR(errors.lambda.order(multiplier_floor), order_of_lambda[s() - 2], 0.1);
  });
}

TEST(Order, ErrorConstantsOfTheParticle) {
  const double q[] = {1.4167e-3, 2.0439e-7, 6.954e-11}, p[] = {6.552e-4, 8.446e-8, 4.149e-11};
  for_stages<2, 3, 4>([&](auto s) {
    const StateErrors errors = errors_of<s()>(particle_problem, 4);
    EXPECT_NEAR(errors.q.at(4), q[s() - 2], 0.01 * q[s() - 2]);
    EXPECT_NEAR(errors.p.at(4), p[s() - 2], 0.01 * p[s() - 2]);
  });
}

TEST(Order, OfTheCvt) {
  const auto low = problem<CvtEquations>(cvt, {1, 0, 1}, cvt_low, 5.0);
  const double order_of_lambda[] = {2, 2, 4};
  for_stages<2, 3, 4>([&](auto s) {
    const StateErrors errors = errors_of<s()>(low, 8);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 2 * s() - 2, 0.1);
    EXPECT_NEAR(errors.lambda.order(multiplier_floor), order_of_lambda[s() - 2], 0.1);
  });
}

TEST(Order, OfTheChaoticSystem) {
  const Member member(13, 31);
  const StateErrors errors = errors_of<3>(problem<ContactEquations>(Contact{}, member.q, member.v, 2.0));
  EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 4.0, 0.03);
  EXPECT_NEAR(errors.q.at(4), 1.5305e-7, 0.01 * 1.5305e-7);
}

TEST(Order, OfTheSleigh) {
  const auto sleigh = default_problem<Sleigh>({-1.6032285553463604, 4.0081124898352743, 2.4381068601991443});
  const double error[] = {1.0051e-3, 1.4559e-7, 1.9323e-11};
  for_stages<2, 3, 4>([&](auto s) {
    const StateErrors errors = errors_of<s()>(sleigh);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), 2 * s() - 2, 0.05);
    EXPECT_NEAR(errors.q.at(4), error[s() - 2], 0.01 * error[s() - 2]);
  });
}

TEST(Order, OfTheIsokineticParticleAndHenonHeiles) {
  const auto isokinetic = default_problem<Isokinetic>({-0.012845359634470730, -1.8168692213169371});
  const auto galactic = default_problem<Galactic>({-0.19710880006909205, 0.24304838299964441});
  for_stages<2, 3, 4, 5>([&](auto s) {
    EXPECT_NEAR(errors_of<s()>(isokinetic).q.order(unit_roundoff_floor), 2 * s() - 2, 0.05);
    EXPECT_NEAR(errors_of<s()>(galactic).q.order(unit_roundoff_floor), 2 * s() - 2, 0.1);
  });
}

/// Rounding errors of the multiplier over some 50 steps of size 0.1: they grow with s, as the condition of
/// (a_ij)_{i,j>=2} does, and never decay.
template <int S>
constexpr double round_off = S < 5 ? 1e-13 : 5e-13;

// --- structure, for every system of the catalogue and number of stages ---

template <class C>
class StructureTest : public ::testing::Test {
 protected:
  using System = typename C::template of<double>;
  using Step = LobattoStep<double, System, Cay, C::stages>;
  static constexpr double h = 0.1 * time_scale<System>();
  System system = make_default<System>();
  Step step{system, to_round_off};
  Random random{3};
};
using Cases = LobattoCases<2, 3, 4, 5>;
TYPED_TEST_SUITE(StructureTest, Cases, Names);

TYPED_TEST(StructureTest, ConstraintHoldsAtTheNodes) {
  auto state = random_start(this->system, this->random);
  for (int k = 0; k < 300; ++k) {
    state = advance(this->step, state, this->h, 1);
    ASSERT_LE(max_norm(constraint(this->system, state.q, velocity(this->system, state.q, state.p))), 1e-14) << k;
  }
}

TYPED_TEST(StructureTest, IsSymmetric) {
  if constexpr (on_group<typename TestFixture::System>) GTEST_SKIP() << "symmetric on R^n alone";
  using System = typename TestFixture::System;
  // Newton's method leaves more of a constraint nonlinear in v
  constexpr bool linear = System::m == 0 || is_holonomic<System> || AffineConstraint<System>;
  const auto there = default_start(this->system);
  const auto back = advance(this->step, advance(this->step, there, this->h, 20), -this->h, 20);
  EXPECT_LE(distance(back, there), (linear ? 1 : 2) * round_off<TypeParam::stages>);
}

TYPED_TEST(StructureTest, UsualToleranceIsNearRoundOff) {
  const typename TestFixture::Step usual(this->system, {1e-14, 50});
  const auto state = default_start(this->system);
  const auto a = advance(usual, state, this->h, 50), b = advance(this->step, state, this->h, 50);
  EXPECT_LE(distance(a.q, b.q), 1e-13);
  EXPECT_LE(distance(a.p, b.p), 1e-13);
  EXPECT_LE(distance(a.lambda, b.lambda), 1e-12 / this->h);  // a multiplier is an impulse over h
}

TEST(ChaoticEnsemble, StartsOnTheConstraintWithEqualEnergies) {
  for (int j = 0; j <= 31; ++j) {
    const Member member(j, 31);
    EXPECT_EQ(constraint(Contact{}, member.q, member.v)[0], 0.0);
    EXPECT_EQ(constraint(Printed{}, member.q, member.v)[0], 0.0);
    EXPECT_NEAR(energy(Contact{}, member.q, member.v), 3.06, 4e-15);
  }
}

// --- the same map in other forms ---

using Equations = std::function<Vec(const Vec&)>;

/// Newton with a Jacobian by central differences, from x to round-off.
Vec solve_numerically(const Equations& f, Vec x) {
  Mat jacobian(x.size(), x.size());
  for (int iteration = 0; iteration < 8; ++iteration) {
    for (int j = 0; j < x.size() && iteration < 2; ++j) {
      constexpr double step = 1e-5;
      Vec up = x, down = x;
      up[j] += step;
      down[j] -= step;
      jacobian.col(j) = (f(up) - f(down)) / (2 * step);
    }
    x -= jacobian.partialPivLu().solve(f(x));
  }
  return x;
}

/// H = |p|^2/2 + (x^2 + y^2)/2, Psi = pz - y px.
struct ParticleHamiltonian {
  using System = Particle;
  static Vec dp(const Vec&, const Vec& p) { return p; }
  static Vec dq(const Vec& q, const Vec&) { return Vec{{q[0], q[1], 0.0}}; }
  static Mat mass(const Vec&) { return Mat::Identity(3, 3); }
  static double psi(const Vec& q, const Vec& p) { return p[2] - q[1] * p[0]; }
  static Vec psi_p(const Vec& q, const Vec&) { return Vec{{-q[1], 0.0, 1.0}}; }
};

/// With the momenta along and across the blade, pu and pn, and the angular velocity w = (p_theta - a pn)/I,
/// H = (pu^2 + pn^2)/2M + I w^2/2 and Psi = pn/M - a w.
struct SleighHamiltonian {
  using System = Sleigh;
  static constexpr double M = 1.0, I = 0.5, a = 0.4;
  struct Body {
    double s, c, u, across, w;
    Body(const Vec& q, const Vec& p) : s(std::sin(q[2])), c(std::cos(q[2])) {
      const double pn = p[1] * c - p[0] * s;
      u = (p[0] * c + p[1] * s) / M;
      w = (p[2] - a * pn) / I;
      across = pn / M - a * w;
    }
  };
  static Vec dp(const Vec& q, const Vec& p) {
    const Body b(q, p);
    return Vec{{b.u * b.c - b.across * b.s, b.u * b.s + b.across * b.c, b.w}};
  }
  static Vec dq(const Vec& q, const Vec& p) {
    const Body b(q, p);
    return Vec{{0.0, 0.0, a * M * b.u * b.w}};
  }
  static Mat mass(const Vec& q) {
    const double s = std::sin(q[2]), c = std::cos(q[2]);
    return Mat{{M, 0.0, -M * a * s}, {0.0, M, M * a * c}, {-M * a * s, M * a * c, I + M * a * a}};
  }
  static double psi(const Vec& q, const Vec& p) { return Body(q, p).across; }
  static Vec psi_p(const Vec& q, const Vec&) {
    const double per_pn = 1 / M + a * a / I;
    return Vec{{-std::sin(q[2]) * per_pn, std::cos(q[2]) * per_pn, -a / I}};
  }
};

/// Eq. (15): unknowns P_1..P_s, Q_2..Q_s, Lambda_2..Lambda_s.
template <class Hamiltonian, int S>
class HamiltonianForm {
  static constexpr int n = 3;

 public:
  StepReport<double> operator()(PhaseState<double, n, 1>& state, double h) const {
    constexpr auto t = lobatto_pair<S>();
    const Vec q0 = to_eigen(state.q), p0 = to_eigen(state.p);
    struct Stages {
      Vec P[S], Q[S], Pbar[S];
      double lambda[S];
      Vec residual;
    };
    const auto stages = [&](const Vec& x) {
      Stages y;
      Vec V[S], W[S];
      for (int i = 0; i < S; ++i) {
        y.P[i] = x.segment(n * i, n);
        y.Q[i] = i == 0 ? q0 : Vec(x.segment(n * (S + i - 1), n));
        y.lambda[i] = i == 0 ? state.lambda[0] : x[n * (2 * S - 1) + i - 1];
        V[i] = Hamiltonian::dp(y.Q[i], y.P[i]);
        W[i] = Hamiltonian::dq(y.Q[i], y.P[i]) -
               Hamiltonian::mass(y.Q[i]) * Hamiltonian::psi_p(y.Q[i], y.P[i]) * y.lambda[i];
      }
      y.residual.resize(x.size());
      for (int i = 0; i < S; ++i) {
        Vec p = p0, q = q0;
        y.Pbar[i] = p0;
        for (int j = 0; j < S; ++j) {
          p -= h * t.ah[i][j] * W[j];
          q += h * t.a[i][j] * V[j];
          y.Pbar[i] -= h * t.a[i][j] * W[j];
        }
        y.residual.segment(n * i, n) = y.P[i] - p;
        if (i == 0) continue;
        y.residual.segment(n * (S + i - 1), n) = y.Q[i] - q;
        y.residual[n * (2 * S - 1) + i - 1] = Hamiltonian::psi(y.Q[i], y.Pbar[i]);
      }
      return y;
    };
    Vec guess(n * (2 * S - 1) + S - 1);
    for (int i = 0; i < S; ++i) guess.segment(n * i, n) = p0;
    for (int i = 0; i < S - 1; ++i) guess.segment(n * (S + i), n) = q0;
    guess.tail(S - 1).setConstant(state.lambda[0]);
    const Stages end = stages(solve_numerically([&](const Vec& x) { return stages(x).residual; }, guess));
    state = {from_eigen<n>(end.Q[S - 1]), from_eigen<n>(end.Pbar[S - 1]), {end.lambda[S - 1]}};
    return {0.0, 0.0, 0.0};
  }
};

/// Expects two integrators to take the same steps, 50 of size 0.1 along a trajectory.
template <class A, class B, class State>
void expect_same_map(const A& a, const B& b, State state, double tolerance) {
  for (int k = 0; k < 50; ++k) {
    const State other = advance(b, state, 0.1, 1);
    state = advance(a, state, 0.1, 1);
    ASSERT_LE(distance(state, other), tolerance) << "step " << k;
  }
}

template <class Hamiltonian>
class HamiltonianFormTest : public ::testing::Test {};
using Hamiltonians = ::testing::Types<ParticleHamiltonian, SleighHamiltonian>;
TYPED_TEST_SUITE(HamiltonianFormTest, Hamiltonians);

TYPED_TEST(HamiltonianFormTest, IsTheSameMap) {
  using System = typename TypeParam::System;
  const auto system = make_default<System>();
  for_stages<2, 3, 4, 5>([&](auto s) {
    expect_same_map(LobattoStep<double, System, Cay, s()>(system, to_round_off), HamiltonianForm<TypeParam, s()>{},
                    default_start(system), 1e-12);
  });
}

/// The method with s = 2 for unit mass: a velocity Verlet step whose second half kick carries the multiplier that puts
/// the new momentum on the constraint.
struct ExplicitContact {
  static Vec force(const Vec& q) {
    Vec f = -q;
    for (int i = 0; i < 3; ++i) {
      f[1 + i] -= q[1 + i] * q[4 + i] * q[4 + i];
      f[4 + i] -= q[1 + i] * q[1 + i] * q[4 + i];
    }
    f[4] -= q[4] * q[5] * q[5];
    f[5] -= q[5] * q[4] * q[4];
    return f;
  }
  static Vec mu(const Vec& q) { return Vec{{1.0, 0.0, 0.0, 0.0, q[1], q[2], q[3]}}; }

  StepReport<double> operator()(PhaseState<double, 7, 1>& state, double h) const {
    Vec q = to_eigen(state.q), p = to_eigen(state.p);
    p += h / 2 * (force(q) + mu(q) * state.lambda[0]);
    q += h * p;
    p += h / 2 * force(q);
    const double lambda = -mu(q).dot(p) / (h / 2 * mu(q).squaredNorm());
    p += h / 2 * lambda * mu(q);
    state = {from_eigen<7>(q), from_eigen<7>(p), {lambda}};
    return {0.0, 0.0, 0.0};
  }
};

TEST(Forms, TwoStagesAreExplicit) {
  const Member member(13, 31);
  const auto state = start(Contact{}, member.q, member.v);
  const CondensedLobatto<double, Contact, 2> condensed(Contact{}, to_round_off);
  const GeneralLobatto<double, Contact, Cay, 2> general(Contact{}, to_round_off);
  expect_same_map(ExplicitContact{}, condensed, state, round_off<2>);
  expect_same_map(ExplicitContact{}, general, state, round_off<2>);
  auto next = state;
  EXPECT_EQ(condensed(next, 0.1).iterations, 1.0);
}

TEST(Forms, FunctionalIterationAndNewtonFindTheSameStep) {
  const auto expect = [](const auto& system, const auto& state) {
    using System = std::remove_cvref_t<decltype(system)>;
    for_stages<2, 3, 4, 5>([&](auto s) {
      expect_same_map(CondensedLobatto<double, System, s()>(system, to_round_off),
                      GeneralLobatto<double, System, Cay, s()>(system, to_round_off), state, round_off<s()>);
    });
  };
  expect(Particle{}, default_start(Particle{}));
  expect(cvt, default_start(cvt));
  expect(Galactic{}, default_start(Galactic{}));
  const Member member(13, 31);
  expect(Contact{}, start(Contact{}, member.q, member.v));
  expect(Printed{}, start(Printed{}, member.q, member.v));
}

// --- steps that fail say so ---

/// A constraint matrix that vanishes at q = 0.
template <class T>
struct Degenerate {
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

TEST(Failure, HasAStatus) {
  const auto status = [](const auto& step, auto state, double h) { return step(state, h).status; };
  const auto sleigh = make_default<Sleigh>();
  for_stages<2, 3, 4, 5>([&](auto s) {
    const CondensedLobatto<double, Contact, s()> condensed(Contact{}, to_round_off);
    const GeneralLobatto<double, Sleigh, Cay, s()> general(sleigh, to_round_off);
    auto state = start(Contact{}, Member(13, 31).q, Member(13, 31).v);
    auto sliding = default_start(sleigh);
    EXPECT_EQ(status(condensed, state, 0.1), status_good);
    EXPECT_EQ(status(general, sliding, 0.1), status_good);
    EXPECT_NE(status(condensed, state, 1e200), status_good);
    EXPECT_NE(status(general, sliding, 1e200), status_good);
    const SolverOptions<double> once{1e-14, 1};
    const double expected = s() == 2 ? status_good : status_not_converged;
    EXPECT_EQ(status(CondensedLobatto<double, Contact, s()>(Contact{}, once), state, 0.1), expected);
    EXPECT_EQ(status(GeneralLobatto<double, Sleigh, Cay, s()>(sleigh, once), sliding, 0.1), status_not_converged);

    const PhaseState<double, 2, 1> at_rest{{0.0, 0.0}, {0.0, 0.0}, {0.0}};
    using Flat = Degenerate<double>;
    EXPECT_EQ(status(CondensedLobatto<double, Flat, s()>({}, to_round_off), at_rest, 0.1), status_singular);
    EXPECT_EQ(status(GeneralLobatto<double, Flat, Cay, s()>({}, to_round_off), at_rest, 0.1), status_singular);

    state.p[0] = sliding.p[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(status(condensed, state, 0.1), status_good);
    EXPECT_NE(status(general, sliding, 0.1), status_good);
  });
}

// --- wrong variants ---

TEST(WrongVariant, InaccurateInitialMultiplierLowersTheOrder) {
  const double order[] = {2, 2, 4, 4};
  for_stages<2, 3, 4, 5>([&](auto s) {
    const LobattoStep<double, Particle, Cay, s()> step(Particle{}, to_round_off);
    const auto integrate = [&](auto state, double h, int steps) {
      state.lambda[0] += 0.1;
      return advance(step, state, h, steps);
    };
    const StateErrors errors = errors_of(particle_problem, integrate, 5);
    EXPECT_NEAR(errors.q.order(unit_roundoff_floor), order[s() - 2], 0.1);
    // the multiplier's error neither grows nor decays
    EXPECT_NEAR(errors.lambda.at(5), 0.095, 0.02);
  });
}

/// The constraint imposed on the stage velocities themselves, that is on the IIIB momenta, i = 2..s, with a free first
/// multiplier; the last one puts the new momentum on the constraint. For the particle.
template <int S>
struct ConstraintOnStageVelocities {
  static constexpr int n = 3;
  static Vec force(const Vec& q) { return Vec{{-q[0], -q[1], 0.0}}; }
  static Vec mu(const Vec& q) { return Vec{{-q[1], 0.0, 1.0}}; }

  StepReport<double> operator()(PhaseState<double, n, 1>& state, double h) const {
    constexpr auto t = lobatto_pair<S>();
    const Vec q0 = to_eigen(state.q), p0 = to_eigen(state.p);
    Vec q, p;  // at the end of the step
    const auto residual = [&](const Vec& x) {
      Vec Q[S], W[S], r(x.size());
      for (int i = 0; i < S; ++i) {
        Q[i] = q0;
        for (int j = 0; j < S; ++j) Q[i] += h * t.a[i][j] * x.segment(n * j, n);
        W[i] = force(Q[i]) + mu(Q[i]) * x[n * S + i];
      }
      p = p0;
      for (int i = 0; i < S; ++i) {
        const Vec V = x.segment(n * i, n);
        Vec P = p0;
        for (int j = 0; j < S; ++j) P += h * t.ah[i][j] * W[j];
        p += h * t.b[i] * W[i];
        r.segment(n * i, n) = V - P;
        if (i > 0) r[n * S + i - 1] = mu(Q[i]).dot(V);
      }
      q = Q[S - 1];
      r[n * S + S - 1] = mu(q).dot(p);
      return r;
    };
    Vec guess(n * S + S);
    for (int i = 0; i < S; ++i) guess.segment(n * i, n) = p0;
    guess.tail(S).setConstant(state.lambda[0]);
    const Vec x = solve_numerically(residual, guess);
    residual(x);
    state = {from_eigen<n>(q), from_eigen<n>(p), {x[n * S + S - 1]}};
    return {0.0, 0.0, 0.0};
  }
};

TEST(WrongVariant, ConstraintOnTheStageVelocitiesHasOrderSMinusOne) {
  for_stages<2, 3, 4, 5>([&](auto s) {
    const auto integrate = [&](const auto& state, double h, int steps) {
      return advance(ConstraintOnStageVelocities<s()>{}, state, h, steps);
    };
    EXPECT_NEAR(errors_of(particle_problem, integrate, 5).q.order(unit_roundoff_floor), s() - 1, 0.1);
  });
}

/// The method with its multiplier taken anew from the continuous equations at each step instead of carried along.
template <class System, int S>
struct MultiplierRecomputed {
  System system;
  std::function<double(const Vector<double, System::n>&, const Vector<double, System::n>&)> multiplier;
  LobattoStep<double, System, Cay, S> step{system, to_round_off};

  StepReport<double> operator()(PhaseState<double, System::n, 1>& state, double h) const {
    state.lambda[0] = multiplier(state.q, velocity(system, state.q, state.p));
    return step(state, h);
  }
};
template <class Equations, int n = Equations::n>
double recomputed_by(const Vector<double, Equations::n>& q, const Vector<double, Equations::n>& v) {
  Long x[n], w[n], force[n], mu[n];
  std::copy(q.entry, q.entry + n, x);
  std::copy(v.entry, v.entry + n, w);
  return static_cast<double>(Equations::evaluate(x, w, force, mu));
}

template <class Step>
double return_error(const Step& step) {
  const auto there = default_start(cvt);
  const auto back = advance(step, advance(step, there, 0.1, 20), -0.1, 20);
  return std::max(distance(back.q, there.q), distance(back.p, there.p));
}

/// Slope of the least-squares line through the passenger energy over [0, 10^4], h = 0.1, low energy.
template <class Step>
double passenger_energy_drift(const Step& step) {
  constexpr int steps = 100000;
  auto state = start(cvt, {1, 0, 1}, cvt_low);
  double sum_t = 0, sum_e = 0, sum_tt = 0, sum_te = 0;
  for (int k = 1; k <= steps; ++k) {
    step(state, 0.1);
    const double t = 0.1 * k - 0.05 * steps, e = cvt.evaluate_invariants(state.q, state.p)[1] - 1.0;
    sum_t += t, sum_e += e, sum_tt += t * t, sum_te += t * e;
  }
  return (sum_te - sum_t * sum_e / steps) / (sum_tt - sum_t * sum_t / steps);
}

TEST(WrongVariant, RecomputedMultiplierLosesTheSymmetry) {
  const double wrong_drift[] = {-8.3e-5, -3.7e-7};
  for_stages<2, 3>([&](auto s) {
    const LobattoStep<double, Cvt, Cay, s()> right(cvt, to_round_off);
    const MultiplierRecomputed<Cvt, s()> wrong{cvt, recomputed_by<CvtEquations>};
    EXPECT_LE(return_error(right), 1e-14);
    EXPECT_GE(return_error(wrong), 1e-8);
    EXPECT_LE(std::fabs(passenger_energy_drift(right)), 2e-9);
    EXPECT_NEAR(passenger_energy_drift(wrong), wrong_drift[s() - 2], 0.03 * std::fabs(wrong_drift[s() - 2]));
  });
}

/// Mean square of the energy error at t = 1000, h = 0.1, over the ensemble of section 7.3 with J = 31, in units of h^4.
template <class Step>
double mean_square_energy_error(const Step& step) {
  double sum = 0;
  for (int j = 0; j <= 31; ++j) {
    const auto end = advance(step, start(Contact{}, Member(j, 31).q, Member(j, 31).v), 0.1, 10000);
    sum += square(energy(Contact{}, end.q, end.p) - 3.06);
  }
  return sum / 32 / 1e-4;
}

TEST(WrongVariant, RecomputedMultiplierDriftsInTheChaoticSystem) {
  // the energy walks at random, to about 1.2 at this time, and to a few hundred with a recomputed multiplier
  const double right = mean_square_energy_error(LobattoStep<double, Contact, Cay, 2>(Contact{}, to_round_off));
  EXPECT_GE(right, 0.4);
  EXPECT_LE(right, 4.0);
  const MultiplierRecomputed<Contact, 2> wrong{Contact{}, recomputed_by<ContactEquations>};
  EXPECT_GE(mean_square_energy_error(wrong), 100.0);
}

}  // namespace
}  // namespace rattleback
