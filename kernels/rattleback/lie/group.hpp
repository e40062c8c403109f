#pragma once
// The functions of a Lie group G and of the group's retractions.
//
// A group is a type with the constants
//
//   dimension       n, the dimension of the group and of the algebra
//   element_size    count of numbers in an element
//
// and static functions, templates over the scalar. g, h are elements; x, y are in the algebra g = R^n; m is in the dual
// R^n. A covector acts by <m, x> = m . x, so that a star is a transpose. matrix(g), hat(x) and its inverse vee are those of a faithful
// representation (docs/conventions.md):
//
//   identity<T>(), product(g, h), inverse(g)
//   translate(g, x)                  d/de g tau(e x) at e = 0: g hat(x), as numbers of an element
//   expand(x)                        the element from n numbers: rotation vectors become rotations; other numbers stay
//   defect(g)                        distance from the group: max norm of R^T R - 1, infinite where det R < 0
//   normalise(g)                     one step of Newton's method to the nearest element
//   Ad(g, x)                         vee(matrix(g) hat(x) matrix(g)^-1)
//   Ad_star(g, m)                    Ad_g^T m
//   Ad_inverse_star(g, m)            Ad_{g^-1}^T m
//   ad(x, y)                         [x, y] = vee(hat(x) hat(y) - hat(y) hat(x))
//   ad_star(x, m)                    ad_x^T m, <ad_star(x, m), y> = <m, [x, y]>
//   angle_squared(x)                 square of the rotation angle of x; 0 without rotation
//
// A retraction tau: R^n -> G has tau(0) = e and tau(-x) = tau(x)^-1; a tag, Exp or Cay, names the retraction.
// Chart<G, Tau, T> is tau at one x, with all functions that methods need:
//
//   Chart(x), x()
//   tau()                            the element
//   move(g)                          g tau(x), rounded as an increment of g
//   Ad(y), Ad_star(m), Ad_inverse_star(m)        of tau(x), without computing tau(x)
//   dtau(eta)                        left trivialised: tau(x)^-1 Dtau(x)[eta]
//   dtau_star(m)                     the transpose of dtau
//   dtau_inverse(zeta), dtau_inverse_star(m)
//   gradient(m, eta)                 grad_x <m, dtau_x eta> with m and eta fixed
//   opposite()                       the chart at -x, whose dtau is the right-trivialised dtau of x:
//                                    Dtau(x)[eta] tau(x)^-1 = dtau_{-x} eta
//   Chart::inverse(g)                static: x with tau(x) = g
//
// Exp is the exponential map. dtau is invertible up to the angle 2 pi. `inverse` is the logarithm, for angles below pi
// on SO(3) and SE(3). Cay is the Cayley transform in the representation, matrix(cay(x)) = (1 - X/2)^-1 (1 + X/2) with
// X = hat(x); the angle is 2 atan(|x|/2), below pi. On commutative groups both are the identity map.

#include <concepts>

#include "rattleback/lie/entire.hpp"
#include "rattleback/linalg/vector.hpp"

RB_NAMESPACE_BEGIN

struct Exp {};
struct Cay {};

template <class G, class T>
using Element = Vector<T, G::element_size>;
/// Elements of the algebra and of its dual.
template <class G, class T>
using Algebra = Vector<T, G::dimension>;

template <class G, class Tau, class T>
class Chart;

namespace detail {

/// What groups have in common of which any N numbers are an element.
template <int N>
struct PlainElements {
  template <class T>
  RB_HD static Vector<T, N> identity() {
    return Vector<T, N>::zero();
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
};

/// dexp of a group with ad_x^3 = -t ad_x, t = |rotation(x)|^2. All power series in ad_x are quadratic polynomials here:
///   dexp = 1 - E_2 ad_x + E_3 ad_x^2,   dexp^-1 = 1 + ad_x/2 + c ad_x^2,   c = (1 - (theta/2) cot(theta/2))/t.
template <class G, class T>
class ExpTangent {
  using Vec = Algebra<G, T>;

 public:
  RB_HD explicit ExpTangent(const Vec& x) : ExpTangent(x, entire<5>(G::angle_squared(x))) {}
  RB_HD ExpTangent(const Vec& x, const Entire<T, 5>& of_angle) : x_(x), e_(of_angle) {}

  RB_HD const Vec& x() const { return x_; }
  RB_HD Vec dtau(const Vec& eta) const { return series(-e_[2], e_[3], eta); }
  RB_HD Vec dtau_star(const Vec& m) const { return series_star(-e_[2], e_[3], m); }
  RB_HD Vec dtau_inverse(const Vec& zeta) const { return series(T(0.5), cotangent(), zeta); }
  RB_HD Vec dtau_inverse_star(const Vec& m) const { return series_star(T(0.5), cotangent(), m); }
  RB_HD Vec gradient(const Vec& m, const Vec& eta) const {
    // The gradient of -E_2 <m, [x, eta]> + E_3 <m, [x, [x, eta]]>. The gradient of t is 2 rotation(x).
    const Vec y = G::ad(x_, eta), ad_star_m = G::ad_star(x_, m);
    const T of_t = e_.derivative(3) * dot(ad_star_m, y) - e_.derivative(2) * dot(m, y);
    return fma(e_[2], G::ad_star(eta, m),
               fma(-e_[3], G::ad_star(y, m) + G::ad_star(eta, ad_star_m), (T(2.0) * of_t) * G::rotation(x_)));
  }

 protected:
  /// (1 + a ad_x + c ad_x^2) y, and the transpose.
  RB_HD Vec series(const T& a, const T& c, const Vec& y) const {
    const Vec turned = G::ad(x_, y);
    return fma(a, turned, fma(c, G::ad(x_, turned), y));
  }
  RB_HD Vec series_star(const T& a, const T& c, const Vec& m) const {
    const Vec turned = G::ad_star(x_, m);
    return fma(a, turned, fma(c, G::ad_star(x_, turned), m));
  }
  /// c = -E_2'/E_2. This form never subtracts nearly equal numbers; the poles are where dexp is singular.
  RB_HD T cotangent() const { return (T(0.5) * e_[3] - e_[4]) / e_[2]; }

  Vec x_;
  Entire<T, 5> e_;
};

}  // namespace detail

RB_NAMESPACE_END
