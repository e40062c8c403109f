#pragma once
// Commutative groups: R^n and the circle S^1. tau is the identity map, dtau = Ad = 1, ad = 0.

#include "rattleback/lie/group.hpp"

RB_NAMESPACE_BEGIN

/// Translations of R^n; the product is the sum.
template <int N>
struct Rn : detail::PlainElements<N> {
  static constexpr int dimension = N, element_size = N;
  static constexpr bool commutative = true;

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

/// The circle. An element is an angle, not reduced modulo 2 pi.
struct S1 : Rn<1> {};

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

 private:
  Vec x_;
};

RB_NAMESPACE_END
