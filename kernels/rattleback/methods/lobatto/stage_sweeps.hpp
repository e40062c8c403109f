#pragma once
// The Lobatto pairs for L = v.M(q)v/2 + A(q).v - U(q) and for any regular L on R^n (equations: lobatto/general.hpp).

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/hessian.hpp"
#include "rattleback/mechanics/lagrangian_at.hpp"
#include "rattleback/methods/lobatto/equations.hpp"
#include "rattleback/methods/lobatto/stage_pattern.hpp"
#include "rattleback/methods/solve/iteration.hpp"
#include "rattleback/tableaus/lobatto.hpp"

RB_NAMESPACE_BEGIN

/// Quasi-Newton sweeps. Unknowns are V_1..V_s and the multipliers l_i = h Lambda_i, of stages 2..s with velocity constraints and
/// 1..s-1 with holonomic ones and for SPARK. With w_j = h f_j + C_j^T l_j the residuals are
///
///   r_i = p_i - p - sum_{j<s} ah_ij w_j    (i = 1..s),    c_i = C_i M_i^-1 (p + sum_j a_ij w_j - A_i) + d_i,  g(Q_i)/h
///                                                 or  sum_j a_ij (C_j V_j + d_j)  for SPARK   (i = 2..s).
///
/// P is the part of order zero in h of the Jacobian J, with the M_i and C_i of the stages, and E the part of first order of J - P:
/// with y_i = h sum_j a_ij x_j for the velocities x_i,
///
///   (E x)_i   = B_i y_i - h sum_{j<s} ah_ij B_j^T x_j,
///   (E x)_c,i = C_i M_i^-1 (h sum_j a_ij B_j^T x_j - B_i y_i) + d(C_i V_i + d)/dq y_i       (0 with holonomic constraints,
///               sum_j a_ij d(C_j V_j + d)/dq y_j for SPARK).
///
/// Where L is stated as a whole, M and B are L_vv and L_vq at (Q_i, V_i), and M_i^-1 (p - A_i) is the velocity that has the momentum p.
/// Where the constraint Phi(q, v) is nonlinear in v, C is Phi_v, c_i is Phi at that velocity, and h B_j^T has l_j . Phi_vv added.
/// An applied force belongs to f_j, and its derivative by v to B_j^T. A holonomic constraint turns its forces with q: where D^2g has
/// few entries, (E x)_i has the part -sum_{j<s} ah_ij S y_j of second order as well, with S = sum_k l_k D^2g_k at the node.
///
/// A sweep subtracts x - P^-1 E x with x = P^-1 (r, c), so that it contracts like h^2. The matrices are those of the guess. Where M is
/// constant and the constraint is holonomic, it is mostly these matrices that limit the contraction. For up to three coordinates the
/// second sweep renews them, because three sweeps are then enough in place of four (bench/results/steps/first-guesses.md); with more
/// coordinates they cost more than the sweep that they save.
///
/// The test of convergence is that of velocities: multipliers of inner stages carry rounding errors of the size eps/h^2, which do not
/// reach the state. Lanes that do not contract are left unsolved.
template <class T, class System, int S, bool spark = false>
class StageSweeps {
  static constexpr int n = System::n, m = System::m, coupled = (S - 1) * m;
  static constexpr bool holonomic = is_holonomic<System>, nonholonomic = m > 0 && !holonomic;
  /// All multipliers are new, that of the last stage enters p' alone, and the constraint at the end determines it.
  static constexpr bool all_new = holonomic || spark;
  /// The unknown multipliers are those of the stages first..first + s - 2, counted from 0.
  static constexpr int first = all_new ? 0 : 1;
  static constexpr bool nonlinear = nonholonomic && !AffineConstraint<System>;  // C = Phi_v depends on v
  static constexpr bool turns_forces = detail::has_sparse_hessian<System>(),
                        applies_force = detail::has_applied_force<System>(),
                        drags = detail::has_force_of_velocity<System>();
  static constexpr int sweeps_with_own_matrices = holonomic && ConstantInertia<System> && n <= 3 ? 2 : 1;
  /// Where loops stay loops, rows M^-1 C^T of a holonomic constraint, which only the factors of the multipliers need, are not kept.
  static constexpr bool keeps_response = RB_UNROLLS != 0 || !holonomic;
  using Lagrangian = LagrangianAt<System, T>;
  using MassInverse = typename Lagrangian::MassInverse;
  using Forms = FormsOfSweeps<System>;
  using Pattern = detail::QuadraticPattern<System>;
  using Entries = detail::StagePattern<System>;
  /// fp32 from nine multipliers on, where the factors take many registers; the error costs no sweep. Fewer are faster in fp64 on a CPU.
  using MultiplierPolicy = Guide<typename Entries::Multipliers>;
  using MultiplierFactors =
      Factors<T, coupled,
              std::conditional_t<(coupled > 8 && coefficients<T> == 1), InSingle<MultiplierPolicy>, MultiplierPolicy>>;
  using Unknowns = StageUnknowns<T, n, m, S, first>;
  using Balance = LobattoBalance<T, n, S, true, 1, Entries>;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = many_registers && ((S == 3 && n <= 3) || (S == 4 && n <= 2 && m > 0));

