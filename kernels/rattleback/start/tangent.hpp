#pragma once
// Tangent vectors (dq, dp, dlambda) of states with constraints, as the derivatives of dual numbers.

#include "rattleback/start/multiplier.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Takes one Newton step from (q, v) to the constraints, along the metric of the mass matrix. Of dual numbers the step removes round-off
/// from the value, and from the derivative the part that violates the linearised constraints.
template <class System, class T = typename System::scalar, int n = System::n>
RB_HD_LARGE void newton_to_constraints(const System& system, Configuration<System>& q, Vector<T, n>& v) {
  const auto step = [&]<int size>(const Vector<T, size>& value, const Matrix<T, size, n>& jacobian) {
    const InverseMass<System> mass_inverse(system, q, v);
    Matrix<T, size, size> matrix;
    Matrix<T, size, n> response;
    for (int k = 0; k < size; ++k) {
      response[k] = mass_inverse * jacobian[k];
      for (int i = 0; i < size; ++i) matrix[i][k] = dot(jacobian[i], response[k]);
    }
    return -transpose_times(response, Factors<T, size>(matrix).solve(value));
  };
  if constexpr (position_count<System> > 0) {
    using G = group_of<System>;
    const auto g = position_constraint(system, q);
    q = G::product(q, Chart<G, Cay, T>(step(g.value, g.jacobian)).tau());
  }
  v = v + step(constraint(system, q, v), constraint_forms(system, q, v));
}

}  // namespace detail

/// Takes from dq, the derivative of an element of a group, the part that round-off has put across the group. The columns g hat(e_i) are
/// orthogonal to each other.
template <class G, class D>
RB_HD void put_onto_group(Element<G, D>& q) {
  using T = decltype(q[0].value);
  const Element<G, T> g = detail::values(q), d = detail::derivative(q);
  auto along = Element<G, T>::zero();
  RB_UNROLL
  for (int k = 0; k < G::dimension; ++k) {
    auto unit = Algebra<G, T>::zero();
    unit[k] = T(1.0);
    const Element<G, T> column = G::translate(g, unit);
    along = fma(dot(column, d) / dot(column, column), column, along);
  }
  q = detail::along(g, along);
}

/// The product dq.M dq' + dp.M^-1 dp' of tangent vectors at a state, with the mass matrix M, the derivative of p by v there. On a group
/// dq is the displacement in the body and dp the change of the momentum in the body. M x and M^-1 x are derivatives of the Legendre
/// transform along x, so that M need not be known as a matrix.
template <class System>
class MassProduct {
  using D = typename System::scalar;
  using T = decltype(D().value);
  using G = group_of<System>;
  static constexpr int n = System::n, N = element_size<System>;

 public:
  /// dq and dp, in the body.
  struct Parts {
    Vector<T, n> q, p;
  };

  /// `p` is right trivialised with `in_space`. Derivatives of q and p do not matter.
  RB_HD MassProduct(const System& system, const Configuration<System>& q, const Vector<D, n>& p, bool in_space)
      : system_(system), in_space_(in_space), q_(lift<D>(detail::values(q))), p_(lift<D>(detail::values(p))) {
    of_body_ = p_;
    if constexpr (on_group<System>)
      if (in_space_) of_body_ = G::Ad_star(q_, p_);
    v_ = velocity(system_, q_, of_body_);
  }

  RB_HD Parts parts(const Vector<T, N>& dq, const Vector<T, n>& dp) const {
    Parts r;
    r.p = dp;
    if constexpr (on_group<System>) {
      const auto g = detail::values(q_);
      RB_UNROLL
      for (int k = 0; k < n; ++k) {
        auto unit = Algebra<G, T>::zero();
        unit[k] = T(1.0);
        const Element<G, T> column = G::translate(g, unit);
        r.q[k] = dot(column, dq) / dot(column, column);
      }
      if (in_space_)
        r.p = detail::derivative(
            G::Ad_star(detail::along(detail::values(q_), dq), detail::along(detail::values(p_), dp)));
    } else {
      r.q = dq;
    }
    return r;
  }
  /// M dq and M^-1 dp.
  RB_HD Parts dual(const Parts& x) const {
    return {detail::derivative(momentum(system_, q_, detail::along(detail::values(v_), x.q))),
            detail::derivative(velocity(system_, q_, detail::along(detail::values(of_body_), x.p)))};
  }
  RB_HD static T pairing(const Parts& dual, const Parts& x) { return dot(dual.q, x.q) + dot(dual.p, x.p); }
  RB_HD T operator()(const Parts& a, const Parts& b) const { return pairing(dual(a), b); }

 private:
  const System system_;
  bool in_space_;
  Configuration<System> q_;
  Vector<D, n> p_, of_body_, v_;
};

/// Where it `moves`, changes a state (q, p) with its derivative to one that satisfies the constraints. Where it `resets`, lambda becomes
/// the multiplier of the continuous equations. With `in_space` p is right trivialised.
template <class System, class D = typename System::scalar, int n = System::n, int m = System::m>
RB_HD_LARGE void constrain_tangent(const System& system, Configuration<System>& q, Vector<D, n>& p,
                                   [[maybe_unused]] bool in_space, bool moves, bool resets, Vector<D, m>& lambda) {
  using G = group_of<System>;
  Vector<D, n> of_body = p;
  if constexpr (on_group<System>)
    if (in_space) of_body = G::Ad_star(q, p);
  Vector<D, n> v = velocity(system, q, of_body);
  if (moves) {
    detail::newton_to_constraints(system, q, v);
    p = momentum(system, q, v);
    if constexpr (on_group<System>)
      if (in_space) p = G::Ad_inverse_star(q, p);
  }
  if (resets) lambda = detail::ContinuousMultiplier<System>(system, q, v).lambda;
}

RB_NAMESPACE_END
