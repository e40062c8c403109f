// The generalized-alpha method gives in each lane of a pack the bits of a double, also where lanes start at other times and are
// solved in other ways.

#include "rattleback/methods/generalized_alpha/generalized_alpha.hpp"

#include "lanes.hpp"

namespace rattleback {
namespace {

class GeneralizedAlphaLaneTest : public LaneTest {};

constexpr auto numbers = GeneralizedAlphaNumbers::of(0.8);

/// Steps of size `h` from perturbed default states against the same steps lane by lane. Every second lane has taken a step before.
template <template <class> class SystemOf, class Formulation>
void expect_same_steps(double h, int steps) {
  using System = SystemOf<double>;
  using Systems = SystemOf<Real>;
  constexpr int n = System::n, m = System::m;
  const System system = make_default<System>();
  const Systems systems = make_system<Systems>([](int i) { return Real(parameters_of<System>()[i].value); });
  const GeneralizedAlpha<double, System, Formulation> step(system, {1e-15, 50}, numbers);
  const GeneralizedAlpha<Real, Systems, Formulation> pack_step(systems, {Real(1e-15), 50}, numbers);

  Random random(1);
  GeneralizedAlphaState<double, System> one[width];
  for (int k = 0; k < width; ++k) {
    one[k] = state_of(step, random_start(system, random));
    if (k % 2 == 1) step(one[k], h);
  }
  GeneralizedAlphaState<Real, Systems> pack;
  pack.q = vector_from_lanes<n>([&](int k) { return one[k].q; });
  pack.p = vector_from_lanes<n>([&](int k) { return one[k].p; });
  if constexpr (m > 0) pack.lambda = vector_from_lanes<m>([&](int k) { return one[k].lambda; });
  pack.carried = vector_from_lanes<n + 1>([&](int k) { return one[k].carried; });
  for (int i = 0; i < steps; ++i) {
    const auto reports = pack_step(pack, Real(h));
    for (int k = 0; k < width; ++k) {
      const auto report = step(one[k], h);
      ASSERT_EQ(report.status, 0.0);
      ASSERT_EQ(lane(reports.status, k), report.status);
      ASSERT_EQ(lane(reports.iterations, k), report.iterations);
      ASSERT_TRUE(same_bits(lane(pack.q, k), one[k].q)) << "step " << i << ", lane " << k;
      ASSERT_TRUE(same_bits(lane(pack.p, k), one[k].p));
      ASSERT_TRUE(same_bits(lane(pack.carried, k), one[k].carried));
      if constexpr (m > 0) {
        ASSERT_TRUE(same_bits(lane(pack.lambda, k), one[k].lambda));
      }
    }
  }
}

template <class T>
using Contact = Chaotic<T, 3, ChaoticVariant::contact>;
template <class T>
using Spherical = Pendulum<T, 3>;

TEST_F(GeneralizedAlphaLaneTest, WithEveryKindOfConstraint) {
  expect_same_steps<Contact, Stabilised>(0.1, 20);
  expect_same_steps<Contact, Stabilised>(0.8, 5);  // some lanes are left to Newton's method
  expect_same_steps<ChaplyginSleigh, Stabilised>(0.1, 10);
  expect_same_steps<Spherical, Stabilised>(0.1, 10);
  expect_same_steps<Spherical, Index3>(0.1, 10);
  expect_same_steps<HenonHeiles, Stabilised>(0.1, 10);
}

}  // namespace
}  // namespace rattleback
