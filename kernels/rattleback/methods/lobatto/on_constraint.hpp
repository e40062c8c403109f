#pragma once
// What the sweeps of the Lobatto pairs share: the unknowns, derivatives of the constraint, and the end of a step, which puts the
// momentum on the constraint.

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/mechanics/projection.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// The unknowns of S stages, or residuals of their equations: velocities and multipliers, of which first..first + S - 2 count.
template <class T, int n, int m, int S, int first>
struct StageUnknowns {
  Vector<T, n> velocity[S];
  Vector<T, m> multiplier[S];

  RB_HD T largest() const {
    T r(0.0);
    RB_UNROLL
    for (int i = 0; i < S; ++i) r = max(r, max_norm(velocity[i]));
    if constexpr (m > 0) {
      RB_UNROLL
      for (int l = first; l < first + S - 1; ++l) r = max(r, max_norm(multiplier[l]));
    }
    return r;
  }
};

/// d(C v + d)/dq; columns of coordinates that are not active stay empty.
template <class T, class System, int n = System::n, int m = System::m>
RB_HD Matrix<T, m, n> constraint_rate(const System& system, const Vector<T, n>& q, const Vector<T, n>& v) {
  using Pattern = detail::QuadraticPattern<System>;
  Matrix<T, m, n> rate;
  if constexpr (Pattern::active == 0) return rate;
  using D = Dual<T, (Pattern::active > 0 ? Pattern::active : 1)>;
  auto x = lift<D>(q);
  RB_UNROLL
  for (int k = 0; k < Pattern::active; ++k) x[Pattern::coordinate(k)].partial[k] = T(1.0);
  const Vector<D, m> phi = constraint(system, x, lift<D>(v));
  RB_UNROLL
  for (int k = 0; k < m; ++k) {
    RB_UNROLL
    for (int a = 0; a < Pattern::active; ++a) rate[k][Pattern::coordinate(a)] = phi[k].partial[a];
  }
  return rate;
}

/// c + R y, where R has columns of active coordinates.
template <class System, class T, int n = System::n, int m = System::m>
RB_HD Vector<T, m> plus_rate(const Matrix<T, m, n>& rate, const Vector<T, n>& y, Vector<T, m> c) {
  using Pattern = detail::QuadraticPattern<System>;
  RB_UNROLL
  for (int k = 0; k < m; ++k) {
    RB_UNROLL
    for (int a = 0; a < Pattern::active; ++a)
      c[k] = fma(rate[k][Pattern::coordinate(a)], y[Pattern::coordinate(a)], c[k]);
  }
  return c;
}

/// l . Phi_vv.
template <class T, class System, int n = System::n, int m = System::m>
RB_HD Matrix<T, n, n> constraint_bend(const System& system, const Vector<T, n>& q, const Vector<T, n>& v,
                                      const Vector<T, m>& l) {
  using D = Dual<T, n>;
  const auto forms = constraint_forms(system, lift<D>(q), seeded_velocity<D, 0>(v));
  Matrix<T, n, n> bend;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    RB_UNROLL
    for (int j = 0; j < n; ++j) {
      bend[i][j] = l[0] * forms[0][i].partial[j];
      RB_UNROLL
      for (int k = 1; k < m; ++k) bend[i][j] = fma(l[k], forms[k][i].partial[j], bend[i][j]);
    }
  }
  return bend;
}

/// h lambda with the multiplier of the continuous equations at (q, v), where `free` is h M^-1 (L_q - L_vq v):
///   C M^-1 C^T h lambda = -(h d(C v + d)/dq v + C free).
template <class T, class System, class Forms, class Inverse>
RB_HD Vector<T, System::m> impulse_of_state(const System& system, const Vector<T, System::n>& q,
                                            const Vector<T, System::n>& v, const T& h, const Vector<T, System::n>& free,
                                            const Forms& forms, const Inverse& mass_inverse) {
  constexpr int m = System::m;
  const auto rate = detail::derivative(constraint(running<T>(system), detail::along(q, v), constant<Dual<T, 1>>(v)));
  Vector<T, m> impulse = -fma(h, rate, forms * free);
  using Pattern = detail::ZerosOfFactors<detail::GramPattern<System, Inverse>, m>;
  solve_once<Definite<Pattern>>(gram_of(forms, mass_inverse), impulse);
  return impulse;
}

/// The work of a step of S stages from g, h sum_i b_i P(t_i, G_i, eta_i, Lambda_i), by the unknowns H_i and h Lambda_i. The last
/// multiplier takes up the `impulse` as in `end_step`.
template <int S, class Tau, class System, class T, class Unknowns>
RB_HD T work_of_stages(const System& system, const Vector<T, element_size<System>>& g, const T& h, const Unknowns& x,
                       const Vector<T, System::m>& impulse) {
  constexpr auto tableau = lobatto_pair<S>();
  T work(0.0);
  RB_UNROLL
  for (int i = 0; i < S; ++i) {
    Vector<T, System::n> sum = Vector<T, System::n>::zero();
    RB_UNROLL
    for (int j = 0; i > 0 && j < S; ++j) sum = fma(T(tableau.a[i][j]), x.velocity[j], sum);
    const Chart<group_of<System>, Tau, T> chart(h * sum);
    Vector<T, System::m> multiplier = x.multiplier[i];
    if constexpr (System::m > 0)
      if (i + 1 == S) multiplier = fma(T(1.0 / tableau.b[i]), impulse, multiplier);
    work =
        fma(T(tableau.b[i]),
            work_at(after(system, h * T(tableau.c[i])), h, chart.move(g), chart.dtau(x.velocity[i]), multiplier), work);
  }
  return work;
}

/// Ends a step of S stages, of which `impulse` put the momentum on the constraint. Lambda_s takes up what the node lacked: all of
/// the tangency where the constraint is holonomic, round-off elsewhere. `last` is h Lambda_s without it. Where no multiplier is carried
/// lambda stays as it is.
template <int S, bool carries = true, class Lanes, class T, class State, int m = State::multipliers>
RB_HD StepReport<T> end_step(const Lanes& lanes, const T& h, const Vector<T, m>& impulse, const Vector<T, m>& last,
                             const T& residual, State& state) {
  T check = sum(state.q) + sum(state.p);
  if constexpr (m > 0 && carries) {
    state.lambda = (T(1.0) / h) * fma(T(1.0 / lobatto_pair<S>().b[S - 1]), impulse, last);
    check = check + sum(state.lambda);
  }
  return {step_status<T>(lanes.converged(), lanes.singular, is_finite(check)), lanes.iterations, residual};
}

RB_NAMESPACE_END
