#pragma once
// Lobatto IIIA-IIIB integrators for any regular Lagrangian on a Lie group, with velocity constraints, holonomic ones or none
// (D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical systems, sections
// 5 and 6, eqs. (26), (27); on R^n, where tau is the identity map, eqs. (9), (13), (14)).
//
// A step works in the chart g tau(Xi) at its initial configuration g. With Xi_i = h sum_j a_ij H_j, xi = Xi_s, and the stage's
//
//   G_i = g tau(Xi_i),  eta_i = dtau_{Xi_i} H_i,  p_i = dl/deta(G_i, eta_i),  F_i = dl/dg(G_i, eta_i) + C_i^T Lambda_i,
//
// C = Phi_eta or Dphi, momenta are carried back to the frame of g, where forces simply add up:
//
//   z_i = mu + h sum_j a_ij Ad*_{tau(Xi_j)^-1} F_j,   mubar_i = Ad*_{tau(Xi_i)} z_i,   mu' = mubar_s            (27)
// and the discrete Euler-Lagrange equations of the stages are (26), multiplied by dtau_xi^T so that nothing is inverted,
//   dtau_{Xi_i}^T p_i + h sum_j (b_j - ah_ij) W_j = dtau_xi^T mu' = dtau_{-xi}^T z_s                           i = 1..s
//   W_j = dtau_{Xi_j}^T F_j + grad_Xi <p_j, dtau_Xi H_j>.
//
// F_s has the same share, h b_s dtau_xi^T F_s, of both sides and is left out: the multiplier Lambda_s does not enter them.
//
//   velocity constraints:   Phi(G_i, eta(G_i, mubar_i)) = 0, i = 2..s,   Lambda_1 = lambda,  lambda' = Lambda_s
//   holonomic constraints:  phi(G_i) = 0, i = 2..s,                      Dphi(g') eta(g', mu') = 0
//   SPARK, on R^n:          sum_j a_ij Phi(Q_j, V_j) = 0, i = 2..s,      Phi(q', v') = 0 (methods/nonholonomic/spark.hpp)
//
// With a holonomic constraint on R^n and two stages it is RATTLE; the last multipliers are kept as the guess of the next step.

#include "rattleback/lie/fold.hpp"
#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/linalg/lu.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/lobatto/on_constraint.hpp"
#include "rattleback/methods/solve/iteration.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// Unknowns: H_1..H_s and (s-1) m multipliers: h Lambda_2..h Lambda_s where the constraint is on velocities; where it is
/// holonomic, and with SPARK, h Lambda_1..h Lambda_{s-1}, for Lambda_s enters mu' alone and follows from the constraint there. Simplified
/// Newton: the Jacobian, from dual numbers, is refreshed every `refresh_interval` iterations; lanes that have not
/// converged after `simplified_iterations` start again with a full Newton iteration. With velocity constraints the
/// momenta z_2..z_s at the nodes are unknowns too, eliminated from the linear systems: constraints nonlinear in v
/// converge from farther away (J. Albersmeyer, M. Diehl, The lifted Newton method and its application in optimization,
/// SIAM J. Optim. 20 (2010) 1655).
///
/// The Jacobian is put together from derivatives of single stages. Derivatives of the whole residual, column by column, would be
/// less code and take 1.2, 1.4 and 3.2 times as long for two, three and five stages (heavy top; scalar).
///
/// Over dual numbers (tangent maps) the Jacobian is that of the values, and each part of the residual is solved for by
/// itself: the derivatives obey the linearised equations, for which the same iteration is a linear one.
///
/// With `tile`, the lanes of a GPU tile solve one trajectory together. Without it, the object is the fallback of a faster step that
/// runs on a single thread, and nothing is shared.
template <class T, class System, class Tau, int S, bool tile = false, bool spark = false>
class GeneralLobatto {
  using G = group_of<System>;
  static constexpr int n = System::n, m = System::m, N = element_size<System>;
  static constexpr bool holonomic = is_holonomic<System>, all_new = holonomic || spark;
  static constexpr bool lifted = m > 0 && !all_new;  // z_i are unknowns
  static constexpr int size = S * n + (S - 1) * m;
  /// Multipliers that are unknown: those of the stages first..first + s - 2.
  static constexpr int first = all_new ? 0 : 1;
  static constexpr int refresh_interval = 3, simplified_iterations = 12;
  using Response = ResponseOfState<T, System>;  // sets the size of multipliers, in velocities
  using V = part_t<T>;
  using D = Dual<V, 1>;  // T itself where T is dual

