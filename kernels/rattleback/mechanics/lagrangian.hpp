#pragma once
// Lagrangian, force, momentum, velocity and energy of a system.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/derivatives.hpp"
#include "rattleback/mechanics/driven.hpp"
#include "rattleback/mechanics/mass.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// v.M(q)v/2 + A(q).v - U(q).
template <class System, class S>
RB_HD S lagrangian_of_parts(const System& system, const Vector<S, element_size<System>>& q,
                            const Vector<S, System::n>& v) {
  const auto mass = system.mass_matrix(q);
  S l;
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(mass)>, S>) {
    l = S(0.5) * mass * dot(v, v);
  } else {
    l = S(0.5) * dot(v, apply(mass, v));
  }
  if constexpr (requires { system.vector_potential(q); }) l = l + dot(system.vector_potential(q), v);
  if constexpr (requires { system.potential(q); }) l = l - system.potential(q);
  return l;
}

/// The places in `lagrangian_derivatives` (mechanics/system.hpp).
template <class System>
struct DerivativePlaces {
  static constexpr int n = System::n, active = static_cast<int>(System::active.size());
  RB_HD static constexpr int momentum(int i) { return i; }
  RB_HD static constexpr int force(int k) { return n + k; }
  RB_HD static constexpr int mass(int i, int j) {
    return i > j ? mass(j, i) : n + active + i * n - i * (i - 1) / 2 + j - i;
  }
  RB_HD static constexpr int coupling(int i, int k) { return n + active + n * (n + 1) / 2 + k * n + i; }
};
}  // namespace detail

/// L(q, v).
template <class System, class S>
RB_HD S lagrangian(const System& system, const Vector<S, element_size<System>>& q, const Vector<S, System::n>& v) {
  if constexpr (Separable<System>) {
    return S(0.5) * dot(v, Mass<System>(system).times(v)) - system.potential(q);
  } else if constexpr (detail::gives_lagrangian<System>) {
    return system.lagrangian(q, v);
  } else if constexpr (HamiltonianAlone<System>) {
    const Vector<S, System::n> p = momentum(system, q, v);
    return dot(v, p) - system.hamiltonian(q, p);
  } else {
    return detail::lagrangian_of_parts(system, q, v);
  }
}

/// Force -grad U of a separable system.
template <class System, class T>
RB_HD Vector<T, System::n> force(const System& system, const Vector<T, element_size<System>>& q) {
  constexpr int n = System::n;
  if constexpr (requires { system.force(q); }) {
    return system.force(q);
  } else {
    const Dual<T, n> u = system.potential(seeded_configuration<group_of<System>, Dual<T, n>>(q));
    return -detail::partials<n>(u);
  }
}

namespace detail {
/// A^-1 b: by cofactors, or with exchanges of rows.
template <class T, int n>
RB_HD Vector<T, n> solve_regular(const Matrix<T, n, n>& a, const Vector<T, n>& b) {
  if constexpr (n <= 3) {
    return Factors<T, n, Definite<>>(a) * b;
  } else {
    return Factors<T, n>(a).solve(b);
  }
}

/// v with p = value(v), for a gradient `value` with the derivative `slope`: Newton's method from `v`, whose steps are halved until the
/// residual shrinks. NaN in lanes without a solution.
template <class T, int n, class Value, class Slope>
RB_HD_LARGE Vector<T, n> inverse_of(const Vector<T, n>& p, Vector<T, n> v, const Value& value, const Slope& slope) {
  constexpr int most_steps = 60, most_halvings = 40;
  Vector<T, n> residual = p - value(v);
  mask_t<T> active(true), restarted(false);
  for (int step = 0; step < most_steps && any(active); ++step) {
    const Vector<T, n> dv = solve_regular(slope(v), residual);
    if (step == 0) {
      // The slope may be singular at the start only, as that of v^4/4 at v = 0.
      restarted = active & !is_finite(sum(dv));
      if (any(restarted)) {
        active = active & !(restarted & (magnitude(residual) == T(0.0)));  // v solves the equation
        const T size = magnitude(p);
        RB_UNROLL
        for (int i = 0; i < n; ++i)
          v[i] =
              select(restarted & active, select(p[i] < T(0.0), p[i] - T(0.125) * size, p[i] + T(0.125) * size), v[i]);
        residual = p - value(v);
        continue;
      }
    }
    // The error after a step this small is its square. Near a singular slope the steps shrink slowly.
    const mask_t<T> last = active & is_finite(sum(dv)) &
                           ((magnitude(dv) <= T(1e-8) * magnitude(v + dv)) |
                            (restarted & (magnitude(residual) <= T(1e-16) * magnitude(p))));
    mask_t<T> searching = active & !last;
    T factor(1.0);
    Vector<T, n> next = v + dv, rest = p - value(next);
    for (int halving = 0; halving < most_halvings; ++halving) {
      // The size of NaN is 0.
      searching = searching & !((magnitude(rest) < magnitude(residual)) & is_finite(sum(rest)));
      if (!any(searching)) break;
      factor = select(searching, T(0.5) * factor, factor);
      next = fma(factor, dv, v);
      rest = p - value(next);
    }
    const mask_t<T> moves = active & !searching;
    v = select(moves, next, v);
    residual = select(moves, rest, residual);
    active = active & !last;
    if (!any(moves)) break;
  }
  RB_UNROLL
  for (int i = 0; i < n; ++i) v[i] = select(active, T(__builtin_nan("")), v[i]);
  return v;
}

/// dH/dp.
template <class System, class T>
RB_HD Vector<T, System::n> velocity_by_hamiltonian(const System& system, const Vector<T, element_size<System>>& q,
                                                   const Vector<T, System::n>& p) {
  constexpr int n = System::n;
  using D = Dual<T, n>;
  auto x = lift<D>(q);
  return partials<n>(system.hamiltonian(x, seeded_velocity<D, 0>(p)));
}

/// d2H/dp2.
template <class System, class T, int n = System::n>
RB_HD Matrix<T, n, n> inverse_mass(const System& system, const Vector<T, element_size<System>>& q,
                                   const Vector<T, n>& p) {
  using D = Dual<T, n>;
  auto x = lift<D>(q);
  return partials<n>(velocity_by_hamiltonian(system, x, seeded_velocity<D, 0>(p)));
}

/// dL/dv by dual numbers.
template <class System, class T>
RB_HD Vector<T, System::n> differentiated_momentum(const System& system, const Vector<T, element_size<System>>& q,
                                                   const Vector<T, System::n>& v) {
  constexpr int n = System::n;
  using D = Dual<T, n>;
  auto x = lift<D>(q);
  return partials<n>(lagrangian(system, x, seeded_velocity<D, 0>(v)));
}
}  // namespace detail

