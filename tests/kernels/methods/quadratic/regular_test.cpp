// Lagrangians that are stated as a whole or are not quadratic in the velocity, and velocity constraints that are not affine:
// velocities from momenta, sweeps of the Lobatto pairs and chords of the GGL family and the energy-momentum schemes, beside the general
// forms and a motion in closed form.

#include "ggl_cases.hpp"
#include "named.hpp"
#include "nonholonomic_lobatto.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/methods/conversion/variational_conversion.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/nonholonomic/isokinetic_particle.hpp"
#include "rattleback/tableaus/named_explicit.hpp"
#include "sweeps.hpp"

namespace rattleback {
namespace {

enum class On { nothing, sphere, contact, speed };

/// The unit sphere, vz = y vx, or a constraint that is not affine.
template <class T, int dimension, On on>
struct Constrained {
  using scalar = T;
  static constexpr int n = dimension, m = on == On::nothing ? 0 : 1;
  static constexpr auto kind = on == On::nothing  ? ConstraintKind::none
                               : on == On::sphere ? ConstraintKind::holonomic
                                                  : ConstraintKind::velocity;

  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& q) const
    requires(on == On::sphere)
  {
    return {S(0.5) * (dot(q, q) - S(1.0))};
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const
    requires(on == On::contact || on == On::nothing)
  {
    if constexpr (on == On::nothing) {
      return {};
    } else {
      return {{{-q[1], S(0.0), S(1.0)}}};
    }
  }
  template <class S>
  RB_HD Vector<S, m> constraint(const Vector<S, n>& q, const Vector<S, n>& v) const
    requires(on == On::speed)
  {
    return {S(0.5) * (dot(v, v) - S(1.0)) + S(0.1) * q[0] * v[1]};
  }
};

/// A charge with the speed of light c in a magnetic field along the third axis and in an anharmonic potential.
template <class T, int dimension, On on>
struct Relativistic : Constrained<T, dimension, on> {
  static constexpr int n = dimension;
  static constexpr bool quadratic = false;
  T field{1.3}, light{2.0}, stiffness{1.0};

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S c2(light * light);
    return -c2 * sqrt(S(1.0) - dot(v, v) / c2) + S(0.5 * field) * (q[0] * v[1] - q[1] * v[0]) -
           S(stiffness) * (S(0.5) * dot(q, q) + q[0] * q[0] * q[1]);
  }
};
/// The charge with its velocity in closed form.
template <class T, int dimension, On on>
struct SolvedRelativistic : Relativistic<T, dimension, on> {
  template <class S>
  RB_HD Vector<S, dimension> velocity(const Vector<S, dimension>& q, const Vector<S, dimension>& p) const {
    const S half(0.5 * this->field), c2(this->light * this->light);
    Vector<S, dimension> kinetic = p;
    kinetic[0] = p[0] + half * q[1];
    kinetic[1] = p[1] - half * q[0];
    return (S(1.0) / sqrt(S(1.0) + dot(kinetic, kinetic) / c2)) * kinetic;
  }
};
/// A Lagrangian that is quadratic in the velocity and does not state its parts.
template <class T, int dimension, On on>
struct Whole : Constrained<T, dimension, on> {
  static constexpr int n = dimension;

  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return S(0.5) * (S(1.0) + S(0.3) * q[0] * q[0]) * dot(v, v) + S(0.2) * q[1] * v[0] * v[1] + S(0.6) * q[0] * v[1] -
           cos(q[0]) - S(0.5) * dot(q, q);
  }
};
/// The isokinetic particle with a mass that varies.
template <class T>
struct VaryingIsokinetic : IsokineticParticle<T> {
  template <class S>
  RB_HD S mass_matrix(const Vector<S, 2>& q) const {
    return S(1.0) + S(0.2) * q[0] * q[0];
  }
};

