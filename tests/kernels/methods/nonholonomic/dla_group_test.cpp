// nonholonomic-dla on Lie groups: the gold state, orders, symmetry, constraints, long runs where the motion contracts.

#include "rattleback/methods/nonholonomic/dla.hpp"
#include "rattleback/tableaus/compositions.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

constexpr SolverOptions<double> solver{1e-16, 50};

template <class System, class Tau = Cay>
using Step = DlaStep<double, System, DlaLagrangian::midpoint, DlaConstraint::mid, Tau>;
template <class System, class Tau = Cay>
using ComposedStep = ComposedDlaStep<double, System, DlaLagrangian::midpoint, DlaConstraint::mid, Tau>;

/// A heavy body that cannot turn about an axis of the body off the principal ones.
template <class T>
struct SkewSuslov {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::velocity;
  template <class S>
  RB_HD S potential(const Vector<S, 9>& q) const {
    return S(0.9) * q[8];
  }
  RB_HD Vector<T, n> mass_diagonal() const { return {T(1.0), T(1.4), T(0.7)}; }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, 9>&) const {
    return {{{S(0.3), S(-0.2), S(1.0)}}};
  }
};

/// The same with moments of inertia, an axis and a rate about it that depend on R.
template <class T>
struct ChangingSuslov {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::velocity;
  template <class S>
  RB_HD S lagrangian(const Vector<S, 9>& q, const Vector<S, n>& v) const {
    const S bulge = fma(S(0.2), q[8] * q[8], S(1.0));
    return S(0.5) * (bulge * v[0] * v[0] + S(1.4) * v[1] * v[1] + S(0.7) * v[2] * v[2]) + S(0.3) * q[0] * v[1] -
           S(0.9) * q[8];
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, 9>& q) const {
    return {{{S(0.3), S(0.5) * q[2], S(1.0)}}};
  }
  template <class S>
  RB_HD Vector<S, m> constraint_offset(const Vector<S, 9>& q) const {
    return {S(0.1) * q[4]};
  }
};

const Vector<double, 9> turned = SO3::expand(Vector<double, 3>{0.3, -0.4, 0.2});
template <class System>
StateOf<double, System> suslov_start() {
  const System system;
  Vector<double, 3> w{0.5, 0.8, -0.6};
  EXPECT_TRUE(detail::project_velocity(system, turned, w, 1e-14));
  return start(system, turned, w);
}

template <class G, class Tau>
void expect_halves() {
  Random random{3};
  for (int k = 0; k < 20; ++k) {
    const auto x = random.vector<G::dimension>(-1.0, 1.0);
    const auto half = Chart<G, Tau, double>(halfway<G, Tau, double>(x)).tau();
    EXPECT_LE(distance(G::product(half, half), Chart<G, Tau, double>(x).tau()), 2e-15);
  }
}
TEST(Halfway, IsTheSquareRootOfARetraction) {
  expect_halves<SO3, Cay>();
  expect_halves<SO3, Exp>();
  expect_halves<SE2, Cay>();
  expect_halves<SE3, Cay>();
  expect_halves<SE3, Exp>();
  expect_halves<Product<SO3, SE3, Rn<2>>, Cay>();
}

TEST(NonholonomicDlaOnGroups, HasTheGoldState) {
  const SkewSuslov<double> system;
  const Vector<double, 3> a{0.3, -0.2, 1};
  Vector<double, 3> w{0.5, 0.8, -0.6};
  w = w - (dot(a, w) / dot(a, a)) * a;
  const auto state = advance(Step<SkewSuslov<double>>(system, solver), start(system, turned, w), 0.1, 10);
  const auto v = velocity(system, state.q, state.p);
  EXPECT_LE(distance(v, {1.1513763423847595, 0.62686913836700422, -0.22003907504202700}), 1e-13);
  EXPECT_NEAR(energy(system, state.q, v), 1.3479389263230863, 1e-13);
}

