#pragma once
// The Lobatto pair with two stages for L = v.M(q)v/2 + A(q).v - U(q) on R^n. Stage 1 sits at the initial configuration and
// both momenta of the stages agree, so that the equations of GeneralLobatto become
//
//   P = p + h/2 (f(q, V_1) + C^T Lambda_1) = p(q, V_1) = p(q', V_2),     q' = q + h/2 (V_1 + V_2),
//   p' = P + h/2 (f(q', V_2) + C'^T Lambda_2)   on the constraint.
//
// Velocity constraints: Lambda_1 is known. Holonomic constraints: Lambda_1 is unknown, and g(q') = 0 (RATTLE). SPARK: it is unknown,
// and C V_1 + d + C' V_2 + d' = 0 (methods/nonholonomic/spark.hpp). The generalized force of a driven system belongs to f; the functions with
// q' are those at the time of the end.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/quadratic.hpp"
#include "rattleback/methods/lobatto/on_constraint.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// Chords with the Jacobians J_1 = M - h/2 (B^T + F) of stage 1, F being the derivative of the generalized force by v, and J_2 = M' + h/2 B' of stage 2, from the guess, whose error is
/// O(h^2). With the residuals e_1 = P - p(q, V_1) and e_2 = p(q, V_1) - p(q', V_2) and y = h/2 Lambda_1, an update is
///
///   c_1 = J_1^-1 e_1,    c_2 = J_2^-1 (e_2 + N c_1),    R_1 = J_1^-1 C^T,    R_2 = J_2^-1 N R_1,    N = M - h/2 B',
///   C' (R_1 + R_2)/2 dy = -g(q')/h - C' (c_1 + c_2)/2   (holonomic constraints),     dV_i = c_i + R_i dy.
///
/// and for SPARK, with the derivative R of C' V_2 + d' by q',
///
///   (C R_1 + C' R_2 + h/2 R (R_1 + R_2)) dy = -(C V_1 + d + C' V_2 + d') - (C c_1 + C' c_2 + h/2 R (c_1 + c_2)).
///
/// With holonomic constraints C' is that of the present iterate. Where M is constant and F = 0 the equation of V_1 is linear in V_1 and y: V_1 = J_1^-1 (p - A - h/2 DU) + R_1 y,
/// and e_1 = 0. Elsewhere the other matrices are those of the first update from the second sweep on: three
/// sweeps in place of four to five (bench/results/steps/first-guesses.md). Lanes that do not contract are left unsolved.
template <class T, class System, bool spark = false>
class TwoStageSweeps {
  static constexpr int n = System::n, m = System::m;
  static constexpr bool holonomic = is_holonomic<System>, varies = detail::QuadraticPattern<System>::varies();
  static constexpr bool applies_force = detail::has_applied_force<System>(),
                        drags = detail::has_force_of_velocity<System>();
  static constexpr bool linear = !varies && !drags;  // the equation of V_1
  static constexpr bool unknown_multiplier = holonomic || spark;
  using Lagrangian = QuadraticLagrangian<System, T>;
  using Forms = ConstraintForms<System>;
  using Pattern = detail::QuadraticPattern<System>;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  static constexpr bool two_packs = n <= 3;  // measured with AVX2 (bench/results/steps/two-packs.md)
  using MechanicalSystem = System;

