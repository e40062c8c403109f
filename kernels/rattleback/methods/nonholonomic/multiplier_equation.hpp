#pragma once
// The equation of the multiplier in steps with constant mass and a constraint C(x) v + d(x) = 0: the velocity moves along the
// reactions M^-1 C^T of a constraint at a known point, and the constraint at the point x that this velocity leads to is to hold.

#include "rattleback/linalg/factors.hpp"
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

/// The equation of the multiplier y: the constraint C(x) v + d(x) is to hold at x = base + c v, with v = free + R y and the
/// reactions R. With `trap` its sum with the constraint at the base, whose forms are `start`, is to be 0 instead.
template <bool trap, class T, class System>
struct MultiplierEquation {
  static constexpr int n = System::n, m = System::m;
  using Forms = ConstraintForms<System>;

  /// Minus the constraint at v; forms become C(x).
  RB_HD static Vector<T, m> constraint(const System& system, const Forms& start, const Vector<T, n>& base, const T& c,
                                       const Vector<T, n>& v, Forms& forms) {
    const Vector<T, n> x = fma(c, v, base);
    forms = Forms(system, x);
    Vector<T, m> phi = forms * v;
    if constexpr (trap) phi = phi + start * v;
    if constexpr (has_constraint_offset<System>) {
      phi = phi + constraint_offset(system, x);
      if constexpr (trap) phi = phi + constraint_offset(system, base);
    }
    return -phi;
  }

  /// The same; `matrix` becomes the derivative along the reactions R_k, and `change` c DC[R_k], by dual numbers.
  RB_HD static Vector<T, m> linearised(const System& system, const Reactions<T, System>& reactions, const Forms& start,
                                       const Vector<T, n>& base, const T& c, const Vector<T, n>& v,
                                       Matrix<T, m, m>& matrix, Forms (&change)[m]) {
    using D = Dual<T, m>;
    Vector<D, n> x;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      x[i] = D(fma(c, v[i], base[i]));
      RB_UNROLL
      for (int k = 0; k < m; ++k)
        if (Reactions<T, System>::entry(k, i)) x[i].partial[k] = c * reactions(k, i);
    }
    const ConstraintForms<System, D> along(system, x);
    Forms forms;
    RB_UNROLL
    for (int i = 0; i < m; ++i) forms.mu[i] = values(along.mu[i]);
    Vector<T, m> phi = forms * v;
    if constexpr (trap) phi = phi + start * v;
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      RB_UNROLL
      for (int i = 0; i < m; ++i) change[k].mu[i] = derivative(along.mu[i], k);
      Vector<T, m> column = forms * reactions.column(k) + change[k] * v;
      if constexpr (trap) column = column + start * reactions.column(k);
      matrix.set_column(k, column);
    }
    if constexpr (has_constraint_offset<System>) {
      const Vector<D, m> offset = constraint_offset(system, x);
      if constexpr (trap) phi = phi + constraint_offset(system, base);
      RB_UNROLL
      for (int i = 0; i < m; ++i) {
        phi[i] = phi[i] + offset[i].value;
        RB_UNROLL
        for (int k = 0; k < m; ++k) matrix[i][k] = matrix[i][k] + offset[i].partial[k];
      }
    }
    return -phi;
  }
};

/// Solves the equation for y and v, from y = 0; `forms` become C(x), up to an update at the level of round-off. Returns the size of
/// the last update of v.
///
/// In most systems the constraint depends on other coordinates than those that it pushes. The equation is then linear in y, and Newton's
/// update from y = 0 solves it. Therefore every pass first evaluates the constraint alone, which costs much less than its derivatives,
/// and updates y by the last matrix: where this update is at the level of round-off, it is the last one. Otherwise the terms of second
/// order move the matrix to y and correct the update, without the second derivatives of C. This matrix serves the next passes too, which
/// gain five digits each and mostly are one or two; passes after these take the matrix of each iterate.
template <bool trap, class T, class System, int n = System::n, int m = System::m>
RB_HD T solve_multiplier(const System& system, const Reactions<T, System>& reactions,
                         const ConstraintForms<System>& start, const Vector<T, n>& base, const T& c,
                         const Vector<T, n>& free, const SolverOptions<T>& options, T scale, Vector<T, m>& y,
                         Vector<T, n>& v, ConstraintForms<System>& forms, SolveState<T>& state) {
  using Equation = MultiplierEquation<trap, T, System>;
  Matrix<T, m, m> matrix;
  ConstraintForms<System> changes[m];
  y = Equation::linearised(system, reactions, start, base, c, free, matrix, changes);
  Vector<T, m> bend[m][m];  // here, because the changes take more registers
  RB_UNROLL
  for (int k = 0; k < m; ++k) {
    RB_UNROLL
    for (int l = 0; l < m; ++l) bend[k][l] = changes[k] * reactions.column(l);
  }
  Factors<T, m, Guide<>> chord;
  chord.matrix() = matrix;
  const mask_t<T> singular = chord.factorise();
  y = chord.solve(y);
  Vector<T, m> size, last;
  RB_UNROLL
  for (int k = 0; k < m; ++k) {
    size[k] = magnitude(reactions.column(k));
    scale = fma(magnitude(y[k]), size[k], scale);
  }
  Iteration<T> lanes({max(options.tolerance, T(1e-14)), options.max_iterations}, scale);
  lanes.note_singular(singular);
  lanes.count(lanes.active);
  T update(0.0);
  for (int iteration = 1;; ++iteration) {
    T change(0.0);
    v = reactions.plus_times(y, free);
    const Vector<T, m> right = Equation::constraint(system, start, base, c, v, forms);
    Vector<T, m> dy = chord.solve(right);
    RB_UNROLL
    for (int k = 0; k < m; ++k) change = fma(magnitude(dy[k]), size[k], change);
    update = select(lanes.active, change, update);
    last = select(lanes.active, dy, last);
    lanes.stop(lanes.convergence(change));
    if (lanes.ended() || iteration >= options.max_iterations) break;
    lanes.count(lanes.active);
    if (iteration == 1) {
      // terms of second order, without the second derivatives of C
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        RB_UNROLL
        for (int l = 0; l < m; ++l) {
          const Vector<T, m> both = bend[k][l] + bend[l][k];
          RB_UNROLL
          for (int i = 0; i < m; ++i) matrix[i][k] = fma(both[i], y[l], matrix[i][k]);
        }
      }
      chord.matrix() = matrix;
      lanes.note_singular(chord.factorise());
      dy = chord.solve(right);
      Vector<T, m> bent = right;
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        RB_UNROLL
        for (int l = 0; l < m; ++l) bent = fma(-(dy[k] * dy[l]), bend[k][l], bent);
      }
      dy = chord.solve(bent);
    } else if (iteration >= 4) {
      Equation::linearised(system, reactions, start, base, c, v, matrix, changes);
      chord.matrix() = matrix;
      lanes.note_singular(chord.factorise());
      dy = chord.solve(right);
    }
    y = select(lanes.active, y + dy, y);
  }
  y = y + last;
  v = reactions.plus_times(y, free);
  state = lanes;
  return update;
}

}  // namespace detail

RB_NAMESPACE_END
