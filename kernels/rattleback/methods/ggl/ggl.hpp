#pragma once
// One-step integrators from the GGL variational principle for holonomic constraints (P. L. Kinon, P. Betsch, S.
// Schneider, Structure-preserving integrators based on a new variational principle for constrained mechanical systems,
// Nonlinear Dynamics 111 (2023)). A second multiplier gamma belongs to the constraint on velocities; gamma vanishes in
// the continuous equations. With G = Dg, g^v(q, p) = G(q) v(q, p), A = L_vv, and x = (1 - theta) q + theta q':
//
//   VI-S (55):    q' = q + h (v + w)                      y = q + h v, p' = L_v(y, z)
//                 p' = p + h L_q(q, v) - h G(q)^T lambda - h B
//                 L_v(q, v) = p' + h B                    A w = G(y)^T gamma, B = D_1 g^v(y, p')^T gamma
//                 g(q') = 0, g^v(y, p') = 0
//
//   theta (76):   q' = q + h (v + w)                      A w = G(x)^T gamma, B = D_1 g^v(x, L_v(x, v))^T gamma
//                 p' = p + h L_q(x, v) - h Ghat^T lambda - h B
//                 g^v(x, L_v(x, v)) = 0
//     A (79):     Ghat = G(x), g(x) = 0, L_v(x, v) = theta p + (1 - theta) p'
//     B (82):     Ghat = (1 - vartheta) G(q) + vartheta G(q'), g(q') = 0,
//                 L_v(x, v) = theta p + (1 - theta) p'
//                             - h (theta (1 - vartheta) G(q) - (1 - theta) vartheta G(q'))^T lambda
//
// With a generalized force f, it is added to L_q. With explicit time g^v = G v + g_t, so that D_1 g^v contains the derivative of G by t,
// and every function has the time of its point: t at (q, v), t' at (y, z) of VI-S, t + theta h at x.
//
// VI-A is A with theta = 1/2; VI-B is B with theta = 1, vartheta = 1/2; VI-Bs is B with theta = vartheta = 1/2. All are
// symplectic. The recorded multiplier is minus the lambda above, so that the force is G^T times this multiplier, as in
// the other methods. The recorded multiplier belongs to the beginning of the step for VI-S and to the whole step for
// the others. gamma and v can be observed (loop/last_step.hpp): v belongs to (q, p) in VI-S and to (q', p') in the
// others.
//
// A step has up to three paths, among which choose.hpp chooses by size. Chords take L = v.M(q)v/2 + A(q).v - U(q) by its parts, or any
// regular L. The condensed form takes systems with the structure `Blocks` (mechanics/system.hpp), whose equations shrink to the
// multipliers; the energy-momentum schemes (energy_momentum.hpp) share it. The general form is Newton's method on all unknowns.

#include "rattleback/methods/ggl/choose.hpp"
#include "rattleback/methods/ggl/condensed.hpp"
#include "rattleback/methods/ggl/condensed_vi_s.hpp"
#include "rattleback/methods/ggl/cyclic.hpp"
#include "rattleback/methods/ggl/general.hpp"
#include "rattleback/methods/ggl/theta_chords.hpp"
#include "rattleback/methods/ggl/vi_s_chords.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class T, class System, GglScheme scheme>
struct GglForm<T, System, scheme, GglPath::general> {
  using type = GeneralGgl<T, System, scheme>;
};
template <class T, class System, GglScheme scheme>
struct GglForm<T, System, scheme, GglPath::condensed> {
  using type = CondensedGgl<T, System, scheme>;
};
template <class T, class System>
struct GglForm<T, System, GglScheme::vi_s, GglPath::condensed> {
  using type = CondensedViS<T, System>;
};
template <class T, class System, GglScheme scheme>
struct GglChords {
  using type = ThetaChords<T, System, scheme>;
};
template <class T, class System>
  requires(!HasRouthian<System>)
struct GglChords<T, System, GglScheme::vi_s> {
  using type = ViSChords<T, System>;
};
template <class T, class System, GglScheme scheme>
  requires ReducesGgl<System, scheme>
struct GglChords<T, System, scheme> {
  using type = ReducedStep<T, System, GglOfShape<T, System, scheme>>;
};
}  // namespace detail

/// The step on the path that choose.hpp names for the system.
template <class T, class System, GglScheme scheme>
  requires ConstrainedOnRn<System>
using GglStep = typename detail::GglForm<T, System, scheme, detail::ggl_path<System, scheme>>::type;

/// The two ways to impose the constraint in the theta family, (79) and (82).
struct ConstraintA {
  static constexpr auto scheme = GglScheme::theta_a;
};
struct ConstraintB {
  static constexpr auto scheme = GglScheme::theta_b;
};

RB_NAMESPACE_END