  RB_HD TwoStageSweeps(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    Vector<T, n> q[1];
    return step(state, h, q);
  }
  /// The step; q gets Q_2.
  RB_HD StepReport<T> step(State& state, T h, Vector<T, n> (&end_q)[1]) const {
    Vector<T, n>& q = end_q[0];
    const T half = T(0.5) * h;
    const Lagrangian at(system_, state.q);
    const auto mass_inverse = at.inverse();
    const Vector<T, n> v = mass_inverse * at.kinetic(state.p);
    const Coupling<System, T> coupling = at.coupling(v);
    Forms forms;
    Vector<T, m> y;
    Vector<T, n> pushed = state.p;  // by the force of the constraint
    if constexpr (m > 0) {
      forms.mu = constraint_forms(system_, state.q, v);
      if constexpr (spark) {
        const Vector<T, n> forced =
            plus_force(system_, at, state.q, h, v, coupling.plus_times(-h, v, Vector<T, n>::zero()));
        y = T(0.5) * impulse_of_state(system_, state.q, v, h, mass_inverse * forced, forms, mass_inverse);
      } else {
        y = half * state.lambda;
      }
      pushed = forms.plus_transpose_times(pushed, y);
    }

    // the guess
    FirstInverse inverse(first_chord(at, coupling, state.q, v, half));
    Matrices chord;
    chord.set_first(inverse, forms);
    Vector<T, n> first;
    if constexpr (linear) {
      first = inverse * at.kinetic(plus_force(system_, at, state.q, half, Vector<T, n>::zero(), pushed));
    } else {
      first = mass_inverse * at.kinetic(plus_force(system_, at, state.q, half, v, pushed));
    }
    Vector<T, n> second = first - inverse * coupling.plus_times(h, first, Vector<T, n>::zero());
    T scale = magnitude(v) + magnitude(first - v);
    if constexpr (holonomic || timed<System>) scale = scale + rounding_velocity(T(1.0) / h, state.q);

    const auto& at_end = after(system_, h);
    Sweeps<T> lanes(options_, scale);
    const T rounding = rounding_of_residuals(scale, state.p);
    lanes.singular = mass_inverse.singular() | inverse.singular();
    Lagrangian end;
    Vector<T, n> p;
    Forms end_forms;
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      q = fma(half, first + second, state.q);
      end = Lagrangian(at_end, q);
      const Vector<T, n> p_first = at.momentum(first);
      Vector<T, n> e_1, e_2 = p_first - end.momentum(second);
      if constexpr (!linear) {
        if constexpr (unknown_multiplier) pushed = forms.plus_transpose_times(state.p, y);
        p = plus_force(system_, at, state.q, half, first, pushed);
        e_1 = p - p_first;
      }
      Vector<T, m> right;
      if constexpr (holonomic) {
        end_forms.mu = constraint_forms(at_end, q, second);
        right = (-(T(1.0) / h)) * at_end.position_constraint(q);
      } else if constexpr (spark) {
        end_forms.mu = constraint_forms(at_end, q, second);
        right = -(forms * first + end_forms * second);
        if constexpr (has_constraint_offset<System>)
          right = right - (constraint_offset(system_, state.q) + constraint_offset(at_end, q));
      }
      if (lanes.wants_residual(sweep, options_)) {
        residual = max_norm(e_2);
        if constexpr (!linear) residual = max(residual, max_norm(e_1));
        if constexpr (unknown_multiplier) residual = max(residual, max_norm(right));
        lanes.check(residual, rounding);
      }
      if (lanes.ended() || lanes.late(sweep, options_)) break;
      if (varies && sweep == 1) {
        inverse = FirstInverse(first_chord(at, at.coupling(first), state.q, first, half));
        lanes.note_singular(inverse.singular());
        chord.set_first(inverse, forms);
      }
      if (sweep == 0 || (varies && sweep == 1)) {
        lanes.note_singular(chord.set_second(at, end, end.coupling(second), half));
        if constexpr (spark)
          lanes.note_singular(chord.set_constraint(forms, end_forms, constraint_rate(at_end, q, second), half));
      }
      Vector<T, n> c_1 = Vector<T, n>::zero();
      if constexpr (!linear) {
        c_1 = inverse * e_1;
        e_2 = e_2 + chord.carried(at, c_1, half);
      }
      Vector<T, n> c_2 = chord.second * e_2;
      if constexpr (holonomic) {
        Matrix<T, m, m> gram;
        RB_UNROLL
        for (int k = 0; k < m; ++k)
          gram.set_column(k, end_forms * (T(0.5) * (chord.response_1[k] + chord.response_2[k])));
        right = right - end_forms * (T(0.5) * (linear ? c_2 : c_1 + c_2));
        lanes.note_singular(solve_once<Definite<>>(gram, right));
      } else if constexpr (spark) {
        right = right - chord.moved(forms, c_1, c_2, half);
        right = chord.multipliers.solve(right);
      }
      if constexpr (unknown_multiplier) {
        RB_UNROLL
        for (int k = 0; k < m; ++k) {
          c_1 = !linear || k > 0 ? fma(right[k], chord.response_1[k], c_1) : right[k] * chord.response_1[k];
          c_2 = fma(right[k], chord.response_2[k], c_2);
        }
        y = select(lanes.active, y + right, y);
      }
      first = select(lanes.active, first + c_1, first);
      second = select(lanes.active, second + c_2, second);
      lanes.settle(sweep, larger(magnitude(c_1), magnitude(c_2)));
    }

