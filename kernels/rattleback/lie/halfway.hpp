#pragma once
// The way half along a chart: y with tau(y) tau(y) = tau(x). For exp it is x/2. For cay it is not, and g cay(x/2) is not the
// middle of g and g cay(x) as seen from both.

#include "rattleback/lie/product.hpp"
#include "rattleback/lie/se3.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Where the algebra has X^3 = -t X: the tangent of a quarter of the angle from that of half of it.
template <class G>
struct HalfwayOfCay {
  template <class T>
  RB_HD static Algebra<G, T> of(const Algebra<G, T>& x) {
    return (T(1.0) / (T(1.0) + sqrt(fma(T(0.25), G::angle_squared(x), T(1.0))))) * x;
  }
};
/// The positions p' + R' p' = p give v' = (1 - hat(w')/2)^2 p/2.
template <>
struct HalfwayOfCay<SE3> {
  template <class T>
  RB_HD static Vector<T, 6> of(const Vector<T, 6>& x) {
    const Vector<T, 3> w = HalfwayOfCay<SO3>::of<T>(SE3::angular(x));
    const Vector<T, 3> p = SE3::position(Chart<SE3, Cay, T>(x).tau()), v = fma(T(-0.5), cross(w, p), p);
    return join(w, T(0.5) * fma(T(-0.5), cross(w, v), v));
  }
};
template <class... Groups>
struct HalfwayOfCay<Product<Groups...>> {
  using G = Product<Groups...>;
  template <class T>
  RB_HD static Algebra<G, T> of(const Algebra<G, T>& x) {
    return join(HalfwayOfCay<typename G::First>::template of<T>(G::first(x)),
                HalfwayOfCay<typename G::Rest>::template of<T>(G::rest(x)));
  }
};

}  // namespace detail

template <class G, class Tau, class T>
RB_HD Algebra<G, T> halfway(const Algebra<G, T>& x) {
  if constexpr (std::same_as<Tau, Cay>) {
    return detail::HalfwayOfCay<G>::template of<T>(x);
  } else {
    return T(0.5) * x;
  }
}

RB_NAMESPACE_END
