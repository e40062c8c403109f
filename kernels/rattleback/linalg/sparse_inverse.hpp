#pragma once
// The inverse of a small matrix with known zeros.

#include "rattleback/linalg/lu.hpp"

RB_NAMESPACE_BEGIN

/// The pattern of a matrix without known zeros.
struct FullPattern {
  RB_HD static constexpr bool entry(int, int) { return true; }
};

/// Solves A x = b for matrices whose zeros are known at compile time: `Pattern::entry(i, j)` is false where A is 0. Up to
/// three rows the inverse is made of cofactors, with one division. More rows are factorised without exchanges: A must be
/// near a positive definite matrix, or only guide an iteration.
template <class T, int N, class Pattern>
class SparseInverse {
  static constexpr bool by_cofactors = N <= 3;

 public:
  SparseInverse() = default;
  RB_HD explicit SparseInverse(const Matrix<T, N, N>& a) {
    if constexpr (diagonal()) {
      singular_ = mask_t<T>(false);
      RB_UNROLL
      for (int i = 0; i < N; ++i) {
        a_[i][i] = T(1.0) / a[i][i];
        singular_ = singular_ | !is_finite(a_[i][i]);
      }
    } else if constexpr (by_cofactors) {
      RB_UNROLL
      for (int i = 0; i < N; ++i) {
        RB_UNROLL
        for (int j = 0; j < N; ++j)
          if (entry(i, j)) a_[i][j] = cofactor(a, j, i);
      }
      T determinant = a[0][0] * a_[0][0];
      RB_UNROLL
      for (int j = 1; j < N; ++j)
        if (Pattern::entry(0, j) && entry(j, 0)) determinant = fma(a[0][j], a_[j][0], determinant);
      const T inverse = T(1.0) / determinant;
      singular_ = !is_finite(inverse);
      RB_UNROLL
      for (int i = 0; i < N; ++i) {
        RB_UNROLL
        for (int j = 0; j < N; ++j)
          if (entry(i, j)) a_[i][j] = inverse * a_[i][j];
      }
    } else {
      a_ = a;
      singular_ = factorise(a_);
    }
  }

  RB_HD Vector<T, N> operator*(const Vector<T, N>& b) const {
    if constexpr (!by_cofactors && !diagonal()) {
      Vector<T, N> x = b;
      solve_factorised(a_, x);
      return x;
    } else {
      Vector<T, N> x;
      RB_UNROLL
      for (int i = 0; i < N; ++i) {
        x[i] = a_[i][i] * b[i];  // the diagonal of an invertible matrix near a symmetric one
        RB_UNROLL
        for (int j = 0; j < N; ++j)
          if (j != i && entry(i, j)) x[i] = fma(a_[i][j], b[j], x[i]);
      }
      return x;
    }
  }

  /// The column number j of the inverse.
  RB_HD Vector<T, N> column(int j) const {
    auto x = Vector<T, N>::zero();
    if constexpr (!by_cofactors && !diagonal()) {
      x[j] = T(1.0);
      return *this * x;
    }
    RB_UNROLL
    for (int i = 0; i < N; ++i)
      if (entry(i, j)) x[i] = a_[i][j];
    return x;
  }
  RB_HD const mask_t<T>& singular() const { return singular_; }

  /// Whether the inverse has this entry.
  RB_HD static constexpr bool entry(int i, int j) {
    if (diagonal()) return i == j;
    if (N > 3) return true;
    if (N <= 2) return i == j || Pattern::entry(i, j);
    const int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
    return (Pattern::entry(r0, c0) && Pattern::entry(r1, c1)) || (Pattern::entry(r0, c1) && Pattern::entry(r1, c0));
  }

 private:
  RB_HD static constexpr bool diagonal() {
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        if (i != j && Pattern::entry(i, j)) return false;
    return true;
  }
  /// Of row i and column j.
  RB_HD static T cofactor(const Matrix<T, N, N>& a, int i, int j) {
    if constexpr (N == 1) {
      return T(1.0);
    } else if constexpr (N == 2) {
      return i == j ? a[1 - i][1 - j] : -a[1 - i][1 - j];
    } else {
      const int r0 = (i + 1) % 3, r1 = (i + 2) % 3, c0 = (j + 1) % 3, c1 = (j + 2) % 3;
      const bool straight = Pattern::entry(r0, c0) && Pattern::entry(r1, c1),
                 crossed = Pattern::entry(r0, c1) && Pattern::entry(r1, c0);
      if (!crossed) return a[r0][c0] * a[r1][c1];
      const T other = a[r0][c1] * a[r1][c0];
      return straight ? fma(a[r0][c0], a[r1][c1], -other) : -other;
    }
  }

  Matrix<T, N, N> a_;  // entries of the inverse, or factors
  mask_t<T> singular_{false};
};

/// The inverse of the positive definite matrix of m constraints, G M^-1 G^T.
template <class T, int m>
using GramInverse = SparseInverse<T, m, FullPattern>;

RB_NAMESPACE_END
