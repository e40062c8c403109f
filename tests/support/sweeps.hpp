#pragma once
// Checks of steps that solve their equations by sweeps.

#include "testing.hpp"

namespace rattleback {

/// The round-off of the multiplier of a step of this many Lobatto stages, at momenta of size one. Two forms of a step for holonomic
/// constraints differ by (s (s - 1))^2 eps/(8 h^2) in the mean: the last weight of the tableau is 1/(s (s - 1)), and the multiplier
/// is an impulse over this weight and h, which balances the multipliers of stages whose positions are on the constraint to round-off.
inline double round_off_of_multiplier(int stages, double h) {
  const double amplified = stages * (stages - 1);
  return std::max(3e-14, amplified * amplified * 2.2e-16) / (h * h);
}

/// Ten steps of two forms of a method. States agree to 1e-13, and multipliers to their round-off.
template <class State>
void expect_the_same_map(const State& start, const auto& form, const auto& other, double h, int stages = 1) {
  auto a = start, b = start;
  for (int k = 0; k < 10; ++k) {
    ASSERT_EQ(form(a, h).status, status_good) << "step " << k;
    ASSERT_EQ(other(b, h).status, status_good) << "step " << k;
  }
  EXPECT_LE(distance(a.q, b.q), 1e-13);
  EXPECT_LE(distance(a.p, b.p), 1e-13 * std::max(1.0, max_norm(start.p)));
  if constexpr (State::multipliers > 0) {
    EXPECT_LE(distance(a.lambda, b.lambda), round_off_of_multiplier(stages, h) * std::max(1.0, max_norm(start.p)));
  }
}

/// Sweeps contract like h^2: a tenth of the step needs fewer of them. A wrong term of first order costs this. The bounds are those
/// of the mean over ten steps.
template <class State>
void expect_fewer_sweeps(const State& start, const auto& step, double h, double most, double most_at_a_tenth) {
  const auto sweeps = [&](double size) {
    auto state = start;
    double sum = 0;
    for (int k = 0; k < 10; ++k) sum += step(state, size).iterations;
    return sum / 10;
  };
  const double large = sweeps(h), small = sweeps(0.1 * h);
  EXPECT_LE(large, most);
  EXPECT_LE(small, most_at_a_tenth);
  EXPECT_LT(small, large);
}

}  // namespace rattleback
