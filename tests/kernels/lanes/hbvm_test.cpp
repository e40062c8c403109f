// HBVM(k, s) gives in each lane of a pack the bits of a double: the sweeps, lanes left to Newton's method among others, and
// compensated summation.

#include "rattleback/methods/hbvm/hbvm.hpp"

#include "lanes.hpp"
#include "rattleback/systems/holonomic/modified_pendulum.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/tethered_satellites.hpp"
#include "rattleback/systems/unconstrained/kepler.hpp"

namespace rattleback {
namespace {

class HbvmLaneTest : public LaneTest {};

template <class T, int n, int m>
struct Rounded {
  PhaseState<T, n, m> state;
  StateRounding<T, n> rounding;
};

/// `steps` steps of size `h` from perturbed default states, each lane of its own, against the same steps lane by lane. Returns
/// the difference between the most and the fewest iterations of the lanes of one step.
template <int S, template <class> class SystemOf>
double expect_same_steps(const HbvmOptions& options, double h, int steps, double distance = 0.2) {
  using System = SystemOf<double>;
  using Systems = SystemOf<Real>;
  constexpr int n = System::n, m = System::m;
  const System system = make_default<System>();
  const Systems systems = make_system<Systems>([](int i) { return Real(parameters_of<System>()[i].value); });
  const HbvmNumbers numbers = HbvmNumbers::of(S, options);
  const Hbvm<double, System, S> step(system, {1e-16, 40}, numbers);
  const Hbvm<Real, Systems, S> pack_step(systems, {Real(1e-16), 40}, numbers);

  Random random(S);
  Rounded<double, n, m> one[width];
  for (auto& x : one)
    x = {random_start(system, random, distance), {Vector<double, n>::zero(), Vector<double, n>::zero()}};
  Rounded<Real, n, m> pack;
  pack.state.q = vector_from_lanes<n>([&](int k) { return one[k].state.q; });
  pack.state.p = vector_from_lanes<n>([&](int k) { return one[k].state.p; });
  if constexpr (m > 0) pack.state.lambda = vector_from_lanes<m>([&](int k) { return one[k].state.lambda; });
  pack.rounding = {Vector<Real, n>::zero(), Vector<Real, n>::zero()};

  double spread = 0.0;
  for (int i = 0; i < steps; ++i) {
    const bool compensated = i % 2 == 1;
    const auto reports = compensated ? pack_step(pack.state, pack.rounding, Real(h)) : pack_step(pack.state, Real(h));
    double most = 0.0, fewest = HUGE_VAL;
    for (int k = 0; k < width; ++k) {
      auto& x = one[k];
      const auto report = compensated ? step(x.state, x.rounding, h) : step(x.state, h);
      EXPECT_EQ(lane(reports.status, k), report.status);
      EXPECT_EQ(lane(reports.iterations, k), report.iterations);
      EXPECT_TRUE(same_bits(lane(reports.residual, k), report.residual));
      EXPECT_TRUE(same_bits(lane(pack.state.q, k), x.state.q));
      EXPECT_TRUE(same_bits(lane(pack.state.p, k), x.state.p));
      EXPECT_TRUE(same_bits(lane(pack.rounding.q, k), x.rounding.q));
      EXPECT_TRUE(same_bits(lane(pack.rounding.p, k), x.rounding.p));
      if constexpr (m > 0) {
        EXPECT_TRUE(same_bits(lane(pack.state.lambda, k), x.state.lambda));
      }
      most = std::max(most, report.iterations);
      fewest = std::min(fewest, report.iterations);
      if (::testing::Test::HasFailure()) return spread;
    }
    spread = std::max(spread, most - fewest);
  }
  return spread;
}

template <class T>
using PlanarPendulum = Pendulum<T, 2>;

TEST_F(HbvmLaneTest, Sweeps) {
  expect_same_steps<2, PlanarPendulum>({2}, 0.1, 200);
  EXPECT_GT((expect_same_steps<2, ModifiedPendulum>({6}, 0.1, 200, 0.1)), 0.0) << "all lanes do the same";
  expect_same_steps<2, TetheredSatellites>({6}, 0.5, 40);
  expect_same_steps<3, Kepler>({7}, 0.02, 200, 0.05);
  expect_same_steps<6, Kepler>({12}, 0.1, 100, 0.05);
}

TEST_F(HbvmLaneTest, DirectConstraint) {
  expect_same_steps<3, PlanarPendulum>({4, true}, 0.2, 100);
  expect_same_steps<2, TetheredSatellites>({2, true}, 0.5, 20);
}

TEST_F(HbvmLaneTest, NewtonInSomeLanes) {
  // some lanes are left to Newton's method after 40 sweeps, or earlier
  EXPECT_GT((expect_same_steps<1, PlanarPendulum>({1}, 1.35, 30, 0.5)), 20.0);
  EXPECT_GT((expect_same_steps<1, ModifiedPendulum>({3}, 0.5, 10, 0.1)), 10.0);
}

TEST_F(HbvmLaneTest, Newton) {
  expect_same_steps<2, PlanarPendulum>({3, false, true}, 0.2, 50);
  expect_same_steps<1, TetheredSatellites>({6, false, true}, 0.5, 10);
  expect_same_steps<2, ModifiedPendulum>({2, true, true}, 0.1, 50, 0.1);
}

}  // namespace
}  // namespace rattleback
