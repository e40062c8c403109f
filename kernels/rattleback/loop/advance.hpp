#pragma once
// The time loop of one trajectory (or pack of trajectories), between two sample times.

#include "rattleback/loop/averages.hpp"
#include "rattleback/loop/clock.hpp"
#include "rattleback/loop/last_step.hpp"
#include "rattleback/loop/surface.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// For a loop that carries nothing along with the state.
struct NoCompanion {
  RB_HD NoCompanion(const KernelArguments&, const double*, int) {}
  template <class State, class T>
  RB_HD void step(const State&, T, T, T, mask_t<T>) {}
  RB_HD void store(double*, int) const {}
};

/// Whether a companion has derivatives, which crossings note as they are before the step (loop/variations.hpp).
template <class Companion>
inline constexpr bool has_variations = requires { requires Companion::varies; };

/// The lanes that take a trajectory together, as many as the step or the companion's wants.
template <class Step, class Companion>
using TeamOfLoop =
    LaneTeam<(team_of<Step>::lanes > team_of<Companion>::lanes ? team_of<Step>::lanes : team_of<Companion>::lanes)>;

/// Whether a step defers its failures: it has no robust iteration. A trajectory whose step fails waits, and another loop with the
/// whole step goes on with that trajectory. On a GPU the registers of the robust iteration would slow down all other steps.
template <class Step>
inline constexpr bool defers_failures = requires { requires Step::defers_failures; };

/// The summation of a state whose rounding errors are kept in rows, where there are such rows; plain otherwise. In memory they
/// cost no registers where they are not wanted.
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
  /// The row of the work comes after those of the momentum.
  template <class State>
  RB_HD void add_work(const T& work, mask_t<T> solved, State& state) const {
    if (row < 0) {
      PlainSum{}.add_work(work, solved, state);
    } else {
      const int place = row + State::elements + State::dimension;
      Vector<T, 1> sum{state.carried[State::carries - 1]}, rounding = load_rows<T, 1>(chunk, place, lane);
      StateRounding<T, State::dimension>::add(Vector<T, 1>{work}, active & solved, sum, rounding);
      state.carried[State::carries - 1] = sum[0];
      Team::sync();
      if (Team::leads()) store_rows(chunk, place, lane, rounding);
      Team::sync();
    }
  }
};

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
  const auto load = [&](int row) { return Lanes<T>::load(chunk + row * row_size + lane); };
  return {load(rows.status), load(rows.steps), load(rows.iterations), load(rows.residual)};
}
template <class T>
RB_HD void store_record(const ChunkLayout& rows, double* chunk, int lane, const Record<T>& record) {
  Lanes<T>::store(chunk + rows.status * row_size + lane, record.status);
  Lanes<T>::store(chunk + rows.steps * row_size + lane, record.steps);
  Lanes<T>::store(chunk + rows.iterations * row_size + lane, record.iterations);
  Lanes<T>::store(chunk + rows.residual * row_size + lane, record.residual);
}

/// A trajectory whose state and record stay in registers from step to step. The lanes that run take steps together; the
/// lanes at rest are meanwhile copies of one that runs.
template <class T, class State>
class TrajectoryInRegisters {
 public:
  RB_HD TrajectoryInRegisters(const ChunkLayout& rows, double* chunk, int lane)
      : rows_(rows), chunk_(chunk), lane_(lane) {}

  RB_HD State state() const { return state_; }
  RB_HD Record<T> record() const { return record_; }

  RB_HD void start(const mask_t<T>& running) {
    state_ = load_state<T, State>(rows_, chunk_, lane_);
    record_ = load_record<T>(rows_, chunk_, lane_);
    if (!all(running))
      state_ = {spread(running, state_.q), spread(running, state_.p), spread(running, state_.lambda),
                spread(running, state_.carried)};
  }
  /// Takes in a step to `next`, which is recorded in the lanes `judged` and succeeded in the lanes `good`: in all lanes
  /// unless one of them `stops`.
  RB_HD void take(const State& next, const StepReport<T>& report, const mask_t<T>& judged, const mask_t<T>& good,
                  bool stops) {
    if (stops) {
      state_ = select(good, next, state_);
      record_.add(report, judged, good);
    } else {
      state_ = next;
      record_.add(report);
    }
  }
  RB_HD void stop(const mask_t<T>& running) {
    if (!all(running)) {
      state_ = select(running, state_, load_state<T, State>(rows_, chunk_, lane_));
      record_ = select(running, record_, load_record<T>(rows_, chunk_, lane_));
    }
    store_state(rows_, chunk_, lane_, state_);
    store_record(rows_, chunk_, lane_, record_);
  }

