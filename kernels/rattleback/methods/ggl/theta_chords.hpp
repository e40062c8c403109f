#pragma once
// The theta family where L = v.M(q)v/2 + A(q).v - U(q), or any regular L, with the symbols of ggl.hpp.

#include "rattleback/methods/ggl/chord_equations.hpp"

RB_NAMESPACE_BEGIN

/// Chords for the equations of the theta family, with w = M(x)^-1 G(x)^T gamma, e_u = v + w - u for what is left of u, and
/// B = T(v)^T gamma - B(x, v)^T w. Lanes that do not contract, or whose matrices are singular, are left unsolved.
template <class T, class System, GglScheme scheme>
class ThetaChords {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;
  using Lagrangian = LagrangianAt<System, T>;
  using MassInverse = typename Lagrangian::MassInverse;
  using Forms = ConstraintForms<System>;
  using Chord = ChordEquations<T, System, scheme>;

 public:
  using Numbers = GglNumbers;
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = many_registers && n <= 2;

  RB_HD ThetaChords(const System& system, const SolverOptions<T>& options, const GglNumbers& numbers)
      : system_(system), options_(options), theta_(numbers.theta), vartheta_(numbers.vartheta) {}

  template <class Keep>
  RB_HD StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const ThetaEquations<T, System, scheme> equations{system_, state, h, theta_, vartheta_};
    const T share = equations.share();
    Chord chord;
    chord.reach = equations.reach();
    chord.rest = equations.rest();
    const auto& at_point = equations.at_point();
    const auto& at_end = after(system_, h);
    const Forms forms_0(position_jacobian(system_, state.q));
    Vector<T, m> l = -(h * state.lambda), gamma = Vector<T, m>::zero();
    T scale;
    Vector<T, n> v = options_.guess * chord.guess(system_, state, h, share * forms_0.transpose_times(l), scale), u = v;

    Sweeps<T> lanes(options_, scale);
    const T rounding = rounding_of_residuals(scale, state.p);
    GglPoint<T, n, m> point;
    Vector<T, n> x, q_1;
    Forms forms, forms_1;
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      x = equations.middle(u);
      Lagrangian at(at_point, x);
      at.move(v);
      MassInverse mass_inverse;
      at.linearise(v, mass_inverse, chord.coupling);
      q_1 = equations.end(u);
      forms = Forms(position_jacobian(at_point, x));
      if constexpr (Traits::forces_at_ends) forms_1 = Forms(position_jacobian(at_end, q_1));
      chord.t = hidden_constraint_by_position(at_point, x, v);
      RB_UNROLL
      for (int k = 0; k < m; ++k) chord.g_response[k] = mass_inverse * forms.mu[k];
      const Vector<T, n> w = transpose_times(chord.g_response, gamma);
      Vector<T, n> beta = chord.coupling.plus_transpose_times(T(1.0), w, -transpose_times(chord.t, gamma));
      if constexpr (detail::has_applied_force<System>()) beta = beta + at_point.applied_force(x, v);
      point = {at.momentum(v), at.plus_force(T(1.0), v, beta), hidden_constraint(at_point, x, v, forms)};
      const Forms& by_l = Traits::forces_at_ends ? forms_0 : forms;
      const Vector<T, n> e_u = v + w - u;
      const auto r = equations(x, q_1, by_l.transpose_times(l), point);
      if (lanes.wants_residual(sweep, options_)) {
        residual = max(max(max_norm(r.kick), max_norm(e_u)), max(max_norm(r.hidden), max_norm(r.position)));
        lanes.check(residual, rounding);
      }
      if (lanes.ended() || lanes.late(sweep, options_)) break;

      // w moves with x: du = (1 + turn) (dv + e_u + R_w dgamma)
      const ConstraintHessian<System, T> curvature(at_point, x, gamma);
      const auto turned = [&](const Vector<T, n>& row) {
        return fma(chord.reach, curvature * (mass_inverse * row), row);
      };
      set_inverse(at_point, at, x, v, share, l, curvature, chord);
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        chord.c[k] = share * by_l.mu[k];
        chord.hidden_u[k] = chord.reach * turned(chord.t[k]);
        chord.position[k] = turned(Traits::position_at_end ? forms_1.mu[k] : theta_ * forms.mu[k]);
      }
      chord.hidden_v = forms.mu;
      chord.set();
      typename Chord::Update d = chord(r.kick, e_u, r.hidden, r.position);
      d.u = fma(chord.reach, mass_inverse * (curvature * d.u), d.u);
      v = select(lanes.active, v + d.v, v);
      u = select(lanes.active, u + d.u, u);
      l = select(lanes.active, l + d.l, l);
      gamma = select(lanes.active, gamma + d.gamma, gamma);
      // the rate alternates where gamma does
      lanes.settle(sweep, larger(magnitude(d.v), magnitude(d.u)), Traits::forces_at_ends ? 1.0 : 0.1);
    }

    const Forms& by_l = Traits::forces_at_ends ? forms_0 : forms;
    Vector<T, n> pull_1;
    if constexpr (Traits::forces_at_ends) pull_1 = forms_1.transpose_times(l);
    const Vector<T, n> p_1 = equations.momentum_at_end(point.slope, by_l.transpose_times(l), pull_1);
    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work_along(at_point, h, x, v, u, l), state);
    return end_of_step<scheme>(state, h, q_1, p_1, l, gamma, v,
                               {lanes.converged(), mask_t<T>(false), lanes.iterations, residual}, keep);
  }

 private:
  /// J^-1, which moves with x, l and gamma where the forces do.
  RB_HD static void set_inverse(const System& system, const Lagrangian& at, const Vector<T, n>& x,
                                const Vector<T, n>& v, const T& share, const Vector<T, m>& l,
                                const ConstraintHessian<System, T>& curvature, Chord& chord) {
    Matrix<T, n, n> j = curvature.added_to(chord.inertia(system, x, v, at.mass()), chord.rest);
    if constexpr (!Traits::forces_at_ends)
      j = ConstraintHessian<System, T>(system, x, l).added_to(j, share * chord.reach);
    chord.inverse = typename Chord::Inverse(j);
  }

  System system_;
  SolverOptions<T> options_;
  T theta_, vartheta_;
};

RB_NAMESPACE_END
