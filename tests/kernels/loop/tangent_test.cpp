// The tangent map of a step, which is the step over dual numbers, and the Lyapunov exponents that the time loop gathers
// from it.

#include "rattleback/loop/tangent.hpp"

#include "eigen.hpp"
#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/observe.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

using D = Dual<double, 1>;

/// State and tangent vector as one vector: q, p, lambda.
template <class State>
Eigen::VectorXd flatten(const State& state) {
  constexpr int N = State::elements, n = State::dimension, m = State::multipliers;
  Eigen::VectorXd x(N + n + m);
  for (int i = 0; i < N; ++i) x[i] = state.q[i];
  for (int i = 0; i < n; ++i) x[N + i] = state.p[i];
  for (int i = 0; i < m; ++i) x[N + n + i] = state.lambda[i];
  return x;
}
template <class State>
State unflatten(const Eigen::VectorXd& x) {
  constexpr int N = State::elements, n = State::dimension, m = State::multipliers;
  State state;
  for (int i = 0; i < N; ++i) state.q[i] = x[i];
  for (int i = 0; i < n; ++i) state.p[i] = x[N + i];
  for (int i = 0; i < m; ++i) state.lambda[i] = x[N + n + i];
  return state;
}

/// A tangent vector (dq, dp, dlambda) at a state, dq as the numbers of q.
template <class System>
struct Direction {
  using State = StateOf<double, System>;
  State at;
  Vector<double, System::n> shift;  // dq in the algebra
  Eigen::VectorXd vector;

  Direction(const State& state, Random& random) : at(state), shift(random.vector<System::n>(-1.0, 1.0)) {
    State d{};
    d.q = group_of<System>::translate(state.q, shift);
    for (int i = 0; i < System::n; ++i) d.p[i] = random.uniform(-1.0, 1.0);
    for (int i = 0; i < System::m; ++i) d.lambda[i] = random.uniform(-1.0, 1.0);
    vector = flatten(d);
  }
  /// The state at the parameter e of a curve with this tangent.
  [[nodiscard]] State moved(double e) const {
    auto state = unflatten<State>(flatten(at) + e * vector);
    state.q = detail::displaced<System>(at.q, e * shift);
    return state;
  }
};

/// A step of `Method` over dual numbers at x, applied to the tangent vector d.
template <template <class, class> class Method, template <class> class SystemOf, class State>
Eigen::VectorXd tangent_step(const State& state, const Eigen::VectorXd& d, double h,
                             SolverOptions<double> options = {1e-16, 100}) {
  using System = SystemOf<D>;
  constexpr int N = element_size<System>, n = System::n, m = System::m;
  const auto system = make_system<System>([](int i) { return D(parameters_of<System>()[i].value); });
  const Method<D, System> step(system, {D(options.tolerance), options.max_iterations});
  StateOf<D, System> dual;
  const auto join = [](double value, double partial) {
    D x(value);
    x.partial[0] = partial;
    return x;
  };
  for (int i = 0; i < N; ++i) dual.q[i] = join(state.q[i], d[i]);
  for (int i = 0; i < n; ++i) dual.p[i] = join(state.p[i], d[N + i]);
  for (int i = 0; i < m; ++i) dual.lambda[i] = join(state.lambda[i], d[N + n + i]);
  EXPECT_EQ(step(dual, D(h)).status.value, 0.0);
  Eigen::VectorXd result(N + n + m);
  for (int i = 0; i < N; ++i) result[i] = dual.q[i].partial[0];
  for (int i = 0; i < n; ++i) result[N + i] = dual.p[i].partial[0];
  for (int i = 0; i < m; ++i) result[N + n + i] = dual.lambda[i].partial[0];
  return result;
}

/// The Jacobian of a step, column by column.
template <template <class, class> class Method, template <class> class SystemOf, class State>
Eigen::MatrixXd jacobian(const State& state, double h) {
  const Eigen::Index size = flatten(state).size();
  Eigen::MatrixXd j(size, size);
  for (Eigen::Index i = 0; i < size; ++i)
    j.col(i) = tangent_step<Method, SystemOf>(state, Eigen::VectorXd::Unit(size, i), h);
  return j;
}

template <int S>
struct Lobatto {
  template <class T, class System>
  using of = LobattoOf<T, System, S>;
};

// --- against finite differences: every system of the catalogue with two stages, one system of each form with three ---

