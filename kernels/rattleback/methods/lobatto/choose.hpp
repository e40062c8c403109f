#pragma once
// Which form of the Lobatto pairs a system takes: a rule of what the system offers and of sizes.
//
// Nanoseconds per step of a trajectory, AVX-512, medians of 41 turns in one process (s = 2, 3, 4, 5). `Two stages` and `stages` are
// sweeps on R^n; `group` are the sweeps of a group, on which R^n is one.
//
//   M constant, holonomic        n  m   two stages   stages                    group
//   planar pendulum              2  1   10.5         13.5  31    46    77      17   42    71    127
//   spherical pendulum           3  1   13           17    38    65    98      21   61    97    193
//   torus particle               3  1   15           18    44    80    134     27   67    119   207
//   double spherical pendulum    6  2   31           43    93    199   359     49   189   288   498
//   tethered satellites          9  3   50           58    198   487   684     89   310   654   900
//   rigid body by its matrix     9  6   134          131   449   4240  9074    255  1120  4770  9005
//   four particles              12  2   92           67    282   542   1054    103  465   616   1120
//   heavy top by directors      12  9   189          127   1298  7503          402  4186  9882
//
// So every system on R^n takes sweeps of R^n: those of two stages up to `most_of_two_stages` unknowns. Systems with constraints of both
// kinds take Newton's method.
//
//   driven                                  chosen       stages
//   oscillator with friction, s = 2         7.2          10
//   potential in time, s = 2, 3             6.4, 28      13, 44
//   force without velocity, n = 2, s = 2, 3 13, 61       22, 74
//   breathing sphere with friction, s = 2   72           95
//   M, A, U and a pivot in time, s = 2      112          139
//
// The last two are mostly sines of the time, which stages of every sweep evaluate. SPARK of a driven skate takes 88 and 136 with sweeps and
// 425 and 762 with Newton's method.

#include "rattleback/methods/lobatto/cyclic.hpp"
#include "rattleback/methods/lobatto/group.hpp"
#include "rattleback/methods/lobatto/normalising.hpp"
#include "rattleback/methods/lobatto/stage_sweeps.hpp"
#include "rattleback/methods/lobatto/two_stages.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// Unknowns of a step.
template <class System, int S>
inline constexpr int stage_unknowns = S * System::n + (S - 1) * System::m;
inline constexpr int most_of_two_stages = 24;
/// Unknowns up to which the sweeps are worth their unrolled code. Tangent maps, and systems whose M varies, have fewer.
template <class T, class System>
inline constexpr int most_swept = Mechanical<System> ? 800 : 80;
template <class T, class System>
inline constexpr int most_swept<Dual<T, 1>, System> = 12;

template <class T, class System, int S>
struct SweepsOnRn {
  using type = std::conditional_t<S == 2 && (Quadratic<System> || Mechanical<System>) && !GivesMotion<System> &&
                                      stage_unknowns<System, S> <= most_of_two_stages,
                                  TwoStageSweeps<T, System>, StageSweeps<T, System, S>>;
};
template <class T, HasRouthian System, int S>
struct SweepsOnRn<T, System, S> {
  using type = CyclicLobatto<T, System, S>;
};
}  // namespace detail

/// Sweeps on R^n, and GeneralLobatto where they do not converge.
template <class T, class System, int S>
using LagrangianLobatto =
    HandingOver<typename detail::SweepsOnRn<T, System, S>::type, GeneralLobatto<T, System, Cay, S>>;

namespace detail {
template <class T, class System, class Tau, int S>
consteval auto lobatto_form() {
  constexpr bool swept = !is_mixed<System> && stage_unknowns<System, S> <= most_swept<T, System>;
  if constexpr (on_group<System>) {
    using Step = typename std::conditional_t<swept && (Mechanical<System> || MechanicalOnGroup<System>),
                                             std::type_identity<GroupLobatto<T, System, Tau, S>>,
                                             std::type_identity<GeneralLobatto<T, System, Tau, S, true>>>::type;
    return std::type_identity<Normalising<Step, System, T>>{};
  } else if constexpr (Condensable<System> && !has_force_of_velocity<System>()) {
    return std::type_identity<CondensedLobatto<T, System, S>>{};
  } else if constexpr (swept) {
    return std::type_identity<LagrangianLobatto<T, System, S>>{};
  } else {
    return std::type_identity<GeneralLobatto<T, System, Cay, S, true>>{};
  }
}
}  // namespace detail

/// One step with the retraction Tau (Cay or Exp) and S stages. On R^n, where both are the identity map, Tau is of no account.
template <class T, class System, class Tau, int S>
  requires(!HamiltonianAlone<System>)
using LobattoStep = typename decltype(detail::lobatto_form<T, System, Tau, S>())::type;

RB_NAMESPACE_END
