#pragma once
// The clock of a trajectory: the size of its next step, the time, and where it stops in a launch. Steps have one size, or follow a
// density.
//
// Steps that follow a density Q(q) > 0 (E. Hairer, G. Soderlind, SIAM J. Sci. Comput. 26 (2005) 1838): with a number rho that starts as
// Q + eps G/2, a step has the size eps/rho, and rho grows by eps G after it, where G = (DQ v)/Q at the new state. rho stays near Q,
// and the map of (state, rho) is reversible where the method is symmetric. The orbit does not meet given times. The state at such a time
// comes from one more step, with the time that is missing, from the last state of the orbit before it, and the orbit goes on from its own
// state. So the rows of the state have what is shown, and the orbit has rows of its own.

#include "rattleback/linalg/team.hpp"
#include "rattleback/loop/formula.hpp"
#include "rattleback/mechanics/derivatives.hpp"

RB_NAMESPACE_BEGIN

/// Whether the steps of a loop follow a density. The formulas of the loop then have it as a struct template over the scalar.
template <class Formulas>
inline constexpr bool has_density = requires { typename Formulas::template Density<double>; };

/// The layout by which the loop moves a trajectory: where steps follow a density, with the rows of the orbit as those of the state.
template <bool by_density>
RB_HD decltype(auto) layout_of_orbit(const ChunkLayout& rows) {
  if constexpr (by_density) {
    ChunkLayout r = rows;
    const int shift = rows.orbit - rows.q;
    r.q += shift;
    r.p += shift;
    r.lambda += shift;
    r.carried += shift;
    return r;
  } else {
    return (rows);
  }
}

/// Steps of one size, up to a number of steps.
template <class T>
class UniformClock {
 public:
  static constexpr int place_numbers = 1;

  RB_HD UniformClock(const KernelArguments& a, const double* chunk, int lane)
      : a_(a), chunk_(chunk), lane_(lane), h_(load_or<T>(chunk, a.layout.step, lane, a.step)) {
    // a uniform step size ends all lanes together, a varying one gives each lane its own count
    end_steps_ = T(static_cast<double>(a.target));
    if (a.layout.steps_per_sample >= 0) {
      const T per_sample = Lanes<T>::load(chunk + a.layout.steps_per_sample * row_size + lane);
      end_steps_ = fma(T(static_cast<double>(a.sample)), per_sample, min(end_steps_, per_sample));
    }
  }

  /// Whether a trajectory with so many steps takes another one.
  RB_HD mask_t<T> runs(const T& steps) const { return steps < end_steps_; }
  /// These two are of the lanes that run; the other lanes get the numbers of one that does.
  RB_HD T step_size(const mask_t<T>& running) const { return spread(running, h_); }
  RB_HD T start(const mask_t<T>& running) const {
    return spread(running, load_or<T>(chunk_, a_.layout.start, lane_, a_.start));
  }
  RB_HD T time_after_step(const T& steps) const { return time_after<T>(a_, chunk_, lane_, steps + T(1.0)); }
  /// The same, of a step that the orbit takes.
  RB_HD T time_of_orbit_after_step(const T& steps) const { return time_after_step(steps); }
  /// Where a crossing in the next step is: the number of steps before it.
  RB_HD Vector<T, place_numbers> place(const T& steps) const { return {steps}; }

 private:
  const KernelArguments& a_;
  const double* chunk_;
  int lane_;
  T h_, end_steps_;
};

/// A configuration where a density is evaluated, with values of the scalar D.
template <class D, class T, int N>
struct DensityPoint {
  const KernelArguments& arguments;
  const double* chunk;
  int lane;
  const Vector<D, N>& q;

  RB_HD D parameter(int i) const { return D(load_parameter<T>(arguments, chunk, lane, i)); }
};

/// The density Q at a state, and G = (DQ v)/Q.
template <class T>
struct DensityAt {
  T value, growth;

