#pragma once
// LU factorisation with partial pivoting. Rows are exchanged by `select`, lane by lane, so that each trajectory of a
// pack gets the same pivots as with double.

#include <concepts>

#include "rattleback/linalg/tile.hpp"
#include "rattleback/linalg/vector.hpp"

RB_NAMESPACE_BEGIN

/// P A = L U of an N x N matrix; solves A x = b. singular() marks lanes with a pivot that is zero or not finite. The
/// lanes of a tile share the object and distribute the columns.
template <class T, int N, class Team = LaneTile<1>>
class Lu {
  static_assert(!Team::shares() || std::same_as<mask_t<T>, bool>);

 public:
  Lu() = default;
  RB_HD_LARGE explicit Lu(const Matrix<T, N, N>& matrix) : a_(matrix) { factorise(); }

  /// A large matrix is filled in place through `matrix()` and then factorised; on a GPU copies of a large matrix would
  /// go through registers.
  RB_HD Matrix<T, N, N>& matrix() { return a_; }
  RB_HD_LARGE void factorise() {
    RB_ROLLED
    for (int k = 0; k < N; ++k) {
      if (Team::leads()) find_pivot(k);
      Team::sync();
      Team::for_each(0, N, [&](int j) {
        RB_ROLLED
        for (int i = k + 1; exchanged_[k] && i < N; ++i)
          if (any(exchange_[k][i])) exchange(exchange_[k][i], a_[k][j], a_[i][j]);
        RB_ROLLED
        for (int i = k + 1; j == k && i < N; ++i) a_[i][k] = a_[i][k] * inverse_pivot_[k];
      });
      Team::for_each(k + 1, N, [&](int j) {
        const T above = a_[k][j];
        RB_ROLLED
        for (int i = k + 1; i < N; ++i) a_[i][j] = fma(-a_[i][k], above, a_[i][j]);
      });
    }
  }

  RB_HD_LARGE Vector<T, N> solve(const Vector<T, N>& b) const {
    Vector<T, N> own;
    Vector<T, N>& x = shared_or(own);
    if (Team::leads()) {  // entry by entry: NVRTC 13.0 leaves out part of a copy of the whole vector
      RB_ROLLED
      for (int i = 0; i < N; ++i) x[i] = b[i];
    }
    Team::sync();
    RB_ROLLED
    for (int k = 0; k + 1 < N; ++k) {
      if (!exchanged_[k]) continue;
      Team::for_each(k + 1, N, [&](int i) {
        if (any(exchange_[k][i])) exchange(exchange_[k][i], x[k], x[i]);
      });
    }
    RB_ROLLED
    for (int j = 0; j + 1 < N; ++j) Team::for_each(j + 1, N, [&](int i) { x[i] = fma(-a_[i][j], x[j], x[i]); });
    Vector<T, N> r;
    RB_ROLLED
    for (int j = N - 1; j > 0; --j) {
      r[j] = x[j] * inverse_pivot_[j];
      Team::for_each(0, j, [&](int i) { x[i] = fma(-a_[i][j], r[j], x[i]); });
    }
    r[0] = x[0] * inverse_pivot_[0];
    Team::sync();
    return r;
  }

  RB_HD_LARGE mask_t<T> singular() const {
    mask_t<T> singular(false);
    RB_ROLLED
    for (int k = 0; k < N; ++k) singular = singular | !is_finite(inverse_pivot_[k]);
    return singular;
  }
  /// Copies the factors of `other` in the lanes of the mask.
  RB_HD_LARGE void assign(const mask_t<T>& mask, const Lu& other) {
    const mask_t<T> kept = !mask;
    for (int k = 0; k < N; ++k) {
      a_[k] = select(mask, other.a_[k], a_[k]);
      inverse_pivot_[k] = select(mask, other.inverse_pivot_[k], inverse_pivot_[k]);
      for (int i = k + 1; i < N; ++i) {
        const mask_t<T> mine = exchanged_[k] ? exchange_[k][i] : mask_t<T>(false);
        const mask_t<T> others = other.exchanged_[k] ? other.exchange_[k][i] : mask_t<T>(false);
        exchange_[k][i] = (mask & others) | (kept & mine);
      }
      exchanged_[k] = exchanged_[k] || other.exchanged_[k];
    }
  }

 private:
  /// Finds the largest entry of column k on and below the diagonal; among equal entries the first one counts.
  RB_HD void find_pivot(int k) {
    T largest = abs(a_[k][k]);
    RB_ROLLED
    for (int i = k + 1; i < N; ++i) {
      const T size = abs(a_[i][k]);
      largest = select(size > largest, size, largest);
    }
    T pivot = a_[k][k];
    mask_t<T> found = !(largest > abs(pivot));
    exchanged_[k] = any(!found);
    RB_ROLLED
    for (int i = k + 1; exchanged_[k] && i < N; ++i) {
      const mask_t<T> here = (abs(a_[i][k]) >= largest) & !found;
      exchange_[k][i] = here;
      pivot = select(here, a_[i][k], pivot);
      found = found | here;
    }
    inverse_pivot_[k] = T(1.0) / pivot;
  }
  RB_HD static void exchange(const mask_t<T>& mask, T& a, T& b) {
    const T old = a;
    a = select(mask, b, a);
    b = select(mask, old, b);
  }