 private:
  const ChunkLayout& rows_;
  double* chunk_;
  int lane_;
  State state_;  // of the lanes that run, and so is record_
  Record<T> record_;
};

/// The same for a trajectory whose state and record stay in their rows; the first lane of a team writes them.
template <class T, class State, class Team>
class TrajectoryInRows {
 public:
  RB_HD TrajectoryInRows(const ChunkLayout& rows, double* chunk, int lane) : rows_(rows), chunk_(chunk), lane_(lane) {}

  RB_HD State state() const { return load_state<T, State>(rows_, chunk_, lane_); }
  RB_HD Record<T> record() const { return load_record<T>(rows_, chunk_, lane_); }

  RB_HD void start(const mask_t<T>&) {}
  RB_HD void take(const State& next, const StepReport<T>& report, const mask_t<T>& judged, const mask_t<T>& good,
                  bool) {
    Record<T> updated = record();
    updated.add(report, judged, good);
    Team::sync();
    if (Team::leads()) {
      if (any(good)) store_state(rows_, chunk_, lane_, next);
      store_record(rows_, chunk_, lane_, updated);
    }
    Team::sync();
  }
  RB_HD void stop(const mask_t<T>&) {}

 private:
  const ChunkLayout& rows_;
  double* chunk_;
  int lane_;
};

/// Takes the step with what it asks for beside the state: rows for its summation, or rows for what is observed of it.
/// Rounding errors are summed in the lanes `summed`. This function is inlined; otherwise the state and the step would go through memory.
template <class T, class Team, class Step, class State>
RB_HD StepReport<T> take_step(const Step& step, const ChunkLayout& rows, double* chunk, int lane,
                              const mask_t<T>& running, const mask_t<T>& summed, const T& step_size, State& state) {
  if constexpr (requires { step(state, PlainSum{}, step_size); }) {
    return step(state, RoundingRows<T, Team>{chunk, rows.rounding, lane, summed}, step_size);
  } else if constexpr (requires { step(state, step_size, NothingKept{}); }) {
    return step(state, step_size, LastStepRows<T, Team>{chunk, rows.last_step, lane, running});
  } else {
    return step(state, step_size);
  }
}

/// Notes the surfaces of section that the step of the lanes `good` to `next` crossed. Where it crossed one, only the
/// lanes with room for another crossing stay active. A stop undoes the step: its lanes are no longer good.
template <class T, template <class> class System, class Team, template <class> class Surfaces, class Clock,
          class Trajectory, class State>
RB_HD void pass_surfaces(const KernelArguments& a, double* chunk, int lane, const Clock& clock,
                         const Trajectory& trajectory, const State& next, StepReport<T>& report, mask_t<T>& good,
                         mask_t<T>& active) {
  const T time = clock.time_after_step(trajectory.record().steps);
  const T crossed = crossed_surfaces<T, System, Team, Surfaces>(a, chunk, lane, next, time, good);
  if (!any(crossed != T(0.0))) return;
  if (Team::leads())
    note_crossings<T, State>(a, chunk, lane, trajectory.state(), clock.place(trajectory.record().steps), crossed);
  Team::sync();
  if constexpr (stop_count<Surfaces<T>> > 0) {
    const mask_t<T> stopped = stopped_lanes<T, Surfaces>(crossed);
    report.status = select(stopped, T(static_cast<double>(status_stopped)), report.status);
    good = good & !stopped;
  }
  active = good & has_slot<T>(a, chunk, lane);
}

/// Advances the lanes that start at `lane`. A trajectory whose step fails stays at its last good state with its status set.
/// Padding lanes of the last chunk have a status from the start. A companion, such as a tangent vector (tangent.hpp), sees
/// every step: the state before it, the step size, the time and the number of steps before it, and the lanes that take it. `Surfaces` are the surfaces of section of the
/// study, with its averages. A team's lanes all run this for the same trajectory; the first lane of a team writes to memory.
template <class T, template <class> class System, template <class, class> class Method, class Companion = NoCompanion,
          template <class> class Surfaces = NoFormulas>
