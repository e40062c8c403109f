#pragma once
// Chords for the theta family and the energy-momentum schemes, for systems with the structure `Blocks`.

#include "rattleback/methods/ggl/condensed_equations.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// Solves CondensedEquations with matrices that are made anew in each sweep, in code without loops. The columns of gamma leave out
/// D^2 g(gamma), because gamma vanishes in the continuous equations. In units of a mass mu the updates solve
///
///   A du + G_l^T y_l + (c S(v)^T - G(x)^T) y_gamma + sum_a t_a f_a = kick/mu,     y_l = share dl/mu,   y_gamma = dgamma/mu,
///   (G_h + d S(v_h)) du - G_h M^-1 G(x)^T y_gamma = -r_hidden,    G_p du = -r_position,    D pi_a du - t_a = 0,
///
/// where S(v) has the rows D^2 g_k v, and t_a f_a is the term of rank 1 that belongs to pi_a. Elimination of du by A^-1 leaves equations of
/// y and t, whose zeros are known: constraints that share no coordinates do not meet. A potential with terms couples the groups of
/// coordinates, and A is factorised then. Without terms A is M + E with E = e D^2 g(l), of the size of (h omega)^2/4 for a rotation with the
/// rate omega: M stands for A, which keeps the zeros, and one more solution with the same factors takes E into account.
///
/// Lanes that do not contract are left unsolved.
template <class T, class System, GglScheme scheme>
class CondensedChords : public NumbersOfScheme<scheme> {
  static constexpr int n = System::n, m = System::m, k = System::block, N = n / k, terms = System::terms;
  using Traits = GglTraits<scheme>;
  static constexpr int multipliers = Traits::has_gamma ? 2 * m : m, reduced = multipliers + terms,
                       first_position = multipliers - m;
  static constexpr bool factorised = terms > 0, turns = Traits::has_gamma && Traits::variational,
                        bends = turns || !Traits::forces_at_ends;
  using Equations = CondensedEquations<T, System, scheme>;
  using Values = typename Equations::Values;
  using Algebra = detail::BlockAlgebra<T, System>;
  using Forms = typename Algebra::Forms;

  // known zeros
  struct RowEntry {
    constexpr bool operator()(int i, int c) const {
      if (i >= multipliers) return true;
      if constexpr (requires { System::constraint_entry(0, 0); }) return System::constraint_entry(i % m, c);
      return true;
    }
  };
  struct ResponseEntry {
    constexpr bool operator()(int i, int c) const {
      for (int d = c % k; factorised && d < n; d += k)
        if (RowEntry{}(i, d)) return true;
      return RowEntry{}(i, c);
    }
  };
  struct Meet {
    constexpr bool operator()(int i, int j) const {
      for (int c = 0; c < n; ++c)
        if (RowEntry{}(i, c) && ResponseEntry{}(j, c)) return true;
      return i == j;
    }
  };
  RB_HD static constexpr bool row_entry(int i, int c) { return detail::looked_up<reduced, n, RowEntry>(i, c); }
  RB_HD static constexpr bool response_entry(int i, int c) {
    return detail::looked_up<reduced, n, ResponseEntry>(i, c);
  }

 public:
  /// The matrix that is left.
  struct Pattern {
    RB_HD static constexpr bool entry(int i, int j) { return detail::looked_up<reduced, reduced, Meet>(i, j); }
  };
  using State = PhaseState<T, n, m>;
  using Scalar = T;
  using MechanicalSystem = System;

  RB_HD CondensedChords(const System& system, const SolverOptions<T>& options, const GglNumbers& numbers)
    requires(!Traits::discrete_gradient)
      : CondensedChords(system, options, numbers.theta, numbers.vartheta) {}
  RB_HD CondensedChords(const System& system, const SolverOptions<T>& options)
    requires(Traits::discrete_gradient)
      : CondensedChords(system, options, 0.5, 0.5) {}

  template <class Keep>
  RB_HD StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const typename Algebra::Forms g_0 = Algebra::forms(system_, state.q);
    const Equations equations(system_, algebra_, state, h, theta_, vartheta_, g_0);
    const auto& family = equations.family;
    const Vector<T, n> acceleration = Algebra::scale(algebra_.inverse_mass, force(system_, state.q));
    const T scale = detail::velocity_scale(h, state.q, equations.v_0, acceleration);
    Values r;
    r.l = -(h * state.lambda);
    r.gamma = Vector<T, m>::zero();
    const Vector<T, n> pull = Algebra::scale(algebra_.inverse_mass, g_0.transpose_times(r.l));
    r.u = options_.guess * (fma(family.rest(), acceleration, equations.v_0) - family.share() * pull);

