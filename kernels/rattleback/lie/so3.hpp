#pragma once
// Rotations of space.

#include "rattleback/lie/group.hpp"

RB_NAMESPACE_BEGIN

/// SO(3). An element is the rotation matrix, row by row; hat(x) y = x cross y. Covectors are vectors, with the dot
/// product as pairing.
struct SO3 {
  static constexpr int dimension = 3, element_size = 9;

  template <class T>
  RB_HD static Vector<T, 9> identity() {
    const T o(0.0), i(1.0);
    return {i, o, o, o, i, o, o, o, i};
  }
  template <class T>
  RB_HD static Vector<T, 9> product(const Vector<T, 9>& g, const Vector<T, 9>& h) {
    Vector<T, 9> r;
    RB_UNROLL
    for (int i = 0; i < 3; ++i) {
      RB_UNROLL
      for (int j = 0; j < 3; ++j)
        r[3 * i + j] = fma(g[3 * i], h[j], fma(g[3 * i + 1], h[3 + j], g[3 * i + 2] * h[6 + j]));
    }
    return r;
  }
  template <class T>
  RB_HD static Vector<T, 9> inverse(const Vector<T, 9>& g) {
    return {g[0], g[3], g[6], g[1], g[4], g[7], g[2], g[5], g[8]};
  }
  template <class T>
  RB_HD static Vector<T, 9> translate(const Vector<T, 9>& g, const Vector<T, 3>& x) {
    Vector<T, 9> r;  // a row a of R hat(x) is a cross x
    RB_UNROLL
    for (int i = 0; i < 3; ++i) {
      r[3 * i] = g[3 * i + 1] * x[2] - g[3 * i + 2] * x[1];
      r[3 * i + 1] = g[3 * i + 2] * x[0] - g[3 * i] * x[2];
      r[3 * i + 2] = g[3 * i] * x[1] - g[3 * i + 1] * x[0];
    }
    return r;
  }
  /// exp(hat(x)).
  template <class T>
  RB_HD static Vector<T, 9> expand(const Vector<T, 3>& x);
  template <class T>
  RB_HD static T defect(const Vector<T, 9>& g) {
    const Vector<T, 9> lack = gram_lack(g);
    const auto rows = matrix(g);
    return select(dot(rows[0], cross(rows[1], rows[2])) > T(0.0), max_norm(lack), T(__builtin_huge_val()));
  }
  /// R (1 + (1 - R^T R)/2).
  template <class T>
  RB_HD static Vector<T, 9> normalise(const Vector<T, 9>& g) {
    return fma(T(0.5), product(g, gram_lack(g)), g);
  }
  template <class T>
  RB_HD static Matrix<T, 3, 3> matrix(const Vector<T, 9>& g) {
    return {{{g[0], g[1], g[2]}, {g[3], g[4], g[5]}, {g[6], g[7], g[8]}}};
  }

  /// R x; Ad_star gives R^T x.
  template <class T>
  RB_HD static Vector<T, 3> Ad(const Vector<T, 9>& g, const Vector<T, 3>& x) {
    return matrix(g) * x;
  }
  template <class T>
  RB_HD static Vector<T, 3> Ad_star(const Vector<T, 9>& g, const Vector<T, 3>& m) {
    return matrix(inverse(g)) * m;
  }
  template <class T>
  RB_HD static Vector<T, 3> Ad_inverse_star(const Vector<T, 9>& g, const Vector<T, 3>& m) {
    return matrix(g) * m;
  }
  template <class T>
  RB_HD static Vector<T, 3> ad(const Vector<T, 3>& x, const Vector<T, 3>& y) {
    return cross(x, y);
  }
  template <class T>
  RB_HD static Vector<T, 3> ad_star(const Vector<T, 3>& x, const Vector<T, 3>& m) {
    return cross(m, x);
  }
  /// The rotational part of x.
  template <class T>
  RB_HD static const Vector<T, 3>& rotation(const Vector<T, 3>& x) {
    return x;
  }
  template <class T>
  RB_HD static T angle_squared(const Vector<T, 3>& x) {
    return dot(x, x);
  }

