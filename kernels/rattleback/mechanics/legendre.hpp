#pragma once
// The Legendre transform of a regular Hamiltonian: momenta and the derivatives of L at (q, v).

#include "rattleback/mechanics/lagrangian.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// How many dual numbers S is nested in.
template <class S>
inline constexpr int dual_levels = 0;
template <class S, int K>
inline constexpr int dual_levels<Dual<S, K>> = 1 + dual_levels<S>;

/// x without derivatives.
template <class S>
RB_HD auto without_duals(const S& x) {
  return value_of(x);
}
template <class S, int N>
RB_HD auto without_duals(const Vector<S, N>& x) {
  Vector<decltype(value_of(S())), N> r;
  RB_UNROLL
  for (int i = 0; i < N; ++i) r[i] = value_of(x[i]);
  return r;
}

/// p with v = H_p(x..., p), where x is q, or the time and q, by Newton's method with H_pp. Derivatives follow from further steps,
/// each of which doubles the order to which they are exact. NaN in lanes without a solution.
template <class System, class S, int n, class... X>
RB_HD_LARGE Vector<S, n> momentum_by_hamiltonian(const System& system, const Vector<S, n>& v, const X&... x) {
  if constexpr (dual_levels<S> == 0) {
    return inverse_of(
        v, Vector<S, n>::zero(), [&](const Vector<S, n>& p) { return system.velocity(x..., p); },
        [&](const Vector<S, n>& p) { return system.inverse_mass(x..., p); });
  } else {
    Vector<S, n> p = lift<S>(momentum_by_hamiltonian(system, without_duals(v), without_duals(x)...));
    for (int order = 1; order <= dual_levels<S>; order *= 2)
      p = p + solve_regular(system.inverse_mass(x..., p), v - system.velocity(x..., p));
    return p;
  }
}

/// `lagrangian_derivatives` (system.hpp) with `active` coordinates at the momentum p, from the derivatives of H: H_q by the active
/// coordinates, the rows of the upper triangle of H_pp, and the derivatives of H_p by each active coordinate.
template <int active, class S, int n, int size>
RB_HD_LARGE Vector<S, n + size> derivatives_by_hamiltonian(const Vector<S, n>& p, const Vector<S, size>& of_h) {
  static_assert(size == active + n * (n + 1) / 2 + active * n);
  Matrix<S, n, n> inverse_mass;
  int at = active;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    RB_UNROLL
    for (int j = i; j < n; ++j) inverse_mass[i][j] = inverse_mass[j][i] = of_h[at++];
  }
  Vector<S, n + size> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = p[i];
  RB_UNROLL
  for (int k = 0; k < active; ++k) r[n + k] = -of_h[k];
  int entry = n + active;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    auto unit = Vector<S, n>::zero();
    unit[i] = S(1.0);
    const Vector<S, n> column = solve_regular(inverse_mass, unit);  // of M = H_pp^-1, which is symmetric
    RB_UNROLL
    for (int j = i; j < n; ++j) r[entry++] = column[j];
  }
  for (int k = 0; k < active; ++k) {
    Vector<S, n> by_q;
    RB_UNROLL
    for (int i = 0; i < n; ++i) by_q[i] = -of_h[at + k * n + i];
    const Vector<S, n> column = solve_regular(inverse_mass, by_q);
    RB_UNROLL
    for (int i = 0; i < n; ++i) r[entry + k * n + i] = column[i];
  }
  return r;
}
}  // namespace detail

RB_NAMESPACE_END