  /// From Q along v.
  RB_HD explicit DensityAt(const Dual<T, 1>& along_v)
      : value(along_v.value), growth(along_v.partial[0] / along_v.value) {}
};
template <class T, template <class> class SystemOf, template <class> class Density, int N, int n>
RB_HD DensityAt<T> density_at(const KernelArguments& a, const double* chunk, int lane, [[maybe_unused]] const T& time,
                              const Vector<T, N>& q, const Vector<T, n>& p) {
  using System = SystemOf<T>;
  using D = Dual<T, 1>;
  Vector<T, n> v;
  if constexpr (Separable<System>) {
    v = velocity_of_state(load_system_at<System>(time, a, chunk, lane), q, p, a.in_space);
  } else {
    v = solved_velocity<T, SystemOf>(a, chunk, lane, {time}, q, p);
  }
  if constexpr (on_group<System>)
    if (a.in_space) v = group_of<System>::Ad(group_of<System>::inverse(q), v);
  const Vector<D, N> moved = moving<group_of<System>>(q, v);
  return DensityAt<T>(Density<D>::evaluate(DensityPoint<D, T, N>{a, chunk, lane, moved})[0]);
}

/// Steps that follow a density, up to a time at which the state is shown.
template <class T, template <class> class SystemOf, template <class> class Density, class Team>
class DensityClock {
 public:
  static constexpr int place_numbers = 3;
  template <class S>
  using DensityOf = Density<S>;

  /// Where a trajectory cannot take another step, its status is set in its row.
  RB_HD DensityClock(const KernelArguments& a, double* chunk, int lane)
      : a_(a),
        chunk_(chunk),
        lane_(lane),
        eps_(load_or<T>(chunk, a.layout.step, lane, a.step)),
        target_(a.sample_time) {
    density_ = load(ClockRow::density);
    time_ = load(ClockRow::time);
    rounding_ = load(ClockRow::rounding);
    shown_ = load(ClockRow::shown);
    error_ = load(ClockRow::error);
    double* status_row = chunk + a.layout.status * row_size + lane;
    const T zero(0.0), status = Lanes<T>::load(status_row);
    const mask_t<T> good = status == zero, starts = good & (density_ == zero);
    if (any(starts)) {
      using System = SystemOf<T>;
      const ChunkLayout rows = layout_of_orbit<true>(a.layout);
      const DensityAt<T> at = density_at<T, SystemOf, Density>(a, chunk, lane, time_,
                                                               load_rows<T, element_size<System>>(chunk, rows.q, lane),
                                                               load_rows<T, System::n>(chunk, rows.p, lane));
      density_ = select(starts, fma(T(0.5) * eps_, at.growth, at.value), density_);
    }
    const T steps = Lanes<T>::load(chunk + a.layout.steps * row_size + lane);
    end_steps_ = a.parasitic_limit > 0.0 ? Lanes<T>::load(chunk + (a.layout.guard + 2) * row_size + lane)
                                         : steps + T(static_cast<double>(a.target));
    choose(steps);
    Team::sync();
    if (Team::leads()) Lanes<T>::store(status_row, select(good, fault_, status));
    Team::sync();
  }

  RB_HD mask_t<T> runs(const T& steps) const { return (steps < end_steps_) & !(shown_ == target_); }
  RB_HD T step_size(const mask_t<T>& running) const {
    return spread(running, select(shows_ & !(missing_ == T(0.0)), missing_, step_));
  }
  RB_HD T start(const mask_t<T>& running) const { return spread(running, time_); }
  RB_HD T time_after_step(const T&) const { return select(shows_, target_, time_ + step_); }
  /// The time of the orbit after a step of it, to the last bit as `advance` sums it.
  RB_HD T time_of_orbit_after_step(const T&) const { return time_ + (step_ + rounding_); }
  /// Where a crossing in the next step is: the time before the step, and the part of the step in which it is.
  RB_HD Vector<T, place_numbers> place(const T&) const {
    const T zero(0.0), since = (shown_ - time_) - rounding_;
    return {time_, select(since * step_ > zero, since, zero), select(shows_, missing_, step_)};
  }

