#pragma once
// The equations of a GGL step, once, over any scalar, with the symbols of ggl.hpp. The paths of a step take the values at its points by
// their own means, and differ in how they solve these equations.

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/methods/ggl/scheme.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// Values at the point (x, v) of the theta family, or (y, z) of VI-S, and at the time of this point.
template <class D, int n, int m>
struct GglPoint {
  Vector<D, n> momentum;  ///< L_v
  Vector<D, n> slope;     ///< L_q + f - B; in VI-S, which has L_q + f at (q, v), -B
  Vector<D, m> hidden;    ///< G v + g_t
};

/// G v + g_t where the forms of G are known.
template <class System, class T, int n = System::n, int m = System::m>
RB_HD Vector<T, m> hidden_constraint(const System& system, const Vector<T, n>& x, const Vector<T, n>& v,
                                     const ConstraintForms<System>& forms) {
  if constexpr (detail::changes_in_time<System>()) return constraint(system, x, v);
  return forms * v;
}

/// What is left of the equations besides A w = G^T gamma, which a path may solve beforehand.
template <class D, int n, int m>
struct GglResidual {
  Vector<D, n> kick;  ///< of L_v(x, v); in VI-S of L_v(q, v)
  Vector<D, m> hidden, position;
};

/// The theta family, in u = (q' - q)/h, v, l = h lambda and gamma.
template <class T, class System, GglScheme scheme>
struct ThetaEquations {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;

  const System& system;
  const StateOf<T, System>& start;
  T h, theta, vartheta;

  RB_HD T reach() const { return theta * h; }
  RB_HD T rest() const { return (T(1.0) - theta) * h; }
  /// Of the constraint force `pull` in the equation of v: l along G(q) with option B, along G(x) with option A.
  RB_HD T share() const { return T(1.0) - (Traits::forces_at_ends ? vartheta : theta); }
  /// The system at the time of x.
  RB_HD decltype(auto) at_point() const { return after(system, reach()); }
  template <class D>
  RB_HD Vector<D, n> middle(const Vector<D, n>& u) const {
    return fma(D(reach()), u, lift<D>(start.q));
  }
  template <class D>
  RB_HD Vector<D, n> end(const Vector<D, n>& u) const {
    return fma(D(h), u, lift<D>(start.q));
  }

  template <class D>
  RB_HD GglResidual<D, n, m> operator()(const Vector<D, n>& x, const Vector<D, n>& q_1, const Vector<D, n>& pull,
                                        const GglPoint<D, n, m>& at) const {
    const Vector<D, n> kick = fma(D(rest()), at.slope, lift<D>(start.p)) - D(share()) * pull - at.momentum;
    if constexpr (Traits::position_at_end) {
      return {kick, at.hidden, D(T(1.0) / h) * after(system, h).position_constraint(q_1)};
    } else {
      return {kick, at.hidden, D(T(1.0) / h) * at_point().position_constraint(x)};
    }
  }
  /// p'. With option B `pull_1` is l along G(q').
  RB_HD Vector<T, n> momentum_at_end(const Vector<T, n>& slope, const Vector<T, n>& pull,
                                     const Vector<T, n>& pull_1) const {
    const Vector<T, n> kicked = start.p + h * slope;
    if constexpr (Traits::forces_at_ends) return kicked - (T(1.0) - vartheta) * pull - vartheta * pull_1;
    return kicked - pull;
  }
};

/// VI-S, in v, z, w, l = h lambda and gamma.
template <class T, class System>
struct ViSEquations {
  static constexpr int n = System::n, m = System::m;
  template <class D>
  struct Residual : GglResidual<D, n, m> {
    Vector<D, n> turn;  ///< of L_v(q, v) = p' + h B
  };

  const System& system;
  const StateOf<T, System>& start;
  T h;

  /// The system at the time of (y, z).
  RB_HD decltype(auto) at_point() const { return after(system, h); }

  /// From p + h (L_q + f)(q, v), l along G(q), L_v(q, v), and the values at (y, z).
  template <class D>
  RB_HD Residual<D> operator()(const Vector<D, n>& kicked, const Vector<D, n>& pull, const Vector<D, n>& momentum,
                               const Vector<D, n>& q_1, const GglPoint<D, n, m>& at) const {
    return {{kicked - pull - momentum, at.hidden, D(T(1.0) / h) * after(system, h).position_constraint(q_1)},
            fma(D(h), at.slope, momentum - at.momentum)};
  }
};

/// The work of a step at the point (x, v) where the force acts along u, (q' - q)/h, and the constraints with l = h lambda. The multiplier
/// has the sign of the paper.
template <class System, class T, int n = System::n, int m = System::m>
RB_HD T work_along(const System& system, const T& h, const Vector<T, n>& x, const Vector<T, n>& v,
                   const Vector<T, n>& u, const Vector<T, m>& l) {
  return fma(h, power_of_drive(system, x, v, u), power_of_constraints(system, x, v, -l));
}

/// How the solution of a step ended.
template <class T>
struct GglOutcome {
  mask_t<T> converged, singular;
  T iterations, residual;
};

/// Writes the end of a step, and keeps gamma and v, which belongs to (q, p) in VI-S and to (q', p') otherwise.
template <GglScheme scheme, class T, class State, int n, int m, class Keep>
RB_HD StepReport<T> end_of_step(State& state, const T& h, const Vector<T, n>& q_1, const Vector<T, n>& p_1,
                                const Vector<T, m>& l, const Vector<T, m>& gamma, const Vector<T, n>& v,
                                const GglOutcome<T>& outcome, const Keep& keep) {
  const Vector<T, m> lambda = (T(-1.0) / h) * l;
  const T check = sum(q_1) + sum(p_1) + sum(lambda);
  const T status = step_status<T>(outcome.converged, outcome.singular, is_finite(check));
  if constexpr (scheme == GglScheme::vi_s) {
    keep.put(status == T(0.0), gamma, v, state.q, state.p);
  } else {
    keep.put(status == T(0.0), gamma, v, q_1, p_1);
  }
  state.q = q_1;
  state.p = p_1;
  state.lambda = lambda;
  return {status, outcome.iterations, outcome.residual};
}

RB_NAMESPACE_END
