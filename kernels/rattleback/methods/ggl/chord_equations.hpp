#pragma once
// The linear equations of a chord iteration for the theta family and the energy-momentum schemes where L is known by its parts or
// as a whole (ggl.hpp, energy_momentum.hpp).

#include "rattleback/mechanics/hessian.hpp"
#include "rattleback/mechanics/lagrangian_at.hpp"
#include "rattleback/methods/ggl/equations.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// Eliminates the updates dv and du of v and u = (q' - q)/h from the linearised equations at x = q + theta h u,
///
///   du = dv + e_u + R_w dgamma,      J dv = e - C^T dl - (theta h B R_w + (1 - theta) h (T^T - B^T R_w)) dgamma,
///   H_v dv + H_u du = -r_hidden,     P du = -r_position,        R_w = M^-1 G^T, J ~ M + theta h B - (1 - theta) h (B^T + F),
///
/// and solves the remaining 2m equations of dl and dgamma: m without gamma. C holds the directions of the constraint forces,
/// T the derivative of G along the motion, F that of the generalized force by v. The terms with T and B^T in the second equation are those of gamma in p'.
template <class T, class System, GglScheme scheme>
struct ChordEquations {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;
  static constexpr int multipliers = Traits::has_gamma ? 2 * m : m;
  using Rows = Matrix<T, m, n>;
  static constexpr bool drags = detail::has_force_of_velocity<System>();
  using Pattern =
      std::conditional_t<drags, FullPattern,
                         detail::UnitedPattern<detail::ChordPattern<System, false>, detail::ChordPattern<System, true>,
                                               detail::HessianPattern<System>>>;
  using Inverse = Factors<T, n, Definite<Pattern>>;
  struct Update {
    Vector<T, n> v, u;
    Vector<T, m> l, gamma;
  };

  Inverse inverse;  ///< J^-1
  Coupling<System, T> coupling;
  Rows c, g_response, t, hidden_v, hidden_u, position;  ///< C, R_w^T, T, H_v, H_u, P
  T reach, rest;                                        ///< theta h, (1 - theta) h

  /// J at (x, v), without the second derivatives of constraints.
  RB_HD Matrix<T, n, n> inertia(const System& system, const Vector<T, n>& x, const Vector<T, n>& v,
                                const Matrix<T, n, n>& mass) const {
    Matrix<T, n, n> j =
        coupling.template added_to<true, true>(coupling.template added_to<false, true>(mass, reach), -rest);
    if constexpr (drags) {
      const Matrix<T, n, n> drag = force_by_velocity(system, x, v);
      RB_UNROLL
      for (int i = 0; i < n; ++i) j[i] = fma(-rest, drag[i], j[i]);
    }
    return j;
  }
  /// v to first order in h, all derivatives at q; sets the scale of velocities. `pull` is the constraint force in the equation of v.
  RB_HD Vector<T, n> guess(const System& system, const StateOf<T, System>& state, const T& h, const Vector<T, n>& pull,
                           T& scale) const {
    const LagrangianOfState<System, T> node(system, state.q, state.p);
    const Vector<T, n>& v = node.v;
    Vector<T, n> push = node.at.plus_force(rest, v, state.p) - pull,
                 force = node.at.plus_force(T(1.0), v, Vector<T, n>::zero());
    if constexpr (detail::has_applied_force<System>()) {
      const Vector<T, n> applied = system.applied_force(state.q, v);
      push = fma(rest, applied, push);
      force = force + applied;
    }
    scale = magnitude(v) + abs(h) * magnitude(node.mass_inverse * force) + rounding_velocity(T(1.0) / h, state.q);
    return node.at.velocity_near(v, node.mass_inverse, node.coupling.plus_times(-reach, v, push));
  }

  /// Makes the equations of dl and dgamma.
  RB_HD void set() {
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      by_l_[k] = -(inverse * c[k]);
      if constexpr (Traits::has_gamma) {
        Vector<T, n> push = coupling.plus_times(-reach, g_response[k], Vector<T, n>::zero());
        if constexpr (Traits::variational)
          push = coupling.plus_transpose_times(rest, g_response[k], fma(-rest, t[k], push));
        by_gamma_[k] = inverse * push;
        by_gamma_u_[k] = by_gamma_[k] + g_response[k];
      }
    }
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        if constexpr (Traits::has_gamma) {
          matrix_[i][k] = dot(hidden_v[i] + hidden_u[i], by_l_[k]);
          matrix_[i][m + k] = dot(hidden_v[i], by_gamma_[k]) + dot(hidden_u[i], by_gamma_u_[k]);
          matrix_[m + i][m + k] = dot(position[i], by_gamma_u_[k]);
        }
        matrix_[first_position + i][k] = dot(position[i], by_l_[k]);
      }
    }
  }

  RB_HD Update operator()(const Vector<T, n>& e, const Vector<T, n>& e_u, const Vector<T, m>& r_hidden,
                          const Vector<T, m>& r_position) const {
    const Vector<T, n> a = inverse * e, a_u = a + e_u;
    Vector<T, multipliers> right;
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      if constexpr (Traits::has_gamma) right[i] = -(r_hidden[i] + dot(hidden_v[i], a) + dot(hidden_u[i], a_u));
      right[first_position + i] = -(r_position[i] + dot(position[i], a_u));
    }
    solve_once<Definite<>>(matrix_, right);
    Update d;
    d.v = a;
    d.gamma = Vector<T, m>::zero();
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      d.l[k] = right[k];
      d.v = fma(d.l[k], by_l_[k], d.v);
      if constexpr (Traits::has_gamma) {
        d.gamma[k] = right[m + k];
        d.v = fma(d.gamma[k], by_gamma_[k], d.v);
      }
    }
    d.u = d.v + e_u;
    if constexpr (Traits::has_gamma) {
      RB_UNROLL
      for (int k = 0; k < m; ++k) d.u = fma(d.gamma[k], g_response[k], d.u);
    }
    return d;
  }

 private:
  static constexpr int first_position = multipliers - m;
  Rows by_l_, by_gamma_, by_gamma_u_;  // rows of the responses of v, and of u to gamma
  Matrix<T, multipliers, multipliers> matrix_;
};

RB_NAMESPACE_END