/// A state on the constraint, of which |v| is about 1.
template <class System>
StateOf<double, System> start(const System& system) {
  constexpr int n = System::n;
  Vector<double, n> q = Vector<double, n>::zero(), v = q;
  q[0] = 0.6;
  q[1] = -0.8;
  v[0] = 0.8;
  v[1] = 0.6;
  StateOf<double, System> state{q, momentum(system, q, v), {}};
  if constexpr (System::m > 0) {
    bool singular = false;
    for (int pass = 0; pass < 20; ++pass) put_on_constraint(system, state.q, state.p, singular);
    v = velocity(system, q, state.p);
    EXPECT_LE(max_norm(constraint(system, q, v)), 1e-14);
    EXPECT_TRUE(detail::continuous_multiplier(system, q, v, state.lambda));
  }
  return state;
}

template <class System>
class RegularTest : public ::testing::Test {};
using Systems = ::testing::Types<Relativistic<double, 2, On::nothing>, Relativistic<double, 3, On::nothing>,
                                 Relativistic<double, 2, On::sphere>, Relativistic<double, 3, On::sphere>,
                                 Relativistic<double, 3, On::contact>, Relativistic<double, 2, On::speed>,
                                 Whole<double, 2, On::nothing>, Whole<double, 3, On::sphere>,
                                 Whole<double, 3, On::contact>, IsokineticParticle<double>, VaryingIsokinetic<double>>;
TYPED_TEST_SUITE(RegularTest, Systems);

TYPED_TEST(RegularTest, TheSweepsAreTheGeneralForm) {
  const TypeParam system{};
  for_stages<2, 3, 4, 5>([&](auto s) {
    using Step = LobattoStep<double, TypeParam, Cay, s()>;
    static_assert(std::is_same_v<Step, LagrangianLobatto<double, TypeParam, s()>>);
    expect_the_same_map(start(system), Step(system, to_round_off),
                        GeneralLobatto<double, TypeParam, Cay, s()>(system, to_round_off), 0.05, s());
  });
}

TYPED_TEST(RegularTest, ChordsAreTheGeneralForm) {
  if constexpr (is_holonomic<TypeParam>) expect_paths_of_ggl_are_one_map(TypeParam{}, start(TypeParam{}), 0.05);
}
TEST(Regular, ChordsOfEnergyMomentumAreTheGeneralForm) {
  const SolvedRelativistic<double, 3, On::sphere> system{};
  expect_paths_of_ggl_are_one_map(system, start(system), 0.05);
  expect_paths_of_energy_momentum_are_one_map(system, start(system), 0.05);
}

TYPED_TEST(RegularTest, SweepsFallWithTheStep) {
  const TypeParam system{};
  for_stages<2, 3, 4>([&](auto s) {
    expect_fewer_sweeps(start(system), LobattoStep<double, TypeParam, Cay, s()>(system, {1e-15, 50}), 0.1, 7.5, 4.0);
  });
}

/// Without a potential the charge moves on a circle, at the rate field/gamma.
TEST(Regular, TheChargeInAFieldConvergesToItsCircle) {
  using System = Relativistic<double, 2, On::nothing>;
  const System system{{}, 1.3, 2.0, 0.0};
  const double speed = 1.2, gamma = 1.0 / std::sqrt(1.0 - speed * speed / 4.0), rate = 1.3 / gamma,
               radius = speed / rate;
  // v turns with -rate, because the force is v x field
  const auto position = [&](double t) {
    return Vector<double, 2>{radius * std::cos(rate * t), -radius * std::sin(rate * t)};
  };
  const Vector<double, 2> v{0.0, -speed};
  for_stages<2, 3, 4>([&](auto s) {
    double error[2];
    for (int i = 0; i < 2; ++i) {
      const int steps = 8 << i;
      const LobattoStep<double, System, Cay, s()> step(system, to_round_off);
      StateOf<double, System> state{position(0.0), momentum(system, position(0.0), v), {}};
      for (int k = 0; k < steps; ++k) ASSERT_EQ(step(state, 2.0 / steps).status, status_good);
      error[i] = distance(state.q, position(2.0));
    }
    EXPECT_NEAR(std::log2(error[0] / error[1]), 2 * s() - 2, 0.25) << s() << ": " << error[0] << " " << error[1];
  });
}