/// p = dL/dv. NaN where a Hamiltonian alone does not determine it.
template <class System, class T>
RB_HD Vector<T, System::n> momentum(const System& system, const Vector<T, element_size<System>>& q,
                                    const Vector<T, System::n>& v) {
  if constexpr (Separable<System>) {
    return Mass<System>(system).times(v);
  } else if constexpr (requires { system.momentum(q, v); }) {
    return system.momentum(q, v);
  } else if constexpr (StatesParts<System>) {
    const Vector<T, System::n> p = detail::apply(system.mass_matrix(q), v);
    if constexpr (requires { system.vector_potential(q); }) return p + system.vector_potential(q);
    return p;
  } else if constexpr (GivesDerivatives<System>) {
    return segment<0, System::n>(system.lagrangian_derivatives(q, v));
  } else if constexpr (HamiltonianAlone<System>) {
    return detail::inverse_of(
        v, Vector<T, System::n>::zero(), [&](const auto& p) { return velocity(system, q, p); },
        [&](const auto& p) { return detail::inverse_mass(system, q, p); });
  } else {
    return detail::differentiated_momentum(system, q, v);
  }
}

/// The mass matrix d2L/dv2 at (q, v).
template <class System, class T>
RB_HD_LARGE Matrix<T, System::n, System::n> mass_matrix(const System& system, const Vector<T, element_size<System>>& q,
                                                        const Vector<T, System::n>& v) {
  constexpr int n = System::n;
  if constexpr (StatesParts<System>) return detail::as_matrix<T, n>(system.mass_matrix(q));
  if constexpr (HamiltonianAlone<System>) {
    const Factors<T, n> inverse(detail::inverse_mass(system, q, momentum(system, q, v)));
    Matrix<T, n, n> mass;  // symmetric
    RB_UNROLL
    for (int i = 0; i < n; ++i) mass[i] = inverse.column(i);
    return mass;
  }
  if constexpr (GivesDerivatives<System>) {
    const auto derivatives = system.lagrangian_derivatives(q, v);
    Matrix<T, n, n> mass;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j) mass[i][j] = derivatives[detail::DerivativePlaces<System>::mass(i, j)];
    }
    return mass;
  }
  using D = Dual<T, n>;
  auto x = lift<D>(q);
  return detail::partials<n>(momentum(system, x, seeded_velocity<D, 0>(v)));
}

namespace detail {
/// dL/dq; on a group the left-trivialised derivative.
template <class System, class T>
RB_HD Vector<T, System::n> lagrangian_force(const System& system, const Vector<T, element_size<System>>& q,
                                            const Vector<T, System::n>& v) {
  constexpr int n = System::n;
  if constexpr (Separable<System>) {
    return force(system, q);
  } else if constexpr (HamiltonianAlone<System>) {
    Vector<T, n> rate, f;
    hamiltonian_rates(system, q, momentum(system, q, v), rate, f);
    return f;
  } else {
    using D = Dual<T, n>;
    auto y = lift<D>(v);
    return partials<n>(lagrangian(system, seeded_configuration<group_of<System>, D>(q), y));
  }
}
}  // namespace detail

