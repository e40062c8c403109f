// Variational Munthe-Kaas methods on other groups, SE(3), products, S^1 and R^n, and with Hamiltonians, degenerate ones
// included.

#include "named.hpp"
#include "rattleback/systems/unconstrained/angle_pendulum.hpp"
#include "rattleback/systems/unconstrained/order_barrier.hpp"
#include "rattleback/systems/unconstrained/rigid_body_spring.hpp"
#include "vrkmk.hpp"

using namespace rattleback;
using namespace rattleback::variational;

namespace {

using Spring = RigidBodySpring<double>;
using Barrier = OrderBarrier<double>;

TEST(VrkmkSystems, DerivativesByHandAreThoseOfThePotential) {
  Random random(3);
  const auto check = [&](const auto& system) {
    using System = std::remove_cvref_t<decltype(system)>;
    using G = group_of<System>;
    for (int trial = 0; trial < 10; ++trial) {
      const auto q =
          G::product(to_vector(System::default_q), exponential<G>(random.template vector<System::n>(-1.0, 1.0)));
      const auto u = system.potential(seeded_configuration<G, Dual<double, System::n>>(q));
      const auto f = force(system, q);
      for (int i = 0; i < System::n; ++i) EXPECT_NEAR(f[i], -u.partial[i], 1e-13 * (1.0 + std::fabs(f[i])));
    }
  };
  check(dipole(-1.0));
  check(Dipole{1.3, 0.2, 0.7, 1.9, 1.0});
  check(make_default<Spring>());
  check(make_default<AnglePendulum<double>>());
}

TEST(VrkmkSystems, DefaultStatesAreThoseOfTheirDescriptions) {
  const auto spring = default_state(make_default<Spring>());
  EXPECT_LT(distance(spring.q, exponential<SE3>({0.2, -0.3, 0.1, 0.4, 0.1, -0.2})), 1e-15);
  EXPECT_LT(distance(spring.p, {0.5, -0.4, 0.9, 0.3, 0.2, -0.1}), 1e-15);
  const auto barrier = default_state(make_default<Barrier>());
  EXPECT_LT(distance(barrier.q, exponential<SO3>({0.2, -0.1, 0.4})), 1e-15);
  EXPECT_LT(distance(barrier.p, {0.3, -0.2, 0.1}), 1e-15);
  const auto start = default_state(dipole(-1.0));
  EXPECT_LT(distance(start.p, {0.0, 0.01, 0.0}), 1e-17);
}

TEST(StatesInSpace, ArePreparedAndTurned) {
  const double parameters[] = {1.0, 1.0, 0.5, 1.0, 0.0, 0.0, 1.0};
  const auto system = lagrange_top();
  const auto rotation = exponential<SO3>({0.4, 0.1, 0.0});
  const auto expected = in_space(system, rotation, {0.3, -0.2, 1.0});
  auto q = rotation;
  Vector<double, 3> v{0.3, -0.2, 1.0}, p{};
  const PointView point{q.entry, v.entry, p.entry, nullptr};
  EXPECT_TRUE(prepare<HeavyTop>({parameters, 0.0}, point, {false, false, false, true, true}).multiplier_ok);
  EXPECT_LT(distance(p, expected.p), 1e-16);
  EXPECT_EQ(distance(v, {0.3, -0.2, 1.0}), 0.0);
  // from the momentum, which keeps its bits
  p = expected.p;
  v = {};
  prepare<HeavyTop>({parameters, 0.0}, point, {true, false, false, true, true});
  EXPECT_LT(distance(v, {0.3, -0.2, 1.0}), 1e-15);
  EXPECT_EQ(distance(p, expected.p), 0.0);
  EXPECT_EQ(distance(velocity_of_state(system, q, p, true), v), 0.0);

  turn<HeavyTop>(q.entry, v.entry, p.entry, false);
  EXPECT_LT(distance(p, momentum(system, q, v)), 1e-15);
  EXPECT_EQ(distance(velocity_of_state(system, q, p, false), velocity(system, q, p)), 0.0);
  turn<HeavyTop>(q.entry, nullptr, p.entry, true);
  EXPECT_LT(distance(p, expected.p), 1e-15);
}

TEST(Vrkmk, OfFourStagesHasOrderEight) {
  const auto step = vrkmk<4>(dipole(-1.0), "gauss4", 6);
  const auto error = [&](int steps) {
    return dipole_error(-1.0, run<Dipole>(step, dipole_state(dipole(-1.0)), 0.5 / steps, steps));
  };
  const double coarse = error(2), middle = error(3), fine = error(4);
  EXPECT_GT(fine, 1e-13);
  EXPECT_NEAR(std::log(coarse / middle) / std::log(3.0 / 2), 8.0, 0.5);
  EXPECT_NEAR(std::log(middle / fine) / std::log(4.0 / 3), 8.0, 0.3);
}

/// A pendulum that declares its circle.
struct CirclePendulum : AnglePendulum<double> {
  using Group = S1;
};

TEST(VrkmkOnCommutativeGroups, IsThePartitionedPair) {
  const AnglePendulum<double> system{1.0, 1.0, 1.0};
  const CirclePendulum on_circle{{1.0, 1.0, 1.0}};
  for (const auto& [name, cutoff] :
       {std::pair{"gauss1", 0}, {"kutta3", 1}, {"gauss2", 2}, {"gauss2", 0}, {"gauss3", 4}}) {
    SCOPED_TRACE(name);
    const RungeKuttaTableau& t = *named(runge_kutta_tableaus, name);
    const double h = 0.1, q0 = 1.1, p0 = 0.4;
    // Q_i = q + h a_ij P_j, P_i = p - h ahat_ij sin Q_j, ahat_ij = b_j - b_j a_ji/b_i
    double q[3] = {q0, q0, q0}, p[3] = {p0, p0, p0};
    for (int sweep = 0; sweep < 100; ++sweep) {
      double next_q[3], next_p[3];
      for (int i = 0; i < t.stages; ++i) {
        next_q[i] = q0;
        next_p[i] = p0;
        for (int j = 0; j < t.stages; ++j) {
          next_q[i] += h * t.a[i][j] * p[j];
          next_p[i] -= h * (t.b[j] - t.b[j] * t.a[j][i] / t.b[i]) * std::sin(q[j]);
        }
      }
      std::copy(next_q, next_q + t.stages, q);
      std::copy(next_p, next_p + t.stages, p);
    }
    double q1 = q0, p1 = p0;
    for (int i = 0; i < t.stages; ++i) {
      q1 += h * t.b[i] * p[i];
      p1 -= h * t.b[i] * std::sin(q[i]);
    }
    for (const bool pade : {false, true}) {
      StateOf<double, AnglePendulum<double>> line{{q0}, {p0}, {}}, circle = line;
      EXPECT_EQ(vrkmk(system, t, cutoff, pade)(line, h).status, 0.0);
      EXPECT_NEAR(line.q[0], q1, 1e-15);
      EXPECT_NEAR(line.p[0], p1, 1e-15);
      vrkmk(on_circle, t, cutoff, pade)(circle, h);
      EXPECT_EQ(distance(line, circle), 0.0);
    }
  }
}

TEST(VrkmkOnCommutativeGroups, FromRest) {
  const AnglePendulum<double> system{1.0, 1.0, 1.0};
  StateOf<double, AnglePendulum<double>> state{{2.0}, {0.0}, {}};
  EXPECT_EQ(vrkmk<2>(system, "gauss2", 2)(state, 0.1).status, 0.0);
  StateOf<double, AnglePendulum<double>> still{{0.0}, {0.0}, {}};
  EXPECT_EQ(vrkmk<2>(system, "gauss2", 2)(still, 0.1).status, 0.0);
  EXPECT_EQ(still.q[0], 0.0);
}

/// A dipole and a pendulum that do not know of each other.
struct Pair {
  using scalar = double;
  using Group = Product<SO3, Rn<1>>;
  static constexpr int n = 4, m = 0;
  Dipole first{1.0, 0.1, 1.0, 1.0, -1.0};
  AnglePendulum<double> second{1.0, 1.0, 1.0};