TEST(Regular, MomentaAndVelocitiesBelongTogether) {
  using System = Relativistic<double, 3, On::nothing>;
  const System system{};
  const Vector<double, 3> q{0.3, -0.4, 0.5};
  for (const double speed : {0.0, 1e-8, 0.1, 1.0, 1.9, 1.999}) {
    const Vector<double, 3> v{0.48 * speed, 0.6 * speed, 0.64 * speed};
    // near the speed of light the velocity hardly depends on the momentum
    EXPECT_LE(distance(velocity(system, q, momentum(system, q, v)), v), 1e-14) << speed;
  }
  // derivatives of the velocity, M dv = dp - B dq
  using D = Dual<double, 1>;
  const Relativistic<D, 3, On::nothing> dual{};
  const Vector<double, 3> v{0.5, -0.7, 0.2}, dq{0.3, 0.1, -0.2}, dp{-0.4, 0.2, 0.6}, p = momentum(system, q, v);
  const auto moved = detail::derivative(velocity(dual, detail::along(q, dq), detail::along(p, dp)));
  const auto of_momentum = gradient<3>([&](const auto& y, const auto& u) { return momentum(system, y, u); }, q, v);
  EXPECT_LE(distance(mass_matrix(system, q, v) * moved, dp - of_momentum.dq * dq), 1e-14);
}

/// p = v/sqrt(1 + v^2), which is below 1.
template <class T>
struct Bounded {
  using scalar = T;
  static constexpr int n = 1, m = 0;
  static constexpr auto kind = ConstraintKind::none;
  static constexpr bool quadratic = false;
  template <class S>
  RB_HD S lagrangian(const Vector<S, n>&, const Vector<S, n>& v) const {
    return sqrt(S(1.0) + v[0] * v[0]);
  }
};
TEST(Regular, AMomentumWithoutAVelocityHasAStatus) {
  using System = Bounded<double>;
  const System system{};
  EXPECT_NEAR(velocity(system, Vector<double, 1>{0.0}, Vector<double, 1>{0.9})[0], 0.9 / std::sqrt(1 - 0.81), 1e-14);
  EXPECT_TRUE(std::isnan(velocity(system, Vector<double, 1>{0.0}, Vector<double, 1>{1.5})[0]));
  const LobattoStep<double, System, Cay, 3> step(system, to_round_off);
  StateOf<double, System> good{{0.0}, {0.9}, {}}, bad{{0.0}, {1.5}, {}};
  EXPECT_EQ(step(good, 0.1).status, status_good);
  EXPECT_NE(step(bad, 0.1).status, status_good);
}

/// The accelerations of the equations of motion hold for any regular L: a Runge-Kutta method of order 9 agrees with the pair.
/// The mass 3 v^2 of v^4/4 is singular at rest.
template <class T>
struct Quartic {
  using scalar = T;
  static constexpr int n = 2, m = 0;
  static constexpr bool quadratic = false;
  template <class S>
  RB_HD S lagrangian(const Vector<S, n>&, const Vector<S, n>& v) const {
    return S(0.25) * (v[0] * v[0] * v[0] * v[0] + v[1] * v[1] * v[1] * v[1]) + S(0.5) * v[1] * v[1];
  }
};

TEST(Regular, AVelocityFollowsWhereTheMassIsSingularAtRest) {
  const Quartic<double> system;
  for (const double p0 : {-8.0, -1.0, -1e-3, 0.0, 1e-6, 1.0, 27.0})
    for (const double p1 : {0.0, 2.0}) {
      const Vector<double, 2> q{0.0, 0.0}, p{p0, p1}, v = velocity(system, q, p);
      EXPECT_NEAR(v[0] * v[0] * v[0], p0, 1e-14 * max(std::fabs(p0), p1));
      EXPECT_NEAR(v[1], p1 / 2.0, 1e-14);  // v + v^3 = 2 at v = 1
    }
}

