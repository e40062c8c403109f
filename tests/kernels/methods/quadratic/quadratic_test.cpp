// Systems that state L = v.M(q)v/2 + A(q).v - U(q) by its parts: the parts belong to L, and the steps that use the parts are
// the maps of the general forms.

#include "ggl_cases.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "rattleback/systems/unconstrained/magnetic_polar.hpp"
#include "sweeps.hpp"

namespace rattleback {
namespace {

template <class System>
class QuadraticTest : public ::testing::Test {
 protected:
  static constexpr int n = System::n, m = System::m;
  static System system() {
    System r = make_default<System>();
    if constexpr (requires { r.magnetic_field; }) r.magnetic_field = 1.3;
    return r;
  }
  static double step_size() {
    return requires { System::time_scale; } ? 0.01 : 0.1;
  }
};
using Systems = ::testing::Types<ChaplyginSleigh<double>, MagneticPendulum<double, 2>, MagneticPendulum<double, 3>,
                                 VariableMassPendulum<double>, CylindricalPendulum<double>, MagneticPolar<double>>;
TYPED_TEST_SUITE(QuadraticTest, Systems);

TYPED_TEST(QuadraticTest, PartsBelongToTheLagrangian) {
  static_assert(Quadratic<TypeParam>);
  constexpr int n = TypeParam::n;
  const auto system = this->system();
  Random random{7};
  for (int trial = 0; trial < 50; ++trial) {
    const Vector<double, n> q = random.vector<n>(0.5, 1.5), v = random.vector<n>(-1.0, 1.0),
                            x = random.vector<n>(-1.0, 1.0);
    const QuadraticLagrangian<TypeParam> at(system, q);
    const auto zero = Vector<double, n>::zero();
    EXPECT_LE(distance(at.momentum(v), detail::differentiated_momentum(system, q, v)), 1e-14);
    EXPECT_LE(distance(momentum(system, q, v), detail::differentiated_momentum(system, q, v)), 1e-14);
    EXPECT_LE(distance(velocity(system, q, momentum(system, q, v)), v), 1e-13);
    EXPECT_LE(distance(at.plus_force(1.0, v, zero), configuration_force(system, q, v)), 1e-14);
    EXPECT_LE(distance(at.inverse() * at.kinetic(at.momentum(v)), v), 1e-13);
    const auto of_momentum =
        gradient<n>([&](const auto& y, const auto& u) { return detail::differentiated_momentum(system, y, u); }, q, v);
    const auto coupling = at.coupling(v);
    EXPECT_LE(distance(coupling.plus_times(1.0, x, zero), of_momentum.dq * x), 1e-14);
    EXPECT_LE(distance(coupling.plus_transpose_times(1.0, x, zero), transpose_times(of_momentum.dq, x)), 1e-14);
    EXPECT_NEAR(energy(system, q, v), dot(v, detail::differentiated_momentum(system, q, v)) - system.lagrangian(q, v),
                1e-14);
  }
}

TYPED_TEST(QuadraticTest, LobattoSweepsAreTheGeneralForm) {
  const auto system = this->system();
  for_stages<2, 3, 4, 5>([&](auto s) {
    for (const double share : {1.0, 0.5}) {
      SCOPED_TRACE(s());
      expect_the_same_map(default_start(system), LobattoStep<double, TypeParam, Cay, s()>(system, to_round_off),
                          GeneralLobatto<double, TypeParam, Cay, s()>(system, to_round_off), share * this->step_size(),
                          s());
    }
  });
}

TYPED_TEST(QuadraticTest, PathsOfGglAndEnergyMomentumAreOneMap) {
  if constexpr (is_holonomic<TypeParam>)
    expect_paths_are_one_map(this->system(), default_start(this->system()), this->step_size());
}

TEST(Quadratic, ChordsOfAConstantMassMatrixAreTheGeneralForm) {
  const auto system = make_default<DoubleSphericalPendulum<double>>();
  static_assert(detail::ggl_path<DoubleSphericalPendulum<double>, GglScheme::vi_s> == GglPath::chords);
  expect_paths_are_one_map(system, default_start(system), 0.05);
}

TYPED_TEST(QuadraticTest, SweepsFallWithTheStep) {
  const auto system = this->system();
  for_stages<2, 3, 4>([&](auto s) {
    const LobattoStep<double, TypeParam, Cay, s()> step(system, {1e-15, 50});
    if constexpr (!SeparableRouthian<TypeParam>) {
      expect_fewer_sweeps(default_start(system), step, this->step_size(), 6.0, 3.5);
    } else if constexpr (s() > 2) {  // functional iteration; two stages are explicit
      expect_fewer_sweeps(default_start(system), step, this->step_size(), 7.0, 5.0);
    }
  });
}

/// Where sweeps do not converge, Newton's method takes the step.
TEST(Quadratic, LargeStepsAreHandedOver) {
  const auto sleigh = make_default<ChaplyginSleigh<double>>();
  const LobattoStep<double, ChaplyginSleigh<double>, Cay, 3> step(sleigh, {1e-16, 50});
  const GeneralLobatto<double, ChaplyginSleigh<double>, Cay, 3> general(sleigh, {1e-16, 50});
  int handed_over = 0;
  for (const double h : {0.6, 1.2, 2.4, 3.0}) {
    auto a = default_start(sleigh), b = a;
    const auto report = step(a, h), other = general(b, h);
    EXPECT_EQ(report.status, other.status) << h;
    if (other.status == double(status_good)) {
      EXPECT_LE(distance(a.q, b.q), 1e-12) << h;
    }
    if (report.iterations > other.iterations && distance(a.q, b.q) == 0.0) ++handed_over;
  }
  EXPECT_GE(handed_over, 1);
}

/// M = q^2, which is singular at 0.
template <class T>
struct Collapsing {
  using scalar = T;
  static constexpr int n = 1, m = 0;
  static constexpr auto kind = ConstraintKind::none;
  template <class S>
  RB_HD S mass_matrix(const Vector<S, n>& q) const {
    return q[0] * q[0];
  }
};

TEST(Quadratic, ASingularMassHasAStatus) {
  using System = Collapsing<double>;
  static_assert(Quadratic<System> && !Separable<System>);
  for_stages<2, 3>([&](auto s) {
    const LobattoStep<double, System, Cay, s()> step(System{}, {1e-15, 50});
    StateOf<double, System> state{{1.0}, {0.5}, {}}, at_zero{{0.0}, {0.5}, {}};
    EXPECT_EQ(step(state, 0.01).status, status_good);
    EXPECT_EQ(step(at_zero, 0.01).status, status_singular);
  });
}

}  // namespace
}  // namespace rattleback
