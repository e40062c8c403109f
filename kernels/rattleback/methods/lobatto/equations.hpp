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
// F_s has the same share, h b_s dtau_xi^T F_s, of both sides and is left out: the multiplier Lambda_s does not enter them. On R^n, where
// W = F, the left sides less the right ones are p_i - p - h sum_j ah_ij F_j.
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

/// What a stage contributes to the balances of momenta, R being T or a dual number over it.
template <class R, int n>
struct StageMomenta {
  Vector<R, n> pi, hw, hf;  // dtau_{Xi_i}^T p_i, h W_i (without F_s), h Ad*_{tau(Xi_i)^-1} F_i

  /// Stage i of S in a chart, with H_i, p_i and h F_i.
  template <int S, bool linear, class Chart>
  RB_HD static StageMomenta of(int i, const Chart& chart, const R& h, const Vector<R, n>& velocity,
                               const Vector<R, n>& p, const Vector<R, n>& hf) {
    StageMomenta r;
    r.pi = chart.dtau_star(p);
    if constexpr (linear) {
      r.hw = i + 1 == S ? Vector<R, n>::zero() : hf;
    } else {
      r.hw = h * chart.gradient(p, velocity);
      if (i + 1 < S) r.hw = r.hw + chart.dtau_star(hf);
    }
    r.hf = chart.Ad_inverse_star(hf);
    return r;
  }
};

/// Entries of forces, all of which are there.
struct AllForced {
  RB_HD static constexpr bool is_forced(int) { return true; }
};

/// The balances of momenta (26), (27) of a step from the momentum p, to which stages are added one after another; the residuals of (26)
/// go to `residual`. All forms of the step take them from here. On a group the sums grow as the stages come, which keeps few numbers alive, and only the z_i with i >= first_node
/// are there. On R^n, where dtau and Ad are the identity, all follows from the h F_j, of which Forces says which entries are there.
template <class T, int n, int S, bool linear, int first_node = 1, class Forces = AllForced>
struct LobattoBalance {
  using Residuals = Vector<T, n>[S];
  struct Curved {
    Vector<T, n> z[S];
    Vector<T, n> back;  // mu + h sum_{j<s} b_j Ad*_{tau(Xi_j)^-1} F_j
  };
  struct Linear {
    Vector<T, n> hf[S];
  };
  std::conditional_t<linear, Linear, Curved> sums;

  RB_HD void begin(const Vector<T, n>& p, Residuals& residual) {
    if constexpr (!linear) {
      RB_UNROLL
      for (int i = 0; i < S; ++i) {
        residual[i] = Vector<T, n>::zero();
        sums.z[i] = p;
      }
      sums.back = p;
    }
  }
  RB_HD void add(int j, const StageMomenta<T, n>& at, Residuals& residual) {
    constexpr auto tableau = lobatto_pair<S>();
    if constexpr (linear) {
      residual[j] = at.pi;
      sums.hf[j] = at.hf;
    } else {
      residual[j] = residual[j] + at.pi;
      if (j > 0) {  // b_1 = ah_i1
        RB_UNROLL
        for (int i = 0; i < S; ++i) residual[i] = fma(T(tableau.b[j] - tableau.ah[i][j]), at.hw, residual[i]);
      }
      RB_UNROLL
      for (int i = first_node; i < S; ++i) sums.z[i] = fma(T(tableau.a[i][j]), at.hf, sums.z[i]);
      if (j + 1 < S) sums.back = fma(T(tableau.b[j]), at.hf, sums.back);
    }
  }
  /// The residuals are complete after the last stage, whose chart this is on a group.
  template <class... Chart>
  RB_HD void close(const Vector<T, n>& p, Residuals& residual, const Chart&... last) {
    constexpr auto tableau = lobatto_pair<S>();
    if constexpr (linear) {
      const Vector<T, n> first = plus_forces(T(tableau.b[0]), sums.hf[0], p);  // ah_i1 = b_1
      RB_UNROLL
      for (int i = 0; i < S; ++i) {
        residual[i] = residual[i] - first;
        RB_UNROLL
        for (int j = 1; j + 1 < S; ++j) residual[i] = plus_forces(T(-tableau.ah[i][j]), sums.hf[j], residual[i]);
      }
    } else {
      const Vector<T, n> carried = (last.opposite().dtau_star(sums.back), ...);
      RB_UNROLL
      for (int i = 0; i < S; ++i) residual[i] = residual[i] - carried;
    }
  }
  /// z_i.
  RB_HD Vector<T, n> z(const Vector<T, n>& p, int i) const {
    if constexpr (linear) {
      Vector<T, n> z = p;
      RB_UNROLL
      for (int j = 0; j < S; ++j) z = plus_forces(T(lobatto_pair<S>().a[i][j]), sums.hf[j], z);
      return z;
    } else {
      return sums.z[i];
    }
  }

