// Systems that are written as formulas agree with the same systems written by hand, and their derivatives with those of
// dual numbers. The headers are printed in the build.

#include <cmath>
#include <random>
#include <string_view>

#include <gtest/gtest.h>

#include "printed_systems.hpp"
#include "rattleback/lie/lie.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/mechanics/lagrangian_at.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/heavy_top_directors.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaotic.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "rattleback/systems/nonholonomic/isokinetic_particle.hpp"
#include "rattleback/systems/nonholonomic/suslov.hpp"
#include "rattleback/systems/nonholonomic/turntable_ball.hpp"
#include "rattleback/systems/nonholonomic/vertical_disc.hpp"
#include "rattleback/systems/unconstrained/heavy_top.hpp"
#include "rattleback/systems/unconstrained/henon_heiles.hpp"
#include "rattleback/systems/unconstrained/magnetic_polar.hpp"
#include "rattleback/systems/unconstrained/rigid_body_spring.hpp"

namespace {

double potential_of_every_function(double a, double b, double x, double y) {
  using namespace std;
  return a * sin(x) * cos(y) + tan(x / 4) + asin(x / 9) * acos(y / 9) + atan(x * y) + atan2(3 + x * x, y) +
         sinh(x / 2) * cosh(y) + tanh(x) + asinh(x) + acosh(3 + x * x) + atanh(y / 9) + exp(a * x) + log(4 + x * x) +
         log2(5 + y * y) + log10(6 + x * x) + sqrt(7 + y * y) + pow(2 + x * x, b) + pow(2 + y * y, 0.3) +
         pow(3 + x * x, -1.5) + pow(abs(x - 11), 3) + pow(2, x / 3) - M_PI * pow(x, 7) / 900;
}

using namespace rattleback;

/// The largest difference of two lists of numbers, relative to their largest number or 1.
class Difference {
 public:
  void operator()(double a, double b) {
    scale_ = std::max({scale_, std::abs(a), std::abs(b)});
    largest_ = std::isfinite(a) && std::isfinite(b) ? std::max(largest_, std::abs(a - b)) : INFINITY;
  }
  template <int n>
  void operator()(const Vector<double, n>& a, const Vector<double, n>& b) {
    for (int i = 0; i < n; ++i) (*this)(a[i], b[i]);
  }
  template <int r, int c>
  void operator()(const Matrix<double, r, c>& a, const Matrix<double, r, c>& b) {
    for (int i = 0; i < r; ++i) (*this)(a[i], b[i]);
  }
  [[nodiscard]] double relative() const { return largest_ / scale_; }

 private:
  double largest_ = 0.0, scale_ = 1.0;
};

template <class A>
void expect_same(const A& a, const A& b, const char* what, int line, double tolerance = 1e-14) {
  Difference difference;
  difference(a, b);
  EXPECT_LE(difference.relative(), tolerance) << what << ", line " << line;
}
#define EXPECT_SAME(a, b) expect_same(a, b, #a, __LINE__)

class Random {
 public:
  double operator()(double from, double to) { return std::uniform_real_distribution<double>(from, to)(engine_); }
  template <int n>
  Vector<double, n> vector() {
    Vector<double, n> r;
    for (int i = 0; i < n; ++i) r[i] = (*this)(-1.0, 1.0);
    return r;
  }

