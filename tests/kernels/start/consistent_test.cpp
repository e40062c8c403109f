// Projections onto constraints: the points found are the nearest ones in the metric of the mass matrix.

#include "rattleback/start/consistent.hpp"
#include "eigen.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/torus_particle.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"
#include "rattleback/systems/nonholonomic/isokinetic_particle.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

/// A particle on an ellipsoid, with a mass matrix that is not diagonal and depends on q and v.
template <class T>
struct OnEllipsoid {
  using scalar = T;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;
  static constexpr bool quadratic = false;
  template <class S>
  RB_HD S lagrangian(const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    const S x2 = v[0] * v[0];
    return S(0.5) * (dot(v, v) + (S(2.0) + q[1] * q[1]) * x2) + S(0.4) * v[0] * v[2] + S(0.1) * x2 * x2;
  }
  template <class S>
  RB_HD Vector<S, 1> position_constraint(const Vector<S, 3>& q) const {
    return {q[0] * q[0] + S(2.0) * q[1] * q[1] + S(0.5) * q[2] * q[2] - S(1.0)};
  }
};
/// Two constraints that are curved in the velocities, one of them with q.
template <class T>
struct OfSpeeds {
  using scalar = T;
  static constexpr int n = 3, m = 2;
  static constexpr auto kind = ConstraintKind::velocity;
  template <class S>
  RB_HD S lagrangian(const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return S(0.5) * dot(v, v) + S(0.3) * q[0] * v[0] * v[1] + v[2] * v[2];
  }
  template <class S>
  RB_HD Vector<S, 2> constraint(const Vector<S, 3>& q, const Vector<S, 3>& v) const {
    return {dot(v, v) - S(1.0), v[2] - q[1] * v[0] * v[0] - S(0.1)};
  }
};
/// A body with an axis of fixed inclination.
template <class T>
struct Inclined {
  using scalar = T;
  using Group = SO3;
  static constexpr int n = 3, m = 1;
  static constexpr auto kind = ConstraintKind::holonomic;
  template <class S>
  RB_HD S lagrangian(const Vector<S, 9>& q, const Vector<S, 3>& v) const {
    return S(0.5) * (v[0] * v[0] + S(2.0) * v[1] * v[1] + S(4.0) * v[2] * v[2]) + S(0.3) * v[0] * v[1] - q[8];
  }
  template <class S>
  RB_HD Vector<S, 1> position_constraint(const Vector<S, 9>& q) const {
    return {q[8] + S(0.3) * q[2] - S(0.8)};
  }
};

/// The part of M d that is no combination of the rows of the Jacobian, relative to M d: 0 where d is stationary.
template <int n, int m>
double part_along(const Matrix<double, n, n>& mass, const Vector<double, n>& d, const Matrix<double, m, n>& jacobian) {
  const Eigen::MatrixXd across = to_eigen(jacobian).transpose();
  const Eigen::VectorXd p = to_eigen(mass) * to_eigen(d);
  return (p - across * across.colPivHouseholderQr().solve(p)).norm() / p.norm();
}

template <class System>
void expect_nearest_positions(const System& system, const Vector<double, System::n>& near) {
  constexpr int n = System::n;
  Random random(5);
  for (const double distance : {1e-3, 0.1, 0.4})
    for (int i = 0; i < 20; ++i) {
      const Vector<double, n> start = near + random.vector<n>(-distance, distance), v = random.vector<n>(-0.5, 0.5);
      Vector<double, n> q = start;
      ASSERT_TRUE(detail::project_position(system, q, v, 1e-14));
      const auto g = position_constraint(system, q);
      EXPECT_LE(max_norm(g.value), 1e-14);
      // the displacement has the round-off of the positions
      EXPECT_LE(part_along(mass_matrix(system, start, v), q - start, g.jacobian), 1e-14 / max_norm(q - start));
    }
}
TEST(Consistent, PositionsAreTheNearestOnesInTheMetricOfTheMass) {
  expect_nearest_positions(OnEllipsoid<double>{}, {0.6, 0.4, 0.8});
  expect_nearest_positions(make_default<VariableMassPendulum<double>>(), {0.6, 0.0, 0.8});
  expect_nearest_positions(make_default<TorusParticle<double>>(), {3.0, 0.0, 0.0});
  expect_nearest_positions(make_default<DoubleSphericalPendulum<double>>(), {0.6, 0.0, -0.8, 1.2, 0.0, -1.6});
}

