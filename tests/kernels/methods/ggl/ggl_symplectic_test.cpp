// Symplecticity of the GGL variational integrators on the admissible space, by the derivative of a step over dual numbers.

#include "ggl_cases.hpp"

namespace rattleback {
namespace {

template <template <class> class SystemOf>
using OverDuals = SystemOf<Dual<double, 1>>;

/// VI-A on all of phase space, the others on tangents with G dq = 0.
template <template <class> class SystemOf, class State>
void expect_symplectic(const OverDuals<SystemOf>& system, const State& start, double h, const Eigen::MatrixXd& inside) {
  const Eigen::MatrixXd all = Eigen::MatrixXd::Identity(inside.rows(), inside.rows());
  EXPECT_LT(symplectic_defect(vi_a, system, start, h, all), 1e-12);
  EXPECT_LT(symplectic_defect(vi_s, system, start, h, inside), 1e-12);
  EXPECT_LT(symplectic_defect(vi_b, system, start, h, inside), 1e-12);
  EXPECT_LT(symplectic_defect(vi_bs, system, start, h, inside), 1e-12);
  // the control: VI-S off the constraint
  EXPECT_GT(symplectic_defect(vi_s, system, start, h, all), 1e-2);
}

TEST(GglSymplectic, Pendulum) {
  const auto state = pendulum_start();
  const OverDuals<Spherical> system{1.0, 1.0, 9.81, 1.0};
  const Eigen::MatrixXd inside = admissible(pendulum, state);
  expect_symplectic<Spherical>(system, state, 0.05, inside);
  // the scheme that conserves energy is not symplectic
  EXPECT_NEAR(symplectic_defect(em, system, state, 0.05, inside), 1.1e-3, 5e-4);
}

TEST(GglSymplectic, FourParticles) {
  const auto state = four_particle_start();
  const auto system = make_default<OverDuals<FourParticle>>();
  const Eigen::MatrixXd inside = admissible(four_particle, state);
  expect_symplectic<FourParticle>(system, state, 0.01, inside);
  EXPECT_GT(symplectic_defect(em, system, state, 0.01, inside), 1e-4);
}

TEST(GglSymplectic, Top) {
  const auto state = top_start();
  const auto system = make_default<OverDuals<HeavyTopDirectors>>();
  const Eigen::MatrixXd inside = admissible(top, state);
  expect_symplectic<HeavyTopDirectors>(system, state, 5e-4, inside);
  EXPECT_GT(symplectic_defect(em, system, state, 5e-4, inside), 5e-3);
}

TEST(GglSymplectic, ConfigurationDependentMass) {
  const auto state = default_start(cylindrical);
  expect_symplectic<CylindricalPendulum>(make_default<OverDuals<CylindricalPendulum>>(), state, 0.05,
                                         admissible(cylindrical, state));
}

}  // namespace
}  // namespace rattleback
