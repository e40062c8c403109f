#pragma once
// Splittings of L = v.Mv/2 - U(q) into drifts and kicks (tableaus/compositions.hpp), of which a composition of the Lobatto pair with
// two stages is one.

#include "rattleback/mechanics/power.hpp"
#include "rattleback/methods/composition/composed.hpp"

RB_NAMESPACE_BEGIN

/// Kicks p += h b F(q) and drifts q += h a M^-1 p in turn, with the weights b_0, a_1, b_1, .., a_k, b_k. A kick without
/// weight is left out. F = -grad U, and where the system has an applied force F = (f - grad U)(t, q), whose time moves on with the drifts.
/// With a force that depends on velocities kicks would not be exact, and the order would be 1. So velocities are no numbers, and such a
/// force gives none, which shows in the status.
///
/// During a kick the velocity changes at a constant rate, so that the work of a kick by the force f is h b f . v with the mean v of the
/// velocities before and after it, and that of the time h b U_t: the step is then a splitting of the equations of (t, q, p, W), too.
template <class T, class System>
class Splitting {
 public:
  using Numbers = CompositionNumbers;
  using State = StateOf<T, System>;
  static constexpr bool two_packs = true;

  RB_HD Splitting(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : system_(system), mass_(system), numbers_(numbers), measures_work_(options.measures_work) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const double* weight = numbers_.weights;
    [[maybe_unused]] double drifted = 0.0;
    kick(system_, state, h, weight[0]);
    for (int drifts = static_cast<int>(numbers_.count); drifts > 0; --drifts, weight += 2) {
      state.q = fma(T(weight[1]) * h, mass_.inverse_times(state.p), state.q);
      if constexpr (timed<System>) drifted += weight[1];
      kick(after(system_, T(drifted) * h), state, h, weight[2]);
    }
    const mask_t<T> solved(true);
    return {step_status<T>(solved, !solved, is_finite(sum(state.q) + sum(state.p))), T(1.0), T(0.0)};
  }

 private:
  RB_HD void kick(const System& system, State& state, const T& h, double weight) const {
    if (weight == 0.0) return;
    const T span = T(weight) * h;
    Vector<T, System::n> v{};
    RB_UNROLL
    for (int i = 0; i < System::n; ++i) v[i] = T(__builtin_nan(""));
    const Vector<T, System::n> before = state.p;
    state.p = fma(span, configuration_force(system, state.q, v), state.p);
    if constexpr (timed<System>)
      if (measures_work_) {
        const Vector<T, System::n> mean = T(0.5) * mass_.inverse_times(before + state.p);
        add_work(span * power_of_drive(system, state.q, mean, mean), state);
      }
  }

  System system_;
  Mass<System> mass_;
  const Numbers& numbers_;
  bool measures_work_;
};

RB_NAMESPACE_END
