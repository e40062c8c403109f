#pragma once
// The initial tangent vectors of Lyapunov exponents. One source for single points and for packs of points.

#include "rattleback/mechanics/quadratic.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/start/consistent.hpp"
#include "rattleback/start/tangent.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// The direction in (dq, dv) from which tangent vector j starts, `size` numbers. That of the first vector has the components
/// frac((i + 1) / golden ratio) - 1/2. More directions of this kind are nearly dependent, so that the others have those of a linear
/// congruential generator, vector by vector.
RB_HD_LARGE void starting_direction(int j, int size, double* direction) {
  if (j == 0) {
    for (int i = 0; i < size; ++i) {
      const double multiple = (i + 1) * 0.6180339887498949;
      direction[i] = multiple - static_cast<int>(multiple) - 0.5;
    }
    return;
  }
  std::uint64_t x = 0;
  for (int i = 0; i < j * size; ++i) {
    x = 6364136223846793005u * x + 1442695040888963407u;
    if (i >= (j - 1) * size) direction[i - (j - 1) * size] = static_cast<double>(x >> 11) * 0x1p-53 - 0.5;
  }
}

}  // namespace detail

/// The initial tangent vectors at points of a system over dual numbers, the same for all methods. `by_mass` they are orthogonal with the
/// product of MassProduct, otherwise with the Euclidean product of (dq, dp).
template <class System, bool by_mass>
class InitialTangents {
  using D = typename System::scalar;
  using T = decltype(D().value);
  using G = group_of<System>;
  static constexpr int n = System::n, m = System::m, N = element_size<System>;

 public:
  static constexpr int size = N + n, width = size + m;
  /// (dq, dp, dlambda), with dq as the numbers of q.
  using Tangent = Vector<T, width>;

  /// `v` and `p` are in space or in the body. `p` is of no account where it follows from v, except `by_mass`.
  RB_HD InitialTangents(const System& system, const Vector<T, N>& q, const Vector<T, n>& v, const Vector<T, n>& p,
                        bool in_space)
      : system_(system), q_(q), v_(v), p_(p), in_space_(in_space) {}

  /// Computes `count` vectors, one after the other: each is made orthogonal to those before it and has the norm 1. `load` gives the
  /// vectors that `store` has got.
  template <class Load, class Store>
  RB_HD void operator()(int count, const Load& load, const Store& store) const {
    for (int j = 0; j < count; ++j) {
      double direction[2 * n];
      detail::starting_direction(j, 2 * n, direction);
      Tangent tangent = along(direction);
      for (int i = 0; i < j; ++i) {
        const Tangent before = load(i);
        const T share = product(before, tangent);
        for (int k = 0; k < width; ++k) tangent[k] = tangent[k] - share * before[k];
      }
      const T norm = sqrt(product(tangent, tangent));
      for (int k = 0; k < width; ++k) tangent[k] = tangent[k] / norm;
      store(j, tangent);
    }
  }

 private:
  RB_HD_LARGE T product(const Tangent& a, const Tangent& b) const {
    if constexpr (by_mass) {
      const MassProduct<System> of(system_, lift<D>(q_), lift<D>(p_), in_space_);
      return of(parts(of, a), parts(of, b));
    } else {
      T sum(0.0);
      for (int i = 0; i < size; ++i) sum = sum + a[i] * b[i];
      return sum;
    }
  }
  template <class Product>
  RB_HD static auto parts(const Product& of, const Tangent& x) {
    return of.parts(segment<0, N>(x), segment<N, n>(x));
  }

  /// A tangent vector of any length. The nearest direction, in the metric of the mass matrix, that satisfies the linearised constraints
  /// replaces the given one; on a group its dq is in the algebra. dp and dlambda are the derivatives of dL/dv and of the continuous
  /// multiplier.
  RB_HD_LARGE Tangent along(const double* direction) const {
    Vector<T, n> in_body = v_;
    if constexpr (on_group<System>)
      if (in_space_) in_body = G::Ad(G::inverse(q_), in_body);
    Vector<T, n> shift, turn;
    for (int i = 0; i < n; ++i) {
      shift[i] = T(direction[i]);
      turn[i] = T(direction[n + i]);
    }
    Vector<D, n> y = detail::along(in_body, turn);
    Vector<D, N> x = moving<G>(q_, shift);
    Vector<D, m> lambda;
    if constexpr (m > 0) {
      detail::newton_to_constraints(system_, x, y);
      detail::continuous_multiplier(system_, x, y, lambda);
    }
    Vector<D, n> momenta;
    if constexpr (HamiltonianAlone<System>) {  // velocities need not determine momenta: the direction is one of (q, p)
      Vector<T, n> of_body = p_;
      if constexpr (on_group<System>)
        if (in_space_) of_body = G::Ad_star(q_, of_body);
      momenta = detail::along(of_body, turn);
    } else {
      momenta = momentum(system_, x, y);
    }
    if constexpr (on_group<System>)
      if (in_space_) momenta = G::Ad_inverse_star(x, momenta);
    return join(join(detail::derivative(x), detail::derivative(momenta)), detail::derivative(lambda));
  }

  const System system_;
  const Vector<T, N> q_;
  const Vector<T, n> v_, p_;
  bool in_space_;
};

RB_NAMESPACE_END