 private:
  std::mt19937 engine_{7};
};

template <class System>
System system_of(const std::vector<double>& values) {
  return make_system<System>([&](int i) { return values[static_cast<std::size_t>(i)]; });
}
template <class System>
Configuration<System> random_configuration(Random& random) {
  return group_of<System>::expand(random.vector<System::n>());
}

/// The Hessian of the kinetic energy, generalised force and curvature against dual numbers.
template <class System>
void expect_own_derivatives(const System& system, const Configuration<System>& q, const Vector<double, System::n>& v) {
  constexpr int n = System::n, m = System::m;
  if constexpr (requires { system.force(q); }) {
    const auto u = system.potential(seeded_configuration<group_of<System>, Dual<double, n>>(q));
    Vector<double, n> slope;
    for (int i = 0; i < n; ++i) slope[i] = -u.partial[i];
    EXPECT_SAME(system.force(q), slope);
  }
  if constexpr (requires { system.generalized_force(q, v); })
    EXPECT_SAME(system.generalized_force(q, v), detail::differentiated_force(system, q, v));
  if constexpr (detail::gives_mass_matrix<System>)
    EXPECT_SAME(detail::apply(system.mass_matrix(q), v), mass_matrix(system, q, v) * v);
  if constexpr (Quadratic<System>) {
    const QuadraticLagrangian<System> at(system, q);
    const auto zero = Vector<double, n>::zero();
    EXPECT_SAME(at.momentum(v), momentum(system, q, v));
    EXPECT_SAME(at.plus_force(1.0, v, zero), configuration_force(system, q, v));
    EXPECT_SAME(at.inverse() * at.kinetic(momentum(system, q, v)), v);
    const auto slopes = gradient<n>([&](const auto& x, const auto& y) { return momentum(system, x, y); }, q, v);
    EXPECT_SAME(at.coupling(v).plus_times(1.0, v, zero), slopes.dq * v);
    EXPECT_SAME(at.coupling(v).plus_transpose_times(1.0, v, zero), transpose_times(slopes.dq, v));
  }
  if constexpr (GivesMotion<System>) {
    const QuadraticLagrangian<System> other(system, q);
    DerivedLagrangian<System> at(system, q);
    Factors<double, n, Definite<detail::QuadraticPattern<System>>> inverse;
    Coupling<System> coupling;
    at.move(v);
    at.linearise(v, inverse, coupling);
    const auto zero = Vector<double, n>::zero();
    const Vector<double, n> p = other.momentum(v);
    EXPECT_SAME(at.momentum(v), p);
    EXPECT_SAME(at.plus_force(1.0, v, zero), other.plus_force(1.0, v, zero));
    EXPECT_SAME(at.velocity(p, zero), v);
    EXPECT_SAME(at.velocity_near(v, inverse, p), v);
    EXPECT_SAME(at.mass(), other.mass());
    EXPECT_SAME(coupling.plus_times(1.0, v, zero), other.coupling(v).plus_times(1.0, v, zero));
    EXPECT_SAME(coupling.plus_transpose_times(1.0, v, zero), other.coupling(v).plus_transpose_times(1.0, v, zero));
  }
  if constexpr (GivesDerivatives<System>) {
    const auto by_duals = detail::differentiated_momentum(system, q, v);
    const auto of_momentum =
        gradient<n>([&](const auto& x, const auto& y) { return detail::differentiated_momentum(system, x, y); }, q, v);
    RegularLagrangian<System> at(system, q);
    Factors<double, n, Definite<detail::QuadraticPattern<System>>> inverse;
    Coupling<System> coupling;
    at.move(v);
    at.linearise(v, inverse, coupling);
    const auto zero = Vector<double, n>::zero();
    EXPECT_SAME(at.momentum(v), by_duals);
    EXPECT_SAME(momentum(system, q, v), by_duals);
    EXPECT_SAME(at.plus_force(1.0, v, zero), configuration_force(system, q, v));
    EXPECT_SAME(at.mass(), of_momentum.dv);
    EXPECT_SAME(mass_matrix(system, q, v), of_momentum.dv);
    EXPECT_SAME(coupling.plus_times(1.0, v, zero), of_momentum.dq * v);
    EXPECT_SAME(inverse * (at.mass() * v), v);
  }
  if constexpr (requires { system.velocity(q, v); }) EXPECT_SAME(system.velocity(q, momentum(system, q, v)), v);
  if constexpr (requires { system.position_jacobian(q); }) {
    const auto g = system.position_constraint(seeded_configuration<group_of<System>, Dual<double, n>>(q));
    const auto jacobian = system.position_jacobian(q);
    Matrix<double, m, n> slopes;
    for (int k = 0; k < m; ++k)
      for (int i = 0; i < n; ++i) slopes[k][i] = g[k].partial[i];
    EXPECT_SAME(jacobian, slopes);
    if constexpr (!on_group<System>)
      EXPECT_SAME(system.position_curvature(q, v), detail::differentiated_curvature(system, q, v));
  }
  if constexpr (m > 0) {
    const auto forms = constraint_forms(system, q, v);
    for (int k = 0; k < m; ++k)
      for (int i = 0; i < n; ++i) EXPECT_TRUE(ConstraintForms<System>::entry(k, i) || forms[k][i] == 0.0);
  }
}

/// The structure for condensed methods against dual numbers: U is linear but for the terms f_a(pi_a).
template <class System>
void expect_blocks(const System& system, Random& random) {
  constexpr int n = System::n, k = System::block, terms = System::terms;
  static_assert(Blocks<System> && terms > 0);
  const auto factors = random.vector<terms>();
  const auto linear_force = [&](const Vector<double, n>& q) {
    Vector<double, n> f = system.force(q);
    const auto pi = system.potential_invariants(q);
    const auto slopes = system.potential_invariants_jacobian(q);
    const auto add = [&](auto a) {
      const Dual<double, 1> term = system.template potential_term<a.value>(Dual<double, 1>(pi[a.value], 0));
      f = fma(term.partial[0], slopes[a.value], f);
    };
    [&]<int... a>(std::integer_sequence<int, a...>) {
      (add(std::integral_constant<int, a>{}), ...);
    }(std::make_integer_sequence<int, terms>{});
    return f;
  };
  const auto q = random.vector<n>();
  expect_same(linear_force(q), linear_force(random.vector<n>()), "linear force", __LINE__, 1e-11);
  Vector<Dual<double, n>, n> x;
  for (int i = 0; i < n; ++i) x[i] = Dual<double, n>(q[i], i);
  const auto pi = system.potential_invariants(x);
  const auto slopes = system.potential_invariants_jacobian(x);
  const auto hessian = system.potential_invariants_hessian(factors);
  Matrix<double, n, n> by_hand, by_duals = Matrix<double, n, n>::zero();
  for (int i = 0; i < n; ++i) {
    for (int t = 0; t < terms; ++t) EXPECT_NEAR(pi[t].partial[i], slopes[t][i].value, 1e-14);
    for (int j = 0; j < n; ++j) {
      by_hand[i][j] = i % k == j % k ? hessian[i / k][j / k] : 0.0;
      for (int t = 0; t < terms; ++t) by_duals[i][j] += factors[t] * slopes[t][i].partial[j];
    }
  }
  EXPECT_SAME(by_hand, by_duals);
}

/// Compares all functions of a printed system and of one written by hand. `parameters` have the order of both.
template <class Printed, class ByHand>
void expect_agreement(bool with_observables = true) {
  constexpr int n = Printed::n, m = Printed::m;
  static_assert(n == ByHand::n && m == ByHand::m && kind_of<Printed>() == kind_of<ByHand>());
  static_assert(element_size<Printed> == element_size<ByHand>);
  static_assert(Separable<Printed> == Separable<ByHand>);
  static_assert(parameters_of<Printed>().size() == parameters_of<ByHand>().size());
  for (std::size_t i = 0; i < parameters_of<Printed>().size(); ++i)
    EXPECT_EQ(std::string_view(parameters_of<Printed>()[i].name), parameters_of<ByHand>()[i].name);
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> values;
    for (std::size_t i = 0; i < parameters_of<Printed>().size(); ++i) values.push_back(random(0.5, 1.5));
    const auto printed = system_of<Printed>(values);
    const auto by_hand = system_of<ByHand>(values);
    const auto q = random_configuration<Printed>(random);
    const auto v = random.vector<n>();
    EXPECT_SAME(lagrangian(printed, q, v), lagrangian(by_hand, q, v));
    EXPECT_SAME(energy(printed, q, v), energy(by_hand, q, v));
    EXPECT_SAME(momentum(printed, q, v), momentum(by_hand, q, v));
    EXPECT_SAME(mass_matrix(printed, q, v), mass_matrix(by_hand, q, v));
    EXPECT_SAME(configuration_force(printed, q, v), configuration_force(by_hand, q, v));
    EXPECT_SAME(velocity(printed, q, momentum(by_hand, q, v)), v);
    if constexpr (m > 0) {
      EXPECT_SAME(constraint(printed, q, v), constraint(by_hand, q, v));
      EXPECT_SAME(constraint_forms(printed, q, v), constraint_forms(by_hand, q, v));
    }
    if constexpr (is_holonomic<ByHand>) EXPECT_SAME(printed.position_constraint(q), by_hand.position_constraint(q));
    if constexpr (HolonomicOnRn<ByHand>) {
      Vector<double, m> lambda_1, lambda_2;
      const auto a_1 = Dynamics<Printed>(printed).acceleration(q, v, lambda_1);
      const auto a_2 = Dynamics<ByHand>(by_hand).acceleration(q, v, lambda_2);
      // The saddle-point matrix amplifies rounding errors.
      expect_same(join(a_1, lambda_1), join(a_2, lambda_2), "acceleration", __LINE__, 1e-10);
    }
    if constexpr (Blocks<ByHand>) {
      static_assert(Blocks<Printed> && Printed::block == ByHand::block && Printed::terms == ByHand::terms);
      const auto a = random.vector<m>();
      EXPECT_SAME(printed.constraint_hessian(a), by_hand.constraint_hessian(a));
    }
    if (with_observables) {
      const auto ours = evaluate_observables(printed, q, v);
      const auto theirs = evaluate_observables(by_hand, q, v);
      int compared = 0;
      for (std::size_t i = 0; i < observables<Printed>().size(); ++i) {
        for (std::size_t j = 0; j < observables<ByHand>().size(); ++j) {
          if (std::string_view(observables<Printed>()[i].name) != observables<ByHand>()[j].name) continue;
          EXPECT_SAME(ours[static_cast<int>(i)], theirs[static_cast<int>(j)]);
          ++compared;
        }
      }
      EXPECT_EQ(compared, static_cast<int>(observables<Printed>().size()));
    }
    expect_own_derivatives(printed, q, v);
  }
}

