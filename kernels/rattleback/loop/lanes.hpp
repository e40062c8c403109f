#pragma once
// Maps scalar types to the rows of a chunk: a double takes one lane, a pack takes W neighbouring lanes.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/linalg/vector.hpp"
#include "rattleback/mechanics/driven.hpp"
#include "rattleback/mechanics/stated.hpp"
#include "rattleback/real/elementary.hpp"

#ifdef RATTLEBACK_PACK
#include "rattleback/real/pack.hpp"
#endif

RB_NAMESPACE_BEGIN

template <class T>
struct Lanes {  // double
  static constexpr int width = 1;
  RB_HD static T load(const double* row) { return *row; }
  RB_HD static void store(double* row, T value) { *row = value; }
};

#ifdef RATTLEBACK_PACK
template <int W>
struct Lanes<Pack<W>> {
  static constexpr int width = W;
  RB_HD static Pack<W> load(const double* row) { return Pack<W>::load(row); }
  RB_HD static void store(double* row, Pack<W> value) { value.store(row); }
};
#endif

/// Returns the value of the mask's first lane. The mask must not be empty.
template <class T>
RB_HD double value_of_first([[maybe_unused]] const mask_t<T>& mask, const T& x) {
#ifdef RATTLEBACK_PACK
  if constexpr (Lanes<T>::width > 1) return x.v[first(mask)];
#endif
  if constexpr (Lanes<T>::width == 1) return x;
}

/// Returns `x` in the lanes of the mask; the other lanes get the value of the mask's first lane. The mask must not be
/// empty.
template <class T>
RB_HD T spread([[maybe_unused]] const mask_t<T>& mask, const T& x) {
#ifdef RATTLEBACK_PACK
  if constexpr (Lanes<T>::width > 1) return select(mask, x, T(x.v[first(mask)]));
#endif
  return x;
}
template <class T, int N>
RB_HD Vector<T, N> spread(const mask_t<T>& mask, Vector<T, N> x) {
  RB_UNROLL
  for (int i = 0; i < N; ++i) x[i] = spread(mask, x[i]);
  return x;
}

template <class T, int N>
RB_HD Vector<T, N> load_rows(const double* chunk, int row, int lane) {
  const double* first = chunk + row * row_size + lane;
  Vector<T, N> r;
  RB_UNROLL
  for (int i = 0; i < N; ++i) r[i] = Lanes<T>::load(first + i * row_size);
  return r;
}

template <class T, int N>
RB_HD void store_rows(double* chunk, int row, int lane, const Vector<T, N>& x) {
  double* first = chunk + row * row_size + lane;
  RB_UNROLL
  for (int i = 0; i < N; ++i) Lanes<T>::store(first + i * row_size, x[i]);
}

/// The state of a method (methods/step.hpp) in its rows.
template <class T, class State>
RB_HD State load_state(const ChunkLayout& rows, const double* chunk, int lane) {
  State r;
  r.q = load_rows<T, State::elements>(chunk, rows.q, lane);
  r.p = load_rows<T, State::dimension>(chunk, rows.p, lane);
  r.lambda = {};
  if constexpr (State::multipliers > 0) r.lambda = load_rows<T, State::multipliers>(chunk, rows.lambda, lane);
  if constexpr (State::carries > 0) r.carried = load_rows<T, State::carries>(chunk, rows.carried, lane);
  return r;
}
template <class State>
RB_HD void store_state(const ChunkLayout& rows, double* chunk, int lane, const State& state) {
  store_rows(chunk, rows.q, lane, state.q);
  store_rows(chunk, rows.p, lane, state.p);
  if constexpr (State::multipliers > 0) store_rows(chunk, rows.lambda, lane, state.lambda);
  if constexpr (State::carries > 0) store_rows(chunk, rows.carried, lane, state.carried);
}

/// Loads a row of a quantity that varies over the ensemble; returns the uniform value when `row` is negative.
template <class T>
RB_HD T load_or(const double* chunk, int row, int lane, double uniform) {
  return row < 0 ? T(uniform) : Lanes<T>::load(chunk + row * row_size + lane);
}