    Sweeps<T> lanes(options_, scale);
    const T rounding = rounding_of_residuals(scale, equations.v_0);
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      equations.evaluate(r);
      if (lanes.wants_residual(sweep, options_)) {
        residual = equations.norm(r);
        lanes.check(residual, rounding);
      }
      if (lanes.ended() || lanes.late(sweep, options_)) break;
      const Update d = update(equations, r);
      r.u = select(lanes.active, r.u + d.u, r.u);
      r.l = select(lanes.active, r.l + d.l, r.l);
      if constexpr (Traits::has_gamma) r.gamma = select(lanes.active, r.gamma + d.gamma, r.gamma);
      const T change = larger(magnitude(d.u), magnitude(d.v));
      // for large steps the equations have further solutions, which an iteration that begins without contraction may find
      if (sweep == 1) lanes.refuse(!(change <= max(T(0.25) * lanes.first_change, T(1e-11) * scale)));
      lanes.settle(sweep, change, Traits::forces_at_ends ? 1.0 : 0.1);
    }
    const mask_t<T> solved = lanes.converged() & (magnitude(r.u - r.v) <= T(0.5) * scale);
    return end_of_step<scheme>(state, h, r.q_1, equations.momentum_at_end(r), r.l, r.gamma,
                               Traits::discrete_gradient ? r.v_1 : r.v,
                               {solved, mask_t<T>(false), lanes.iterations, residual}, keep);
  }

 private:
  struct Update {
    Vector<T, n> u, v;
    Vector<T, m> l, gamma;
  };
  /// The equations of y and t: rows, and the responses of du to the unknowns.
  struct Condensed {
    Matrix<T, reduced, n> rows, responses;
    Factors<T, reduced, Eliminated<Pattern>> factors;

    /// What du makes of the left sides.
    RB_HD Vector<T, reduced> of(const Vector<T, n>& du) const {
      Vector<T, reduced> r;
      RB_UNROLL
      for (int i = 0; i < reduced; ++i) r[i] = row_times(i, rows[i], du);
      return r;
    }
    /// Changes du by what the unknowns y add.
    RB_HD void respond(const Vector<T, reduced>& y, Vector<T, n>& du) const {
      RB_UNROLL
      for (int j = 0; j < reduced; ++j) {
        RB_UNROLL
        for (int c = 0; c < n; ++c)
          if (response_entry(j, c)) du[c] = fma(-y[j], responses[j][c], du[c]);
      }
    }
  };

  RB_HD CondensedChords(const System& system, const SolverOptions<T>& options, double theta, double vartheta)
      : system_(system), algebra_(system), options_(options), theta_(theta), vartheta_(vartheta) {
    inverse_unit_ = algebra_.inverse_mass[0];
    unit_of_l_ = algebra_.mass[0] / (T(1.0) - (Traits::forces_at_ends ? vartheta_ : theta_));
    RB_UNROLL
    for (int b = 0; b < N; ++b) {
      inertia_[b] = algebra_.mass[b] * inverse_unit_;
      inverse_inertia_[b] = algebra_.inverse_mass[b] * algebra_.mass[0];
    }
  }

  RB_HD static T row_times(int i, const Vector<T, n>& row, const Vector<T, n>& x) {
    T r(0.0);
    bool first = true;
    RB_UNROLL
    for (int c = 0; c < n; ++c) {
      if (!row_entry(i, c)) continue;
      r = first ? row[c] * x[c] : fma(row[c], x[c], r);
      first = false;
    }
    return r;
  }
  RB_HD Update update(const Equations& equations, const Values& r) const {
    const auto& family = equations.family;
    const T reach = family.reach(), rest = family.rest();
    Condensed c;
    const Forms &g_x = r.g_x, &g_position = Traits::position_at_end ? r.g_1 : r.g_x,
                &g_hidden = Traits::discrete_gradient ? r.g_1 : r.g_x;
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      c.rows[first_position + i] = g_position.mu[i];
      c.responses[i] = equations.along_l(r).mu[i];
    }
    if constexpr (Traits::has_gamma) {
      const Forms second = Algebra::second_forms(system_, r.v);
      Forms second_hidden = second;
      if constexpr (Traits::discrete_gradient) second_hidden = Algebra::second_forms(system_, r.v_1);
      const T by_position = Traits::discrete_gradient ? T(0.5) * family.h : reach;
      RB_UNROLL
      for (int i = 0; i < m; ++i) {
        RB_UNROLL
        for (int j = 0; j < n; ++j) {
          if (!row_entry(i, j)) continue;
          c.rows[i][j] = fma(by_position, second_hidden.mu[i][j], g_hidden.mu[i][j]);
          c.responses[m + i][j] = Traits::variational ? fma(rest, second.mu[i][j], -g_x.mu[i][j]) : -g_x.mu[i][j];
        }
      }
    }
    const typename Algebra::BlockMatrix bend = bend_of(family, r);  // E
    Factors<T, N, Definite<>> inverse;
    if constexpr (factorised) {
      Vector<T, terms> first, second;
      equations.potential_slopes(r, first, second);
      auto a = system_.potential_invariants_hessian((rest * reach * inverse_unit_) * first);
      RB_UNROLL
      for (int b = 0; b < N; ++b) {
        a[b] = a[b] + bend[b];
        a[b][b] = a[b][b] + inertia_[b];
      }
      inverse = Factors<T, N, Definite<>>(a);
      const Matrix<T, terms, n> columns = system_.potential_invariants_jacobian(r.x);
      Matrix<T, terms, n> rows = columns;
      if constexpr (Traits::discrete_gradient) rows = system_.potential_invariants_jacobian(r.q_1);
      const Vector<T, terms> weight = (rest * (Traits::discrete_gradient ? family.h : reach) * inverse_unit_) * second;
      RB_UNROLL
      for (int t = 0; t < terms; ++t) {
        c.rows[multipliers + t] = rows[t];
        c.responses[multipliers + t] = weight[t] * columns[t];
      }
    }
    const auto solved = [&](const Vector<T, n>& x) {
      if constexpr (factorised) {
        return Algebra::solve(inverse, x);
      } else {
        return Algebra::scale(inverse_inertia_, x);
      }
    };
    RB_UNROLL
    for (int j = 0; j < reduced; ++j) c.responses[j] = solved(filled(j, c.responses[j]));
    RB_UNROLL
    for (int j = 0; j < reduced; ++j) {
      Vector<T, n> turned = Vector<T, n>::zero();  // M^-1 G(x)^T
      if (Traits::has_gamma && j >= m && j < multipliers)
        turned = Algebra::scale(inverse_inertia_, filled(j, g_x.mu[j % m]));
      RB_UNROLL
      for (int i = 0; i < reduced; ++i) {
        if (!Pattern::entry(i, j)) continue;
        T entry = -row_times(i, c.rows[i], c.responses[j]);
        if (Traits::has_gamma && i < m && j >= m && j < multipliers)
          entry = entry - row_times(i, g_hidden.mu[i % m], turned);
        if (i >= multipliers && i == j) entry = entry - T(1.0);
        c.factors.matrix()[i][j] = entry;
      }
    }
    c.factors.factorise();

    Vector<T, n> du = solved(inverse_unit_ * r.left.kick);
    Vector<T, reduced> right = c.of(du);
    const T position_factor(Traits::position_at_end ? 1.0 : 2.0);  // 1/theta
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      right[first_position + i] = right[first_position + i] + position_factor * r.left.position[i];
      if constexpr (Traits::has_gamma)
        right[i] = right[i] + (Traits::discrete_gradient ? T(0.5) * r.left.hidden[i] : r.left.hidden[i]);
    }
    Vector<T, reduced> y = c.factors.solve(-right);
    c.respond(y, du);
    if constexpr (!factorised && bends) {
      Vector<T, n> left = Algebra::times(bend, du);
      Vector<T, m> hidden;
      if constexpr (turns) {
        const auto curvature = system_.constraint_hessian(inverse_unit_ * r.gamma);
        const Vector<T, n> w = Algebra::scale(inverse_inertia_, g_x.transpose_times(segment<m, m>(y)));
        left = fma(-rest, Algebra::times(curvature, w), left);
        hidden = g_hidden * (reach * Algebra::scale(inverse_inertia_, Algebra::times(curvature, du)));
      }
      Vector<T, n> bent = solved(-left);
      right = c.of(bent);
      if constexpr (turns) {
        RB_UNROLL
        for (int i = 0; i < m; ++i) right[i] = right[i] - hidden[i];
      }
      const Vector<T, reduced> more = c.factors.solve(-right);
      c.respond(more, bent);
      du = du + bent;
      y = y + more;
    }

    Update d;
    d.u = du;
    d.l = unit_of_l_ * segment<0, m>(y);
    d.v = d.u;
    if constexpr (Traits::has_gamma) {
      const Vector<T, m> gamma = segment<m, m>(y);
      d.gamma = algebra_.mass[0] * gamma;
      d.v = du - Algebra::scale(inverse_inertia_, g_x.transpose_times(gamma));
    }
    return d;
  }

  /// What A has of constraints.
  RB_HD typename Algebra::BlockMatrix bend_of(const ThetaEquations<T, System, scheme>& family, const Values& r) const {
    if constexpr (!bends) return Algebra::BlockMatrix::zero();
    auto weight = Vector<T, m>::zero();
    if constexpr (!Traits::forces_at_ends) weight = ((T(1.0) - theta_) * family.reach() * inverse_unit_) * r.l;
    if constexpr (turns) weight = fma((family.rest() - family.reach()) * inverse_unit_, r.gamma, weight);
    return system_.constraint_hessian(weight);
  }
  /// A row with its known zeros.
  RB_HD static Vector<T, n> filled(int i, const Vector<T, n>& row) {
    Vector<T, n> r;
    RB_UNROLL
    for (int c = 0; c < n; ++c) r[c] = row_entry(i, c) ? row[c] : T(0.0);
    return r;
  }

  System system_;
  Algebra algebra_;
  SolverOptions<T> options_;
  T theta_, vartheta_, inverse_unit_, unit_of_l_;
  Vector<T, N> inertia_, inverse_inertia_;  // of the groups, in units of the first mass
};

RB_NAMESPACE_END