  RB_HD Vector<T, N>& shared_or(Vector<T, N>& own) const {
    if constexpr (Team::lanes > 1) {
      return x_;
    } else {
      return own;
    }
  }

  struct Nothing {};
  Matrix<T, N, N> a_;
  Vector<T, N> inverse_pivot_;
  [[no_unique_address]] mutable std::conditional_t<(Team::lanes > 1), Vector<T, N>, Nothing> x_;  // used by `solve`
  bool exchanged_[N];         // whether step k exchanged rows in any lane
  mask_t<T> exchange_[N][N];  // lanes where step k exchanged rows k and i, [k][i]; only set if exchanged_[k]
};

/// Solves A x = b in place, with unrolled loops, for small systems inside a step; returns the singular lanes.
template <class T, int N>
RB_HD mask_t<T> solve_small(Matrix<T, N, N> a, Vector<T, N>& b) {
  mask_t<T> singular(false);
  T inverse_pivot[N > 0 ? N : 1];
  RB_UNROLL
  for (int k = 0; k < N; ++k) {
    RB_UNROLL
    for (int i = k + 1; i < N; ++i) {
      const mask_t<T> exchange = abs(a[i][k]) > abs(a[k][k]);
      RB_UNROLL
      for (int j = k; j < N; ++j) {
        const T upper = a[k][j], lower = a[i][j];
        a[k][j] = select(exchange, lower, upper);
        a[i][j] = select(exchange, upper, lower);
      }
      const T upper = b[k], lower = b[i];
      b[k] = select(exchange, lower, upper);
      b[i] = select(exchange, upper, lower);
    }
    inverse_pivot[k] = T(1.0) / a[k][k];
    singular = singular | !is_finite(inverse_pivot[k]);
    RB_UNROLL
    for (int i = k + 1; i < N; ++i) {
      const T factor = a[i][k] * inverse_pivot[k];
      RB_UNROLL
      for (int j = k + 1; j < N; ++j) a[i][j] = fma(-factor, a[k][j], a[i][j]);
      b[i] = fma(-factor, b[k], b[i]);
    }
  }
  RB_UNROLL
  for (int i = N - 1; i >= 0; --i) {
    RB_UNROLL
    for (int j = i + 1; j < N; ++j) b[i] = fma(-a[i][j], b[j], b[i]);
    b[i] = b[i] * inverse_pivot[i];
  }
  return singular;
}

/// Solves A x = b in place by cofactors, with one division; elimination needs N divisions in sequence. The equations
/// should have similar size: with bad scaling cofactors lose more digits than elimination. Returns the singular lanes.
template <class T, int N>
RB_HD mask_t<T> solve_by_cofactors(const Matrix<T, N, N>& a, Vector<T, N>& b) {
  static_assert(N >= 1 && N <= 3);
  T inverse;  // inverse of the determinant
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

/// Replaces A by its factors L and U, without row exchanges, with the inverse pivots on the diagonal; loops are
/// unrolled. A must be positive definite, or only guide an iteration. Returns the singular lanes.
template <class T, int N>
RB_HD mask_t<T> factorise(Matrix<T, N, N>& a) {
  mask_t<T> singular(false);
  RB_UNROLL
  for (int k = 0; k < N; ++k) {
    a[k][k] = T(1.0) / a[k][k];
    singular = singular | !is_finite(a[k][k]);
    RB_UNROLL
    for (int i = k + 1; i < N; ++i) {
      a[i][k] = a[i][k] * a[k][k];
      RB_UNROLL
      for (int j = k + 1; j < N; ++j) a[i][j] = fma(-a[i][k], a[k][j], a[i][j]);
    }
  }
  return singular;
}

/// Replaces b by the solution of A x = b; `a` holds the factors of A.
template <class T, int N>
RB_HD void solve_factorised(const Matrix<T, N, N>& a, Vector<T, N>& b) {
  RB_UNROLL
  for (int i = 1; i < N; ++i) {
    RB_UNROLL
    for (int j = 0; j < i; ++j) b[i] = fma(-a[i][j], b[j], b[i]);
  }
  RB_UNROLL
  for (int i = N - 1; i >= 0; --i) {
    RB_UNROLL
    for (int j = i + 1; j < N; ++j) b[i] = fma(-a[i][j], b[j], b[i]);
    b[i] = b[i] * a[i][i];
  }
}

/// Solves A x = b in place, where A guides an iteration or is positive definite; returns the singular lanes.
template <class T, int N>
RB_HD mask_t<T> solve_guide(Matrix<T, N, N> a, Vector<T, N>& b) {
  if constexpr (N <= 3) {
    return solve_by_cofactors(a, b);
  } else {
    const mask_t<T> singular = factorise(a);
    solve_factorised(a, b);
    return singular;
  }
}

RB_NAMESPACE_END