template <class C>
class TangentMapTest : public ::testing::Test {
 protected:
  using System = typename C::template of<double>;
  using Step = LobattoOf<double, System, C::stages>;
  static constexpr int n = System::n, m = System::m;
  System system = make_default<System>();
};

using Cases = CatalogueCasesAnd<2, Case<catalogue::chaotic_printed_3, 3>, Case<catalogue::chaplygin_sleigh, 3>,
                                Case<catalogue::suslov, 3>, Case<catalogue::isokinetic_particle, 3>,
                                Case<catalogue::variable_mass_pendulum, 3>, Case<catalogue::henon_heiles, 3>,
                                Case<catalogue::heavy_top, 3>>;
TYPED_TEST_SUITE(TangentMapTest, Cases, Names);

TYPED_TEST(TangentMapTest, IsTheDerivativeOfTheStep) {
  using State = typename TestFixture::Step::State;
  const typename TestFixture::Step step(this->system, to_round_off);
  const double h = 0.1 * time_scale<typename TestFixture::System>();
  Random random(1);
  for (int trial = 0; trial < 5; ++trial) {
    const State state = random_start(this->system, random);
    const Direction<typename TestFixture::System> direction(state, random);
    const Eigen::VectorXd d = direction.vector;
    // central differences of eighth order
    constexpr double e = time_scale<typename TestFixture::System>() < 1.0 ? 0x1p-10 : 0x1p-8;
    constexpr double weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    Eigen::VectorXd differences = Eigen::VectorXd::Zero(d.size());
    for (int k = 1; k <= 4; ++k)
      for (const int sign : {-1, 1})
        differences += sign * weight[k - 1] / e * flatten(advance(step, direction.moved(sign * k * e), h, 1));
    const Eigen::VectorXd tangent =
        tangent_step<Lobatto<TypeParam::stages>::template of, TypeParam::template of>(state, d, h);
    // multipliers of holonomic constraints are second differences of positions, with the round-off of such
    constexpr double accuracy = is_holonomic<typename TestFixture::System> ? 1e-9 : 1e-10;
    EXPECT_LE((tangent - differences).norm(), accuracy * tangent.norm());
    // the map is linear, whatever the size of the vector
    const Eigen::VectorXd large =
        tangent_step<Lobatto<TypeParam::stages>::template of, TypeParam::template of>(state, 0x1p128 * d, h);
    EXPECT_EQ(large, 0x1p128 * tangent);
  }
}

// Twice the fewest iterations that the plain step can do with are enough for the dual one at the tolerance of `Tangent`.
TYPED_TEST(TangentMapTest, ConvergesWhereTheStepDoes) {
  Random random(2);
  for (const double h : {0.01, 0.1, 0.3}) {
    const auto state = random_start(this->system, random);
    for (int iterations = 1; iterations <= 50; ++iterations) {
      const typename TestFixture::Step step(this->system, {1e-16, iterations});
      auto next = state;
      if (step(next, h).status != 0.0) continue;
      const Eigen::VectorXd d = Direction<typename TestFixture::System>(state, random).vector;
      tangent_step<Lobatto<TypeParam::stages>::template of, TypeParam::template of>(state, d, h,
                                                                                    {1e-14, 2 * iterations});
      break;
    }
  }
}

// --- symplecticity of the unconstrained pair, and of what is not it ---

template <class T, class System>
struct ExplicitEuler {
  System system;
  ExplicitEuler(const System& s, const SolverOptions<T>&) : system(s) {}
  StepReport<T> operator()(PhaseState<T, System::n, 0>& x, T h) const {
    const auto f = force(system, x.q);
    x.q = fma(h, x.p, x.q);
    x.p = fma(h, f, x.p);
    return {T(0.0), T(0.0), T(0.0)};
  }
};

