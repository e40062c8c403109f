#pragma once
// Observables that every system has, and optional data of a system for the catalogue.

#include <array>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"

RB_NAMESPACE_BEGIN

/// Names of the parameters that must be 0 for the separable form to hold.
template <class System>
constexpr auto separable_without() {
  if constexpr (requires { System::separable_without; }) {
    return System::separable_without;
  } else {
    return std::array<const char*, 0>{};
  }
}

/// The `time_scale` of the system, or 1.
template <class System>
constexpr double time_scale() {
  if constexpr (requires { System::time_scale; }) {
    return System::time_scale;
  } else {
    return 1.0;
  }
}

/// Names of the components of q; a system may give these names as `coordinates`.
template <class System>
constexpr auto coordinate_names() {
  if constexpr (requires { System::coordinates; }) {
    return System::coordinates;
  } else {
    return std::array<const char*, 0>{};
  }
}

/// Number of observables of a system: energy, constraint (if any), hidden constraint (if holonomic), invariants.
template <class System>
inline constexpr int observable_count =
    1 + (System::m > 0 ? 1 : 0) + (is_holonomic<System> ? 1 : 0) + static_cast<int>(System::invariants().size());

template <class System>
constexpr auto observables() {
  std::array<ObservableInfo, observable_count<System>> r{};
  std::size_t i = 0;
  r[i++] = {"energy", System::conserves_energy, "energy v.dL/dv - L"};
  if constexpr (is_holonomic<System>) {
    r[i++] = {"constraint", false, "max norm of the constraint g(q)"};
    r[i++] = {"hidden_constraint", false, "max norm of the hidden constraint Dg(q) v"};
  } else if constexpr (System::m > 0) {
    r[i++] = {"constraint", false, "max norm of the constraint Phi(q, v)"};
  }
  for (const ObservableInfo& invariant : System::invariants()) r[i++] = invariant;
  return r;
}

/// The observables at (q, v), with the momentum p of v.
template <class System, class T>
RB_HD Vector<T, observable_count<System>> evaluate_observables(const System& system,
                                                               const Vector<T, element_size<System>>& q,
                                                               const Vector<T, System::n>& v,
                                                               [[maybe_unused]] const Vector<T, System::n>& p) {
  Vector<T, observable_count<System>> r;
  int i = 0;
  if constexpr (EnergyOfMomentum<System>) {
    r[i++] = system.hamiltonian(q, p);
  } else {
    r[i++] = energy(system, q, v);
  }
  if constexpr (is_holonomic<System>) r[i++] = max_norm(system.position_constraint(q));
  if constexpr (System::m > 0) r[i++] = max_norm(constraint(system, q, v));
  if constexpr (System::invariants().size() > 0) {
    const auto own = system.evaluate_invariants(q, v);
    RB_UNROLL
    for (int j = 0; j < own.size; ++j) r[i + j] = own[j];
  }
  return r;
}
template <class System, class T>
RB_HD Vector<T, observable_count<System>> evaluate_observables(const System& system,
                                                               const Vector<T, element_size<System>>& q,
                                                               const Vector<T, System::n>& v) {
  Vector<T, System::n> p{};
  if constexpr (EnergyOfMomentum<System>) p = momentum(system, q, v);
  return evaluate_observables(system, q, v, p);
}

RB_NAMESPACE_END
