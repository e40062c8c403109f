#pragma once
// Lobatto IIIA-IIIB integrators on R^n with constant mass and a velocity constraint affine in v: the nonholonomic method
// (D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical systems,
// eq. (14)) and, for m = 0, the partitioned pair (eq. (9)).
//
//   Q_i = q + h sum_j a_ij V_j          P_i    = p + h sum_j ah_ij W_j = dL/dv(Q_i, V_i)        i = 1..s
//   W_i = dL/dq(Q_i, V_i) + Phi_v(Q_i, V_i)^T Lambda_i
//   Pbar_i = p + h sum_j a_ij W_j       Phi(Q_i, Vbar_i) = 0, Pbar_i = dL/dv(Q_i, Vbar_i)       i = 2..s
//   q' = Q_s, p' = Pbar_s, lambda' = Lambda_s, with Lambda_1 = lambda carried from step to step.
//
// Only the s - 2 interior accelerations are coupled. A driven system is taken at the time of each stage, and its generalized force, which
// must not depend on the velocity here, belongs to dL/dq.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/lobatto/on_constraint.hpp"
#include "rattleback/methods/solve/iteration.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// Constraint mu(q) v + d(q) = 0. With f = M^-1 F and accelerations w_j = f_j + M^-1 mu_j^T Lambda_j,
///
///   Q_i = q + c_i h v + h^2 sum_{j<s} (a ah)_ij w_j,      Vbar_i = v + h sum_j a_ij w_j,
///
/// so given Q_2..Q_s the multipliers solve a linear system of (s-1) m equations. The unknowns are w_2..w_{s-1}: none for
/// s = 2, which is explicit (the nonholonomic velocity Verlet). They are found by functional iteration, whose contraction is
/// O(h^2). Once the next change is going to be small, by the rate of contraction, a lane's w settles; one more sweep gives the
/// step, and further ones of the pack recompute the same numbers. So no sweep waits for the test of the one before.
template <class T, class System, int S>
class CondensedLobatto {
  static constexpr int n = System::n, m = System::m;

 public:
  using State = StateOf<T, System>;
  static constexpr bool two_packs = (m == 0 && S * n <= 8) || (many_registers && S == 2);

