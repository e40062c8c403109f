#pragma once
// Surfaces of section: their values, and the steps that cross a surface. Each crossing is stored with the state before
// the step. The host locates the crossing by repeating this step with a fraction of the step size.

#include "rattleback/linalg/tile.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// x[index] without an indexed access, which would move x from registers to memory.
template <class T, int N>
RB_HD T component(const Vector<T, N>& x, int index) {
  T r = x[0];
  RB_UNROLL
  for (int i = 1; i < N; ++i)
    if (index == i) r = x[i];
  return r;
}

}  // namespace detail

/// Computes component `index` of a velocity that needs a linear solve; a separate function keeps this code out of the
/// time loop.
template <class T, template <class> class System, int N, int n>
RB_NOINLINE T solved_velocity(const KernelArguments& a, const double* chunk, int lane, const Vector<T, N> q,
                              const Vector<T, n> p, int index) {
  return detail::component(velocity_of_state(load_system<System<T>>(a, chunk, lane), q, p, a.in_space), index);
}

/// The value of a surface at (q, p).
template <class T, template <class> class System, int N, int n>
RB_HD T surface_value(const KernelArguments& a, const double* chunk, int lane, int surface, const Vector<T, N>& q,
                      const Vector<T, n>& p) {
  const Surfaces& surfaces = a.surfaces;
  T below[surface_stack];  // values on the stack below the top
  T top(0.0);
  int depth = 0;
  for (int i = surface == 0 ? 0 : surfaces.end[surface - 1]; i < surfaces.end[surface]; ++i) {
    const Instruction& instruction = surfaces.code[i];
    const Operation operation = instruction.operation;
    if (operation <= Operation::parameter) below[depth++] = top;
    switch (operation) {
      case Operation::constant:
        top = T(instruction.number);
        break;
      case Operation::q:
        top = detail::component(q, instruction.index);
        break;
      case Operation::v:
        if constexpr (Separable<System<T>>) {
          top = detail::component(velocity_of_state(load_system<System<T>>(a, chunk, lane), q, p, a.in_space),
                                  instruction.index);
        } else {
          top = solved_velocity<T, System>(a, chunk, lane, q, p, instruction.index);
        }
        break;
      case Operation::p:
        top = detail::component(p, instruction.index);
        break;
      case Operation::parameter:
        top = load_or<T>(chunk, a.parameter_row[instruction.index], lane, a.parameters[instruction.index]);
        break;
      case Operation::add:
        top = below[--depth] + top;
        break;
      case Operation::subtract:
        top = below[--depth] - top;
        break;
      case Operation::multiply:
        top = below[--depth] * top;
        break;
      case Operation::divide:
        top = below[--depth] / top;
        break;
      case Operation::negate:
        top = -top;
        break;
      case Operation::power: {
        const T base = top;
        for (int k = 1; k < instruction.index; ++k) top = top * base;
        break;
      }
      case Operation::sine:
        top = sin(top);
        break;
      case Operation::cosine:
        top = cos(top);
        break;
      case Operation::exponential:
        top = exp(top);
        break;
      case Operation::root:
        top = sqrt(top);
        break;
      case Operation::magnitude:
        top = abs(top);
        break;
    }
  }
  return top;
}

/// Writes the values of all surfaces at the present states into the rows `surfaces`.
template <class T, template <class> class System>
void evaluate_surfaces(const KernelArguments& a, double* chunk, int lane) {
  const auto q = load_rows<T, element_size<System<T>>>(chunk, a.layout.q, lane);
  const auto p = load_rows<T, System<T>::n>(chunk, a.layout.p, lane);
  for (int s = 0; s < a.surfaces.count; ++s)
    Lanes<T>::store(chunk + (a.layout.surfaces + s) * chunk_size + lane,
                    surface_value<T, System>(a, chunk, lane, s, q, p));
}

/// Updates the values of the surfaces after an accepted step of the lanes `good`; returns the crossed surfaces as bits.
/// The state is passed by value so that the time loop's state stays in registers.
template <class T, template <class> class System, class Team, class State>
RB_HD_RARE T crossed_surfaces(const KernelArguments& a, double* chunk, int lane, const State after, mask_t<T> good) {
  T crossed(0.0);
  for (int s = 0; s < a.surfaces.count; ++s) {
    double* row = chunk + (a.layout.surfaces + s) * chunk_size + lane;
    const T g0 = Lanes<T>::load(row), g1 = surface_value<T, System>(a, chunk, lane, s, after.q, after.p);
    const T zero(0.0), bit(static_cast<double>(1 << s));
    const T sign(a.surfaces.direction[s] < 0 ? -1.0 : 1.0);
    const T from = sign * g0, to = sign * g1;
    mask_t<T> hit = (from < zero) & (to >= zero);
    if (a.surfaces.direction[s] == 0) hit = hit | ((from > zero) & (to <= zero));
    crossed = crossed + select(hit & good, bit, zero);
    Team::sync();
    if (Team::leads()) Lanes<T>::store(row, select(good, g1, g0));
  }
  Team::sync();
  return crossed;
}

/// Stores crossings with the state before the step, which is passed by value as above.
template <class T, class State>
RB_NOINLINE void note_crossings(const KernelArguments& a, double* chunk, int lane, const State before, T steps,
                                T crossed) {
  constexpr int N = State::elements, n = State::dimension, m = State::multipliers, width = Lanes<T>::width;
  double which[width], at[width], q[N][width], p[n][width], lambda[m > 0 ? m : 1][width];
  Lanes<T>::store(which, crossed);
  Lanes<T>::store(at, steps);
  for (int i = 0; i < N; ++i) Lanes<T>::store(q[i], before.q[i]);
  for (int i = 0; i < n; ++i) Lanes<T>::store(p[i], before.p[i]);
  for (int i = 0; i < m; ++i) Lanes<T>::store(lambda[i], before.lambda[i]);
  for (int l = 0; l < width; ++l) {
    if (which[l] == 0.0) continue;
    double* count = chunk + a.layout.crossings * chunk_size + lane + l;
    double* slot = chunk + (a.layout.slots + static_cast<int>(*count) * (N + n + m + 2)) * chunk_size + lane + l;
    *count += 1.0;
    slot[0] = which[l];
    slot[chunk_size] = at[l];
    slot += 2 * chunk_size;
    for (int i = 0; i < N; ++i) slot[i * chunk_size] = q[i][l];
    for (int i = 0; i < n; ++i) slot[(N + i) * chunk_size] = p[i][l];
    for (int i = 0; i < m; ++i) slot[(N + n + i) * chunk_size] = lambda[i][l];
  }
}

/// Lanes with room for another crossing.
template <class T>
RB_HD mask_t<T> has_slot(const KernelArguments& a, const double* chunk, int lane) {
  return Lanes<T>::load(chunk + a.layout.crossings * chunk_size + lane) < T(double(crossing_slots));
}

RB_NAMESPACE_END
