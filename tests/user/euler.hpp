#pragma once
// A method of a user, for the tests: symplectic Euler with options of every kind and without stages.

#include <cstdio>

#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// `parts` substeps of p' = p + h (L_q + ad*_v p - damping p + push), q' = q tau(h v'); push[i % k] from the option of
/// k numbers.
template <class T, class System, int parts, class Tau>
class TestEuler {
  using G = group_of<System>;
  static constexpr int n = System::n;

 public:
  using State = StateOf<T, System>;

  RB_HD TestEuler(const System& system, const SolverOptions<T>&, const double* numbers)
      : system_(system), damping_(numbers[0]), normalise_(numbers[1] != 0.0), count_(int(numbers[2])) {
    for (int i = 0; i < n; ++i) push_[i] = T(count_ > 0 ? numbers[3 + i % count_] : 0.0);
  }

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const T part = h * T(1.0 / parts);
    for (int i = 0; i < parts; ++i) {
      const auto v = velocity(system_, state.q, state.p);
      auto rate = configuration_force(system_, state.q, v) + push_ + (-damping_) * state.p;
      if constexpr (on_group<System>) rate = rate + G::ad_star(v, state.p);
      state.p = state.p + part * rate;
      const Vector<T, n> x = part * velocity(system_, state.q, state.p);
      if constexpr (on_group<System>) {
        state.q = G::product(state.q, Chart<G, Tau, T>(x).tau());
        if (normalise_) state.q = G::normalise(state.q);
      } else {
        state.q = state.q + x;
      }
    }
    return {T(0.0), T(1.0), T(0.0)};
  }

 private:
  System system_;
  T damping_;
  bool normalise_;
  int count_;
  Vector<T, n> push_;
};

namespace methods {

inline constexpr std::array<const char*, 2> test_retractions{"cay", "exp"};
inline constexpr std::array<double, 1> test_push{0.0};
inline constexpr std::array<OptionInfo, 5> test_euler_options{
    {{.name = "parts",
      .kind = OptionKind::integer,
      .text = "",
      .standard = 1,
      .minimum = 1,
      .maximum = 2,
      .compiled = true},
     {.name = "damping", .kind = OptionKind::number, .text = "", .standard = 0.25, .minimum = 0},
     {.name = "retraction",
      .kind = OptionKind::choice,
      .text = "",
      .standard = 1,
      .choices = test_retractions,
      .compiled = true,
      .scope = OptionScope::groups_matter},
     {.name = "normalise", .kind = OptionKind::flag, .text = "", .scope = OptionScope::groups_only},
     {.name = "push",
      .kind = OptionKind::numbers,
      .text = "",
      .minimum = -1,
      .maximum = 1,
      .standard_numbers = test_push}}};

/// damping, normalise, how many pushes, the pushes
inline Settled settle_test_euler(std::span<const OptionValue> values, const SystemEntry& system, double* numbers,
                                 char* message, int message_size) {
  const std::span<const double> push = values[4].numbers;
  if (push.size() > static_cast<std::size_t>(system.n)) {
    std::snprintf(message, static_cast<std::size_t>(message_size),
                  "method.push has %d numbers (the dimension is %d); leave the last ones out", int(push.size()),
                  system.n);
    return Settled::refused;
  }
  numbers[0] = values[1].number;
  numbers[1] = values[3].number;
  numbers[2] = static_cast<double>(push.size());
  for (std::size_t i = 0; i < push.size(); ++i) numbers[3 + i] = push[i];
  if (values[1].number <= 1.0) return Settled::good;
  std::snprintf(message, static_cast<std::size_t>(message_size), "method.damping = %g is strong", values[1].number);
  return Settled::doubtful;
}

inline constexpr MethodEntry test_euler{"test-euler", "symplectic Euler",   "tests/user/euler.hpp",
                                        "1",          ConstraintKind::none, test_euler_options,
                                        false,        settle_test_euler};

}  // namespace methods

RB_NAMESPACE_END
