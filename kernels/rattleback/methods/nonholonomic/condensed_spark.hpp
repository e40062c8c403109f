#pragma once
// SPARK on R^n with constant mass and a velocity constraint A(q) v + d(q) = 0 (equations: methods/nonholonomic/spark.hpp).

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/methods/solve/iteration.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// With f = M^-1 F and accelerations w_j = f_j + M^-1 A_j^T Lambda_j of the stages 1..s-1,
///
///   Q_i = q + c_i h v + h^2 sum_{j<s} (a ah)_ij w_j,      V_i = v + h sum_{j<s} ah_ij w_j,
///
/// so that the last force and the last multiplier enter p' alone, where the constraint at q' determines Lambda_s. The unknowns are
/// w_1..w_{s-1} and Lambda_1..Lambda_{s-1}. A sweep evaluates f and A at the stages of the present w, and changes the multipliers by
/// -S^-1 c, where c_i = sum_j a_ij (A_j V_j + d_j)/h for the accelerations with the present multipliers. S is the derivative of c to
/// second order in h, and comes from the initial state alone: with A' v the derivative of A along v, and R = d(A v + d)/dq,
///
///   S_il = (a ah)_il C + h sum_j a_ij ah_jl (c_j D + c_l D^T) + h (a a ah)_il E,
///   C = A M^-1 A^T,   D = (A' v) M^-1 A^T,   E = R M^-1 A^T.
///
/// So sweeps contract like h^2. As in CondensedLobatto, a lane's w settles once the next change is going to be small, and one more
/// sweep gives the step. Changes of w that move no digit of the state may shrink slowly: v/h + w does not show them to c.
template <class T, class System, int S>
class CondensedSpark {
  static constexpr int n = System::n, m = System::m, inner = S - 1;
  using Forms = ConstraintForms<System>;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD CondensedSpark(const System& system, const SolverOptions<T>& options)
      : system_(system), mass_(system), options_{max(options.tolerance, T(1e-18)), options.max_iterations} {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    constexpr auto tableau = lobatto_pair<S>();
    const T inverse_h = T(1.0) / h;
    const Vector<T, n> v = mass_.inverse_times(state.p), rate = inverse_h * v;

    Vector<T, n> f[inner], w[inner], w_new[inner], q[inner];  // q: stages 2..s
    Forms forms[S];
    Vector<T, m> lambda[inner], lambda_new[inner];
    forms[0] = Forms(system_, state.q);
    f[0] = mass_.inverse_times(force(system_, state.q));
    Factors<T, inner * m, Guide<>> factors;
    Iteration<T> lanes(options_, inverse_h * inverse_h * (magnitude(state.q) + abs(h) * magnitude(v)));
    lanes.singular = linearise(h, state.q, v, f[0], forms[0], lambda[0], factors);
    w[0] = forms[0].plus_response(mass_, f[0], lambda[0]);
    RB_UNROLL
    for (int j = 1; j < inner; ++j) {
      lambda[j] = lambda[0];
      w[j] = w[0];
    }

    mask_t<T> counted(true);  // lanes whose last sweep is still to come, the one after w has settled
    T update(0.0);
    for (int iteration = 1;; ++iteration) {
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        q[i - 1] = position(i, state.q, v, h, w);
        forms[i] = Forms(system_, q[i - 1]);
        if (i < inner) f[i] = mass_.inverse_times(force(system_, q[i - 1]));
      }
      RB_UNROLL
      for (int j = 0; j < inner; ++j) w_new[j] = forms[j].plus_response(mass_, f[j], lambda[j]);
      Vector<T, inner * m> c = constraints(inverse_h, rate, state.q, q, forms, w_new);
      c = factors.solve(c);
      lanes.count(counted);
      T change(0.0);
      RB_UNROLL
      for (int j = 0; j < inner; ++j) {
        RB_UNROLL
        for (int k = 0; k < m; ++k) lambda_new[j][k] = lambda[j][k] - c[j * m + k];
        w_new[j] = forms[j].plus_response(mass_, f[j], lambda_new[j]);
        change = larger(change, magnitude(w_new[j] - w[j]));
      }
      update = select(counted, change, update);
      if (lanes.ended() || iteration >= options_.max_iterations) break;
      RB_UNROLL
      for (int j = 0; j < inner; ++j) {
        w[j] = select(lanes.active, w_new[j], w[j]);
        lambda[j] = select(lanes.active, lambda_new[j], lambda[j]);
      }
      counted = lanes.active;
      lanes.stop(lanes.convergence.with_rate(change, 1.0));
    }

