#pragma once
// Inverses of up to four rows with one division: methods of factors.hpp.

#include <concepts>

#include "rattleback/linalg/elimination_order.hpp"
#include "rattleback/linalg/vector.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The inverse of up to three rows by cofactors, with one division; elimination needs N divisions in sequence. The equations should
/// have similar size: with bad scaling cofactors lose more digits than elimination.
template <class T, int N, class Pattern>
class CofactorInverse {
  static_assert(N >= 1 && N <= 3);

 public:
  static constexpr bool holds_inverse = true;
  Matrix<T, N, N> a;

  RB_HD void factorise() {
    const Matrix<T, N, N> given = a;
    RB_UNROLL
    for (int i = 0; i < N; ++i) {
      RB_UNROLL
      for (int j = 0; j < N; ++j)
        if (inverse_entry(i, j)) a[i][j] = cofactor(given, j, i);
    }
    T determinant = given[0][0] * a[0][0];
    RB_UNROLL
    for (int j = 1; j < N; ++j)
      if (Pattern::entry(0, j) && inverse_entry(j, 0)) determinant = fma(given[0][j], a[j][0], determinant);
    const T inverse = T(1.0) / determinant;
    singular_ = !is_finite(inverse);
    RB_UNROLL
    for (int i = 0; i < N; ++i) {
      RB_UNROLL
      for (int j = 0; j < N; ++j)
        if (inverse_entry(i, j)) a[i][j] = inverse * a[i][j];
    }
  }
  RB_HD Vector<T, N> solve(const Vector<T, N>& b) const {
    Vector<T, N> x;
    RB_UNROLL
    for (int i = 0; i < N; ++i) {
      x[i] = a[i][i] * b[i];  // the diagonal of an invertible matrix near a symmetric one
      RB_UNROLL
      for (int j = 0; j < N; ++j)
        if (j != i && inverse_entry(i, j)) x[i] = fma(a[i][j], b[j], x[i]);
    }
    return x;
  }
  /// With fewer products than `factorise` and `solve`, for one right-hand side.
  RB_HD mask_t<T> solve_once(Vector<T, N>& b) const
    requires std::same_as<Pattern, FullPattern>
  {
    T inverse;  // of the determinant
    if constexpr (N == 1) {
      inverse = T(1.0) / a[0][0];
    } else if constexpr (N == 2) {
      inverse = T(1.0) / fma(a[0][0], a[1][1], -(a[0][1] * a[1][0]));
      const T x = fma(a[1][1], b[0], -(a[0][1] * b[1]));
      b[1] = fma(a[0][0], b[1], -(a[1][0] * b[0]));
      b[0] = x;
    } else {
      const Vector<T, 3> c[3] = {cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])};  // columns of the adjugate
      inverse = T(1.0) / dot(a[0], c[0]);
      b = b[0] * c[0] + b[1] * c[1] + b[2] * c[2];
    }
    b = inverse * b;
    return !is_finite(inverse);
  }
  RB_HD const mask_t<T>& singular() const { return singular_; }

  RB_HD static constexpr bool inverse_entry(int i, int j) {
    if (N <= 2) return i == j || Pattern::entry(i, j);
    const int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;
    return (Pattern::entry(r0, c0) && Pattern::entry(r1, c1)) || (Pattern::entry(r0, c1) && Pattern::entry(r1, c0));
  }

 private:
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

  mask_t<T> singular_{false};
};

/// A diagonal matrix, which stores nothing else.
template <class T, int N>
struct DiagonalMatrix {
  struct Row {
    T& entry;
    RB_HD T& operator[](int) const { return entry; }
  };
  Vector<T, N> diagonal;

  /// The row i, of which the diagonal is the one entry.
  RB_HD Row operator[](int i) { return {diagonal[i]}; }
  template <class S>
  RB_HD void set(const Matrix<S, N, N>& matrix) {
    RB_UNROLL
    for (int i = 0; i < N; ++i) diagonal[i] = T(matrix[i][i]);
  }
};

/// The inverse of a diagonal matrix. As an elimination, whose loops ask tables for pivots and entries, it made chords a third slower.
template <class T, int N>
class DiagonalInverse {
 public:
  static constexpr bool holds_inverse = true;
  DiagonalMatrix<T, N> a;

  RB_HD void factorise() {
    singular_ = mask_t<T>(false);
    RB_UNROLL
    for (int i = 0; i < N; ++i) {
      a.diagonal[i] = T(1.0) / a.diagonal[i];
      singular_ = singular_ | !is_finite(a.diagonal[i]);
    }
  }
  RB_HD Vector<T, N> solve(const Vector<T, N>& b) const {
    Vector<T, N> x;
    RB_UNROLL
    for (int i = 0; i < N; ++i) x[i] = a.diagonal[i] * b[i];
    return x;
  }
  RB_HD Vector<T, N> column(int j) const {
    auto x = Vector<T, N>::zero();
    x[j] = a.diagonal[j];
    return x;
  }
  RB_HD mask_t<T> solve_once(Vector<T, N>& b) {
    factorise();
    b = solve(b);
    return singular_;
  }
  RB_HD const mask_t<T>& singular() const { return singular_; }
  RB_HD static constexpr bool inverse_entry(int i, int j) { return i == j; }

 private:
  mask_t<T> singular_{false};
};

/// The inverse of four rows by their 2 x 2 minors, with one division.
template <class T>
class MinorInverse {
 public:
  Matrix<T, 4, 4> a;

  RB_HD void factorise() {
    const Matrix<T, 4, 4> given = a;
    // minors of the first two rows and of the last two: columns 01, 02, 03, 12, 13, 23
    constexpr int left[] = {0, 0, 0, 1, 1, 2}, right[] = {1, 2, 3, 2, 3, 3};
    T s[6], c[6];
    RB_UNROLL
    for (int k = 0; k < 6; ++k) {
      s[k] = fma(given[0][left[k]], given[1][right[k]], -(given[0][right[k]] * given[1][left[k]]));
      c[k] = fma(given[2][left[k]], given[3][right[k]], -(given[2][right[k]] * given[3][left[k]]));
    }
    const T inverse =
        T(1.0) / (fma(s[0], c[5], fma(-s[1], c[4], s[2] * c[3])) + fma(s[3], c[2], fma(-s[4], c[1], s[5] * c[0])));
    RB_UNROLL
    for (int row = 0; row < 4; ++row) {
      const T(&minor)[6] = row < 2 ? c : s;
      const Vector<T, 4>& x = given[row < 2 ? 1 - row : 5 - row];
      const T signed_inverse = row % 2 == 0 ? inverse : -inverse;
      a[0][row] = signed_inverse * fma(x[1], minor[5], fma(-x[2], minor[4], x[3] * minor[3]));
      a[1][row] = -signed_inverse * fma(x[0], minor[5], fma(-x[2], minor[2], x[3] * minor[1]));
      a[2][row] = signed_inverse * fma(x[0], minor[4], fma(-x[1], minor[2], x[3] * minor[0]));
      a[3][row] = -signed_inverse * fma(x[0], minor[3], fma(-x[1], minor[1], x[2] * minor[0]));
    }
    singular_ = !is_finite(inverse);
  }
  RB_HD Vector<T, 4> solve(const Vector<T, 4>& b) const { return a * b; }
  RB_HD const mask_t<T>& singular() const { return singular_; }

 private:
  mask_t<T> singular_{false};
};

}  // namespace detail

RB_NAMESPACE_END