/// Loads a parameter of the system.
template <class T>
RB_HD T load_parameter(const KernelArguments& a, const double* chunk, int lane, int i) {
  if (i >= max_uniform_parameters)
    return Lanes<T>::load(chunk + (a.layout.parameters + i - max_uniform_parameters) * row_size + lane);
  return load_or<T>(chunk, a.parameter_row[i], lane, a.parameters[i]);
}

/// Makes a system from its parameters, which are the data members in the order of `parameters()`.
template <class System, class Parameter, int... I>
RB_HD System make_system(Parameter&& parameter, std::integer_sequence<int, I...>) {
  return System{parameter(I)...};
}
template <class System, class Parameter>
RB_HD System make_system(Parameter&& parameter) {
  return make_system<System>(parameter, std::make_integer_sequence<int, int(parameters_of<System>().size())>{});
}

/// Number of steps of an interval between samples after which a carried multiplier is looked at, besides the samples: a parasite that
/// turns a motion round is gone again some hundred steps later, and samples may be far apart.
inline constexpr std::int64_t steps_per_guard = 128;

/// The rows of the clock of steps that follow a density (loop/clock.hpp), from ChunkLayout::clock on.
struct ClockRow {
  enum : int {
    density,   ///< rho; 0 before the first step
    time,      ///< of the orbit
    rounding,  ///< what the sum of its steps has lost
    shown,     ///< the time of the state that is shown
    error,     ///< rho, taken back by half a step, over Q less 1
    rows
  };
};
template <class T>
RB_HD T load_clock(const KernelArguments& a, const double* chunk, int lane, int row) {
  return Lanes<T>::load(chunk + (a.layout.clock + row) * row_size + lane);
}

/// The time after `steps` steps: t_0 + k h, so that its bits do not depend on how a run is cut.
template <class T>
RB_HD T time_after(const KernelArguments& a, const double* chunk, int lane, const T& steps) {
  const T step = load_or<T>(chunk, a.layout.step, lane, a.step);
  return fma(steps, step, load_or<T>(chunk, a.layout.start, lane, a.start));
}
/// The time of the state in the rows.
template <class T>
RB_HD T time_of_state(const KernelArguments& a, const double* chunk, int lane) {
  if (a.layout.clock >= 0) return load_clock<T>(a, chunk, lane, ClockRow::shown);
  return time_after<T>(a, chunk, lane, Lanes<T>::load(chunk + a.layout.steps * row_size + lane));
}

/// A time as an argument of functions that are no part of the loop: nothing where the system is not driven.
template <class System>
class TimeOf {
  using T = typename System::scalar;
  struct Nothing {
    RB_HD Nothing(const T&) {}
    RB_HD operator T() const { return T(0.0); }
  };
  RB_MAYBE_EMPTY std::conditional_t<timed<System>, T, Nothing> time_;

 public:
  RB_HD TimeOf(const T& time) : time_(time) {}
  RB_HD operator T() const { return time_; }
};

/// Makes a system from its parameters, where it is driven at a time.
template <class System, class Parameter>
RB_HD System make_system_at([[maybe_unused]] const typename System::scalar& time, Parameter&& parameter) {
  if constexpr (timed<System>) {
    return System(make_system<typename System::Untimed>(parameter), time);
  } else {
    return make_system<System>(parameter);
  }
}

/// Loads the systems of the lanes, where they are driven at a time.
template <class System>
RB_HD System load_system_at(const typename System::scalar& time, const KernelArguments& a, const double* chunk,
                            int lane) {
  using T = typename System::scalar;
  return make_system_at<System>(time, [&](int i) { return load_parameter<T>(a, chunk, lane, i); });
}
/// Loads the systems of the lanes in the mask, where they are driven at the time of the states in the rows; the other lanes get the
/// system of the mask's first lane.
template <class System>
RB_HD System load_system(const KernelArguments& a, const double* chunk, int lane,
                         const mask_t<typename System::scalar>& mask = true) {
  using T = typename System::scalar;
  return make_system_at<System>(spread(mask, time_of_state<T>(a, chunk, lane)),
                                [&](int i) { return spread(mask, load_parameter<T>(a, chunk, lane, i)); });
}

RB_NAMESPACE_END
