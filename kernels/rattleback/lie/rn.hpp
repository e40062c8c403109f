#pragma once
// Commutative groups: R^n and the circle S^1. tau is the identity map, dtau = Ad = 1, ad = 0.

#include "rattleback/lie/group.hpp"

RB_NAMESPACE_BEGIN

/// Translations of R^n; the product is the sum.
template <int N>
struct Rn {
  static constexpr int dimension = N, element_size = N, matrix_size = N + 1;
  static constexpr bool commutative = true;

  template <class T>
  RB_HD static Vector<T, N> identity() {
    return Vector<T, N>::zero();
  }
  template <class T>
  RB_HD static Vector<T, N> product(const Vector<T, N>& g, const Vector<T, N>& h) {
    return g + h;
  }
  template <class T>
  RB_HD static Vector<T, N> inverse(const Vector<T, N>& g) {
    return -g;
  }
  template <class T>
  RB_HD static Vector<T, N> translate(const Vector<T, N>&, const Vector<T, N>& x) {
    return x;
  }
  template <class T>
  RB_HD static Vector<T, N> expand(const Vector<T, N>& x) {
    return x;
  }
  template <class T>
  RB_HD static T defect(const Vector<T, N>&) {
    return T(0.0);
  }
  template <class T>
  RB_HD static Vector<T, N> normalise(const Vector<T, N>& g) {
    return g;
  }
  /// (1 g; 0 1)
  template <class T>
  RB_HD static Matrix<T, N + 1, N + 1> matrix(const Vector<T, N>& g) {
    auto a = hat(g);
    for (int i = 0; i <= N; ++i) a[i][i] = T(1.0);
    return a;
  }
  template <class T>
  RB_HD static Matrix<T, N + 1, N + 1> hat(const Vector<T, N>& x) {
    auto a = Matrix<T, N + 1, N + 1>::zero();
    for (int i = 0; i < N; ++i) a[i][N] = x[i];
    return a;
  }
  template <class T>
  RB_HD static Vector<T, N> vee(const Matrix<T, N + 1, N + 1>& a) {
    Vector<T, N> x;
    for (int i = 0; i < N; ++i) x[i] = a[i][N];
    return x;
  }
  template <class T>
  RB_HD static Vector<T, N> Ad(const Vector<T, N>&, const Vector<T, N>& x) {
    return x;
  }
  template <class T>
  RB_HD static Vector<T, N> Ad_star(const Vector<T, N>&, const Vector<T, N>& m) {
    return m;
  }
  template <class T>
  RB_HD static Vector<T, N> Ad_inverse_star(const Vector<T, N>&, const Vector<T, N>& m) {
    return m;
  }
  template <class T>
  RB_HD static Vector<T, N> ad(const Vector<T, N>&, const Vector<T, N>&) {
    return Vector<T, N>::zero();
  }
  template <class T>
  RB_HD static Vector<T, N> ad_star(const Vector<T, N>&, const Vector<T, N>&) {
    return Vector<T, N>::zero();
  }
  template <class T>
  RB_HD static T angle_squared(const Vector<T, N>&) {
    return T(0.0);
  }
};

/// The circle. An element is an angle, not reduced modulo 2 pi; rotations of the plane represent the elements.
struct S1 : Rn<1> {
  static constexpr int matrix_size = 2;

  template <class T>
  RB_HD static Matrix<T, 2, 2> matrix(const Vector<T, 1>& g) {
    T s, c;
    sincos(g[0], s, c);
    return {{{c, -s}, {s, c}}};
  }
  template <class T>
  RB_HD static Matrix<T, 2, 2> hat(const Vector<T, 1>& x) {
    return {{{T(0.0), -x[0]}, {x[0], T(0.0)}}};
  }
  template <class T>
  RB_HD static Vector<T, 1> vee(const Matrix<T, 2, 2>& a) {
    return {a[1][0]};
  }
};

template <class G, class Tau, class T>
  requires(G::commutative)
class Chart<G, Tau, T> {
  using Vec = Algebra<G, T>;

 public:
  RB_HD explicit Chart(const Vec& x) : x_(x) {}
  RB_HD const Vec& x() const { return x_; }
  RB_HD Chart opposite() const { return Chart(-x_); }

  RB_HD Vec tau() const { return x_; }
  RB_HD static Vec inverse(const Vec& g) { return g; }
  RB_HD Vec move(const Vec& g) const { return g + x_; }
  RB_HD Vec Ad(const Vec& y) const { return y; }
  RB_HD Vec Ad_star(const Vec& m) const { return m; }
  RB_HD Vec Ad_inverse_star(const Vec& m) const { return m; }

  RB_HD Vec dtau(const Vec& eta) const { return eta; }
  RB_HD Vec dtau_star(const Vec& m) const { return m; }
  RB_HD Vec dtau_inverse(const Vec& zeta) const { return zeta; }
  RB_HD Vec dtau_inverse_star(const Vec& m) const { return m; }
  RB_HD Vec gradient(const Vec&, const Vec&) const { return Vec::zero(); }
  RB_HD T determinant() const { return T(1.0); }

 private:
  Vec x_;
};

RB_NAMESPACE_END
