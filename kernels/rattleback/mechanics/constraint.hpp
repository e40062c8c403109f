#pragma once
// The constraint of a system, the constraint forms, and sparse linear algebra with these forms.

#include "rattleback/mechanics/driven.hpp"
#include "rattleback/mechanics/mass.hpp"

RB_NAMESPACE_BEGIN

/// The matrix mu(q) of a constraint affine in v, with the sparsity that the system states.
template <class System, class S = typename System::scalar>
struct ConstraintForms {
  static constexpr int n = System::n, m = System::m;
  Matrix<S, m, n> mu;

  using MechanicalSystem = System;

  ConstraintForms() = default;
  RB_HD ConstraintForms(const System& system, const Configuration<System, S>& q) {
    if constexpr (m > 0) mu = system.constraint_matrix(q);
  }
  RB_HD explicit ConstraintForms(const Matrix<S, m, n>& forms) : mu(forms) {}
  RB_HD void set(const Matrix<S, m, n>& forms) { mu = forms; }
  RB_HD void clear() { mu = Matrix<S, m, n>::zero(); }
  RB_HD const Vector<S, n>& row(int i) const { return mu[i]; }

  struct Stated {
    constexpr bool operator()(int row, int column) const { return System::constraint_entry(row, column); }
  };
  static constexpr bool states_entries = requires { System::constraint_entry(0, 0); };
  RB_HD static constexpr bool entry(int row, int column) {
    if constexpr (states_entries) {
      return detail::looked_up<m, n, Stated>(row, column);
    } else {
      return true;
    }
  }

  /// Row number i of mu times x. Where i is a constant, its entries are not looked up.
  template <class Index>
  RB_HD S row_times(Index i, const Vector<S, n>& x) const {
    SumOfProducts<S> r;
    for_row(i, [&](auto j) RB_INLINED { r.add(mu[i][j], x[j]); });
    return r.value;
  }
  /// mu x.
  RB_HD Vector<S, m> operator*(const Vector<S, n>& x) const {
    Vector<S, m> r;
    detail::for_constants<m>([&](auto i) RB_INLINED { r[i] = row_times(i, x); });
    return r;
  }
  /// mu^T lambda.
  RB_HD Vector<S, n> transpose_times(const Vector<S, m>& lambda) const {
    auto y = Vector<S, n>::zero();
    if constexpr (m > 0) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (entry(0, j)) y[j] = lambda[0] * mu[0][j];
    }
    return plus_transpose_times<1>(y, lambda);
  }
  /// y + mu^T lambda, summed from row `first` on.
  template <int first = 0>
  RB_HD Vector<S, n> plus_transpose_times(Vector<S, n> y, const Vector<S, m>& lambda) const {
    detail::for_constants<m, first>(
        [&](auto i) RB_INLINED { for_row(i, [&](auto j) RB_INLINED { y[j] = fma(lambda[i], mu[i][j], y[j]); }); });
    return y;
  }
  /// mu M^-1 other^T.
  RB_HD Matrix<S, m, m> gram(const Mass<System>& mass, const ConstraintForms& other) const {
    Matrix<S, m, m> c;
    RB_UNROLL
    for (int l = 0; l < m; ++l) c.set_column(l, *this * mass.inverse_times(other.mu[l]));
    return c;
  }
  /// f + M^-1 mu^T lambda, an acceleration.
  RB_HD Vector<S, n> plus_response(const Mass<System>& mass, const Vector<S, n>& f, const Vector<S, m>& lambda) const {
    if constexpr (m == 0) {
      return f;
    } else if constexpr (Mass<System>::is_identity) {
      return plus_transpose_times(f, lambda);
    } else {
      return f + mass.inverse_times(transpose_times(lambda));
    }
  }

 private:
  static constexpr detail::Places<n> places_of(int row) {
    detail::Places<n> r{};
    for (int j = 0; j < n; ++j)
      if (entry(row, j)) r.at[r.count++] = j;
    return r;
  }
  template <int row>
  static constexpr detail::Places<n> places = places_of(row);

  /// Calls f with the columns of the entries in row number i.
  template <class Index, class F>
  RB_HD static void for_row(Index i, const F& f) {
    if constexpr (std::same_as<Index, int> || !states_entries) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (entry(i, j)) f(j);
    } else {
      [&]<int... c>(std::integer_sequence<int, c...>) RB_INLINED {
        (f(std::integral_constant<int, places<Index::value>.at[c]>{}), ...);
      }(std::make_integer_sequence<int, places<Index::value>.count>{});
    }
  }
};

