#pragma once
// First derivatives in q and v by dual numbers, on R^n and on groups.

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/mechanics/concepts.hpp"

RB_NAMESPACE_BEGIN

/// The configuration g tau(x), where x exists only in the partial derivatives of a dual number. All retractions tau
/// agree to first order.
template <class G, class S>
RB_HD Vector<Dual<S, 1>, G::element_size> moving(const Vector<S, G::element_size>& g,
                                                 const Vector<S, G::dimension>& x) {
  return detail::along(g, G::translate(g, x));
}

/// q as dual numbers. The first n partials of D are the derivatives by q.
template <class G, class D, class T>
RB_HD Vector<D, G::element_size> seeded_configuration(const Vector<T, G::element_size>& q) {
  auto r = lift<D>(q);
  RB_UNROLL
  for (int k = 0; k < G::dimension; ++k) {
    auto unit = Vector<T, G::dimension>::zero();
    unit[k] = T(1.0);
    const auto rate = G::translate(q, unit);
    RB_UNROLL
    for (int i = 0; i < G::element_size; ++i) r[i].partial[k] = rate[i];
  }
  return r;
}
/// v as dual numbers. The partials `first`, `first` + 1, ... are the derivatives by v.
template <class D, int first, class T, int n>
RB_HD Vector<D, n> seeded_velocity(const Vector<T, n>& v) {
  Vector<D, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = D(v[i], first + i);
  return r;
}

/// Value and first derivatives of a function of (q, v) with R components.
template <class T, int n, int R>
struct Gradient {
  Vector<T, R> value;
  Matrix<T, R, n> dq, dv;
};

template <int R, class Group = void, class T, int N, int n, class F>
RB_HD_LARGE Gradient<T, n, R> gradient(F&& f, const Vector<T, N>& q, const Vector<T, n>& v) {
  using G = std::conditional_t<std::is_void_v<Group>, Rn<N>, Group>;
  using D = Dual<T, 2 * n>;
  const Vector<D, R> y = f(seeded_configuration<G, D>(q), seeded_velocity<D, n>(v));
  return {detail::values(y), detail::partials<n>(y), detail::partials<n, n>(y)};
}

RB_NAMESPACE_END
