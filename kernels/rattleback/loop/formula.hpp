#pragma once
// What the formulas of a study read. The program writes formulas as C++ (host/rattleback/language/study_code.hpp): a
// struct template over the scalar with `count`, and the function `evaluate` of a point, which returns `count` values.

#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/start/multiplier.hpp"

RB_NAMESPACE_BEGIN

/// For a kernel without formulas.
template <class T>
struct NoFormulas {
  static constexpr int count = 0;
};

/// The velocity in the body of a state (q, p) whose velocity is v.
template <class T, class System>
RB_HD Vector<T, System::n> in_body(const System& system, const Vector<T, element_size<System>>& q,
                                   const Vector<T, System::n>& p, const Vector<T, System::n>& v, bool in_space) {
  if constexpr (on_group<System>)
    if (in_space) return velocity(system, q, group_of<System>::Ad_star(q, p));
  return v;
}

/// The momentum of a state (q, p); on a group the momentum in the body.
template <class System, class T>
RB_HD Vector<T, System::n> momentum_in_body([[maybe_unused]] const Vector<T, element_size<System>>& q,
                                            const Vector<T, System::n>& p, [[maybe_unused]] bool in_space) {
  if constexpr (on_group<System>)
    if (in_space) return group_of<System>::Ad_star(q, p);
  return p;
}

/// The velocity of a state (q, p); on a group the velocity in the body.
template <class T, class System>
RB_HD Vector<T, System::n> velocity_in_body(const System& system, const Vector<T, element_size<System>>& q,
                                            const Vector<T, System::n>& p, bool in_space) {
  return velocity(system, q, momentum_in_body<System>(q, p, in_space));
}

/// The multiplier of the continuous equations at a state (q, p). A separate function keeps this code out of the time loop and
/// its registers from the observables.
template <class T, class System, int N, int n>
RB_NOINLINE Vector<T, System::m> multiplier_by_equations(const KernelArguments& a, const double* chunk, int lane,
                                                         TimeOf<System> time, const Vector<T, N> q,
                                                         const Vector<T, n> p) {
  const System system = load_system_at<System>(time, a, chunk, lane);
  return detail::ContinuousMultiplier<System>(system, q, velocity_in_body(system, q, p, a.in_space)).lambda;
}

/// The multiplier of a state (q, p) at a time: `carried` by the method, or else that of the continuous equations.
template <class System, class T, int N, int n>
RB_HD Vector<T, System::m> multiplier_of_state(const KernelArguments& a, const double* chunk, int lane,
                                               [[maybe_unused]] const T& time, const Vector<T, N>& q,
                                               const Vector<T, n>& p, const Vector<T, System::m>& carried) {
  if constexpr (velocity_count<System> > 0)
    if (!a.carries_multiplier) return multiplier_by_equations<T, System>(a, chunk, lane, {time}, q, p);
  return carried;
}

/// The power of what drives a system at a state (q, p), with the multipliers of the continuous equations. A separate function as above.
template <class T, class System, int N, int n>
RB_NOINLINE T power_of_state(const KernelArguments& a, const double* chunk, int lane, TimeOf<System> time,
                             const Vector<T, N> q, const Vector<T, n> p) {
  const System system = load_system_at<System>(time, a, chunk, lane);
  const Vector<T, n> v = velocity_in_body(system, q, p, a.in_space);
  Vector<T, System::m> lambda{};
  if constexpr (System::m > 0) lambda = detail::ContinuousMultiplier<System>(system, q, v).lambda;
  return work_at_momentum(system, T(1.0), q, v, lambda, momentum_in_body<System>(q, p, a.in_space));
}

/// The work up to the states in the rows; 0 where it is not measured.
template <class T>
RB_HD T work_of_rows(const KernelArguments& a, const double* chunk, int lane) {
  return load_or<T>(chunk, a.layout.work, lane, 0.0);
}

/// The place of a state: its parameters, and the time `at`.
template <class T>
struct StatePlace {
  const KernelArguments& arguments;
  const double* chunk;
  int lane;
  T at;

  RB_HD T parameter(int i) const { return load_parameter<T>(arguments, chunk, lane, i); }
  RB_HD const T& time() const { return at; }
};

/// A state whose velocity and observables are known.
template <class T, class System>
struct ObservedPoint : StatePlace<T> {
  const Vector<T, element_size<System>>& q;
  const Vector<T, System::n>& p;
  const Vector<T, System::m>& lambda;
  const Vector<T, System::n>& v;
  const Vector<T, observable_count<System>>& of_system;

  RB_HD const Vector<T, System::n>& velocity() const { return v; }
  RB_HD const Vector<T, observable_count<System>>& observables() const { return of_system; }
  RB_HD T work() const { return work_of_rows<T>(this->arguments, this->chunk, this->lane); }
  RB_HD T power() const {
    return power_of_state<T, System>(this->arguments, this->chunk, this->lane, {this->at}, q, p);
  }
  RB_HD Vector<T, System::m> multiplier() const {
    return multiplier_of_state<System>(this->arguments, this->chunk, this->lane, this->at, q, p, lambda);
  }
};

/// Computes a velocity that needs a linear solve; a separate function keeps this code out of the time loop.
template <class T, template <class> class System, int N, int n>
RB_NOINLINE Vector<T, n> solved_velocity(const KernelArguments& a, const double* chunk, int lane,
                                         TimeOf<System<T>> time, const Vector<T, N> q, const Vector<T, n> p) {
  return velocity_of_state(load_system_at<System<T>>(time, a, chunk, lane), q, p, a.in_space);
}

/// Computes the observables of a system at a state; a separate function as above.
template <class T, template <class> class System, int N, int n>
RB_NOINLINE Vector<T, observable_count<System<T>>> observed_state(const KernelArguments& a, const double* chunk,
                                                                  int lane, TimeOf<System<T>> time,
                                                                  const Vector<T, N> q, const Vector<T, n> p) {
  const System<T> system = load_system_at<System<T>>(time, a, chunk, lane);
  return evaluate_observables(system, q, velocity_in_body(system, q, p, a.in_space),
                              momentum_in_body<System<T>>(q, p, a.in_space));
}

/// A state after a step. Its velocity and observables are computed where a formula reads them.
template <class T, template <class> class SystemOf>
struct SteppedPoint : StatePlace<T> {
  using System = SystemOf<T>;
  const Vector<T, element_size<System>>& q;
  const Vector<T, System::n>& p;
  const Vector<T, System::m>& lambda;
  T work_of_state;

  RB_HD T work() const { return work_of_state; }
  RB_HD T power() const {
    return power_of_state<T, System>(this->arguments, this->chunk, this->lane, {this->at}, q, p);
  }
  RB_HD Vector<T, System::n> velocity() const {
    if constexpr (Separable<System>) {
      return velocity_of_state(load_system_at<System>(this->at, this->arguments, this->chunk, this->lane), q, p,
                               this->arguments.in_space);
    } else {
      return solved_velocity<T, SystemOf>(this->arguments, this->chunk, this->lane, {this->at}, q, p);
    }
  }
  RB_HD Vector<T, observable_count<System>> observables() const {
    return observed_state<T, SystemOf>(this->arguments, this->chunk, this->lane, {this->at}, q, p);
  }
  RB_HD Vector<T, System::m> multiplier() const {
    return multiplier_of_state<System>(this->arguments, this->chunk, this->lane, this->at, q, p, lambda);
  }
};

RB_NAMESPACE_END
