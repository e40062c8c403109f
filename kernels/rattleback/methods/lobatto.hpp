#pragma once
// Lobatto IIIA-IIIB integrators on R^n: the nonholonomic method (D. Martin de Diego, R. T. Sato Martin de Almagro,
// High-order geometric methods for nonholonomic mechanical systems, eq. (14)) and, for m = 0, the partitioned pair (eq. (9)).
//
//   Q_i = q + h sum_j a_ij V_j          P_i    = p + h sum_j ah_ij W_j = dL/dv(Q_i, V_i)        i = 1..s
//   W_i = dL/dq(Q_i, V_i) + Phi_v(Q_i, V_i)^T Lambda_i
//   Pbar_i = p + h sum_j a_ij W_j       Phi(Q_i, Vbar_i) = 0, Pbar_i = dL/dv(Q_i, Vbar_i)       i = 2..s
//   q' = Q_s, p' = Pbar_s, lambda' = Lambda_s, with Lambda_1 = lambda carried from step to step.
//
// Two forms: one for constant mass and a constraint affine in v, where only the s - 2 interior accelerations are coupled,
// and one for any regular Lagrangian and constraint.

#include "rattleback/ensemble/entry.hpp"
#include "rattleback/linalg/lu.hpp"
#include "rattleback/methods/lobatto_options.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/systems/system.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// Constant mass, constraint mu(q) v + d(q) = 0. With f = M^-1 F and accelerations w_j = f_j + M^-1 mu_j^T Lambda_j,
///
///   Q_i = q + c_i h v + h^2 sum_{j<s} (a ah)_ij w_j,      Vbar_i = v + h sum_j a_ij w_j,
///
/// so given Q_2..Q_s the multipliers solve a linear system of (s-1) m equations. The unknowns are w_2..w_{s-1}: none for
/// s = 2, which is explicit (the nonholonomic velocity Verlet). They are found by functional iteration, whose contraction is
/// O(h^2); a lane whose w has converged keeps it, so further sweeps of the pack recompute the same numbers for it.
template <class T, class System, int S>
class CondensedLobatto {
  static constexpr int n = System::n, m = System::m;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD CondensedLobatto(const System& system, const SolverOptions<T>& options)
      : system_(system), mass_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    constexpr auto tableau = lobatto_pair<S>();
    constexpr int inner = S - 2;
    const Vector<T, n> v = mass_.inverse_times(state.p);

    // stage 1 is known: the acceleration at the node
    const ConstraintForms<System> forms_1(system_, state.q);
    const Vector<T, n> w_1 = mass_.inverse_times(force(system_, state.q) + forms_1.transpose_times(state.lambda));

    // what the sweeps do not change: c_i v + h (a ah)_i1 w_1 and v + h a_i1 w_1
    Vector<T, n> drift[S - 1], v_known[S - 1];
    RB_UNROLL
    for (int i = 1; i < S; ++i) {
      drift[i - 1] = fma(h * T(tableau.a_ah[i][0]), w_1, T(tableau.c[i]) * v);
      v_known[i - 1] = fma(h * T(tableau.a[i][0]), w_1, v);
    }

    // unknown interior accelerations w_2..w_{s-1}, from the acceleration at the node
    Vector<T, n> w[inner > 0 ? inner : 1];
    RB_UNROLL
    for (int j = 0; j < inner; ++j) w[j] = w_1;

    Vector<T, n> q[S - 1], f[S - 1], w_new[S - 1];  // stages 2..s
    ConstraintForms<System> forms[S - 1];
    Vector<T, m> multiplier[S - 1];  // h Lambda_2..h Lambda_s
    const T inverse_h = T(1.0) / h;

