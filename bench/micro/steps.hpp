#pragma once
// Times steps of one pack, without the time loop of the program.

#include "../timing.hpp"
#include "rattleback/loop/describe.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/real/pack.hpp"

RB_NAMESPACE_BEGIN

/// The system with its default parameters, in a magnetic field of 1 where it has one.
template <class System>
System default_system() {
  using P = typename System::scalar;
  System system{};
  int i = 0;
  for (const ParameterInfo& parameter : parameters_of<System>())
    reinterpret_cast<P*>(&system)[i++] = P(parameter.value);
  if constexpr (requires { system.magnetic_field; }) system.magnetic_field = P(1.0);
  return system;
}

/// The default state, its velocity scaled lane by lane, with the multiplier of the continuous equations.
template <class System, class State = StateOf<typename System::scalar, System>>
State default_state(const System& system) {
  using P = typename System::scalar;
  State state;
  Vector<P, System::n> v;
  double scale[P::width];
  for (int lane = 0; lane < P::width; ++lane) scale[lane] = 1.0 + 0.02 * lane;
  for (int i = 0; i < System::n; ++i) {
    state.q[i] = P(System::default_q[i]);
    v[i] = P::load(scale) * P(System::default_v[i]);
  }
  state.p = momentum(system, state.q, v);
  if constexpr (System::m > 0) state.lambda = detail::ContinuousMultiplier<System>(system, state.q, v).lambda;
  return state;
}

/// Nanoseconds of processor per trajectory-step of steps of size h from the default state.
template <class System>
double nanoseconds(const System& system, const auto& step, double h = 0.1, int steps = 200) {
  using P = typename System::scalar;
  using Step = std::remove_cvref_t<decltype(step)>;
  auto state = [&] {
    if constexpr (requires { typename Step::State; }) {
      return default_state<System, typename Step::State>(system);
    } else {
      return default_state(system);
    }
  }();
  const double start = bench::thread_seconds();
  for (int k = 0; k < steps; ++k) {
    auto next = state;
    const StepReport<P> report = step(next, P(h));
    state = select(report.status == P(0.0), next, state);
  }
  asm volatile("" : : "r"(&state) : "memory");  // the last state is of use
  return 1e9 * (bench::thread_seconds() - start) / steps / P::width;
}

RB_NAMESPACE_END
