#pragma once
// Momenta that obey the constraint.

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"

RB_NAMESPACE_BEGIN

/// Adds an impulse C^T x to p, C the constraint's forms, after which Phi(q, v(q, p)) = 0; returns x. Exact where v is
/// affine in p and Phi in v, but for round-off, of which a second pass leaves less; the pair of passes is two Newton
/// steps otherwise.
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
  singular = singular | factorise(gram);  // positive definite: needs no exchanges
  auto impulse = Vector<T, m>::zero();
  for (int pass = 0; pass < 2; ++pass) {
    if (pass > 0) v = velocity(system, q, p);
    Vector<T, m> correction = constraint(system, q, v);
    solve_factorised(gram, correction);
    p = p - transpose_times(forms, correction);
    impulse = impulse - correction;
  }
  return impulse;
}

RB_NAMESPACE_END
