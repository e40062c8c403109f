#pragma once
// Sweeps that hand the lanes they cannot solve to Newton's method.

#include "rattleback/linalg/team.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// Keeps data of a step (loop/last_step.hpp) in some lanes only.
template <class Keep, class Mask>
struct MaskedKeep {
  const Keep& keep;
  Mask lanes;

  RB_HD bool wanted() const { return keep.wanted(); }
  template <class... Numbers>
  RB_HD void put(const Mask& solved, const Numbers&... numbers) const {
    keep.put(solved & lanes, numbers...);
  }
};

/// Sweeps that park numbers (linalg/parked.hpp) have a template `Parking` of both forms.
template <bool parks>
struct ParkingForm {
  template <class Sweeps>
  using of = typename Sweeps::template Parking<parks>;
};
}  // namespace detail

/// A step of `Sweeps`, after which the lanes without a solution start again with the step `Newton`, which costs as
/// much as dozens of sweeps. Without `newton` the loop that called the step does that.
template <class Sweeps, class Newton, bool newton = true>
class HandingOver : public detail::NumbersOf<Sweeps> {
  using Core = detail::member_or<detail::ParkingForm<!newton>::template of, Sweeps, Sweeps>;
  using T = typename Core::Scalar;
  using System = typename Core::MechanicalSystem;
  using SweepState = typename Core::State;
  static constexpr bool keeps =
      requires(const Core& core, SweepState& state, const T& h) { core(state, h, NothingKept{}); };

 public:
  using State = SweepState;
  using FastStep = HandingOver<Sweeps, Newton, false>;
  static constexpr bool defers_failures = !newton;
  static constexpr bool two_packs = requires { requires Core::two_packs; };
  /// All lanes of a team sweep alike, and share the work of Newton's method.
  using Team = std::conditional_t<newton, team_of<Newton>, LaneTeam<1>>;
  using Workspace = std::conditional_t<newton, workspace_of<Newton>, NoTeam::Workspace>;

  /// The sweeps and Newton's method take the same numbers, or none.
  template <class... Numbers>
    requires std::constructible_from<Core, const System&, const SolverOptions<T>&, const Numbers&...>
  RB_HD HandingOver(const System& system, const SolverOptions<T>& options, const Numbers&... numbers)
      : sweeps_(system, options, numbers...), newton_(system, options, numbers...) {}

  template <class... Keep>
    requires(sizeof...(Keep) == 0 || keeps)
  RB_HD StepReport<T> operator()(State& state, T h, const Keep&... keep) const {
    if constexpr (keeps && sizeof...(Keep) == 0) {
      return step(state, h, NothingKept{});
    } else {
      return step(state, h, keep...);
    }
  }

 private:
  /// The whole step is out of line, shared by the loops that call it; the fast step is part of its loop.
  template <class... Keep>
  RB_NOINLINE StepReport<T> step(State& state, T h, const Keep&... keep) const
    requires newton
  {
    const State start = state;
    StepReport<T> report = sweeps_(state, h, keep...);
    if (any(!(report.status == T(0.0)))) start_again(start, h, state, report, keep...);
    return report;
  }
  template <class... Keep>
  RB_HD StepReport<T> step(State& state, T h, const Keep&... keep) const
    requires(!newton)
  {
    return sweeps_(state, h, keep...);
  }

  template <class... Keep>
  RB_NOINLINE void start_again(const State start, T h, State& state, StepReport<T>& report, const Keep&... keep) const {
    State next = start;
    const mask_t<T> again = !(report.status == T(0.0));
    const auto of_newton = newton_(next, h, detail::MaskedKeep<Keep, mask_t<T>>{keep, again}...);
    state = select(again, next, state);
    report.status = select(again, of_newton.status, report.status);
    report.residual = select(again, of_newton.residual, report.residual);
    report.iterations = report.iterations + select(again, of_newton.iterations, T(0.0));
  }

  struct Nothing {
    template <class... Numbers>
    RB_HD Nothing(const Numbers&...) {}
  };
  Core sweeps_;
  RB_MAYBE_EMPTY std::conditional_t<newton, Newton, Nothing> newton_;
};

RB_NAMESPACE_END