TEST(PrintedSystems, AgreeWithThoseByHand) {
  using namespace formulas;
  expect_agreement<ChaoticSystem<double>, Chaotic<double, 3, ChaoticVariant::printed>>();
  expect_agreement<SphericalPendulumSystem<double>, Pendulum<double, 3>>();
  expect_agreement<HenonHeilesSystem<double>, HenonHeiles<double>>();
  expect_agreement<HeavyTopDirectorsSystem<double>, HeavyTopDirectors<double>>();
  expect_agreement<FourParticleSystem<double>, FourParticle<double>>(false);
  expect_agreement<VariableMassPendulumSystem<double>, VariableMassPendulum<double>>();
  expect_agreement<MagneticPendulumSystem<double>, MagneticPendulum<double, 3>>();
  expect_agreement<MagneticPolarSystem<double>, MagneticPolar<double>>();
  expect_agreement<SuslovSystem<double>, Suslov<double>>();
  expect_agreement<HeavyTopConeSystem<double>, HeavyTopCone<double>>();
  expect_agreement<RigidBodySpringSystem<double>, RigidBodySpring<double>>();
  expect_agreement<ChaplyginSleighSystem<double>, ChaplyginSleigh<double>>();
  expect_agreement<IsokineticParticleSystem<double>, IsokineticParticle<double>>();
  expect_agreement<VerticalDiscSystem<double>, VerticalDisc<double>>();
  expect_agreement<TurntableBallSystem<double>, TurntableBall<double, TurntableVariant::space>>();
}

