// Variational Munthe-Kaas and Crouch-Grossman steps give in each lane of a pack the bits of a double, also where other
// lanes need more iterations, fail, or have other parameters.

#include "rattleback/methods/lie/vcg.hpp"
#include "rattleback/systems/unconstrained/dipole_on_a_stick.hpp"

#include "lanes.hpp"
#include "named.hpp"

namespace rattleback {
namespace {

class VrkmkLaneTest : public LaneTest {};

/// Advances the same trajectories alone and as a pack.
template <template <class, class> class Step>
void expect_same_steps(const auto& numbers, int max_iterations, bool (&seen)[2]) {
  using NoCompanion = DipoleOnAStick<double>;
  using Together = DipoleOnAStick<Real>;
  const auto sigma = [](int k) { return k % 2 == 0 ? -1.0 : 1.0; };
  const auto size = [](int k) { return k == 3 ? 1.5 : 0.01 * (1 + k); };  // lane 3 is beyond what can be solved
  const Together systems{Real(1.0), Real(0.1), Real(1.0), Real(1.0), from_lanes(sigma)};
  const Step<Real, Together> steps(systems, {Real(1e-14), max_iterations}, numbers);
  const auto start = [](int k) {
    const auto q =
        SO3::product(SO3::expand(Vector<double, 3>{0.1 * k, -0.2, 0.3 + 0.05 * k}), {1, 0, 0, 0, 0, -1, 0, 1, 0});
    return StateOf<double, NoCompanion>{q, {0.02 * k, 0.02, 0.03}, {}};
  };
  StateOf<Real, Together> state{vector_from_lanes<9>([&](int k) { return start(k).q; }),
                                vector_from_lanes<3>([&](int k) { return start(k).p; }),
                                {}};
  StateOf<double, NoCompanion> alone[width];
  for (int k = 0; k < width; ++k) alone[k] = start(k);
  for (int n = 0; n < 20; ++n) {
    const auto report = steps(state, from_lanes(size));
    for (int k = 0; k < width; ++k) {
      const Step<double, NoCompanion> step({1.0, 0.1, 1.0, 1.0, sigma(k)}, {1e-14, max_iterations}, numbers);
      const auto expected = step(alone[k], size(k));
      ASSERT_TRUE(same_bits(lane(report.status, k), expected.status)) << n << " lane " << k;
      ASSERT_TRUE(same_bits(lane(report.iterations, k), expected.iterations)) << n << " lane " << k;
      ASSERT_TRUE(same_bits(lane(report.residual, k), expected.residual)) << n << " lane " << k;
      ASSERT_TRUE(same_bits(lane(state.q, k), alone[k].q)) << n << " lane " << k;
      ASSERT_TRUE(same_bits(lane(state.p, k), alone[k].p)) << n << " lane " << k;
      seen[expected.status == 0.0] = true;
    }
  }
}

template <class T, class System>
using TwoStages = VrkmkStep<T, System, 2>;

TEST_F(VrkmkLaneTest, MuntheKaas) {
  bool seen[2] = {};
  for (const auto iteration :
       {StageIteration::newton, StageIteration::chord, StageIteration::fixed_point, StageIteration::sweeps})
    for (const bool pade : {false, true})
      expect_same_steps<TwoStages>(VrkmkNumbers<2>::of(iteration, *named(runge_kutta_tableaus, "gauss2"), 2, pade), 60,
                                   seen);
  EXPECT_TRUE(seen[0] && seen[1]);  // steps that fail among others that do not
}

template <class T, class System>
using Composition = VcgStep<T, System>;

TEST_F(VrkmkLaneTest, CrouchGrossman) {
  bool seen[2] = {};
  for (const auto iteration : {StageIteration::newton, StageIteration::sweeps})
    expect_same_steps<Composition>(VcgNumbers::of(iteration, crouch_grossman_sets[1]), 60, seen);
  EXPECT_TRUE(seen[0] && seen[1]);
}

}  // namespace
}  // namespace rattleback
