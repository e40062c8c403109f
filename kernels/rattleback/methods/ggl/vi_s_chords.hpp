#pragma once
// VI-S where L = v.M(q)v/2 + A(q).v - U(q), or any regular L, with the symbols of ggl.hpp.

#include "rattleback/mechanics/projection.hpp"
#include "rattleback/methods/ggl/chord_equations.hpp"

RB_NAMESPACE_BEGIN

/// Newton's method without derivatives of M in v, z, l = h lambda and gamma for the equations of VI-S, with w = M(y)^-1 G(y)^T gamma. Their
/// residuals are e_1 (of L_v(q, v)), e_2 (of L_v(q, v) = p' + h B, where B = T^T gamma - B(y, z)^T w),
/// G(y) z and g(q')/h, where S = sum_k gamma_k D^2 g_k(y). With J_1 = M - h (B + F)(q, v)^T, J_3 = M(y) + h S, R_l = J_1^-1 G(q)^T,
/// R_w = M(y)^-1 G(y)^T, W = h S M(y)^-1, C = h B(y, z), T the derivative of G along the motion with z, F that of the generalized force by v, and G' = G(q') (1 + W^T), the updates are
///
///   dv = J_1^-1 e_1 - R_l dl,   J_3 dz = e_2 + N dv + P dgamma,   N = M - C + C^T W^T,   P = C^T R_w - h T^T,
///
/// and dl and dgamma solve, with a = J_1^-1 e_1 and K = G(y) J_3^-1,
///
///   (K N + h T) R_l dl - K P dgamma = G(y) z + K e_2 + (K N + h T) a,   G' R_l dl - G(q') R_w dgamma = g(q')/h + G' a.
///
/// For large steps the equations have further solutions. Lanes that do not contract, or that end with |w| beyond half of the
/// velocity, are left unsolved.
template <class T, class System>
class ViSChords {
  static constexpr int n = System::n, m = System::m;
  using Lagrangian = LagrangianAt<System, T>;
  using MassInverse = typename Lagrangian::MassInverse;
  static constexpr bool drags = detail::has_force_of_velocity<System>();
  using FirstPattern = std::conditional_t<drags, FullPattern, detail::ChordPattern<System, true>>;
  using FirstInverse = Factors<T, n, Definite<FirstPattern>>;
  using ThirdInverse =
      Factors<T, n, Definite<detail::UnitedPattern<detail::QuadraticPattern<System>, detail::HessianPattern<System>>>>;
  using Rows = Matrix<T, m, n>;
  using Forms = ConstraintForms<System>;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = many_registers && n <= 2;