  template <class S>
  S potential(const Vector<S, 10>& q) const {
    return first.potential(segment<0, 9>(q)) + second.potential(segment<9, 1>(q));
  }
  [[nodiscard]] Vector<double, 4> mass_diagonal() const { return join(first.mass_diagonal(), second.mass_diagonal()); }
};

TEST(VrkmkOnProducts, FactorsGoTheirOwnWays) {
  const Pair system;
  auto first = generic_dipole_state();
  StateOf<double, AnglePendulum<double>> second{{1.1}, {0.4}, {}};
  StateOf<double, Pair> state{join(first.q, second.q), join(first.p, second.p), {}};
  EXPECT_EQ(vrkmk<2>(system, "gauss2", 2)(state, 0.05).status, 0.0);
  vrkmk<2>(system.first, "gauss2", 2)(first, 0.05);
  vrkmk<2>(system.second, "gauss2", 2)(second, 0.05);
  EXPECT_LT(distance(state.q, join(first.q, second.q)), 1e-15);
  EXPECT_LT(distance(state.p, join(first.p, second.p)), 1e-15);
}

/// The dipole by its Hamiltonian, and by a Lagrangian that does not show its structure.
struct DipoleHamiltonian {
  using scalar = double;
  using Group = SO3;
  static constexpr int n = 3, m = 0;
  Dipole dipole{1.0, 0.1, 1.0, 1.0, -1.0};

