#pragma once
// Steps of systems with cyclic coordinates that are taken by their Routhian.

#include "rattleback/mechanics/routhian.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// Completes what a step of the shape coordinates keeps (loop/last_step.hpp) by the cyclic coordinates, at its start or at its end.
template <bool of_start, class Keep, class System>
struct KeepOfShape {
  using T = typename System::scalar;
  using Reduced = Routhian<System>;
  const Keep& keep;
  const Reduced& reduced;
  const StateOf<T, System>& state;  ///< at the beginning of the step
  const T& h;
  const Vector<T, System::n>& velocity;

  RB_HD bool wanted() const { return keep.wanted(); }
  template <int m, int n>
  RB_HD void put(const mask_t<T>& solved, const Vector<T, m>& gamma, const Vector<T, n>& v, const Vector<T, n>& q,
                 const Vector<T, n>& p) const {
    keep.put(solved, gamma, Reduced::with_part(v, velocity),
             Reduced::with_part(q, of_start ? state.q : fma(h, velocity, state.q)), Reduced::with_part(p, state.p));
  }
};
}  // namespace detail

/// A step of the shape coordinates, which `Core` takes. The cyclic coordinates c follow from its stages X_i, while their momenta stay
/// to the bit:
///
///   c' = c + h sum_i b_i V_c(X_i).
///
/// This is the map of the whole system for a family in which the force of c is zero at all stages, and p_c = L_c'(X_i, V_i). It is not for a
/// family that evaluates M at one point and the velocity at another.
///
/// Core(system, options, numbers..) has step(reduced, shape, h, velocity, keep..), which moves the state `shape` of the Routhian
/// `reduced` and adds sum_i b_i V_c(X_i) to `velocity` by `plus_velocity` before it keeps anything. What it keeps belongs to the state at the
/// start of the step where it `keeps_start`, and to that at the end otherwise.
template <class T, HasRouthian System, class Core>
class ReducedStep : public detail::NumbersOf<Core> {
 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = Core::two_packs;

  template <class... Numbers>
    requires std::constructible_from<Core, const System&, const SolverOptions<T>&, const Numbers&...>
  RB_HD ReducedStep(const System& system, const SolverOptions<T>& options, const Numbers&... numbers)
      : system_(system), core_(system, options, numbers...) {}

  template <class... Keep>
    requires(sizeof...(Keep) == 0 || Core::keeps)
  RB_HD StepReport<T> operator()(State& state, T h, const Keep&... keep) const {
    using Reduced = Routhian<System>;
    const Reduced reduced(system_, state.p);
    PhaseState<T, Reduced::n, Reduced::m> shape{Reduced::part_of(state.q), Reduced::part_of(state.p), state.lambda};
    auto velocity = Vector<T, System::n>::zero();
    const StepReport<T> report =
        core_.step(reduced, shape, h, velocity,
                   detail::KeepOfShape<Core::keeps_start, Keep, System>{keep, reduced, state, h, velocity}...);
    state.q = Reduced::with_part(shape.q, fma(h, velocity, state.q));
    state.p = Reduced::with_part(shape.p, state.p);
    state.lambda = shape.lambda;
    return report;
  }

 private:
  System system_;
  Core core_;
};

RB_NAMESPACE_END