  struct Stages {
    Vector<T, n> velocity[S];    // H_i
    Vector<T, m> multiplier[S];  // h Lambda_i; those that are not unknown stay as they are
    Vector<T, n> z[S];           // z_i, i > 0; with velocity constraints

    /// Takes over another's values in the lanes of the mask.
    RB_HD_LARGE void assign(const mask_t<T>& mask, const Stages& other) {
      RB_ROLLED
      for (int i = 0; i < S; ++i) {
        velocity[i] = select(mask, other.velocity[i], velocity[i]);
        multiplier[i] = select(mask, other.multiplier[i], multiplier[i]);
        if constexpr (lifted) z[i] = select(mask, other.z[i], z[i]);
      }
    }
  };
  /// What a stage contributes, R being T or a dual number over it.
  template <class R>
  struct Stage {
    Vector<R, N> g;
    Vector<R, n> pi, hw, hf;  // dtau_{Xi_i}^T p_i, h W_i (without F_s), h Ad*_{tau(Xi_i)^-1} F_i
  };
  struct Residual {
    Vector<T, n> xi[S], z[S];
    Vector<T, N> g[S];
    Vector<T, n> back;           // mu + h sum_{j<s} b_j Ad*_{tau(Xi_j)^-1} F_j
    Vector<T, n> momentum[S];    // dtau_{Xi_i}^T p_i + h sum_j (b_j - ah_ij) W_j - dtau_{-xi}^T back
    Vector<T, n> node[S];        // z_i by (27) minus the unknown z_i
    Vector<T, m> constraint[S];  // Phi(G_i, eta(G_i, mubar_i)), phi(G_i)/h, or sum_j a_ij Phi(Q_j, V_j)
    T norm;
  };
  struct Linearisation {
    Matrix<V, n, n> pi_xi, pi_velocity, hw_xi, hw_velocity, hf_xi, hf_velocity;
    Matrix<V, m, n> w, f;           // rows: dtau_{Xi_i}^T and Ad*_{tau(Xi_i)^-1} of the constraint's forms
    Matrix<V, m, n> psi_xi, psi_z;  // of Phi(G_i, eta(G_i, mubar_i)) by z_i; by V_i with SPARK
  };
  template <class Lanes>
  struct WorkspaceOf {
    struct Jacobian {
      Linearisation stage[S];
      Lu<V, size, Lanes> lu;
    } jacobian;
    Residual residual;
  };

 public:
  using Team = FittingTile<WorkspaceOf, tile ? tile_lanes(size) : 1>;
  using Workspace = WorkspaceOf<Team>;
  using State = StateOf<T, System>;

  RB_HD GeneralLobatto(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  /// Out of line: the loops that call it share its long code.
  RB_NOINLINE StepReport<T> operator()(State& state, T h) const {
    const Vector<T, n> eta = velocity(system_, state.q, state.p);
    const Response response(system_, state.q, eta);
    Stages x;
    T scale = guess(state, eta, response, h, x);

    const State values = values_of(state);
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
        guess(state, eta, response, h, start);
        x.assign(lanes.active, start);
        evaluate(state, h, x, r);
        lanes.convergence = Convergence<T>(options_, scale);
      }
      if (iteration % refresh_interval == 0 || iteration > simplified_iterations) {
        RB_ROLLED
        for (int i = 0; i < S; ++i) linearise(values, h, x, r, i, jacobian.stage[i]);
        fill(part(h, 0), r, jacobian.stage, jacobian.lu.matrix());
        jacobian.lu.factorise();
        lanes.singular = (lanes.active & jacobian.lu.singular()) | (lanes.converged() & lanes.singular);
      }
      const T change = update(part(h, 0), jacobian.stage, jacobian.lu, response, r, lanes.active, x);
      if constexpr (parts<T> == 2)
        if (iteration == 0) {  // the derivative of the guess says little: its size shows now
          part(scale, 1) = part(scale, 1) + part(change, 1);
          lanes.convergence = Convergence<T>(options_, scale);
        }
      lanes.settle(change);
    }

