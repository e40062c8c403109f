#pragma once
// VI-S where L = v.M(q)v/2 + A(q).v - U(q), with the symbols of ggl.hpp.

#include "rattleback/methods/ggl/theta_chord.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// Newton's method without derivatives of M in v, z, l = h lambda and gamma, with the residuals
///
///   e_1 = p + h f(q, v) - G(q)^T l - p(q, v),     e_2 = p(q, v) - p(y, z) - h beta,     beta = S z - B(y, z)^T w,
///
/// G(y) z and g(q')/h, where S = sum_k gamma_k D^2 g_k(y). With J_1 = M - h B(q, v)^T, J_3 = M(y) + h S, R_w = M(y)^-1 G(y)^T,
/// T the derivative of G along z and G' = G(q') (1 + h M(y)^-1 S),
///
///   a = J_1^-1 e_1,   b = J_3^-1 (e_2 + N a),   N x = M x - h B(y, z) x + h^2 B(y, z)^T M(y)^-1 S x,
///   R_l = J_1^-1 G(q)^T,   R_z = J_3^-1 N R_l,   G_z = -h J_3^-1 (T^T - B^T R_w),
///   dv = a - R_l dl,   dz = b - R_z dl + G_z dgamma.
///
/// For large steps the equations have further solutions. Lanes that do not contract, or that end with |w| beyond half of the
/// velocity, are left unsolved.
template <class T, class System>
class QuadraticViS {
  static constexpr int n = System::n, m = System::m;
  using Lagrangian = QuadraticLagrangian<System, T>;
  using FirstInverse = SparseInverse<T, n, detail::ChordPattern<System, true>>;
  using ThirdInverse =
      SparseInverse<T, n, detail::UnitedPattern<detail::QuadraticPattern<System>, detail::HessianPattern<System>>>;
  using Rows = Matrix<T, m, n>;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;

