#pragma once
// Solves the equations of motion for the acceleration, with the constraint differentiated twice, and gives directional
// derivatives:
//
//   [  M  -G^T ] [ A      ]   [ F        ]      M = L_vv,  F = L_q - L_vq v,  G = Dg,
//   [ -G   0   ] [ lambda ] = [ D^2g(v,v)]
//
// With constraints on velocities G has the rows Phi_v, too, and the second row Phi_q v. A generalized force adds to F. Where functions
// depend on the time, what is differentiated along the motion is differentiated by the time as well: F gets -L_vt, the second row
// 2 G_t v + g_tt and Phi_t.
//
// The equations also hold off the constraint (G. Patrick, C. Cuell, R. Spiteri, W. Zhang, On converting any one-step
// method to a variational integrator of the same order). Dual numbers give all terms from the Lagrangian and g. For
// speed a system may give, over any scalar S,
//
//   mass_matrix(q)               M: S (a multiple of the identity), Vector<S, n> (diagonal) or Matrix<S, n, n>
//   Vector<S, n> generalized_force(q, v)        F
//   Matrix<S, m, n> position_jacobian(q)        G
//   Vector<S, m> position_curvature(q, v)       D^2g(v, v)

#include "rattleback/mechanics/lagrangian_at.hpp"
#include "rattleback/mechanics/projection.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// F and D^2g(v, v) by dual numbers.
template <class System, class S>
RB_HD_LARGE Vector<S, System::n> differentiated_force(const System& system, const Vector<S, System::n>& q,
                                                      const Vector<S, System::n>& v) {
  return configuration_force(system, q, v) -
         derivative(momentum(running<S>(system), along(q, v), along(v, Vector<S, System::n>::zero())));
}
template <class System, class S>
RB_HD_LARGE Vector<S, System::m> differentiated_curvature(const System& system, const Vector<S, System::n>& q,
                                                          const Vector<S, System::n>& v) {
  using D = Dual<S, 1>;
  Vector<Dual<D, 1>, System::n> x;
  RB_UNROLL
  for (int i = 0; i < System::n; ++i) {
    x[i].value.value = q[i];
    x[i].value.partial[0] = v[i];
    x[i].partial[0].value = v[i];
    x[i].partial[0].partial[0] = S(0.0);
  }
  return derivative(derivative(running<D>(running<S>(system)).position_constraint(x)));
}

}  // namespace detail

/// F = L_q - L_vq v. Of a system at a time, with generalized force f, it is L_q + f - L_vq v - L_vt.
template <class System, class S>
RB_HD Vector<S, System::n> generalized_force(const System& system, const Vector<S, System::n>& q,
                                             const Vector<S, System::n>& v) {
  if constexpr (Separable<System>) {
    return configuration_force(system, q, v);
  } else if constexpr (!detail::changes_in_time<System>() && requires { system.generalized_force(q, v); }) {
    if constexpr (detail::has_applied_force<System>())
      return system.generalized_force(q, v) + system.applied_force(q, v);
    return system.generalized_force(q, v);
  } else {
    return detail::differentiated_force(system, q, v);
  }
}

/// M x.
template <class System, class S>
RB_HD Vector<S, System::n> inertia_times(const System& system, const Vector<S, System::n>& q,
                                         const Vector<S, System::n>& v, const Vector<S, System::n>& x) {
  if constexpr (Separable<System>) {
    return momentum(system, q, x);
  } else if constexpr (detail::gives_mass_matrix<System>) {
    return detail::apply(system.mass_matrix(q), x);
  } else {
    return detail::derivative(momentum(system, detail::along(q, Vector<S, System::n>::zero()), detail::along(v, x)));
  }
}

/// D^2g(v, v); of a system at a time D^2g(v, v) + 2 G_t v + g_tt.
template <class System, class S>
RB_HD Vector<S, System::m> position_curvature(const System& system, const Vector<S, System::n>& q,
                                              const Vector<S, System::n>& v) {
  if constexpr (!detail::changes_in_time<System>() && requires { system.position_curvature(q, v); }) {
    return system.position_curvature(q, v);
  } else {
    return detail::differentiated_curvature(system, q, v);
  }
}

