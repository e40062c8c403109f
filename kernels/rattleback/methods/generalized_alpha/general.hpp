#pragma once
// The generalized-alpha method for any regular Lagrangian on R^n, by Newton's method.

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/methods/generalized_alpha/scheme.hpp"
#include "rattleback/methods/solve/dual_problem.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// The unknowns are h a', h lambda' and, where a holonomic constraint is stabilised, eta. The equation of motion is multiplied by
/// M at the end of the step. What is at the end is at t + h where the time acts on the system.
template <class T, class System, class Formulation>
class GeneralizedAlphaEquations {
  static constexpr int n = System::n, m = System::m;
  static constexpr bool stabilises = is_holonomic<System> && !Formulation::positions_only;
  using Start = GeneralizedAlphaStart<T, System>;

 public:
  using Numbers = GeneralizedAlphaNumbers;
  using State = GeneralizedAlphaState<T, System>;
  static constexpr int size = n + m + (stabilises ? m : 0);

  RB_HD GeneralizedAlphaEquations(const System& system, const State& state, const T& h, const Numbers& numbers)
      : system_(system), start_(numbers), state_(state), h_(h), v_0_(velocity(system, state.q, state.p)) {
    Vector<T, n> f = generalized_force(system, state.q, v_0_);
    if constexpr (m > 0) {
      forms_0_ = constraint_forms(system, state.q, v_0_);
      f = f + transpose_times(forms_0_, state.lambda);
    }
    f = InverseMass<System>(system, state.q, v_0_) * f;
    const Vector<T, n> a = start_.acceleration(system, state, v_0_, f, h);
    drift_ = fma(h * (T(0.5) - start_.beta), a, v_0_);
    v_known_ = fma(h * (T(1.0) - start_.gamma), a, v_0_);
    known_ = h * start_.known(a, f);
    guess_ = fma(h * start_.kappa, f, known_);
  }

  RB_HD Vector<T, size> guess(const T& fraction) const {
    auto x = Vector<T, size>::zero();
    for (int i = 0; i < n; ++i) x[i] = fraction * guess_[i];
    for (int k = 0; k < m; ++k) x[n + k] = h_ * state_.lambda[k];
    return x;
  }
  RB_HD T scale() const { return detail::velocity_scale(system_, h_, state_.q, v_0_); }
  RB_HD T size_of(const Vector<T, size>& update) const { return magnitude(segment<0, n>(update)); }

  /// q' and v'.
  template <class D>
  RB_HD Vector<D, n> position(const Vector<D, size>& x) const {
    Vector<D, n> drift = fma(D(start_.beta), segment<0, n>(x), lift<D>(drift_));
    if constexpr (stabilises) {
      RB_UNROLL
      for (int k = 0; k < m; ++k) drift = fma(x[n + m + k], lift<D>(forms_0_[k]), drift);
    }
    return fma(D(h_), drift, lift<D>(state_.q));
  }
  template <class D>
  RB_HD Vector<D, n> end_velocity(const Vector<D, size>& x) const {
    return fma(D(start_.gamma), segment<0, n>(x), lift<D>(v_known_));
  }

  template <class D>
  RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
    const auto& system = after(system_, h_);
    const Vector<D, n> q = position(x), v = end_velocity(x);
    Vector<D, n> force = D(h_) * generalized_force(system, q, v);
    Vector<D, size> r;
    if constexpr (m > 0) {
      const Matrix<D, m, n> forms = constraint_forms(system, q, v);
      force = force + transpose_times(forms, segment<n, m>(x));
      Vector<D, m> condition;
      if constexpr (is_holonomic<System>) {
        condition = D(T(1.0) / h_) * system.position_constraint(q);
      } else {
        condition = constraint(system, q, v);
      }
      Vector<D, m> hidden;
      if constexpr (stabilises && detail::changes_in_time<System>()) {
        hidden = detail::hidden_constraint(system, q, v);
      } else {
        hidden = forms * v;
      }
      for (int k = 0; k < m; ++k) {
        r[n + k] = condition[k];
        if constexpr (stabilises) r[n + m + k] = hidden[k];
      }
    }
    const Vector<D, n> inertial = inertia_times(system, q, v, segment<0, n>(x) - lift<D>(known_));
    for (int i = 0; i < n; ++i) r[i] = inertial[i] - D(start_.kappa) * force[i];
    return r;
  }

  /// By the trapezoidal rule.
  RB_HD T work(const Vector<T, size>& x) const {
    const T half = T(0.5) * h_;
    return work_at(system_, half, state_.q, v_0_, half * state_.lambda) +
           work_at(after(system_, h_), half, position(x), end_velocity(x), T(0.5) * segment<n, m>(x));
  }
  RB_HD StepReport<T> finish(const Vector<T, size>& x, State& state, const SolveState<T>& lanes, const T& residual,
                             const NothingKept&) const {
    const T inverse_h = T(1.0) / h_;
    const Vector<T, n> v = end_velocity(x);
    state.q = position(x);
    state.p = momentum(after(system_, h_), state.q, v);
    if constexpr (m > 0) state.lambda = inverse_h * segment<n, m>(x);
    Start::carry(inverse_h * segment<0, n>(x), h_, state);
    return {step_status<T>(lanes.converged(), lanes.singular, is_finite(state)), lanes.iterations, residual};
  }

 private:
  const System& system_;
  Start start_;
  const State& state_;
  T h_;
  Vector<T, n> v_0_, drift_, v_known_, known_, guess_;
  Matrix<T, m, n> forms_0_{};
};
}  // namespace detail

template <class T, class System, class Formulation>
using GeneralGeneralizedAlpha =
    detail::NewtonStep<T, System, detail::GeneralizedAlphaEquations<T, System, Formulation>>;

RB_NAMESPACE_END
