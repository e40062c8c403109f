#pragma once
// Rigid motions of the plane.

#include "rattleback/lie/group.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// J u, a quarter turn counterclockwise.
template <class T>
RB_HD Vector<T, 2> quarter_turn(const Vector<T, 2>& u) {
  return {-u[1], u[0]};
}
/// (c + s J) u
template <class T>
RB_HD Vector<T, 2> turn(const T& c, const T& s, const Vector<T, 2>& u) {
  return {fma(c, u[0], -(s * u[1])), fma(s, u[0], c * u[1])};
}

/// A rigid motion of the plane: position, angle, and the cosine and sine of the angle.
template <class T>
struct PlaneMotion {
  Vector<T, 2> position;
  T angle, cosine, sine;

  /// g times the motion.
  RB_HD Vector<T, 3> move(const Vector<T, 3>& g) const {
    T s, c;
    sincos(g[2], s, c);
    const Vector<T, 2> moved = turn(c, s, position);
    return {g[0] + moved[0], g[1] + moved[1], g[2] + angle};
  }
  RB_HD Vector<T, 3> Ad(const Vector<T, 3>& y) const {
    const Vector<T, 2> u = fma(-y[2], quarter_turn(position), turn(cosine, sine, segment<0, 2>(y)));
    return {u[0], u[1], y[2]};
  }
  RB_HD Vector<T, 3> Ad_star(const Vector<T, 3>& m) const {
    const Vector<T, 2> p = segment<0, 2>(m), back = turn(cosine, -sine, p);
    return {back[0], back[1], m[2] - dot(p, quarter_turn(position))};
  }
  RB_HD Vector<T, 3> Ad_inverse_star(const Vector<T, 3>& m) const {
    const Vector<T, 2> p = turn(cosine, sine, segment<0, 2>(m));
    return {p[0], p[1], m[2] + dot(p, quarter_turn(position))};
  }
};

}  // namespace detail

/// SE(2). An element is (x, y, angle), with the angle not reduced modulo 2 pi, and maps a point a to
/// R(angle) a + (x, y). The algebra has the order (u_1, u_2, w): velocity, then rate of turning. Covectors
/// (p_1, p_2, r) have the same order.
struct SE2 : detail::PlainElements<3> {
  static constexpr int dimension = 3, element_size = 3;

  template <class T>
  RB_HD static Vector<T, 3> product(const Vector<T, 3>& g, const Vector<T, 3>& h) {
    const auto m = motion(g);
    const Vector<T, 2> moved = m.position + detail::turn(m.cosine, m.sine, position(h));
    return {moved[0], moved[1], g[2] + h[2]};
  }
  template <class T>
  RB_HD static Vector<T, 3> inverse(const Vector<T, 3>& g) {
    const auto m = motion(g);
    const Vector<T, 2> back = detail::turn(m.cosine, -m.sine, m.position);
    return {-back[0], -back[1], -g[2]};
  }
  template <class T>
  RB_HD static Vector<T, 3> translate(const Vector<T, 3>& g, const Vector<T, 3>& x) {
    const auto m = motion(g);
    const Vector<T, 2> moved = detail::turn(m.cosine, m.sine, position(x));
    return {moved[0], moved[1], x[2]};
  }

  /// (R u - w J (x, y), w)
  template <class T>
  RB_HD static Vector<T, 3> Ad(const Vector<T, 3>& g, const Vector<T, 3>& x) {
    return motion(g).Ad(x);
  }
  /// (R^T p, r - p . J (x, y))
  template <class T>
  RB_HD static Vector<T, 3> Ad_star(const Vector<T, 3>& g, const Vector<T, 3>& m) {
    return motion(g).Ad_star(m);
  }
  template <class T>
  RB_HD static Vector<T, 3> Ad_inverse_star(const Vector<T, 3>& g, const Vector<T, 3>& m) {
    return motion(g).Ad_inverse_star(m);
  }
  /// (w_x J u_y - w_y J u_x, 0)
  template <class T>
  RB_HD static Vector<T, 3> ad(const Vector<T, 3>& x, const Vector<T, 3>& y) {
    return {y[2] * x[1] - x[2] * y[1], x[2] * y[0] - y[2] * x[0], T(0.0)};
  }
  /// (-w J p, -p . J u)
  template <class T>
  RB_HD static Vector<T, 3> ad_star(const Vector<T, 3>& x, const Vector<T, 3>& m) {
    return {x[2] * m[1], -(x[2] * m[0]), -dot(position(m), detail::quarter_turn(position(x)))};
  }
  /// The rotational part of x.
  template <class T>
  RB_HD static Vector<T, 3> rotation(const Vector<T, 3>& x) {
    return {T(0.0), T(0.0), x[2]};
  }
  template <class T>
  RB_HD static T angle_squared(const Vector<T, 3>& x) {
    return x[2] * x[2];
  }

 private:
  template <class T>
  RB_HD static Vector<T, 2> position(const Vector<T, 3>& g) {
    return {g[0], g[1]};
  }
  template <class T>
  RB_HD static detail::PlaneMotion<T> motion(const Vector<T, 3>& g) {
    T s, c;
    sincos(g[2], s, c);
    return {position(g), g[2], c, s};
  }
};

/// tau(u, w) = ((E_1 + w E_2 J) u, w).
template <class T>
class Chart<SE2, Exp, T> : public detail::ExpTangent<SE2, T> {
 public:
  using detail::ExpTangent<SE2, T>::ExpTangent;
  RB_HD Chart opposite() const { return Chart(-this->x_, this->e_); }