  RB_HD ViSChords(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  template <class Keep>
  RB_HD StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const ViSEquations<T, System> equations{system_, state, h};
    LagrangianOfState<System, T> start(system_, state.q, state.p);
    Lagrangian& node = start.at;
    const Vector<T, n>& v_0 = start.v;
    const MassInverse& node_inverse = start.mass_inverse;
    const Rows g_0 = position_jacobian(system_, state.q);
    FirstInverse inverse_1;
    Rows response_l;  // R_l^T
    const auto set_first = [&](const Vector<T, n>& at_v) {
      Matrix<T, n, n> mass = node.mass();
      if constexpr (drags) {
        const Matrix<T, n, n> drag = force_by_velocity(system_, state.q, at_v);
        RB_UNROLL
        for (int i = 0; i < n; ++i) mass[i] = fma(-h, drag[i], mass[i]);
      }
      inverse_1 = FirstInverse(start.coupling.template added_to<true, drags>(mass, -h));
      RB_UNROLL
      for (int k = 0; k < m; ++k) response_l[k] = inverse_1 * g_0[k];
    };
    set_first(v_0);
    const auto kicked = [&](const Vector<T, n>& at_v) {  // p + h (L_q + f)(q, v)
      Vector<T, n> p = state.p;
      if constexpr (detail::has_applied_force<System>()) p = fma(h, system_.applied_force(state.q, at_v), p);
      return node.plus_force(h, at_v, p);
    };

    // the guess
    Vector<T, m> l = -(h * state.lambda);
    Vector<T, n> v = node.velocity_near(v_0, node_inverse, kicked(v_0) - transpose_times(g_0, l));
    Vector<T, n> z = v - node_inverse * start.coupling.plus_times(h, v, Vector<T, n>::zero());
    const auto& at_end = after(system_, h);
    Vector<T, m> gamma = guess_of_gamma(at_end, fma(h, v, state.q), z, h);
    const T speed = magnitude(v_0) + magnitude(v - v_0);
    const T scale = speed + rounding_velocity(T(1.0) / h, state.q), rounding = rounding_of_residuals(scale, state.p);
    Sweeps<T> lanes(options_, scale);

    Vector<T, n> q_1, p_1, w;
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      const Vector<T, n> y = fma(h, v, state.q);
      Lagrangian at(at_end, y);
      MassInverse mass_inverse;
      Coupling<System, T> coupling;
      at.move(z);
      at.linearise(z, mass_inverse, coupling);
      if constexpr (ConstantInertia<System>) mass_inverse = node_inverse;
      const Forms forms(position_jacobian(at_end, y));
      const Rows& g_y = forms.mu;
      const Rows t = hidden_constraint_by_position(at_end, y, z);
      Rows response_w;  // R_w^T
      RB_UNROLL
      for (int k = 0; k < m; ++k) response_w[k] = mass_inverse * g_y[k];
      w = transpose_times(response_w, gamma);
      q_1 = fma(h, v + w, state.q);
      node.move(v);
      if constexpr (LagrangianAlone<System>) {  // M moves with v
        MassInverse unused;
        node.linearise(v, unused, start.coupling);
        set_first(v);
      }
      p_1 = at.momentum(z);
      const auto r =
          equations(kicked(v), transpose_times(g_0, l), node.momentum(v), q_1,
                    GglPoint<T, n, m>{p_1, coupling.plus_transpose_times(T(1.0), w, -transpose_times(t, gamma)),
                                      hidden_constraint(at_end, y, z, forms)});
      if (lanes.wants_residual(sweep, options_)) {
        residual = max(max(max_norm(r.kick), max_norm(r.turn)), max(max_norm(r.hidden), max_norm(r.position)));
        lanes.check(residual, rounding);
      }
      if (lanes.ended() || lanes.late(sweep, options_)) break;

      coupling = coupling.scaled(h);
      const ConstraintHessian<System, T> s(at_end, y, gamma);
      const ThirdInverse inverse_3(s.added_to(at.mass(), h));
      const HessianTimesInverse<System, T> turn(h, s, mass_inverse);
      const Rows g_1 = position_jacobian(at_end, q_1);
      Rows g_turned, k_rows, moved, push;  // G', K, K N + h T, P^T
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        g_turned[k] = turn.plus_times(g_1[k], g_1[k]);
        k_rows[k] = inverse_3 * g_y[k];
        const Vector<T, n> kept = fma(h, t[k], node.mass_times(k_rows[k]));
        moved[k] = turn.plus_times(coupling.plus_times(k_rows[k], Vector<T, n>::zero()),
                                   coupling.template plus_transpose_times<-1>(k_rows[k], kept));
        push[k] = coupling.plus_transpose_times(response_w[k], -h * t[k]);
      }
      const Vector<T, n> a = inverse_1 * r.kick;
      Matrix<T, 2 * m, 2 * m> matrix;
      Vector<T, 2 * m> right;
      RB_UNROLL
      for (int i = 0; i < m; ++i) {
        right[i] = -(r.hidden[i] + dot(k_rows[i], r.turn) + dot(moved[i], a));
        right[m + i] = -(r.position[i] + dot(g_turned[i], a));
        RB_UNROLL
        for (int k = 0; k < m; ++k) {
          matrix[i][k] = -dot(moved[i], response_l[k]);
          matrix[i][m + k] = dot(k_rows[i], push[k]);
          matrix[m + i][k] = -dot(g_turned[i], response_l[k]);
          matrix[m + i][m + k] = dot(g_1[i], response_w[k]);
        }
      }
      solve_once<Definite<>>(matrix, right);
      const Vector<T, m> dl = segment<0, m>(right), dgamma = segment<m, m>(right);
      const Vector<T, n> dv = a - transpose_times(response_l, dl);
      const Vector<T, n> carried =
          coupling.plus_transpose_times(turn.plus_transpose_times(dv, Vector<T, n>::zero()),
                                        coupling.template plus_times<-1>(dv, node.mass_times(dv)));
      const Vector<T, n> dz = inverse_3 * (r.turn + carried + transpose_times(push, dgamma));
      v = select(lanes.active, v + dv, v);
      z = select(lanes.active, z + dz, z);
      l = select(lanes.active, l + dl, l);
      gamma = select(lanes.active, gamma + dgamma, gamma);
      lanes.settle(sweep, larger(larger(magnitude(dv), magnitude(dz)), magnitude(transpose_times(response_w, dgamma))));
    }

    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work_along(system_, h, state.q, v, v + w, l), state);
    const mask_t<T> solved = lanes.converged() & (magnitude(w) <= T(0.5) * speed);
    return end_of_step<GglScheme::vi_s>(state, h, q_1, p_1, l, gamma, v,
                                        {solved, mask_t<T>(false), lanes.iterations, residual}, keep);
  }

 private:
  /// -(G M^-1 G^T)^-1 g/h at y and the velocity z.
  RB_HD static Vector<T, m> guess_of_gamma(const System& system, const Vector<T, n>& y, const Vector<T, n>& z, T h) {
    Lagrangian at(system, y);
    MassInverse mass_inverse;
    Coupling<System, T> coupling;
    at.linearise(z, mass_inverse, coupling);
    Vector<T, m> gamma = (-(T(1.0) / h)) * system.position_constraint(y);
    solve_once<Definite<>>(gram_of(Forms(position_jacobian(system, y)), mass_inverse), gamma);
    return gamma;
  }

  System system_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