  RB_HD StageSweeps(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    Vector<T, n> q[S - 1];
    return step(state, h, q);
  }
  /// The step; q gets Q_2..Q_s.
  RB_HD StepReport<T> step(State& state, T h, Vector<T, n> (&q)[S - 1]) const {
    Lagrangian node(system_, state.q);
    Forms node_forms;
    node_forms.clear();
    Unknowns x;
    MassInverse inverse[ConstantInertia<System> ? 1 : S];
    Coupling<System, T> coupling[S];
    Forms forms[S];
    Matrix<T, m, n> response[S], rate[S];
    Matrix<T, n, n> bend[S];
    Drag drag;
    Turn turn;
    MultiplierFactors factors;
    Matrices matrices{inverse, coupling, forms, response, rate, bend, drag, turn, factors};
    T rounding;
    Sweeps<T> lanes = guess(state, h, node, node_forms, x, matrices, rounding);
    Stages at;
    RB_UNROLL
    for (int i = 0; i < S; ++i) at.times.keep(i, system_, h * T(lobatto_pair<S>().c[i]));
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      evaluate(state, h, node, node_forms, x, at, matrices, sweep < sweeps_with_own_matrices, lanes);
      if (lanes.wants_residual(sweep, options_)) {
        residual = at.residual.largest();
        lanes.check(residual, rounding);
      }
      if (lanes.ended() || lanes.late(sweep, options_)) break;
      Unknowns update = at.residual;
      solve(matrices, update);
      Unknowns second;
      if constexpr (Entries::has_first_order()) {
        second = first_order(h, matrices, update);
        solve(matrices, second);
      }
      T change(0.0);
      RB_UNROLL
      for (int i = 0; i < S; ++i) {
        change = larger(change, magnitude(update.velocity[i]));
        x.velocity[i] =
            select(lanes.active, x.velocity[i] - less(update.velocity[i], second.velocity[i]), x.velocity[i]);
        if (m == 0 || i < first || i >= first + S - 1) continue;
        if constexpr (nonlinear)  // the last of these does not enter the velocities
          change = larger(change,
                          magnitude(matrices.inverse_of(i) * matrices.forms[i].transpose_times(update.multiplier[i])));
        x.multiplier[i] =
            select(lanes.active, x.multiplier[i] - less(update.multiplier[i], second.multiplier[i]), x.multiplier[i]);
      }
      lanes.settle(sweep, change);
    }