/// dL/dq, and the generalized force where the system has one.
template <class System, class T>
RB_HD Vector<T, System::n> configuration_force(const System& system, const Vector<T, element_size<System>>& q,
                                               const Vector<T, System::n>& v) {
  Vector<T, System::n> f;
  if constexpr (requires { system.momentum_and_force(q, v); }) {
    using Places = detail::DerivativePlaces<System>;
    const auto first = system.momentum_and_force(q, v);
    RB_TABLE coordinates = System::active;
    f = Vector<T, System::n>::zero();
    RB_UNROLL
    for (int k = 0; k < Places::active; ++k) f[coordinates[static_cast<std::size_t>(k)]] = first[Places::force(k)];
  } else {
    f = detail::lagrangian_force(system, q, v);
  }
  if constexpr (detail::has_applied_force<System>()) f = f + system.applied_force(q, v);
  return f;
}

/// dH/dp and -dH/dq; on a group the left-trivialised derivative.
template <class System, class T>
RB_HD void hamiltonian_rates(const System& system, const Vector<T, element_size<System>>& q,
                             const Vector<T, System::n>& p, Vector<T, System::n>& velocity,
                             Vector<T, System::n>& force) {
  constexpr int n = System::n;
  using D = Dual<T, 2 * n>;
  const D h = system.hamiltonian(seeded_configuration<group_of<System>, D>(q), seeded_velocity<D, n>(p));
  velocity = detail::partials<n, n>(h);
  force = -detail::partials<n>(h);
}

namespace detail {
/// v with p = dL/dv(q, v) for any regular L.
template <class System, class T, int n = System::n>
RB_HD Vector<T, n> inverse_legendre(const System& system, const Vector<T, element_size<System>>& q,
                                    const Vector<T, n>& p, const Vector<T, n>& v) {
  return inverse_of(
      p, v, [&](const Vector<T, n>& x) { return momentum(system, q, x); },
      [&](const Vector<T, n>& x) { return mass_matrix(system, q, x); });
}

}  // namespace detail

/// Computes v from p = dL/dv(q, v). Where L is not quadratic in v, the system says so (`quadratic`) or gives `velocity(q, p)`.
template <class System, class T>
RB_HD Vector<T, System::n> velocity(const System& system, const Vector<T, element_size<System>>& q,
                                    const Vector<T, System::n>& p) {
  constexpr int n = System::n;
  if constexpr (Separable<System>) {
    return Mass<System>(system).inverse_times(p);
  } else if constexpr (requires { system.velocity(q, p); }) {
    return system.velocity(q, p);
  } else if constexpr (HamiltonianAlone<System>) {
    return detail::velocity_by_hamiltonian(system, q, p);
  } else if constexpr (StatesParts<System>) {
    Vector<T, n> v = p;
    if constexpr (requires { system.vector_potential(q); }) v = p - system.vector_potential(q);
    const auto mass = detail::as_matrix<T, n>(system.mass_matrix(q));
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(system.mass_matrix(q))>, Matrix<T, n, n>>) {
      solve_once<Definite<>>(mass, v);
    } else {
      RB_UNROLL
      for (int i = 0; i < n; ++i) v[i] = v[i] / mass[i][i];
    }
    return v;
  } else if constexpr (NotQuadratic<System>) {
    return detail::inverse_legendre(system, q, p, Vector<T, n>::zero());
  } else {
    // One Newton step from v = 0 is exact for dL/dv = M(q) v + b(q). A second step removes rounding errors.
    Vector<T, n> v = Vector<T, n>::zero();
    const Factors<T, n> mass(mass_matrix(system, q, v));
    v = mass.solve(p - momentum(system, q, v));
    return v + mass.solve(p - momentum(system, q, v));
  }
}

/// The velocity v of a state (q, p). On a group v and p are both in the body or, right trivialised, both in space.
template <class System, class T>
RB_HD Vector<T, System::n> velocity_of_state(const System& system, const Vector<T, element_size<System>>& q,
                                             const Vector<T, System::n>& p, bool in_space) {
  if constexpr (on_group<System>) {
    using G = group_of<System>;
    if (in_space) return G::Ad(q, velocity(system, q, G::Ad_star(q, p)));
  }
  return velocity(system, q, p);
}

/// Energy v.dL/dv - L.
template <class System, class T>
RB_HD T energy(const System& system, const Vector<T, element_size<System>>& q, const Vector<T, System::n>& v) {
  if constexpr (Separable<System>) {
    return fma(T(0.5), dot(v, Mass<System>(system).times(v)), system.potential(q));
  } else if constexpr (HamiltonianAlone<System>) {
    return system.hamiltonian(q, momentum(system, q, v));
  } else {
    return dot(v, momentum(system, q, v)) - lagrangian(system, q, v);
  }
}

RB_NAMESPACE_END
