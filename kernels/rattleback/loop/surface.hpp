#pragma once
// Surfaces of section: their values, and the steps that cross a surface. Each crossing is stored with the state before
// the step. The host locates the crossing by repeating this step with a fraction of the step size.
//
// The last surfaces of a study may be stops, which end a trajectory. A row for each stop, after the values of all surfaces, has
// the number of crossings that are left until then.

#include "rattleback/linalg/team.hpp"
#include "rattleback/loop/formula.hpp"

RB_NAMESPACE_BEGIN

/// The status of a trajectory that a stop has ended. Like one that failed, it stays at the state before the step and counts in no
/// statistic. The host makes it a good one, so that no result has this status.
inline constexpr std::uint32_t status_stopped = 1u << 30;

/// The number of surfaces that are stops. They are the last ones.
template <class Formulas>
inline constexpr int stop_count = 0;
template <class Formulas>
  requires requires { Formulas::stops; }
inline constexpr int stop_count<Formulas> = Formulas::stops;

/// Writes the values of all surfaces at the present states into the rows `surfaces`.
template <class T, template <class> class System, template <class> class Formulas>
RB_HD void evaluate_surfaces(const KernelArguments& a, double* chunk, int lane) {
  using Sys = System<T>;
  const auto q = load_rows<T, element_size<Sys>>(chunk, a.layout.q, lane);
  const auto p = load_rows<T, Sys::n>(chunk, a.layout.p, lane);
  Vector<T, Sys::m> lambda{};
  if constexpr (Sys::m > 0) lambda = load_rows<T, Sys::m>(chunk, a.layout.lambda, lane);
  store_rows(chunk, a.layout.surfaces, lane,
             Formulas<T>::evaluate(SteppedPoint<T, System>{
                 {a, chunk, lane, time_of_state<T>(a, chunk, lane)}, q, p, lambda, work_of_rows<T>(a, chunk, lane)}));
}

/// Updates the values of the surfaces after an accepted step of the lanes `good` to a time; returns the crossed surfaces as bits. A
/// stop counts as crossed when no crossing is left until then.
template <class T, template <class> class System, class Team, template <class> class Formulas, class State>
RB_HD T crossed_surfaces(const KernelArguments& a, double* chunk, int lane, const State& after, const T& time,
                         const mask_t<T>& good) {
  T work(0.0);
  if constexpr (timed<System<T>> && State::carries > 0) work = after.carried[State::carries - 1];
  const auto values =
      Formulas<T>::evaluate(SteppedPoint<T, System>{{a, chunk, lane, time}, after.q, after.p, after.lambda, work});
  constexpr int first_stop = Formulas<T>::count - stop_count<Formulas<T>>;
  T crossed(0.0);
  RB_UNROLL
  for (int s = 0; s < Formulas<T>::count; ++s) {
    double* row = chunk + (a.layout.surfaces + s) * row_size + lane;
    const T g0 = Lanes<T>::load(row), g1 = values[s];
    const T zero(0.0), bit(static_cast<double>(1 << s));
    const T sign(a.surfaces.direction[s] < 0 ? -1.0 : 1.0);
    const T from = sign * g0, to = sign * g1;
    mask_t<T> hit = (from < zero) & (to >= zero);
    if (a.surfaces.direction[s] == 0) hit = hit | ((from > zero) & (to <= zero));
    if (s >= first_stop) {
      double* const left_row = row + (Formulas<T>::count - first_stop) * row_size;
      const T left = Lanes<T>::load(left_row), after_hit = select(hit & good, left - T(1.0), left);
      hit = hit & (after_hit <= zero);
      Team::sync();
      if (Team::leads()) Lanes<T>::store(left_row, after_hit);
    }
    crossed = crossed + select(hit & good, bit, zero);
    Team::sync();
    if (Team::leads()) Lanes<T>::store(row, select(good, g1, g0));
  }
  Team::sync();
  return crossed;
}

/// The lanes whose crossed surfaces have a stop among them.
template <class T, template <class> class Formulas>
RB_HD mask_t<T> stopped_lanes(const T& crossed) {
  return crossed >= T(static_cast<double>(1 << (Formulas<T>::count - stop_count<Formulas<T>>)));
}

/// Stores crossings with the place of the step (loop/clock.hpp) and the state before it, and its derivatives as they are in their rows.
/// The state is passed by value so that the time loop's state stays in registers.
template <class T, class State, int places>
RB_NOINLINE void note_crossings(const KernelArguments& a, double* chunk, int lane, const State before,
                                const Vector<T, places> place, T crossed) {
  const auto noted = join(place, numbers_of(before));
  constexpr int count_noted = noted.size, width = Lanes<T>::width;
  double which[width], numbers[count_noted][width];
  Lanes<T>::store(which, crossed);
  for (int i = 0; i < count_noted; ++i) Lanes<T>::store(numbers[i], noted[i]);
  for (int l = 0; l < width; ++l) {
    if (which[l] == 0.0) continue;
    double* count = chunk + a.layout.crossings * row_size + lane + l;
    const int variations = a.layout.variations * a.layout.variation_rows, size = 1 + count_noted + variations;
    double* slot = chunk + (a.layout.slots + static_cast<int>(*count) * size) * row_size + lane + l;
    *count += 1.0;
    slot[0] = which[l];
    slot += row_size;
    for (int i = 0; i < count_noted; ++i) slot[i * row_size] = numbers[i][l];
    slot += count_noted * row_size;
    for (int i = 0; i < variations; ++i) slot[i * row_size] = chunk[(a.layout.variation + i) * row_size + lane + l];
  }
}

/// Lanes with room for another crossing.
template <class T>
RB_HD mask_t<T> has_slot(const KernelArguments& a, const double* chunk, int lane) {
  return Lanes<T>::load(chunk + a.layout.crossings * row_size + lane) < T(double(crossing_slots));
}

RB_NAMESPACE_END
