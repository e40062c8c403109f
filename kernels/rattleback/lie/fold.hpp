#pragma once
// The limit of the angle per step beyond which the step equations have no solution.
//
// A free rigid body with equal moments of inertia turns by h |omega| in a step. With tau = cay the discrete momentum
// has a maximum as a function of the angle of the chart. The step equations have a fold at this maximum and no real
// solution beyond. For s = 2 the limit is the maximum of G'(x) (4 + x^2)/4 with G = 16 x^2/((4 + x^2)^2 + 16); for
// other s continuation of the stage equations gives the limit. For other bodies and with forces the limits are
// estimates, and iterations become slow just below the limit. For exp no such limit is known below the angle pi.

#include "rattleback/lie/group.hpp"

RB_NAMESPACE_BEGIN

/// Largest angle h |omega| of a step of a Lobatto IIIA-IIIB pair with tau = cay, s = 2..5.
RB_CONSTEXPR double fold_angle(int stages) {
  return stages == 2 ? 0.7538222558 : stages == 3 ? 1.565809485 : stages == 4 ? 1.963102487 : 2.222838268;
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