    mask_t<T> active(true), singular(false);
    T iterations(0.0), update(0.0);
    Convergence<T> convergence(options_, inner > 0 ? magnitude(state.q) + abs(h) * magnitude(v) : T(0.0));
    for (int iteration = 1;; ++iteration) {
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        Vector<T, n> displacement = drift[i - 1];
        RB_UNROLL
        for (int j = 1; j <= inner; ++j) displacement = fma(h * T(tableau.a_ah[i][j]), w[j - 1], displacement);
        q[i - 1] = fma(h, displacement, state.q);
        f[i - 1] = mass_.inverse_times(force(system_, q[i - 1]));
        if constexpr (m > 0) forms[i - 1] = ConstraintForms<System>(system_, q[i - 1]);
      }
      if constexpr (m > 0) singular = solve_multipliers(h, v_known, q, f, forms, multiplier);
      iterations = iterations + select(active, T(1.0), T(0.0));
      if constexpr (inner == 0) {
        active = mask_t<T>(false);
        break;
      }
      T change(0.0);
      RB_UNROLL
      for (int j = 0; j < inner; ++j) {
        w_new[j] = acceleration(f[j], forms[j], inverse_h, multiplier[j]);
        change = larger(change, magnitude(w_new[j] - w[j]));
      }
      change = h * h * change;
      update = select(active, change, update);
      active = active & !convergence(change);
      if (!any(active) || iteration >= options_.max_iterations) break;
      RB_UNROLL
      for (int j = 0; j < inner; ++j) w[j] = select(active, w_new[j], w[j]);
    }
    w_new[S - 2] = acceleration(f[S - 2], forms[S - 2], inverse_h, multiplier[S - 2]);

    Vector<T, n> impulse = T(tableau.b[0]) * w_1;
    RB_UNROLL
    for (int j = 1; j < S; ++j) impulse = fma(T(tableau.b[j]), w_new[j - 1], impulse);
    state.p = fma(h, mass_.times(impulse), state.p);
    state.q = q[S - 2];
    T check = sum(state.q) + sum(state.p);
    if constexpr (m > 0) {
      RB_UNROLL
      for (int k = 0; k < m; ++k) state.lambda[k] = inverse_h * multiplier[S - 2][k];
      check = check + sum(state.lambda);
    }
    return {step_status<T>(!active, singular, is_finite(check)), iterations, update};
  }

 private:
  /// f + M^-1 mu^T Lambda
  RB_HD Vector<T, n> acceleration(const Vector<T, n>& f, const ConstraintForms<System>& forms, T inverse_h,
                                  const Vector<T, m>& multiplier) const {
    if constexpr (m == 0) {
      return f;
    } else {
      return f + inverse_h * mass_.inverse_times(forms.transpose_times(multiplier));
    }
  }

  /// h Lambda_2..h Lambda_s from mu_i Vbar_i + d_i = 0, i = 2..s:
  ///   sum_{j>=2} a_ij mu_i M^-1 mu_j^T (h Lambda_j) = -mu_i (v + h a_i1 w_1 + h sum_{j>=2} a_ij f_j) - d_i.
  RB_HD mask_t<T> solve_multipliers(T h, const Vector<T, n> (&v_known)[S - 1], const Vector<T, n> (&q)[S - 1],
                                    const Vector<T, n> (&f)[S - 1], const ConstraintForms<System> (&forms)[S - 1],
                                    Vector<T, m> (&multiplier)[S - 1]) const {
    constexpr auto tableau = lobatto_pair<S>();
    constexpr int size = (S - 1) * m;
    Matrix<T, size, size> matrix;
    Vector<T, size> right;
    RB_UNROLL
    for (int i = 0; i < S - 1; ++i) {
      Vector<T, n> v = v_known[i];
      RB_UNROLL
      for (int j = 0; j < S - 1; ++j) v = fma(h * T(tableau.a[i + 1][j + 1]), f[j], v);
      Vector<T, m> phi = forms[i] * v;
      if constexpr (has_constraint_offset<System>) phi = phi + constraint_offset(system_, q[i]);
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
    const mask_t<T> singular = solve_small(matrix, right);
    RB_UNROLL
    for (int i = 0; i < size; ++i) multiplier[i / m][i % m] = right[i];
    return singular;
  }

  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
};

/// Any regular Lagrangian, any velocity constraint. Unknowns: V_1..V_s and h Lambda_2..h Lambda_s, with Vbar_2..Vbar_s
/// eliminated by their own linearised equation. Simplified Newton: the Jacobian, from exact second derivatives at the
/// stages, is refreshed every `refresh_interval` iterations; lanes that have not converged after `simplified_iterations`
/// start again with a full Newton iteration.
template <class T, class System, int S>
class GeneralLobatto {
  static constexpr int n = System::n, m = System::m;
  static constexpr int size = S * n + (S - 1) * m;
  static constexpr int refresh_interval = 3, simplified_iterations = 12;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD GeneralLobatto(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  RB_HD_LARGE StepReport<T> operator()(State& state, T h) const {
    constexpr auto tableau = lobatto_pair<S>();
    Stages x;
    const T scale = guess(state, h, x);

    Linearisation linear[S];
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
        for (int i = 0; i < S; ++i) singular = singular | (active & linearise(h, x, r, i, linear[i]));
        lu = Lu<T, size>(jacobian(h, linear));
        singular = singular | (active & lu.singular());
      }
      const T change = update(h, linear, lu, r, active, x);
      iterations = iterations + select(active, T(1.0), T(0.0));
      active = active & !convergence.with_rate(change);
    }