  /// The lanes whose next step leads to the state that is shown, and is no step of the orbit.
  RB_HD mask_t<T> shows() const { return shows_; }
  /// Those of them whose step is too short for a multiplier, or for a derivative by its size.
  RB_HD mask_t<T> shows_at_once() const { return shows_ & (abs(missing_) < abs(T(shortest_for_multiplier) * step_)); }
  /// rho, and the size of the orbit's next step.
  RB_HD const T& density() const { return density_; }
  RB_HD const T& step_of_orbit() const { return step_; }
  /// Replaces the state after such a step where no time is missing.
  template <class State>
  RB_HD State shown_state(const State& before, const State& next) const {
    return select(shows_ & (missing_ == T(0.0)), before, next);
  }
  /// Stores the states that are shown in the lanes of the mask. A multiplier has the round-off of its step divided by the length of the
  /// step. After a very short one it is that of the state before.
  template <class State>
  RB_HD void show(const State& before, const State& next, const mask_t<T>& lanes) {
    const ChunkLayout& rows = a_.layout;
    State state = next;
    state.lambda = select(shows_at_once(), before.lambda, next.lambda);
    if (Team::leads())
      store_state(rows, chunk_, lane_, select(lanes, state, load_state<T, State>(rows, chunk_, lane_)));
    shown_ = select(lanes, target_, shown_);
  }

  /// Goes on after a step of the orbit to `next`, the step number `steps`, in the lanes `took`. Returns the status of those that cannot
  /// take another one.
  template <class State>
  RB_HD T advance(const State& next, const T& steps, const mask_t<T>& took) {
    const T y = step_ + rounding_, sum = time_ + y, part = sum - time_;
    rounding_ = select(took, (time_ - (sum - part)) + (y - part), rounding_);
    time_ = select(took, sum, time_);
    const DensityAt<T> at = density_at<T, SystemOf, Density>(a_, chunk_, lane_, time_, next.q, next.p);
    density_ = select(took, fma(eps_, at.growth, density_), density_);
    error_ = select(took, fma(T(-0.5) * eps_, at.growth, density_) / at.value - T(1.0), error_);
    choose(steps);
    return select(took, fault_, T(0.0));
  }

  RB_HD void store() const {
    save(ClockRow::density, density_);
    save(ClockRow::time, time_);
    save(ClockRow::rounding, rounding_);
    save(ClockRow::shown, shown_);
    save(ClockRow::error, error_);
  }

 private:
  static constexpr double shortest_for_multiplier = 1e-6;

  RB_HD T load(int row) const { return load_clock<T>(a_, chunk_, lane_, row); }
  RB_HD void save(int row, const T& x) const {
    Lanes<T>::store(chunk_ + (a_.layout.clock + row) * row_size + lane_, x);
  }
  /// Chooses the next step: of the orbit where it does not lead beyond the time to show.
  RB_HD void choose(const T& steps) {
    step_ = eps_ / density_;
    missing_ = (target_ - time_) - rounding_;
    shows_ = !(abs(step_) <= abs(missing_));
    const mask_t<T> moves = (density_ > T(0.0)) & is_finite(step_) & !(time_ + step_ == time_);
    const mask_t<T> too_many = !shows_ & (steps >= T(a_.max_steps));
    fault_ = select(moves, select(too_many, T(double(status_max_steps)), T(0.0)), T(double(status_density)));
  }

  const KernelArguments& a_;
  double* chunk_;
  int lane_;
  T eps_, target_, density_, time_, rounding_, shown_, error_, end_steps_, step_, missing_, fault_;
  mask_t<T> shows_;
};

namespace detail {
template <class T, template <class> class System, template <class> class Surfaces, class Team>
struct ClockOf {
  using type = UniformClock<T>;
};
template <class T, template <class> class System, template <class> class Surfaces, class Team>
  requires has_density<Surfaces<T>>
struct ClockOf<T, System, Surfaces, Team> {
  template <class S>
  using Density = typename Surfaces<T>::template Density<S>;
  using type = DensityClock<T, System, Density, Team>;
};
}  // namespace detail
template <class T, template <class> class System, template <class> class Surfaces, class Team>
using ClockOf = typename detail::ClockOf<T, System, Surfaces, Team>::type;

RB_NAMESPACE_END
