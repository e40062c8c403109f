#pragma once
// Systems with explicit time and generalized forces.
//
// A driven system gives some of its functions with the time first, as in potential(t, q), or a generalized force,
//
//   Vector<S, n> force(t, q, v)     pairs with v; on a group in the frame of the body
//   static bool force_of_velocity = false    where this force does not depend on v (optional, for speed)
//
// whereas force(q) and force(t, q) are -grad U by hand. AtTime<System> is such a system at one time. It has the functions without
// the time, so that all code for systems takes it: a step evaluates each of its points with the system at the time of that point.
// The generalized force is added wherever L_q is (`configuration_force`). Derivatives along a motion, d/dt = d_t + v d_q, are those
// of the `running` system.
//
// A sine of the time costs as much as the rest of many a step, and a step evaluates each of its stages several times. So a system may
// name what it takes from the time alone,
//
//   Vector<S, k> parts_of_time(t)                   such as cos(w t)
//
// and its functions take an Instant<S, k> in place of the time, besides the time itself. AtTime evaluates these parts once.

#include "rattleback/mechanics/derivatives.hpp"

RB_NAMESPACE_BEGIN

// The name of a function that takes an Instant. NVRTC 13.0 ends in an internal error where it is an overload of the function of the
// time, so that on a GPU it has a name of its own, and the parts of the time are evaluated where they are needed.
#ifdef __CUDACC__
#define RB_AT_INSTANT(name) name##_at_instant
#else
#define RB_AT_INSTANT(name) name
#endif

/// A time, and what a system takes from it alone.
template <class S, int N>
struct Instant {
  S time;
  Vector<S, N> part;
};
namespace detail {
template <class S, int N>
RB_HD Instant<S, N> instant_with(const S& t, const Vector<S, N>& part) {
  return {t, part};
}

template <class V>
inline constexpr int entries_of = 0;
template <class S, int N>
inline constexpr int entries_of<Vector<S, N>> = N;

/// How many numbers a system takes from the time alone.
template <class System>
consteval int count_parts_of_time() {
#ifndef __CUDACC__
  if constexpr (requires(const System& s, const typename System::scalar& t) { s.parts_of_time(t); }) {
    return entries_of<decltype(std::declval<const System&>().parts_of_time(
        std::declval<const typename System::scalar&>()))>;
  } else {
    return 0;
  }
#else
  return 0;
#endif
}

/// Whether the call, of a system s at a time t, a configuration q and a velocity v, is there.
#define RB_GIVES(call)                                                                         \
  (requires(const System& s, const typename System::scalar& t, const Configuration<System>& q, \
            const Vector<typename System::scalar, System::n>& v) { s.call; })
template <class System>
inline constexpr bool gives_force_in_time = RB_GIVES(force(t, q, v));
template <class System>
inline constexpr bool gives_function_of_time =
    RB_GIVES(lagrangian(t, q, v)) || RB_GIVES(potential(t, q)) || RB_GIVES(mass_matrix(t, q)) ||
    RB_GIVES(vector_potential(t, q)) || RB_GIVES(position_constraint(t, q)) || RB_GIVES(constraint(t, q, v)) ||
    RB_GIVES(constraint_matrix(t, q)) || RB_GIVES(constraint_offset(t, q)) || RB_GIVES(hamiltonian(t, q, v)) ||
    RB_GIVES(evaluate_invariants(t, q, v)) || RB_GIVES(evaluate_invariants(t, q, v, v));
#undef RB_GIVES

/// The scalar of a time together with numbers of type S: the one of the two that has the other as its values.
template <class Time, class S>
using with_time = std::conditional_t<__is_constructible(S, Time), S, Time>;

template <class Time, class... X>
struct ScalarAtTime {
  using type = Time;
};
template <class Time, class S, int N, class... X>
struct ScalarAtTime<Time, Vector<S, N>, X...> {
  using type = with_time<Time, S>;
};
}  // namespace detail

template <class System, class S>
RB_HD auto instant_of(const System& system, const S& t) {
  return detail::instant_with(t, system.parts_of_time(t));
}

/// Whether the system has a generalized force, or a function that takes the time first.
template <class System>
inline constexpr bool driven = detail::gives_force_in_time<System> || detail::gives_function_of_time<System>;

