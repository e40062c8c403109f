#pragma once
// Rigid motions of space.

#include "rattleback/lie/so3.hpp"
#include "rattleback/linalg/dual_vector.hpp"

RB_NAMESPACE_BEGIN

/// SE(3). An element is the rotation matrix R, row by row, then the translation p, and maps a point a to R a + p. The
/// algebra has the order (w, v): rate of rotation, then velocity. Covectors have the order (m, f): torque, then force.
struct SE3 {
  static constexpr int dimension = 6, element_size = 12;

  template <class T>
  RB_HD static Vector<T, 12> identity() {
    return join(SO3::identity<T>(), Vector<T, 3>::zero());
  }
  template <class T>
  RB_HD static Vector<T, 12> product(const Vector<T, 12>& g, const Vector<T, 12>& h) {
    return join(SO3::product(rotation(g), rotation(h)), SO3::Ad(rotation(g), position(h)) + position(g));
  }
  template <class T>
  RB_HD static Vector<T, 12> inverse(const Vector<T, 12>& g) {
    return join(SO3::inverse(rotation(g)), -SO3::Ad_star(rotation(g), position(g)));
  }
  template <class T>
  RB_HD static Vector<T, 12> translate(const Vector<T, 12>& g, const Vector<T, 6>& x) {
    return join(SO3::translate(rotation(g), angular(x)), SO3::Ad(rotation(g), linear(x)));
  }
  template <class T>
  RB_HD static Vector<T, 12> expand(const Vector<T, 6>& x) {
    return join(SO3::expand(angular(x)), linear(x));
  }
  template <class T>
  RB_HD static T defect(const Vector<T, 12>& g) {
    return SO3::defect(rotation(g));
  }
  template <class T>
  RB_HD static Vector<T, 12> normalise(const Vector<T, 12>& g) {
    return join(SO3::normalise(rotation(g)), position(g));
  }

  /// (R w, p cross R w + R v)
  template <class T>
  RB_HD static Vector<T, 6> Ad(const Vector<T, 12>& g, const Vector<T, 6>& x) {
    const auto w = SO3::Ad(rotation(g), angular(x));
    return join(w, cross(position(g), w) + SO3::Ad(rotation(g), linear(x)));
  }
  template <class T>
  RB_HD static Vector<T, 6> Ad_star(const Vector<T, 12>& g, const Vector<T, 6>& m) {
    return join(SO3::Ad_star(rotation(g), angular(m) + cross(linear(m), position(g))),
                SO3::Ad_star(rotation(g), linear(m)));
  }
  template <class T>
  RB_HD static Vector<T, 6> Ad_inverse_star(const Vector<T, 12>& g, const Vector<T, 6>& m) {
    const auto f = SO3::Ad_inverse_star(rotation(g), linear(m));
    return join(SO3::Ad_inverse_star(rotation(g), angular(m)) + cross(position(g), f), f);
  }
  /// (w_x cross w_y, w_x cross v_y + v_x cross w_y)
  template <class T>
  RB_HD static Vector<T, 6> ad(const Vector<T, 6>& x, const Vector<T, 6>& y) {
    return join(cross(angular(x), angular(y)), cross(angular(x), linear(y)) + cross(linear(x), angular(y)));
  }
  template <class T>
  RB_HD static Vector<T, 6> ad_star(const Vector<T, 6>& x, const Vector<T, 6>& m) {
    return join(cross(angular(m), angular(x)) + cross(linear(m), linear(x)), cross(linear(m), angular(x)));
  }
  template <class T>
  RB_HD static T angle_squared(const Vector<T, 6>& x) {
    return SO3::angle_squared(angular(x));
  }

