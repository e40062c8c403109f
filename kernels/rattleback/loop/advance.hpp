#pragma once
// The time loop of one trajectory (or pack of trajectories), between two sample times.

#include "rattleback/loop/last_step.hpp"
#include "rattleback/loop/surface.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// Whether the step of a method with its options fixed takes a system: what the step requires of it holds.
template <class Method, class System>
concept Takes = requires {
  typename Method::template of<typename System::scalar, System>;
};

/// For a loop that carries nothing along with the state.
struct NoCompanion {
  RB_HD NoCompanion(const KernelArguments&, const double*, int) {}
  template <class State, class T>
  RB_HD void step(const State&, T, mask_t<T>) {}
  RB_HD void store(double*, int) const {}
};

/// The lanes that take a trajectory together, as many as the step or the companion's wants.
template <class Step, class Companion>
using TileOfLoop =
    LaneTile<(tile_of<Step>::lanes > tile_of<Companion>::lanes ? tile_of<Step>::lanes : tile_of<Companion>::lanes)>;

/// Whether a step defers its failures: it has no robust iteration. A trajectory whose step fails waits, and another loop with the
/// whole step goes on with that trajectory. On a GPU the registers of the robust iteration would slow down all other steps.
template <class Step>
inline constexpr bool defers_failures = requires {
  requires Step::defers_failures;
};

/// The summation of a state whose rounding errors are kept in rows, where there are such rows; plain otherwise. In memory they
/// cost no registers where they are not wanted. What a step by one thread carries has the same rows.
template <class T, class Team>
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
      Team::sync();
      if (Team::leads()) {
        store_rows(chunk, row, lane, rounding.q);
        store_rows(chunk, row + N, lane, rounding.p);
      }
      Team::sync();
    }
  }
  template <class, int size>
  RB_HD Vector<T, size> carried() const {
    return row < 0 ? Vector<T, size>::zero() : load_rows<T, size>(chunk, row, lane);
  }
  template <int size>
  RB_HD void carry(const Vector<T, size>& x, mask_t<T> solved) const {
    if (row >= 0) store_rows(chunk, row, lane, select(active & solved, x, load_rows<T, size>(chunk, row, lane)));
  }
};

template <class T, class State>
RB_HD State load_state(const ChunkLayout& rows, const double* chunk, int lane) {
  State r;
  r.q = load_rows<T, State::elements>(chunk, rows.q, lane);
  r.p = load_rows<T, State::dimension>(chunk, rows.p, lane);
  r.lambda = {};
  if constexpr (State::multipliers > 0) r.lambda = load_rows<T, State::multipliers>(chunk, rows.lambda, lane);
  return r;
}
template <class State>
RB_HD void store_state(const ChunkLayout& rows, double* chunk, int lane, const State& state) {
  store_rows(chunk, rows.q, lane, state.q);
  store_rows(chunk, rows.p, lane, state.p);
  if constexpr (State::multipliers > 0) store_rows(chunk, rows.lambda, lane, state.lambda);
}

/// What is recorded of the steps of a trajectory.
template <class T>
struct Record {
  T status, steps, iterations, residual;

  /// Takes in a step that succeeded in all lanes.
  RB_HD void add(const StepReport<T>& report) {
    steps = steps + T(1.0);
    iterations = iterations + report.iterations;
    residual = max(residual, report.residual);
  }
  /// Takes in a step of the lanes `judged`, which succeeded in those that are `good`.
  RB_HD void add(const StepReport<T>& report, const mask_t<T>& judged, const mask_t<T>& good) {
    steps = steps + select(good, T(1.0), T(0.0));
    status = select(judged, report.status, status);
    iterations = iterations + select(judged, report.iterations, T(0.0));
    const mask_t<T> finite = report.status != T(double(status_not_finite));
    residual = select(judged, max(residual, select(finite, report.residual, T(__builtin_huge_val()))), residual);
  }
};
template <class T>
RB_HD Record<T> select(const mask_t<T>& mask, const Record<T>& a, const Record<T>& b) {
  return {select(mask, a.status, b.status), select(mask, a.steps, b.steps), select(mask, a.iterations, b.iterations),
          select(mask, a.residual, b.residual)};
}
template <class T>
RB_HD Record<T> load_record(const ChunkLayout& rows, const double* chunk, int lane) {
  const auto load = [&](int row) { return Lanes<T>::load(chunk + row * chunk_size + lane); };
  return {load(rows.status), load(rows.steps), load(rows.iterations), load(rows.residual)};
}
template <class T>
RB_HD void store_record(const ChunkLayout& rows, double* chunk, int lane, const Record<T>& record) {
  Lanes<T>::store(chunk + rows.status * chunk_size + lane, record.status);
  Lanes<T>::store(chunk + rows.steps * chunk_size + lane, record.steps);
  Lanes<T>::store(chunk + rows.iterations * chunk_size + lane, record.iterations);
  Lanes<T>::store(chunk + rows.residual * chunk_size + lane, record.residual);
}

