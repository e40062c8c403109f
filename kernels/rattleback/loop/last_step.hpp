#pragma once
// Data of a trajectory's last step besides the state: the multiplier gamma of the hidden constraint, the velocity of
// the step, and the state that belongs to this velocity. A step with such data takes a third argument, step(state, h,
// keep), and calls keep.put(solved, gamma, v, q, p). The data have rows when an observable needs them.

#include "rattleback/linalg/team.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// The rows of the last step: gamma, v, q, p. The rows of a lane change only if the lane is `active` and the step
/// succeeded.
template <class T, class Team>
struct LastStepRows {
  double* chunk;
  int row, lane;
  mask_t<T> active;

  RB_HD bool wanted() const { return row >= 0; }

  template <int m, int n>
  RB_HD void put(mask_t<T> solved, const Vector<T, m>& gamma, const Vector<T, n>& v, const Vector<T, n>& q,
                 const Vector<T, n>& p) const {
    if (!wanted() || !Team::leads()) return;
    const mask_t<T> good = active & solved;
    store(row, good, gamma);
    store(row + m, good, v);
    store(row + m + n, good, q);
    store(row + m + 2 * n, good, p);
  }

 private:
  template <int N>
  RB_HD void store(int first, mask_t<T> good, const Vector<T, N>& x) const {
    RB_UNROLL
    for (int i = 0; i < N; ++i) {
      double* place = chunk + (first + i) * row_size + lane;
      Lanes<T>::store(place, select(good, x[i], Lanes<T>::load(place)));
    }
  }
};

/// Component i of a vector in registers.
template <class T, int N>
RB_HD T component(const Vector<T, N>& x, int i) {
  T r(0.0);
  RB_UNROLL
  for (int j = 0; j < N; ++j)
    if (j == i) r = x[j];
  return r;
}

/// An observable of the last step, from v of the step and the state (q, p) that belongs to v: G(q) v, p.v - L(q, v), T
/// or V, where V = -L(q, 0) and T + V is the energy of (q, v). The system is at the time of this state.
template <class T, class System>
RB_HD T observe_last_step(const System& present, const KernelArguments& a, const double* chunk, int lane,
                          ObservableCode code) {
  constexpr int n = System::n, m = System::m;
  const ChunkLayout& rows = a.layout;
  const T steps = Lanes<T>::load(chunk + rows.steps * row_size + lane);
  const T since = a.last_step_at_start ? min(T(1.0), steps) : T(0.0);
  // A step of a varying size ends at the state that is shown.
  const auto& system = at(
      present, a.layout.clock >= 0 ? time_of_state<T>(a, chunk, lane) : time_after<T>(a, chunk, lane, steps - since));
  const int first_v = rows.last_step + m;
  if (code.kind == ObservableCode::gamma)
    return Lanes<T>::load(chunk + (rows.last_step + code.index) * row_size + lane);
  if (code.kind == ObservableCode::step_v) return Lanes<T>::load(chunk + (first_v + code.index) * row_size + lane);
  const auto v = load_rows<T, n>(chunk, first_v, lane), q = load_rows<T, n>(chunk, first_v + n, lane);
  if (code.kind == ObservableCode::step_hidden_constraint) return component(constraint(system, q, v), code.index);
  if (code.kind == ObservableCode::step_energy)
    return dot(load_rows<T, n>(chunk, first_v + 2 * n, lane), v) - lagrangian(system, q, v);
  const T potential = -lagrangian(system, q, Vector<T, n>::zero());
  return code.kind == ObservableCode::step_potential ? potential : energy(system, q, v) - potential;
}

RB_NAMESPACE_END
