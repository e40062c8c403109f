// Nonholonomic methods that carry no multiplier give in each lane of a pack the bits of a double.

#include "rattleback/methods/nonholonomic/dla.hpp"
#include "rattleback/methods/nonholonomic/leapfrog.hpp"
#include "rattleback/methods/nonholonomic/transport.hpp"

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
  const Systems systems = make_system<Systems>([](int i) { return Real(parameters_of<System>()[i].value); });
  const StepOf<double, System> step(system, {1e-16, 50});
  const StepOf<Real, Systems> pack_step(systems, {Real(1e-16), 50});

  Random random(3);
  StateOf<double, System> one[width];
  for (auto& x : one) x = random_start(system, random);
  StateOf<Real, Systems> pack;
  pack.q = vector_from_lanes<element_size<System>>([&](int k) { return one[k].q; });
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

template <class T, class System>
using Cayley = DlaStep<T, System, DlaLagrangian::midpoint, DlaConstraint::mid, Cay>;
template <class T, class System>
using Exponential = DlaStep<T, System, DlaLagrangian::midpoint, DlaConstraint::mid, Exp>;

TEST_F(NonholonomicLaneTest, OnGroups) {
  expect_same_steps<Suslov, Cayley>(0.2);
  expect_same_steps<VerticalDisc, Exponential>(0.2);
}

template <class T, class System>
using Energy = TransportStep<T, System>;
/// Two constraints and a full mass matrix.
template <class T>
struct Skewed {
  using scalar = T;
  static constexpr int n = 4, m = 2;
  static constexpr auto kind = ConstraintKind::velocity;
  static constexpr std::array<double, 4> default_q{0.1, -0.2, 0.3, 0.5}, default_v{0.4, 0.2, -0.3, 0.6};
  static constexpr std::array<ParameterInfo, 0> parameters() { return {}; }
  template <class S>
  RB_HD S potential(const Vector<S, n>& q) const {
    return S(0.5) * dot(q, q);
  }
  RB_HD Matrix<T, n, n> mass_matrix() const {
    auto r = Matrix<T, n, n>::zero();
    for (int i = 0; i < n; ++i) r[i][i] = T(1.0 + 0.2 * i);
    r[0][2] = r[2][0] = T(0.3);
    return r;
  }
  template <class S>
  RB_HD Matrix<S, m, n> constraint_matrix(const Vector<S, n>& q) const {
    return {{{S(1.0), q[2], S(0.0), q[3]}, {q[3], S(1.0), q[0], S(0.2)}}};
  }
};

TEST_F(NonholonomicLaneTest, TurnsOfMomenta) {
  expect_same_steps<Printed, Energy>(0.3);
  expect_same_steps<Skewed, Energy>(0.2);
}

}  // namespace
}  // namespace rattleback
