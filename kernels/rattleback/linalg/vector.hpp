#pragma once
// Vectors and matrices of fixed size. Loops have constant bounds and are unrolled, so that entries stay in registers.

#include "rattleback/real/real.hpp"

RB_NAMESPACE_BEGIN

template <class T, int N>
struct Vector {
  T entry[N > 0 ? N : 1];

  static constexpr int size = N;
  RB_HD T& operator[](int i) { return entry[i]; }
  RB_HD const T& operator[](int i) const { return entry[i]; }

  RB_HD static Vector zero() {
    Vector r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = T(0.0);
    return r;
  }

  RB_HD friend Vector operator+(const Vector& a, const Vector& b) {
    Vector r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = a[i] + b[i];
    return r;
  }
  RB_HD friend Vector operator-(const Vector& a, const Vector& b) {
    Vector r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = a[i] - b[i];
    return r;
  }
  RB_HD friend Vector operator-(const Vector& a) {
    Vector r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = -a[i];
    return r;
  }
  RB_HD friend Vector operator*(const T& s, const Vector& a) {
    Vector r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = s * a[i];
    return r;
  }
};

/// s a + b.
template <class T, int N>
RB_HD Vector<T, N> fma(const T& s, const Vector<T, N>& a, const Vector<T, N>& b) {
  Vector<T, N> r;
  RB_UNROLL
  for (int i = 0; i < N; ++i) r[i] = fma(s, a[i], b[i]);
  return r;
}

template <class T, int N>
RB_HD T dot(const Vector<T, N>& a, const Vector<T, N>& b) {
  if constexpr (N == 0) return T(0.0);
  T r = a[0] * b[0];
  RB_UNROLL
  for (int i = 1; i < N; ++i) r = fma(a[i], b[i], r);
  return r;
}

/// A sum of products where zeros are left out. The first term is a product, because for a compiler x + 0 is an addition.
template <class T>
struct SumOfProducts {
  T value{0.0};
  bool empty = true;

  RB_HD void add(const T& a, const T& b) {
    value = empty ? a * b : fma(a, b, value);
    empty = false;
  }
};

template <class T, int N>
RB_HD T max_norm(const Vector<T, N>& a) {
  T r(0.0);
  RB_UNROLL
  for (int i = 0; i < N; ++i) r = max_abs(r, a[i]);
  return r;
}

template <class T, int N>
RB_HD T magnitude(const Vector<T, N>& a) {
  T r(0.0);
  RB_UNROLL
  for (int i = 0; i < N; ++i) r = larger_magnitude(r, a[i]);
  return r;
}

template <class T, int N>
RB_HD T sum(const Vector<T, N>& a) {
  T r = a[0];
  RB_UNROLL
  for (int i = 1; i < N; ++i) r = r + a[i];
  return r;
}

/// a x b.
template <class T>
RB_HD Vector<T, 3> cross(const Vector<T, 3>& a, const Vector<T, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// The `Count` entries that start at `First`.
template <int First, int Count, class T, int N>
RB_HD Vector<T, Count> segment(const Vector<T, N>& a) {
  static_assert(First >= 0 && First + Count <= N);
  Vector<T, Count> r;
  RB_UNROLL
  for (int i = 0; i < Count; ++i) r[i] = a[First + i];
  return r;
}

/// The `Count` entries from the entry number `first` on.
template <int Count, class T, int N>
RB_HD Vector<T, Count> segment(const Vector<T, N>& a, int first) {
  Vector<T, Count> r;
  RB_UNROLL
  for (int i = 0; i < Count; ++i) r[i] = a[first + i];
  return r;
}

/// sum_j a_j x_j.
template <class T, int N, int S>
RB_HD Vector<T, N> combination(const double (&a)[S], const Vector<T, N> (&x)[S]) {
  Vector<T, N> sum = T(a[0]) * x[0];
  RB_UNROLL
  for (int j = 1; j < S; ++j) sum = fma(T(a[j]), x[j], sum);
  return sum;
}

/// The entries of a, then those of b.
template <class T, int N, int M>
RB_HD Vector<T, N + M> join(const Vector<T, N>& a, const Vector<T, M>& b) {
  Vector<T, N + M> r;
  RB_UNROLL
  for (int i = 0; i < N; ++i) r[i] = a[i];
  RB_UNROLL
  for (int i = 0; i < M; ++i) r[N + i] = b[i];
  return r;
}

template <class M, class T, int N>
RB_HD Vector<T, N> select(const M& mask, const Vector<T, N>& a, const Vector<T, N>& b) {
  Vector<T, N> r;
  if constexpr (N == 0) r = b;  // avoids uninitialised entries
  RB_UNROLL
  for (int i = 0; i < N; ++i) r[i] = select(mask, a[i], b[i]);
  return r;
}

/// A matrix of R rows with C entries each.
template <class T, int R, int C>
struct Matrix {
  Vector<T, C> row[R > 0 ? R : 1];

  RB_HD Vector<T, C>& operator[](int i) { return row[i]; }
  RB_HD const Vector<T, C>& operator[](int i) const { return row[i]; }

  RB_HD static Matrix zero() {
    Matrix r;
    RB_UNROLL
    for (int i = 0; i < R; ++i) r[i] = Vector<T, C>::zero();
    return r;
  }

  RB_HD void set_column(int j, const Vector<T, R>& x) {
    RB_UNROLL
    for (int i = 0; i < R; ++i) row[i][j] = x[i];
  }
  RB_HD friend Vector<T, R> operator*(const Matrix& a, const Vector<T, C>& x) {
    Vector<T, R> r;
    RB_UNROLL
    for (int i = 0; i < R; ++i) r[i] = dot(a[i], x);
    return r;
  }
};

/// a^T x.
template <class T, int R, int C>
RB_HD Vector<T, C> transpose_times(const Matrix<T, R, C>& a, const Vector<T, R>& x) {
  if constexpr (R == 0) return Vector<T, C>::zero();
  Vector<T, C> r = x[0] * a[0];
  RB_UNROLL
  for (int i = 1; i < R; ++i) r = fma(x[i], a[i], r);
  return r;
}

RB_NAMESPACE_END
