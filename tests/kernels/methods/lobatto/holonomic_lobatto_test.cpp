// The holonomic Lobatto pair on the spherical pendulum: orders, invariants, RATTLE, symplecticity, stored states.

#include <cmath>

#include <gtest/gtest.h>

#include "eigen.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"

using namespace rattleback;

namespace {

using Spherical = Pendulum<double, 3>;
using State = PhaseState<double, 3, 1>;

constexpr Spherical unit{1.0, 1.0, 1.0, 1.0};
// the same by the form for any Lagrangian where the field is 0
using Magnetic = MagneticPendulum<double, 3>;
constexpr Magnetic without_field{1.0, 1.0, 1.0, 1.0, 0.0}, in_field{1.0, 1.0, 1.0, 1.0, 0.7};

template <class System>
State start(const System& system) {
  State state;
  state.q = {std::sin(1.0), 0.0, -std::cos(1.0)};
  const Vector<double, 3> v{0.0, 0.8, 0.0};
  state.p = momentum(system, state.q, v);
  EXPECT_TRUE(detail::continuous_multiplier(system, state.q, v, state.lambda));
  return state;
}

template <int S, class System>
State after(const System& system, State state, double h, int steps) {
  const LobattoStep<double, System, Cay, S> step(system, {0.0, 50});
  for (int i = 0; i < steps; ++i) EXPECT_EQ(step(state, h).status, 0.0);
  return state;
}

double distance(const Vector<double, 3>& a, const Vector<double, 3>& b) { return max_norm(a - b); }

template <int S>
void check_orders(double at, double tolerance, std::initializer_list<double> steps) {
  const Vector<double, 3> exact{0.63274347032907279, -0.13443611686183173, -0.76260253818029846};
  double previous = 0.0, slope = 0.0;
  for (const double h : steps) {
    const double error = distance(after<S>(unit, start(unit), h, static_cast<int>(std::lround(5.0 / h))).q, exact);
    slope = std::log2(previous / error);
    previous = error;
  }
  EXPECT_NEAR(slope, at, tolerance) << S;
}

TEST(HolonomicLobatto, HasOrderTwiceTheStagesLessTwo) {
  check_orders<2>(2, 0.05, {1.0 / 32, 1.0 / 64});
  check_orders<3>(4, 0.05, {1.0 / 16, 1.0 / 32});
  check_orders<4>(6, 0.05, {1.0 / 8, 1.0 / 16});
  check_orders<5>(8, 0.05, {1.0 / 4, 1.0 / 8});
}

TEST(HolonomicLobatto, GivesTheStoredState) {
  const State state = after<3>(unit, start(unit), 0.1, 10);
  EXPECT_LT(distance(state.q, {0.36620741349890445, 0.63465462742933110, -0.68051865086930523}), 1e-13);
  EXPECT_LT(distance(state.p, {-0.88974883418703942, 0.29626263418062830, -0.20250461517568127}), 1e-13);
  EXPECT_NEAR(state.lambda[0], -1.6016466456111664, 1e-12);  // a second difference of positions: round-off / h^2
}

/// The largest error of the energy.
template <int S, class System>
double check_invariants(const System& system) {
  const LobattoStep<double, System, Cay, S> step(system, {1e-16, 50});
  State state = start(system);
  const auto momentum_map = [&] { return system.evaluate_invariants(state.q, velocity(system, state.q, state.p))[0]; };
  const double e = energy(system, state.q, velocity(system, state.q, state.p)), j = momentum_map();
  double worst = 0.0;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(step(state, 0.125).status, 0.0);
    const Vector<double, 3> v = velocity(system, state.q, state.p);
    EXPECT_LE(std::abs(system.position_constraint(state.q)[0]), 1e-15);
    EXPECT_LE(std::abs(dot(state.q, v)), 1e-15);
    EXPECT_NEAR(momentum_map(), j, 5e-15);
    worst = std::max(worst, std::abs(energy(system, state.q, v) - e));
  }
  return worst;
}
template <int S>
void check_invariants(double energy_error) {
  EXPECT_NEAR(check_invariants<S>(unit) / energy_error, 1.0, 0.05);
  EXPECT_NEAR(check_invariants<S>(without_field) / energy_error, 1.0, 0.05);
  EXPECT_LT(check_invariants<S>(in_field), 2 * energy_error);
}

TEST(HolonomicLobatto, KeepsConstraintsAndMomentumMap) {
  check_invariants<2>(1.310e-3);
  check_invariants<3>(6.20e-8);
  check_invariants<4>(7.9e-11);
}

/// RATTLE as it is usually written, for L = |v|^2/2 - z on the unit sphere.
void rattle(Vector<double, 3>& q, Vector<double, 3>& p, double h) {
  const Vector<double, 3> force{0.0, 0.0, -1.0};
  const Vector<double, 3> free = p + (0.5 * h) * force;
  double multiplier = 0.0;
  Vector<double, 3> next, half;
  for (int i = 0; i < 20; ++i) {
    half = free + (0.5 * h * multiplier) * q;
    next = q + h * half;
    multiplier -= 0.5 * (dot(next, next) - 1.0) / (0.5 * h * h * dot(next, q));
  }
  p = half + (0.5 * h) * force;
  p = p - (dot(next, p) / dot(next, next)) * next;
  q = next;
}