namespace detail {
template <class System>
constexpr int widest_form() {
  int widest = 1;
  for (int i = 0; i < System::m; ++i) {
    int count = 0;
    for (int j = 0; j < System::n; ++j) count += ConstraintForms<System>::entry(i, j) ? 1 : 0;
    if (count > widest) widest = count;
  }
  return widest;
}
template <int size>
struct IntegerTable {
  int values[size];
  RB_HD constexpr int operator[](int i) const { return values[i]; }
};
template <class System>
constexpr auto rows_of_forms() {
  constexpr int length = widest_form<System>() + 1;
  IntegerTable<System::m * length + 1> table{};
  for (int i = 0; i < System::m; ++i) {
    int& count = table.values[i * length];
    for (int j = 0; j < System::n; ++j)
      if (ConstraintForms<System>::entry(i, j)) table.values[i * length + ++count] = j;
  }
  return table;
}
/// The entries that the constraint forms of a system have, row by row: how many, then their places.
template <class System>
struct RowsOfForms {
  static constexpr int widest = widest_form<System>(), length = widest + 1;
  static constexpr auto value = rows_of_forms<System>();
};
}  // namespace detail

/// The constraint forms without their zeros, for loops that stay loops: copies of 20 rods with 40 coordinates take 5 KB in place of 51, and
/// products go from entry to entry. Numbers are those of ConstraintForms, to the last bit.
template <class System, class S = typename System::scalar>
class PackedForms {
  static constexpr int n = System::n, m = System::m;
  using Rows = detail::RowsOfForms<System>;
  RB_HD static int count(int row) { return detail::entry_of<Rows>(row * Rows::length); }
  RB_HD static int place(int row, int c) { return detail::entry_of<Rows>(row * Rows::length + 1 + c); }

 public:
  using MechanicalSystem = System;

  RB_HD void set(const Matrix<S, m, n>& mu) {
    for (int i = 0; i < m; ++i)
      for (int c = 0; c < count(i); ++c) mu_[i][c] = mu[i][place(i, c)];
  }
  RB_HD void clear() { mu_ = Matrix<S, m, Rows::widest>::zero(); }
  RB_HD Vector<S, n> row(int i) const {
    auto r = Vector<S, n>::zero();
    for (int c = 0; c < count(i); ++c) r[place(i, c)] = mu_[i][c];
    return r;
  }
  RB_HD S row_times(int i, const Vector<S, n>& x) const {
    if (count(i) == 0) return S(0.0);
    S r = mu_[i][0] * x[place(i, 0)];
    for (int c = 1; c < count(i); ++c) r = fma(mu_[i][c], x[place(i, c)], r);
    return r;
  }
  RB_HD Vector<S, m> operator*(const Vector<S, n>& x) const {
    Vector<S, m> r;
    for (int i = 0; i < m; ++i) r[i] = row_times(i, x);
    return r;
  }
  RB_HD Vector<S, n> transpose_times(const Vector<S, m>& lambda) const {
    auto y = Vector<S, n>::zero();
    for (int c = 0; c < count(0); ++c) y[place(0, c)] = lambda[0] * mu_[0][c];
    return plus_transpose_times<1>(y, lambda);
  }
  template <int first = 0>
  RB_HD Vector<S, n> plus_transpose_times(Vector<S, n> y, const Vector<S, m>& lambda) const {
    for (int i = first; i < m; ++i)
      for (int c = 0; c < count(i); ++c) y[place(i, c)] = fma(lambda[i], mu_[i][c], y[place(i, c)]);
    return y;
  }

 private:
  Matrix<S, m, Rows::widest> mu_;
};

/// The constraint forms of steps that keep them for each stage.
template <class System>
using FormsOfSweeps =
    std::conditional_t<(RB_UNROLLS == 0 && System::m > 0 && 2 * detail::widest_form<System>() <= System::n),
                       PackedForms<System>, ConstraintForms<System>>;

/// Forms by a matrix of all entries.
template <class System, class T = typename System::scalar>
RB_HD FormsOfSweeps<System> forms_of(const Matrix<T, System::m, System::n>& mu) {
  FormsOfSweeps<System> forms;
  forms.set(mu);
  return forms;
}

