#pragma once
// When an iteration ends: the sizes of its updates against the size of what they change.

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

RB_NAMESPACE_END
