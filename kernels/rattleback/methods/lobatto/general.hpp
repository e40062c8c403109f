#pragma once
// The Lobatto pairs for any regular Lagrangian on a Lie group or R^n: Newton's method for their equations (equations.hpp).

#include "rattleback/lie/fold.hpp"
#include "rattleback/linalg/factors.hpp"
#include "rattleback/methods/lobatto/equations.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// Simplified Newton: the Jacobian, from dual numbers, is refreshed every `refresh_interval` iterations; lanes that have not converged
/// after `simplified_iterations` start again with a full Newton iteration.
///
/// The Jacobian is put together from derivatives of single stages. Derivatives of the whole residual, column by column, would be
/// less code and take 1.2, 1.4 and 3.2 times as long for two, three and five stages (heavy top; scalar).
///
/// Over dual numbers (tangent maps) the Jacobian is that of the values, and each part of the residual is solved for by
/// itself: the derivatives obey the linearised equations, for which the same iteration is a linear one.
///
/// With `team`, the lanes of a GPU team solve one trajectory together. Without it, the object is the fallback of a faster step that
/// runs on a single thread, and nothing is shared.
template <class T, class System, class Tau, int S, bool team = false, bool spark = false>
class GeneralLobatto {
  using Equations = LobattoEquations<T, System, Tau, S, spark>;
  using G = typename Equations::G;
  using Stages = typename Equations::Stages;
  using Residual = typename Equations::Residual;
  using Response = typename Equations::Response;
  using V = typename Equations::V;
  using D = typename Equations::D;
  static constexpr int n = System::n, m = System::m, size = Equations::size, first = Equations::first;
  static constexpr int positions = Equations::positions;
  static constexpr bool lifted = Equations::lifted, mixed = Equations::mixed;
  static constexpr int closing = S * n + (S - 1) * m;  // the rows of the hidden constraint at the end, with both kinds
  static constexpr int refresh_interval = 3, simplified_iterations = 12;

  struct Linearisation {
    Matrix<V, n, n> pi_xi, pi_velocity, hw_xi, hw_velocity, hf_xi, hf_velocity;
    Matrix<V, m, n> w, f;           // rows: dtau_{Xi_i}^T and Ad*_{tau(Xi_i)^-1} of the constraint's forms
    Matrix<V, m, n> psi_xi, psi_z;  // of Phi(G_i, eta(G_i, mubar_i)) by z_i; by V_i with SPARK
  };
  template <class Lanes>
  struct WorkspaceOf {
    struct Jacobian {
      Linearisation stage[S];
      Factors<V, size, Pivoted<Lanes>> lu;
    } jacobian;
    Residual residual;
  };

 public:
  using Team = FittingTeam<WorkspaceOf, team ? team_lanes(size) : 1>;
  using Workspace = WorkspaceOf<Team>;
  using State = typename Equations::State;

  RB_HD GeneralLobatto(const System& system, const SolverOptions<T>& options) : equations_{system}, options_(options) {}