namespace detail {
/// Whether a system at a time has a generalized force.
template <class System>
consteval bool has_applied_force() {
  if constexpr (timed<System>) {
    return gives_force_in_time<typename System::Untimed>;
  } else {
    return false;
  }
}
/// Whether the generalized force depends on the velocity. So it does unless the system says that it does not.
template <class System>
consteval bool has_force_of_velocity() {
  if constexpr (requires { requires !System::force_of_velocity; }) {
    return false;
  } else {
    return has_applied_force<System>();
  }
}
/// Whether functions of a system at a time, other than the generalized force, depend on the time.
template <class System>
consteval bool changes_in_time() {
  if constexpr (timed<System>) {
    return gives_function_of_time<typename System::Untimed>;
  } else {
    return false;
  }
}
}  // namespace detail

/// A driven system at `time`. Functions evaluate over the scalar of their arguments or over that of the time, whichever contains the
/// other: a dual time gives derivatives by time.
template <class System, class Time = typename System::scalar>
class AtTime : public System {
  template <class... X>
  using Scalar = typename detail::ScalarAtTime<Time, X...>::type;

 public:
  using Untimed = System;
  static constexpr bool conserves_energy = false;
  static constexpr int parts = detail::count_parts_of_time<System>();
  struct NoParts {};
  using Parts = std::conditional_t<(parts > 0), Vector<Time, parts>, NoParts>;
  Time time;
  RB_MAYBE_EMPTY Parts part;

  AtTime() = default;
  RB_HD AtTime(const System& system, const Time& t) : System(system), time(t) {
    if constexpr (parts > 0) part = system.parts_of_time(t);
  }
  RB_HD AtTime(const System& system, const Time& t, const Parts& part) : System(system), time(t), part(part) {}

  /// The time over the scalar S.
  template <class S>
  RB_HD Instant<S, parts> instant() const {
    return {S(time), lift<S>(part)};
  }

// The function without the time, where the system has it with the time or without.
#define RB_AT_TIME(name)                                                                                              \
  template <class... X>                                                                                               \
    requires(                                                                                                         \
        requires(const System& s, const Scalar<X...>& t, const X&... x) { s.name(t, lift<Scalar<X...>>(x)...); } ||   \
        requires(const System& s, const X&... x) { s.name(x...); })                                                   \
  RB_HD auto name(const X&... x) const {                                                                              \
    using S = Scalar<X...>;                                                                                           \
    if constexpr (parts > 0 && requires(const System& s, const Instant<S, parts>& t) { s.name(t, lift<S>(x)...); }) { \
      return System::name(instant<S>(), lift<S>(x)...);                                                               \
    } else if constexpr (requires(const System& s, const S& t) { s.name(t, lift<S>(x)...); }) {                       \
      return System::name(S(time), lift<S>(x)...);                                                                    \
    } else {                                                                                                          \
      return System::name(x...);                                                                                      \
    }                                                                                                                 \
  }
  RB_AT_TIME(lagrangian)
  RB_AT_TIME(lagrangian_derivatives)
  RB_AT_TIME(potential)
  RB_AT_TIME(mass_matrix)
  RB_AT_TIME(vector_potential)
  RB_AT_TIME(hamiltonian)
  RB_AT_TIME(velocity)
  RB_AT_TIME(momentum)
  RB_AT_TIME(generalized_force)
  RB_AT_TIME(momentum_and_force)
  RB_AT_TIME(momentum_by_coordinates)
  RB_AT_TIME(constraint)
  RB_AT_TIME(constraint_matrix)
  RB_AT_TIME(constraint_offset)
  RB_AT_TIME(position_constraint)
  RB_AT_TIME(position_jacobian)
  RB_AT_TIME(evaluate_invariants)
#undef RB_AT_TIME

  /// -grad U by hand.
  template <class S, int N>
    requires(
        requires(const System& s, const Scalar<Vector<S, N>>& t, const Vector<Scalar<Vector<S, N>>, N>& q) {
          s.force(t, q);
        } || requires(const System& s, const Vector<S, N>& q) { s.force(q); })
  RB_HD auto force(const Vector<S, N>& q) const {
    using R = Scalar<Vector<S, N>>;
    if constexpr (parts > 0 &&
                  requires(const System& s, const Instant<R, parts>& t, const Vector<R, N>& x) { s.force(t, x); }) {
      return System::force(instant<R>(), lift<R>(q));
    } else if constexpr (requires(const System& s, const R& t, const Vector<R, N>& x) { s.force(t, x); }) {
      return System::force(R(time), lift<R>(q));
    } else {
      return System::force(q);
    }
  }
  /// The generalized force; 0 where the system has none.
  template <class S, int N>
  RB_HD auto applied_force(const Vector<S, N>& q, const Vector<S, System::n>& v) const {
    using R = Scalar<Vector<S, N>>;
    if constexpr (parts > 0 && requires(const System& s, const Instant<R, parts>& t, const Vector<R, N>& x,
                                        const Vector<R, System::n>& y) { s.force(t, x, y); }) {
      return System::force(instant<R>(), lift<R>(q), lift<R>(v));
    } else if constexpr (detail::gives_force_in_time<System>) {
      return System::force(R(time), lift<R>(q), lift<R>(v));
    } else {
      return Vector<R, System::n>::zero();
    }
  }
};

