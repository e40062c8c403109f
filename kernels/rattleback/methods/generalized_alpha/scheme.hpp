#pragma once
// What all forms of the generalized-alpha method share: its numbers, its state, and where the acceleration starts.

#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// How a holonomic constraint is imposed.
struct Stabilised {
  static constexpr bool positions_only = false;  ///< g(q') = 0 and Dg(q') v' = 0
};
struct Index3 {
  static constexpr bool positions_only = true;  ///< g(q') = 0
};

/// The numbers of the method with the spectral radius rho at infinite frequency (J. Chung, G. M. Hulbert, J. Appl. Mech. 60
/// (1993) 371).
struct GeneralizedAlphaNumbers {
  double alpha_m, alpha_f, gamma, beta;

  static constexpr GeneralizedAlphaNumbers of(double rho) {
    const double alpha_m = (2.0 * rho - 1.0) / (rho + 1.0), alpha_f = rho / (rho + 1.0);
    const double gamma = 0.5 + alpha_f - alpha_m;
    return {alpha_m, alpha_f, gamma, 0.25 * (gamma + 0.5) * (gamma + 0.5)};
  }
};

/// Systems on R^n with a Lagrangian and constraints affine in the velocity, holonomic ones, or none.
template <class System>
concept TakesGeneralizedAlpha =
    !on_group<System> && !HamiltonianAlone<System> && (AffineConstraint<System> || is_holonomic<System>);

/// The state has the acceleration a besides, and the size of the step that left it, 0 before the first step.
template <class T, class System>
using GeneralizedAlphaState = StateOf<T, System, System::n + 1>;

namespace detail {

/// What a step begins with. With kappa = (1 - alpha_f)/(1 - alpha_m), a' = known + kappa f'.
template <class T, class System>
struct GeneralizedAlphaStart {
  static constexpr int n = System::n, m = System::m;
  using State = GeneralizedAlphaState<T, System>;

  T alpha_m, alpha_f, gamma, beta, kappa;

  RB_HD explicit GeneralizedAlphaStart(const GeneralizedAlphaNumbers& numbers)
      : alpha_m(numbers.alpha_m),
        alpha_f(numbers.alpha_f),
        gamma(numbers.gamma),
        beta(numbers.beta),
        kappa((1.0 - numbers.alpha_f) / (1.0 - numbers.alpha_m)) {}

  /// a at the beginning of the step, with the force f there: what the step before left, or at the start the acceleration of the
  /// continuous equations. It belongs to the time (alpha_m - alpha_f) h, so that its difference to f goes with h where a step of
  /// another size follows, as in the search for a crossing of a surface.
  RB_HD Vector<T, n> acceleration(const System& system, const State& state, const Vector<T, n>& v,
                                  const Vector<T, n>& f, const T& h) const {
    Vector<T, n> a = segment<0, n>(state.carried);
    const T& size = state.carried[n];
    const mask_t<T> other = !(size == h), unknown = size == T(0.0);
    if (any(other & !unknown)) a = select(other, fma(h / size, a - f, f), a);
    if (any(unknown)) a = select(unknown, first(system, state.q, v, h), a);
    return a;
  }
  RB_HD static void carry(const Vector<T, n>& a, const T& h, State& state) {
    RB_UNROLL
    for (int i = 0; i < n; ++i) state.carried[i] = a[i];
    state.carried[n] = h;
  }

  /// The part of a' that does not depend on its force: (alpha_f f - alpha_m a)/(1 - alpha_m).
  RB_HD Vector<T, n> known(const Vector<T, n>& a, const Vector<T, n>& f) const {
    const T inverse = T(1.0) / (T(1.0) - alpha_m);
    return fma(inverse * alpha_f, f, -(inverse * alpha_m) * a);
  }

 private:
  RB_NOINLINE Vector<T, n> first(const System& system, const Vector<T, n>& q, const Vector<T, n>& v, const T& h) const {
    const T time = (alpha_m - alpha_f) * h;
    const Vector<T, n> a = continuous(system, q, v);
    const Vector<T, n> there = continuous(after(system, time), fma(time, fma(T(0.5) * time, a, v), q), fma(time, a, v));
    // where the step does not resolve the motion, that point has nothing to do with it
    return select(abs(h) * magnitude(there - a) <= magnitude(v) + abs(h) * magnitude(a), there, a);
  }
  /// The acceleration of the continuous equations.
  RB_HD static Vector<T, n> continuous(const System& system, const Vector<T, n>& q, const Vector<T, n>& v) {
    Matrix<T, m, n> forms{};
    Vector<T, m> curvature{}, lambda;
    if constexpr (m > 0) {
      forms = constraint_forms(system, q, v);
      curvature = saddle_curvature(system, q, v);
    }
    Vector<T, n> a;
    Saddle<System>(system, Mass<System>(system), q, v, forms)
        .solve(generalized_force(system, q, v), -curvature, a, lambda);
    return a;
  }
};

}  // namespace detail

RB_NAMESPACE_END