  /// Out of line: the loops that call it share its long code.
  RB_NOINLINE StepReport<T> operator()(State& state, T h) const {
    const Vector<T, n> eta = velocity(equations_.system, state.q, state.p);
    const Response response(equations_.system, state.q, eta);
    Stages x;
    T scale = equations_.guess(state, eta, response, h, x);

    const State values = Equations::values_of(state);
    typename Team::template Shared<Workspace> shared;
    auto& jacobian = (*shared).jacobian;
    Residual& r = (*shared).residual;
    Iteration<T> lanes(options_, scale);
    RB_ROLLED
    for (int iteration = 0;; ++iteration) {
      evaluate(state, h, x, r);
      if (lanes.ended() || iteration == options_.max_iterations) break;
      if (iteration == simplified_iterations) {
        Stages start;
        equations_.guess(state, eta, response, h, start);
        x.assign(lanes.active, start);
        evaluate(state, h, x, r);
        lanes.convergence = Convergence<T>(options_, scale);
      }
      if (iteration % refresh_interval == 0 || iteration > simplified_iterations) {
        RB_ROLLED
        for (int i = 0; i < S; ++i) linearise(values, h, x, r, i, jacobian.stage[i]);
        fill(coefficient(h, 0), r, jacobian.stage, jacobian.lu.matrix());
        jacobian.lu.factorise();
        lanes.singular = (lanes.active & jacobian.lu.singular()) | (lanes.converged() & lanes.singular);
      }
      const T change = update(coefficient(h, 0), jacobian.stage, jacobian.lu, response, r, lanes.active, x);
      if constexpr (coefficients<T> == 2)
        if (iteration == 0) {  // the derivative of the guess says little: its size shows now
          coefficient(scale, 1) = coefficient(scale, 1) + coefficient(change, 1);
          lanes.convergence = Convergence<T>(options_, scale);
        }
      lanes.settle(change);
    }

    [[maybe_unused]] const Configuration<System> start = state.q;
    state.q = r.g[S - 1];
    state.p = Chart<G, Tau, T>(r.xi[S - 1]).Ad_star(r.balance.z(state.p, S - 1));
    Vector<T, m> impulse{};
    if constexpr (m > 0) impulse = put_on_constraint(equations_.at_stage(h, S - 1), state.q, state.p, lanes.singular);
    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work_of_stages<S, Tau>(equations_.system, start, h, x, impulse), state);
    StepReport<T> report = end_step<S, !spark>(lanes, h, impulse, x.multiplier[S - 1], r.norm, state);
    if constexpr (on_group<System>) {  // within a tenth of the fold iterations already fail
      const auto folded = (!(report.status == T(0.0))) & beyond_fold<G, Tau>(h * eta, S, 0.9);
      report.status = select(folded, T(double(status_fold)), report.status);
    }
    return report;
  }

 private:
  RB_HD_APART void evaluate(const State& state, T h, const Stages& x, Residual& r) const {
    Team::sync();
    if (Team::leads()) equations_.evaluate(state, h, x, r);
    Team::sync();
  }
  /// Derivatives at stage i, in one direction at a time, which keeps the code small.
  RB_HD_LARGE void linearise(const State& state, T h, const Stages& x, const Residual& r, int i,
                             Linearisation& d) const {
    const auto& of_values = equations_.without_derivatives();
    const T step(coefficient(h, 0));
    Team::for_each(i == 0 ? n : 0, 2 * n, [&](int direction) {  // Xi_1 = 0 does not move
      Vector<D, n> xi = constant<D>(r.xi[i]), velocity = constant<D>(x.velocity[i]),
                   z = constant<D>(lifted ? x.z[i] : state.p);
      const int k = direction % n;
      const bool by_xi = direction < n;
      RB_ROLLED
      for (int j = 0; j < n; ++j) {
        xi[j].partial[0] = V(by_xi && j == k ? 1.0 : 0.0);
        velocity[j].partial[0] = z[j].partial[0] = V(!by_xi && j == k ? 1.0 : 0.0);
      }
      const auto at = of_values.template stage<D>(state, step, i, xi, velocity, constant<T>(x.multiplier[i]));
      RB_ROLLED
      for (int j = 0; j < n; ++j) {
        (by_xi ? d.pi_xi : d.pi_velocity)[j][k] = at.momenta.pi[j].partial[0];
        (by_xi ? d.hw_xi : d.hw_velocity)[j][k] = at.momenta.hw[j].partial[0];
        (by_xi ? d.hf_xi : d.hf_velocity)[j][k] = at.momenta.hf[j].partial[0];
      }
      if constexpr (m > 0 && !is_holonomic<System>) {
        Vector<D, m> psi;
        if constexpr (spark) {
          psi = of_values.template stage_constraint<D>(state, step, i, xi, velocity);
        } else {
          psi = of_values.template node_constraint<D>(state, step, i, xi, z);
        }
        RB_ROLLED
        for (int j = 0; j < m; ++j) (by_xi ? d.psi_xi : d.psi_z)[j][k] = psi[j].partial[0];
      }
    });
    if constexpr (m > 0) {
      const Chart<G, Tau, T> chart(constant<T>(r.xi[i]));
      const auto forms =
          constraint_forms(of_values.at_stage(step, i), constant<T>(r.g[i]), chart.dtau(constant<T>(x.velocity[i])));
      Team::for_each(0, m, [&](int k) {
        d.w[k] = constant<V>(chart.dtau_star(forms[k]));
        d.f[k] = constant<V>(chart.Ad_inverse_star(forms[k]));
      });
    }
  }

  /// Jacobian of (momentum_1..s, constraint_2..s) in (H_1..s, the unknown multipliers).
  RB_HD_LARGE void fill(V h, const Residual& r, const Linearisation (&d)[S], Matrix<V, size, size>& jac) const {
    constexpr auto tableau = lobatto_pair<S>();
    const Chart<G, Tau, V> opposite(constant<V>(-r.xi[S - 1]));  // of dtau_{-xi}^T
    Team::for_each(0, S * n, [&](int column) {
      const int l = column / n, b = column % n;
      // d(h W_j)/dH_l = h a_jl dW_j/dXi + delta_jl dW_j/dH, and so for hf
      Vector<V, n> hw[S], hf[S], back = Vector<V, n>::zero();
      Vector<V, m> psi[S];  // dPhi(Q_j, V_j)/dH_l, of SPARK
      RB_ROLLED
      for (int j = 0; j < S; ++j) {
        const V ha = h * V(tableau.a[j][l]);
        for (int a = 0; a < n; ++a) {
          hw[j][a] = j > 0 ? ha * d[j].hw_xi[a][b] : V(0.0);
          hf[j][a] = j > 0 ? ha * d[j].hf_xi[a][b] : V(0.0);
          if (j == l) {
            hw[j][a] = hw[j][a] + d[j].hw_velocity[a][b];
            hf[j][a] = hf[j][a] + d[j].hf_velocity[a][b];
          }
        }
        RB_ROLLED
        for (int k = 0; spark && k < m; ++k) {
          psi[j][k] = j > 0 ? ha * d[j].psi_xi[k][b] : V(0.0);
          if (j == l) psi[j][k] = psi[j][k] + d[j].psi_z[k][b];
        }
        if (j + 1 < S) back = fma(V(tableau.b[j]), hf[j], back);
      }
      back = opposite.dtau_star(back);
      if constexpr (on_group<System>) {  // and the derivative of dtau_{-xi}^T back by xi
        Vector<D, n> xi = constant<D>(r.xi[S - 1]);
        xi[b].partial[0] = V(1.0);
        const auto carried = Chart<G, Tau, D>(-xi).dtau_star(constant<D>(r.balance.sums.back));
        for (int a = 0; a < n; ++a) back[a] = fma(h * V(tableau.b[l]), carried[a].partial[0], back[a]);
      }
      RB_ROLLED
      for (int i = 0; i < S; ++i) {
        Vector<V, n> sum_w = -back, sum_f = Vector<V, n>::zero();
        RB_ROLLED
        for (int j = 0; j < S; ++j) {
          sum_w = fma(V(tableau.b[j] - tableau.ah[i][j]), hw[j], sum_w);
          sum_f = fma(V(tableau.a[i][j]), hf[j], sum_f);
        }
        const V ha = h * V(tableau.a[i][l]);
        RB_ROLLED
        for (int a = 0; a < n; ++a) {
          V entry = sum_w[a];
          if (i > 0) entry = fma(ha, d[i].pi_xi[a][b], entry);
          if (i == l) entry = entry + d[i].pi_velocity[a][b];
          jac[i * n + a][column] = entry;
        }
        if (i == 0) continue;
        RB_ROLLED
        for (int k = 0; k < m; ++k) {
          V& entry = jac[S * n + (i - 1) * m + k][column];
          entry = positions == m || k < positions
                      ? V(tableau.a[i][l]) * d[i].w[k][b]  // phi(g tau(Xi)) has the derivative dtau^T Dphi
                  : spark ? V(tableau.a[i][0]) * psi[0][k]
                          : fma(ha, d[i].psi_xi[k][b], dot(d[i].psi_z[k], sum_f));
          RB_ROLLED
          for (int j = 1; spark && j < S; ++j) entry = fma(V(tableau.a[i][j]), psi[j][k], entry);
        }
        RB_ROLLED
        for (int k = 0; mixed && i + 1 == S && k < positions; ++k)
          jac[closing + k][column] = fma(ha, d[i].psi_xi[k][b], dot(d[i].psi_z[k], sum_f));
      }
    });
    if constexpr (m > 0) {
      Team::for_each(0, size - S * n, [&](int multiplier) {
        const int l = mixed ? (multiplier - positions + m) / m : first + multiplier / m,
                  k = mixed && multiplier >= positions ? (multiplier - positions) % m : multiplier % m,
                  column = S * n + multiplier;
        const Vector<V, n> back = V(tableau.b[l]) * opposite.dtau_star(d[l].f[k]);
        RB_ROLLED
        for (int i = 0; i < S; ++i) {
          RB_ROLLED
          for (int a = 0; a < n; ++a)
            jac[i * n + a][column] =
                lifted && l + 1 == S ? V(0.0) : fma(V(tableau.b[l] - tableau.ah[i][l]), d[l].w[k][a], -back[a]);
          if (i == 0) continue;
          RB_ROLLED
          for (int c = 0; c < m; ++c)
            jac[S * n + (i - 1) * m + c][column] =
                !lifted || c < positions ? V(0.0) : V(tableau.a[i][l]) * dot(d[i].psi_z[c], d[l].f[k]);
          RB_ROLLED
          for (int c = 0; mixed && i + 1 == S && c < positions; ++c)
            jac[closing + c][column] = V(tableau.a[i][l]) * dot(d[i].psi_z[c], d[l].f[k]);
        }
      });
    }
  }

  /// One Newton update of the active lanes, part by part; returns its size, measured in velocities.
  RB_HD_LARGE T update(V h, const Linearisation (&d)[S], const Factors<V, size, Pivoted<Team>>& lu,
                       const Response& response, const Residual& r, mask_t<T> active, Stages& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    T size_of_update(0.0);
    RB_ROLLED
    for (int p = 0; p < coefficients<T>; ++p) {
      const auto add = [&](auto& to, const auto& change, int count) {
        for (int a = 0; a < count; ++a)
          coefficient(to[a], p) = select(active, coefficient(to[a], p) + change[a], coefficient(to[a], p));
      };
      Vector<V, size> b;
      RB_ROLLED
      for (int i = 0; i < S; ++i) {
        RB_ROLLED
        for (int a = 0; a < n; ++a) b[i * n + a] = -coefficient(r.momentum[i][a], p);
        RB_ROLLED
        for (int k = 0; i > 0 && k < m; ++k) {
          V row = coefficient(r.constraint[i][k], p);
          if constexpr (lifted)
            for (int a = 0; k >= positions && a < n; ++a)
              row = fma(d[i].psi_z[k][a], coefficient(r.node[i][a], p), row);
          b[S * n + (i - 1) * m + k] = -row;
        }
        RB_ROLLED
        for (int k = 0; mixed && i + 1 == S && k < positions; ++k) {
          V row = coefficient(r.closing[k], p);
          for (int a = 0; a < n; ++a) row = fma(d[i].psi_z[k][a], coefficient(r.node[i][a], p), row);
          b[closing + k] = -row;
        }
      }
      b = lu.solve(b);
      V size_of_part =
          sum(b) - sum(b);  // 0; NaN, which stays the larger, where the step is no number: that is no convergence
      Vector<V, n> dvelocity[S], dhf[S];
      RB_ROLLED
      for (int i = 0; i < S; ++i)
        for (int a = 0; a < n; ++a) dvelocity[i][a] = b[i * n + a];
      RB_ROLLED
      for (int i = 0; i < S; ++i) {
        add(x.velocity[i], dvelocity[i], n);
        size_of_part = larger(size_of_part, magnitude(dvelocity[i]));
        if constexpr (lifted) {
          Vector<V, n> dxi = Vector<V, n>::zero();
          RB_ROLLED
          for (int j = 0; i > 0 && j < S; ++j) dxi = fma(h * V(tableau.a[i][j]), dvelocity[j], dxi);
          dhf[i] = d[i].hf_velocity * dvelocity[i];
          if (i > 0) dhf[i] = dhf[i] + d[i].hf_xi * dxi;
        }
        if constexpr (m > 0) {
          if (!mixed && (i < first || i >= first + S - 1)) continue;
          Vector<V, m> dmultiplier;
          RB_ROLLED
          for (int k = 0; k < m; ++k) {
            const int place =
                mixed ? positions + (i - 1) * m + k : (i - first) * m + k;  // in stage 0 its end is at `positions`
            dmultiplier[k] = mixed && i == 0 ? (k < positions ? b[S * n + k] : V(0.0)) : b[S * n + place];
          }
          add(x.multiplier[i], dmultiplier, m);
          size_of_part = larger(size_of_part, magnitude(response * transpose_times(d[i].w, dmultiplier)));
          if constexpr (lifted) dhf[i] = dhf[i] + transpose_times(d[i].f, dmultiplier);
        }
      }
      if constexpr (lifted) {
        RB_ROLLED
        for (int i = 1; i < S; ++i) {
          Vector<V, n> dz;
          RB_ROLLED
          for (int a = 0; a < n; ++a) dz[a] = coefficient(r.node[i][a], p);
          RB_ROLLED
          for (int j = 0; j < S; ++j) dz = fma(V(tableau.a[i][j]), dhf[j], dz);
          add(x.z[i], dz, n);
          size_of_part = larger(size_of_part, magnitude(response * dz));
        }
      }
      coefficient(size_of_update, p) = size_of_part;
    }
    return size_of_update;
  }

  Equations equations_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