/// Derivatives along the directions of a product of all groups, against those of dual numbers.
TEST(PrintedSystems, DifferentiateOnProductsOfGroups) {
  using Printed = formulas::BodiesSystem<double>;
  static_assert(std::same_as<group_of<Printed>, Product<SE2, Rn<1>, SO3, S1, SE3>>);
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const auto printed = system_of<Printed>({random(0.5, 1.5)});
    expect_own_derivatives(printed, random_configuration<Printed>(random), random.vector<Printed::n>());
  }
}

/// A magnetic field is the only term linear in v.
TEST(PrintedSystems, AreSeparableWithoutAParameter) {
  using Printed = formulas::MagneticPendulumSystem<double>;
  static_assert(SeparableForm<Printed> && !SeparableForm<formulas::VariableMassPendulumSystem<double>>);
  static_assert(!SeparableForm<formulas::ChaplyginSleighSystem<double>>);
  EXPECT_EQ(std::string_view(separable_without<Printed>()[0]), "magnetic_field");
  Random random;
  const auto printed = system_of<Printed>({1.3, 0.9, 0.8, 1.1, 0.0});
  const auto q = random.vector<3>(), v = random.vector<3>();
  Vector<double, 3> p;
  for (int i = 0; i < 3; ++i) p[i] = printed.mass_diagonal()[i] * v[i];
  EXPECT_SAME(printed.lagrangian(q, v), 0.5 * dot(p, v) - printed.potential(q));
  EXPECT_SAME(printed.force(q), configuration_force(printed, q, v));
}