 private:
  /// y + a f for forces f.
  RB_HD static Vector<T, n> plus_forces(const T& a, const Vector<T, n>& f, Vector<T, n> y) {
    RB_UNROLL
    for (int i = 0; i < n; ++i)
      if (Forces::is_forced(i)) y[i] = fma(a, f[i], y[i]);
    return y;
  }
};

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
    StageMomenta<R, n> momenta;
  };
  using Balance = LobattoBalance<T, n, S, !on_group<System>, lifted ? 1 : S - 1>;
  struct Residual {
    Vector<T, n> xi[S];
    Vector<T, N> g[S];
    Balance balance;
    Vector<T, n> momentum[S];                  // the residuals of (26)
    Vector<T, n> node[S];                      // z_i by (27) minus the unknown z_i
    Vector<T, m> constraint[S];                // phi(G_i)/h, Phi(G_i, eta(G_i, mubar_i)), or sum_j a_ij Phi(Q_j, V_j)
    Vector<T, mixed ? positions : 0> closing;  // Dphi eta + phi_t at the end, with both kinds
    T norm;
  };

  /// A state without its derivatives.
  RB_HD static State values_of(const State& state) {
    return {constant<T>(state.q), constant<T>(state.p), constant<T>(state.lambda)};
  }
  /// The equations with a system whose parameters have no derivatives, for those in which T itself is the dual number of a direction.
  RB_HD decltype(auto) without_derivatives() const {
    if constexpr (coefficients<T> == 1) {
      return (*this);
    } else {
      return LobattoEquations{constant_system(system)};
    }
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
    r.momenta = StageMomenta<R, n>::template of<S, !on_group<System>>(i, chart, R(h), velocity, p, hf);
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
    const StageMomenta<D, n> at =
        without_derivatives()
            .template stage<D>(values_of(state), T(coefficient(h, 0)), 0, xi, constant<D>(eta), constant<T>(multiplier))
            .momenta;
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
    return positions > 0 || timed<System> ? speed + rounding_velocity_of_stages<S>(T(1.0) / h, state.q) : speed;
  }

  RB_HD_LARGE void evaluate(const State& state, T h, const Stages& x, Residual& r) const {
    constexpr auto tableau = lobatto_pair<S>();
    r.balance.begin(state.p, r.momentum);
    RB_ROLLED
    for (int i = 0; i < S; ++i) {
      Vector<T, n> sum = Vector<T, n>::zero();
      RB_ROLLED
      for (int j = 0; j < S; ++j) sum = fma(T(tableau.a[i][j]), x.velocity[j], sum);
      r.xi[i] = h * sum;
      const Stage<T> at = stage<T>(state, h, i, r.xi[i], x.velocity[i], x.multiplier[i]);
      r.g[i] = at.g;
      r.balance.add(i, at.momenta, r.momentum);
    }
    r.balance.close(state.p, r.momentum, Chart<G, Tau, T>(r.xi[S - 1]));
    r.norm = T(0.0);
    Vector<T, m> phi[S];
    RB_ROLLED
    for (int j = 0; spark && j < S; ++j) phi[j] = stage_constraint<T>(state, h, j, r.xi[j], x.velocity[j]);
    RB_ROLLED
    for (int i = 0; i < S; ++i) {
      r.norm = max(r.norm, max_norm(r.momentum[i]));
      if (m == 0 || i == 0) continue;
      if constexpr (mixed) {
        const auto g = (T(1.0) / h) * at_stage(h, i).position_constraint(r.g[i]);
        const Vector<T, m> phi_i = node_constraint<T>(state, h, i, r.xi[i], x.z[i]);
        r.constraint[i] = join(g, segment<positions, m - positions>(phi_i));
        r.closing = segment<0, positions>(phi_i);  // the last stage stays
        r.node[i] = r.balance.z(state.p, i) - x.z[i];
        r.norm = max(r.norm, max_norm(r.node[i]));
      } else if constexpr (is_holonomic<System>) {
        r.constraint[i] = (T(1.0) / h) * at_stage(h, i).position_constraint(r.g[i]);
      } else if constexpr (spark) {
        r.constraint[i] = Vector<T, m>::zero();
        RB_ROLLED
        for (int j = 0; j < S; ++j) r.constraint[i] = fma(T(tableau.a[i][j]), phi[j], r.constraint[i]);
      } else if constexpr (m > 0) {
        r.constraint[i] = node_constraint<T>(state, h, i, r.xi[i], x.z[i]);
        r.node[i] = r.balance.z(state.p, i) - x.z[i];
        r.norm = max(r.norm, max_norm(r.node[i]));
      }
      r.norm = max(r.norm, max_norm(r.constraint[i]));
    }
    if constexpr (mixed) r.norm = max(r.norm, max_norm(r.closing));
  }
};

RB_NAMESPACE_END
