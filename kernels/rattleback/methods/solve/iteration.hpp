#pragma once
// The lanes of an iteration that solves the equations of a step: a lane that has converged is not changed any more. The
// loop itself stays with the method: a loop that takes the evaluation and the update as closures costs a GPU stack and
// spills.

#include "rattleback/methods/solve/convergence.hpp"

RB_NAMESPACE_BEGIN

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
