#pragma once
// The equations of the Lobatto IIIA-IIIB integrators for any regular Lagrangian on a Lie group, with constraints on velocities and on
// positions, with generalized forces and explicit time
// (D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical systems, sections
// 5 and 6, eqs. (26), (27); on R^n, where tau is the identity map, eqs. (9), (13), (14)).
//
// A step works in the chart g tau(Xi) at its initial configuration g. With Xi_i = h sum_j a_ij H_j, xi = Xi_s, t_i = t + c_i h, and the
// stage's
//
//   G_i = g tau(Xi_i),  eta_i = dtau_{Xi_i} H_i,  p_i = dl/deta(t_i, G_i, eta_i),
//   F_i = (dl/dg + f)(t_i, G_i, eta_i) + C_i^T Lambda_i,
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
//   velocity constraints:   Phi(t_i, G_i, eta(t_i, G_i, mubar_i)) = 0, i = 2..s,   Lambda_1 = lambda,  lambda' = Lambda_s
//   holonomic constraints:  phi(t_i, G_i) = 0, i = 2..s,                           (Dphi eta + phi_t)(t', g', mu') = 0
//   SPARK, on R^n:          sum_j a_ij Phi(t_j, Q_j, V_j) = 0, i = 2..s,           Phi(t', q', v') = 0 (nonholonomic/spark.hpp)
//
// With both kinds the first two rows hold together; Lambda_s then enters the condition of the velocity constraint at the end, and is an
// unknown. With a holonomic constraint on R^n and two stages it is RATTLE; the last multipliers are kept as the guess of the next step.

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/lobatto/on_constraint.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// The equations of a step of `system` over S stages, which are at the time of the step's beginning and after.
///
/// Unknowns: H_1..H_s and multipliers: h Lambda_2..h Lambda_s where the constraint is on velocities; where it is holonomic, and with
/// SPARK, h Lambda_1..h Lambda_{s-1}, for Lambda_s enters mu' alone and follows from the constraint there; with both kinds all but the
/// h Lambda_1 of the velocity constraints. With velocity constraints the momenta z_2..z_s at the nodes are unknowns too, eliminated from the
/// linear systems: constraints nonlinear in v converge from farther away (J. Albersmeyer, M. Diehl, The lifted Newton method and its
/// application in optimization, SIAM J. Optim. 20 (2010) 1655).
template <class T, class System, class Tau, int S, bool spark>
struct LobattoEquations {
  using G = group_of<System>;
  static constexpr int n = System::n, m = System::m, N = element_size<System>;
  static constexpr int positions = position_count<System>;  // the first of the m constraints
  static constexpr bool mixed = is_mixed<System>, all_new = is_holonomic<System> || spark;
  static constexpr bool lifted = m > 0 && !all_new;  // z_i are unknowns
  static constexpr int size = S * n + (S - 1) * m + (mixed ? positions : 0);
  /// Multipliers that are unknown: those of the stages first..first + s - 2, and with both kinds of constraints the first of stage 0.
  static constexpr int first = all_new ? 0 : 1;
  static_assert(!(mixed && spark));
  using Response = InverseMass<System, coefficient_t<T>>;  // sets the size of multipliers, in velocities
  using State = StateOf<T, System>;
  using V = coefficient_t<T>;
  using D = Dual<V, 1>;  // T itself where T is dual