template <class System, class Tau>
void expect_orders() {
  const System system;
  const auto first = suslov_start<System>();
  const auto reference = advance(LobattoStep<double, System, Cay, 4>(system, to_round_off), first, 1.0 / 64, 64);
  for (const Composition& c : compositions) {
    if (c.kind != Composition::Kind::plain && c.kind != Composition::Kind::substeps) continue;
    SCOPED_TRACE(c.name);
    const auto error = [&](int steps) {
      const double h = 1.0 / steps;
      StateOf<double, System> state;
      if (c.kind == Composition::Kind::plain) {
        state = advance(Step<System, Tau>(system, solver), first, h, steps);
      } else {
        const auto numbers = composition_numbers(c, false);
        state = advance(ComposedStep<System, Tau>(system, solver, numbers), first, h, steps);
      }
      return std::max(distance(state.q, reference.q), distance(state.p, reference.p));
    };
    if (c.order == 8) {
      EXPECT_LT(error(8), 1e-9);
      continue;
    }
    const int steps = c.order == 6 ? 8 : 16;
    EXPECT_NEAR(std::log2(error(steps) / error(2 * steps)), c.order, c.order == 6 ? 0.15 : 0.05);
  }
}
TEST(NonholonomicDlaOnGroups, HasItsOrderAndThoseOfCompositions) {
  expect_orders<SkewSuslov<double>, Cay>();
  expect_orders<SkewSuslov<double>, Exp>();
  expect_orders<ChangingSuslov<double>, Cay>();
  expect_orders<ChangingSuslov<double>, Exp>();
}

/// 20 steps and back: with -h and, where `reverses`, after the reversal of velocities. The constraint holds at the nodes.
template <class System, class Tau>
void expect_symmetric(const System& system, const StateOf<double, System>& first, double h, bool reverses = true) {
  const Step<System, Tau> step(system, solver);
  auto there = first;
  for (int k = 0; k < 20; ++k) {
    there = advance(step, there, h, 1);
    EXPECT_LE(max_norm(constraint(system, there.q, velocity(system, there.q, there.p))), 2e-15);
  }
  EXPECT_GT(distance(there.q, first.q), 0.05);
  auto back = advance(step, there, -h, 20);
  EXPECT_LE(distance(back.q, first.q), 1e-13);
  EXPECT_LE(distance(back.p, first.p), 1e-13);
  if (!reverses) return;
  there.p = -there.p;
  back = advance(step, there, h, 20);
  EXPECT_LE(distance(back.q, first.q), 1e-13);
  EXPECT_LE(distance(-back.p, first.p), 1e-13);
}
template <class System>
void expect_symmetric_from_default(double h, bool reverses = true) {
  SCOPED_TRACE(System::name);
  const System system = make_default<System>();
  expect_symmetric<System, Cay>(system, default_start(system), h, reverses);
  expect_symmetric<System, Exp>(system, default_start(system), h, reverses);
}
TEST(NonholonomicDlaOnGroups, IsSymmetric) {
  expect_symmetric<SkewSuslov<double>, Cay>({}, suslov_start<SkewSuslov<double>>(), 0.1);
  expect_symmetric<ChangingSuslov<double>, Exp>({}, suslov_start<ChangingSuslov<double>>(), 0.1, false);
  expect_symmetric_from_default<VerticalDisc<double>>(0.1);
  expect_symmetric_from_default<Rattleback<double>>(0.001);
  expect_symmetric_from_default<TurntableBall<double, TurntableVariant::space>>(0.1, false);  // the table turns on
  expect_symmetric_from_default<TurntableBall<double, TurntableVariant::body>>(0.1, false);
}

// Where the motion contracts, a carried multiplier alternates and grows until the motion turns round.
TEST(NonholonomicDlaOnGroups, FollowsAMotionThatContracts) {
  using System = Suslov<double>;
  const System system = make_default<System>();
  const auto energy_error = [&](const auto& step, double h) {
    auto state = default_start(system);
    const double before = energy(system, state.q, velocity(system, state.q, state.p));
    double worst = 0.0;
    for (int k = 0; k * h < 120.0; ++k) {
      state = advance(step, state, h, 1);
      worst = std::max(worst, std::fabs(energy(system, state.q, velocity(system, state.q, state.p)) - before));
    }
    return worst;
  };
  const double coarse = energy_error(Step<System>(system, solver), 0.08),
               fine = energy_error(Step<System>(system, solver), 0.04);
  EXPECT_LT(fine, 3e-5);
  EXPECT_NEAR(coarse / fine, 4.0, 0.1);
  EXPECT_LT(energy_error(Step<System, Exp>(system, solver), 0.08), 5e-5);
}

TEST(NonholonomicDlaOnGroups, FailsWithAWordWhereAStepTurnsTooFar) {
  const SkewSuslov<double> system;
  auto state = suslov_start<SkewSuslov<double>>();
  auto far = state;
  far.p = 1e3 * state.p;
  const double status = Step<SkewSuslov<double>>(system, SolverOptions<double>{1e-16, 3})(far, 0.1).status;
  EXPECT_EQ(status, double(status_fold));
  EXPECT_EQ((Step<SkewSuslov<double>>(system, SolverOptions<double>{1e-16, 1})(state, 0.1).status),
            double(status_not_converged));
}

}  // namespace
}  // namespace rattleback