TEST(PrintedSystems, HaveTheStructureOfBlocks) {
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 10; ++i) values.push_back(random(0.5, 1.5));
    expect_blocks(system_of<formulas::FourParticleSystem<double>>(values), random);
    expect_blocks(system_of<formulas::SpringPendulumSystem<double>>(values), random);
  }
  static_assert(formulas::FourParticleSystem<double>::block == 3);
  static_assert(formulas::SpringPendulumSystem<double>::block == 3);
  static_assert(formulas::SpringPendulumSystem<double>::terms == 3);
  static_assert(!Blocks<formulas::HeavyTopConeSystem<double>>);
}

TEST(PrintedSystems, DescribeThemselves) {
  using Printed = formulas::VariableMassPendulumSystem<double>;
  EXPECT_EQ(std::string_view(Printed::name), "variable-mass-pendulum");
  EXPECT_EQ(std::string_view(Printed::coordinates[2]), "z");
  EXPECT_EQ(Printed::default_q, (VariableMassPendulum<double>::default_q));
  EXPECT_EQ(Printed::default_v, (VariableMassPendulum<double>::default_v));
  EXPECT_EQ(std::string_view(parameters_of<Printed>()[3].text), "acceleration \"downwards\"\\");
  EXPECT_EQ(std::string_view(parameters_of<Printed>()[3].unit), "length/time^2");
  EXPECT_EQ(parameters_of<Printed>()[1].value, 0.3);
  EXPECT_TRUE(Printed::invariants()[0].conserved);
  EXPECT_FALSE(formulas::SuslovSystem<double>::invariants()[0].conserved);
  EXPECT_TRUE(conserves_energy<Printed>());
  EXPECT_TRUE(conserves_energy<formulas::ChaoticSystem<double>>());
  EXPECT_FALSE(conserves_energy<formulas::TurntableBallSystem<double>>());
  EXPECT_FALSE(conserves_energy<formulas::IsokineticParticleSystem<double>>());
  EXPECT_EQ(formulas::HeavyTopDirectorsSystem<double>::time_scale, 0.01);
  EXPECT_EQ(formulas::ChaoticSystem<double>::structure()[0].value, 3.0);
  const auto& rotation = formulas::SuslovSystem<double>::default_q;
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(rotation[i], Suslov<double>::default_q[i], 1e-15);
}

/// T + U of two rods: L = (m1 + m2) l1^2 a'^2/2 + m2 l2^2 b'^2/2 + m2 l1 l2 a' b' cos(a - b) + ...
TEST(PrintedSystems, DoublePendulum) {
  using Printed = formulas::DoublePendulumSystem<double>;
  static_assert(!Separable<Printed> && kind_of<Printed>() == ConstraintKind::none);
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<double> p;
    for (int i = 0; i < 5; ++i) p.push_back(random(0.5, 1.5));
    const double m1 = p[0], m2 = p[1], l1 = p[2], l2 = p[3], g = p[4];
    const auto printed = system_of<Printed>(p);
    const auto q = random.vector<2>(), v = random.vector<2>();
    const double cosine = std::cos(q[0] - q[1]), sine = std::sin(q[0] - q[1]);
    const double kinetic =
        (m1 + m2) * l1 * l1 * v[0] * v[0] / 2 + m2 * l2 * l2 * v[1] * v[1] / 2 + m2 * l1 * l2 * v[0] * v[1] * cosine;
    const double height = -(m1 + m2) * l1 * std::cos(q[0]) - m2 * l2 * std::cos(q[1]);
    EXPECT_SAME(lagrangian(printed, q, v), kinetic - g * height);
    EXPECT_SAME(energy(printed, q, v), kinetic + g * height);
    const Vector<double, 2> force{-m2 * l1 * l2 * v[1] * v[1] * sine - g * (m1 + m2) * l1 * std::sin(q[0]),
                                  m2 * l1 * l2 * v[0] * v[0] * sine - g * m2 * l2 * std::sin(q[1])};
    EXPECT_SAME(printed.generalized_force(q, v), force);
    expect_own_derivatives(printed, q, v);
  }
}