TEST(HolonomicLobatto, WithTwoStagesIsRattle) {
  State state = start(unit);
  Vector<double, 3> q = state.q, p = state.p;
  const LobattoStep<double, Spherical, Cay, 2> step(unit, {0.0, 50});
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(step(state, 0.1).status, 0.0);
    rattle(q, p, 0.1);
  }
  EXPECT_LT(distance(state.q, q), 1e-13);
  EXPECT_LT(distance(state.p, p), 1e-13);
}

TEST(HolonomicLobatto, IsSymmetric) {
  const auto returns = [](const auto& system) {
    const State there = after<3>(system, start(system), 0.1, 20), back = after<3>(system, there, -0.1, 20);
    EXPECT_LT(distance(back.q, start(system).q), 1e-13);
    EXPECT_LT(distance(back.p, start(system).p), 1e-13);
  };
  returns(unit);
  returns(in_field);
}

// The sweeps and the form for any Lagrangian are one map.
template <int S>
void check_forms() {
  const State sweeps = after<S>(unit, start(unit), 0.1, 50), general = after<S>(without_field, start(unit), 0.1, 50);
  EXPECT_LT(distance(sweeps.q, general.q), 1e-13);
  EXPECT_LT(distance(sweeps.p, general.p), 1e-13);
  EXPECT_NEAR(sweeps.lambda[0], general.lambda[0], S < 6 ? 1e-11 : 4e-11);  // round-off over h^2 b_s
}
TEST(HolonomicLobatto, HasOneMapInBothForms) {
  check_forms<2>();
  check_forms<3>();
  check_forms<4>();
  check_forms<5>();
  check_forms<8>();
}

/// Points of the constraint manifold from two angles and their conjugate momenta, and the symplectic form of two tangents.
State point(const Eigen::Vector4d& x) {
  const double c = std::cos(x[0]), s = std::sin(x[0]);
  State state;
  state.q = {s * std::cos(x[1]), s * std::sin(x[1]), -c};
  const Vector<double, 3> a{c * std::cos(x[1]), c * std::sin(x[1]), s}, b{-std::sin(x[1]), std::cos(x[1]), 0.0};
  state.p = x[2] * a + (x[3] / s) * b;
  state.lambda = {-1.0};
  return state;
}

template <class Map>
double symplecticity_error(Map map) {
  const Eigen::Vector4d at(1.0, 0.3, 0.2, 0.6);
  const double e = 1e-3;
  Eigen::Matrix<double, 6, 4> tangent;  // fourth-order differences of the image
  for (int i = 0; i < 4; ++i) {
    const auto image = [&](double shift) {
      const State s = map(point(at + shift * Eigen::Vector4d::Unit(i)));
      Eigen::Matrix<double, 6, 1> x;
      for (int k = 0; k < 3; ++k) {
        x[k] = s.q[k];
        x[3 + k] = s.p[k];
      }
      return x;
    };
    tangent.col(i) = (8.0 * (image(e) - image(-e)) - (image(2 * e) - image(-2 * e))) / (12.0 * e);
  }
  Eigen::Matrix<double, 6, 6> form = Eigen::Matrix<double, 6, 6>::Zero();
  form.topRightCorner<3, 3>().setIdentity();
  form.bottomLeftCorner<3, 3>() = -Eigen::Matrix3d::Identity();
  Eigen::Matrix4d canonical = Eigen::Matrix4d::Zero();
  canonical.topRightCorner<2, 2>().setIdentity();
  canonical.bottomLeftCorner<2, 2>() = -Eigen::Matrix2d::Identity();
  return (tangent.transpose() * form * tangent - canonical).cwiseAbs().maxCoeff();
}

TEST(HolonomicLobatto, IsSymplectic) {
  EXPECT_LT(symplecticity_error([](const State& s) { return after<2>(unit, s, 0.3, 1); }), 1e-9);
  EXPECT_LT(symplecticity_error([](const State& s) { return after<3>(unit, s, 0.3, 1); }), 1e-9);
  EXPECT_LT(symplecticity_error([](const State& s) { return after<4>(unit, s, 0.3, 1); }), 1e-9);
  EXPECT_LT(symplecticity_error([](const State& s) { return after<8>(unit, s, 0.3, 1); }), 1e-9);
  // the control: a step that keeps the constraints and is not symplectic
  EXPECT_GT(symplecticity_error([](State s) {
              const double h = 0.3;
              s.p = s.p + h * Vector<double, 3>{0.0, 0.0, -1.0};
              s.p = s.p - dot(s.q, s.p) * s.q;
              s.q = s.q + h * s.p;
              s.q = (1.0 / std::sqrt(dot(s.q, s.q))) * s.q;
              s.p = s.p - dot(s.q, s.p) * s.q;
              return s;
            }),
            1e-3);
}

TEST(HolonomicLobatto, ReportsAStepWithoutSolution) {
  const LobattoStep<double, Spherical, Cay, 2> step(unit, {1e-16, 50});
  State state = start(unit);
  state.p = {0.0, 30.0, 0.0};  // the chord of such a step does not reach the sphere
  EXPECT_NE(step(state, 0.1).status, 0.0);
}

}  // namespace
