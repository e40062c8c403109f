#pragma once
// The Lobatto IIIA-IIIB methods of the catalogue: one family for R^n and Lie groups, for velocity constraints,
// holonomic ones and none. What a system offers picks the form at compile time; all forms are the same map, up to
// round-off.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/methods/lobatto/condensed.hpp"
#include "rattleback/methods/lobatto/group.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class Step>
struct TryingOf {
  using type = Step;
};
template <class Step>
  requires requires { typename Step::Trying; }
struct TryingOf<Step> {
  using type = typename Step::Trying;
};
}  // namespace detail

/// A step after which, where its option `normalise` (numbers[0]) is set, the configuration is brought back to the group by
/// one step of Newton's method. Not needed: rounding takes rotations off SO(3) like a random walk.
template <class Step, class System, class T>
class Normalising {
 public:
  using State = typename Step::State;
  using Team = tile_of<Step>;
  using Workspace = workspace_of<Step>;
  /// The same over the step that hands over, where there is one.
  using Trying = Normalising<typename detail::TryingOf<Step>::type, System, T>;
  static constexpr bool hands_over = requires { requires Step::hands_over; };

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
/// Unknowns of a step up to which the sweeps are worth their unrolled code; of a tangent map, fewer.
template <class T>
inline constexpr int most_swept = 38;
template <class T>
inline constexpr int most_swept<Dual<T, 1>> = 12;

template <class T, class System, class Tau, int S>
consteval auto lobatto_form() {
  constexpr bool swept = Mechanical<System> && S * System::n + (S - 1) * System::m <= most_swept<T>;
  if constexpr (swept && on_group<System>) {
    return std::type_identity<Normalising<GroupLobatto<T, System, Tau, S>, System, T>>{};
  } else if constexpr (on_group<System>) {
    return std::type_identity<Normalising<GeneralLobatto<T, System, Tau, S, true>, System, T>>{};
  } else if constexpr (Condensable<System>) {
    return std::type_identity<CondensedLobatto<T, System, S>>{};
  } else if constexpr (swept) {
    return std::type_identity<GroupLobatto<T, System, Cay, S>>{};
  } else {
    return std::type_identity<GeneralLobatto<T, System, Cay, S, true>>{};
  }
}
}  // namespace detail

/// One step with the retraction Tau (Cay or Exp) and S stages. On R^n, where both are the identity map, Tau is of no account.
template <class T, class System, class Tau, int S>
using LobattoStep = typename decltype(detail::lobatto_form<T, System, Tau, S>())::type;

namespace methods {

inline constexpr const char* lobatto_retractions[] = {"cay", "exp"};
inline constexpr OptionInfo lobatto_options[] = {
    {.name = "stages",
     .kind = OptionKind::integer,
     .text = "number of stages s",
     .standard = 2,
     .minimum = 2,
     .maximum = 5,
     .compiled = true},
    {.name = "retraction",
     .kind = OptionKind::choice,
     .text = "map from the algebra to the group: Cayley transform or exponential; on R^n they are the same",
     .choices = lobatto_retractions,
     .compiled = true,
     .scope = OptionScope::groups_matter},
    {.name = "normalise",
     .kind = OptionKind::flag,
     .text = "rotations are made orthogonal again after every step",
     .scope = OptionScope::groups_only}};

inline constexpr MethodEntry nonholonomic_lobatto{
    "nonholonomic-lobatto",
    "Lobatto IIIA-IIIB pair with the constraint on the IIIA momenta; constraint exact at the nodes, symmetric on R^n",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (14), (26), (27)",
    "q, p: 2s-2; lambda: s (s even), s-1 (s odd)",
    ConstraintKind::velocity,
    lobatto_options,
    true};

inline constexpr MethodEntry holonomic_lobatto{
    "holonomic-lobatto",
    "Lobatto IIIA-IIIB pair with holonomic constraints at positions and velocities; symplectic, symmetric on R^n (s = "
    "2 "
    "is RATTLE there)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (13), (26), (27)",
    "q, p: 2s-2; lambda: s-1",
    ConstraintKind::holonomic,
    lobatto_options,
    true};

inline constexpr MethodEntry lobatto{
    "lobatto",
    "unconstrained Lobatto IIIA-IIIB pair; symplectic, symmetric on R^n (s = 2 is velocity Verlet there)",
    "D. Martin de Diego, R. T. Sato Martin de Almagro, High-order geometric methods for nonholonomic mechanical "
    "systems, eqs. (9), (26), (27)",
    "2s-2",
    ConstraintKind::none,
    lobatto_options,
    false};

}  // namespace methods

RB_NAMESPACE_END