RB_HD void advance_lanes(const KernelArguments& a, double* chunk, int lane,
                         [[maybe_unused]] const WeightsOfSteps* weights = nullptr) {
  using Sys = System<T>;
  using Step = Method<T, Sys>;
  using State = typename Step::State;
  using Team = TeamOfLoop<Step, Companion>;
  // On a GPU the trajectory stays in its rows where steps are long and need all registers.
  constexpr bool in_rows = detail::has_teams && (Team::lanes > 1 || defers_failures<Step>);
  using Trajectory = std::conditional_t<in_rows, TrajectoryInRows<T, State, Team>, TrajectoryInRegisters<T, State>>;
  constexpr bool by_density = has_density<Surfaces<T>>;
  decltype(auto) rows = layout_of_orbit<by_density>(a.layout);

  Trajectory trajectory(rows, chunk, lane);
  ClockOf<T, System, Surfaces, Team> clock(a, chunk, lane);
  const Record<T> record = load_record<T>(rows, chunk, lane);
  mask_t<T> active = (record.status == T(0.0)) & clock.runs(record.steps);
  Companion companion(a, chunk, lane);
  [[maybe_unused]] auto averages = [&] {
    if constexpr (has_averages<Surfaces<T>>) {
      return AverageSums<T, System, Surfaces, by_density, Team>(a, chunk, lane, load_state<T, State>(rows, chunk, lane),
                                                                weights);
    } else {
      return NoAverages{};
    }
  }();
  constexpr bool after_surfaces = stop_count<Surfaces<T>> > 0 || has_variations<Companion>,
                 follows_clock = by_density && has_variations<Companion>;
  if constexpr (follows_clock) companion.begin(clock, record);

  // Lanes at rest become copies of one that runs: to repeat a step that failed would cost the others its iterations.
  while (any(active)) {
    const mask_t<T> running = active;
    const Sys system = load_system<Sys>(a, chunk, lane, running);
    const auto step_of = [&](const Sys& now) {
      return make_step<Step>(now, SolverOptions<T>{T(a.tolerance), a.max_iterations, T(a.guess), rows.work >= 0},
                             a.method);
    };
    const Step step = step_of(system);
    const T uniform_step = clock.step_size(running);
    [[maybe_unused]] const T start = clock.start(running);
    trajectory.start(running);
    while (true) {
      State next = trajectory.state();
      StepReport<T> report;
      T time(0.0), step_size = uniform_step;
      mask_t<T> summed = running;
      if constexpr (by_density) {
        step_size = clock.step_size(running);
        summed = running & !clock.shows();
      }
      if constexpr (timed<Sys>) {  // every step has its own time
        if constexpr (by_density) {
          time = clock.start(running);
        } else {
          time = fma(spread(running, trajectory.record().steps), step_size, start);
        }
        report = take_step<T, Team>(step_of(at(system, time)), rows, chunk, lane, running, summed, step_size, next);
      } else {
        report = take_step<T, Team>(step, rows, chunk, lane, running, summed, step_size, next);
      }
      mask_t<T> good = running & (report.status == T(0.0));
      mask_t<T> judged = defers_failures<Step> ? good : running;
      active = good;
      if constexpr (by_density) next = clock.shown_state(trajectory.state(), next);
      if constexpr (!after_surfaces)
        companion.step(trajectory.state(), step_size, time, trajectory.record().steps, good & summed);
      if constexpr (Surfaces<T>::count > 0)
        if (a.surfaces.count > 0)
          pass_surfaces<T, System, Team, Surfaces>(a, chunk, lane, clock, trajectory, next, report, good, active);
      if constexpr (follows_clock) {
        companion.follow(clock, trajectory.state(), step_size, time, good);
      } else if constexpr (after_surfaces) {
        companion.step(trajectory.state(), step_size, time, trajectory.record().steps, good & summed);
      }
      if constexpr (has_averages<Surfaces<T>>)
        averages.add(next, clock.time_of_orbit_after_step(trajectory.record().steps), step_size,
                     trajectory.record().steps, good & summed);
      if constexpr (by_density) {
        const mask_t<T> shown = good & !summed;
        if (any(shown)) clock.show(trajectory.state(), next, shown);
        good = good & summed;
        judged = judged & !shown;
        const T fault = clock.advance(next, trajectory.record().steps + T(1.0), good);
        report.status = select(good, fault, report.status);
        active = active & good & (fault == T(0.0));
      }
      active = active & clock.runs(trajectory.record().steps + T(1.0));
      const bool stops = any(running & !active);
      trajectory.take(next, report, judged, good, stops);
      if (stops) break;
    }
    trajectory.stop(running);
  }

  Team::sync();
  if (Team::leads()) companion.store(chunk, lane);
  if constexpr (by_density)
    if (Team::leads()) clock.store();
}

RB_NAMESPACE_END
