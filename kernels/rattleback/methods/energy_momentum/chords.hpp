#pragma once
// The energy-momentum schemes where L = v.M(q)v/2 + A(q).v - U(q), or any regular L.

#include "rattleback/methods/energy_momentum/equations.hpp"
#include "rattleback/methods/ggl/chord_equations.hpp"

RB_NAMESPACE_BEGIN

/// Chords with the matrices of the theta family for theta = 1/2 and constraint A (ChordEquations), from the guess: difference
/// quotients differ from derivatives at the midpoint x by O(h^2). With (p + p')/2 = L_v(x, v) the residual of q' is -e_u, that
/// of p' is -2 e, and the hidden constraint at the end of the step has the derivative 2 G' M'^-1 M dv + h T(v') du up to O(h^2).
/// Where M is constant and gamma is absent only the guess is wrong by O(h^2), and the second sweep renews the matrices: three sweeps
/// in place of five. Lanes that do not contract are left unsolved.
template <class T, class System, GglScheme scheme>
class EnergyMomentumChords {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;
  using Equations = EnergyMomentumEquations<T, System, scheme>;
  using Lagrangian = LagrangianAt<System, T>;
  using MassInverse = typename Lagrangian::MassInverse;
  using Chord = ChordEquations<T, System, scheme>;
  static constexpr bool renews = ConstantInertia<System> && !Traits::has_gamma;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = many_registers && n <= 2;

  RB_HD EnergyMomentumChords(const System& system, const SolverOptions<T>& options)
      : system_(system), options_(options) {}

  template <class Keep>
  RB_HD StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const Equations equations(system_, state, h);
    Vector<T, m> l = -(h * state.lambda), gamma = Vector<T, m>::zero();
    Chord chord;
    chord.reach = chord.rest = T(0.5) * h;
    T scale;
    Vector<T, n> u =
        options_.guess *
        chord.guess(system_, state, h, T(0.5) * transpose_times(position_jacobian(system_, state.q), l), scale);
    const auto& middle = after(system_, T(0.5) * h);
    const Vector<T, n> x = fma(T(0.5) * h, u, state.q);
    Lagrangian at(middle, x);
    at.move(u);
    Vector<T, n> p_1 = T(2.0) * at.momentum(u) - state.p;
    set(chord, h, x, at, u, fma(h, u, state.q), l);
    const Matrix<T, n, n> mass = at.mass();

    Sweeps<T> lanes(options_, scale);
    const T rounding = rounding_of_residuals(scale, state.p);
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      const auto r = equations(u, p_1, l, gamma);
      if (lanes.wants_residual(sweep, options_)) {
        residual = max(max(max_norm(r.drift), max_norm(r.kick)), max_norm(r.position));
        if constexpr (Traits::has_gamma) residual = max(residual, max_norm(r.hidden));
        lanes.check(residual, rounding);
      }
      if (lanes.ended() || lanes.late(sweep, options_)) break;
      if constexpr (renews) {
        if (sweep == 1) {
          const Vector<T, n> x_1 = fma(T(0.5) * h, u, state.q);
          Lagrangian at_middle(middle, x_1);
          at_middle.move(u);
          set(chord, h, x_1, at_middle, u, fma(h, u, state.q), l);
        }
      }
      const auto d = chord(T(-0.5) * r.kick, -r.drift, r.hidden, r.position);
      const Vector<T, n> dp = chord.coupling.plus_times(h, d.u, T(2.0) * (mass * d.v));
      u = select(lanes.active, u + d.u, u);
      p_1 = select(lanes.active, p_1 + dp, p_1);
      l = select(lanes.active, l + d.l, l);
      gamma = select(lanes.active, gamma + d.gamma, gamma);
      lanes.settle(sweep, larger(magnitude(d.v), magnitude(d.u)), 0.1);  // energy adds up what is left
    }

    if constexpr (timed<System>)
      if (options_.measures_work) add_work(equations(u, p_1, l, gamma).work, state);
    const Vector<T, n> q_1 = fma(h, u, state.q);
    auto v_1 = Vector<T, n>::zero();
    if (keep.wanted()) v_1 = velocity(after(system_, h), q_1, p_1);
    return end_of_step<scheme>(state, h, q_1, p_1, l, gamma, v_1,
                               {lanes.converged(), mask_t<T>(false), lanes.iterations, residual}, keep);
  }

 private:
  /// The matrices at the midpoint x and at the end q_1 of a step with the velocity v.
  RB_HD void set(Chord& chord, T h, const Vector<T, n>& x, Lagrangian& at, const Vector<T, n>& v,
                 const Vector<T, n>& q_1, const Vector<T, m>& l) const {
    const auto& middle = after(system_, T(0.5) * h);
    const auto& end = after(system_, h);
    MassInverse mass_inverse, end_inverse;
    at.linearise(v, mass_inverse, chord.coupling);
    const Matrix<T, n, n> mass = at.mass();
    chord.inverse = typename Chord::Inverse(
        ConstraintHessian<System, T>(middle, x, l).added_to(chord.inertia(middle, x, v, mass), T(0.25) * h));
    Coupling<System, T> end_coupling;
    Lagrangian(end, q_1).linearise(v, end_inverse, end_coupling);
    const Matrix<T, m, n> g = position_jacobian(middle, x);
    chord.position = position_jacobian(end, q_1);
    chord.t = hidden_constraint_by_position(middle, x, v);
    const Matrix<T, m, n> t_1 = hidden_constraint_by_position(end, q_1, v);
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      chord.c[k] = T(0.5) * g[k];
      chord.g_response[k] = mass_inverse * g[k];
      chord.hidden_v[k] = T(2.0) * (mass * (end_inverse * chord.position[k]));
      chord.hidden_u[k] = h * t_1[k];
    }
    chord.set();
  }

  System system_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
