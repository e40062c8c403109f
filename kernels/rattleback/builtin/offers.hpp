#pragma once
// What a header of the user must offer (mechanics/system.hpp lists all members of a system). Each member that is missing or does
// not fit has a sentence, which the program shows in place of what the compiler says about templates. Every sentence begins with
// "a system needs".

#include <concepts>
#include <type_traits>

#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

namespace offers {

template <class S>
concept Size = requires {
  typename S::scalar;
  { S::n } -> std::convertible_to<int>;
  { S::m } -> std::convertible_to<int>;
  requires S::n > 0 && S::m >= 0;
};
/// A text for the catalogue.
template <class X>
concept Text = std::convertible_to<X, const char*>;

/// As many numbers as hold a configuration.
template <class S>
constexpr int elements() {
  if constexpr (requires { S::Group::element_size; }) {
    return S::Group::element_size;
  } else {
    return S::n;
  }
}
template <class S, class T = typename S::scalar>
using Place = Vector<T, elements<S>()>;
template <class S, class T = typename S::scalar>
using Speed = Vector<T, S::n>;
/// A dual number, with which functions of the system are differentiated.
template <class S>
using Number = Dual<typename S::scalar, S::n>;

template <class S>
concept GivesPotential = requires(const S& s, const Place<S>& q) { s.potential(q); };
template <class S>
concept GivesLagrangian = requires(const S& s, const Place<S>& q, const Speed<S>& v) { s.lagrangian(q, v); };
template <class S>
concept GivesParts = requires(const S& s, const Place<S>& q) { s.mass_matrix(q); };
template <class S>
concept GivesHamiltonian = requires(const S& s, const Place<S>& q, const Speed<S>& p) { s.hamiltonian(q, p); };
template <class S>
concept DifferentiablePotential =
    !GivesPotential<S> || requires(const S& s, const Place<S, Number<S>>& q) { s.potential(q); };
template <class S>
concept DifferentiableLagrangian =
    !GivesLagrangian<S> ||
    requires(const S& s, const Place<S, Number<S>>& q, const Speed<S, Number<S>>& v) { s.lagrangian(q, v); };

template <class S>
concept GivesVelocityConstraint = requires(const S& s, const Place<S>& q, const Speed<S>& v) { s.constraint(q, v); } ||
                                  requires(const S& s, const Place<S>& q) { s.constraint_matrix(q); };
template <class S>
concept GivesPositionConstraint = requires(const S& s, const Place<S>& q) { s.position_constraint(q); };

/// The numbers of constraints on positions and on velocities; all of one kind unless `positions` says how many are on positions.
template <class S>
constexpr bool constraints_count() {
  int on_positions = S::m, on_velocities = S::m;
  if constexpr (requires { S::positions; }) {
    on_positions = S::positions;
    on_velocities = S::m - S::positions;
  }
  bool right = true;
  if constexpr (requires(const S& s, const Place<S>& q) { s.position_constraint(q).size; })
    right =
        decltype(std::declval<const S&>().position_constraint(std::declval<const Place<S>&>()))::size == on_positions;
  if constexpr (requires(const S& s, const Place<S>& q, const Speed<S>& v) { s.constraint(q, v).size; })
    right = right && decltype(std::declval<const S&>().constraint(
                         std::declval<const Place<S>&>(), std::declval<const Speed<S>&>()))::size == on_velocities;
  return S::m == 0 || right;
}

/// Whether the system can be made from the numbers of its parameters.
template <class S, int... I>
constexpr bool takes(std::integer_sequence<int, I...>) {
  return requires(typename S::scalar x) { S{(static_cast<void>(I), x)...}; };
}
/// Nothing else may be among the data members: steps read a system as an array of its numbers (constant_system).
template <class S>
constexpr bool has_members() {
  if constexpr (requires { S::parameters().size(); }) {
    constexpr std::size_t count = S::parameters().size();
    constexpr bool alone = count == 0 ? std::is_empty_v<S> : sizeof(S) == count * sizeof(typename S::scalar);
    return alone && std::is_trivially_copyable_v<S> && takes<S>(std::make_integer_sequence<int, int(count)>{});
  } else {
    return true;
  }
}
template <class S>
constexpr bool evaluates_invariants() {
  if constexpr (requires { S::invariants().size(); }) {
    if constexpr (S::invariants().size() == 0) return true;
    if constexpr (requires(const S& s, const Place<S>& q, const Speed<S>& v) { s.evaluate_invariants(q, v, v).size; })
      return decltype(std::declval<const S&>().evaluate_invariants(
                 std::declval<const Place<S>&>(), std::declval<const Speed<S>&>(),
                 std::declval<const Speed<S>&>()))::size == int(S::invariants().size());
    if constexpr (requires(const S& s, const Place<S>& q, const Speed<S>& v) { s.evaluate_invariants(q, v).size; })
      return decltype(std::declval<const S&>().evaluate_invariants(std::declval<const Place<S>&>(),
                                                                   std::declval<const Speed<S>&>()))::size ==
             int(S::invariants().size());
    return false;
  } else {
    return !requires(const S& s, const Place<S>& q, const Speed<S>& v) { s.evaluate_invariants(q, v); };
  }
}

// clang-format off: it breaks lines within `requires` expressions
/// The system as its author wrote it, without the time that AtTime adds (mechanics/driven.hpp).
template <class S>
using UntimedMember = typename S::Untimed;
template <class S>
using Written = detail::member_or<UntimedMember, S, S>;

/// The members whose types depend on no other.
template <class S>
struct Constants {
  static_assert(requires { typename S::scalar; }, "a system needs `using scalar = T;`");
  static_assert(requires { { S::n } -> std::convertible_to<int>; },
                "a system needs `static constexpr int n`, the dimension of its configuration space");
  static_assert(requires { { S::m } -> std::convertible_to<int>; },
                "a system needs `static constexpr int m`, the number of its constraints (0 for none)");
  static_assert(requires { { S::name } -> Text; }, "a system needs `static constexpr auto name`, a text");
  static_assert(requires { { S::summary } -> Text; }, "a system needs `static constexpr auto summary`, a text");
  static_assert(requires { { S::configuration } -> Text; },
                "a system needs `static constexpr auto configuration`, a text such as \"R^2: x, y\"");
  static_assert(requires { { S::source } -> Text; },
                "a system needs `static constexpr auto source`, a text that says where it comes from");
  static_assert(requires { S::default_q.size(); }, "a system needs `default_q`, a static constexpr std::array<double, n>");
  static_assert(requires { S::default_v.size(); }, "a system needs `default_v`, a static constexpr std::array<double, n>");
  // A system may leave these out. Those that it states have the types that the catalogue takes.
  static_assert(!requires { S::kind; } || requires { { S::kind } -> std::convertible_to<ConstraintKind>; },
                "a system needs a `kind` that is ConstraintKind::none, velocity or holonomic, or none of its own");
  static_assert(!requires { S::variant; } || requires { { S::variant } -> Text; },
                "a system needs a `variant` that is a text, or none");
  static_assert(!requires { S::conserves_energy; } || requires { { S::conserves_energy } -> std::convertible_to<bool>; },
                "a system needs a `conserves_energy` that is a bool, or none");
  static_assert(!requires { S::parameters; } || requires { S::parameters().size(); },
                "a system needs `parameters()` to be a static constexpr function, std::array<ParameterInfo, k> parameters()");
  static_assert(!requires { S::structure; } || requires { S::structure().size(); },
                "a system needs `structure()` to be a static constexpr function, std::array<StructureInfo, k> structure()");
  static_assert(!requires { S::invariants; } || requires { S::invariants().size(); },
                "a system needs `invariants()` to be a static constexpr function, std::array<ObservableInfo, k> invariants()");
};

/// The members that are functions of the state, or as long as it.
template <class S>
struct Functions {};
template <Size S>
struct Functions<S> {
  template <class A>
  static constexpr bool has(const A& numbers, int count) {
    return int(numbers.size()) == count;
  }
  static constexpr bool right_group = [] {
    if constexpr (requires { S::Group::dimension; }) return S::Group::dimension == S::n;
    return true;
  }();
  static_assert(right_group, "a system needs `n` equal to the dimension of its Group");
  static constexpr bool right_q = [] {
    if constexpr (requires { S::default_q.size(); }) return has(S::default_q, elements<S>());
    return true;
  }();
  static_assert(right_q, "a system needs as many numbers in `default_q` as hold a configuration: n, or 9 on SO(3)");
  static constexpr bool right_v = [] {
    if constexpr (requires { S::default_v.size(); }) return has(S::default_v, S::n);
    return true;
  }();
  static_assert(right_v, "a system needs n numbers in `default_v`");
  static_assert(requires { S::parameters; } || std::is_empty_v<Written<S>>,
                "a system needs `static constexpr std::array<ParameterInfo, k> parameters()`, which names its data members");
  static_assert(has_members<Written<S>>(), "a system needs a data member of type T for each of its `parameters()`, in their order, and no other; constants are static constexpr");
  static_assert(evaluates_invariants<S>(),
                "a system needs `Vector<T, k> evaluate_invariants(q, v) const` with a value for each of its `invariants()`");
  static_assert(GivesPotential<S> || GivesLagrangian<S> || GivesParts<S> || GivesHamiltonian<S>,
                "a system needs its forces: `potential(q)` (with a mass, or with masses of 1), or `lagrangian(q, v)`, or the parts "
                "of L with `mass_matrix(q)`, or `hamiltonian(q, p)`; each is a const template over the scalar S of its argument");
  static_assert(DifferentiablePotential<S>,
                "a system needs `potential` as a template over the scalar S of its argument, because it is differentiated");
  static_assert(DifferentiableLagrangian<S>,
                "a system needs `lagrangian` as a template over the scalar S of its arguments, because it is differentiated");
  static_assert(S::m == 0 || GivesVelocityConstraint<S> || GivesPositionConstraint<S>,
                "a system needs its m constraints: `position_constraint(q)`, or `constraint_matrix(q)`, or `constraint(q, v)`");
  static_assert(constraints_count<S>(), "a system needs as many values of its constraint as `m` says");
  static constexpr bool right_kind = [] {
    if constexpr (requires { { S::kind } -> std::convertible_to<ConstraintKind>; }) {
      if (S::m == 0) return S::kind == ConstraintKind::none;
      if (GivesPositionConstraint<S>) return S::kind == ConstraintKind::holonomic;
      return S::kind == ConstraintKind::velocity || !GivesVelocityConstraint<S>;
    }
    return true;
  }();
  static_assert(right_kind,
                "a system needs the right `kind` of its constraints, or none: it is none for m = 0, holonomic with "
                "`position_constraint`, and otherwise velocity");
};
// clang-format on

}  // namespace offers

RB_NAMESPACE_END