namespace detail {

/// The derivative along the motion, at fixed v, of what the constraints say of velocities.
template <class System, class S>
RB_HD Vector<S, System::m> saddle_curvature(const System& system, const Vector<S, System::n>& q,
                                            const Vector<S, System::n>& v) {
  if constexpr (is_holonomic<System>) {
    return position_curvature(system, q, v);
  } else {
    return derivative(rattleback::constraint(running<S>(system), along(q, v), lift<Dual<S, 1>>(v)));
  }
}

}  // namespace detail

/// The saddle-point matrix at one point. solve() gives x and y with M x - G^T y = f, G x = s.
template <class System>
class Saddle {
  using T = typename System::scalar;
  static constexpr int n = System::n, m = System::m;
  using Inverse = InverseMass<System>;
  using Forms = FormsOfSweeps<System>;
  /// The entries of M^-1 G^T.
  struct Response {
    RB_HD static constexpr bool entry(int i, int k) {
      return detail::entry_of<detail::ResponseTable<System, Inverse>>(k * n + i);
    }
  };

 public:
  RB_HD Saddle(const System& system, const Mass<System>& mass, const Vector<T, n>& q, const Vector<T, n>& v,
               const Matrix<T, m, n>& jacobian)
      : inverse_(system, mass, q, v) {
    if constexpr (m > 0) {
      forms_.set(jacobian);
      auto gram = Matrix<T, m, m>::zero();
      detail::for_constants<m>([&](auto k) RB_INLINED {
        response_[k] = inverse_ * forms_.row(k);
        detail::for_entries<m, Gram>(k, [&](auto l) RB_INLINED { gram[l][k] = forms_.row_times(l, response_[k]); });
      });
      gram_ = GramFactors(gram);
    }
  }

  RB_HD void solve(const Vector<T, n>& f, const Vector<T, m>& s, Vector<T, n>& x, Vector<T, m>& y) const {
    x = inverse_ * f;
    if constexpr (m > 0) {
      y = gram_ * (s - forms_ * x);
      detail::for_constants<m>([&](auto k) RB_INLINED {
        detail::for_entries<n, Response>(k, [&](auto i) RB_INLINED { x[i] = fma(y[k], response_[k][i], x[i]); });
      });
    }
  }

 private:
  using Gram = detail::GramPattern<System, Inverse>;
  using GramFactors = Factors<T, m, Definite<detail::ZerosOfFactors<Gram, m>>>;
  struct Nothing {};
  Inverse inverse_;
  RB_MAYBE_EMPTY std::conditional_t<(m > 0), Forms, Nothing> forms_;
  Matrix<T, m, n> response_;
  RB_MAYBE_EMPTY std::conditional_t<(m > 0), GramFactors, Nothing> gram_;
};

/// Accelerations of a system on R^n.
template <class System>
class Dynamics {
  using T = typename System::scalar;
  static constexpr int n = System::n, m = System::m;
  static_assert(LagrangianOnRn<System>);

 public:
  RB_HD explicit Dynamics(const System& system) : system_(system), mass_(system) {}

  RB_HD const System& system() const { return system_; }
  /// Those of the system h later.
  RB_HD decltype(auto) after([[maybe_unused]] const T& h) const {
    if constexpr (timed<System>) {
      return Dynamics(rattleback::after(system_, h), mass_);
    } else {
      return (*this);
    }
  }

  RB_HD Saddle<System> saddle(const Vector<T, n>& q, const Vector<T, n>& v, const Matrix<T, m, n>& jacobian) const {
    return Saddle<System>(system_, mass_, q, v, jacobian);
  }

