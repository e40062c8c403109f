#pragma once
// What a step takes and returns.

#include <concepts>

#include "rattleback/linalg/vector.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/real/dual.hpp"

RB_NAMESPACE_BEGIN

/// State of a method: configuration (N numbers; n on R^n), momentum and, where the method carries them, multipliers.
template <class T, int n, int m, int N = n>
struct PhaseState {
  static constexpr int elements = N, dimension = n, multipliers = m;
  Vector<T, N> q;
  Vector<T, n> p;
  Vector<T, m> lambda;
};

/// The state of a system.
template <class T, class System>
using StateOf = PhaseState<T, System::n, System::m, element_size<System>>;

template <class T, int n, int m, int N>
RB_HD PhaseState<T, n, m, N> select(const mask_t<T>& mask, const PhaseState<T, n, m, N>& a,
                                    const PhaseState<T, n, m, N>& b) {
  return {select(mask, a.q, b.q), select(mask, a.p, b.p), select(mask, a.lambda, b.lambda)};
}

/// How a step that offers the choice adds its increments to the state: sum.add(dq, dp, solved, state), where lanes that are not
/// `solved` count for nothing. A step may as well carry numbers of its own from one step to the next, which start from 0: with
/// sum.carried<T, size>() and sum.carry(x, solved).
struct PlainSum {
  template <class T, int size>
  RB_HD Vector<T, size> carried() const {
    return Vector<T, size>::zero();
  }
  template <class T, int size>
  RB_HD void carry(const Vector<T, size>&, mask_t<T>) const {}
  template <class T, class State, int N, int n>
  RB_HD void add(const Vector<T, N>& dq, const Vector<T, n>& dp, mask_t<T>, State& state) const {
    state.q = state.q + dq;
    state.p = state.p + dp;
  }
};

/// Where nobody asks what a step had besides the state it left (loop/last_step.hpp).
struct NothingKept {
  RB_HD constexpr bool wanted() const { return false; }
  template <class... Numbers>
  RB_HD void put(const Numbers&...) const {}
};

/// Compensated summation: the trajectory is at q + rounding.q, p + rounding.p.
template <class T, int n>
struct StateRounding {
  Vector<T, n> q, p;

  template <class State>
  RB_HD void add(const Vector<T, n>& dq, const Vector<T, n>& dp, mask_t<T> solved, State& state) {
    add(dq, solved, state.q, q);
    add(dp, solved, state.p, p);
  }

  /// x + rounding grows by dx; the rounding error of the sum is exact.
  RB_HD static void add(const Vector<T, n>& dx, mask_t<T> solved, Vector<T, n>& x, Vector<T, n>& rounding) {
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      const T y = dx[i] + rounding[i], sum = x[i] + y, part = sum - x[i];
      rounding[i] = select(solved, (x[i] - (sum - part)) + (y - part), rounding[i]);
      x[i] = sum;
    }
  }
};

/// Outcome of a step, per lane: status bits, iterations, and the largest residual left by the solve.
template <class T>
struct StepReport {
  T status, iterations, residual;
};

/// When an iteration ends: the last update relative to the size of what it updates. Where Newton's method begins: `guess`
/// times the predicted velocity.
template <class T>
struct SolverOptions {
  T tolerance;
  int max_iterations;
  T guess = T(1.0);
};

/// A step from its system, its solver and, where its constructor takes them, the numbers of its method's options.
template <class Step, class System, class T>
RB_HD Step make_step(const System& system, const SolverOptions<T>& options, const double* numbers) {
  if constexpr (std::constructible_from<Step, const System&, const SolverOptions<T>&, const double*>) {
    return Step(system, options, numbers);
  } else {
    return Step(system, options);
  }
}

/// Convergence of one lane's iteration from the sizes of its updates (`magnitude`).
template <class T>
class Convergence {
 public:
  RB_HD Convergence(const SolverOptions<T>& options, T scale)
      : small_(options.tolerance * scale),
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
  /// successor is below `margin` times what is small. The rate means something only where the iteration is already near; a
  /// margin of 1 is for iterations that contract linearly.
  RB_HD mask_t<T> with_rate(T update, double margin = 1e-2) {
    const mask_t<T> next_is_small =
        (update * update <= T(margin) * small_ * previous_) & (update + update < previous_) & (previous_ <= near_);
    return next_is_small | (*this)(update);
  }

 private:
  T small_, floor_, near_, previous_;
};

/// With dual numbers: the value and the derivative each by its own size; a lane is done once both have been. Where the value
/// contracts, so does its derivative, a few iterations behind.
template <class T>
class Convergence<Dual<T, 1>> {
 public:
  RB_HD Convergence(const SolverOptions<Dual<T, 1>>& options, const Dual<T, 1>& scale)
      : value_({options.tolerance.value, options.max_iterations}, scale.value),
        partial_({options.tolerance.value, options.max_iterations}, scale.partial[0]),
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

/// Status of a step from its failures; the first that applies.
template <class T>
RB_HD T step_status(mask_t<T> converged, mask_t<T> singular, mask_t<T> finite) {
  T status = select(converged, T(0.0), T(double(status_not_converged)));
  status = select(finite, status, T(double(status_not_finite)));
  return select(singular, T(double(status_singular)), status);
}

RB_NAMESPACE_END