TEST(Consistent, PositionsOnTheConstraintStay) {
  const auto system = make_default<TorusParticle<double>>();
  for (const Vector<double, 3>& q : {Vector<double, 3>{3.0, 0.0, 0.0}, {-0.0, -3.0, -0.0}}) {
    Vector<double, 3> moved = q;
    ASSERT_TRUE(detail::project_position(system, moved, {0.1, 0.2, 0.3}, 1e-14));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(moved[i], q[i]));
  }
}

template <class System>
void expect_nearest_velocities(const System& system, const Vector<double, System::n>& near) {
  constexpr int n = System::n;
  Random random(6);
  for (const double distance : {1e-3, 0.1, 0.4})
    for (int i = 0; i < 20; ++i) {
      const Vector<double, n> q = random.vector<n>(-0.5, 0.5), start = near + random.vector<n>(-distance, distance);
      Vector<double, n> v = start;
      ASSERT_TRUE(detail::project_velocity(system, q, v, 1e-14));
      const auto phi = detail::constraint_gradient(system, q, v);
      EXPECT_LE(max_norm(phi.value), 1e-14);
      EXPECT_LE(part_along(mass_matrix(system, q, start), v - start, phi.dv), 1e-14 / max_norm(v - start));
    }
}
TEST(Consistent, VelocitiesOnCurvedConstraintsAreTheNearestOnes) {
  expect_nearest_velocities(OfSpeeds<double>{}, {0.8, 0.6, 0.2});
  expect_nearest_velocities(make_default<IsokineticParticle<double>>(), {0.8, 0.6});
}

/// No position of the constraint beside the one found has a smaller displacement.
TEST(Consistent, NoRotationOfTheConstraintIsNearer) {
  const Inclined<double> system{};
  Random random(7);
  for (int i = 0; i < 10; ++i) {
    const Vector<double, 3> tilt = random.vector<3>(-0.3, 0.3);
    const auto start =
        detail::displaced<Inclined<double>>(SO3::identity<double>(), Vector<double, 3>{0.6, 0.0, 0.0} + tilt);
    auto q = start;
    ASSERT_TRUE(detail::project_position(system, q, Vector<double, 3>::zero(), 1e-14));
    EXPECT_LE(max_norm(system.position_constraint(q)), 2e-15);
    const auto mass = mass_matrix(system, start, Vector<double, 3>::zero());
    const auto displacement_to = [&](const Vector<double, 9>& x) {  // Newton's method for displaced(start, d) = x
      auto d = Vector<double, 3>::zero();
      for (int pass = 0; pass < 30; ++pass) {
        const auto rest = SO3::product(SO3::inverse(detail::displaced<Inclined<double>>(start, d)), x);
        d = d + 0.5 * Vector<double, 3>{rest[7] - rest[5], rest[2] - rest[6], rest[3] - rest[1]};
      }
      return d;
    };
    const auto d = displacement_to(q);
    EXPECT_LE(distance(detail::displaced<Inclined<double>>(start, d), q), 1e-14);
    for (int k = 0; k < 5; ++k) {
      auto other = detail::displaced<Inclined<double>>(q, random.vector<3>(-1e-3, 1e-3));
      ASSERT_TRUE(detail::project_position(system, other, Vector<double, 3>::zero(), 1e-14));
      const auto e = displacement_to(other);
      EXPECT_GT(dot(e, mass * e), dot(d, mass * d) * (1.0 - 1e-14));
    }
  }
}

}  // namespace
}  // namespace rattleback