    state.q = r.g[S - 1];
    state.p = Chart<G, Tau, T>(r.xi[S - 1]).Ad_star(r.z[S - 1]);
    Vector<T, m> impulse;
    if constexpr (m > 0) impulse = impulse_to_constraint(system_, state.q, state.p, lanes.singular);
    StepReport<T> report = end_step<S, !spark>(lanes, h, impulse, x.multiplier[S - 1], r.norm, state);
    if constexpr (on_group<System>) {  // within a tenth of the fold iterations already fail
      const auto folded = (!(report.status == T(0.0))) & beyond_fold<G, Tau>(h * eta, S, 0.9);
      report.status = select(folded, T(double(status_fold)), report.status);
    }
    return report;
  }

 private:
  /// A state without its derivatives.
  RB_HD static State values_of(const State& state) {
    return {constant<T>(state.q), constant<T>(state.p), constant<T>(state.lambda)};
  }

  template <class R>
  RB_HD_LARGE Stage<R> stage(const State& state, T h, const Vector<R, n>& xi, const Vector<R, n>& velocity,
                             const Vector<T, m>& multiplier, bool last) const {
    const Chart<G, Tau, R> chart(xi);
    const Vector<R, n> eta = chart.dtau(velocity);
    Stage<R> r;
    r.g = chart.move(lift<R>(state.q));
    const Vector<R, n> p = momentum(system_, r.g, eta);
    Vector<R, n> hf = R(h) * configuration_force(system_, r.g, eta);
    if constexpr (m > 0) hf = hf + transpose_times(constraint_forms(system_, r.g, eta), lift<R>(multiplier));
    r.pi = chart.dtau_star(p);
    r.hw = last ? Vector<R, n>::zero() : chart.dtau_star(hf);
    if constexpr (on_group<System>) r.hw = fma(R(h), chart.gradient(p, velocity), r.hw);
    r.hf = chart.Ad_inverse_star(hf);
    return r;
  }
  /// Phi(G, eta(G, Ad*_tau z)) at g tau(xi).
  template <class R>
  RB_HD_LARGE Vector<R, m> node_constraint(const State& state, const Vector<R, n>& xi, const Vector<R, n>& z) const {
    const Chart<G, Tau, R> chart(xi);
    const Vector<R, N> g = chart.move(lift<R>(state.q));
    return constraint(system_, g, velocity(system_, g, chart.Ad_star(z)));
  }

  /// Phi(Q, V), Q in the chart.
  template <class R>
  RB_HD_LARGE Vector<R, m> stage_constraint(const State& state, const Vector<R, n>& xi, const Vector<R, n>& v) const {
    return rattleback::constraint(system_, Chart<G, Tau, R>(xi).move(lift<R>(state.q)), v);
  }

  /// First-order prediction of the stages: in the chart Pi' = W and, at Xi = 0, H = eta. Returns the size of the
  /// velocities. The derivatives of a tangent map start without those of the forces.
  /// Where constraints are holonomic, the rounding of positions shows in velocities divided by h and times the
  /// condition of the system, below 100: near rest, that is what an iteration can reach.
  RB_HD_LARGE T guess(const State& state, const Vector<T, n>& eta, const Response& response, T h, Stages& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<D, n> xi;
    RB_ROLLED
    for (int i = 0; i < n; ++i) {
      xi[i].value = V(0.0);
      xi[i].partial[0] = part(eta[i], 0);
    }
    Vector<T, m> multiplier{};
    if constexpr (m > 0 && !spark) multiplier = h * state.lambda;
    const Stage<D> at = stage<D>(values_of(state), h, xi, constant<D>(eta), constant<T>(multiplier), false);
    Vector<V, n> w, along;
    RB_ROLLED
    for (int i = 0; i < n; ++i) {
      w[i] = at.hw[i].value;
      along[i] = part(h, 0) * at.pi[i].partial[0];
    }
    Vector<T, n> by_force = constant<T>(response(w)), by_motion = constant<T>(response(along)),
                 impulse = constant<T>(at.hf);
    if constexpr (spark) {
      const Vector<T, n> q = constant<T>(state.q), v = constant<T>(eta);
      const ConstraintForms<System> forms(system_, q);
      multiplier = constant<T>(impulse_of_state(system_, q, v, T(part(h, 0)), by_force - by_motion, forms, response));
      by_force = by_force + response * forms.transpose_times(multiplier);
    }
    RB_ROLLED
    for (int i = 0; i < S; ++i) {
      T c_hat(0.0);
      RB_ROLLED
      for (int j = 0; j < S; ++j) c_hat = c_hat + T(tableau.ah[i][j]);
      x.velocity[i] = fma(T(-tableau.c[i]), by_motion, fma(c_hat, by_force, eta));
      x.multiplier[i] = all_new && i + 1 == S ? Vector<T, m>::zero() : multiplier;
      if constexpr (lifted) x.z[i] = fma(T(tableau.c[i]), impulse, state.p);
    }
    const T speed = magnitude(eta) + magnitude(by_force) + magnitude(by_motion);
    return holonomic ? speed + rounding_velocity_of_stages<S>(T(1.0) / h, state.q) : speed;
  }

  RB_HD_LARGE void evaluate(const State& state, T h, const Stages& x, Residual& r) const {
    Team::sync();
    if (Team::leads()) evaluate_alone(state, h, x, r);
    Team::sync();
  }
  RB_HD_LARGE void evaluate_alone(const State& state, T h, const Stages& x, Residual& r) const {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<T, n> hw[S], hf[S];
    RB_ROLLED
    for (int i = 0; i < S; ++i) {
      Vector<T, n> sum = Vector<T, n>::zero();
      RB_ROLLED
      for (int j = 0; j < S; ++j) sum = fma(T(tableau.a[i][j]), x.velocity[j], sum);
      r.xi[i] = h * sum;
      const Stage<T> at = stage<T>(state, h, r.xi[i], x.velocity[i], x.multiplier[i], i + 1 == S);
      r.g[i] = at.g;
      r.momentum[i] = at.pi;
      hw[i] = at.hw;
      hf[i] = at.hf;
    }
    r.back = state.p;
    RB_ROLLED
    for (int j = 0; j + 1 < S; ++j) r.back = fma(T(tableau.b[j]), hf[j], r.back);
    const Vector<T, n> carried = Chart<G, Tau, T>(-r.xi[S - 1]).dtau_star(r.back);
    r.norm = T(0.0);
    Vector<T, m> phi[S];
    RB_ROLLED
    for (int j = 0; spark && j < S; ++j) phi[j] = stage_constraint<T>(state, r.xi[j], x.velocity[j]);
    RB_ROLLED
    for (int i = 0; i < S; ++i) {
      r.momentum[i] = r.momentum[i] - carried;
      r.z[i] = state.p;
      RB_ROLLED
      for (int j = 0; j < S; ++j) {
        r.momentum[i] = fma(T(tableau.b[j] - tableau.ah[i][j]), hw[j], r.momentum[i]);
        r.z[i] = fma(T(tableau.a[i][j]), hf[j], r.z[i]);
      }
      r.norm = max(r.norm, max_norm(r.momentum[i]));
      if (m == 0 || i == 0) continue;
      if constexpr (holonomic) {
        r.constraint[i] = (T(1.0) / h) * system_.position_constraint(r.g[i]);
      } else if constexpr (spark) {
        r.constraint[i] = Vector<T, m>::zero();
        RB_ROLLED
        for (int j = 0; j < S; ++j) r.constraint[i] = fma(T(tableau.a[i][j]), phi[j], r.constraint[i]);
      } else if constexpr (m > 0) {
        r.constraint[i] = node_constraint<T>(state, r.xi[i], x.z[i]);
        r.node[i] = r.z[i] - x.z[i];
        r.norm = max(r.norm, max_norm(r.node[i]));
      }
      r.norm = max(r.norm, max_norm(r.constraint[i]));
    }
  }

  /// Derivatives at stage i, in one direction at a time, which keeps the code small.
  RB_HD_LARGE void linearise(const State& state, T h, const Stages& x, const Residual& r, int i,
                             Linearisation& d) const {
    Team::for_each(i == 0 ? n : 0, 2 * n, [&](int direction) {  // Xi_1 = 0 does not move
      Vector<D, n> xi = constant<D>(r.xi[i]), velocity = constant<D>(x.velocity[i]),
                   z = constant<D>(lifted ? x.z[i] : r.z[i]);
      const int k = direction % n;
      const bool by_xi = direction < n;
      RB_ROLLED
      for (int j = 0; j < n; ++j) {
        xi[j].partial[0] = V(by_xi && j == k ? 1.0 : 0.0);
        velocity[j].partial[0] = z[j].partial[0] = V(!by_xi && j == k ? 1.0 : 0.0);
      }
      const Stage<D> at = stage<D>(state, h, xi, velocity, constant<T>(x.multiplier[i]), i + 1 == S);
      RB_ROLLED
      for (int j = 0; j < n; ++j) {
        (by_xi ? d.pi_xi : d.pi_velocity)[j][k] = at.pi[j].partial[0];
        (by_xi ? d.hw_xi : d.hw_velocity)[j][k] = at.hw[j].partial[0];
        (by_xi ? d.hf_xi : d.hf_velocity)[j][k] = at.hf[j].partial[0];
      }
      if constexpr (m > 0 && !holonomic) {
        Vector<D, m> psi;
        if constexpr (spark) {
          psi = stage_constraint<D>(state, xi, velocity);
        } else {
          psi = node_constraint<D>(state, xi, z);
        }
        RB_ROLLED
        for (int j = 0; j < m; ++j) (by_xi ? d.psi_xi : d.psi_z)[j][k] = psi[j].partial[0];
      }
    });
    if constexpr (m > 0) {
      const Chart<G, Tau, T> chart(constant<T>(r.xi[i]));
      const auto forms = constraint_forms(system_, constant<T>(r.g[i]), chart.dtau(constant<T>(x.velocity[i])));
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
        const auto carried = Chart<G, Tau, D>(-xi).dtau_star(constant<D>(r.back));
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
          entry = holonomic ? V(tableau.a[i][l]) * d[i].w[k][b]  // phi(g tau(Xi)) has the derivative dtau^T Dphi
                  : spark   ? V(tableau.a[i][0]) * psi[0][k]
                            : fma(ha, d[i].psi_xi[k][b], dot(d[i].psi_z[k], sum_f));
          RB_ROLLED
          for (int j = 1; spark && j < S; ++j) entry = fma(V(tableau.a[i][j]), psi[j][k], entry);
        }
      }
    });
    if constexpr (m > 0) {
      Team::for_each(0, (S - 1) * m, [&](int multiplier) {
        const int l = first + multiplier / m, k = multiplier % m, column = S * n + multiplier;
        const Vector<V, n> back = V(tableau.b[l]) * opposite.dtau_star(d[l].f[k]);
        RB_ROLLED
        for (int i = 0; i < S; ++i) {
          RB_ROLLED
          for (int a = 0; a < n; ++a)
            jac[i * n + a][column] =
                first > 0 && l + 1 == S ? V(0.0) : fma(V(tableau.b[l] - tableau.ah[i][l]), d[l].w[k][a], -back[a]);
          if (i == 0) continue;
          RB_ROLLED
          for (int c = 0; c < m; ++c)
            jac[S * n + (i - 1) * m + c][column] =
                all_new ? V(0.0) : V(tableau.a[i][l]) * dot(d[i].psi_z[c], d[l].f[k]);
        }
      });
    }
  }

  /// One Newton update of the active lanes, part by part; returns its size, measured in velocities.
  RB_HD_LARGE T update(V h, const Linearisation (&d)[S], const Lu<V, size, Team>& lu, const Response& response,
                       const Residual& r, mask_t<T> active, Stages& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    T size_of_update(0.0);
    RB_ROLLED
    for (int p = 0; p < parts<T>; ++p) {
      const auto add = [&](auto& to, const auto& change, int count) {
        for (int a = 0; a < count; ++a) part(to[a], p) = select(active, part(to[a], p) + change[a], part(to[a], p));
      };
      Vector<V, size> b;
      RB_ROLLED
      for (int i = 0; i < S; ++i) {
        RB_ROLLED
        for (int a = 0; a < n; ++a) b[i * n + a] = -part(r.momentum[i][a], p);
        RB_ROLLED
        for (int k = 0; i > 0 && k < m; ++k) {
          V row = part(r.constraint[i][k], p);
          if constexpr (lifted)
            for (int a = 0; a < n; ++a) row = fma(d[i].psi_z[k][a], part(r.node[i][a], p), row);
          b[S * n + (i - 1) * m + k] = -row;
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
          if (i < first || i >= first + S - 1) continue;
          Vector<V, m> dmultiplier;
          RB_ROLLED
          for (int k = 0; k < m; ++k) dmultiplier[k] = b[S * n + (i - first) * m + k];
          add(x.multiplier[i], dmultiplier, m);
          size_of_part = larger(size_of_part, magnitude(response(transpose_times(d[i].w, dmultiplier))));
          if constexpr (lifted) dhf[i] = dhf[i] + transpose_times(d[i].f, dmultiplier);
        }
      }
      if constexpr (lifted) {
        RB_ROLLED
        for (int i = 1; i < S; ++i) {
          Vector<V, n> dz;
          RB_ROLLED
          for (int a = 0; a < n; ++a) dz[a] = part(r.node[i][a], p);
          RB_ROLLED
          for (int j = 0; j < S; ++j) dz = fma(V(tableau.a[i][j]), dhf[j], dz);
          add(x.z[i], dz, n);
          size_of_part = larger(size_of_part, magnitude(response(dz)));
        }
      }
      part(size_of_update, p) = size_of_part;
    }
    return size_of_update;
  }

  System system_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
