#pragma once
// The generalized-alpha method (J. Chung, G. M. Hulbert, J. Appl. Mech. 60 (1993) 371), with constraints: M. Arnold, O. Bruls,
// Multibody Syst. Dyn. 18 (2007) 185. The step has an acceleration a of its own, which it carries to the next one:
//
//   q' = q + h v + h^2 ((1/2 - beta) a + beta a'),          v' = v + h ((1 - gamma) a + gamma a')
//   (1 - alpha_m) a' + alpha_m a = (1 - alpha_f) f' + alpha_f f,   f = M^-1 (L_q - L_vq v + C^T lambda) at (q, v)
//
// with p = L_v(q, v) and
//
//   C(q') v' + d(q') = 0                 for a velocity constraint,
//   g(q') = 0                            for a holonomic one, `index-3`,
//   g(q') = 0, Dg(q') v' = 0             `stabilised`, with + h Dg(q)^T eta in q' (C. W. Gear, B. Leimkuhler, G. K. Gupta).
//
// Of a driven system f = M^-1 (L_q + force - L_vq v - L_vt + C^T lambda) at (t, q, v), and Dg v is Dg v + g_t.
//
// alpha_m = (2 rho - 1)/(rho + 1), alpha_f = rho/(rho + 1), gamma = 1/2 + alpha_f - alpha_m, beta = (gamma + 1/2)^2/4: motions
// that the step does not resolve lose the factor rho in each step. rho = 1 is Newmark's method with beta = 1/4, gamma = 1/2.

#include "rattleback/methods/generalized_alpha/condensed.hpp"
#include "rattleback/methods/generalized_alpha/general.hpp"
#include "rattleback/methods/solve/handing_over.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class T, class System, class Formulation>
struct GeneralizedAlphaForm {
  using type = GeneralGeneralizedAlpha<T, System, Formulation>;
};
template <class T, Condensable System, class Formulation>
  requires(!timed<System>)
struct GeneralizedAlphaForm<T, System, Formulation> {
  using type = HandingOver<CondensedGeneralizedAlpha<T, System>, GeneralGeneralizedAlpha<T, System, Formulation>>;
};
}  // namespace detail

/// One step; `Formulation` is that of a holonomic constraint.
template <class T, class System, class Formulation>
  requires TakesGeneralizedAlpha<System>
using GeneralizedAlpha = typename detail::GeneralizedAlphaForm<T, System, Formulation>::type;

RB_NAMESPACE_END