/// The classical method of order four, for unit mass.
template <class T, class System>
struct RungeKutta {
  System system;
  RungeKutta(const System& s, const SolverOptions<T>&) : system(s) {}
  StepReport<T> operator()(PhaseState<T, System::n, 0>& x, T h) const {
    auto k = x, sum = x;
    const double to_stage[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    for (int i = 0; i < 4; ++i) {
      const auto q = i == 0 ? x.q : fma(h * T(to_stage[i]), k.q, x.q),
                 p = i == 0 ? x.p : fma(h * T(to_stage[i]), k.p, x.p);
      k.q = p;
      k.p = force(system, q);
      sum.q = fma(h * T(weight[i]), k.q, sum.q);
      sum.p = fma(h * T(weight[i]), k.p, sum.p);
    }
    x = sum;
    return {T(0.0), T(0.0), T(0.0)};
  }
};

/// max |J^T Omega J - Omega| at random states.
template <template <class, class> class Method>
double symplecticity_defect() {
  Eigen::Matrix4d omega = Eigen::Matrix4d::Zero();
  omega.topRightCorner<2, 2>().setIdentity();
  omega.bottomLeftCorner<2, 2>() = -Eigen::Matrix2d::Identity();
  Random random(3);
  double worst = 0.0;
  for (int trial = 0; trial < 20; ++trial) {
    const auto state = random_start(HenonHeiles<double>{}, random, 0.3);
    const Eigen::MatrixXd j = jacobian<Method, HenonHeiles>(state, 0.2);
    worst = std::max(worst, (j.transpose() * omega * j - omega).cwiseAbs().maxCoeff());
  }
  return worst;
}

TEST(TangentMap, OfTheUnconstrainedPairIsSymplectic) {
  EXPECT_LE(symplecticity_defect<Lobatto<2>::of>(), 1e-14);
  EXPECT_LE(symplecticity_defect<Lobatto<3>::of>(), 1e-14);
  EXPECT_LE(symplecticity_defect<Lobatto<4>::of>(), 1e-14);
  EXPECT_LE(symplecticity_defect<Lobatto<5>::of>(), 1e-14);
}

TEST(TangentMap, OfOtherMethodsIsNot) {
  EXPECT_GE(symplecticity_defect<ExplicitEuler>(), 1e-3);
  EXPECT_GE(symplecticity_defect<RungeKutta>(), 1e-7);
}

// --- exponents ---

template <class T>
struct WithTangents : NoFormulas<T> {
  static constexpr bool tangents = true;
};

/// One chunk with a single trajectory of `System`, advanced as the backends do it.
template <template <class> class SystemOf, template <class, class> class Method>
class Trajectory {
  using System = SystemOf<double>;
  static constexpr int n = System::n, m = System::m;

 public:
  Trajectory(const std::vector<double>& parameters, double h, const Vector<double, n>& q, const Vector<double, n>& v) {
    arguments_.step = h;
    arguments_.tolerance = 1e-16;
    arguments_.max_iterations = 50;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      arguments_.parameters[i] = parameters[i];
      arguments_.parameter_row[i] = -1;
    }
    ChunkLayout& rows = arguments_.layout;
    rows.p = n;
    rows.lambda = 2 * n;
    rows.status = 2 * n + m;
    rows.steps = rows.status + 1;
    rows.iterations = rows.status + 2;
    rows.residual = rows.status + 3;
    rows.step = rows.steps_per_sample = -1;
    rows.tangent = rows.residual + 1;
    rows.tangent_exponent = rows.tangent + 2 * n + m;
    rows.tangents = 1;
    rows.rows = rows.tangent_exponent + 1;
    chunk_.assign(static_cast<std::size_t>(rows.rows) * row_size, 0.0);
    const auto system = make_system<System>([&](int i) { return parameters[static_cast<std::size_t>(i)]; });
    const auto state = start(system, q, v);
    const Eigen::VectorXd x = flatten(state);
    for (int i = 0; i < 2 * n + m; ++i) at(i) = x[i];
    double tangent[2 * n + m];
    initial_tangents<SystemOf>({parameters.data(), 0.0}, q.entry, v.entry, nullptr, false, false, 1, tangent);
    for (int i = 0; i < 2 * n + m; ++i) at(rows.tangent + i) = tangent[i];
  }

  /// Steps, and the exponent after them.
  double operator()(std::int64_t steps) {
    arguments_.target += steps;
    advance_lanes<double, SystemOf, Method, Tangent<double, SystemOf, Method>>(arguments_, chunk_.data(), 0);
    EXPECT_EQ(at(arguments_.layout.status), 0.0);
    const ObservableCode code{ObservableCode::lyapunov, 0};
    std::vector<double> value(chunk_size);
    observe_lanes<double, SystemOf, WithTangents>(arguments_, chunk_.data(), 0, &code, 1, value.data());
    return value[0];
  }
  double& at(int row) { return chunk_[static_cast<std::size_t>(row) * row_size]; }
  /// (dq, dp, dlambda) as it is stored.
  Eigen::VectorXd tangent() {
    Eigen::VectorXd d(2 * n + m);
    for (int i = 0; i < 2 * n + m; ++i) d[i] = at(arguments_.layout.tangent + i);
    return d;
  }
  PhaseState<double, n, m> state() {
    Eigen::VectorXd x(2 * n + m);
    for (int i = 0; i < 2 * n + m; ++i) x[i] = at(i);
    return unflatten<PhaseState<double, n, m>>(x);
  }

