#pragma once
// Small systems of equations of the sweeps for L = v.M(q)v/2 + A(q).v - U(q).

#include "rattleback/mechanics/quadratic.hpp"

RB_NAMESPACE_BEGIN

/// Adds an impulse C^T x to p such that C v + d = 0 at p = M v + A, with C and L at q; returns x.
template <class T, class System>
RB_HD Vector<T, System::m> put_on_constraint(const System& system, const QuadraticLagrangian<System, T>& at,
                                             const ConstraintForms<System>& forms, const Vector<T, System::n>& q,
                                             Vector<T, System::n>& p, mask_t<T>& singular) {
  constexpr int m = System::m;
  const auto mass_inverse = at.inverse();
  Vector<T, m> impulse = -(forms * (mass_inverse * at.kinetic(p)));
  if constexpr (has_constraint_offset<System>) impulse = impulse - constraint_offset(system, q);
  Matrix<T, m, m> gram;
  RB_UNROLL
  for (int k = 0; k < m; ++k) {
    const Vector<T, m> column = forms * (mass_inverse * forms.mu[k]);
    RB_UNROLL
    for (int l = 0; l < m; ++l) gram[l][k] = column[l];
  }
  singular = singular | mass_inverse.singular() | solve_guide(gram, impulse);
  p = forms.plus_transpose_times(p, impulse);
  return impulse;
}

RB_NAMESPACE_END
