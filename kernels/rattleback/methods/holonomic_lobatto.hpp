#pragma once
// Lobatto IIIA-IIIB pair with holonomic constraints g(q) = 0 on R^n (D. Martin de Diego, R. T. Sato Martin de Almagro,
// High-order geometric methods for nonholonomic mechanical systems, eq. (13); L. O. Jay, SIAM J. Numer. Anal. 33 (1996) 368).
// With two stages it is RATTLE.
//
//   Q_i = q + h sum_j a_ij V_j          P_i = p + h sum_j ah_ij W_j = dL/dv(Q_i, V_i)        i = 1..s
//   W_i = dL/dq(Q_i, V_i) + Dg(Q_i)^T Lambda_i
//   g(Q_i) = 0, i = 2..s                Dg(q') v' = 0
//   q' = Q_s,                           p' = p + h sum_j b_j W_j
//
// The multipliers are new in every step; the last of them is kept for the record and as the guess of the next step.

#include "rattleback/ensemble/entry.hpp"
#include "rattleback/linalg/lu.hpp"
#include "rattleback/methods/lobatto_options.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/systems/system.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// Because ah_is = 0, Lambda_s enters p' alone: the step splits into the stages, with unknowns V_1..V_s and
/// h Lambda_1..h Lambda_{s-1}, and the tangency of v', linear in h Lambda_s. Simplified Newton for the stages: the Jacobian
/// is refreshed every `refresh_interval` iterations; lanes that have not converged after `simplified_iterations` start again
/// with a full Newton iteration.
template <class T, class System, int S>
class HolonomicLobatto {
  static constexpr int n = System::n, m = System::m;
  static constexpr int size = S * n + (S - 1) * m;
  static constexpr int refresh_interval = 3, simplified_iterations = 12;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD HolonomicLobatto(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  RB_HD_LARGE StepReport<T> operator()(State& state, T h) const {
    constexpr auto tableau = lobatto_pair<S>();
    Stages x;
    const T scale = guess(state, h, x);
    Lu<T, n> mass[S];
    Lu<T, size> lu;
    mask_t<T> active(true), singular(false);
    T iterations(0.0);
    Convergence<T> convergence(options_, scale);
    Residual r;
    for (int iteration = 0;; ++iteration) {
      evaluate(state, h, x, r);
      if (!any(active) || iteration == options_.max_iterations) break;
      if (iteration == simplified_iterations) {
        Stages start;
        guess(state, h, start);
        x.assign(active, start);
        evaluate(state, h, x, r);
        convergence = Convergence<T>(options_, scale);
      }
      if (iteration % refresh_interval == 0 || iteration > simplified_iterations) {
        lu = Lu<T, size>(jacobian(h, x, r, mass));
        singular = singular | (active & lu.singular());
      }
      const T change = update(lu, mass, r, active, x);
      iterations = iterations + select(active, T(1.0), T(0.0));
      active = active & !convergence.with_rate(change);
    }

    state.q = r.q[S - 1];
    for (int j = 0; j < S; ++j) state.p = fma(T(tableau.b[j]), r.hw[j], state.p);
    // tangency; v is affine in p, so one solve is exact and a second takes out its rounding
    const Matrix<T, m, n>& dg = r.dg[S - 1];
    Matrix<T, m, m> gram;
    for (int k = 0; k < m; ++k) {
      const Vector<T, n> response = mass[S - 1].solve(dg[k]);
      for (int i = 0; i < m; ++i) gram[i][k] = dot(dg[i], response);
    }
    const Lu<T, m> tangency(gram);
    singular = singular | tangency.singular();
    auto impulse = Vector<T, m>::zero();  // b_s h Lambda_s
    for (int pass = 0; pass < 2; ++pass) {
      const Vector<T, m> correction = tangency.solve(dg * velocity(system_, state.q, state.p));
      state.p = state.p - transpose_times(dg, correction);
      impulse = impulse - correction;
    }
    state.lambda = (T(1.0) / (h * T(tableau.b[S - 1]))) * impulse;
    const T check = sum(state.q) + sum(state.p) + sum(state.lambda);
    return {step_status<T>(!active, singular, is_finite(check)), iterations, r.norm};
  }

 private:
  struct Stages {
    Vector<T, n> v[S];
    Vector<T, m> multiplier[S];  // h Lambda_i; that of the last stage stays 0

    /// Takes over another's values in the lanes of the mask.
    RB_HD_LARGE void assign(const mask_t<T>& mask, const Stages& other) {
      for (int i = 0; i < S; ++i) {
        v[i] = select(mask, other.v[i], v[i]);
        multiplier[i] = select(mask, other.multiplier[i], multiplier[i]);
      }
    }
  };
  struct Residual {
    Vector<T, n> q[S], hw[S];
    Matrix<T, m, n> dg[S];
    Vector<T, n> legendre[S];    // dL/dv(Q_i, V_i) - P_i
    Vector<T, m> constraint[S];  // g(Q_i) / h
    T norm;
  };

  /// L + Lambda_i . g, whose derivatives are those of the step equations.
  RB_HD auto augmented(const Vector<T, m>& multiplier) const {
    return [this, multiplier](const auto& q, const auto& v) {
      using D = std::remove_cvref_t<decltype(q[0])>;
      D sum = lagrangian(system_, q, v);
      const auto g = system_.position_constraint(q);
      for (int k = 0; k < m; ++k) sum = sum + D(multiplier[k]) * g[k];
      return Vector<D, 1>{sum};
    };
  }

  /// First-order prediction of the stages; returns the size of the velocities. The rounding of positions shows in them
  /// divided by h and times the condition of the system, below 100: near rest, that is what an iteration can reach.
  RB_HD_LARGE T guess(const State& state, T h, Stages& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    const T inverse_h = T(1.0) / h;
    const Vector<T, n> v = velocity(system_, state.q, state.p);
    const auto a = hessian<1>(augmented(state.lambda), state.q, v);
    const Vector<T, n> acceleration = Lu<T, n>(a.vv[0]).solve(a.first.dq[0] - a.vq[0] * v);
    for (int i = 0; i < S; ++i) {
      x.v[i] = fma(h * T(tableau.c[i]), acceleration, v);
      x.multiplier[i] = i + 1 < S ? h * state.lambda : Vector<T, m>::zero();
    }
    return magnitude(v) + abs(h) * magnitude(acceleration) + T(0.01) * abs(inverse_h) * magnitude(state.q);
  }

  RB_HD_LARGE void evaluate(const State& state, T h, const Stages& x, Residual& r) const {
    constexpr auto tableau = lobatto_pair<S>();
    const T inverse_h = T(1.0) / h;
    Vector<T, n> p[S];
    for (int i = 0; i < S; ++i) {
      Vector<T, n> displacement = Vector<T, n>::zero();
      for (int j = 0; j < S; ++j) displacement = fma(T(tableau.a[i][j]), x.v[j], displacement);
      r.q[i] = fma(h, displacement, state.q);
      const auto a = gradient<1>(augmented(inverse_h * x.multiplier[i]), r.q[i], x.v[i]);
      p[i] = a.dv[0];
      r.hw[i] = h * a.dq[0];
      const auto g = position_constraint(system_, r.q[i]);
      r.dg[i] = g.jacobian;
      r.constraint[i] = inverse_h * g.value;
    }
    r.norm = T(0.0);
    for (int i = 0; i < S; ++i) {
      r.legendre[i] = p[i] - state.p;
      for (int j = 0; j < S; ++j) r.legendre[i] = fma(T(-tableau.ah[i][j]), r.hw[j], r.legendre[i]);
      r.norm = max(r.norm, max_norm(r.legendre[i]));
      if (i > 0) r.norm = max(r.norm, max_norm(r.constraint[i]));
    }
  }

  /// Jacobian of (legendre_1..s, constraint_2..s) in (V_1..V_s, h Lambda_1..s-1); also factorises the mass matrices.
  RB_HD_LARGE Matrix<T, size, size> jacobian(T h, const Stages& x, const Residual& r, Lu<T, n> (&mass)[S]) const {
    constexpr auto tableau = lobatto_pair<S>();
    const T inverse_h = T(1.0) / h;
    Matrix<T, n, n> m_i[S], lvq[S], hk[S];  // L_vv, L_vq, h (L_qq + D^2 g Lambda)
    for (int i = 0; i < S; ++i) {
      const auto a = hessian<1>(augmented(inverse_h * x.multiplier[i]), r.q[i], x.v[i]);
      m_i[i] = a.vv[0];
      lvq[i] = a.vq[0];
      for (int k = 0; k < n; ++k) hk[i][k] = h * a.qq[0][k];
      mass[i] = Lu<T, n>(m_i[i]);
    }
    Matrix<T, size, size> jac = Matrix<T, size, size>::zero();
    for (int l = 0; l < S; ++l)
      for (int i = 0; i < S; ++i) {
        // d P_i / d V_l = sum_j ah_ij (h a_jl hK_j + delta_jl h L_qv)
        Matrix<T, n, n> dp = Matrix<T, n, n>::zero();
        for (int j = 0; j < S; ++j)
          for (int a = 0; a < n; ++a) dp[a] = fma(h * T(tableau.ah[i][j] * tableau.a[j][l]), hk[j][a], dp[a]);
        const T ha = h * T(tableau.a[i][l]), hb = h * T(tableau.ah[i][l]);
        for (int a = 0; a < n; ++a)
          for (int b = 0; b < n; ++b) {
            T entry = fma(ha, lvq[i][a][b], -dp[a][b]) - hb * lvq[l][b][a];
            if (i == l) entry = entry + m_i[i][a][b];
            jac[i * n + a][l * n + b] = entry;
          }
        if (i == 0) continue;
        for (int k = 0; k < m; ++k)
          for (int b = 0; b < n; ++b) jac[S * n + (i - 1) * m + k][l * n + b] = T(tableau.a[i][l]) * r.dg[i][k][b];
      }
    for (int l = 0; l + 1 < S; ++l)
      for (int k = 0; k < m; ++k)
        for (int i = 0; i < S; ++i)
          for (int a = 0; a < n; ++a) jac[i * n + a][S * n + l * m + k] = T(-tableau.ah[i][l]) * r.dg[l][k][a];
    return jac;
  }

  /// One Newton update of the active lanes; returns its size, measured in velocities.
  RB_HD_LARGE T update(const Lu<T, size>& lu, const Lu<T, n> (&mass)[S], const Residual& r, mask_t<T> active,
                       Stages& x) const {
    Vector<T, size> b;
    for (int i = 0; i < S; ++i) {
      for (int a = 0; a < n; ++a) b[i * n + a] = -r.legendre[i][a];
      for (int k = 0; i > 0 && k < m; ++k) b[S * n + (i - 1) * m + k] = -r.constraint[i][k];
    }
    b = lu.solve(b);
    T size_of_update(0.0);
    for (int i = 0; i < S; ++i) {
      Vector<T, n> dv;
      for (int a = 0; a < n; ++a) dv[a] = b[i * n + a];
      x.v[i] = select(active, x.v[i] + dv, x.v[i]);
      size_of_update = larger(size_of_update, magnitude(dv));
      if (i + 1 == S) continue;
      Vector<T, m> dmultiplier;
      for (int k = 0; k < m; ++k) dmultiplier[k] = b[S * n + i * m + k];
      x.multiplier[i] = select(active, x.multiplier[i] + dmultiplier, x.multiplier[i]);
      size_of_update = larger(size_of_update, magnitude(mass[i].solve(transpose_times(r.dg[i], dmultiplier))));
    }
    return size_of_update;
  }

  System system_;
  SolverOptions<T> options_;
};

/// The retraction makes no difference on R^n.
template <class T, class System, class Tau, int S>
using HolonomicLobattoStep = HolonomicLobatto<T, System, S>;

namespace methods {

inline constexpr MethodEntry holonomic_lobatto{
    "holonomic-lobatto",
    "Lobatto IIIA-IIIB pair with holonomic constraints at positions and velocities; symplectic, symmetric (s = 2 is "
    "RATTLE)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eq. (13)",
    "q, p: 2s-2; lambda: s-1",
    ConstraintKind::holonomic,
    lobatto_options,
    true};

}  // namespace methods

RB_NAMESPACE_END
