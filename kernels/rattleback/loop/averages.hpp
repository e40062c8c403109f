#pragma once
// Averages over the time of a trajectory: the sum of g(u) f over the steps, divided by that of g(u). f is a formula at the state after a
// step, u in (0, 1) the share of the time that has gone by in the middle of the step, and g(u) = exp(-1/(u (1 - u))). All derivatives of g are 0
// at both ends, so that the average of a quasi-periodic motion converges faster than any power of the time (S. Das, Y. Saiki, E. Sander,
// J. A. Yorke, Nonlinearity 30 (2017) 4111). Where f is an angle, the average is that of its rate: of its increments, reduced to
// (-pi, pi], by the length of the step. Steps that follow a density have weights in proportion to their length, and f is the mean of its
// values before and after the step: with one of them the error would be of first order in the step.
//
// The rows `averages` have three sums each, over all steps and over those of the first and of the second half of the time, which have
// weights of their own: the sums of the weights, then those of each average. How far the two halves differ shows the convergence.

#include "rattleback/loop/clock.hpp"

RB_NAMESPACE_BEGIN

/// Whether a study has averages. The formulas of the loop then have them as a struct template over the scalar, whose constant `angles`
/// has a bit for each one that is an angle.
template <class Formulas>
inline constexpr bool has_averages = requires { typename Formulas::template Averages<double>; };

/// The sums of a number: over all steps, and over those of each half.
inline constexpr int average_sums = 3;
/// The number of rows of so many averages.
RB_HD constexpr int average_rows(int averages) { return average_sums * (1 + averages); }

/// For a loop without averages.
struct NoAverages {};

/// The weights of a step with the share u of the time in its middle: over all the time, and over the half to which it belongs.
template <class T>
struct WeightOfStep {
  T whole, part;
  mask_t<T> early;  ///< the step belongs to the first half

  /// `middle` is the share at which the second half begins.
  RB_HD WeightOfStep(const T& u, const T& middle)
      : whole(weight(u)),
        part(weight(select(u < middle, u / middle, (u - middle) / (T(1.0) - middle)))),
        early(u < middle) {}
  RB_HD WeightOfStep(const T& all, const T& half, const mask_t<T>& first) : whole(all), part(half), early(first) {}

  RB_HD static T weight(const T& u) { return exp(T(-1.0) / (u * (T(1.0) - u))); }
  /// The share of the time in the middle of the step after so many steps of `length`.
  RB_HD static T share(const T& steps, const T& length) { return (steps + T(0.5)) / length; }
  /// The first half has a step less where the number of steps is odd.
  RB_HD static T middle_of(const T& length) { return rint(fma(T(0.5), length, T(-0.25))) / length; }
};

/// The weights of consecutive steps, which the trajectories of a chunk share where steps have one size. A processor computes them once.
struct WeightsOfSteps {
  static constexpr std::int64_t most = 1024;
  std::int64_t first = 0, end = 0;  ///< numbers of steps before the first one, and before the one behind the last
  double whole[most], part[most], early[most];

  /// Fills in the steps that the lanes [begin, end_lane) of a chunk are to take, or the last of them where they are many.
  template <class T>
  void fill(const KernelArguments& a, const double* chunk, int begin, int end_lane) {
    first = end = a.target;
    for (int lane = begin; lane < end_lane; ++lane) {
      const auto steps = static_cast<std::int64_t>(chunk[a.layout.steps * row_size + lane]);
      if (chunk[a.layout.status * row_size + lane] == 0.0 && steps < first) first = steps;
    }
    if (first < end - most) first = end - most;
    const T length(a.averaged), middle = WeightOfStep<T>::middle_of(length);
    constexpr int width = Lanes<T>::width;
    for (std::int64_t i = first; i < end; i += width) {
      double steps[width], numbers[3][width];
      for (int l = 0; l < width; ++l) steps[l] = static_cast<double>(i + l);
      const WeightOfStep<T> weight(WeightOfStep<T>::share(Lanes<T>::load(steps), length), middle);
      Lanes<T>::store(numbers[0], weight.whole);
      Lanes<T>::store(numbers[1], weight.part);
      Lanes<T>::store(numbers[2], select(weight.early, T(1.0), T(0.0)));
      for (int l = 0; l < width && i + l < end; ++l) {
        const std::int64_t k = i + l - first;
        whole[k] = numbers[0][l];
        part[k] = numbers[1][l];
        early[k] = numbers[2][l];
      }
    }
  }
};

/// The averages of the lanes that start at `lane`, whose trajectory is at a state, with steps of one size or such that follow a density.
template <class T, template <class> class System, template <class> class Formulas, bool by_density, class Team>
class AverageSums {
  using Averages = typename Formulas<T>::template Averages<T>;
  static constexpr int count = Averages::count;
  static constexpr bool needs_before = by_density || Averages::angles != 0;

