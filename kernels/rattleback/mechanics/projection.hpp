#pragma once
// The projection of momenta onto the constraint, for all forms of L.

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian_at.hpp"

RB_NAMESPACE_BEGIN

/// C M^-1 C^T. Where the inverse of M is not made of known zeros and unrolled, neither is this.
template <class System, class Inverse, class T = typename System::scalar, int m = System::m>
RB_HD Matrix<T, m, m> gram_of(const ConstraintForms<System>& forms, const Inverse& mass_inverse) {
  Matrix<T, m, m> gram;
  const auto set_column = [&](int k) {
    const Vector<T, m> column = forms * (mass_inverse * forms.mu[k]);
    RB_UNROLL
    for (int l = 0; l < m; ++l) gram[l][k] = column[l];
  };
  if constexpr (std::is_same_v<Inverse, InverseMass<System>>) {
    for (int k = 0; k < m; ++k) set_column(k);
  } else {
    RB_UNROLL
    for (int k = 0; k < m; ++k) set_column(k);
  }
  return gram;
}

/// Adds an impulse C^T x to p such that Phi(q, v) = 0 at p = L_v(q, v), and returns x. C are the constraint forms and `at` is L at q;
/// `v` is near the velocity. These are steps of Newton's method in v and x. Where v is affine in p, and Phi in v, the first one is exact
/// except for round-off.
template <class System, class Lagrangian, class T = typename System::scalar>
RB_HD Vector<T, System::m> put_on_constraint(const System& system, Lagrangian& at, const ConstraintForms<System>& forms,
                                             const Configuration<System>& q, Vector<T, System::n> v,
                                             Vector<T, System::n>& p, mask_t<T>& singular) {
  constexpr int m = System::m;
  constexpr bool linear = is_holonomic<System> || detail::gives_constraint_matrix<System>;
  constexpr double small =
      linear ? 1e-8 : 1e-15;  // where the steps converge quadratically, the error is the square of this
  auto impulse = Vector<T, m>::zero();
  mask_t<T> active(true);
  for (int pass = 0; pass < Lagrangian::passes && any(active); ++pass) {
    at.move(v);
    const auto mass_inverse = at.inverse_at(v);
    const Vector<T, System::n> free = at.velocity_near(v, mass_inverse, p);
    Vector<T, m> dx;
    if constexpr (linear && !is_mixed<System> && !detail::changes_in_time<System>()) {
      dx = -(forms * free);
      if constexpr (has_constraint_offset<System>) dx = dx - constraint_offset(system, q);
    } else {
      dx = -constraint(system, q, free);
    }
    singular =
        singular | (active & (mass_inverse.singular() | solve_once<Definite<>>(gram_of(forms, mass_inverse), dx)));
    if constexpr (Lagrangian::passes == 1) {
      impulse = dx;
      p = forms.plus_transpose_times(p, dx);
    } else {
      const Vector<T, System::n> next = free + mass_inverse * forms.transpose_times(dx);
      impulse = select(active, impulse + dx, impulse);
      p = select(active, forms.plus_transpose_times(p, dx), p);
      if constexpr (Lagrangian::passes > 2) active = active & !(magnitude(next - v) <= T(small) * magnitude(next));
      v = next;
    }
  }
  return impulse;
}

/// The same with C and L at the state (q, p).
template <class System, class T>
RB_HD_LARGE Vector<T, System::m> put_on_constraint(const System& system, const Vector<T, element_size<System>>& q,
                                                   Vector<T, System::n>& p, mask_t<T>& singular) {
  PlainLagrangian<System> at(system, q);
  const Vector<T, System::n> v = velocity(system, q, p);
  ConstraintForms<System> forms;
  forms.mu = constraint_forms(system, q, v);
  return put_on_constraint(system, at, forms, q, v, p, singular);
}

RB_NAMESPACE_END
