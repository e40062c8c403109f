// Nonholonomic methods that carry no multiplier give in each lane of a pack the bits of a double.

#include "rattleback/methods/nonholonomic/dla.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"

#include "lanes.hpp"

namespace rattleback {
namespace {

class NonholonomicLaneTest : public LaneTest {};

/// Steps of size `h` from perturbed default states, each lane of its own, against the same steps lane by lane.
template <template <class> class SystemOf, template <class, class> class StepOf>
void expect_same_steps(double h) {
  using System = SystemOf<double>;
  using Systems = SystemOf<Real>;
  constexpr int n = System::n;
  const System system = make_default<System>();
  const Systems systems = make_system<Systems>([](int i) { return Real(System::parameters()[i].value); });
  const StepOf<double, System> step(system, {1e-16, 50});
  const StepOf<Real, Systems> pack_step(systems, {Real(1e-16), 50});

  Random random(3);
  StateOf<double, System> one[width];
  for (auto& x : one) x = random_start(system, random);
  StateOf<Real, Systems> pack;
  pack.q = vector_from_lanes<n>([&](int k) { return one[k].q; });
  pack.p = vector_from_lanes<n>([&](int k) { return one[k].p; });
  for (int i = 0; i < 30; ++i) {
    const auto reports = pack_step(pack, Real(h));
    for (int k = 0; k < width; ++k) {
      const auto report = step(one[k], h);
      ASSERT_EQ(report.status, 0.0);
      ASSERT_EQ(lane(reports.status, k), report.status);
      ASSERT_EQ(lane(reports.iterations, k), report.iterations);
      ASSERT_TRUE(same_bits(lane(pack.q, k), one[k].q)) << "step " << i << ", lane " << k;
      ASSERT_TRUE(same_bits(lane(pack.p, k), one[k].p));
    }
  }
}

template <class T>
using Printed = Chaotic<T, 3, ChaoticVariant::printed>;
template <class T, class System>
using Leapfrog = LeapfrogStep<T, System>;
template <class T, class System>
using Midpoint = DlaStep<T, System, DlaLagrangian::midpoint, DlaConstraint::mid>;
template <class T, class System>
using Verlet = DlaStep<T, System, DlaLagrangian::verlet, DlaConstraint::trap>;

TEST_F(NonholonomicLaneTest, ConstantMass) {
  expect_same_steps<Printed, Leapfrog>(0.1);
  expect_same_steps<Printed, Midpoint>(0.1);
  expect_same_steps<Printed, Verlet>(0.1);
}

TEST_F(NonholonomicLaneTest, VaryingMass) {
  expect_same_steps<ChaplyginSleigh, Leapfrog>(0.1);
  expect_same_steps<ChaplyginSleigh, Midpoint>(0.1);
  expect_same_steps<ChaplyginSleigh, Verlet>(0.1);
}

}  // namespace
}  // namespace rattleback
