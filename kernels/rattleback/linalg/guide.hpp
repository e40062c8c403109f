#pragma once
// Matrices that guide an iteration, and serve many right-hand sides.

#include "rattleback/linalg/sparse_inverse.hpp"

RB_NAMESPACE_BEGIN

/// The inverse of a matrix of four rows by its 2x2 minors, with one division.
template <class T>
class InverseOfFour {
 public:
  RB_HD Matrix<T, 4, 4>& matrix() { return a_; }
  /// Returns the singular lanes.
  RB_HD mask_t<T> factorise() {
    const Matrix<T, 4, 4> a = a_;
    // minors of the first two rows and of the last two: columns 01, 02, 03, 12, 13, 23
    constexpr int left[] = {0, 0, 0, 1, 1, 2}, right[] = {1, 2, 3, 2, 3, 3};
    T s[6], c[6];
    RB_UNROLL
    for (int k = 0; k < 6; ++k) {
      s[k] = fma(a[0][left[k]], a[1][right[k]], -(a[0][right[k]] * a[1][left[k]]));
      c[k] = fma(a[2][left[k]], a[3][right[k]], -(a[2][right[k]] * a[3][left[k]]));
    }
    const T inverse =
        T(1.0) / (fma(s[0], c[5], fma(-s[1], c[4], s[2] * c[3])) + fma(s[3], c[2], fma(-s[4], c[1], s[5] * c[0])));
    RB_UNROLL
    for (int row = 0; row < 4; ++row) {
      const T(&minor)[6] = row < 2 ? c : s;
      const Vector<T, 4>& x = a[row < 2 ? 1 - row : 5 - row];
      const T signed_inverse = row % 2 == 0 ? inverse : -inverse;
      a_[0][row] = signed_inverse * fma(x[1], minor[5], fma(-x[2], minor[4], x[3] * minor[3]));
      a_[1][row] = -signed_inverse * fma(x[0], minor[5], fma(-x[2], minor[2], x[3] * minor[1]));
      a_[2][row] = signed_inverse * fma(x[0], minor[4], fma(-x[1], minor[2], x[3] * minor[0]));
      a_[3][row] = -signed_inverse * fma(x[0], minor[3], fma(-x[1], minor[1], x[2] * minor[0]));
    }
    return !is_finite(inverse);
  }
  /// b becomes A^-1 b.
  RB_HD void solve(Vector<T, 4>& b) const { b = a_ * b; }

 private:
  Matrix<T, 4, 4> a_;
};

/// The factors of a matrix that is positive definite or guides an iteration, or its inverse where that takes one division. Large
/// matrices take the loops of Lu: unrolled, their code would compile for minutes.
template <class T, int N>
class GuideFactors {
  static constexpr bool unrolled = N <= 12;

 public:
  /// The matrix, to be filled before `factorise`.
  RB_HD Matrix<T, N, N>& matrix() {
    if constexpr (unrolled) {
      return a_;
    } else {
      return a_.matrix();
    }
  }
  /// Returns the singular lanes.
  RB_HD mask_t<T> factorise() {
    if constexpr (unrolled) {
      return rattleback::factorise(a_);
    } else {
      a_.factorise();
      return a_.singular();
    }
  }
  /// b becomes A^-1 b.
  RB_HD void solve(Vector<T, N>& b) const {
    if constexpr (unrolled) {
      solve_factorised(a_, b);
    } else {
      b = a_.solve(b);
    }
  }

 private:
  std::conditional_t<unrolled, Matrix<T, N, N>, Lu<T, N>> a_;
};
template <class T, int N>
  requires(N >= 1 && N <= 3)
class GuideFactors<T, N> {
 public:
  RB_HD Matrix<T, N, N>& matrix() { return a_; }
  RB_HD mask_t<T> factorise() {
    inverse_ = SparseInverse<T, N, FullPattern>(a_);
    return inverse_.singular();
  }
  RB_HD void solve(Vector<T, N>& b) const { b = inverse_ * b; }

 private:
  Matrix<T, N, N> a_;
  SparseInverse<T, N, FullPattern> inverse_;
};
template <class T>
class GuideFactors<T, 4> : public InverseOfFour<T> {};

RB_NAMESPACE_END
