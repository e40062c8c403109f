#pragma once
// Checks of steps that solve their equations by sweeps.

#include "testing.hpp"

namespace rattleback {

/// Ten steps of two forms of a method. States agree to 1e-13; multipliers, which are impulses over h, carry rounding errors of the
/// size eps |p|/h^2, times `condition`, which grows from six stages on.
template <class State>
void expect_the_same_map(const State& start, const auto& form, const auto& other, double h, double condition = 1.0) {
  auto a = start, b = start;
  for (int k = 0; k < 10; ++k) {
    ASSERT_EQ(form(a, h).status, status_good) << "step " << k;
    ASSERT_EQ(other(b, h).status, status_good) << "step " << k;
  }
  EXPECT_LE(distance(a.q, b.q), 1e-13);
  EXPECT_LE(distance(a.p, b.p), 1e-13 * std::max(1.0, max_norm(start.p)));
  if constexpr (State::multipliers > 0) {
    EXPECT_LE(distance(a.lambda, b.lambda), 3e-14 * condition * std::max(1.0, max_norm(start.p)) / (h * h));
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
