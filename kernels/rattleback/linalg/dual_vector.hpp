#pragma once
// Vectors of dual numbers and vectors of numbers without derivatives.

#include "rattleback/linalg/vector.hpp"
#include "rattleback/real/dual.hpp"

RB_NAMESPACE_BEGIN

/// x over another scalar R, a dual number over T or T itself.
template <class R, class T, int n>
RB_HD Vector<R, n> lift(const Vector<T, n>& x) {
  Vector<R, n> r{};
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = R(x[i]);
  return r;
}
/// The values of x over the scalar R, without their derivatives.
template <class R, class T, int n>
RB_HD Vector<R, n> constant(const Vector<T, n>& x) {
  Vector<R, n> r{};
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = R(coefficient(x[i], 0));
  return r;
}

namespace detail {
/// x + e d with e^2 = 0.
template <class S, int n>
RB_HD Vector<Dual<S, 1>, n> along(const Vector<S, n>& x, const Vector<S, n>& d) {
  Vector<Dual<S, 1>, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    r[i].value = x[i];
    r[i].partial[0] = d[i];
  }
  return r;
}
template <class S, int n>
RB_HD Vector<S, n> derivative(const Vector<Dual<S, 1>, n>& x) {
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = x[i].partial[0];
  return r;
}
template <class S, int K, int n>
RB_HD Vector<S, n> derivative(const Vector<Dual<S, K>, n>& x, int direction) {
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = x[i].partial[direction];
  return r;
}
template <class S, int K, int n>
RB_HD Vector<S, n> values(const Vector<Dual<S, K>, n>& x) {
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = x[i].value;
  return r;
}
/// The partial derivatives first, .., first + n - 1; those of a vector row by row.
template <int n, int first = 0, class S, int K>
RB_HD Vector<S, n> partials(const Dual<S, K>& x) {
  static_assert(first + n <= K);
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = x.partial[first + i];
  return r;
}
template <int n, int first = 0, class S, int K, int rows>
RB_HD Matrix<S, rows, n> partials(const Vector<Dual<S, K>, rows>& x) {
  Matrix<S, rows, n> r;
  RB_UNROLL
  for (int i = 0; i < rows; ++i) r[i] = partials<n, first>(x[i]);
  return r;
}
}  // namespace detail

/// s a + b, where s has no derivatives.
template <class T>
RB_HD T add_scaled(const T& s, const T& a, const T& b) {
  return fma(s, a, b);
}
template <class T, int K>
RB_HD Dual<T, K> add_scaled(const T& s, const Dual<T, K>& a, const Dual<T, K>& b) {
  Dual<T, K> r;
  r.value = fma(s, a.value, b.value);
  RB_UNROLL
  for (int i = 0; i < K; ++i) r.partial[i] = fma(s, a.partial[i], b.partial[i]);
  return r;
}
template <class T, class R, int n>
RB_HD Vector<R, n> add_scaled(const T& s, const Vector<R, n>& a, const Vector<R, n>& b) {
  Vector<R, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = add_scaled(s, a[i], b[i]);
  return r;
}

/// A system whose numbers are those of another without their derivatives: a system is a struct of numbers of its scalar, behind which
/// there may be a time that is none.
template <class System>
RB_HD System constant_system(System system) {
  using T = typename System::scalar;
  T* const numbers = reinterpret_cast<T*>(&system);
  for (unsigned i = 0; i < sizeof(System) / sizeof(T); ++i) numbers[i] = T(coefficient(numbers[i], 0));
  return system;
}

RB_NAMESPACE_END
