#pragma once
// The multiplier of the continuous equations at a state.

#include <type_traits>

#include "rattleback/lie/lie.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The motion without constraint forces. The acceleration is M^-1 (L_q + ad*_v p - dp), where dp is the derivative of
/// p = L_v along the configuration's velocity; ad* = 0 on R^n.
template <class System>
class FreeMotion {
  using T = typename System::scalar;
  using G = group_of<System>;
  static constexpr int n = System::n;

 public:
  RB_HD_LARGE FreeMotion(const System& system, const Configuration<System>& q, const Vector<T, n>& v)
      : mass_(mass(system, q, v)) {
    Vector<T, n> rate = configuration_force(system, q, v);
    if constexpr (on_group<System>) rate = rate + G::ad_star(v, momentum(system, q, v));
    if constexpr (!Separable<System>) {
      Vector<Dual<T, 1>, n> constant_v;
      RB_UNROLL
      for (int i = 0; i < n; ++i) constant_v[i] = Dual<T, 1>(v[i]);
      const auto p = momentum(system, moving<G>(q, v), constant_v);
      RB_UNROLL
      for (int i = 0; i < n; ++i) rate[i] = rate[i] - p[i].partial[0];
    }
    acceleration_ = response(rate);
  }

  RB_HD const Vector<T, n>& acceleration() const { return acceleration_; }
  /// M^-1 p.
  RB_HD Vector<T, n> response(const Vector<T, n>& p) const {
    if constexpr (Separable<System>) {
      return mass_.inverse_times(p);
    } else {
      return mass_.factors.solve(p);
    }
  }
  /// M x.
  RB_HD Vector<T, n> times(const Vector<T, n>& x) const {
    if constexpr (Separable<System>) {
      return mass_.times(x);
    } else {
      return mass_.matrix * x;
    }
  }

 private:
  struct MassMatrix {
    Matrix<T, n, n> matrix;
    Lu<T, n> factors;
    RB_HD explicit MassMatrix(const Matrix<T, n, n>& m) : matrix(m), factors(m) {}
  };
  RB_HD static auto mass(const System& system, const Configuration<System>& q, const Vector<T, n>& v) {
    if constexpr (Separable<System>) {
      return Mass<System>(system);
    } else {
      return MassMatrix(mass_matrix(system, q, v));
    }
  }

  std::conditional_t<Separable<System>, Mass<System>, MassMatrix> mass_;
  Vector<T, n> acceleration_;
};

/// The multiplier of the continuous equations d/dt L_v - L_q = Phi_v^T lambda, Phi = 0, from
///   (Phi_v M^-1 Phi_v^T) lambda = -Phi_q v - Phi_v a,   a the acceleration without constraint forces.
template <class System, class T = typename System::scalar>
struct ContinuousMultiplier {
  static constexpr int n = System::n, m = System::m;
  FreeMotion<System> motion;
  Matrix<T, m, m> gram;  ///< Phi_v M^-1 Phi_v^T
  Vector<T, m> lambda;
  mask_t<T> singular;  ///< the constraint forces are dependent or the mass matrix is singular

  RB_HD_LARGE ContinuousMultiplier(const System& system, const Configuration<System>& q, const Vector<T, n>& v)
      : motion(system, q, v) {
    const Matrix<T, m, n> forms = constraint_forms(system, q, v);
    Vector<Dual<T, 1>, n> constant_v;
    RB_UNROLL
    for (int i = 0; i < n; ++i) constant_v[i] = Dual<T, 1>(v[i]);
    const auto along_v = constraint(system, moving<group_of<System>>(q, v), constant_v);
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      const Vector<T, n> response = motion.response(forms[k]);
      RB_UNROLL
      for (int i = 0; i < m; ++i) gram[i][k] = dot(forms[i], response);
      lambda[k] = -(along_v[k].partial[0] + dot(forms[k], motion.acceleration()));
    }
    const Lu<T, m> lu(gram);
    lambda = lu.solve(lambda);
    singular = lu.singular();
  }

  /// |Phi_v^T x|^2 in the norm of M^-1.
  RB_HD T square(const Vector<T, m>& x) const { return dot(x, gram * x); }
};

}  // namespace detail

RB_NAMESPACE_END
