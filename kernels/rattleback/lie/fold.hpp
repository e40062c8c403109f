#pragma once
// The limit of the angle per step beyond which the step equations have no solution near the motion.
//
// A free rigid body with equal moments of inertia turns by h |omega| in a step. With tau = cay the discrete momentum
// has a maximum as a function of the angle of the chart. The step equations have a fold at this maximum, where the
// solution ends. For s = 2 the limit is the maximum of G'(x) (4 + x^2)/4 with G = 16 x^2/((4 + x^2)^2 + 16); for
// other s continuation of the stage equations gives the limit. For other bodies and with forces the limits are
// estimates, and iterations become slow just below the limit. From s = 3 on iterations may find other solutions beyond the
// fold, which need not be near the motion. For exp no such limit is known below the angle pi.

#include "rattleback/lie/group.hpp"

RB_NAMESPACE_BEGIN

/// Largest angle h |omega| of a step of a Lobatto IIIA-IIIB pair with tau = cay, s = 2..8.
RB_CONSTEXPR double fold_angle(int stages) {
  return stages == 2   ? 0.7538222558
         : stages == 3 ? 1.565809485
         : stages == 4 ? 1.963102487
         : stages == 5 ? 2.222838268
         : stages == 6 ? 2.331272837
         : stages == 7 ? 2.446121899
                       : 2.523755879;
}

/// True where a step with the increment h eta (eta in the algebra) lies beyond `margin` times the fold.
template <class G, class Tau, class T>
RB_HD mask_t<T> beyond_fold(const Vector<T, G::dimension>& increment, int stages, double margin = 1.0) {
  if constexpr (std::same_as<Tau, Cay>) {
    const double limit = margin * fold_angle(stages);
    return G::angle_squared(increment) > T(limit * limit);
  } else {
    return mask_t<T>(false);
  }
}

RB_NAMESPACE_END