TEST(Regular, RungeKuttaAgreesWithThePair) {
  const auto check = [](auto system) {
    using System = decltype(system);
    const auto numbers = RungeKuttaNumbers::of(*named(explicit_tableaus, "prince9"), true);
    const RungeKutta<double, System> explicit_step(system, to_round_off, numbers);
    const LobattoStep<double, System, Cay, 5> step(system, to_round_off);
    auto a = start(system), b = a;
    for (int k = 0; k < 50; ++k) {
      ASSERT_EQ(step(a, 0.02).status, status_good);
      ASSERT_EQ(explicit_step(b, 0.02).status, status_good);
    }
    EXPECT_LE(distance(a.q, b.q), 1e-12);
    EXPECT_LE(distance(a.p, b.p), 1e-12);
  };
  check(Relativistic<double, 3, On::nothing>{});
  check(Relativistic<double, 3, On::sphere>{});
}

/// The momentum of a velocity on the ellipsoid has a part across it, which depends on the direction of the velocity.
template <class T>
struct SkewQuartic {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;
  static constexpr bool quadratic = false;
  T inertia{0.3}, field{0.4};

  template <class S>
  RB_HD S lagrangian(const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    const S x2 = v[0] * v[0], y2 = v[1] * v[1];
    return S(0.5) * (dot(v, v) + S(inertia) * q[0] * q[0] * y2) + S(0.1) * x2 * x2 + S(0.2) * y2 * y2 +
           S(field) * (q[1] * v[2] - q[2] * v[0]) - q[2];
  }
  template <class S>
  RB_HD Vector<S, 1> position_constraint(const Vector<S, 3>& q) const {
    return {q[0] * q[0] + S(2.0) * q[1] * q[1] + q[2] * q[2] - S(1.0)};
  }
};

/// The momentum of a node is known on tangent vectors alone. Its velocity is found for any L, at every bias, and keeps the order.
TEST(Regular, ConversionsHaveTheOrderOfTheBaseInNodesAndInSegments) {
  const auto check = [](auto system, const Vector<double, 3>& v) {
    using System = decltype(system);
    const Vector<double, 3> q{0.6, 0.0, -0.8};
    StateOf<double, System> at_start{q, momentum(system, q, v), {}}, exact = at_start;
    const auto numbers = RungeKuttaNumbers::of(*named(explicit_tableaus, "prince9"), true);
    const RungeKutta<double, System> reference(system, to_round_off, numbers);
    exact = advance(reference, exact, 1.0 / 64, 64);
    for (const auto state : {ConversionState::segment, ConversionState::node})
      for (const double minus : {-1.0, -0.5, 0.0}) {
        const auto by = ConversionNumbers::of(*named(explicit_tableaus, "rk4"), minus, minus + 1.0, state);
        const VariationalConversion<double, System> step(system, {1e-15, 50}, by);
        double error[2];
        for (int i = 0; i < 2; ++i) {
          const int steps = 32 << i;
          const auto end = advance(step, at_start, 1.0 / steps, steps);
          error[i] = std::max(distance(end.q, exact.q), distance(end.p, exact.p));
          EXPECT_LE(max_norm(system.position_constraint(end.q)), 1e-14);
          EXPECT_LE(max_norm(constraint(system, end.q, velocity(system, end.q, end.p))), 1e-13);
        }
        EXPECT_NEAR(std::log2(error[0] / error[1]), 4.0, 0.3) << error[0] << " " << error[1] << " bias " << minus;
        EXPECT_LE(error[1], 1e-6);
      }
  };
  check(SkewQuartic<double>{}, {0.4, 0.7, 0.3});
  check(Relativistic<double, 3, On::sphere>{}, {0.4, 0.7, 0.3});
  check(Whole<double, 3, On::sphere>{}, {0.4, 0.7, 0.3});
}

/// H = (1 + p.p)^1/2 + x^2 y, whose L is -(1 - v.v)^1/2 - x^2 y.
template <class T>
struct ByHamiltonian {
  using scalar = T;
  static constexpr int n = 2, m = 0;
  static constexpr bool by_hamiltonian = true, quadratic = false;
  static constexpr std::array<int, 2> active{0, 1};