 private:
  /// 1 - R^T R.
  template <class T>
  RB_HD static Vector<T, 9> gram_lack(const Vector<T, 9>& g) {
    return identity<T>() - product(inverse(g), g);
  }
};

namespace detail {

/// 1 + a hat(x) + b hat(x)^2.
template <class T>
RB_HD Vector<T, 9> rotation_matrix(const Vector<T, 3>& x, const T& a, const T& b) {
  const Vector<T, 3> ax = a * x, bx = b * x;
  const T xx = bx[0] * x[0], yy = bx[1] * x[1], zz = bx[2] * x[2];
  const T xy = bx[0] * x[1], yz = bx[1] * x[2], zx = bx[2] * x[0];
  const T one(1.0);
  return {one - (yy + zz), xy - ax[2],      zx + ax[1],  //
          xy + ax[2],      one - (xx + zz), yz - ax[0],  //
          zx - ax[1],      yz + ax[0],      one - (xx + yy)};
}

/// v + a (x cross v) + b x cross (x cross v).
template <class T>
RB_HD Vector<T, 3> turned(const Vector<T, 3>& x, const T& a, const T& b, const Vector<T, 3>& v) {
  const Vector<T, 3> y = cross(x, v);
  return v + fma(a, y, b * cross(x, y));
}
/// g (1 + a hat(x) + b hat(x)^2); the rows are those of g, turned by -x.
template <class T>
RB_HD Vector<T, 9> turned_rows(const Vector<T, 9>& g, const Vector<T, 3>& x, const T& a, const T& b) {
  const T back = -a;
  return join(turned(x, back, b, segment<0, 3>(g)),
              join(turned(x, back, b, segment<3, 3>(g)), turned(x, back, b, segment<6, 3>(g))));
}

/// A multiple of the unit quaternion (scalar part >= 0, vector part) of a rotation: the column of the 4 x 4 outer
/// square with the largest component, which suffers no cancellation.
template <class T>
RB_HD void quaternion(const Vector<T, 9>& g, T& scalar, Vector<T, 3>& vector) {
  const T one(1.0);
  const T ww = one + (g[0] + g[4] + g[8]), xx = one + (g[0] - g[4] - g[8]);
  const T yy = one + (g[4] - g[0] - g[8]), zz = one + (g[8] - g[0] - g[4]);
  const T wx = g[7] - g[5], wy = g[2] - g[6], wz = g[3] - g[1];
  const T xy = g[1] + g[3], yz = g[5] + g[7], zx = g[6] + g[2];
  T largest = ww;
  scalar = ww;
  vector = {wx, wy, wz};
  const auto take = [&](const T& square, const T& s, const Vector<T, 3>& v) {
    const auto larger = square > largest;
    largest = select(larger, square, largest);
    scalar = select(larger, s, scalar);
    vector = select(larger, v, vector);
  };
  take(xx, wx, {xx, xy, zx});
  take(yy, wy, {xy, yy, yz});
  take(zz, wz, {zx, yz, zz});
  const auto negative = scalar < T(0.0);
  scalar = select(negative, -scalar, scalar);
  vector = select(negative, -vector, vector);
}

}  // namespace detail

template <class T>
class Chart<SO3, Exp, T> : public detail::ExpTangent<SO3, T> {
 public:
  using detail::ExpTangent<SO3, T>::ExpTangent;
  RB_HD Chart opposite() const { return Chart(-this->x_, this->e_); }

  RB_HD Vector<T, 9> tau() const { return detail::rotation_matrix(this->x_, this->e_[1], this->e_[2]); }
  RB_HD Vector<T, 9> move(const Vector<T, 9>& g) const {
    return detail::turned_rows(g, this->x_, this->e_[1], this->e_[2]);
  }
  RB_HD Vector<T, 3> Ad(const Vector<T, 3>& y) const { return detail::turned(this->x_, this->e_[1], this->e_[2], y); }
  RB_HD Vector<T, 3> Ad_star(const Vector<T, 3>& m) const {
    return detail::turned(this->x_, -this->e_[1], this->e_[2], m);
  }
  RB_HD Vector<T, 3> Ad_inverse_star(const Vector<T, 3>& m) const { return Ad(m); }

