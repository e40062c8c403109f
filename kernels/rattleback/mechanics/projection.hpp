#pragma once
// The projection of momenta onto the constraint, for all forms of L.

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian_at.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// The entries of C M^-1, row by row. The entries of C are listed, because compilers count the operations of constants.
template <class System, class Inverse>
constexpr auto response_table() {
  using Rows = RowsOfForms<System>;
  PatternTable<System::m, System::n> table{};
  for (int r = 0; r < System::m; ++r)
    for (int c = 0; c < Rows::value[r * Rows::length]; ++c)
      for (int j = 0; j < System::n; ++j)
        if (Inverse::entry(Rows::value[r * Rows::length + 1 + c], j)) table.values[r * System::n + j] = true;
  return table;
}
template <class System, class Inverse>
struct ResponseTable {
  static constexpr auto value = response_table<System, Inverse>();
};
template <class System, class Inverse>
constexpr auto gram_table() {
  using Rows = RowsOfForms<System>;
  constexpr auto response = ResponseTable<System, Inverse>::value;
  PatternTable<System::m, System::m> table{};
  for (int r = 0; r < System::m; ++r)
    for (int k = 0; k < System::m; ++k)
      for (int c = 0; c < Rows::value[k * Rows::length]; ++c)
        if (response.values[r * System::n + Rows::value[k * Rows::length + 1 + c]])
          table.values[r * System::m + k] = true;
  return table;
}
template <class System, class Inverse>
struct GramTable {
  static constexpr auto value = gram_table<System, Inverse>();
};
/// The entries of C M^-1 C^T, in which C and M may be those of different points. With inverses that do not know their zeros all are there.
template <class System, class Inverse>
struct GramPattern {
  RB_HD static constexpr bool entry(int i, int j) {
    if constexpr (requires { Inverse::entry(0, 0); }) {
      using Table = GramTable<System, Inverse>;
      if constexpr (Table::value.full()) {
        return true;
      } else {
        return entry_of<Table>(i * System::m + j);
      }
    } else {
      return true;
    }
  }
};
/// The inverse of the unit metric.
struct UnitInverse {
  RB_HD static constexpr bool entry(int i, int j) { return i == j; }
};
/// The zeros that its factors are to know. Up to three rows the inverse by cofactors needs none.
template <class Pattern, int rows>
using ZerosOfFactors = std::conditional_t<(rows > 3), Pattern, FullPattern>;
}  // namespace detail

/// C M^-1 C^T. Where the inverse of M is not made of known zeros and unrolled, neither is this.
template <class Forms, class Inverse, class System = typename Forms::MechanicalSystem,
          class T = typename System::scalar, int m = System::m>
RB_HD Matrix<T, m, m> gram_of(const Forms& forms, const Inverse& mass_inverse) {
  using Pattern = detail::GramPattern<System, Inverse>;
  auto gram = Matrix<T, m, m>::zero();
  const auto set_column = [&](auto k) RB_INLINED {
    const Vector<T, System::n> response = mass_inverse * forms.row(k);
    detail::for_entries<m, Pattern>(k, [&](auto l) RB_INLINED { gram[l][k] = forms.row_times(l, response); });
  };
  if constexpr (std::is_same_v<Inverse, InverseMass<System>>) {
    for (int k = 0; k < m; ++k) set_column(k);
  } else {
    detail::for_constants<m>(set_column);
  }
  return gram;
}

/// Adds an impulse C^T x to p such that Phi(q, v) = 0 at p = L_v(q, v), and returns x. C are the constraint forms and `at` is L at q;
/// `v` is near the velocity. These are steps of Newton's method in v and x. Where v is affine in p, and Phi in v, the first one is exact
/// except for round-off.
template <class System, class Lagrangian, class Forms, class T = typename System::scalar>
RB_HD Vector<T, System::m> put_on_constraint(const System& system, Lagrangian& at, const Forms& forms,
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
    using Pattern = detail::ZerosOfFactors<detail::GramPattern<System, std::remove_cvref_t<decltype(mass_inverse)>>, m>;
    singular = singular |
               (active & (mass_inverse.singular() | solve_once<Definite<Pattern>>(gram_of(forms, mass_inverse), dx)));
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
  const ConstraintForms<System> forms(constraint_forms(system, q, v));
  return put_on_constraint(system, at, forms, q, v, p, singular);
}

RB_NAMESPACE_END
