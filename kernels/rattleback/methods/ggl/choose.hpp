#pragma once
// Which path a step of the GGL family takes: a rule of sizes, with the measurement behind it.

#include "rattleback/mechanics/quadratic.hpp"
#include "rattleback/methods/ggl/scheme.hpp"
#include "rattleback/methods/solve/handing_over.hpp"

RB_NAMESPACE_BEGIN

/// The paths solve the same equations and differ in the matrices that lead to the solution: chords of the unrolled equations, Newton's
/// method on equations condensed to the multipliers (`Blocks`), and Newton's method on all unknowns.
enum class GglPath { chords, condensed, general };

namespace detail {

/// Chords need L by its parts or as a whole. Their unrolled code is worth its size up to fifteen
/// coordinates and constraints.
template <class System>
concept ChordsApply =
    (Quadratic<System> || Separable<System> || LagrangianAlone<System>) && System::n + System::m <= 15;

/// Systems with the structure `Blocks` have the choice between chords and the condensed form. The time of the condensed form divided by
/// that of the chords, for particles in the plane or in space (n coordinates) with m rods, with AVX-512 packs of eight, h = 0.1:
///
/// | n, m | 2, 1 | 3, 1 | 4, 2 | 6, 1 | 6, 2 | 6, 3 | 9, 2 | 9, 3 | 12, 2 |
/// | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
/// | VI-S | 2.3 | 2.6 | 1.7 | 1.2 | 1.7 | 0.5 | 0.8 | 1.0 | 0.3 |
/// | VI-A | 1.8 | 2.1 | 1.4 | 1.4 | 1.5 | 1.2 | 0.8 | 0.7 | 0.1 |
/// | VI-Bs | 2.8 | 3.2 | 2.2 | 1.8 | 3.0 | 1.6 | 1.2 | 1.1 | 0.05 |
/// | energy-momentum | 3.0 | 3.0 | 0.6 | 0.3 | 0.3 | 0.3 | 0.07 | 0.06 | 0.02 |
///
/// Driven systems take chords where they can, because the only rival is Newton's method on all unknowns. Its time divided by that of the
/// chords is 7.2 (theta B), 5.5 (theta A) and 2.4 (energy-momentum) for a particle on a breathing sphere with friction, 3.5 (theta B) for a
/// pendulum with a moving pivot, and 5.4 (theta A) and 4.9 (energy-momentum) where M, A and U depend on the time. VI-S gains more.
///
/// The chords of the energy-momentum schemes lose earlier because they take a difference quotient by each coordinate and momentum.
template <class System, GglScheme scheme>
inline constexpr bool chords_are_faster =
    GglTraits<scheme>::discrete_gradient ? System::n <= 3 : System::n <= 6 && System::m <= 2;

template <class System, GglScheme scheme>
inline constexpr GglPath ggl_path =
    ChordsApply<System> && (!Blocks<System> || chords_are_faster<System, scheme>) ? GglPath::chords
    : Blocks<System>                                                              ? GglPath::condensed
                                                                                  : GglPath::general;

/// A step on one path. Each path is a specialisation beside its equations.
template <class T, class System, GglScheme scheme, GglPath path>
struct GglForm;

/// The chords.
template <class T, class System, GglScheme scheme>
struct GglChords;

/// Lanes that the chords refuse start again with Newton's method, in the condensed form where there is one.
template <class T, class System, GglScheme scheme>
struct GglForm<T, System, scheme, GglPath::chords> {
  using type =
      HandingOver<typename GglChords<T, System, scheme>::type,
                  typename GglForm<T, System, scheme, Blocks<System> ? GglPath::condensed : GglPath::general>::type>;
};

}  // namespace detail

RB_NAMESPACE_END
