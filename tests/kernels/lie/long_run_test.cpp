// Runs of many steps on a group.

#include "testing.hpp"

namespace rattleback {
namespace {

// Rounding takes a rotation off SO(3) like a random walk: no need for `normalise`, which works all the same.
TEST(GroupLobatto, StaysOnTheGroupForAMillionSteps) {
  using Top = HeavyTop<double>;
  const auto top = make_default<Top>();
  using Step = LobattoStep<double, Top, Cay, 2>;
  const SolverOptions<double> options{1e-16, 50};
  const auto from = default_start(top);
  const auto free = advance(Step(top, options), from, 0.01, 1'000'000);
  const auto normalised = advance(Step(top, options, {.normalise = 1.0}), from, 0.01, 1'000'000);
  const auto e = [&](const auto& state) { return energy(top, state.q, velocity(top, state.q, state.p)); };
  std::printf("defect after 10^6 steps: %.1e, normalised %.1e; energy errors %.1e, %.1e\n", SO3::defect(free.q),
              SO3::defect(normalised.q), e(free) - e(from), e(normalised) - e(from));
  EXPECT_LT(SO3::defect(free.q), 1e-12);
  EXPECT_LT(SO3::defect(normalised.q), 1e-15);
  EXPECT_LT(std::fabs(e(free) - e(from)), 1e-3);
  EXPECT_LT(std::fabs(e(normalised) - e(from)), 1e-3);
}

}  // namespace
}  // namespace rattleback