  /// Returns A and sets lambda.
  RB_HD_LARGE Vector<T, n> acceleration(const Vector<T, n>& q, const Vector<T, n>& v, Vector<T, m>& lambda) const {
    return inlined_acceleration(q, v, lambda);
  }
  /// The same as part of a loop: A goes on in registers.
  RB_HD Vector<T, n> inlined_acceleration(const Vector<T, n>& q, const Vector<T, n>& v, Vector<T, m>& lambda) const {
    const Vector<T, n> f = generalized_force(system_, q, v);
    Vector<T, n> a = f;
    if constexpr (m == 0 && !Separable<System> && detail::gives_mass_matrix<System> && n <= 3) {
      solve_once<Definite<>>(detail::as_matrix<T, n>(system_.mass_matrix(q)), a);
    } else {
      Matrix<T, m, n> jacobian{};
      Vector<T, m> curvature;
      if constexpr (m > 0) {
        jacobian = constraint_forms(system_, q, v);
        curvature = detail::saddle_curvature(system_, q, v);
      }
      saddle(q, v, jacobian).solve(f, -curvature, a, lambda);
    }
    return a;
  }

  /// Computes A with derivatives in the K directions of (q, v), and the derivatives of L in these directions, to which the work of
  /// the generalized force along q adds. The matrix is factorised once; each direction needs one back substitution.
  template <int K>
  RB_HD_LARGE void acceleration(const Vector<Dual<T, K>, n>& q, const Vector<Dual<T, K>, n>& v,
                                Vector<Dual<T, K>, n>& a, Vector<T, K>& dl) const {
    using D = Dual<T, K>;
    const Vector<T, n> q_value = detail::values(q), v_value = detail::values(v);
    const Vector<D, n> f = generalized_force(system_, q, v);
    Matrix<D, m, n> jacobian;
    Vector<D, m> curvature;
    Matrix<T, m, n> jacobian_value;
    if constexpr (m > 0) {
      jacobian = constraint_forms(system_, q, v);
      curvature = detail::saddle_curvature(system_, q, v);
      RB_UNROLL
      for (int k = 0; k < m; ++k) jacobian_value[k] = detail::values(jacobian[k]);
    }
    const Saddle<System> matrix = saddle(q_value, v_value, jacobian_value);
    Vector<T, n> a_value;
    Vector<T, m> lambda;
    matrix.solve(detail::values(f), -detail::values(curvature), a_value, lambda);

    Vector<D, n> ma;
    RB_UNROLL
    for (int i = 0; i < n; ++i) a[i] = D(a_value[i]);
    if constexpr (!Separable<System>) ma = inertia_times(system_, q, v, a);
    const auto differentiate = [&](int j) {
      Vector<T, n> df = detail::derivative(f, j);
      if constexpr (!Separable<System>) df = df - detail::derivative(ma, j);
      Vector<T, m> ds, dlambda;
      if constexpr (m > 0) {
        Matrix<T, m, n> dg;
        RB_UNROLL
        for (int k = 0; k < m; ++k) dg[k] = detail::derivative(jacobian[k], j);
        const auto turned = forms_of<System>(dg);
        df = turned.plus_transpose_times(df, lambda);
        ds = -(detail::derivative(curvature, j) + turned * a_value);
      }
      Vector<T, n> da;
      matrix.solve(df, ds, da, dlambda);
      RB_UNROLL
      for (int i = 0; i < n; ++i) a[i].partial[j] = da[i];
    };
    if constexpr (K <= 8) {
      RB_UNROLL
      for (int j = 0; j < K; ++j) differentiate(j);
    } else {  // These numbers do not fit into registers, so unrolling does not help.
      for (int j = 0; j < K; ++j) differentiate(j);
    }
    if constexpr (Separable<System>) {  // L_q = F, L_v = M v
      const Vector<T, n> f_value = detail::values(f), p = mass_.times(v_value);
      RB_UNROLL
      for (int j = 0; j < K; ++j) dl[j] = dot(f_value, detail::derivative(q, j)) + dot(p, detail::derivative(v, j));
    } else {
      dl = detail::partials<K>(lagrangian(system_, q, v));
      if constexpr (detail::has_applied_force<System>()) {
        const Vector<T, n> applied = system_.applied_force(q_value, v_value);
        RB_UNROLL
        for (int j = 0; j < K; ++j) dl[j] = dl[j] + dot(applied, detail::derivative(q, j));
      }
    }
  }

 private:
  RB_HD Dynamics(const System& system, const Mass<System>& mass) : system_(system), mass_(mass) {}

  System system_;
  RB_MAYBE_EMPTY Mass<System> mass_;
};

RB_NAMESPACE_END