 private:
  KernelArguments arguments_{};
  std::vector<double> chunk_;
};

/// L = v^2/2 - (a x^2/2 + b x^4/4).
template <class T>
struct Oscillator {
  using scalar = T;
  T a, b;
  static constexpr int n = 1, m = 0;
  static constexpr std::array<ParameterInfo, 2> parameters() { return {{{"a", 1.0, "", ""}, {"b", 0.0, "", ""}}}; }
  static constexpr std::array<ObservableInfo, 0> invariants() { return {}; }
  static constexpr bool conserves_energy = true;
  template <class S>
  S potential(const Vector<S, n>& q) const {
    const S x2 = q[0] * q[0];
    return x2 * fma(S(T(0.25) * b), x2, S(T(0.5) * a));
  }
};

// The velocity Verlet map of x'' = w^2 x is the matrix ((cosh u, sinh u / r), (r sinh u, cosh u)) with cosh u = 1 + z/2,
// z = (h w)^2, r = w sqrt(1 + z/4); its powers have k u for u.
TEST(Exponent, OfTheInvertedOscillatorIsKnown) {
  const double w = 1.5, h = 0.125, z = h * h * w * w, r = w * std::sqrt(1.0 + z / 4),
               u = std::log1p(z / 2 + std::sqrt(z + z * z / 4));
  Trajectory<Oscillator, Lobatto<2>::of> trajectory({-w * w, 0.0}, h, {0.0}, {0.0});
  const Eigen::VectorXd start = trajectory.tangent();
  EXPECT_NEAR(start.norm(), 1.0, 1e-15);
  EXPECT_EQ(trajectory(0), 0.0);
  std::int64_t taken = 0;
  for (const std::int64_t steps : {1, 2, 3, 10, 100, 500, 3000, 100000}) {
    const double exponent = trajectory(steps), k = double(taken += steps);
    // e^-ku A^k, which does not overflow
    const double e = std::exp(-2 * k * u), c = 0.5 * (1 + e), s = 0.5 * (1 - e);
    const double norm = std::hypot(c * start[0] + s / r * start[1], r * s * start[0] + c * start[1]);
    EXPECT_NEAR(exponent, (k * u + std::log(norm)) / (k * h), 1e-14 * k * u) << k;
  }
  // 10^8000 by now
  EXPECT_GT(trajectory(0) * double(taken) * h, 18000.0);
}

// Slices of any length, the last with a renormalisation in its middle, give the same bits.
TEST(Exponent, DoesNotDependOnHowTheLoopIsCut) {
  const std::vector<double> none;
  using T = Trajectory<HenonHeiles, Lobatto<3>::of>;
  T whole(none, 0.5, {0.0, 0.1}, {0.5, 0.0}), cut(none, 0.5, {0.0, 0.1}, {0.5, 0.0});
  const double expected = whole(20000);
  for (int i = 0; i < 400; ++i) cut(i % 2 == 0 ? 1 : 99);
  EXPECT_EQ(cut(0), expected);
  EXPECT_EQ(cut.tangent(), whole.tangent());
}

// A motion on tori: distances grow linearly, so the exponent falls like ln t / t.
TEST(Exponent, OfIntegrableMotionFallsLikeLogarithmOverTime) {
  Trajectory<Oscillator, Lobatto<3>::of> anharmonic({1.0, 1.0}, 0.1, {1.0}, {0.3});
  const double early = 1e2 * anharmonic(1000), late = 1e5 * anharmonic(999000);
  EXPECT_NEAR((late - early) / std::log(1e3), 1.0, 0.1);
  // linear motion: distances stay bounded
  Trajectory<Oscillator, Lobatto<3>::of> harmonic({1.0, 0.0}, 0.1, {1.0}, {0.3});
  EXPECT_NEAR(harmonic(100000), 0.0, 1e-4);
}

