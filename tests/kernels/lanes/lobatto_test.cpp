// Lobatto pairs and SPARK give in each lane of a pack the bits of a double, with many stages too.

#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/methods/nonholonomic/spark.hpp"

#include "lanes.hpp"

namespace rattleback {
namespace {

class LobattoLaneTest : public LaneTest {};

template <class Tau, int S>
struct Lobatto {
  static constexpr int stages = S;
  template <class T, class System>
  using of = LobattoStep<T, System, Tau, S>;
};
template <int S>
struct Spark {
  static constexpr int stages = S;
  template <class T, class System>
  using of = SparkStep<T, System, S>;
};

/// `steps` steps of size `h` from perturbed default states, each lane of its own, against the same steps lane by lane.
template <template <class> class SystemOf, class Method>
void expect_same_steps(double h, int steps, double distance = 0.2) {
  using System = SystemOf<double>;
  using Systems = SystemOf<Real>;
  constexpr int n = System::n, m = System::m;
  const System system = make_default<System>();
  const Systems systems = make_system<Systems>([](int i) { return Real(parameters_of<System>()[i].value); });
  const typename Method::template of<double, System> step(system, {1e-15, 50});
  const typename Method::template of<Real, Systems> pack_step(systems, {Real(1e-15), 50});

  Random random(Method::stages);
  StateOf<double, System> one[width];
  for (auto& x : one) x = random_start(system, random, distance);
  StateOf<Real, Systems> pack;
  pack.q = vector_from_lanes<element_size<System>>([&](int k) { return one[k].q; });
  pack.p = vector_from_lanes<n>([&](int k) { return one[k].p; });
  if constexpr (m > 0) pack.lambda = vector_from_lanes<m>([&](int k) { return one[k].lambda; });
  for (int i = 0; i < steps; ++i) {
    const auto reports = pack_step(pack, Real(h));
    for (int k = 0; k < width; ++k) {
      const auto report = step(one[k], h);
      ASSERT_EQ(report.status, 0.0);
      ASSERT_EQ(lane(reports.status, k), report.status);
      ASSERT_EQ(lane(reports.iterations, k), report.iterations);
      ASSERT_TRUE(same_bits(lane(pack.q, k), one[k].q)) << "step " << i << ", lane " << k;
      ASSERT_TRUE(same_bits(lane(pack.p, k), one[k].p));
      if constexpr (m > 0) {
        ASSERT_TRUE(same_bits(lane(pack.lambda, k), one[k].lambda));
      }
    }
  }
}

template <class T>
using Contact = Chaotic<T, 3, ChaoticVariant::contact>;
template <class T>
using ManyPairs = Chaotic<T, 12, ChaoticVariant::contact>;
template <class T>
using Spherical = Pendulum<T, 3>;

TEST_F(LobattoLaneTest, OnRn) {
  expect_same_steps<Contact, Lobatto<Cay, 3>>(0.1, 50);
  expect_same_steps<Contact, Lobatto<Cay, 8>>(0.3, 50);
  expect_same_steps<ManyPairs, Lobatto<Cay, 3>>(0.1, 20);
  expect_same_steps<Spherical, Lobatto<Cay, 8>>(0.3, 50);
}

TEST_F(LobattoLaneTest, SparkOnRn) {
  expect_same_steps<Contact, Spark<2>>(0.1, 50);
  expect_same_steps<Contact, Spark<3>>(0.1, 50);
  expect_same_steps<Contact, Spark<8>>(0.3, 50);
  expect_same_steps<ChaplyginSleigh, Spark<2>>(0.1, 50);
  expect_same_steps<ChaplyginSleigh, Spark<4>>(3.0, 50, 1.0);  // Newton's method takes over some of these steps
}

TEST_F(LobattoLaneTest, OnGroups) {
  expect_same_steps<HeavyTop, Lobatto<Exp, 8>>(0.2, 20);
  expect_same_steps<Rattleback, Lobatto<Cay, 8>>(0.002, 20, 0.02);
}

}  // namespace
}  // namespace rattleback
