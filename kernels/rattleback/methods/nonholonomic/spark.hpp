#pragma once
// Lobatto SPARK for velocity constraints A(q) v + d(q) = 0 on R^n (L. O. Jay, Solution of index 2 implicit differential-algebraic
// equations by Lobatto Runge-Kutta methods; Lagrange-d'Alembert SPARK integrators for nonholonomic Lagrangian systems). With a of
// Lobatto IIIA and ah of IIIB,
//
//   Q_i = q + h sum_j a_ij V_j          P_i = p + h sum_j ah_ij W_j = dL/dv(Q_i, V_i)           i = 1..s
//   W_i = dL/dq(Q_i, V_i) + A(Q_i)^T Lambda_i
//   sum_j a_ij (A(Q_j) V_j + d(Q_j)) = 0                                                         i = 2..s
//   q' = q + h sum_j b_j V_j,  p' = p + h sum_j b_j W_j,  A(q') v' + d(q') = 0.
//
// The constraints on the stages are those on the moments sum_j b_j c_j^k (A(Q_j) V_j + d(Q_j)), k = 0..s-2. All multipliers are
// unknowns of the step: nothing but (q, p) is carried. Lambda_s enters p' alone. The pairs of lobatto/ are the same equations but for
// the constraints: there those of the stages are on the momenta of IIIA, and Lambda_1 is carried from the last step.
//
// With two stages and constant mass it is the discrete Lagrange-d'Alembert scheme of the trapezoidal L_d and constraint.

#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/methods/nonholonomic/condensed_spark.hpp"
#include "rattleback/methods/nonholonomic/dla.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class T, class System, int S>
using SparkSweeps = std::conditional_t<S == 2 && Quadratic<System> && stage_unknowns<System, S> <= most_of_two_stages,
                                       TwoStageSweeps<T, System, true>, StageSweeps<T, System, S, true>>;

template <class T, class System, int S>
consteval auto spark_form() {
  constexpr bool swept = stage_unknowns<System, S> <= most_swept<T, System>;
  constexpr bool condensable = Condensable<System> && !timed<System>;
  if constexpr (condensable && S == 2) {
    return std::type_identity<CondensedDla<T, System, DlaLagrangian::verlet, DlaConstraint::trap>>{};
  } else if constexpr (condensable) {
    return std::type_identity<CondensedSpark<T, System, S>>{};
  } else if constexpr (swept) {
    return std::type_identity<HandingOver<SparkSweeps<T, System, S>, GeneralLobatto<T, System, Cay, S, false, true>>>{};
  } else {
    return std::type_identity<GeneralLobatto<T, System, Cay, S, true, true>>{};
  }
}
}  // namespace detail

/// One step with S stages.
template <class T, class System, int S>
  requires AffineOnRn<System>
using SparkStep = typename decltype(detail::spark_form<T, System, S>())::type;

RB_NAMESPACE_END