  System system;

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
    Vector<T, n> back;                         // mu + h sum_{j<s} b_j Ad*_{tau(Xi_j)^-1} F_j
    Vector<T, n> momentum[S];                  // dtau_{Xi_i}^T p_i + h sum_j (b_j - ah_ij) W_j - dtau_{-xi}^T back
    Vector<T, n> node[S];                      // z_i by (27) minus the unknown z_i
    Vector<T, m> constraint[S];                // phi(G_i)/h, Phi(G_i, eta(G_i, mubar_i)), or sum_j a_ij Phi(Q_j, V_j)
    Vector<T, mixed ? positions : 0> closing;  // Dphi eta + phi_t at the end, with both kinds
    T norm;
  };

  /// A state without its derivatives.
  RB_HD static State values_of(const State& state) {
    return {constant<T>(state.q), constant<T>(state.p), constant<T>(state.lambda)};
  }
  /// The system at the time of stage i.
  RB_HD decltype(auto) at_stage(const T& h, int i) const { return after(system, h * T(lobatto_pair<S>().c[i])); }

  /// What stage i contributes at xi.
  template <class R>
  RB_HD_LARGE Stage<R> stage(const State& state, T h, int i, const Vector<R, n>& xi, const Vector<R, n>& velocity,
                             const Vector<T, m>& multiplier) const {
    const Chart<G, Tau, R> chart(xi);
    const auto& at = at_stage(h, i);
    const Vector<R, n> eta = chart.dtau(velocity);
    Stage<R> r;
    r.g = chart.move(lift<R>(state.q));
    const Vector<R, n> p = momentum(at, r.g, eta);
    Vector<R, n> hf = R(h) * configuration_force(at, r.g, eta);
    if constexpr (m > 0) hf = hf + transpose_times(constraint_forms(at, r.g, eta), lift<R>(multiplier));
    r.pi = chart.dtau_star(p);
    r.hw = i + 1 == S ? Vector<R, n>::zero() : chart.dtau_star(hf);
    if constexpr (on_group<System>) r.hw = fma(R(h), chart.gradient(p, velocity), r.hw);
    r.hf = chart.Ad_inverse_star(hf);
    return r;
  }
  /// Phi(G_i, eta(G_i, Ad*_tau z)) at g tau(xi); with both kinds of constraints the hidden constraint comes first.
  template <class R>
  RB_HD_LARGE Vector<R, m> node_constraint(const State& state, const T& h, int i, const Vector<R, n>& xi,
                                           const Vector<R, n>& z) const {
    const Chart<G, Tau, R> chart(xi);
    const auto& at = at_stage(h, i);
    const Vector<R, N> g = chart.move(lift<R>(state.q));
    return rattleback::constraint(at, g, velocity(at, g, chart.Ad_star(z)));
  }
  /// Phi(Q_i, V), Q_i in the chart.
  template <class R>
  RB_HD_LARGE Vector<R, m> stage_constraint(const State& state, const T& h, int i, const Vector<R, n>& xi,
                                            const Vector<R, n>& v) const {
    return rattleback::constraint(at_stage(h, i), Chart<G, Tau, R>(xi).move(lift<R>(state.q)), v);
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
      xi[i].partial[0] = coefficient(eta[i], 0);
    }
    Vector<T, m> multiplier{};
    if constexpr (m > 0 && !spark) multiplier = h * state.lambda;
    const Stage<D> at = stage<D>(values_of(state), h, 0, xi, constant<D>(eta), constant<T>(multiplier));
    Vector<V, n> w, along;
    RB_ROLLED
    for (int i = 0; i < n; ++i) {
      w[i] = at.hw[i].value;
      along[i] = coefficient(h, 0) * at.pi[i].partial[0];
    }
    Vector<T, n> by_force = constant<T>(response * w), by_motion = constant<T>(response * along),
                 impulse = constant<T>(at.hf);
    if constexpr (spark) {
      const Vector<T, n> q = constant<T>(state.q), v = constant<T>(eta);
      const ConstraintForms<System> forms(system, q);
      multiplier =
          constant<T>(impulse_of_state(system, q, v, T(coefficient(h, 0)), by_force - by_motion, forms, response));
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
    return positions > 0 ? speed + rounding_velocity_of_stages<S>(T(1.0) / h, state.q) : speed;
  }

  RB_HD_LARGE void evaluate(const State& state, T h, const Stages& x, Residual& r) const {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<T, n> hw[S], hf[S];
    RB_ROLLED
    for (int i = 0; i < S; ++i) {
      Vector<T, n> sum = Vector<T, n>::zero();
      RB_ROLLED
      for (int j = 0; j < S; ++j) sum = fma(T(tableau.a[i][j]), x.velocity[j], sum);
      r.xi[i] = h * sum;
      const Stage<T> at = stage<T>(state, h, i, r.xi[i], x.velocity[i], x.multiplier[i]);
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
    for (int j = 0; spark && j < S; ++j) phi[j] = stage_constraint<T>(state, h, j, r.xi[j], x.velocity[j]);
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
      if constexpr (mixed) {
        const auto g = (T(1.0) / h) * at_stage(h, i).position_constraint(r.g[i]);
        const Vector<T, m> phi_i = node_constraint<T>(state, h, i, r.xi[i], x.z[i]);
        r.constraint[i] = join(g, segment<positions, m - positions>(phi_i));
        r.closing = segment<0, positions>(phi_i);  // the last stage stays
        r.node[i] = r.z[i] - x.z[i];
        r.norm = max(r.norm, max_norm(r.node[i]));
      } else if constexpr (is_holonomic<System>) {
        r.constraint[i] = (T(1.0) / h) * at_stage(h, i).position_constraint(r.g[i]);
      } else if constexpr (spark) {
        r.constraint[i] = Vector<T, m>::zero();
        RB_ROLLED
        for (int j = 0; j < S; ++j) r.constraint[i] = fma(T(tableau.a[i][j]), phi[j], r.constraint[i]);
      } else if constexpr (m > 0) {
        r.constraint[i] = node_constraint<T>(state, h, i, r.xi[i], x.z[i]);
        r.node[i] = r.z[i] - x.z[i];
        r.norm = max(r.norm, max_norm(r.node[i]));
      }
      r.norm = max(r.norm, max_norm(r.constraint[i]));
    }
    if constexpr (mixed) r.norm = max(r.norm, max_norm(r.closing));
  }
};

RB_NAMESPACE_END
