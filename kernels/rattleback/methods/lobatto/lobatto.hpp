#pragma once
// The Lobatto IIIA-IIIB methods of the catalogue: one family for R^n and Lie groups, for velocity constraints,
// holonomic ones and none. What a system offers picks the form at compile time; all forms are the same map, up to
// round-off.

#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/methods/lobatto/cyclic.hpp"
#include "rattleback/methods/lobatto/group.hpp"
#include "rattleback/methods/lobatto/recomputed.hpp"
#include "rattleback/methods/lobatto/splitting.hpp"
#include "rattleback/methods/lobatto/stage_sweeps.hpp"
#include "rattleback/methods/lobatto/two_stages.hpp"

RB_NAMESPACE_BEGIN

/// A step after which, where its option `normalise` (numbers[0]) is set, the configuration is brought back to the group by
/// one step of Newton's method. Not needed: rounding takes rotations off SO(3) like a random walk.
template <class Step, class System, class T>
class Normalising {
 public:
  using State = typename Step::State;
  using Team = tile_of<Step>;
  using Workspace = workspace_of<Step>;
  /// The same over the step that hands over, where there is one.
  using FastStep = Normalising<fast_step_of<Step>, System, T>;
  static constexpr bool defers_failures = requires { requires Step::defers_failures; };
  static constexpr bool two_packs = requires { requires Step::two_packs; };

  RB_HD Normalising(const System& system, const SolverOptions<T>& options, const double* numbers = nullptr)
      : step_(system, options), normalise_(numbers && numbers[0] != 0.0) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const StepReport<T> report = step_(state, h);
    if (normalise_) state.q = group_of<System>::normalise(state.q);
    return report;
  }

 private:
  Step step_;
  bool normalise_;
};

namespace detail {
template <class T, class System, int S>
struct LagrangianSweepsOf {
  template <bool>
  using type = std::conditional_t<S == 2 && Quadratic<System>, TwoStageSweeps<T, System>, StageSweeps<T, System, S>>;
};
template <class T, HasRouthian System, int S>
struct LagrangianSweepsOf<T, System, S> {
  template <bool>
  using type = CyclicLobatto<T, System, S>;
};

/// L is stated as a whole, or the velocity constraint is not affine.
template <class System>
concept BeyondQuadratic =
    LagrangianAlone<System> || (!on_group<System> && !AffineConstraint<System> && !is_holonomic<System>);
}  // namespace detail

/// Sweeps for any regular Lagrangian on R^n, and GeneralLobatto where they do not converge.
template <class T, class System, int S>
using LagrangianLobatto =
    HandingOver<detail::LagrangianSweepsOf<T, System, S>::template type, GeneralLobatto<T, System, Cay, S>>;

namespace detail {
/// Unknowns of a step up to which the sweeps are worth their unrolled code; of a tangent map, and where M varies, fewer.
template <class T, class System>
inline constexpr int most_swept = Mechanical<System> ? 200 : 80;
template <class T, class System>
inline constexpr int most_swept<Dual<T, 1>, System> = 12;

template <class T, class System, class Tau, int S>
consteval auto lobatto_form() {
  constexpr bool swept =
      (Mechanical<System> || MechanicalOnGroup<System> || Quadratic<System> || BeyondQuadratic<System>) &&
      S * System::n + (S - 1) * System::m <= most_swept<T, System>;
  if constexpr (swept && on_group<System>) {
    return std::type_identity<Normalising<GroupLobatto<T, System, Tau, S>, System, T>>{};
  } else if constexpr (on_group<System>) {
    return std::type_identity<Normalising<GeneralLobatto<T, System, Tau, S, true>, System, T>>{};
  } else if constexpr (Condensable<System>) {
    return std::type_identity<CondensedLobatto<T, System, S>>{};
  } else if constexpr (swept && (Quadratic<System> || BeyondQuadratic<System>)) {
    return std::type_identity<LagrangianLobatto<T, System, S>>{};
  } else if constexpr (swept) {
    return std::type_identity<GroupLobatto<T, System, Cay, S>>{};
  } else {
    return std::type_identity<GeneralLobatto<T, System, Cay, S, true>>{};
  }
}
}  // namespace detail

/// One step with the retraction Tau (Cay or Exp) and S stages. On R^n, where both are the identity map, Tau is of no account.
template <class T, class System, class Tau, int S>
  requires(!HamiltonianAlone<System>)
using LobattoStep = typename decltype(detail::lobatto_form<T, System, Tau, S>())::type;

/// The step that begins with the multiplier of the continuous equations.
template <class T, class System, class Tau, int S>
  requires(kind_of<System>() == ConstraintKind::velocity && !HamiltonianAlone<System>)
using RecomputedLobattoStep = Recomputed<LobattoStep<T, System, Tau, S>, System, T>;

/// The step with two stages, composed.
template <class T, class System, class Tau, int S>
  requires(S == 2 && !on_group<System> && !HamiltonianAlone<System>)
using ComposedLobattoStep = std::conditional_t<Condensable<System> && System::m == 0, Splitting<T, System>,
                                               Composed<T, System, LobattoStep<T, System, Tau, S>>>;

RB_NAMESPACE_END