  RB_HD CondensedLobatto(const System& system, const SolverOptions<T>& options)
      : system_(system), mass_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    Vector<T, n> q[S - 1];
    return step(system_, state, h, q);
  }
  /// The step of a system with the same mass; q gets Q_2..Q_s.
  RB_HD StepReport<T> step(const System& system, State& state, T h, Vector<T, n> (&q)[S - 1]) const {
    constexpr auto tableau = lobatto_pair<S>();
    constexpr int inner = S - 2;
    const Vector<T, n> v = mass_.inverse_times(state.p);

    // stage 1 is known: the acceleration at the node
    const ConstraintForms<System> forms_1(system, state.q);
    const Vector<T, n> w_1 = mass_.inverse_times(forms_1.plus_transpose_times(force_of(system, state.q), state.lambda));

    // what the sweeps do not change: c_s v + h (a ah)_s1 w_1, q + h c_i v + h^2 (a ah)_i1 w_1 and v/h + a_i1 w_1
    const T inverse_h = T(1.0) / h;
    Vector<T, n> drift, q_known[S - 1], rate_known[S - 1];
    RB_UNROLL
    for (int i = 1; i < S; ++i) {
      drift = fma(h * T(tableau.a_ah[i][0]), w_1, T(tableau.c[i]) * v);
      q_known[i - 1] = fma(h, drift, state.q);
      rate_known[i - 1] = fma(T(tableau.a[i][0]), w_1, inverse_h * v);
    }

    // unknown interior accelerations w_2..w_{s-1}, from the acceleration at the node
    Vector<T, n> w[inner > 0 ? inner : 1];
    RB_UNROLL
    for (int j = 0; j < inner; ++j) w[j] = w_1;

    Vector<T, n> f[S - 1], w_new[S - 1];  // stages 2..s
    Instants<System, S> times;
    RB_UNROLL
    for (int i = 1; i < S; ++i) times.keep(i, system, h * T(tableau.c[i]));
    ConstraintForms<System> forms[S - 1];
    Vector<T, m> lambda[S - 1];  // Lambda_2..Lambda_s

    // The active lanes are those whose w is not yet settled. The scale is the size of a change of accelerations that
    // moves the state by itself.
    Iteration<T> lanes(options_,
                       inner > 0 ? inverse_h * inverse_h * (magnitude(state.q) + abs(h) * magnitude(v)) : T(0.0));
    mask_t<T> counted(true);  // lanes whose last sweep is still to come, the one after w has settled
    T update(0.0);
    for (int iteration = 1;; ++iteration) {
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        q[i - 1] = q_known[i - 1];
        RB_UNROLL
        for (int j = 1; j <= inner; ++j) q[i - 1] = fma(h * h * T(tableau.a_ah[i][j]), w[j - 1], q[i - 1]);
        const auto& at = times.at(i, system, h * T(tableau.c[i]));
        f[i - 1] = mass_.inverse_times(force_of(at, q[i - 1]));
        if constexpr (m > 0) forms[i - 1] = ConstraintForms<System>(at, q[i - 1]);
      }
      if constexpr (m > 0)
        lanes.singular = solve_multipliers(system, h, inverse_h, rate_known, q, f, forms, times, lambda);
      lanes.count(counted);
      if constexpr (inner == 0) {
        lanes.active = mask_t<T>(false);
        break;
      }
      T change(0.0);
      RB_UNROLL
      for (int j = 0; j < inner; ++j) {
        w_new[j] = forms[j].plus_response(mass_, f[j], lambda[j]);
        change = larger(change, magnitude(w_new[j] - w[j]));
      }
      update = select(counted, change, update);
      if (lanes.ended() || iteration >= options_.max_iterations) break;
      RB_UNROLL
      for (int j = 0; j < inner; ++j) w[j] = select(lanes.active, w_new[j], w[j]);
      counted = lanes.active;
      lanes.stop(lanes.convergence.with_rate(change, 1.0));
    }
    w_new[S - 2] = forms[S - 2].plus_response(mass_, f[S - 2], lambda[S - 2]);

    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work(system, state, h, v, w_1, w_new, lambda), state);
    Vector<T, n> impulse = T(tableau.b[0]) * w_1;
    RB_UNROLL
    for (int j = 1; j < S; ++j) impulse = fma(T(tableau.b[j]), w_new[j - 1], impulse);
    state.p = fma(h, mass_.times(impulse), state.p);
    // not q[S - 2], which is the sum of two that are rounded
    RB_UNROLL
    for (int j = 1; j <= inner; ++j) drift = fma(h * T(tableau.a_ah[S - 1][j]), w[j - 1], drift);
    state.q = fma(h, drift, state.q);
    if constexpr (m > 0) state.lambda = lambda[S - 2];
    return {step_status<T>(lanes.converged(), lanes.singular, is_finite(state)), lanes.iterations, h * h * update};
  }

 private:
  /// The force of the potential and the applied one.
  RB_HD static Vector<T, n> force_of(const System& system, const Vector<T, n>& q) {
    if constexpr (detail::has_applied_force<System>()) return force(system, q) + applied_force_at(system, q);
    return force(system, q);
  }
  /// The work of the step, whose velocities are V_i = v + h sum_j ah_ij w_j.
  RB_HD T work(const System& system, const State& state, const T& h, const Vector<T, n>& v, const Vector<T, n>& w_1,
               const Vector<T, n> (&w)[S - 1], const Vector<T, m> (&lambda)[S - 1]) const {
    constexpr auto tableau = lobatto_pair<S>();
    StageUnknowns<T, n, m, S, 1> x;
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      Vector<T, n> rate = T(tableau.ah[i][0]) * w_1;
      RB_UNROLL
      for (int j = 1; j + 1 < S; ++j) rate = fma(T(tableau.ah[i][j]), w[j - 1], rate);
      x.velocity[i] = fma(h, rate, v);
      if constexpr (m > 0) x.multiplier[i] = h * (i > 0 ? lambda[i - 1] : state.lambda);
    }
    return work_of_stages<S, Cay>(system, state.q, h, x, Vector<T, m>::zero());
  }

  /// Lambda_2..Lambda_s from (mu_i Vbar_i + d_i)/h = 0, i = 2..s:
  ///   sum_{j>=2} a_ij mu_i M^-1 mu_j^T Lambda_j = -mu_i (v/h + a_i1 w_1 + sum_{j>=2} a_ij f_j) - d_i/h.
  RB_HD mask_t<T> solve_multipliers(const System& system, const T& h, T inverse_h,
                                    const Vector<T, n> (&rate_known)[S - 1], const Vector<T, n> (&q)[S - 1],
                                    const Vector<T, n> (&f)[S - 1], const ConstraintForms<System> (&forms)[S - 1],
                                    const Instants<System, S>& times, Vector<T, m> (&lambda)[S - 1]) const {
    constexpr auto tableau = lobatto_pair<S>();
    constexpr int size = (S - 1) * m;
    Matrix<T, size, size> matrix;
    Vector<T, size> right;
    RB_UNROLL
    for (int i = 0; i < S - 1; ++i) {
      Vector<T, n> rate = rate_known[i];
      RB_UNROLL
      for (int j = 0; j < S - 1; ++j) rate = fma(T(tableau.a[i + 1][j + 1]), f[j], rate);
      Vector<T, m> phi = forms[i] * rate;
      if constexpr (has_constraint_offset<System>)
        phi = fma(inverse_h, constraint_offset(times.at(i + 1, system, h * T(tableau.c[i + 1])), q[i]), phi);
      RB_UNROLL
      for (int k = 0; k < m; ++k) right[i * m + k] = -phi[k];
      // mu_i M^-1 mu_j^T, the transpose of which serves block (j, i)
      RB_UNROLL
      for (int j = 0; j <= i; ++j) {
        const Matrix<T, m, m> c = forms[i].gram(mass_, forms[j]);
        RB_UNROLL
        for (int k = 0; k < m; ++k) {
          RB_UNROLL
          for (int l = 0; l < m; ++l) {
            matrix[i * m + k][j * m + l] = T(tableau.a[i + 1][j + 1]) * c[k][l];
            matrix[j * m + l][i * m + k] = T(tableau.a[j + 1][i + 1]) * c[k][l];
          }
        }
      }
    }
    // the equations of one constraint at different stages are of like size
    mask_t<T> singular;
    if constexpr (m == 1 && size <= 3) {
      singular = solve_once<Definite<>>(matrix, right);
    } else {
      singular = solve_once<PivotedUnrolled>(matrix, right);
    }
    RB_UNROLL
    for (int i = 0; i < size; ++i) lambda[i / m][i % m] = right[i];
    return singular;
  }

  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
