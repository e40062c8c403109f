#pragma once
// The kind of the constraints, and the observables of a system: those that every system has, and its invariants.

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"
#include "rattleback/mechanics/stated.hpp"

RB_NAMESPACE_BEGIN

/// The kind of the constraints: what the system states, or what follows from its members.
template <class System>
constexpr ConstraintKind kind_of() {
  if constexpr (requires { System::kind; }) {
    return System::kind;
  } else {
    return System::m == 0         ? ConstraintKind::none
           : is_holonomic<System> ? ConstraintKind::holonomic
           : is_mixed<System>     ? ConstraintKind::mixed
                                  : ConstraintKind::velocity;
  }
}

/// Whether energy is constant: what the system states, or whether neither the time nor a force drives it and the constraint does no work,
/// because there is none or it is holonomic or linear in the velocity.
template <class System>
constexpr bool conserves_energy() {
  if constexpr (requires { System::conserves_energy; }) {
    return System::conserves_energy;
  } else if constexpr (timed<System>) {
    return false;
  } else {
    return System::m == 0 || is_holonomic<System> || (AffineConstraint<System> && !has_constraint_offset<System>);
  }
}

/// The form of a system, which the concepts decide.
template <class System>
constexpr SystemForm form_of() {
  constexpr bool by_hamiltonian = requires { System::by_hamiltonian; };
  return {.constraint = kind_of<System>(),
          .on_group = on_group<System>,
          .driven = timed<System>,
          .hamiltonian_alone = HamiltonianAlone<System>,
          .of_momentum = HamiltonianAlone<System> || by_hamiltonian,
          .separable = Separable<System>,
          .separable_form = SeparableForm<System>,
          .affine = AffineConstraint<System>,
          .offset = has_constraint_offset<System>,
          .explicit_velocity = !on_group<System> && ExplicitVelocity<System>,
          .lagrange_top = LagrangeTop<System>,
          .conserves_energy = conserves_energy<System>()};
}

/// Number of observables of a system: energy, constraint (if any), hidden constraint (if some are on positions), invariants.
template <class System>
inline constexpr int observable_count = 1 + (System::m > 0 ? 1 : 0) + (position_count<System> > 0 ? 1 : 0) +
                                        static_cast<int>(invariants_of<System>().size());

template <class System>
constexpr auto observables() {
  std::array<ObservableInfo, observable_count<System>> r{};
  std::size_t i = 0;
  constexpr CommonObservables common(form_of<System>());
  static_assert(common.count + invariants_of<System>().size() == r.size());
  for (int k = 0; k < common.count; ++k) r[i++] = common.list[k];
  for (const ObservableInfo& invariant : invariants_of<System>()) r[i++] = invariant;
  return r;
}

namespace detail {
/// Whether the invariants are functions of q, v and the momentum p.
template <class System>
inline constexpr bool invariants_of_momentum =
    requires(const System& s, const Configuration<System>& q, const Vector<typename System::scalar, System::n>& v) {
      s.evaluate_invariants(q, v, v);
    };
}  // namespace detail

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
  if constexpr (is_mixed<System>) {
    const auto phi = constraint(system, q, v);
    r[i++] = max(max_norm(system.position_constraint(q)),
                 max_norm(segment<position_count<System>, velocity_count<System>>(phi)));
    r[i++] = max_norm(segment<0, position_count<System>>(phi));
  } else {
    if constexpr (is_holonomic<System>) r[i++] = max_norm(system.position_constraint(q));
    if constexpr (System::m > 0) r[i++] = max_norm(constraint(system, q, v));
  }
  if constexpr (invariants_of<System>().size() > 0) {
    const auto own = [&] {
      if constexpr (detail::invariants_of_momentum<System>) {
        return system.evaluate_invariants(q, v, p);
      } else {
        return system.evaluate_invariants(q, v);
      }
    }();
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
  if constexpr (EnergyOfMomentum<System> || detail::invariants_of_momentum<System>) p = momentum(system, q, v);
  return evaluate_observables(system, q, v, p);
}

RB_NAMESPACE_END