 public:
  template <class State>
  RB_HD AverageSums(const KernelArguments& a, double* chunk, int lane, const State& now, const WeightsOfSteps* weights)
      : a_(a), chunk_(chunk), lane_(lane), weights_(weights), length_(a.averaged), middle_(0.5) {
    if constexpr (!by_density) {
      if (a.layout.steps_per_sample >= 0)
        length_ = length_ * Lanes<T>::load(chunk + a.layout.steps_per_sample * row_size + lane);
      middle_ = WeightOfStep<T>::middle_of(length_);
    }
    if constexpr (needs_before)
      before_ =
          values(now, by_density ? load_clock<T>(a, chunk, lane, ClockRow::time) : time_of_state<T>(a, chunk, lane));
  }

  /// Takes in the step number `steps` + 1, of length h, to a state at a time in the lanes of the mask.
  template <class State>
  RB_HD void add(const State& after, const T& time, const T& h, const T& steps, mask_t<T> good) {
    const T one(1.0);
    Vector<T, 1 + count> x;
    x[0] = one;
    const Vector<T, count> now = values(after, time);
    RB_UNROLL
    for (int j = 0; j < count; ++j) {
      x[1 + j] = now[j];
      if (Averages::angles >> j & 1u) {
        x[1 + j] = reduced(now[j] - before_[j]) / h;
      } else if constexpr (by_density) {
        x[1 + j] = T(0.5) * (before_[j] + now[j]);
      }
      if constexpr (needs_before) before_[j] = select(good, now[j], before_[j]);
    }
    if (!Team::leads() || !any(good)) return;
    if constexpr (by_density) {
      const T u = fma(T(-0.5), h, time - load_or<T>(chunk_, a_.layout.start, lane_, a_.start)) / length_;
      good = good & (u > T(0.0)) &
             (u < one);  // a run that goes on from another one may begin with a step across the start
      const WeightOfStep<T> weight(u, middle_);
      add_weighted({h * weight.whole, h * weight.part, weight.early}, x, good);
    } else {
      add_weighted(weight_after(steps, good), x, good);
    }
  }

 private:
  template <class State>
  RB_HD Vector<T, count> values(const State& state, const T& time) const {
    T work(0.0);
    if constexpr (timed<System<T>> && State::carries > 0) work = state.carried[State::carries - 1];
    return Averages::evaluate(SteppedPoint<T, System>{{a_, chunk_, lane_, time}, state.q, state.p, state.lambda, work});
  }

  /// The weights of the next step of the lanes in the mask, with steps of one size.
  RB_HD WeightOfStep<T> weight_after(const T& steps, const mask_t<T>& good) const {
    if (weights_ != nullptr) {
      const double number = value_of_first(good, steps);
      const auto i = static_cast<std::int64_t>(number) - weights_->first;
      if (i >= 0 && i < weights_->end - weights_->first && !any(good & !(steps == T(number))))
        return {T(weights_->whole[i]), T(weights_->part[i]), T(weights_->early[i]) != T(0.0)};
    }
    return {WeightOfStep<T>::share(steps, length_), middle_};
  }

  /// An increment of an angle in (-pi, pi].
  RB_HD static T reduced(const T& increment) {
    const T turn(6.283185307179586);
    const T r = fma(-turn, rint(increment / turn), increment);
    return select(r > T(-3.141592653589793), r, r + turn);
  }

  RB_HD void add_weighted(const WeightOfStep<T>& weight, const Vector<T, 1 + count>& x, const mask_t<T>& good) const {
    const mask_t<T> first = good & weight.early, second = good & !weight.early;
    add_to(0, weight.whole, x, good);
    if (any(first)) add_to(1, weight.part, x, first);
    if (any(second)) add_to(2, weight.part, x, second);
  }
  RB_HD void add_to(int part, const T& weight, const Vector<T, 1 + count>& x, const mask_t<T>& good) const {
    RB_UNROLL
    for (int j = 0; j <= count; ++j) {
      double* row = chunk_ + (a_.layout.averages + average_sums * j + part) * row_size + lane_;
      const T sum = Lanes<T>::load(row);
      Lanes<T>::store(row, select(good, fma(weight, x[j], sum), sum));
    }
  }

  const KernelArguments& a_;
  double* chunk_;
  int lane_;
  const WeightsOfSteps* weights_;  ///< or null
  T length_, middle_;  ///< steps of the trajectory, or its time with its sign; share at which the second half begins
  Vector<T, count> before_{};  ///< the values before the next step, where they are needed
};

RB_NAMESPACE_END
