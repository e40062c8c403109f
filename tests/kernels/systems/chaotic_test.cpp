// The chaotic oscillators with as many pairs as have names.

#include <set>
#include <string>

#include "hessian.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

template <class System>
class ManyPairs : public ::testing::Test {};
using Variants =
    ::testing::Types<Chaotic<double, 12, ChaoticVariant::contact>, Chaotic<double, 12, ChaoticVariant::printed>>;
TYPED_TEST_SUITE(ManyPairs, Variants);

TYPED_TEST(ManyPairs, AreNamedAndStartOnTheConstraint) {
  using System = TypeParam;
  static_assert(System::n == 25);
  const std::set<std::string> names(System::coordinates.begin(), System::coordinates.end());
  EXPECT_EQ(names.size(), 25u);
  EXPECT_EQ(System::coordinates[12], std::string("y12"));
  EXPECT_EQ(System::coordinates[24], std::string("z12"));
  const auto q = to_vector(System::default_q), v = to_vector(System::default_v);
  for (int i = 3; i < 12; ++i) EXPECT_EQ(q[System::y + i], 0.1);
  EXPECT_EQ(max_norm(constraint(System{}, q, v)), 0.0);
}

TYPED_TEST(ManyPairs, HaveTheForceOfTheirPotential) {
  const TypeParam system;
  Random random(1);
  for (int trial = 0; trial < 10; ++trial) {
    const auto state = random_start(system, random);
    const auto l = gradient<1, group_of<TypeParam>>(lagrangian_of(system), state.q, state.p);
    EXPECT_LE(distance(force(system, state.q), l.dq[0]), 4e-15 * max_norm(l.dq[0]));
  }
}

TYPED_TEST(ManyPairs, AreStepped) {
  const TypeParam system;
  Random random(2);
  const auto from = random_start(system, random);
  for_stages<2, 3>([&](auto s) {
    const LobattoStep<double, TypeParam, Cay, s()> step(system, to_round_off);
    const GeneralLobatto<double, TypeParam, Cay, s()> other_form(system, to_round_off);
    const auto to = advance(step, from, 0.1, 20), same = advance(other_form, from, 0.1, 20);
    EXPECT_LE(distance(to, same), 1e-12);
    EXPECT_LE(max_norm(constraint(system, to.q, to.p)), 1e-14);
    EXPECT_LE(distance(advance(step, to, -0.1, 20), from), 1e-13);
    // the error against many stages is that of the order
    const LobattoStep<double, TypeParam, Cay, 5> exact(system, to_round_off);
    const auto error = [&](int steps) {
      return distance(advance(step, from, 2.0 / steps, steps).q, advance(exact, from, 0.05, 40).q);
    };
    EXPECT_NEAR(std::log2(error(40) / error(80)), 2 * s() - 2, 0.1);
  });
}

}  // namespace
}  // namespace rattleback
