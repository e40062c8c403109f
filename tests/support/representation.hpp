#pragma once
// Faithful representations of the groups of lie/ by matrices, which define what their functions compute: matrix(g) of an element,
// hat(x) = d/de matrix(tau(e x)) at e = 0, and its inverse map vee.

#include "rattleback/lie/lie.hpp"

namespace rattleback {

template <class G>
struct Representation;

/// (1 g; 0 1)
template <int N>
struct Representation<Rn<N>> {
  static constexpr int size = N + 1;
  template <class T>
  static Matrix<T, size, size> matrix(const Vector<T, N>& g) {
    auto a = hat(g);
    for (int i = 0; i <= N; ++i) a[i][i] = T(1.0);
    return a;
  }
  template <class T>
  static Matrix<T, size, size> hat(const Vector<T, N>& x) {
    auto a = Matrix<T, size, size>::zero();
    for (int i = 0; i < N; ++i) a[i][N] = x[i];
    return a;
  }
  template <class T>
  static Vector<T, N> vee(const Matrix<T, size, size>& a) {
    Vector<T, N> x;
    for (int i = 0; i < N; ++i) x[i] = a[i][N];
    return x;
  }
};

/// Rotations of the plane.
template <>
struct Representation<S1> {
  static constexpr int size = 2;
  template <class T>
  static Matrix<T, 2, 2> matrix(const Vector<T, 1>& g) {
    T s, c;
    sincos(g[0], s, c);
    return {{{c, -s}, {s, c}}};
  }
  template <class T>
  static Matrix<T, 2, 2> hat(const Vector<T, 1>& x) {
    return {{{T(0.0), -x[0]}, {x[0], T(0.0)}}};
  }
  template <class T>
  static Vector<T, 1> vee(const Matrix<T, 2, 2>& a) {
    return {a[1][0]};
  }
};

template <>
struct Representation<SO3> {
  static constexpr int size = 3;
  template <class T>
  static Matrix<T, 3, 3> matrix(const Vector<T, 9>& g) {
    return SO3::matrix(g);
  }
  template <class T>
  static Matrix<T, 3, 3> hat(const Vector<T, 3>& x) {
    const T o(0.0);
    return {{{o, -x[2], x[1]}, {x[2], o, -x[0]}, {-x[1], x[0], o}}};
  }
  template <class T>
  static Vector<T, 3> vee(const Matrix<T, 3, 3>& a) {
    return {a[2][1], a[0][2], a[1][0]};
  }
};

template <>
struct Representation<SE2> {
  static constexpr int size = 3;
  template <class T>
  static Matrix<T, 3, 3> matrix(const Vector<T, 3>& g) {
    T s, c;
    sincos(g[2], s, c);
    const T o(0.0);
    return {{{c, -s, g[0]}, {s, c, g[1]}, {o, o, T(1.0)}}};
  }
  template <class T>
  static Matrix<T, 3, 3> hat(const Vector<T, 3>& x) {
    const T o(0.0);
    return {{{o, -x[2], x[0]}, {x[2], o, x[1]}, {o, o, o}}};
  }
  template <class T>
  static Vector<T, 3> vee(const Matrix<T, 3, 3>& a) {
    return {a[0][2], a[1][2], a[1][0]};
  }
};

template <>
struct Representation<SE3> {
  static constexpr int size = 4;
  template <class T>
  static Matrix<T, 4, 4> matrix(const Vector<T, 12>& g) {
    const T o(0.0);
    return {{{g[0], g[1], g[2], g[9]}, {g[3], g[4], g[5], g[10]}, {g[6], g[7], g[8], g[11]}, {o, o, o, T(1.0)}}};
  }
  template <class T>
  static Matrix<T, 4, 4> hat(const Vector<T, 6>& x) {
    const T o(0.0);
    return {{{o, -x[2], x[1], x[3]}, {x[2], o, -x[0], x[4]}, {-x[1], x[0], o, x[5]}, {o, o, o, o}}};
  }
  template <class T>
  static Vector<T, 6> vee(const Matrix<T, 4, 4>& a) {
    return {a[2][1], a[0][2], a[1][0], a[0][3], a[1][3], a[2][3]};
  }
};

/// Block diagonal matrices.
template <class... Groups>
struct Representation<Product<Groups...>> {
  using G = Product<Groups...>;
  using First = Representation<typename G::First>;
  using Rest = Representation<typename G::Rest>;
  static constexpr int first = First::size, rest = Rest::size, size = first + rest;

  template <class T>
  static Matrix<T, size, size> matrix(const Vector<T, G::element_size>& g) {
    return blocks<T>(First::matrix(G::first_element(g)), Rest::matrix(G::rest_element(g)));
  }
  template <class T>
  static Matrix<T, size, size> hat(const Vector<T, G::dimension>& x) {
    return blocks<T>(First::hat(G::first(x)), Rest::hat(G::rest(x)));
  }
  template <class T>
  static Vector<T, G::dimension> vee(const Matrix<T, size, size>& a) {
    Matrix<T, first, first> upper;
    Matrix<T, rest, rest> lower;
    for (int i = 0; i < first; ++i) upper[i] = segment<0, first>(a[i]);
    for (int i = 0; i < rest; ++i) lower[i] = segment<first, rest>(a[first + i]);
    return join(First::vee(upper), Rest::vee(lower));
  }

 private:
  template <class T>
  static Matrix<T, size, size> blocks(const Matrix<T, first, first>& upper, const Matrix<T, rest, rest>& lower) {
    Matrix<T, size, size> a;
    for (int i = 0; i < first; ++i) a[i] = join(upper[i], Vector<T, rest>::zero());
    for (int i = 0; i < rest; ++i) a[first + i] = join(Vector<T, first>::zero(), lower[i]);
    return a;
  }
};

}  // namespace rattleback
