#pragma once
// The lanes of an iteration that solves the equations of a step: a lane that has converged is not changed any more. The
// loop itself stays with the method: a loop that takes the evaluation and the update as closures costs a GPU stack and
// spills. An iteration ends by the sizes of its updates against the size of what they change.

#include "rattleback/methods/step.hpp"
#include "rattleback/real/dual.hpp"

RB_NAMESPACE_BEGIN

/// Convergence of one lane's iteration from the sizes of its updates (`magnitude`).
template <class T>
class Convergence {
 public:
  /// Where a motion comes to rest, its numbers lose their digits below 1e-307, so that nothing is smaller than small.
  RB_HD Convergence(const SolverOptions<T>& options, T scale)
      : small_(max(options.tolerance * scale, T(1e-300))),
        floor_(T(1e-11) * scale),
        near_(T(1e-2) * scale),
        previous_(__builtin_huge_val()) {}

  /// Takes the size of an update. True for lanes that are done: the update is small, or it has stopped shrinking at the
  /// level of round-off.
  RB_HD mask_t<T> operator()(T update) {
    const auto done = (update <= small_) | ((update >= previous_) & (update <= floor_));
    previous_ = update;
    return done;
  }
  /// The same for an update whose successor is known to be smaller by the observed rate of contraction: done when that
  /// successor is below `margin` times what is small. The rate means something only where the iteration is already
  /// near; a margin of 1 is for iterations that contract linearly.
  RB_HD mask_t<T> with_rate(T update, double margin = 1e-2) {
    const mask_t<T> next_is_small =
        (update * update <= T(margin) * small_ * previous_) & (update + update < previous_) & (previous_ <= near_);
    return next_is_small | (*this)(update);
  }

 private:
  T small_, floor_, near_, previous_;
};

/// With dual numbers: the value and the derivative each by its own size; a lane is done once both have been. Where the
/// value contracts, so does its derivative, a few iterations behind. A derivative may be nothing but the difference of large terms, as
/// that of a pendulum's position by its mass. So the derivative of the tolerance says how large derivatives are, relative to their values.
template <class T>
class Convergence<Dual<T, 1>> {
 public:
  RB_HD Convergence(const SolverOptions<Dual<T, 1>>& options, const Dual<T, 1>& scale)
      : value_({options.tolerance.value, options.max_iterations}, scale.value),
        partial_({options.tolerance.value, options.max_iterations},
                 max(scale.partial[0], options.tolerance.partial[0] * scale.value)),
        value_done_(false),
        partial_done_(false) {}

  RB_HD mask_t<T> operator()(const Dual<T, 1>& update) {
    return done(value_(update.value), partial_(update.partial[0]));
  }
  RB_HD mask_t<T> with_rate(const Dual<T, 1>& update, double margin = 1e-2) {
    return done(value_.with_rate(update.value, margin), partial_.with_rate(update.partial[0], margin));
  }

 private:
  RB_HD mask_t<T> done(const mask_t<T>& value, const mask_t<T>& partial) {
    value_done_ = value_done_ | value;
    partial_done_ = partial_done_ | partial;
    return value_done_ & partial_done_;
  }

  Convergence<T> value_, partial_;
  mask_t<T> value_done_, partial_done_;
};

/// The share of the rounding of positions in a scale of velocities: rounding shows there divided by h and times the
/// condition of the system, below 100. Constrained motions have it, and driven ones, because friction brings them to rest where forces
/// balance but for rounding.
template <class T, int N>
RB_HD T rounding_velocity(const T& inverse_h, const Vector<T, N>& q) {
  return T(0.01) * abs(inverse_h) * magnitude(q);
}
/// The same for the equations of S stages: from 6 stages on the condition of the multipliers grows with every stage.
template <int S, class T, int N>
RB_HD T rounding_velocity_of_stages(const T& inverse_h, const Vector<T, N>& q) {
  const T rounding = rounding_velocity(inverse_h, q);
  if constexpr (S <= 5) {
    return rounding;
  } else {
    return T(S == 6 ? 10.0 : S == 7 ? 100.0 : 1000.0) * rounding;
  }
}

namespace detail {

/// The velocity that Newton's sizes are compared with. The last term is rounding_velocity in another order of
/// operations, which gives other bits.
template <class T, int n>
RB_HD T velocity_scale(const T& h, const Vector<T, n>& q, const Vector<T, n>& v, const Vector<T, n>& acceleration) {
  return magnitude(v) + abs(h) * magnitude(acceleration) + T(0.01) / abs(h) * magnitude(q);
}

}  // namespace detail

/// How far the lanes of an iteration are.
template <class T>
struct SolveState {
  mask_t<T> active;    ///< lanes whose unknowns are still updated
  mask_t<T> singular;  ///< lanes that met a singular matrix
  T iterations;        ///< how many updates each lane took

  RB_HD SolveState() : active(true), singular(false), iterations(0.0) {}

  RB_HD mask_t<T> converged() const { return !active; }
  RB_HD bool ended() const { return !any(active); }

