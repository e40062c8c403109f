#pragma once
// A method of a user, for the tests: symplectic Euler with options of every kind and without stages. euler_entry.hpp has its
// entry.

#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// The numbers of the step.
struct TestEulerNumbers {
  double damping, normalise, pushes, push[max_method_numbers - 3];
};

/// `parts` substeps of p' = p + h (L_q + ad*_v p - damping p + push), q' = q tau(h v'); push[i % k] from the option of
/// k numbers.
template <class T, class System, int parts, class Tau>
class TestEuler {
  using G = group_of<System>;
  static constexpr int n = System::n;

 public:
  using Numbers = TestEulerNumbers;
  using State = StateOf<T, System>;

  RB_HD TestEuler(const System& system, const SolverOptions<T>&, const Numbers& numbers)
      : system_(system), damping_(numbers.damping), normalise_(numbers.normalise != 0.0), count_(int(numbers.pushes)) {
    for (int i = 0; i < n; ++i) push_[i] = T(count_ > 0 ? numbers.push[i % count_] : 0.0);
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

RB_NAMESPACE_END