  template <class T>
  RB_HD static Vector<T, 9> rotation(const Vector<T, 12>& g) {
    return segment<0, 9>(g);
  }
  template <class T>
  RB_HD static Vector<T, 3> position(const Vector<T, 12>& g) {
    return segment<9, 3>(g);
  }
  /// The w of (w, v) or m of (m, f); `linear` gives v or f.
  template <class T>
  RB_HD static Vector<T, 3> angular(const Vector<T, 6>& x) {
    return segment<0, 3>(x);
  }
  template <class T>
  RB_HD static Vector<T, 3> linear(const Vector<T, 6>& x) {
    return segment<3, 3>(x);
  }
};

/// SE(3) is SO(3) over the dual numbers a + b eps: (R, p) is R + eps hat(p) R, and (w, v) is w + eps v, with the
/// bracket of SO(3). The pairing is the eps part of the dot product, so the covector (m, f) is f + eps m. Hence dexp,
/// the transpose, the inverse and the gradient are those of SO(3) in dual arithmetic.
template <class T>
class Chart<SE3, Exp, T> {
  using D = Dual<T, 1>;
  using Vec = Vector<T, 6>;
  using Rotation = Chart<SO3, Exp, T>;

 public:
  RB_HD explicit Chart(const Vec& x) : Chart(Chart<SO3, Exp, D>(vector(x))) {}
  RB_HD Vec x() const { return from_vector(dual_.x()); }
  RB_HD Chart opposite() const { return Chart(dual_.opposite()); }

  /// (exp w, (1 + E_2 hat(w) + E_3 hat(w)^2) v).
  RB_HD Vector<T, 12> move(const Vector<T, 12>& g) const { return SE3::product(g, tau()); }
  RB_HD Vec Ad(const Vec& y) const { return SE3::Ad(tau(), y); }
  RB_HD Vec Ad_star(const Vec& m) const { return SE3::Ad_star(tau(), m); }
  RB_HD Vec Ad_inverse_star(const Vec& m) const { return SE3::Ad_inverse_star(tau(), m); }
  RB_HD Vector<T, 12> tau() const {
    const Rotation rotation(SE3::angular(x()));
    return join(rotation.tau(), rotation.opposite().dtau(SE3::linear(x())));
  }
  RB_HD static Vec inverse(const Vector<T, 12>& g) {
    const auto w = Rotation::inverse(SE3::rotation(g));
    return join(w, Rotation(w).opposite().dtau_inverse(SE3::position(g)));
  }

  RB_HD Vec dtau(const Vec& eta) const { return from_vector(dual_.dtau(vector(eta))); }
  RB_HD Vec dtau_star(const Vec& m) const { return from_covector(dual_.dtau_star(covector(m))); }
  RB_HD Vec dtau_inverse(const Vec& zeta) const { return from_vector(dual_.dtau_inverse(vector(zeta))); }
  RB_HD Vec dtau_inverse_star(const Vec& m) const { return from_covector(dual_.dtau_inverse_star(covector(m))); }
  RB_HD Vec gradient(const Vec& m, const Vec& eta) const {
    return from_covector(dual_.gradient(covector(m), vector(eta)));
  }

 private:
  RB_HD explicit Chart(const Chart<SO3, Exp, D>& dual) : dual_(dual) {}

 protected:
  RB_HD static Vector<D, 3> vector(const Vec& x) { return detail::along(SE3::angular(x), SE3::linear(x)); }
  RB_HD static Vector<D, 3> covector(const Vec& m) { return detail::along(SE3::linear(m), SE3::angular(m)); }
  RB_HD static Vec from_vector(const Vector<D, 3>& a) { return join(detail::values(a), detail::derivative(a)); }
  RB_HD static Vec from_covector(const Vector<D, 3>& a) { return join(detail::derivative(a), detail::values(a)); }

 private:
  Chart<SO3, Exp, D> dual_;
};

/// The Cayley transform of the 4 x 4 matrices: tau = (cay w, B v), dtau(c, d) = (a, B^T d + a cross v/2), with
/// B = (1 - hat(w)/2)^-1 = b (1 + hat(w)/2 + w w^T/4), b = 4/(4 + |w|^2), and a = dcay_w c of SO(3).
template <class T>
class Chart<SE3, Cay, T> {
  using Vec = Vector<T, 6>;
  using Vec3 = Vector<T, 3>;

