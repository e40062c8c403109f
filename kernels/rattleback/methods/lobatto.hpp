#pragma once
// The Lobatto IIIA-IIIB methods of the catalogue: one family for R^n and Lie groups, for velocity constraints, holonomic ones and
// none. What a system offers picks the form at compile time; all forms are the same map, up to round-off.

#include "rattleback/ensemble/entry.hpp"
#include "rattleback/methods/condensed_lobatto.hpp"
#include "rattleback/methods/group_lobatto.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class T, class System, class Tau, int S>
struct LobattoForm {
  using type = GeneralLobatto<T, System, Tau, S>;
};
template <class T, class System, class Tau, int S>
  requires Condensable<System>
struct LobattoForm<T, System, Tau, S> {
  using type = CondensedLobatto<T, System, S>;
};
template <class T, class System, class Tau, int S>
  requires MechanicalOnGroup<System>
struct LobattoForm<T, System, Tau, S> {
  using type = GroupLobatto<T, System, Tau, S>;
};
}  // namespace detail

/// One step with the retraction Tau (Cay or Exp) and S stages. On R^n, where both are the identity map, Tau is of no account.
template <class T, class System, class Tau, int S>
using LobattoStep =
    typename detail::LobattoForm<T, System, std::conditional_t<on_group<System>, Tau, Cay>, S>::type;

namespace methods {

inline constexpr MethodEntry nonholonomic_lobatto{
    "nonholonomic-lobatto",
    "Lobatto IIIA-IIIB pair with the constraint on the IIIA momenta; symmetric, constraint exact at the nodes",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (14), (26), (27)",
    "q, p: 2s-2; lambda: s (s even), s-1 (s odd)",
    ConstraintKind::velocity,
    2,
    5,
    true};

inline constexpr MethodEntry holonomic_lobatto{
    "holonomic-lobatto",
    "Lobatto IIIA-IIIB pair with holonomic constraints at positions and velocities; symplectic, symmetric (s = 2 is "
    "RATTLE)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (13), (26), (27)",
    "q, p: 2s-2; lambda: s-1",
    ConstraintKind::holonomic,
    2,
    5,
    true};

inline constexpr MethodEntry lobatto{
    "lobatto",
    "unconstrained Lobatto IIIA-IIIB pair; symplectic, symmetric (s = 2 is the velocity Verlet method)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (9), (26), (27)",
    "2s-2",
    ConstraintKind::none,
    2,
    5,
    false};

}  // namespace methods

RB_NAMESPACE_END
