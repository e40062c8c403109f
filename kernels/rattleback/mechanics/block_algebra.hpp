#pragma once
// Linear algebra of systems whose matrices consist of multiples of the identity (`Blocks` of mechanics/concepts.hpp).

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/constraint.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Linear algebra of a system with the structure `Blocks`.
template <class T, class System>
struct BlockAlgebra {
  static constexpr int n = System::n, m = System::m, k = System::block, N = n / k;
  using BlockMatrix = Matrix<T, N, N>;  // factors of the identity of R^k
  using Forms = ConstraintForms<System>;

  RB_HD explicit BlockAlgebra(const System& system) {
    const Vector<T, n> diagonal = system.mass_diagonal();
    RB_UNROLL
    for (int b = 0; b < N; ++b) {
      mass[b] = diagonal[b * k];
      inverse_mass[b] = T(1.0) / mass[b];
    }
  }

  RB_HD static Vector<T, n> scale(const Vector<T, N>& by, const Vector<T, n>& x) {
    Vector<T, n> r;
    RB_UNROLL
    for (int i = 0; i < n; ++i) r[i] = by[i / k] * x[i];
    return r;
  }
  RB_HD static Vector<T, n> times(const BlockMatrix& a, const Vector<T, n>& x) {
    Vector<T, n> r;
    RB_UNROLL
    for (int b = 0; b < N; ++b) {
      RB_UNROLL
      for (int i = 0; i < k; ++i) {
        T entry = a[b][0] * x[i];
        RB_UNROLL
        for (int c = 1; c < N; ++c) entry = fma(a[b][c], x[c * k + i], entry);
        r[b * k + i] = entry;
      }
    }
    return r;
  }
  RB_HD static BlockMatrix product(const BlockMatrix& a, const BlockMatrix& b) {
    BlockMatrix r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = transpose_times(b, a[i]);
    return r;
  }
  /// diag(mass) + s a.
  RB_HD BlockMatrix mass_plus(const T& s, const BlockMatrix& a) const {
    BlockMatrix r;
    RB_UNROLL
    for (int b = 0; b < N; ++b) {
      r[b] = s * a[b];
      r[b][b] = r[b][b] + mass[b];
    }
    return r;
  }
  RB_HD static Vector<T, n> solve(const Factors<T, N>& lu, const Vector<T, n>& x) {
    Vector<T, n> r;
    RB_UNROLL
    for (int i = 0; i < k; ++i) {
      Vector<T, N> y;
      RB_UNROLL
      for (int b = 0; b < N; ++b) y[b] = x[b * k + i];
      y = lu.solve(y);
      RB_UNROLL
      for (int b = 0; b < N; ++b) r[b * k + i] = y[b];
    }
    return r;
  }
  /// Rows D^2 g_i x; this formula is exact because Dg is affine in q.
  RB_HD static Forms second_forms(const System& system, const Vector<T, n>& x) {
    const Matrix<T, m, n> at_0 = system.position_jacobian(Vector<T, n>::zero());
    Forms r(system.position_jacobian(x));
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (Forms::entry(i, j)) r.mu[i][j] = r.mu[i][j] - at_0[i][j];
    }
    return r;
  }

  Vector<T, N> mass, inverse_mass;
};

}  // namespace detail

RB_NAMESPACE_END