/// Advances the lanes that start at `lane`. A trajectory whose step fails stays at its last good state with its status set.
/// Padding lanes of the last chunk have a status from the start. A companion, such as a tangent vector (tangent.hpp), sees
/// every step: the state before it, the step size, and the lanes that take it. Without `sections` the surfaces of section
/// are not looked at: a CUDA kernel for runs that have none needs fewer registers then. A tile's lanes all run this for
/// the same trajectory; the first lane of a tile writes to memory.
template <class T, template <class> class System, template <class, class> class Method, class Companion = NoCompanion,
          bool sections = true>
RB_HD void advance_lanes(const KernelArguments& a, double* chunk, int lane) {
  using Sys = System<T>;
  using Step = Method<T, Sys>;
  using State = typename Step::State;
  using Team = TileOfLoop<Step, Companion>;
  // On a GPU the state stays in its rows from step to step, and so does the record, where steps are long and need all
  // registers.
  constexpr bool in_rows = detail::has_tiles && (Team::lanes > 1 || defers_failures<Step>);
  const ChunkLayout& rows = a.layout;
  const auto row = [&](int r) { return chunk + r * chunk_size + lane; };

  State state = load_state<T, State>(rows, chunk, lane);
  Record<T> record = load_record<T>(rows, chunk, lane);
  const T h = load_or<T>(chunk, rows.step, lane, a.step);
  // a uniform step size ends all lanes together, a varying one gives each lane its own count
  T end_steps(static_cast<double>(a.target));
  if (rows.steps_per_sample >= 0) {
    const T per_sample = Lanes<T>::load(row(rows.steps_per_sample));
    end_steps = fma(T(static_cast<double>(a.sample)), per_sample, min(end_steps, per_sample));
  }
  mask_t<T> active = (record.status == T(0.0)) & (record.steps < end_steps);
  Companion companion(a, chunk, lane);

  // Lanes at rest become copies of one that runs: to repeat a step that failed would cost the others its iterations.
  while (any(active)) {
    const mask_t<T> running = active;
    const Step step = make_step<Step>(load_system<Sys>(a, chunk, lane, running),
                                      SolverOptions<T>{T(a.tolerance), a.max_iterations, T(a.guess)}, a.method);
    const T step_size = spread(running, h);
    State current{spread(running, state.q), spread(running, state.p), spread(running, state.lambda)};
    Record<T> counted = record;
    const auto before = [&]() __attribute__((always_inline))->State {
      if constexpr (in_rows) return load_state<T, State>(rows, chunk, lane);
      return current;
    };
    const auto counted_before = [&]() __attribute__((always_inline))->Record<T> {
      if constexpr (in_rows) return load_record<T>(rows, chunk, lane);
      return counted;
    };
    while (true) {
      State next = before();
      // inlined: otherwise state and step go through memory
      const auto take_step = [&]() __attribute__((always_inline)) {
        if constexpr (requires { step(next, PlainSum{}, step_size); }) {
          return step(next, RoundingRows<T, Team>{chunk, rows.rounding, lane, running}, step_size);
        } else if constexpr (requires { step(next, step_size, NothingKept{}); }) {
          return step(next, step_size, LastStepRows<T, Team>{chunk, rows.last_step, lane, running});
        } else {
          return step(next, step_size);
        }
      };
      const StepReport<T> report = take_step();
      const mask_t<T> good = running & (report.status == T(0.0));
      const mask_t<T> judged = defers_failures<Step> ? good : running;
      active = good;
      companion.step(before(), step_size, good);
      if (sections && a.surfaces.count > 0) [[unlikely]] {
        const T crossed = crossed_surfaces<T, System, Team>(a, chunk, lane, next, good);
        if (any(crossed != T(0.0))) {
          if (Team::leads()) note_crossings<T, State>(a, chunk, lane, before(), counted_before().steps, crossed);
          Team::sync();
          active = good & has_slot<T>(a, chunk, lane);
        }
      }
      active = active & (counted_before().steps + T(1.0) < end_steps);
      const bool stops = any(running & !active);
      if constexpr (in_rows) {
        Record<T> updated = counted_before();
        updated.add(report, judged, good);
        Team::sync();
        if (Team::leads()) {
          if (any(good)) store_state(rows, chunk, lane, next);
          store_record(rows, chunk, lane, updated);
        }
        Team::sync();
      } else if (stops) {
        current = select(good, next, current);
        counted.add(report, judged, good);
      } else {
        current = next;
        counted.add(report);
      }
      if (stops) break;
    }
    state = select(running, current, state);
    record = select(running, counted, record);
  }

  Team::sync();
  if (!Team::leads()) return;
  if constexpr (!in_rows) {
    store_state(rows, chunk, lane, state);
    store_record(rows, chunk, lane, record);
  }
  companion.store(chunk, lane);
}

RB_NAMESPACE_END