/// The system at the time t; a system that is not driven is itself at all times.
template <class System, class Time>
RB_HD decltype(auto) at(const System& system, [[maybe_unused]] const Time& t) {
  if constexpr (timed<System>) {
    return AtTime<typename System::Untimed, Time>(system, t);
  } else if constexpr (driven<System>) {
    return AtTime<System, Time>(system, t);
  } else {
    return (system);
  }
}
/// The type that methods see of a system: AtTime<System> where it is driven. What a system is (`is_holonomic`, `Separable`, ..) is to be
/// asked of this type.
template <class System>
using InTime =
    std::remove_cvref_t<decltype(at(std::declval<const System&>(), std::declval<const typename System::scalar&>()))>;

/// The system h later.
template <class System, class T>
RB_HD decltype(auto) after(const System& system, [[maybe_unused]] const T& h) {
  if constexpr (timed<System>) {
    return at(system, system.time + h);
  } else {
    return (system);
  }
}

namespace detail {
template <class System, int count>
struct KeptParts {};
template <class System, int count>
  requires(System::parts > 0)
struct KeptParts<System, count> {
  typename System::Parts part[count];
};
}  // namespace detail

/// What a system at a time takes from `count` times alone, evaluated once for each. Nothing for other systems.
template <class System, int count>
class Instants {
  using Kept = detail::KeptParts<System, count>;
  static constexpr bool kept = !std::is_empty_v<Kept>;
  RB_MAYBE_EMPTY Kept kept_;

 public:
  /// Keeps the time number i, `h` after that of the system.
  template <class T>
  RB_HD void keep([[maybe_unused]] int i, [[maybe_unused]] const System& system, [[maybe_unused]] const T& h) {
    if constexpr (kept) kept_.part[i] = after(system, h).part;
  }
  /// The system `h` later, which is the time number i.
  template <class T>
  RB_HD decltype(auto) at([[maybe_unused]] int i, const System& system, const T& h) const {
    if constexpr (kept) {
      return System(system, system.time + h, kept_.part[i]);
    } else {
      return after(system, h);
    }
  }
};

/// The generalized force where the system says that it does not depend on the velocity. So velocities are no numbers here: a force that does
/// depend on them gives none, which shows in the status of a step.
template <class System, class T>
RB_HD Vector<T, System::n> applied_force_at(const System& system, const Vector<T, element_size<System>>& q) {
  Vector<T, System::n> v{};
  RB_UNROLL
  for (int i = 0; i < System::n; ++i) v[i] = T(__builtin_nan(""));
  return system.applied_force(q, v);
}

/// The derivative of the generalized force by v.
template <class T, class System, int n = System::n>
RB_HD Matrix<T, n, n> force_by_velocity(const System& system, const Vector<T, element_size<System>>& q,
                                        const Vector<T, n>& v) {
  using D = Dual<T, n>;
  const Vector<D, n> f = system.applied_force(lift<D>(q), seeded_velocity<D, 0>(v));
  return detail::partials<n>(f);
}

/// The system whose time has the derivative 1: functions of it other than the generalized force, with q as dual numbers along v
/// (`moving`), have the derivatives d_t + v d_q. S is the scalar of q without these derivatives.
template <class S, class System>
RB_HD decltype(auto) running(const System& system) {
  if constexpr (detail::changes_in_time<System>()) {
    using R = detail::with_time<std::remove_cvref_t<decltype(system.time)>, S>;
    Dual<R, 1> time(system.time);
    time.partial[0] = R(1.0);
    return at(system, time);
  } else {
    return (system);
  }
}

/// The derivative by time, at fixed arguments, of function(system, x...), which is a number or a vector.
template <class System, class Function, class S, int... N>
RB_HD auto time_derivative(const System& system, const Function& function, const Vector<S, N>&... x) {
  const auto y = function(running<S>(system), lift<Dual<S, 1>>(x)...);
  if constexpr (requires { y.partial[0]; }) {
    return y.partial[0];
  } else {
    return detail::derivative(y);
  }
}

RB_NAMESPACE_END