/// The exponent from two neighbouring trajectories, brought back to their first distance after every step.
template <template <class, class> class Method>
double of_neighbours(const Vector<double, 2>& q, const Vector<double, 2>& v, Eigen::VectorXd d, double h, int steps) {
  using State = PhaseState<double, 2, 0>;
  const HenonHeiles<double> system;
  const Method<double, HenonHeiles<double>> step(system, {1e-16, 50});  // those of Trajectory: chaos forgives no other
  State state = start(system, q, v);
  double sum = 0.0;
  constexpr double distance = 1e-6;
  d *= distance / d.norm();
  for (int k = 0; k < steps; ++k) {
    // on both sides, which takes the curvature out
    State plus = unflatten<State>(flatten(state) + d), minus = unflatten<State>(flatten(state) - d);
    step(state, h);
    step(plus, h);
    step(minus, h);
    d = 0.5 * (flatten(plus) - flatten(minus));
    sum += std::log(d.norm() / distance);
    d *= distance / d.norm();
  }
  return sum / (steps * h);
}

/// A Henon-Heiles orbit of energy E through the section x = 0 at (y, vy).
struct HenonHeilesOrbit {
  Vector<double, 2> q, v;
  HenonHeilesOrbit(double energy, double y, double vy)
      : q{0.0, y}, v{std::sqrt(2 * energy - vy * vy - y * y + 2 * y * y * y / 3), vy} {}
};

TEST(Exponent, OfHenonHeilesAgreesWithNeighbouringTrajectories) {
  // a chaotic orbit just below the escape energy 1/6
  const HenonHeilesOrbit orbit(0.1665, -0.1, 0.0);
  Trajectory<HenonHeiles, Lobatto<3>::of> trajectory({}, 0.1, orbit.q, orbit.v);
  const Eigen::VectorXd d = trajectory.tangent();
  const double exponent = trajectory(20000);
  EXPECT_NEAR(exponent, of_neighbours<Lobatto<3>::of>(orbit.q, orbit.v, d, 0.1, 20000), 1e-4 * exponent);
  const double late = trajectory(180000);
  EXPECT_GT(late, 0.1);
  EXPECT_LT(late, 0.15);
}

TEST(Exponent, OfARegularHenonHeilesOrbitVanishes) {
  const HenonHeilesOrbit orbit(1.0 / 12, 0.1, 0.0);
  Trajectory<HenonHeiles, Lobatto<3>::of> trajectory({}, 0.1, orbit.q, orbit.v);
  EXPECT_LT(std::abs(trajectory(200000)), 1e-3);
}

// --- the tangent vector to start from ---

TYPED_TEST(TangentMapTest, StartsOnTheLinearisedConstraint) {
  using System = typename TestFixture::System;
  constexpr int N = element_size<System>, n = System::n, m = System::m;
  std::vector<double> parameters;
  for (const ParameterInfo& p : parameters_of<System>()) parameters.push_back(p.value);
  const auto q = to_vector(System::default_q), v = to_vector(System::default_v);
  double tangent[N + n + m];
  initial_tangents<TypeParam::template of>({parameters.data(), 0.0}, q.entry, v.entry, nullptr, false, false, 1,
                                           tangent);
  const auto dq = detail::load<N>(tangent);
  const auto dp = detail::load<n>(tangent + N);
  EXPECT_NEAR(dot(dq, dq) + dot(dp, dp), 1.0, 1e-14);
  if constexpr (m > 0) {
    // along the tangent the constraint holds to second order, and lambda is the multiplier of the continuous equations
    const double e = 1e-4;
    Vector<double, m> lambda[2];
    for (const int side : {0, 1}) {
      const double at = side == 0 ? -e : e;
      const auto state = default_start(this->system);
      const auto x = fma(at, dq, state.q), y = velocity(this->system, x, fma(at, dp, state.p));
      EXPECT_LE(max_norm(constraint(this->system, x, y)), 10 * e * e);
      EXPECT_TRUE(detail::continuous_multiplier(this->system, x, y, lambda[side]));
    }
    for (int i = 0; i < m; ++i)
      EXPECT_NEAR((lambda[1][i] - lambda[0][i]) / (2 * e), tangent[N + n + i],
                  1e-5 * (1 + std::abs(tangent[N + n + i])));
  }
}

}  // namespace
}  // namespace rattleback