  template <class S>
  S hamiltonian(const Vector<S, 9>& q, const Vector<S, 3>& p) const {
    return S(0.5) * dot(p, Mass<Dipole>(dipole).inverse_times(p)) + dipole.potential(q);
  }
};
struct DipoleLagrangian {
  using scalar = double;
  using Group = SO3;
  static constexpr int n = 3, m = 0;
  Dipole dipole{1.0, 0.1, 1.0, 1.0, -1.0};

  template <class S>
  S lagrangian(const Vector<S, 9>& q, const Vector<S, 3>& v) const {
    return S(0.5) * dot(v, Mass<Dipole>(dipole).times(v)) - dipole.potential(q);
  }
};

TEST(VrkmkByHamiltonians, IsTheSameMap) {
  for (const bool pade : {false, true})
    for (const auto iteration : {StageIteration::newton, StageIteration::fixed_point}) {
      auto state = generic_dipole_state();
      StateOf<double, DipoleHamiltonian> by_hamiltonian{state.q, state.p, {}};
      StateOf<double, DipoleLagrangian> by_lagrangian{state.q, state.p, {}};
      EXPECT_EQ(vrkmk<2>(dipole(-1.0), "gauss2", 2, pade)(state, 0.05).status, 0.0);
      EXPECT_EQ(vrkmk<2>(DipoleHamiltonian{}, "gauss2", 2, pade)(by_hamiltonian, 0.05).status, 0.0);
      EXPECT_EQ(vrkmk<2>(DipoleLagrangian{}, "gauss2", 2, pade, iteration)(by_lagrangian, 0.05).status, 0.0);
      EXPECT_LT(distance(state.q, by_hamiltonian.q), 1e-15);
      EXPECT_LT(distance(state.p, by_hamiltonian.p), 1e-15);
      EXPECT_LT(distance(state.q, by_lagrangian.q), 1e-15);
      EXPECT_LT(distance(state.p, by_lagrangian.p), 1e-15);
    }
}

TEST(VrkmkByHamiltonians, AHamiltonianAloneGivesAllThatALagrangianGives) {
  const DipoleHamiltonian system;
  const Dipole& dipole = system.dipole;
  static_assert(HamiltonianAlone<DipoleHamiltonian> && !HamiltonianAlone<DipoleLagrangian> &&
                !HamiltonianAlone<Barrier>);
  const auto state = generic_dipole_state();
  const Vector<double, 3> v = velocity(dipole, state.q, state.p);
  EXPECT_LT(distance(velocity(system, state.q, state.p), v), 1e-15);
  EXPECT_LT(distance(momentum(system, state.q, v), state.p), 1e-15);
  EXPECT_LT(distance(configuration_force(system, state.q, v), force(dipole, state.q)), 1e-14);
  EXPECT_NEAR(energy(system, state.q, v), energy(dipole, state.q, v), 1e-15);
  EXPECT_NEAR(lagrangian(system, state.q, v), lagrangian(dipole, state.q, v), 1e-15);
  const auto mass = mass_matrix(system, state.q, v), same = mass_matrix(DipoleLagrangian{}, state.q, v);
  for (int i = 0; i < 3; ++i) EXPECT_LT(distance(mass[i], same[i]), 1e-14);
}

TEST(OrderBarrier, ItsEnergyIsThatOfTheMomentum) {  // also where it has no Lagrangian
  const Barrier system{0.0};
  const Vector<double, 9> q = exponential<SO3>({0.2, -0.1, 0.4});
  const Vector<double, 3> p{0.3, -0.2, 0.1}, v = velocity(system, q, p);
  EXPECT_EQ(evaluate_observables(system, q, v, p)[0], dot(p, v));
}

TEST(OrderBarrier, TheCutoffLimitsTheOrderForDegenerateHamiltoniansToo) {
  struct Row {
    const char* tableau;
    int cutoff;
    double slope;
  };
  const Row rows[] = {
      {"gauss2", 0, 1.99}, {"gauss2", 1, 2.99}, {"gauss2", 2, 3.99}, {"gauss3", 2, 4.99}, {"gauss3", 4, 5.95}};
  for (const double epsilon : {1.0, 0.0}) {
    const Barrier system{epsilon};
    StateOf<double, Barrier> start{exponential<SO3>({0.2, -0.1, 0.4}), {0.3, -0.2, 0.1}, {}};
    const auto reference = run<Barrier>(vrkmk<3>(system, "gauss3", 4), start, 1.0 / 200, 200);
    for (const Row& row : rows) {
      const auto step = vrkmk<2, 3>(system, row.tableau, row.cutoff);
      const auto error = [&](int steps) { return distance(run<Barrier>(step, start, 1.0 / steps, steps), reference); };
      EXPECT_NEAR(std::log2(error(10) / error(20)), row.slope, 0.15)
          << row.tableau << " " << row.cutoff << " " << epsilon;
    }
  }
}

TEST(OrderBarrier, FromNoMomentumItIsTheMuntheKaasMethod) {
  const Barrier system{1.0};
  StateOf<double, Barrier> state{exponential<SO3>({0.2, -0.1, 0.4}), {0.0, 0.0, 0.0}, {}};
  const auto start = state;
  const auto step = vrkmk<3>(system, "kutta3", 1);
  EXPECT_EQ(step(state, 0.1).status, 0.0);
  EXPECT_EQ(max_norm(state.p), 0.0);
  // k_j = xi_j - [x_j, xi_j]/2, xi = B R c + w
  const RungeKuttaTableau& t = *named(runge_kutta_tableaus, "kutta3");
  Vector<double, 3> k[3], y = Vector<double, 3>::zero();
  for (int i = 0; i < 3; ++i) {
    auto x = Vector<double, 3>::zero();
    for (int j = 0; j < i; ++j) x = x + (0.1 * t.a[i][j]) * k[j];
    const auto q = SO3::product(exponential<SO3>(x), start.q);
    const auto xi = SO3::Ad(q, velocity(system, q, Vector<double, 3>::zero()));
    k[i] = xi - 0.5 * cross(x, xi);
    y = y + (0.1 * t.b[i]) * k[i];
  }
  EXPECT_LT(distance(state.q, SO3::product(exponential<SO3>(y), start.q)), 3e-16);
}

}  // namespace
