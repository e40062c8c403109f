#pragma once
// The equation of the multiplier in steps with constant mass and a constraint C(x) v + d(x) = 0: the velocity moves along the
// reactions M^-1 C^T of a constraint at a known point, and the constraint at the point x that this velocity leads to is to hold.

#include "rattleback/linalg/lu.hpp"
#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/methods/solve/iteration.hpp"

RB_NAMESPACE_BEGIN

/// Systems on R^n with velocity constraints affine in v.
template <class System>
concept AffineOnRn = !on_group<System> && !HamiltonianAlone<System> && AffineConstraint<System>;

namespace detail {

/// M^-1 C^T, column by column. With a diagonal M it has the zeros of C^T.
template <class T, class System>
class Reactions {
  static constexpr int n = System::n, m = System::m;

 public:
  Reactions() = default;
  RB_HD Reactions(const Mass<System>& mass, const ConstraintForms<System>& forms) {
    RB_UNROLL
    for (int k = 0; k < m; ++k) column_[k] = mass.inverse_times(forms.mu[k]);
  }

  RB_HD static constexpr bool entry(int k, int i) {
    return !Mass<System>::is_diagonal || ConstraintForms<System>::entry(k, i);
  }
  RB_HD const T& operator()(int k, int i) const { return column_[k][i]; }
  RB_HD const Vector<T, n>& column(int k) const { return column_[k]; }
  /// v + M^-1 C^T y.
  RB_HD Vector<T, n> plus_times(const Vector<T, m>& y, Vector<T, n> v) const {
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (entry(k, i)) v[i] = fma(y[k], column_[k][i], v[i]);
    }
    return v;
  }

 private:
  Matrix<T, m, n> column_;
};

/// A constraint and its derivatives along the reactions: phi + derivative y = 0 is Newton's equation for the change of y.
template <class T, int m>
struct LinearisedConstraint {
  Vector<T, m> value;
  Matrix<T, m, m> derivative;

  /// The change of y; adds the singular lanes to `singular`.
  RB_HD Vector<T, m> solve(mask_t<T>& singular) const {
    Vector<T, m> y = -value;
    singular = singular | solve_guide(derivative, y);
    return y;
  }
  RB_HD friend LinearisedConstraint operator+(const LinearisedConstraint& a, const LinearisedConstraint& b) {
    LinearisedConstraint sum{a.value + b.value, {}};
    RB_UNROLL
    for (int k = 0; k < m; ++k) sum.derivative[k] = a.derivative[k] + b.derivative[k];
    return sum;
  }
};

/// C(x) v + d(x) at x = base + c v, by dual numbers along the reactions.
template <class T, class System, int n = System::n, int m = System::m>
RB_HD LinearisedConstraint<T, m> constraint_along(const System& system, const Vector<T, n>& base, const T& c,
                                                  const Vector<T, n>& v, const Reactions<T, System>& reactions) {
  using D = Dual<T, m>;
  Vector<D, n> x;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    x[i] = D(fma(c, v[i], base[i]));
    RB_UNROLL
    for (int k = 0; k < m; ++k)
      if (Reactions<T, System>::entry(k, i)) x[i].partial[k] = c * reactions(k, i);
  }
  const ConstraintForms<System, D> forms(system, x);
  // (C + sum_k y_k dC_k) (v + R y) + d: sums of their own for the values, C R and the dC_k v, which wait for each other otherwise
  ConstraintForms<System> values;
  RB_UNROLL
  for (int i = 0; i < m; ++i) values.mu[i] = rattleback::detail::values(forms.mu[i]);
  LinearisedConstraint<T, m> r{values * v, {}};
  RB_UNROLL
  for (int k = 0; k < m; ++k) {
    ConstraintForms<System> change;
    RB_UNROLL
    for (int i = 0; i < m; ++i) change.mu[i] = derivative(forms.mu[i], k);
    const Vector<T, m> column = values * reactions.column(k) + change * v;
    RB_UNROLL
    for (int i = 0; i < m; ++i) r.derivative[i][k] = column[i];
  }
  if constexpr (has_constraint_offset<System>) {
    const Vector<D, m> offset = constraint_offset(system, x);
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      r.value[i] = r.value[i] + offset[i].value;
      RB_UNROLL
      for (int k = 0; k < m; ++k) r.derivative[i][k] = r.derivative[i][k] + offset[i].partial[k];
    }
  }
  return r;
}

}  // namespace detail

RB_NAMESPACE_END
