#pragma once
// The time loop of one trajectory (or pack of trajectories), between two sample times.

#include "rattleback/ensemble/surface.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// Whether the step of a method with its options fixed takes a system: what the step requires of it holds.
template <class Method, class System>
concept Takes = requires {
  typename Method::template of<typename System::scalar, System>;
};

/// A trajectory without company: the loop below carries nothing along with the state.
struct Alone {
  RB_HD Alone(const KernelArguments&, const double*, int) {}
  template <class State, class T>
  RB_HD void step(const State&, T, mask_t<T>) {}
  RB_HD void store(double*, int) const {}
};

/// A step that only tries: what it cannot solve is for another loop, with the whole step, to go on with. On a GPU the
/// registers of the robust iteration would slow down all the steps that do not need it.
template <class Step>
inline constexpr bool hands_over = requires {
  requires Step::hands_over;
};

/// The summation of a state whose rounding errors are kept in rows, where there are such rows; plain otherwise. In memory they
/// cost no registers where they are not wanted.
template <class T>
struct RoundingRows {
  double* chunk;
  int row, lane;
  mask_t<T> active;

  template <class State, int N, int n>
  RB_HD void add(const Vector<T, N>& dq, const Vector<T, n>& dp, mask_t<T> solved, State& state) const {
    if (row < 0) {
      PlainSum{}.add(dq, dp, solved, state);
    } else {
      StateRounding<T, n> rounding{load_rows<T, n>(chunk, row, lane), load_rows<T, n>(chunk, row + N, lane)};
      rounding.add(dq, dp, active & solved, state);
      store_rows(chunk, row, lane, rounding.q);
      store_rows(chunk, row + N, lane, rounding.p);
    }
  }
};

/// Advances the lanes that start at `lane`. A trajectory whose step fails stays at its last good state with its status set.
/// Padding lanes of the last chunk have a status from the start. A companion, such as a tangent vector (tangent.hpp), sees
/// every step: the state before it, the step size, and the lanes that take it. Without `sections` the surfaces of section
/// are not looked at: a CUDA kernel for runs that have none needs fewer registers then.
template <class T, template <class> class System, template <class, class> class Method, class Companion = Alone,
          bool sections = true>
RB_HD void advance_lanes(const KernelArguments& a, double* chunk, int lane) {
  using Sys = System<T>;
  using Step = Method<T, Sys>;
  using State = typename Step::State;
  constexpr int n = Sys::n, m = Sys::m, N = element_size<Sys>;
  const ChunkLayout& rows = a.layout;
  const auto row = [&](int r) { return chunk + r * chunk_size + lane; };

  State state;
  state.q = load_rows<T, N>(chunk, rows.q, lane);
  state.p = load_rows<T, n>(chunk, rows.p, lane);
  if constexpr (m > 0) {
    state.lambda = load_rows<T, m>(chunk, rows.lambda, lane);
  } else {
    state.lambda = {};
  }
  T status = Lanes<T>::load(row(rows.status));
  T steps = Lanes<T>::load(row(rows.steps));
  T iterations = Lanes<T>::load(row(rows.iterations));
  T residual = Lanes<T>::load(row(rows.residual));
  const T h = load_or<T>(chunk, rows.step, lane, a.step);
  // a uniform step size ends all lanes together, a varying one gives each lane its own count
  T end_steps(static_cast<double>(a.target));
  if (rows.steps_per_sample >= 0) {
    const T per_sample = Lanes<T>::load(row(rows.steps_per_sample));
    end_steps = fma(T(static_cast<double>(a.sample)), per_sample, min(end_steps, per_sample));
  }
  mask_t<T> active = (status == T(0.0)) & (steps < end_steps);
  Companion companion(a, chunk, lane);

  // Lanes at rest become copies of one that runs: to repeat a step that failed would cost the others its iterations.
  while (any(active)) {
    const mask_t<T> running = active;
    const Step step = make_step<Step>(load_system<Sys>(a, chunk, lane, running),
                                      SolverOptions<T>{T(a.tolerance), a.max_iterations}, a.method);
    const T step_size = spread(running, h);
    State current{spread(running, state.q), spread(running, state.p), spread(running, state.lambda)};
    while (true) {
      State next = current;
      // inlined: otherwise state and step go through memory
      const auto take_step = [&]() __attribute__((always_inline)) {
        if constexpr (requires { step(next, PlainSum{}, step_size); }) {
          return step(next, RoundingRows<T>{chunk, rows.rounding, lane, running}, step_size);
        } else {
          return step(next, step_size);
        }
      };
      const StepReport<T> report = take_step();
      const mask_t<T> good = running & (report.status == T(0.0));
      const mask_t<T> judged = hands_over<Step> ? good : running;
      status = select(judged, report.status, status);
      iterations = iterations + select(judged, report.iterations, T(0.0));
      const mask_t<T> finite = report.status != T(double(status_not_finite));
      residual = select(judged, max(residual, select(finite, report.residual, T(__builtin_huge_val()))), residual);
      active = good;
      companion.step(current, step_size, good);
      if (sections && a.surfaces.count > 0) {
        const T crossed = crossed_surfaces<T, System>(a, chunk, lane, next, good);
        if (any(crossed != T(0.0))) {
          note_crossings<T, State>(a, chunk, lane, current, steps, crossed);
          active = good & has_slot<T>(a, chunk, lane);
        }
      }
      steps = steps + select(good, T(1.0), T(0.0));
      active = active & (steps < end_steps);
      if (any(running & !good)) {
        current = select(good, next, current);
      } else {
        current = next;
      }
      if (any(running & !active)) break;
    }
    state = select(running, current, state);
  }

  store_rows(chunk, rows.q, lane, state.q);
  store_rows(chunk, rows.p, lane, state.p);
  if constexpr (m > 0) store_rows(chunk, rows.lambda, lane, state.lambda);
  Lanes<T>::store(row(rows.status), status);
  Lanes<T>::store(row(rows.steps), steps);
  Lanes<T>::store(row(rows.iterations), iterations);
  Lanes<T>::store(row(rows.residual), residual);
  companion.store(chunk, lane);
}

RB_NAMESPACE_END
