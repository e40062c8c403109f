#pragma once
// The Lobatto pairs of systems on R^n with cyclic coordinates, as steps of the Routhian.

#include "rattleback/methods/lobatto/condensed.hpp"
#include "rattleback/methods/lobatto/stage_sweeps.hpp"
#include "rattleback/methods/lobatto/two_stages.hpp"
#include "rattleback/methods/reduced.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// The step of the shape coordinates. Where their system is separable, the iteration is functional.
template <class T, class System, int S>
class LobattoOfShape {
  using Reduced = Routhian<System>;
  static constexpr int n = Reduced::n;
  static constexpr bool separable = SeparableRouthian<System>;
  using Sweeps = std::conditional_t<S == 2, TwoStageSweeps<T, Reduced>, StageSweeps<T, Reduced, S>>;
  using Step = typename std::conditional_t<separable, std::type_identity<CondensedLobatto<T, Reduced, S>>,
                                           std::type_identity<Sweeps>>::type;

 public:
  static constexpr bool keeps = false, keeps_start = false, two_packs = Step::two_packs;

  RB_HD LobattoOfShape(const System& system, const SolverOptions<T>& options)
      : options_(options), step_(Reduced(system, Vector<T, System::n>::zero()), options) {}

  RB_HD StepReport<T> step(const Reduced& reduced, StateOf<T, Reduced>& shape, const T& h,
                           Vector<T, System::n>& velocity) const {
    constexpr auto tableau = lobatto_pair<S>();
    Vector<T, n> x[S - 1];  // X_2..X_s
    velocity = reduced.plus_velocity(T(tableau.b[0]), shape.q, velocity);
    StepReport<T> report;
    if constexpr (separable) {
      auto a = Vector<T, n>::zero();
      if constexpr (requires { reduced.vector_potential(shape.q); }) a = reduced.vector_potential(shape.q);
      shape.p = shape.p - a;
      report = step_.step(reduced, shape, h, x);
      shape.p = shape.p + a;
    } else {
      report = Step(reduced, options_).step(shape, h, x);
    }
    RB_UNROLL
    for (int i = 1; i < S; ++i) velocity = reduced.plus_velocity(T(tableau.b[i]), x[i - 1], velocity);
    return report;
  }

 private:
  SolverOptions<T> options_;
  Step step_;
};
}  // namespace detail

template <class T, class System, int S>
using CyclicLobatto = ReducedStep<T, System, detail::LobattoOfShape<T, System, S>>;

RB_NAMESPACE_END