  template <class S>
  RB_HD S hamiltonian(const Vector<S, n>& q, const Vector<S, n>& p) const {
    return sqrt(S(1.0) + dot(p, p)) + q[0] * q[0] * q[1];
  }
  template <class S>
  RB_HD Vector<S, n> velocity(const Vector<S, n>&, const Vector<S, n>& p) const {
    return S(S(1.0) / sqrt(S(1.0) + dot(p, p))) * p;
  }
  template <class S>
  RB_HD Matrix<S, n, n> inverse_mass(const Vector<S, n>&, const Vector<S, n>& p) const {
    const S square = S(1.0) + dot(p, p), cube = square * sqrt(square);
    return {{{(square - p[0] * p[0]) / cube, -(p[0] * p[1]) / cube},
             {-(p[0] * p[1]) / cube, (square - p[1] * p[1]) / cube}}};
  }
  template <class S>
  RB_HD Vector<S, n> momentum(const Vector<S, n>& q, const Vector<S, n>& v) const {
    return detail::momentum_by_hamiltonian(*this, v, q);
  }
  template <class S>
  RB_HD S lagrangian(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const Vector<S, n> p = momentum(q, v);
    return dot(v, p) - hamiltonian(q, p);
  }
  template <class S>
  RB_HD Vector<S, 11> lagrangian_derivatives(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const Vector<S, n> p = momentum(q, v);
    const Matrix<S, n, n> w = inverse_mass(q, p);
    const Vector<S, 9> of_h{
        S(2.0) * q[0] * q[1], q[0] * q[0], w[0][0], w[0][1], w[1][1], S(0.0), S(0.0), S(0.0), S(0.0)};
    return detail::derivatives_by_hamiltonian<2>(p, of_h);
  }
};

TEST(RegularHamiltonian, HasTheLagrangianOfItsLegendreTransform) {
  const ByHamiltonian<double> system;
  const auto formula = [](const auto& q, const auto& v) {
    using S = std::remove_cvref_t<decltype(v[0])>;
    return -sqrt(S(1.0) - dot(v, v)) - q[0] * q[0] * q[1];
  };
  const Vector<double, 2> q{0.4, -0.7}, v{0.6, -0.75};  // 0.96 of the speed of light
  const double root = std::sqrt(1.0 - dot(v, v));
  EXPECT_NEAR(lagrangian(system, q, v), formula(q, v), 1e-15);
  EXPECT_LT(distance(momentum(system, q, v), (1.0 / root) * v), 1e-14);
  EXPECT_NEAR(energy(system, q, v), 1.0 / root + q[0] * q[0] * q[1], 1e-14);
  // first and second derivatives, by dual numbers over dual numbers and by hand
  using D = Dual<Dual<double, 4>, 4>;
  Vector<D, 2> x, y;
  for (int i = 0; i < 2; ++i) {
    x[i] = D(Dual<double, 4>(q[i], i), i);
    y[i] = D(Dual<double, 4>(v[i], 2 + i), 2 + i);
  }
  const D ours = system.lagrangian(x, y), exact = formula(x, y);
  const auto derivatives = system.lagrangian_derivatives(q, v);
  using Places = detail::DerivativePlaces<ByHamiltonian<double>>;
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(ours.partial[i].value, exact.partial[i].value, 1e-13);
    for (int j = 0; j < 4; ++j) EXPECT_NEAR(ours.partial[i].partial[j], exact.partial[i].partial[j], 2e-12) << i << j;
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(derivatives[Places::momentum(i)], exact.partial[2 + i].value, 1e-13);
    EXPECT_NEAR(derivatives[Places::force(i)], exact.partial[i].value, 1e-14);
    for (int j = 0; j < 2; ++j) {
      EXPECT_NEAR(derivatives[Places::mass(i, j)], exact.partial[2 + i].partial[2 + j], 2e-12);
      EXPECT_NEAR(derivatives[Places::coupling(i, j)], exact.partial[2 + i].partial[j], 1e-13);
    }
  }
}

}  // namespace
}  // namespace rattleback