  /// Takes note of the active lanes among those whose matrix is singular.
  RB_HD void note_singular(const mask_t<T>& lanes) { singular = singular | (active & lanes); }
  /// Counts an update of these lanes.
  RB_HD void count(const mask_t<T>& lanes) { iterations = iterations + select(lanes, T(1.0), T(0.0)); }
  /// Ends the iteration of these lanes.
  RB_HD void stop(const mask_t<T>& lanes) { active = active & !lanes; }
};

/// Newton's method and its simplifications, each with a test of convergence.
template <class T>
struct Iteration : SolveState<T> {
  Convergence<T> convergence;

  RB_HD Iteration(const SolverOptions<T>& options, const T& scale) : convergence(options, scale) {}

  /// Takes the size of the update that the active lanes got.
  RB_HD void settle(const T& change) {
    this->count(this->active);
    this->stop(convergence.with_rate(change));
  }
};

/// An iteration that hands lanes over to a more robust one: the refused lanes.
template <class T>
struct RefusingIteration : Iteration<T> {
  mask_t<T> refused;

  RB_HD RefusingIteration(const SolverOptions<T>& options, const T& scale)
      : Iteration<T>(options, scale), refused(false) {}

  RB_HD mask_t<T> converged() const { return !(this->active | refused); }

  /// Ends the iteration of these lanes without a solution.
  RB_HD void refuse(const mask_t<T>& lanes) {
    const mask_t<T> leaving = this->active & lanes;
    refused = refused | leaving;
    this->stop(leaving);
  }
};

/// Quasi-Newton sweeps, which contract linearly. After a few sweeps, lanes whose update is not smaller than their first
/// one are refused.
template <class T>
struct Sweeps : RefusingIteration<T> {
  static constexpr int least_sweeps = 5;
  T first_change, last_change, small;
  mask_t<T> predicted;  ///< lanes that ended because their next update would have been small

  RB_HD Sweeps(const SolverOptions<T>& options, const T& scale)
      : RefusingIteration<T>(options, scale),
        first_change(0.0),
        last_change(__builtin_huge_val()),
        small(options.tolerance * scale),
        predicted(false) {}

  /// Another scale, to be known before the first settle.
  RB_HD void rescale(const SolverOptions<T>& options, const T& scale) {
    this->convergence = Convergence<T>(options, scale);
    small = options.tolerance * scale;
  }
  /// Whether sweep number `sweep`, counted from 0, comes too late: a fifth of the allowed iterations is left to the method that takes
  /// over.
  RB_HD static bool late(int sweep, const SolverOptions<T>& options) { return 5 * sweep >= 4 * options.max_iterations; }
  /// Whether the size of the residual counts in this sweep: for `check`, or because the loop ends.
  RB_HD bool wants_residual(int sweep, const SolverOptions<T>& options) const {
    return any(predicted) || this->ended() || late(sweep, options);
  }
  /// Takes the size of the update that the active lanes got from sweep number `sweep`.
  RB_HD void settle(int sweep, const T& change, double margin = 1.0) {
    this->count(this->active);
    const mask_t<T> done = this->convergence.with_rate(change, margin);
    predicted = (this->active & done & (change < last_change) & !(change <= small)) | (predicted & !this->active);
    last_change = change;
    this->stop(done);
    if (sweep == 0) first_change = change;
    if (sweep >= least_sweeps) this->refuse(!(change < first_change));
  }
  /// Takes the residual after an update. A lane goes on where the rate of contraction promised too much.
  RB_HD void check(const T& residual, const T& rounding) {
    const mask_t<T> again = predicted & !(residual <= rounding) & !this->refused;
    this->active = this->active | again;
    predicted = predicted & !again;
  }
};

/// Rounding errors of residuals of momenta and velocities: a lane whose sweeps were to end below this level goes on.
template <class T, int n>
RB_HD T rounding_of_residuals(const T& scale, const Vector<T, n>& p) {
  return T(5e-14) * (scale + magnitude(p));
}

/// A fixed-point iteration. Lanes without contraction over two updates, above the level of round-off, are refused.
template <class T>
struct FixedPoint : RefusingIteration<T> {
  T earlier, before_earlier, floor;

  RB_HD explicit FixedPoint(const SolverOptions<T>& options)
      : RefusingIteration<T>(options, T(0.0)),
        earlier(__builtin_huge_val()),
        before_earlier(__builtin_huge_val()),
        floor(0.0) {}

  /// The scale, to be known before the first settle.
  RB_HD void rescale(const SolverOptions<T>& options, const T& scale) {
    this->convergence = Convergence<T>(options, scale);
    floor = T(1e-11) * scale;
  }
  /// Takes the size of the update that the active lanes got. After the last update, lanes that have not converged are
  /// refused.
  RB_HD void settle(const T& change, bool last) {
    this->count(this->active);
    this->stop(this->convergence(change));
    this->refuse(last ? mask_t<T>(true) : (!(change < before_earlier)) & (!(change <= floor)));
    before_earlier = earlier;
    earlier = change;
  }
};

RB_NAMESPACE_END
