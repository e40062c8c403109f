// What holonomic systems state by hand against dual numbers, their known motions, and difference quotients.

#include "ggl_cases.hpp"

namespace rattleback {
namespace {

template <class System>
void expect_derivatives() {
  constexpr int n = System::n, m = System::m, k = System::block;
  using D = Dual<double, n>;
  Random random(3);
  for (int trial = 0; trial < 10; ++trial) {
    const auto system =
        make_system<System>([&](int i) { return parameters_of<System>()[i].value * random.uniform(0.7, 1.3); });
    const auto q = random.vector<n>(-1.0, 1.0);
    const auto a = random.vector<m>(-1.0, 1.0);
    const auto g = position_constraint(system, q).jacobian, by_hand = system.position_jacobian(q);
    const auto hessian_by_hand = system.constraint_hessian(a);
    Vector<D, n> x;
    for (int i = 0; i < n; ++i) x[i] = D(q[i], i);
    const auto rows = system.position_jacobian(x);
    for (int i = 0; i < n; ++i) {
      for (int r = 0; r < m; ++r) {
        EXPECT_NEAR(by_hand[r][i], g[r][i], 1e-14);
        if (!ConstraintForms<System>::entry(r, i)) {
          EXPECT_EQ(g[r][i], 0.0);
        }
      }
      for (int j = 0; j < n; ++j) {
        double second = 0.0;
        for (int r = 0; r < m; ++r) second += a[r] * rows[r][i].partial[j];
        EXPECT_NEAR(i % k == j % k ? hessian_by_hand[i / k][j / k] : 0.0, second, 1e-13);
      }
    }
    const auto f = force(system, q);
    const auto of_potential = gradient<1>(lagrangian_of(system), q, q).dq[0];
    EXPECT_LT(distance(f, of_potential), 1e-11);
    const auto mass = system.mass_diagonal();
    for (int i = 0; i < n; ++i) EXPECT_EQ(mass[i], mass[i - i % k]);
    if constexpr (System::terms > 0) {
      const auto c = random.vector<System::terms>(-1.0, 1.0);
      const auto pi = system.potential_invariants(x);
      const auto slopes = system.potential_invariants_jacobian(x);
      const auto hessian_of_pi = system.potential_invariants_hessian(c);
      for (int i = 0; i < n; ++i) {
        for (int t = 0; t < System::terms; ++t) EXPECT_NEAR(pi[t].partial[i], slopes[t][i].value, 1e-14);
        for (int j = 0; j < n; ++j) {
          double second = 0.0;
          for (int t = 0; t < System::terms; ++t) second += c[t] * slopes[t][i].partial[j];
          EXPECT_NEAR(i % k == j % k ? hessian_of_pi[i / k][j / k] : 0.0, second, 1e-13);
        }
      }
    }
  }
}

TEST(Blocks, DerivativesByHandAreThoseOfDualNumbers) {
  expect_derivatives<FourParticle<double>>();
  expect_derivatives<HeavyTopDirectors<double>>();
}

TEST(Blocks, DefaultStatesSatisfyTheConstraints) {
  const auto expect = [](const auto& system) {
    using System = std::remove_cvref_t<decltype(system)>;
    const auto q = to_vector(System::default_q), v = to_vector(System::default_v);
    EXPECT_LE(max_norm(system.position_constraint(q)), 3e-16);
    EXPECT_LE(max_norm(constraint(system, q, v)), 3e-16 * std::max(1.0, max_norm(v)));
  };
  expect(four_particle);
  expect(top);
  expect(cylindrical);
}

TEST(Blocks, VelocityInvertsTheLegendreTransform) {
  const MagneticPendulum<double, 3> magnetic{1.3, 0.9, 9.81, 1.0, 2.0};
  const CylindricalPendulum<double> other{1.3, 0.9, 9.81};
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const auto q = random.vector<3>(0.5, 1.5), v = random.vector<3>(-1.0, 1.0);
    EXPECT_LT(distance(magnetic.velocity(q, momentum(magnetic, q, v)), v), 1e-15);
    EXPECT_LT(distance(other.velocity(q, momentum(other, q, v)), v), 1e-15);
    EXPECT_NEAR(other.hamiltonian(q, momentum(other, q, v)), energy(other, q, v), 1e-14);
  }
}

TEST(Blocks, CylindricalPendulumIsTheSphericalOne) {
  const auto a = advance(em.on(cylindrical), default_start(cylindrical), 1e-3, 500);
  const auto b = advance(em.on(pendulum), pendulum_start(), 1e-3, 500);
  const double r = std::sqrt(a.q[0]);
  EXPECT_LT(distance(Vector<double, 3>{r * std::cos(a.q[1]), r * std::sin(a.q[1]), a.q[2]}, b.q), 1e-4);
  EXPECT_NEAR(hamiltonian(cylindrical, a), hamiltonian(pendulum, b), 1e-12);
}

TEST(Blocks, SteadyPrecessionOfTheTop) {
  auto q = to_vector(HeavyTopDirectors<double>::default_q), v = to_vector(HeavyTopDirectors<double>::default_v);
  EXPECT_NEAR(energy(top, q, v), 5.66905519063294, 1e-13);
  ASSERT_TRUE(top.exact(0.01, q, v));
  EXPECT_NEAR(q[2], 0.0375, 1e-16);
  EXPECT_LT(max_norm(top.position_constraint(q)), 1e-15);
  EXPECT_LT(max_norm(constraint(top, q, v)), 1e-13);
  const auto state = advance(em.on(top), top_start(), 1e-5, 1000);
  EXPECT_LT(distance(state.q, q), 2e-5);
  ASSERT_TRUE(top.exact(-0.01, q, v));
  EXPECT_LT(distance(q, to_vector(HeavyTopDirectors<double>::default_q)), 1e-14);
  // other states have none
  v = 1.01 * v;
  EXPECT_FALSE(top.exact(0.01, q, v));
  auto heavier = top;
  heavier.gravity = 9.8;
  v = to_vector(HeavyTopDirectors<double>::default_v);
  EXPECT_FALSE(heavier.exact(0.01, q, v));
}

/// A function with every operation, over any scalar.
template <class S>
S everything(const S& x, const S& y) {
  const S a = sin(x) * cos(y) + exp(x * y) / (S(2.0) + x * x);
  const S b = sqrt(S(1.0) + x * x + y * y) - log(S(3.0) + x * y);
  return a * b - fma(x, y, S(0.5));
}

TEST(Secant, SlopesGiveTheDifference) {
  Random random(7);
  for (int trial = 0; trial < 1000; ++trial) {
    const double size = std::exp2(random.uniform(-40.0, 2.0));
    const Vector<double, 2> a = random.vector<2>(-1.0, 1.0), b = a + size * random.vector<2>(-0.2, 0.2);
    using S = Secant<double, 2>;
    const S f = everything(S(a[0], b[0], 0), S(a[1], b[1], 1));
    EXPECT_NEAR(f.at0, everything(a[0], a[1]), 1e-15);
    EXPECT_NEAR(f.at1, everything(b[0], b[1]), 1e-15);
    EXPECT_NEAR(f.at1 - f.at0, f.slope(0) * (b[0] - a[0]) + f.slope(1) * (b[1] - a[1]), 4e-15);
  }
}

TEST(Secant, SlopesTendToTheDerivative) {
  using D = Dual<double, 2>;
  using S = Secant<double, 2>;
  const double x = 0.7, y = -0.4;
  const D exact = everything(D(x, 0), D(y, 1));
  double previous = 0.0;
  for (const double h : {1e-1, 1e-2, 1e-3}) {
    const S f = everything(S(x - h, x + h, 0), S(y - h, y + h, 1));
    const double error = std::max(std::fabs(f.slope(0) - exact.partial[0]), std::fabs(f.slope(1) - exact.partial[1]));
    if (previous > 0.0) {
      EXPECT_NEAR(std::log10(previous / error), 2.0, 0.1);
    }
    previous = error;
  }
  // at one point they are the derivative: nothing is divided by zero
  const S f = everything(S(x, x, 0), S(y, y, 1));
  EXPECT_NEAR(f.slope(0), exact.partial[0], 1e-15);
  EXPECT_NEAR(f.slope(1), exact.partial[1], 1e-15);
}

TEST(Secant, SeriesAndQuotientMeet) {
  // both sides of the change from the one to the other
  using S = Secant<double, 1>;
  for (const double d : {1.0 - 1e-9, 1.0 + 1e-9}) {
    EXPECT_NEAR(exp(S(0.3, 0.3 + d, 0)).slope(0), (std::exp(0.3 + d) - std::exp(0.3)) / d, 1e-15);
    EXPECT_NEAR(sin(S(0.3, 0.3 + d, 0)).slope(0), (std::sin(0.3 + d) - std::sin(0.3)) / d, 1e-15);
    EXPECT_NEAR(cos(S(0.3, 0.3 + d, 0)).slope(0), (std::cos(0.3 + d) - std::cos(0.3)) / d, 1e-15);
  }
  for (const double t : {0.1 - 1e-9, 0.1 + 1e-9}) {
    const double x = 2.0, y = x * (1 + t) / (1 - t);
    EXPECT_NEAR(log(S(x, y, 0)).slope(0), std::log(y / x) / (y - x), 1e-15);
  }
}

TEST(Secant, PolynomialsNeedNoDivision) {
  using S = Secant<double, 1>;
  // k/2 (pi - 1)^2 has the slope k ((pi + pi')/2 - 1), to the bit
  const double a = 1.25, b = 1.75;
  const S stretch = S(a, b, 0) - S(1.0);
  EXPECT_EQ((S(0.5) * S(50.0) * (stretch * stretch)).slope(0), 50.0 * (0.5 * (a + b) - 1.0));
}

}  // namespace
}  // namespace rattleback
