#pragma once
// The theta family where L = v.M(q)v/2 + A(q).v - U(q), or any regular L, with the symbols of ggl.hpp.

#include "rattleback/methods/ggl/chord_equations.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// Chords in v, u = (q' - q)/h, l = h lambda and gamma, with the residuals
///
///   e_u = v + w - u,     w = M(x)^-1 G(x)^T gamma,     x = q + theta h u,
///   e   = p + (1 - theta) h (f(x, v) - beta) - c C^T l - p(x, v),        beta = T(v)^T gamma - B^T w,
///
/// G(x) v and g(x)/h (A) or g(q')/h (B). beta is D_1 g^v(x, p)^T gamma at p = L_v(x, v). Lanes that do not contract, or
/// whose matrices are singular, are left unsolved.
template <class T, class System, GglScheme scheme>
class ThetaChords {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;
  using Lagrangian = LagrangianAt<System, T>;
  using MassInverse = typename Lagrangian::MassInverse;
  using Forms = ConstraintForms<System>;
  using Chord = ChordEquations<T, System, scheme>;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = many_registers && n <= 2;

  RB_HD ThetaChords(const System& system, const SolverOptions<T>& options, const double* numbers)
      : system_(system), options_(options), theta_(numbers[0]), vartheta_(numbers[1]) {}

  template <class Keep>
  RB_HD StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const T share = T(1.0) - (Traits::forces_at_ends ? vartheta_ : theta_);  // of l in the equation of v
    Chord chord;
    chord.reach = theta_ * h;
    chord.rest = (T(1.0) - theta_) * h;
    const Forms forms_0 = forms_at(state.q);
    Vector<T, m> l = -(h * state.lambda), gamma = Vector<T, m>::zero();
    T scale;
    Vector<T, n> v = guess(state, h, share * forms_0.transpose_times(l), chord, scale), u = v;

    Sweeps<T> lanes(options_, scale);
    const T rounding = rounding_of_residuals(scale, state.p);
    Vector<T, n> q_1, kick;
    Forms forms, forms_1;
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      const Vector<T, n> x = fma(chord.reach, u, state.q);
      Lagrangian at(system_, x);
      at.move(v);
      MassInverse mass_inverse;
      at.linearise(v, mass_inverse, chord.coupling);
      q_1 = fma(h, u, state.q);
      forms = forms_at(x);
      if constexpr (Traits::forces_at_ends) forms_1 = forms_at(q_1);
      chord.t = position_hessian(system_, x, v);
      RB_UNROLL
      for (int k = 0; k < m; ++k) chord.g_response[k] = mass_inverse * forms.mu[k];
      const Vector<T, n> w = transpose_times(chord.g_response, gamma);
      const Vector<T, n> slope =
          at.plus_force(T(1.0), v, chord.coupling.plus_transpose_times(T(1.0), w, -transpose_times(chord.t, gamma)));
      kick = state.p + h * slope;
      const Forms& by_l = Traits::forces_at_ends ? forms_0 : forms;
      const Vector<T, n> e_u = v + w - u;
      const Vector<T, n> e = fma(chord.rest, slope, state.p) - share * by_l.transpose_times(l) - at.momentum(v);
      const Vector<T, m> hidden = forms * v,
                         position = (T(1.0) / h) * system_.position_constraint(Traits::position_at_end ? q_1 : x);
      if (lanes.wants_residual(sweep, options_)) {
        residual = max(max(max_norm(e), max_norm(e_u)), max(max_norm(hidden), max_norm(position)));
        lanes.check(residual, rounding);
      }
      if (lanes.ended() || lanes.late(sweep, options_)) break;

      // w moves with x: du = (1 + turn) (dv + e_u + R_w dgamma)
      const ConstraintHessian<System, T> curvature(system_, x, gamma);
      const auto turned = [&](const Vector<T, n>& row) {
        return fma(chord.reach, curvature * (mass_inverse * row), row);
      };
      set_inverse(at, x, share, l, curvature, chord);
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        chord.c[k] = share * by_l.mu[k];
        chord.hidden_u[k] = chord.reach * turned(chord.t[k]);
        chord.position[k] = turned(Traits::position_at_end ? forms_1.mu[k] : theta_ * forms.mu[k]);
      }
      chord.hidden_v = forms.mu;
      chord.set();
      typename Chord::Update d = chord(e, e_u, hidden, position);
      d.u = fma(chord.reach, mass_inverse * (curvature * d.u), d.u);
      v = select(lanes.active, v + d.v, v);
      u = select(lanes.active, u + d.u, u);
      l = select(lanes.active, l + d.l, l);
      gamma = select(lanes.active, gamma + d.gamma, gamma);
      // the rate alternates where gamma does
      lanes.settle(sweep, larger(magnitude(d.v), magnitude(d.u)), Traits::forces_at_ends ? 1.0 : 0.1);
    }

    state.q = q_1;
    if constexpr (Traits::forces_at_ends) {
      state.p = kick - (T(1.0) - vartheta_) * forms_0.transpose_times(l) - vartheta_ * forms_1.transpose_times(l);
    } else {
      state.p = kick - forms.transpose_times(l);
    }
    state.lambda = (-(T(1.0) / h)) * l;
    const T check = sum(state.q) + sum(state.p) + sum(state.lambda);
    const T status = step_status<T>(lanes.converged(), is_finite(check));
    keep.put(status == T(0.0), gamma, v, state.q, state.p);
    return {status, lanes.iterations, residual};
  }

 private:
  RB_HD Forms forms_at(const Vector<T, n>& q) const {
    Forms forms;
    forms.mu = position_jacobian(system_, q);
    return forms;
  }
  /// v to first order in h, all derivatives at q; sets the scale of velocities.
  RB_HD Vector<T, n> guess(const State& state, T h, const Vector<T, n>& constraint_force, const Chord& chord,
                           T& scale) const {
    const LagrangianOfState<System, T> node(system_, state.q, state.p);
    const Vector<T, n>& v = node.v;
    const Vector<T, n> push = node.at.plus_force(chord.rest, v, state.p) - constraint_force;
    const Vector<T, n> moved =
        node.at.velocity_near(v, node.mass_inverse, node.coupling.plus_times(-chord.reach, v, push));
    scale = magnitude(v) + abs(h) * magnitude(node.mass_inverse * node.at.plus_force(T(1.0), v, Vector<T, n>::zero())) +
            rounding_velocity(T(1.0) / h, state.q);
    return options_.guess * moved;
  }
  /// J^-1, which moves with x, l and gamma where the forces do.
  RB_HD void set_inverse(const Lagrangian& at, const Vector<T, n>& x, const T& share, const Vector<T, m>& l,
                         const ConstraintHessian<System, T>& curvature, Chord& chord) const {
    Matrix<T, n, n> j = chord.coupling.template added_to<false, true>(at.mass(), chord.reach);
    j = chord.coupling.template added_to<true, true>(j, -chord.rest);
    j = curvature.added_to(j, chord.rest);
    if constexpr (!Traits::forces_at_ends)
      j = ConstraintHessian<System, T>(system_, x, l).added_to(j, share * chord.reach);
    chord.inverse = typename Chord::Inverse(j);
  }

  System system_;
  SolverOptions<T> options_;
  T theta_, vartheta_;
};

RB_NAMESPACE_END