/// M of so many coordinates that the header gives the derivatives of L, and one coordinate on which nothing depends.
TEST(PrintedSystems, ManyCoordinatesInM) {
  using Printed = formulas::CartWithLinksSystem<double>;
  static_assert(GivesMotion<Printed> && Printed::active.size() == 5);
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const auto printed = system_of<Printed>({random(0.5, 1.5), random(0.5, 1.5)});
    expect_own_derivatives(printed, random.vector<6>(), random.vector<6>());
  }
}

/// A Lagrangian that is not quadratic in the velocities, with two active coordinates.
TEST(PrintedSystems, RegularLagrangians) {
  using Printed = formulas::RelativisticChargeSystem<double>;
  static_assert(NotQuadratic<Printed> && GivesDerivatives<Printed>);
  static_assert(Printed::active == std::array{0, 2});
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const double c = random(3.0, 4.0), b = random(0.5, 1.5), k = random(0.5, 1.5);
    const auto printed = system_of<Printed>({c, b, k});
    const auto q = random.vector<4>(), v = random.vector<4>();
    EXPECT_SAME(lagrangian(printed, q, v), -c * c * std::sqrt(1 - (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / (c * c)) +
                                               v[3] * v[3] / 2 + b * q[0] * (q[0] * v[1] + v[2] * v[3]) -
                                               k * q[0] * q[0] * q[2]);
    expect_own_derivatives(printed, q, v);
  }
}

TEST(PrintedSystems, KnowEveryFunction) {
  using Printed = formulas::EveryFunctionSystem<double>;
  Random random;
  for (int trial = 0; trial < 20; ++trial) {
    const double a = random(0.1, 1.0), b = random(0.1, 1.0);
    const auto printed = system_of<Printed>({a, b});
    const auto q = random.vector<2>();
    const double u = potential_of_every_function(a, b, q[0], q[1]);
    EXPECT_SAME(printed.potential(q), u);
    expect_own_derivatives(printed, q, random.vector<2>());
  }
}

/// The sum over pairs is a loop in the header (formulas_test.cpp).
TEST(PrintedSystems, ClusterWithASumOverPairs) {
  constexpr int atoms = 9;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> shift(-0.1, 0.1);
  Vector<double, 3 * atoms> q, force = Vector<double, 3 * atoms>::zero();
  for (int i = 0; i < atoms; ++i)
    for (int d = 0; d < 3; ++d)
      q[d * atoms + i] = 1.1 * (d == 0 ? i % 3 : d == 1 ? i / 3 : (i * i) % 2) + shift(random);
  double potential = 0.0;
  for (int i = 0; i < atoms; ++i)
    for (int j = i + 1; j < atoms; ++j) {
      double square = 0.0;
      for (int d = 0; d < 3; ++d) square += std::pow(q[d * atoms + i] - q[d * atoms + j], 2);
      potential += 4.0 * (std::pow(square, -6) - std::pow(square, -3));
      const double factor = 24.0 * (2.0 * std::pow(square, -7) - std::pow(square, -4));
      for (int d = 0; d < 3; ++d) {
        const double part = factor * (q[d * atoms + i] - q[d * atoms + j]);
        force[d * atoms + i] += part;
        force[d * atoms + j] -= part;
      }
    }
  const formulas::ClusterSystem<double> system{};
  Difference difference;
  difference(system.potential(q), potential);
  difference(system.force(q), force);
  EXPECT_LT(difference.relative(), 1e-13);
}

}  // namespace