  RB_HD QuadraticViS(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  template <class Keep>
  RB_HD StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const Lagrangian node(system_, state.q);
    const auto node_inverse = node.inverse();
    const Vector<T, n> v_0 = node_inverse * node.kinetic(state.p);
    const Rows g_0 = position_jacobian(system_, state.q);
    const Coupling<System, T> node_coupling = node.coupling(v_0);
    const FirstInverse inverse_1(node_coupling.template added_to<true>(node.mass(), -h));
    Rows response_l;  // R_l^T
    RB_UNROLL
    for (int k = 0; k < m; ++k) response_l[k] = inverse_1 * g_0[k];

    // the guess
    Vector<T, m> l = -(h * state.lambda);
    Vector<T, n> v = node_inverse * node.kinetic(node.plus_force(h, v_0, state.p) - transpose_times(g_0, l));
    Vector<T, n> z = v - node_inverse * node_coupling.plus_times(h, v, Vector<T, n>::zero());
    Vector<T, m> gamma = guess_of_gamma(fma(h, v, state.q), h);
    const T speed = magnitude(v_0) + magnitude(v - v_0);
    const T scale = speed + rounding_velocity(T(1.0) / h, state.q), rounding = rounding_of_residuals(scale, state.p);
    Sweeps<T> lanes(options_, scale);

    Vector<T, n> q_1, p_1, w;
    T residual(0.0);
    for (int sweep = 0;; ++sweep) {
      const Vector<T, n> y = fma(h, v, state.q);
      const Lagrangian at(system_, y);
      const auto mass_inverse = at.inverse();
      const Rows g_y = position_jacobian(system_, y), t = position_hessian(system_, y, z);
      const Coupling<System, T> coupling = at.coupling(z);
      Rows response_w;  // R_w^T
      RB_UNROLL
      for (int k = 0; k < m; ++k) response_w[k] = mass_inverse * g_y[k];
      w = transpose_times(response_w, gamma);
      q_1 = fma(h, v + w, state.q);
      const Vector<T, n> p_v = node.momentum(v);
      p_1 = at.momentum(z);
      const Vector<T, n> e_1 = node.plus_force(h, v, state.p) - transpose_times(g_0, l) - p_v;
      const Vector<T, n> e_2 = coupling.plus_transpose_times(h, w, fma(-h, transpose_times(t, gamma), p_v - p_1));
      const Vector<T, m> hidden = g_y * z, position = (T(1.0) / h) * system_.position_constraint(q_1);
      residual = max(max(max_norm(e_1), max_norm(e_2)), max(max_norm(hidden), max_norm(position)));
      lanes.check(residual, rounding);
      if (lanes.ended() || 5 * sweep >= 4 * options_.max_iterations) break;

      const ConstraintHessian<System, T> s(system_, y, gamma);
      const ThirdInverse inverse_3(s.added_to(at.mass(), h));
      const auto carried = [&](const Vector<T, n>& x) {  // N x
        return coupling.plus_transpose_times(h * h, mass_inverse * (s * x),
                                             coupling.plus_times(-h, x, node.mass_times(x)));
      };
      Rows g_1 = position_jacobian(system_, q_1);
      Rows g_turned;  // G'
      RB_UNROLL
      for (int k = 0; k < m; ++k) g_turned[k] = fma(h, s * (mass_inverse * g_1[k]), g_1[k]);

      const Vector<T, n> a = inverse_1 * e_1, b = inverse_3 * (e_2 + carried(a));
      Rows response_z, gamma_z;  // R_z^T, G_z^T
      Matrix<T, 2 * m, 2 * m> matrix;
      Vector<T, 2 * m> right;
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        response_z[k] = inverse_3 * carried(response_l[k]);
        gamma_z[k] = inverse_3 * coupling.plus_transpose_times(h, response_w[k], -h * t[k]);
      }
      const Vector<T, m> of_hidden = hidden + g_y * b + h * (t * a), of_position = position + g_turned * a;
      RB_UNROLL
      for (int i = 0; i < m; ++i) {
        right[i] = -of_hidden[i];
        right[m + i] = -of_position[i];
        RB_UNROLL
        for (int k = 0; k < m; ++k) {
          matrix[i][k] = -fma(h, dot(t[i], response_l[k]), dot(g_y[i], response_z[k]));
          matrix[i][m + k] = dot(g_y[i], gamma_z[k]);
          matrix[m + i][k] = -dot(g_turned[i], response_l[k]);
          matrix[m + i][m + k] = dot(g_1[i], response_w[k]);
        }
      }
      solve_guide(matrix, right);
      const Vector<T, m> dl = segment<0, m>(right), dgamma = segment<m, m>(right);
      const Vector<T, n> dv = a - transpose_times(response_l, dl),
                         dz = b - transpose_times(response_z, dl) + transpose_times(gamma_z, dgamma);
      v = select(lanes.active, v + dv, v);
      z = select(lanes.active, z + dz, z);
      l = select(lanes.active, l + dl, l);
      gamma = select(lanes.active, gamma + dgamma, gamma);
      lanes.settle(sweep, larger(larger(magnitude(dv), magnitude(dz)), magnitude(transpose_times(response_w, dgamma))));
    }

    const State start = state;
    state.q = q_1;
    state.p = p_1;
    state.lambda = (T(-1.0) / h) * l;
    const T check = sum(state.q) + sum(state.p) + sum(state.lambda);
    const T status = step_status<T>(lanes.converged() & (magnitude(w) <= T(0.5) * speed), is_finite(check));
    keep.put(status == T(0.0), gamma, v, start.q, start.p);
    return {status, lanes.iterations, residual};
  }

 private:
  /// -(G M^-1 G^T)^-1 g/h at y.
  RB_HD Vector<T, m> guess_of_gamma(const Vector<T, n>& y, T h) const {
    const auto mass_inverse = Lagrangian(system_, y).inverse();
    const Rows g = position_jacobian(system_, y);
    Matrix<T, m, m> gram;
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      const Vector<T, m> column = g * (mass_inverse * g[k]);
      RB_UNROLL
      for (int i = 0; i < m; ++i) gram[i][k] = column[i];
    }
    Vector<T, m> gamma = (T(-1.0) / h) * system_.position_constraint(y);
    solve_guide(gram, gamma);
    return gamma;
  }

  System system_;
  SolverOptions<T> options_;
};

RB_NAMESPACE_END