    Vector<T, n> impulse = Vector<T, n>::zero();
    for (int j = 0; j < S; ++j) impulse = fma(T(tableau.b[j]), r.hw[j], impulse);
    state.q = r.q[S - 1];
    T check = sum(state.q);
    if constexpr (m > 0) {
      // the momentum that satisfies the constraint to round-off
      state.p = momentum(system_, state.q, x.vbar[S - 1]);
      state.lambda = (T(1.0) / h) * x.multiplier[S - 1];
      check = check + sum(state.lambda);
    } else {
      state.p = state.p + impulse;
    }
    check = check + sum(state.p);
    return {step_status<T>(!active, singular, is_finite(check)), iterations, r.norm};
  }

 private:
  struct Stages {
    Vector<T, n> v[S], vbar[S];  // vbar[0] is not used
    Vector<T, m> multiplier[S];  // h Lambda_i

    /// Takes over another's values in the lanes of the mask.
    RB_HD_LARGE void assign(const mask_t<T>& mask, const Stages& other) {
      for (int i = 0; i < S; ++i) {
        v[i] = select(mask, other.v[i], v[i]);
        vbar[i] = select(mask, other.vbar[i], vbar[i]);
        if constexpr (m > 0) multiplier[i] = select(mask, other.multiplier[i], multiplier[i]);
      }
    }
  };
  struct Residual {
    Vector<T, n> q[S], hw[S];
    Vector<T, n> legendre[S];      // dL/dv(Q_i, V_i) - P_i
    Vector<T, n> legendre_bar[S];  // Pbar_i - dL/dv(Q_i, Vbar_i)
    Vector<T, m> constraint[S];    // Phi(Q_i, Vbar_i)
    T norm;
  };
  struct Linearisation {
    Matrix<T, n, n> mass, lvq, hk, hd;  // L_vv, L_vq, h (L_qq + d_q Phi_v^T Lambda), h (L_qv + d_v Phi_v^T Lambda)
    Lu<T, n> mass_lu;
    Matrix<T, m, n> phi_v, psi_p, psi_q;
  };

  RB_HD auto lagrangian_function() const {
    return [this](const auto& q, const auto& v) {
      return Vector<std::remove_cvref_t<decltype(q[0])>, 1>{lagrangian(system_, q, v)};
    };
  }
  RB_HD auto constraint_function() const {
    return [this](const auto& q, const auto& v) { return constraint(system_, q, v); };
  }

  /// First-order prediction of the stages from (q, v) and the acceleration there; returns the size of the velocities.
  RB_HD_LARGE T guess(const State& state, T h, Stages& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    const Vector<T, n> v = velocity(system_, state.q, state.p);
    const auto l = hessian<1>(lagrangian_function(), state.q, v);
    Vector<T, n> w = l.first.dq[0];
    if constexpr (m > 0) w = w + transpose_times(gradient<m>(constraint_function(), state.q, v).dv, state.lambda);
    const Lu<T, n> mass(l.vv[0]);
    const Vector<T, n> by_force = mass.solve(w), by_motion = mass.solve(l.vq[0] * v);
    for (int i = 0; i < S; ++i) {
      T c_hat(0.0);
      for (int j = 0; j < S; ++j) c_hat = c_hat + T(tableau.ah[i][j]);
      const T drift = h * T(tableau.c[i]);
      x.v[i] = fma(-drift, by_motion, fma(h * c_hat, by_force, v));
      x.vbar[i] = fma(drift, by_force - by_motion, v);
      if constexpr (m > 0) x.multiplier[i] = h * state.lambda;
    }
    return magnitude(v) + abs(h) * (magnitude(by_force) + magnitude(by_motion));
  }

  RB_HD_LARGE void evaluate(const State& state, T h, const Stages& x, Residual& r) const {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<T, n> p[S];
    for (int i = 0; i < S; ++i) {
      Vector<T, n> displacement = Vector<T, n>::zero();
      for (int j = 0; j < S; ++j) displacement = fma(T(tableau.a[i][j]), x.v[j], displacement);
      r.q[i] = fma(h, displacement, state.q);
      const auto l = gradient<1>(lagrangian_function(), r.q[i], x.v[i]);
      p[i] = l.dv[0];
      r.hw[i] = h * l.dq[0];
      if constexpr (m > 0)
        r.hw[i] = r.hw[i] + transpose_times(gradient<m>(constraint_function(), r.q[i], x.v[i]).dv, x.multiplier[i]);
    }
    r.norm = T(0.0);
    for (int i = 0; i < S; ++i) {
      r.legendre[i] = p[i] - state.p;
      for (int j = 0; j < S; ++j) r.legendre[i] = fma(T(-tableau.ah[i][j]), r.hw[j], r.legendre[i]);
      r.norm = max(r.norm, max_norm(r.legendre[i]));
      if (m == 0 || i == 0) continue;
      r.legendre_bar[i] = state.p - momentum(system_, r.q[i], x.vbar[i]);
      for (int j = 0; j < S; ++j) r.legendre_bar[i] = fma(T(tableau.a[i][j]), r.hw[j], r.legendre_bar[i]);
      r.constraint[i] = constraint(system_, r.q[i], x.vbar[i]);
      r.norm = max(r.norm, max(max_norm(r.legendre_bar[i]), max_norm(r.constraint[i])));
    }
  }

  /// Derivatives at stage i (second ones at (Q_i, V_i), which differs from (Q_i, Vbar_i) by O(h)); returns lanes whose mass matrix is singular.
  RB_HD_LARGE mask_t<T> linearise(T h, const Stages& x, const Residual& r, int i, Linearisation& d) const {
    const auto l = hessian<1>(lagrangian_function(), r.q[i], x.v[i]);
    d.mass = l.vv[0];
    d.lvq = l.vq[0];
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        d.hk[a][b] = h * l.qq[0][a][b];
        d.hd[a][b] = h * l.vq[0][b][a];
      }
    d.mass_lu = Lu<T, n>(d.mass);
    if constexpr (m > 0) {
      const auto phi = hessian<m>(constraint_function(), r.q[i], x.v[i]);
      const auto phi_bar = gradient<m>(constraint_function(), r.q[i], x.vbar[i]);
      d.phi_v = phi.first.dv;
      for (int k = 0; k < m; ++k) {
        d.psi_p[k] = d.mass_lu.solve(phi_bar.dv[k]);
        d.psi_q[k] = phi_bar.dq[k] - transpose_times(d.lvq, d.psi_p[k]);
        for (int a = 0; a < n; ++a) {
          d.hk[a] = fma(x.multiplier[i][k], phi.vq[k][a], d.hk[a]);
          d.hd[a] = fma(x.multiplier[i][k], phi.vv[k][a], d.hd[a]);
        }
      }
    }
    return d.mass_lu.singular();
  }

  /// Jacobian of (legendre_1..s, constraint_2..s) in (V_1..V_s, h Lambda_2..s), Vbar eliminated.
  RB_HD_LARGE Matrix<T, size, size> jacobian(T h, const Linearisation (&d)[S]) const {
    constexpr auto tableau = lobatto_pair<S>();
    Matrix<T, size, size> jac;
    for (int l = 0; l < S; ++l) {
      // d(h W_j)/dV_l = h a_jl hK_j + delta_jl hD_j
      Matrix<T, n, n> dw[S];
      for (int j = 0; j < S; ++j)
        for (int a = 0; a < n; ++a) {
          dw[j][a] = h * T(tableau.a[j][l]) * d[j].hk[a];
          if (j == l) dw[j][a] = dw[j][a] + d[j].hd[a];
        }
      for (int i = 0; i < S; ++i) {
        Matrix<T, n, n> dp = Matrix<T, n, n>::zero(), dpbar = Matrix<T, n, n>::zero();
        for (int j = 0; j < S; ++j)
          for (int a = 0; a < n; ++a) {
            dp[a] = fma(T(tableau.ah[i][j]), dw[j][a], dp[a]);
            dpbar[a] = fma(T(tableau.a[i][j]), dw[j][a], dpbar[a]);
          }
        const T ha = h * T(tableau.a[i][l]);
        for (int a = 0; a < n; ++a)
          for (int b = 0; b < n; ++b) {
            T entry = fma(ha, d[i].lvq[a][b], -dp[a][b]);
            if (i == l) entry = entry + d[i].mass[a][b];
            jac[i * n + a][l * n + b] = entry;
          }
        if (i == 0) continue;
        for (int k = 0; k < m; ++k) {
          const Vector<T, n> row = fma(ha, d[i].psi_q[k], transpose_times(dpbar, d[i].psi_p[k]));
          for (int b = 0; b < n; ++b) jac[S * n + (i - 1) * m + k][l * n + b] = row[b];
        }
      }
    }
    for (int l = 1; l < S; ++l)
      for (int k = 0; k < m; ++k) {
        const int column = S * n + (l - 1) * m + k;
        for (int i = 0; i < S; ++i) {
          for (int a = 0; a < n; ++a) jac[i * n + a][column] = T(-tableau.ah[i][l]) * d[l].phi_v[k][a];
          if (i == 0) continue;
          for (int c = 0; c < m; ++c)
            jac[S * n + (i - 1) * m + c][column] = T(tableau.a[i][l]) * dot(d[i].psi_p[c], d[l].phi_v[k]);
        }
      }
    return jac;
  }

  /// One Newton update of the active lanes; returns its size, measured in velocities.
  RB_HD_LARGE T update(T h, const Linearisation (&d)[S], const Lu<T, size>& lu, const Residual& r, mask_t<T> active,
                       Stages& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<T, size> b;
    for (int i = 0; i < S; ++i) {
      for (int a = 0; a < n; ++a) b[i * n + a] = -r.legendre[i][a];
      if (i == 0) continue;
      for (int k = 0; k < m; ++k)
        b[S * n + (i - 1) * m + k] = -(r.constraint[i][k] + dot(d[i].psi_p[k], r.legendre_bar[i]));
    }
    b = lu.solve(b);

    T size_of_update(0.0);
    Vector<T, n> dv[S], dq[S], dhw[S];
    for (int i = 0; i < S; ++i) {
      for (int a = 0; a < n; ++a) dv[i][a] = b[i * n + a];
      size_of_update = larger(size_of_update, magnitude(dv[i]));
      x.v[i] = select(active, x.v[i] + dv[i], x.v[i]);
    }
    if constexpr (m > 0) {
      for (int i = 0; i < S; ++i) {
        dq[i] = Vector<T, n>::zero();
        for (int j = 0; j < S; ++j) dq[i] = fma(h * T(tableau.a[i][j]), dv[j], dq[i]);
        dhw[i] = d[i].hk * dq[i] + d[i].hd * dv[i];
        if (i == 0) continue;
        Vector<T, m> dmultiplier;
        for (int k = 0; k < m; ++k) dmultiplier[k] = b[S * n + (i - 1) * m + k];
        dhw[i] = dhw[i] + transpose_times(d[i].phi_v, dmultiplier);
        x.multiplier[i] = select(active, x.multiplier[i] + dmultiplier, x.multiplier[i]);
        size_of_update = larger(size_of_update, magnitude(transpose_times(d[i].psi_p, dmultiplier)));
      }
      for (int i = 1; i < S; ++i) {
        Vector<T, n> dp = r.legendre_bar[i] - d[i].lvq * dq[i];
        for (int j = 0; j < S; ++j) dp = fma(T(tableau.a[i][j]), dhw[j], dp);
        const Vector<T, n> dvbar = d[i].mass_lu.solve(dp);
        size_of_update = larger(size_of_update, magnitude(dvbar));
        x.vbar[i] = select(active, x.vbar[i] + dvbar, x.vbar[i]);
      }
    }
    return size_of_update;
  }

  System system_;
  SolverOptions<T> options_;
};

