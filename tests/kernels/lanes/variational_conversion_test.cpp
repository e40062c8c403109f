// The conversion and its base in packs: each lane has the bits of a trajectory of its own, also where its neighbours need more
// iterations or fail.

#include "conversion_problems.hpp"
#include "lanes.hpp"

namespace rattleback {
namespace {

class ConversionLanes : public LaneTest {};

/// The start of a problem, moved along the constraint manifold; lane 2 goes where no step leads.
template <class P>
problems::StateOfProblem<P> start_of(int k) {
  auto q = P::q(), v = P::v();
  for (int i = 0; i < P::n; ++i) {
    q[i] += 0.02 * std::sin(1.0 + 3.0 * k + i);
    v[i] += 0.1 * std::cos(2.0 * k + i);
  }
  if (k == 2) v = 1e6 * v;
  if constexpr (P::m > 0) {
    const auto nearest = nearest_point(P::system(), q);
    q = nearest.q;
    v = nearest.normals.tangential(v);
  }
  return {q, momentum(P::system(), q, v), {}};
}

template <class P, template <class, class> class Step>
void compare(const problems::Numbers& numbers, double h) {
  using System = typename P::System;
  using Packed = typename P::template of<Real>;
  const auto number = P::system();
  double parameters[24];
  std::memcpy(parameters, &number, sizeof(number));
  const Step<Real, Packed> packed(make_system<Packed>([&](int i) { return Real(parameters[i]); }), {Real(1e-16), 20},
                                  numbers);
  const Step<double, System> single(number, {1e-16, 20}, numbers);
  StateOf<Real, Packed> state;
  state.q = vector_from_lanes<P::n>([](int k) { return start_of<P>(k).q; });
  state.p = vector_from_lanes<P::n>([](int k) { return start_of<P>(k).p; });
  std::vector<problems::StateOfProblem<P>> alone;
  for (int k = 0; k < width; ++k) alone.push_back(start_of<P>(k));
  for (int step = 0; step < 20; ++step) {
    const auto report = packed(state, Real(h));
    for (int k = 0; k < width; ++k) {
      auto& one = alone[static_cast<std::size_t>(k)];
      const auto expected = single(one, h);
      ASSERT_EQ(lane(report.status, k), expected.status) << step << " " << k;
      if (expected.status != 0.0) continue;
      ASSERT_EQ(lane(report.iterations, k), expected.iterations) << step << " " << k;
      ASSERT_TRUE(same_bits(lane(report.residual, k), expected.residual));
      ASSERT_TRUE(same_bits(lane(state.q, k), one.q)) << step << " " << k;
      ASSERT_TRUE(same_bits(lane(state.p, k), one.p)) << step << " " << k;
      if constexpr (P::m > 0) {
        ASSERT_TRUE(same_bits(lane(state.lambda, k), one.lambda)) << step << " " << k;
      }
    }
  }
}

template <class P>
void compare_all() {
  SCOPED_TRACE(P::System::name);
  using problems::Numbers;
  compare<P, VariationalConversion>(Numbers("rk4", problems::symmetric), 0.1);
  compare<P, VariationalConversion>(Numbers("heun2", problems::forward), 0.1);
  compare<P, VariationalConversion>(Numbers("rk3", problems::backward, ConversionState::node), 0.1);
  compare<P, RungeKutta>(Numbers("rk4", true), 0.1);
}

TEST_F(ConversionLanes, HaveTheBitsOfSingleTrajectories) {
  compare_all<problems::KeplerOrbit>();
  compare_all<problems::InField>();
  compare_all<problems::VariableMass>();
  compare_all<problems::Double>();
}

}  // namespace
}  // namespace rattleback