  RB_HD Vector<T, 3> tau() const {
    const auto x = position();
    return {x[0], x[1], this->x_[2]};
  }
  RB_HD Vector<T, 3> move(const Vector<T, 3>& g) const { return motion().move(g); }
  RB_HD Vector<T, 3> Ad(const Vector<T, 3>& y) const { return motion().Ad(y); }
  RB_HD Vector<T, 3> Ad_star(const Vector<T, 3>& m) const { return motion().Ad_star(m); }
  RB_HD Vector<T, 3> Ad_inverse_star(const Vector<T, 3>& m) const { return motion().Ad_inverse_star(m); }
  /// The angle must be below 2 pi.
  RB_HD static Vector<T, 3> inverse(const Vector<T, 3>& g) {
    const T w = g[2];
    const T c = Chart(Vector<T, 3>{T(0.0), T(0.0), w}).cotangent();
    const auto u = detail::turn(fma(-c * w, w, T(1.0)), T(-0.5) * w, segment<0, 2>(g));
    return {u[0], u[1], w};
  }

 private:
  RB_HD Vector<T, 2> position() const {
    return detail::turn(this->e_[1], this->x_[2] * this->e_[2], segment<0, 2>(this->x_));
  }
  RB_HD detail::PlaneMotion<T> motion() const {
    const T w = this->x_[2];
    return {position(), w, fma(-w * w, this->e_[2], T(1.0)), w * this->e_[1]};
  }
};

/// tau = (b (1 + (w/2) J) u, 2 atan(w/2)), dtau(e, s) = b (y, s), with b = 4/(4 + w^2), y = e - (w/2) J e + (s/2) J u.
template <class T>
class Chart<SE2, Cay, T> {
  using Vec = Vector<T, 3>;

 public:
  RB_HD explicit Chart(const Vec& x) : x_(x), b_(T(4.0) / fma(x[2], x[2], T(4.0))) {}
  RB_HD const Vec& x() const { return x_; }
  RB_HD Chart opposite() const { return Chart(-x_, b_); }

  RB_HD Vec tau() const {
    const auto x = position();
    return {x[0], x[1], T(2.0) * atan(half_w())};
  }
  RB_HD Vec move(const Vec& g) const { return motion(T(2.0) * atan(half_w())).move(g); }
  RB_HD Vec Ad(const Vec& y) const { return motion(T(0.0)).Ad(y); }
  RB_HD Vec Ad_star(const Vec& m) const { return motion(T(0.0)).Ad_star(m); }
  RB_HD Vec Ad_inverse_star(const Vec& m) const { return motion(T(0.0)).Ad_inverse_star(m); }
  /// The angle must be below pi.
  RB_HD static Vec inverse(const Vec& g) {
    T s, c;
    sincos(T(0.5) * g[2], s, c);
    const T half = s / c;
    const auto u = detail::turn(T(1.0), -half, segment<0, 2>(g));
    return {u[0], u[1], T(2.0) * half};
  }

  RB_HD Vec dtau(const Vec& eta) const {
    const auto y = numerator(eta);
    return {b_ * y[0], b_ * y[1], b_ * eta[2]};
  }
  RB_HD Vec dtau_star(const Vec& m) const {
    const auto p = segment<0, 2>(m), q = b_ * detail::turn(T(1.0), half_w(), p);
    return {q[0], q[1], b_ * fma(T(0.5), dot(p, detail::quarter_turn(u())), m[2])};
  }
  /// ((1 + (w/2) J)(e - (s/2) J u), (1 + w^2/4) s)
  RB_HD Vec dtau_inverse(const Vec& zeta) const {
    const auto e = fma(T(-0.5) * zeta[2], detail::quarter_turn(u()), segment<0, 2>(zeta));
    const auto v = detail::turn(T(1.0), half_w(), e);
    return {v[0], v[1], fma(half_w() * half_w(), zeta[2], zeta[2])};
  }
  RB_HD Vec dtau_inverse_star(const Vec& m) const {
    const auto p = detail::turn(T(1.0), -half_w(), segment<0, 2>(m));
    return {p[0], p[1], fma(half_w() * half_w(), m[2], m[2]) - T(0.5) * dot(p, detail::quarter_turn(u()))};
  }
  RB_HD Vec gradient(const Vec& m, const Vec& eta) const {
    // The gradient of b (p . y + r s); db/dw = -(b^2/2) w.
    const auto p = segment<0, 2>(m), e = segment<0, 2>(eta);
    const T pairing = fma(m[2], eta[2], dot(p, numerator(eta)));
    const auto of_u = (T(-0.5) * b_ * eta[2]) * detail::quarter_turn(p);
    return {of_u[0], of_u[1], T(-0.5) * b_ * fma(b_ * pairing, x_[2], dot(p, detail::quarter_turn(e)))};
  }

 private:
  RB_HD Chart(const Vec& x, const T& b) : x_(x), b_(b) {}
  RB_HD Vector<T, 2> u() const { return segment<0, 2>(x_); }
  RB_HD T half_w() const { return T(0.5) * x_[2]; }
  RB_HD Vector<T, 2> position() const { return b_ * detail::turn(T(1.0), half_w(), u()); }
  /// Only `move` uses the angle.
  RB_HD detail::PlaneMotion<T> motion(const T& angle) const {
    return {position(), angle, fma(T(-0.5) * b_ * x_[2], x_[2], T(1.0)), b_ * x_[2]};
  }
  /// y
  RB_HD Vector<T, 2> numerator(const Vec& eta) const {
    return fma(T(0.5) * eta[2], detail::quarter_turn(u()), detail::turn(T(1.0), -half_w(), segment<0, 2>(eta)));
  }

  Vec x_;
  T b_;
};

RB_NAMESPACE_END
