// Symplecticity of the GGL variational integrators on the admissible space, by the derivative of a step over dual numbers.

#include "ggl_cases.hpp"

namespace rattleback {
namespace {

template <template <class> class SystemOf>
using OverDuals = SystemOf<Dual<double, 1>>;

/// VI-A on all of phase space, the others on tangents with G dq = 0.
template <template <class> class SystemOf, class State>
void expect_symplectic(const OverDuals<SystemOf>& system, const State& start, double h, const Eigen::MatrixXd& inside,
                       double least_defect_of_em) {
  const Eigen::MatrixXd all = Eigen::MatrixXd::Identity(inside.rows(), inside.rows());
  EXPECT_LT(symplectic_defect(vi_a, system, start, h, all), 1e-12);
  EXPECT_LT(symplectic_defect(vi_s, system, start, h, inside), 1e-12);
  EXPECT_LT(symplectic_defect(vi_b, system, start, h, inside), 1e-12);
  EXPECT_LT(symplectic_defect(vi_bs, system, start, h, inside), 1e-12);
  // the controls: VI-S off the constraint, and the scheme that conserves energy instead
  EXPECT_GT(symplectic_defect(vi_s, system, start, h, all), 1e-2);
  EXPECT_GT(symplectic_defect(em, system, start, h, inside), least_defect_of_em);
}

TEST(GglSymplectic, Pendulum) {
  expect_symplectic<Spherical>({1.0, 1.0, 9.81, 1.0, 0.0}, pendulum_start(), 0.05,
                               admissible(pendulum, pendulum_start()), 5e-4);
}

TEST(GglSymplectic, FourParticles) {
  const auto state = four_particle_start();
  expect_symplectic<FourParticle>(make_default<OverDuals<FourParticle>>(), state, 0.01,
                                  admissible(four_particle, state), 1e-4);
}

TEST(GglSymplectic, Top) {
  expect_symplectic<HeavyTopDirectors>(make_default<OverDuals<HeavyTopDirectors>>(), top_start(), 5e-4,
                                       admissible(top, top_start()), 5e-3);
}

TEST(GglSymplectic, ConfigurationDependentMass) {
  const auto state = default_start(cylindrical);
  expect_symplectic<CylindricalPendulum>(make_default<OverDuals<CylindricalPendulum>>(), state, 0.05,
                                         admissible(cylindrical, state), 1e-4);
}

}  // namespace
}  // namespace rattleback