    Vector<T, n> impulse = T(tableau.b[S - 1]) * mass_.inverse_times(force(system_, q[inner - 1]));
    RB_UNROLL
    for (int j = 0; j < inner; ++j) impulse = fma(T(tableau.b[j]), w_new[j], impulse);
    Vector<T, m> last = -(forms[inner] * (rate + impulse));  // b_s Lambda_s
    if constexpr (has_constraint_offset<System>) last = fma(-inverse_h, constraint_offset(system_, q[inner - 1]), last);
    lanes.singular = lanes.singular | solve_once<Definite<>>(forms[inner].gram(mass_, forms[inner]), last);
    impulse = forms[inner].plus_response(mass_, impulse, last);
    state.p = fma(h, mass_.times(impulse), state.p);
    state.q = position(S - 1, state.q, v, h, w);
    return {step_status<T>(lanes.converged(), lanes.singular, is_finite(sum(state.q) + sum(state.p))), lanes.iterations,
            h * h * update};
  }

 private:
  /// Q_i, i counted from 0.
  RB_HD static Vector<T, n> position(int i, const Vector<T, n>& q, const Vector<T, n>& v, const T& h,
                                     const Vector<T, n> (&w)[inner]) {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<T, n> drift = T(tableau.c[i]) * v;
    RB_UNROLL
    for (int j = 0; j < inner; ++j) drift = fma(h * T(tableau.a_ah[i][j]), w[j], drift);
    return fma(h, drift, q);
  }

  /// c_2..c_s.
  RB_HD Vector<T, inner * m> constraints(const T& inverse_h, const Vector<T, n>& rate, const Vector<T, n>& q_1,
                                         const Vector<T, n> (&q)[inner], const Forms (&forms)[S],
                                         const Vector<T, n> (&w)[inner]) const {
    constexpr auto tableau = lobatto_pair<S>();
    const Vector<T, n> rate_first = fma(T(tableau.b[0]), w[0], rate);  // ah_i1 = b_1
    Vector<T, m> phi[S];
    RB_UNROLL
    for (int j = 0; j < S; ++j) {
      Vector<T, n> rate_j = rate_first;
      RB_UNROLL
      for (int l = 1; l < inner; ++l) rate_j = fma(T(tableau.ah[j][l]), w[l], rate_j);
      phi[j] = forms[j] * rate_j;
      if constexpr (has_constraint_offset<System>)
        phi[j] = fma(inverse_h, constraint_offset(system_, j == 0 ? q_1 : q[j > 0 ? j - 1 : 0]), phi[j]);
    }
    Vector<T, inner * m> c;
    RB_UNROLL
    for (int i = 1; i < S; ++i) {
      const Vector<T, m> sum = combination(tableau.a[i], phi);
      RB_UNROLL
      for (int k = 0; k < m; ++k) c[(i - 1) * m + k] = sum[k];
    }
    return c;
  }

  /// The factors of S, and the multiplier of the continuous equations at the node, C lambda = -(R v + A f). Returns the singular
  /// lanes.
  RB_HD mask_t<T> linearise(const T& h, const Vector<T, n>& q, const Vector<T, n>& v, const Vector<T, n>& f,
                            const Forms& forms, Vector<T, m>& lambda, Factors<T, inner * m, Guide<>>& factors) const {
    constexpr auto tableau = lobatto_pair<S>();
    // A and d along v and along the rows of (M^-1 A^T)^T
    using D = Dual<T, 1 + m>;
    Vector<T, n> response[m];
    Vector<D, n> x;
    RB_UNROLL
    for (int k = 0; k < m; ++k) response[k] = mass_.inverse_times(forms.mu[k]);
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      x[i].value = q[i];
      x[i].partial[0] = v[i];
      RB_UNROLL
      for (int k = 0; k < m; ++k) x[i].partial[1 + k] = response[k][i];
    }
    const ConstraintForms<System, D> moving(system_, x);
    Vector<D, m> offset;
    if constexpr (has_constraint_offset<System>) offset = constraint_offset(system_, x);
    const auto turned = [&](int direction) {
      Forms r;
      RB_UNROLL
      for (int k = 0; k < m; ++k) r.mu[k] = detail::derivative(moving.mu[k], direction);
      return r;
    };
    const auto rate = [&](int direction) {  // R in this direction
      Vector<T, m> r = turned(direction) * v;
      if constexpr (has_constraint_offset<System>) r = r + detail::derivative(offset, direction);
      return r;
    };
    Matrix<T, m, m> c, d, e;
    const Forms along = turned(0);
    RB_UNROLL
    for (int l = 0; l < m; ++l) {
      c.set_column(l, forms * response[l]);
      d.set_column(l, along * response[l]);
      e.set_column(l, rate(1 + l));
    }
    RB_UNROLL
    for (int i = 1; i < S; ++i) {
      RB_UNROLL
      for (int l = 0; l < inner; ++l) {
        double by_c = 0.0, by_d = 0.0, by_e = 0.0;
        for (int j = 0; j < S; ++j) {
          by_c += tableau.a[i][j] * tableau.ah[j][l];
          by_d += tableau.a[i][j] * tableau.c[j] * tableau.ah[j][l];
          by_e += tableau.a[i][j] * tableau.a_ah[j][l];
        }
        RB_UNROLL
        for (int k = 0; k < m; ++k) {
          RB_UNROLL
          for (int b = 0; b < m; ++b) {
            const T turn = fma(T(by_d), d[k][b], fma(T(by_c * tableau.c[l]), d[b][k], T(by_e) * e[k][b]));
            factors.matrix()[(i - 1) * m + k][l * m + b] = fma(h, turn, T(by_c) * c[k][b]);
          }
        }
      }
    }
    const mask_t<T> singular = factors.factorise();
    lambda = -(rate(0) + forms * f);
    return singular | solve_once<Definite<>>(c, lambda);
  }

  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