/// The offset d(q) of a constraint affine in v.
template <class System, class S>
RB_HD Vector<S, System::m> constraint_offset(const System& system, const Vector<S, element_size<System>>& q) {
  if constexpr (requires { system.constraint_offset(q); }) {
    return system.constraint_offset(q);
  } else {
    return Vector<S, System::m>::zero();
  }
}
namespace detail {
/// Dg(q) v; of a system at a time the hidden constraint Dg(q) v + g_t.
template <class System, class S>
RB_HD Vector<S, position_count<System>> hidden_constraint(const System& system,
                                                          const Vector<S, element_size<System>>& q,
                                                          const Vector<S, System::n>& v) {
  const auto g = running<S>(system).position_constraint(moving<group_of<System>>(q, v));
  return derivative(g);
}
/// Phi(q, v).
template <class System, class S>
RB_HD auto velocity_constraint(const System& system, const Vector<S, element_size<System>>& q,
                               const Vector<S, System::n>& v) {
  if constexpr (gives_constraint_matrix<System>) {
    const Vector<S, velocity_count<System>> phi = system.constraint_matrix(q) * v;
    if constexpr (has_constraint_offset<System>) return phi + system.constraint_offset(q);
    return phi;
  } else {
    return system.constraint(q, v);
  }
}
/// The rows of Phi_v.
template <class System, class T>
RB_HD Matrix<T, velocity_count<System>, System::n> velocity_forms(const System& system,
                                                                  const Vector<T, element_size<System>>& q,
                                                                  const Vector<T, System::n>& v) {
  constexpr int n = System::n, m = velocity_count<System>;
  if constexpr (gives_constraint_matrix<System>) {
    return system.constraint_matrix(q);
  } else {
    using D = Dual<T, n>;
    auto x = lift<D>(q);
    const Vector<D, m> phi = system.constraint(x, seeded_velocity<D, 0>(v));
    return partials<n>(phi);
  }
}
}  // namespace detail

/// Phi(q, v), or the hidden constraint where the constraint is holonomic. With both kinds, the hidden constraint comes first.
template <class System, class S>
RB_HD Vector<S, System::m> constraint(const System& system, const Vector<S, element_size<System>>& q,
                                      const Vector<S, System::n>& v) {
  if constexpr (System::m == 0) {
    return {};
  } else if constexpr (is_mixed<System>) {
    return join(detail::hidden_constraint(system, q, v), detail::velocity_constraint(system, q, v));
  } else if constexpr (is_holonomic<System>) {
    return detail::hidden_constraint(system, q, v);
  } else if constexpr (AffineConstraint<System>) {
    const ConstraintForms<System, S> forms(system, q);
    return forms * v + constraint_offset(system, q);
  } else {
    return system.constraint(q, v);
  }
}

/// g and the derivative Dg at q.
template <class T, int n, int m>
struct PositionConstraint {
  Vector<T, m> value;
  Matrix<T, m, n> jacobian;
};

template <class System, class T>
RB_HD auto position_constraint(const System& system, const Vector<T, element_size<System>>& q)
    -> PositionConstraint<T, System::n, position_count<System>> {
  if constexpr (requires { system.position_jacobian(q); }) {
    return {system.position_constraint(q), system.position_jacobian(q)};
  } else {
    const auto g = system.position_constraint(seeded_configuration<group_of<System>, Dual<T, System::n>>(q));
    return {detail::values(g), detail::partials<System::n>(g)};
  }
}

/// Dg.
template <class System, class T>
RB_HD Matrix<T, position_count<System>, System::n> position_jacobian(const System& system,
                                                                     const Vector<T, element_size<System>>& q) {
  if constexpr (requires { system.position_jacobian(q); }) {
    return system.position_jacobian(q);
  } else {
    return position_constraint(system, q).jacobian;
  }
}

/// The covectors along which multipliers act, row by row: Phi_v, or Dg where the constraint is holonomic; with both kinds, Dg comes
/// first.
template <class System, class T>
RB_HD Matrix<T, System::m, System::n> constraint_forms(const System& system, const Vector<T, element_size<System>>& q,
                                                       const Vector<T, System::n>& v) {
  if constexpr (is_mixed<System>) {
    constexpr int h = position_count<System>;
    const auto dg = position_jacobian(system, q);
    const auto phi = detail::velocity_forms(system, q, v);
    Matrix<T, System::m, System::n> forms;
    RB_UNROLL
    for (int k = 0; k < h; ++k) forms[k] = dg[k];
    RB_UNROLL
    for (int k = h; k < System::m; ++k) forms[k] = phi[k - h];
    return forms;
  } else if constexpr (is_holonomic<System>) {
    return position_jacobian(system, q);
  } else {
    return detail::velocity_forms(system, q, v);
  }
}

RB_NAMESPACE_END
