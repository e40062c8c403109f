// Variational Munthe-Kaas and Crouch-Grossman methods on SE(3): the body on a spring.

#include "rattleback/systems/unconstrained/rigid_body_spring.hpp"
#include "vrkmk.hpp"

using namespace rattleback;
using namespace rattleback::variational;

namespace {

using Spring = RigidBodySpring<double>;

TEST(VrkmkSystems, OfTheSpringKeepTheMomentumAboutTheVertical) {
  const auto system = make_default<Spring>();
  const auto vertical = [&](const StateOf<double, Spring>& s) {
    return system.evaluate_invariants(s.q, velocity(system, s.q, SE3::Ad_star(s.q, s.p)))[0];
  };
  auto state = default_state(system);
  const double start = vertical(state);
  // the angular momentum about the origin, less that of the linear momentum at c
  EXPECT_NEAR(start, state.p[2] - (system.centre_1 * state.p[4] - system.centre_2 * state.p[3]), 1e-15);
  state = run<Spring>(vrkmk(system, "gauss2", 2), state, 0.05, 200);
  EXPECT_NEAR(vertical(state), start, 1e-14);
}

TEST(VrkmkOnSe3, Converges) {
  const auto system = make_default<Spring>();
  const auto start = default_state(system);
  const auto reference = run<Spring>(vrkmk(system, "gauss3", 4), start, 1.0 / 200, 200);
  const auto error = [&](const StepOf<Spring>& step, int steps) {
    const auto end = run<Spring>(step, start, 1.0 / steps, steps);
    const auto d = end.p - reference.p;
    const auto e = SE3::position(end.q) - SE3::position(reference.q);
    const auto r = SE3::rotation(end.q) - SE3::rotation(reference.q);
    return std::sqrt(dot(d, d)) + std::sqrt(dot(r, r) + dot(e, e));
  };
  const auto expect_order = [&](const StepOf<Spring>& step, double order) {
    const double coarse = error(step, 5), middle = error(step, 10), fine = error(step, 20);
    EXPECT_NEAR(std::log2(coarse / middle), order, 0.2);
    EXPECT_NEAR(std::log2(middle / fine), order, 0.1);
  };
  expect_order(vrkmk(system, "gauss1", 0), 2.0);
  expect_order(vrkmk(system, "gauss2", 2), 4.0);
  expect_order(vrkmk(system, "gauss3", 4), 6.0);
  expect_order(vrkmk(system, "gauss2", 2, true), 4.0);
  expect_order(vcg(system, "triple-jump4"), 3.9);
  EXPECT_NEAR(error(vrkmk(system, "gauss1", 0), 10), 5.7e-3, 1e-3);
}

TEST(VrkmkOnSe3, IsSymplectic) {
  const auto system = make_default<Spring>();
  for (const bool pade : {false, true}) {
    const auto step = vrkmk(system, "gauss2", 2, pade);
    EXPECT_LT(symplecticity_defect<Spring>([&](auto& s) { step(s, 0.05); }, default_state(system), 1e-5), 5e-9);
  }
}

}  // namespace
