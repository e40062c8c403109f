#pragma once
// The Lobatto IIIA-IIIB methods of the catalogue: one family for R^n and Lie groups, for velocity constraints,
// holonomic ones and none. What a system offers picks the form at compile time; all forms are the same map, up to
// round-off.

#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/methods/lobatto/choose.hpp"
#include "rattleback/methods/lobatto/recomputed.hpp"
#include "rattleback/methods/lobatto/splitting.hpp"

RB_NAMESPACE_BEGIN

/// The step that begins with the multiplier of the continuous equations.
template <class T, class System, class Tau, int S>
  requires(velocity_count<System> > 0 && !HamiltonianAlone<System>)
using RecomputedLobattoStep = Recomputed<LobattoStep<T, System, Tau, S>, System, T>;

/// Drifts and kicks in turn.
template <class T, class System, class Tau, int S>
  requires(S == 2 && Condensable<System> && System::m == 0)
using SplitLobattoStep = Splitting<T, System>;

/// The step with two stages, composed. Where it consists of drifts and kicks, so does the composition; with an applied force, which may
/// depend on velocities, it does not.
template <class T, class System, class Tau, int S>
  requires(S == 2 && !on_group<System> && !HamiltonianAlone<System> && !is_mixed<System>)
using ComposedLobattoStep =
    std::conditional_t<Condensable<System> && System::m == 0 && !timed<System>, Splitting<T, System>,
                       Composed<T, System, LobattoStep<T, System, Tau, S>, Condensable<System> && System::m == 0>>;

RB_NAMESPACE_END