 public:
  RB_HD explicit Chart(const Vec& x) : rotation_(SE3::angular(x)), v_(SE3::linear(x)) {}
  RB_HD Vec x() const { return join(w(), v_); }
  RB_HD Chart opposite() const { return Chart(-x()); }

  RB_HD Vector<T, 12> move(const Vector<T, 12>& g) const { return SE3::product(g, tau()); }
  RB_HD Vec Ad(const Vec& y) const { return SE3::Ad(tau(), y); }
  RB_HD Vec Ad_star(const Vec& m) const { return SE3::Ad_star(tau(), m); }
  RB_HD Vec Ad_inverse_star(const Vec& m) const { return SE3::Ad_inverse_star(tau(), m); }
  RB_HD Vector<T, 12> tau() const { return join(rotation_.tau(), solve(0.5, v_)); }
  RB_HD static Vec inverse(const Vector<T, 12>& g) {
    const Vec3 w = Chart<SO3, Cay, T>::inverse(SE3::rotation(g)), p = SE3::position(g);
    return join(w, fma(T(-0.5), cross(w, p), p));
  }

  RB_HD Vec dtau(const Vec& eta) const {
    const Vec3 a = rotation_.dtau(SE3::angular(eta));
    return join(a, fma(T(0.5), cross(a, v_), solve(-0.5, SE3::linear(eta))));
  }
  RB_HD Vec dtau_star(const Vec& m) const { return join(rotation_.dtau_star(torque(m)), solve(0.5, SE3::linear(m))); }
  RB_HD Vec dtau_inverse(const Vec& zeta) const {
    const Vec3 a = SE3::angular(zeta), d = fma(T(-0.5), cross(a, v_), SE3::linear(zeta));
    return join(rotation_.dtau_inverse(a), fma(T(0.5), cross(w(), d), d));
  }
  RB_HD Vec dtau_inverse_star(const Vec& m) const {
    const Vec3 f = fma(T(-0.5), cross(w(), SE3::linear(m)), SE3::linear(m));
    return join(fma(T(-0.5), cross(v_, f), rotation_.dtau_inverse_star(SE3::angular(m))), f);
  }
  RB_HD Vec gradient(const Vec& m, const Vec& eta) const {
    // The gradient of <m + v cross f/2, dcay_w c> + b <f, d - w cross d/2 + w (w . d)/4>. The gradient of b is
    // -(b^2/2) w.
    const Vec3 f = SE3::linear(m), c = SE3::angular(eta), d = SE3::linear(eta);
    const T b = rotation_.factor();
    const Vec3 of_factors = fma(T(0.5), cross(f, d), T(0.25) * (dot(w(), d) * f + dot(w(), f) * d));
    const Vec3 of_w =
        fma(b, of_factors, fma(T(-0.5) * b * dot(f, solve(-0.5, d)), w(), rotation_.gradient(torque(m), c)));
    return join(of_w, T(0.5) * cross(f, rotation_.dtau(c)));
  }

 private:
  RB_HD const Vec3& w() const { return rotation_.x(); }
  /// (1 - s hat(w))^-1 a: B a for s = 1/2, B^T a for s = -1/2.
  RB_HD Vec3 solve(double s, const Vec3& a) const {
    return rotation_.factor() * fma(T(s), cross(w(), a), fma(T(0.25) * dot(w(), a), w(), a));
  }
  /// m + v cross f/2.
  RB_HD Vec3 torque(const Vec& m) const { return fma(T(0.5), cross(v_, SE3::linear(m)), SE3::angular(m)); }

  Chart<SO3, Cay, T> rotation_;
  Vec3 v_;
};

RB_NAMESPACE_END