namespace detail {
template <class T, class System, int S>
struct LobattoForm {
  using type = GeneralLobatto<T, System, S>;
};
template <class T, class System, int S>
  requires Condensable<System>
struct LobattoForm<T, System, S> {
  using type = CondensedLobatto<T, System, S>;
};
}  // namespace detail

/// The condensed form where the system allows it. The retraction makes no difference on R^n.
template <class T, class System, class Tau, int S>
using LobattoStep = typename detail::LobattoForm<T, System, S>::type;

namespace methods {

inline constexpr MethodEntry nonholonomic_lobatto{
    "nonholonomic-lobatto",
    "Lobatto IIIA-IIIB pair with the constraint on the IIIA momenta; symmetric, constraint exact at the nodes",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, "
    "eq. (14)",
    "q, p: 2s-2; lambda: s (s even), s-1 (s odd)",
    ConstraintKind::velocity,
    lobatto_options,
    true};

inline constexpr MethodEntry lobatto{
    "lobatto",
    "unconstrained Lobatto IIIA-IIIB pair; symplectic, symmetric (s = 2 is the velocity Verlet method)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, "
    "eq. (9)",
    "2s-2",
    ConstraintKind::none,
    lobatto_options,
    false};

}  // namespace methods

RB_NAMESPACE_END
