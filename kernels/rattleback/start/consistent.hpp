#pragma once
// What makes a point consistent with the constraints: its multiplier, and the nearest velocity and position. The search for the
// nearest point on a curved constraint runs on the host only.

#include "rattleback/start/multiplier.hpp"
#include "rattleback/start/nearest.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Derivatives of the constraint Phi at (q, v).
template <class System, class T = typename System::scalar>
RB_HD_LARGE auto constraint_gradient(const System& system, const Configuration<System>& q,
                                     const Vector<T, System::n>& v) {
  return gradient<System::m, group_of<System>>([&](const auto& x, const auto& y) { return constraint(system, x, y); },
                                               q, v);
}

/// Whether the rows with this Gram matrix are linearly independent to round-off. Elimination turns each diagonal entry,
/// relative to its start value, into the squared sine of the angle between this row and the span of the rows before.
template <class T, int m>
RB_HD mask_t<T> independent(Matrix<T, m, m> gram) {
  const T round_off(1e-14);
  Vector<T, m> square;
  mask_t<T> all(true);
  for (int k = 0; k < m; ++k) square[k] = gram[k][k];
  for (int k = 0; k < m; ++k) {
    all = all & (gram[k][k] > round_off * square[k]);
    for (int i = k + 1; i < m; ++i) {
      const T factor = gram[i][k] / gram[k][k];
      for (int j = k + 1; j < m; ++j) gram[i][j] = gram[i][j] - factor * gram[k][j];
    }
  }
  return all;
}

/// Computes the multiplier of the continuous equations. Returns false where the constraint forces are dependent or the mass
/// matrix is singular.
template <class System, class T = typename System::scalar, int n = System::n, int m = System::m>
RB_HD_LARGE mask_t<T> continuous_multiplier(const System& system, const Configuration<System>& q, const Vector<T, n>& v,
                                            Vector<T, m>& lambda) {
  const ContinuousMultiplier<System> of_state(system, q, v);
  lambda = of_state.lambda;
  mask_t<T> finite = !of_state.singular & independent(of_state.gram);
  for (int k = 0; k < m; ++k) finite = finite & is_finite(lambda[k]);
  return finite;
}

/// M at a point, as the metric of projections.
template <class System, class T = typename System::scalar, int n = System::n>
class MassMetric {
 public:
  RB_HD MassMetric(const System& system, const Configuration<System>& q, const Vector<T, n>& v)
      : mass_(mass_matrix(system, q, v)), inverse_(system, q, v) {}

  [[nodiscard]] RB_HD Vector<T, n> times(const Vector<T, n>& x) const { return mass_ * x; }
  [[nodiscard]] RB_HD Vector<T, n> response(const Vector<T, n>& p) const { return inverse_ * p; }

 private:
  Matrix<T, n, n> mass_;
  InverseMass<System> inverse_;
};

/// Whether the constraint is affine in v, by its form.
template <class System>
inline constexpr bool affine_in_velocity =
    is_holonomic<System> || AffineConstraint<System> || (is_mixed<System> && gives_constraint_matrix<System>);

/// Moves v to the nearest velocity that satisfies the constraint, in the metric of the mass matrix at (q, v). Returns where it succeeds.
template <class System, class T = typename System::scalar, int n = System::n, int m = System::m>
RB_HD_LARGE mask_t<T> project_velocity(const System& system, const Configuration<System>& q, Vector<T, n>& v,
                                       const Bounds<typename System::scalar, System::m>& tolerance) {
  const MassMetric<System> metric(system, q, v);
  if constexpr (affine_in_velocity<System>) {
    const auto phi = [&](const Vector<T, n>& y) {
      const auto d = constraint_gradient(system, q, y);
      return Derivatives<T, n, m>{d.value, d.dv};
    };
    return project<n, m>(metric, phi, v, tolerance);
  } else {
    const auto phi = [&]<class S>(const Vector<S, n>& d) { return constraint(system, lift<S>(q), lift<S>(v) + d); };
    Vector<T, n> change;
    if (!find_nearest_root<n, m>(metric, phi, tolerance, change)) return false;
    v = v + change;
    return true;
  }
}

/// The configuration at a small displacement, given in the algebra.
template <class System, class T, int n = System::n>
Vector<T, element_size<System>> displaced(const Vector<T, element_size<System>>& q, const Vector<T, n>& displacement) {
  using G = group_of<System>;
  return G::product(q, Chart<G, Cay, T>(displacement).tau());
}

/// Moves q to the nearest position that satisfies a holonomic constraint, in the metric of the mass matrix at (q, v). On a group a
/// displacement has the size that its Cayley coordinates have in the algebra.
template <class System, int n = System::n, int m = position_count<System>>
bool project_position(const System& system, Configuration<System>& q, const Vector<double, n>& v,
                      const Bounds<double, position_count<System>>& tolerance) {
  const auto g = [&]<class S>(const Vector<S, n>& d) {
    return system.position_constraint(displaced<System, S>(lift<S>(q), d));
  };
  Vector<double, n> change;
  if (!find_nearest_root<n, m>(MassMetric<System>(system, q, v), g, tolerance, change)) return false;
  if (max_norm(change) > 0.0) q = displaced<System, double>(q, change);
  return true;
}

}  // namespace detail

RB_NAMESPACE_END