  /// The angle is at most pi; at the angle pi both signs of the axis are possible, and the result has one of them.
  RB_HD static Vector<T, 3> inverse(const Vector<T, 9>& g) {
    T w;
    Vector<T, 3> v;
    detail::quaternion(g, w, v);
    // tan(theta/2) = |v|/w. Below 7/16 the series of atan in the square applies.
    const T square = dot(v, v), u = square / (w * w);
    const auto small = u <= T(0.19140625);
    const T near = T(2.0) / w * fma(u, detail::atan_tail(u), T(1.0));
    const T length = sqrt(square);
    const T far = T(2.0) * atan(length / w) / length;
    return select(small, near, far) * v;
  }
};

template <class T>
RB_HD Vector<T, 9> SO3::expand(const Vector<T, 3>& x) {
  return Chart<SO3, Exp, T>(x).tau();
}

/// tau = 1 + b hat(x) + (b/2) hat(x)^2, dtau = b (1 - hat(x)/2), dtau^-1 = 1 + hat(x)/2 + x x^T/4, with
/// b = 4/(4 + |x|^2).
template <class T>
class Chart<SO3, Cay, T> {
  using Vec = Vector<T, 3>;

 public:
  RB_HD explicit Chart(const Vec& x) : x_(x), b_(T(4.0) / (T(4.0) + dot(x, x))) {}
  RB_HD const Vec& x() const { return x_; }
  RB_HD Chart opposite() const { return Chart(-x_, b_); }

  RB_HD Vector<T, 9> tau() const { return detail::rotation_matrix(x_, b_, T(0.5) * b_); }
  RB_HD Vector<T, 9> move(const Vector<T, 9>& g) const { return detail::turned_rows(g, x_, b_, T(0.5) * b_); }
  RB_HD Vec Ad(const Vec& y) const { return detail::turned(x_, b_, T(0.5) * b_, y); }
  RB_HD Vec Ad_star(const Vec& m) const { return detail::turned(x_, -b_, T(0.5) * b_, m); }
  RB_HD Vec Ad_inverse_star(const Vec& m) const { return Ad(m); }
  RB_HD static Vec inverse(const Vector<T, 9>& g) {
    T w;
    Vec v;
    detail::quaternion(g, w, v);
    return (T(2.0) / w) * v;
  }

  RB_HD Vec dtau(const Vec& eta) const { return b_ * fma(T(-0.5), cross(x_, eta), eta); }
  RB_HD Vec dtau_star(const Vec& m) const { return b_ * fma(T(0.5), cross(x_, m), m); }
  RB_HD Vec dtau_inverse(const Vec& zeta) const {
    return fma(T(0.25) * dot(x_, zeta), x_, fma(T(0.5), cross(x_, zeta), zeta));
  }
  RB_HD Vec dtau_inverse_star(const Vec& m) const {
    return fma(T(0.25) * dot(x_, m), x_, fma(T(-0.5), cross(x_, m), m));
  }
  RB_HD Vec gradient(const Vec& m, const Vec& eta) const {
    // The gradient of b <m, eta - x cross eta/2>; the gradient of b is -(b^2/2) x.
    const T pairing = dot(m, fma(T(-0.5), cross(x_, eta), eta));
    return fma(T(-0.5) * b_, cross(eta, m), (T(-0.5) * b_ * b_ * pairing) * x_);
  }
  /// b.
  RB_HD const T& factor() const { return b_; }

 private:
  RB_HD Chart(const Vec& x, const T& b) : x_(x), b_(b) {}

  Vec x_;
  T b_;
};

RB_NAMESPACE_END
