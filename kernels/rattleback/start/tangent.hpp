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
  Element<G, T> g, d, along = Element<G, T>::zero();
  RB_UNROLL
  for (int i = 0; i < G::element_size; ++i) {
    g[i] = q[i].value;
    d[i] = q[i].partial[0];
  }
  RB_UNROLL
  for (int k = 0; k < G::dimension; ++k) {
    auto unit = Algebra<G, T>::zero();
    unit[k] = T(1.0);
    const Element<G, T> column = G::translate(g, unit);
    along = fma(dot(column, d) / dot(column, column), column, along);
  }
  RB_UNROLL
  for (int i = 0; i < G::element_size; ++i) q[i].partial[0] = along[i];
}

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
