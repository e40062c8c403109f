#pragma once
// Projection of momenta onto the constraint.

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"

RB_NAMESPACE_BEGIN

/// Adds an impulse C^T x to p such that Phi(q, v(q, p)) = 0, where C are the constraint forms; returns x. Where v is
/// affine in p and Phi affine in v, the first pass is exact except for round-off and the second pass reduces this
/// round-off. Otherwise the passes are those of a simplified Newton iteration; where L is not quadratic they go on until they
/// are small.
template <class System, class T>
RB_HD_LARGE Vector<T, System::m> impulse_to_constraint(const System& system, const Vector<T, element_size<System>>& q,
                                                       Vector<T, System::n>& p, mask_t<T>& singular) {
  constexpr int n = System::n, m = System::m;
  Vector<T, n> v = velocity(system, q, p);
  const Matrix<T, m, n> forms = constraint_forms(system, q, v);
  Matrix<T, m, m> gram;
  if constexpr (Separable<System>) {
    const Mass<System> mass(system);
    for (int k = 0; k < m; ++k) {
      const Vector<T, n> response = mass.inverse_times(forms[k]);
      for (int i = 0; i < m; ++i) gram[i][k] = dot(forms[i], response);
    }
  } else {
    const Lu<T, n> mass(mass_matrix(system, q, v));
    for (int k = 0; k < m; ++k) {
      const Vector<T, n> response = mass.solve(forms[k]);
      for (int i = 0; i < m; ++i) gram[i][k] = dot(forms[i], response);
    }
  }
  singular = singular | factorise(gram);  // positive definite, so no row exchanges are necessary
  auto impulse = Vector<T, m>::zero();
  constexpr int passes = NotQuadratic<System> ? 20 : 2;
  mask_t<T> active(true);
  for (int pass = 0; pass < passes && any(active); ++pass) {
    if (pass > 0) v = velocity(system, q, p);
    Vector<T, m> correction = constraint(system, q, v);
    solve_factorised(gram, correction);
    const Vector<T, n> change = transpose_times(forms, correction);
    if constexpr (NotQuadratic<System>) {
      p = select(active, p - change, p);
      impulse = select(active, impulse - correction, impulse);
      active = active & !(magnitude(change) <= T(1e-15) * magnitude(p));
    } else {
      p = p - change;
      impulse = impulse - correction;
    }
  }
  return impulse;
}

RB_NAMESPACE_END