    if constexpr (linear) {
      if constexpr (unknown_multiplier) pushed = forms.plus_transpose_times(state.p, y);
      p = plus_force(system_, at, state.q, half, first, pushed);
      residual = max(residual, max_norm(p - at.momentum(first)));
    }
    [[maybe_unused]] const Vector<T, n> start = state.q;
    state.q = q;
    state.p = plus_force(at_end, end, q, half, second, p);
    T check = sum(q);
    Vector<T, m> impulse{};
    if constexpr (m > 0) {
      if constexpr (!unknown_multiplier) end_forms.mu = constraint_forms(at_end, q, second);
      impulse = put_on_constraint(at_end, end, end_forms, q, second, state.p, lanes.singular);
      if constexpr (!spark) state.lambda = (T(2.0) * (T(1.0) / h)) * impulse;
      check = check + sum(spark ? impulse : state.lambda);
    }
    if constexpr (timed<System>)
      if (options_.measures_work) {
        const StageUnknowns<T, n, m, 2, 0> x{{first, second}, {T(2.0) * y, Vector<T, m>::zero()}};
        add_work(work_of_stages<2, Cay>(system_, start, h, x, impulse), state);
      }
    return {step_status<T>(lanes.converged(), lanes.singular, is_finite(check + sum(state.p))), lanes.iterations,
            residual};
  }

 private:
  using FirstPattern = std::conditional_t<drags, FullPattern, detail::ChordPattern<System, true>>;
  using FirstInverse = Factors<T, n, Definite<FirstPattern>>;
  using SecondInverse = Factors<T, n, Definite<detail::ChordPattern<System, false>>>;

  /// y + s f, with the generalized force.
  RB_HD static Vector<T, n> plus_force(const System& system, const Lagrangian& at, const Vector<T, n>& q, const T& s,
                                       const Vector<T, n>& v, Vector<T, n> y) {
    if constexpr (drags) {
      y = fma(s, system.applied_force(q, v), y);
    } else if constexpr (applies_force) {
      y = fma(s, applied_force_at(system, q), y);
    }
    return at.plus_force(s, v, y);
  }
  /// J_1 at the velocity v.
  RB_HD Matrix<T, n, n> first_chord(const Lagrangian& at, const Coupling<System, T>& coupling, const Vector<T, n>& q,
                                    const Vector<T, n>& v, const T& half) const {
    Matrix<T, n, n> chord = at.mass();
    if constexpr (drags) {
      const Matrix<T, n, n> drag = force_by_velocity(system_, q, v);
      RB_UNROLL
      for (int i = 0; i < n; ++i) chord[i] = fma(-half, drag[i], chord[i]);
    }
    return coupling.template added_to<true, drags>(chord, -half);
  }

  /// The matrices of a chord.
  struct Matrices {
    Coupling<System, T> coupling;            // B'
    SecondInverse second;                    // J_2^-1
    Matrix<T, m, n> response_1, response_2;  // R_1^T, R_2^T; where the multiplier is unknown
    Forms end_forms;                         // C' and
    Matrix<T, m, n> rate;                    // its R; of SPARK, as are
    Factors<T, m, Guide<>> multipliers;      // the factors of the matrix of dy

    RB_HD void set_first(const FirstInverse& first, const Forms& forms) {
      if constexpr (!unknown_multiplier) return;
      RB_UNROLL
      for (int k = 0; k < m; ++k) response_1[k] = first * forms.mu[k];
    }
    RB_HD mask_t<T> set_second(const Lagrangian& at, const Lagrangian& end, const Coupling<System, T>& at_end,
                               const T& half) {
      coupling = at_end;
      second = SecondInverse(coupling.template added_to<false>(end.mass(), half));
      RB_UNROLL
      for (int k = 0; unknown_multiplier && k < m; ++k) response_2[k] = second * carried(at, response_1[k], half);
      return second.singular();
    }
    /// The matrix of dy.
    RB_HD mask_t<T> set_constraint(const Forms& forms, const Forms& at_end, const Matrix<T, m, n>& rate_at_end,
                                   const T& half) {
      end_forms = at_end;
      rate = rate_at_end;
      RB_UNROLL
      for (int k = 0; k < m; ++k) multipliers.matrix().set_column(k, moved(forms, response_1[k], response_2[k], half));
      return multipliers.factorise();
    }
    /// C x_1 + C' x_2 + h/2 R (x_1 + x_2).
    RB_HD Vector<T, m> moved(const Forms& forms, const Vector<T, n>& x_1, const Vector<T, n>& x_2,
                             const T& half) const {
      Vector<T, m> r = forms * x_1 + end_forms * x_2;
      RB_UNROLL
      for (int a = 0; a < Pattern::active; ++a) {
        const int i = Pattern::coordinate(a);
        const T y = half * (x_1[i] + x_2[i]);
        RB_UNROLL
        for (int k = 0; k < m; ++k) r[k] = fma(rate[k][i], y, r[k]);
      }
      return r;
    }
    /// N x.
    RB_HD Vector<T, n> carried(const Lagrangian& at, const Vector<T, n>& x, const T& half) const {
      return coupling.plus_times(-half, x, at.mass_times(x));
    }
  };

  System system_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
