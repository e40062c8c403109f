// Steps of the GGL and energy-momentum families give in each lane of a pack the bits of a double, whatever its neighbours do.

#include "ggl_cases.hpp"
#include "lanes.hpp"

namespace rattleback {
namespace {

class GglLaneTest : public LaneTest {};

/// Lanes with different velocities, so that they take different numbers of iterations; the last one has no solution where
/// `failing` is the factor of its velocity.
template <template <class> class System, class Scheme>
void expect_same_steps(const Scheme& scheme, double h, double failing) {
  constexpr int n = System<double>::n, m = System<double>::m;
  const auto system = make_default<System<double>>();
  const auto systems = make_system<System<Real>>([](int i) { return Real(parameters_of<System<double>>()[i].value); });
  PhaseState<double, n, m> alone[width];
  for (int k = 0; k < width; ++k)
    alone[k] = start(system, to_vector(System<double>::default_q),
                     (k + 1 == width ? failing : 1.0 - 0.05 * k) * to_vector(System<double>::default_v));
  PhaseState<Real, n, m> together{vector_from_lanes<n>([&](int k) { return alone[k].q; }),
                                  vector_from_lanes<n>([&](int k) { return alone[k].p; }),
                                  vector_from_lanes<m>([&](int k) { return alone[k].lambda; })};
  const auto step = scheme.on(system);
  const auto steps = scheme.on(systems);
  for (int i = 0; i < 5; ++i) {
    const StepReport<Real> reports = steps(together, Real(h));
    for (int k = 0; k < width; ++k) {
      const StepReport<double> report = step(alone[k], h);
      ASSERT_TRUE(same_bits(lane(reports.status, k), report.status)) << k;
      ASSERT_TRUE(same_bits(lane(reports.iterations, k), report.iterations)) << k;
      ASSERT_TRUE(same_bits(lane(reports.residual, k), report.residual)) << k;
      ASSERT_TRUE(same_bits(lane(together.q, k), alone[k].q)) << k;
      ASSERT_TRUE(same_bits(lane(together.p, k), alone[k].p)) << k;
      ASSERT_TRUE(same_bits(lane(together.lambda, k), alone[k].lambda)) << k;
      if (k + 1 < width) {
        EXPECT_EQ(report.status, 0.0) << k;
      }
    }
  }
}

template <class Scheme>
void expect_same_steps_everywhere(const Scheme& scheme, double failing = 0.3) {
  expect_same_steps<FourParticle>(scheme, 0.01, 1.7);
  expect_same_steps<HeavyTopDirectors>(scheme, 0.001, failing);
  expect_same_steps<CylindricalPendulum>(scheme, 0.02, 1.3);
  expect_same_steps<Spherical>(scheme, 0.05, 100.0);
}

TEST_F(GglLaneTest, ViS) { expect_same_steps_everywhere(vi_s, 5.0); }
TEST_F(GglLaneTest, ViA) { expect_same_steps_everywhere(vi_a); }
TEST_F(GglLaneTest, ViB) { expect_same_steps_everywhere(vi_b, 5.0); }
TEST_F(GglLaneTest, EnergyMomentum) { expect_same_steps_everywhere(em); }

}  // namespace
}  // namespace rattleback