    RB_UNROLL
    for (int i = 1; i < S; ++i) q[i - 1] = at.q[i];
    [[maybe_unused]] const Vector<T, n> start = state.q;
    state.q = q[S - 2];
    state.p = at.balance.z(state.p, S - 1);
    Vector<T, m> impulse{};
    if constexpr (m > 0) impulse = put_on_constraint(at, h, x.velocity[S - 1], state, lanes.singular);
    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work_of_stages<S, Cay>(system_, start, h, x, impulse), state);
    return end_step<S, !spark>(lanes, h, impulse, x.multiplier[S - 1], residual, state);
  }

 private:
  /// An update less that of the first order, where there is one.
  template <int size>
  RB_HD static Vector<T, size> less(const Vector<T, size>& update, const Vector<T, size>& second) {
    if constexpr (Entries::has_first_order()) return update - second;
    return update;
  }

  struct Nothing {};
  struct Stages {
    Balance balance;
    Unknowns residual;
    Vector<T, n> q[S];  // but the first
    RB_MAYBE_EMPTY Instants<System, S> times;
    Lagrangian end;  // of the last stage, as is the next
    Forms end_forms;
  };
  /// The system at the time of stage i.
  RB_HD decltype(auto) at_stage(const Stages& at, const T& h, int i) const {
    return at.times.at(i, system_, h * T(lobatto_pair<S>().c[i]));
  }
  using Drag = std::conditional_t<drags, Vector<Matrix<T, n, n>, S>, Nothing>;
  using Turn = std::conditional_t<turns_forces, ConstraintHessian<System, T>, Nothing>;
  /// The matrices that hold for the step. They are variables of their own: a GPU compiler leaves all arrays of a large object in memory,
  /// 17 KB of the top in directors with three stages.
  struct Matrices {
    MassInverse (&inverse)[ConstantInertia<System> ? 1 : S];
    Coupling<System, T> (&coupling)[S];
    Forms (&forms)[S];
    Matrix<T, m, n> (&response)[S];  // rows M_i^-1 C_i^T
    Matrix<T, m, n> (&rate)[S];      // d(C_i V_i + d)/dq, its active columns; with velocity constraints
    Matrix<T, n, n> (&bend)[S];      // l_i . Phi_vv; with nonlinear ones
    Drag& drag;                      // df/dv
    Turn& turn;                      // S
    MultiplierFactors& factors;      // of the equations of the multipliers

    /// M_i^-1.
    RB_HD const MassInverse& inverse_of(int i) const { return inverse[ConstantInertia<System> ? 0 : i]; }
  };

  /// First-order prediction of the stages, with chat_i = sum_j ah_ij,
  ///   V_i = v + h (chat_i M^-1 (f + C^T lambda) - c_i M^-1 B v),  l_i = h lambda.
  RB_HD Sweeps<T> guess(const State& state, T h, Lagrangian& node, Forms& node_forms, Unknowns& x, Matrices& matrices,
                        T& rounding) const {
    constexpr auto tableau = lobatto_pair<S>();
    const MassInverse& inverse = matrices.inverse[0];
    Coupling<System, T> coupling;
    const Vector<T, n> v = node.velocity(state.p, Vector<T, n>::zero());
    node.move(v);
    node.linearise(v, matrices.inverse[0], coupling);
    Vector<T, n> impulse = Vector<T, n>::zero();
    const Vector<T, n> by_motion = inverse * coupling.plus_times(-h, v, Vector<T, n>::zero());
    Vector<T, m> multiplier;
    if constexpr (m > 0) node_forms.set(constraint_forms(system_, state.q, v));
    if constexpr (spark) {
      const Vector<T, n> free = inverse * node.plus_force(h, v, impulse) + by_motion;
      multiplier = impulse_of_state(system_, state.q, v, h, free, node_forms, inverse);
      impulse = node_forms.transpose_times(multiplier);
    } else if constexpr (m > 0) {
      multiplier = h * state.lambda;
      impulse = h * node_forms.transpose_times(state.lambda);
    }
    if constexpr (applies_force) impulse = fma(h, system_.applied_force(state.q, v), impulse);
    const Vector<T, n> by_force = inverse * node.plus_force(h, v, impulse);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      double c_hat = 0.0;
      for (int j = 0; j < S; ++j) c_hat += tableau.ah[i][j];
      x.velocity[i] = fma(T(c_hat), by_force, fma(T(tableau.c[i]), by_motion, v));
      if constexpr (m > 0) x.multiplier[i] = all_new && i + 1 == S ? Vector<T, m>::zero() : multiplier;
    }
    if constexpr (turns_forces) matrices.turn = ConstraintHessian<System, T>(system_, state.q, multiplier);
    T scale = magnitude(v) + magnitude(by_force) + magnitude(by_motion);
    if constexpr (holonomic || timed<System>) scale = scale + rounding_velocity_of_stages<S>(T(1.0) / h, state.q);
    rounding = rounding_of_residuals(scale, state.p);
    Sweeps<T> lanes(options_, scale);
    lanes.singular = inverse.singular();
    return lanes;
  }

  /// The residuals at x; the matrices too where they are to be `set`.
  RB_HD void evaluate(const State& state, T h, const Lagrangian& node, const Forms& node_forms, const Unknowns& x,
                      Stages& at, Matrices& matrices, bool set, Sweeps<T>& lanes) const {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<T, n>(&q)[S] = at.q;
    Lagrangian lagrangian[S];
    Forms forms[S];
    at.balance.begin(state.p, at.residual.velocity);
    RB_UNROLL
    for (int j = 0; j < S; ++j) {
      const auto& system = at_stage(at, h, j);
      if (j == 0) {
        lagrangian[0] = node;
        forms[0] = node_forms;
        if constexpr (nonlinear) forms[0].set(constraint_forms(system_, state.q, x.velocity[0]));
      } else {
        q[j] = fma(h, combination(tableau.a[j], x.velocity), state.q);
        lagrangian[j] = Lagrangian(system, q[j]);
        if constexpr (m > 0) forms[j].set(constraint_forms(system, q[j], x.velocity[j]));
      }
      lagrangian[j].move(x.velocity[j]);
      StageMomenta<T, n> momenta;
      momenta.pi = lagrangian[j].momentum(x.velocity[j]);
      momenta.hf = Vector<T, n>::zero();
      if constexpr (m > 0) momenta.hf = forms[j].transpose_times(x.multiplier[j]);
      if constexpr (applies_force)
        momenta.hf = fma(h, system.applied_force(j == 0 ? state.q : q[j], x.velocity[j]), momenta.hf);
      momenta.hf = lagrangian[j].plus_force(h, x.velocity[j], momenta.hf);
      at.balance.add(j, momenta, at.residual.velocity);
    }
    at.balance.close(state.p, at.residual.velocity);
    if constexpr (spark) {
      Vector<T, m> phi[S];
      RB_UNROLL
      for (int j = 0; j < S; ++j) {
        phi[j] = forms[j] * x.velocity[j];
        if constexpr (has_constraint_offset<System>)
          phi[j] = phi[j] + constraint_offset(at_stage(at, h, j), j == 0 ? state.q : q[j]);
      }
      RB_UNROLL
      for (int i = 1; i < S; ++i) at.residual.multiplier[i - 1] = combination(tableau.a[i], phi);
    } else if constexpr (m > 0) {
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        Vector<T, m>& r = at.residual.multiplier[first + i - 1];
        const auto& system = at_stage(at, h, i);
        if constexpr (holonomic) {
          r = (T(1.0) / h) * system.position_constraint(q[i]);
        } else {
          const Vector<T, n> v = lagrangian[i].velocity(at.balance.z(state.p, i), x.velocity[i]);
          if constexpr (nonlinear) {
            r = constraint(system, q[i], v);
          } else {
            r = forms[i] * v;
            if constexpr (has_constraint_offset<System>) r = r + constraint_offset(system, q[i]);
          }
        }
      }
    }
    if (set) {
      RB_UNROLL
      for (int i = 0; i < S; ++i) {
        const auto& system = at_stage(at, h, i);
        if constexpr (drags) matrices.drag[i] = force_by_velocity(system, i == 0 ? state.q : q[i], x.velocity[i]);
        if constexpr (!ConstantInertia<System>) {
          MassInverse& inverse = matrices.inverse[i];
          const MassInverse of_node = inverse;
          lagrangian[i].linearise(x.velocity[i], inverse, matrices.coupling[i]);
          if (i == 0 && !LagrangianAlone<System>) inverse = of_node;  // M depends on q alone
          if (i > 0) lanes.note_singular(inverse.singular());
        } else if constexpr (Entries::has_coupling()) {
          matrices.coupling[i] = lagrangian[i].coupling(x.velocity[i]);
        }
        if constexpr (m > 0) {
          matrices.forms[i] = forms[i];
          RB_UNROLL
          for (int k = 0; keeps_response && k < m; ++k)
            matrices.response[i][k] = matrices.inverse_of(i) * forms[i].row(k);
          if constexpr (nonholonomic)
            if (i > 0) matrices.rate[i] = constraint_rate(system, q[i], x.velocity[i]);
          if constexpr (nonlinear)
            matrices.bend[i] = constraint_bend(system, i == 0 ? state.q : q[i], x.velocity[i], x.multiplier[i]);
        }
      }
      if constexpr (m > 0) lanes.note_singular(factorise_multipliers(matrices));
    }
    at.end = lagrangian[S - 1];
    at.end_forms = forms[S - 1];
  }

  /// S_ij = a_ij C_i M_i^-1 C_j^T, sum_k a_ik ah_kj C_i M_k^-1 C_j^T with holonomic constraints, or sum_k a_ik ah_kj C_k M_k^-1 C_j^T
  /// for SPARK; i = 2..s.
  RB_HD mask_t<T> factorise_multipliers(Matrices& matrices) const {
    constexpr auto tableau = lobatto_pair<S>();
    RB_UNROLL
    for (int column = 0; spark && column < coupled; ++column) {
      const int l = column / m;
      Vector<T, m> gram[S];
      RB_UNROLL
      for (int j = 0; j < S; ++j) {
        RB_UNROLL
        for (int k = 0; k < m; ++k)
          gram[j][k] = T(tableau.ah[j][l]) * dot(matrices.response[j][k], matrices.forms[l].row(column % m));
      }
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        const Vector<T, m> entries = combination(tableau.a[i], gram);
        RB_UNROLL
        for (int k = 0; k < m; ++k)
          if (Entries::Multipliers::entry(k, column)) matrices.factors.set((i - 1) * m + k, column, entries[k]);
      }
    }
    RB_UNROLL
    for (int i = 1; !spark && i < S; ++i) {
      RB_UNROLL
      for (int l = first; l < first + S - 1; ++l) {
        detail::for_constants<m>([&](auto c) RB_INLINED {
          Vector<T, n> response;
          if constexpr (ConstantInertia<System> && holonomic) {
            double a_ah = 0.0;
            for (int k = 0; k < S; ++k) a_ah += tableau.a[i][k] * tableau.ah[k][l];
            if constexpr (keeps_response) {
              response = T(a_ah) * matrices.response[l][c];
            } else {
              response = T(a_ah) * (matrices.inverse_of(l) * matrices.forms[l].row(c));
            }
          } else if constexpr (holonomic) {
            response = T(tableau.a[i][0] * tableau.ah[0][l]) * (matrices.inverse[0] * matrices.forms[l].row(c));
            RB_UNROLL
            for (int k = 1; k < S; ++k)
              response = fma(T(tableau.a[i][k] * tableau.ah[k][l]), matrices.inverse_of(k) * matrices.forms[l].row(c),
                             response);
          } else {
            response = T(tableau.a[i][l]) * (matrices.inverse_of(i) * matrices.forms[l].row(c));
          }
          detail::for_entries<m, typename Entries::Multipliers>(c, [&](auto k) RB_INLINED {
            matrices.factors.set((i - 1) * m + k, (l - first) * m + c, matrices.forms[i].row_times(k, response));
          });
        });
      }
    }
    return matrices.factors.factorise();
  }

  /// x becomes P^-1 x.
  RB_HD void solve(const Matrices& matrices, Unknowns& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    if constexpr (holonomic) {
      RB_UNROLL
      for (int i = 0; i < S; ++i) x.velocity[i] = matrices.inverse_of(i) * x.velocity[i];
    }
    if constexpr (m > 0) {
      Vector<T, coupled> right;
      Vector<T, m> free[S];  // C_j M_j^-1 x_j
      RB_UNROLL
      for (int j = 0; spark && j < S; ++j) {
        RB_UNROLL
        for (int k = 0; k < m; ++k) free[j][k] = dot(matrices.response[j][k], x.velocity[j]);
      }
      RB_UNROLL
      for (int i = 1; i < S; ++i) {
        Vector<T, m> row = x.multiplier[first + i - 1];
        if constexpr (holonomic) {
          row = row - matrices.forms[i] * combination(tableau.a[i], x.velocity);
        } else if constexpr (spark) {
          row = row - combination(tableau.a[i], free);
        }
        RB_UNROLL
        for (int k = 0; k < m; ++k) right[(i - 1) * m + k] = row[k];
      }
      right = matrices.factors.solve(right);
      RB_UNROLL
      for (int l = first; l < first + S - 1; ++l) {
        RB_UNROLL
        for (int k = 0; k < m; ++k) x.multiplier[l][k] = right[(l - first) * m + k];
      }
    }
    auto first_push = Vector<T, n>::zero();
    if constexpr (all_new)
      first_push = T(tableau.b[0]) * matrices.forms[0].transpose_times(x.multiplier[0]);  // ah_i1 = b_1
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      Vector<T, n> push = holonomic ? first_push : spark ? x.velocity[i] + first_push : x.velocity[i];
      if constexpr (m > 0) {
        RB_UNROLL
        for (int l = 1; l + 1 < S; ++l)
          push = fma(T(tableau.ah[i][l]), matrices.forms[l].transpose_times(x.multiplier[l]), push);
      }
      if constexpr (holonomic) {
        x.velocity[i] = x.velocity[i] + matrices.inverse_of(i) * push;
      } else {
        x.velocity[i] = matrices.inverse_of(i) * push;
      }
    }
  }

  /// E x.
  RB_HD Unknowns first_order(T h, const Matrices& matrices, const Unknowns& x) const {
    constexpr auto tableau = lobatto_pair<S>();
    Unknowns r;
    Vector<T, n> y[S], back[S];    // h sum_k a_jk x_k, and what E adds to w_j
    Vector<T, m> turned_forms[S];  // d(C_j V_j + d)/dq y_j; of SPARK
    RB_UNROLL
    for (int j = 0; j < S; ++j) {
      y[j] = back[j] = Vector<T, n>::zero();
      RB_UNROLL
      for (int k = 0; j > 0 && k < S; ++k) y[j] = fma(h * T(tableau.a[j][k]), x.velocity[k], y[j]);
      if constexpr (turns_forces)
        if (j > 0) back[j] = matrices.turn * y[j];
      if constexpr (nonlinear) back[j] = matrices.bend[j] * x.velocity[j];
      if constexpr (drags) back[j] = fma(h, matrices.drag[j] * x.velocity[j], back[j]);
      back[j] = matrices.coupling[j].plus_transpose_times(h, x.velocity[j], back[j]);
      turned_forms[j] = Vector<T, m>::zero();
      if constexpr (spark)
        if (j > 0) turned_forms[j] = plus_rate<System>(matrices.rate[j], y[j], turned_forms[j]);
    }
    const Vector<T, n> first_back =
        Entries::plus_coupled(T(-tableau.b[0]), back[0], Vector<T, n>::zero());  // ah_i1 = b_1
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      Vector<T, n> turned = Vector<T, n>::zero();
      if (i > 0) turned = matrices.coupling[i].plus_times(T(1.0), y[i], turned);
      r.velocity[i] = i > 0 ? turned + first_back : first_back;
      RB_UNROLL
      for (int j = 1; j + 1 < S; ++j)
        r.velocity[i] = Entries::plus_coupled(T(-tableau.ah[i][j]), back[j], r.velocity[i]);
      if constexpr (m > 0) {
        if (i == 0) continue;
        Vector<T, m>& c = r.multiplier[first + i - 1];
        c = Vector<T, m>::zero();
        if constexpr (spark) {
          c = combination(tableau.a[i], turned_forms);
        } else if constexpr (nonholonomic) {
          Vector<T, n> pushed = -turned;
          RB_UNROLL
          for (int j = 0; j < S; ++j) pushed = Entries::plus_coupled(T(tableau.a[i][j]), back[j], pushed);
          RB_UNROLL
          for (int k = 0; k < m; ++k) c[k] = dot(matrices.response[i][k], pushed);
          c = plus_rate<System>(matrices.rate[i], y[i], c);
        }
      }
    }
    return r;
  }

  /// Puts the momentum of a state on the constraint; returns the impulse. `near` is about the velocity.
  RB_HD Vector<T, m> put_on_constraint(Stages& at, const T& h, const Vector<T, n>& near, State& state,
                                       mask_t<T>& singular) const {
    const auto& system = at_stage(at, h, S - 1);
    if constexpr (nonlinear) {
      return rattleback::put_on_constraint(system, state.q, state.p, singular);
    } else {
      return rattleback::put_on_constraint(system, at.end, at.end_forms, state.q, near, state.p, singular);
    }
  }

  System system_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
