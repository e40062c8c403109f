#pragma once
// What a step takes and returns.

#include <concepts>

#include "rattleback/catalogue/option.hpp"
#include "rattleback/linalg/team.hpp"
#include "rattleback/linalg/vector.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// A method with fixed options is a type with a member template `of<T, System>`, the step. The constraints of a step
/// exclude the systems that the step does not take.
template <class Method, class System>
concept Takes = requires { typename Method::template of<typename System::scalar, System>; };

/// State of a method: configuration (N numbers; n on R^n), momentum and, where the method carries them, multipliers. A method
/// may carry numbers of its own besides, all of which start at 0 (MethodEntry::carried).
template <class T, int n, int m, int N = n, int own = 0>
struct PhaseState {
  static constexpr int elements = N, dimension = n, multipliers = m, carries = own;
  Vector<T, N> q;
  Vector<T, n> p;
  Vector<T, m> lambda;
  Vector<T, own> carried{};
};

/// The state of a system, with `own` numbers of the method. Where the system is driven, the work since the start of the motion comes
/// after these (mechanics/power.hpp).
template <class T, class System, int own = 0>
using StateOf = PhaseState<T, System::n, System::m, element_size<System>, own + (timed<System> ? 1 : 0)>;

/// The numbers of a state: q, p, lambda, and those that the method carries besides; and the state of these numbers.
template <class T, int n, int m, int N, int own>
RB_HD Vector<T, N + n + m + own> numbers_of(const PhaseState<T, n, m, N, own>& x) {
  return join(join(x.q, x.p), join(x.lambda, x.carried));
}
template <class State, class T, int size>
RB_HD State state_of(const Vector<T, size>& x) {
  constexpr int N = State::elements, n = State::dimension, m = State::multipliers;
  return {segment<0, N>(x), segment<N, n>(x), segment<N + n, m>(x), segment<N + n + m, State::carries>(x)};
}

/// Adds what a step of a driven system does to the work in its state. A step does so where SolverOptions::measures_work says so.
template <class T, class State>
RB_HD void add_work(const T& work, State& state) {
  T& sum = state.carried[State::carries - 1];
  sum = sum + work;
}

template <class T, int n, int m, int N, int own>
RB_HD PhaseState<T, n, m, N, own> select(const mask_t<T>& mask, const PhaseState<T, n, m, N, own>& a,
                                         const PhaseState<T, n, m, N, own>& b) {
  return {select(mask, a.q, b.q), select(mask, a.p, b.p), select(mask, a.lambda, b.lambda),
          select(mask, a.carried, b.carried)};
}

/// Whether q, p and the multipliers of a state are finite.
template <class T, int n, int m, int N, int own>
RB_HD mask_t<T> is_finite(const PhaseState<T, n, m, N, own>& x) {
  T check = sum(x.q) + sum(x.p);
  if constexpr (m > 0) check = check + sum(x.lambda);
  return is_finite(check);
}

/// How a step that offers the choice adds its increments to the state: sum.add(dq, dp, solved, state), where lanes that are not
/// `solved` count for nothing, and sum.add_work(work, solved, state).
struct PlainSum {
  template <class T, class State, int N, int n>
  RB_HD void add(const Vector<T, N>& dq, const Vector<T, n>& dp, mask_t<T>, State& state) const {
    state.q = state.q + dq;
    state.p = state.p + dp;
  }
  template <class T, class State>
  RB_HD void add_work(const T& work, mask_t<T>, State& state) const {
    rattleback::add_work(work, state);
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
  template <int N>
  RB_HD static void add(const Vector<T, N>& dx, mask_t<T> solved, Vector<T, N>& x, Vector<T, N>& rounding) {
    RB_UNROLL
    for (int i = 0; i < N; ++i) {
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

  /// Takes in the next part of a step of several parts: the status is that of the first part that failed, and parts after that
  /// do not count.
  RB_HD void add_substep(const StepReport& part) {
    const mask_t<T> good = status == T(0.0);
    status = select(good, part.status, status);
    iterations = iterations + select(good, part.iterations, T(0.0));
    residual = select(good, max(residual, part.residual), residual);
  }
};

namespace detail {
template <class Step>
using FastStepMember = typename Step::FastStep;
}  // namespace detail
/// The form of a step that defers its failures (Step::FastStep), or the step itself where there is none.
template <class Step>
using fast_step_of = detail::member_or<detail::FastStepMember, Step, Step>;

/// When an iteration ends: the last update relative to the size of what it updates. Where Newton's method begins: `guess`
/// times the predicted velocity. Whether a step measures the work of what drives the system.
template <class T>
struct SolverOptions {
  T tolerance;
  int max_iterations;
  T guess = T(1.0);
  bool measures_work = false;
};

namespace detail {
/// The numbers of a step that wraps `Core`: those of `Core`, or none.
template <class Core>
struct NumbersOf {};
template <class Core>
  requires requires { typename Core::Numbers; }
struct NumbersOf<Core> {
  using Numbers = typename Core::Numbers;
};
}  // namespace detail

/// What a step around `Step`, as a composition of it, has of it.
template <class Step>
struct AroundStep {
  using State = typename Step::State;
  using Team = team_of<Step>;
  using Workspace = workspace_of<Step>;
  static constexpr bool defers_failures = requires { requires Step::defers_failures; };
  static constexpr bool two_packs = requires { requires Step::two_packs; };
};

/// A step from its system, its solver and the numbers that follow from its method's options. A step that takes such numbers has a type
/// `Numbers` for them, a struct of doubles (catalogue/settings.hpp), which its constructor takes by reference: they stay where they are
/// for as long as the step is in use.
template <class Step, class System, class T>
RB_HD Step make_step(const System& system, const SolverOptions<T>& options, const double* numbers) {
  if constexpr (requires { typename Step::Numbers; }) {
    using Numbers = typename Step::Numbers;
    static_assert(is_method_numbers<Numbers>,
                  "the numbers of a step are a struct of at most max_method_numbers doubles");
    return Step(system, options, *reinterpret_cast<const Numbers*>(numbers));
  } else {
    static_assert(!std::constructible_from<Step, const System&, const SolverOptions<T>&, const double*>,
                  "a step whose constructor takes numbers has a type `Numbers` for them");
    return Step(system, options);
  }
}

/// Whether packs have 32 registers, as with AVX-512: two packs side by side then pay for more steps
/// (bench/results/steps/two-packs.md).
#if defined(RATTLEBACK_PACK) && RATTLEBACK_PACK == 8
inline constexpr bool many_registers = true;
#else
inline constexpr bool many_registers = false;
#endif

/// Status of a step from its failures; the last argument that tells of one counts.
template <class T>
RB_HD T step_status(mask_t<T> converged, mask_t<T> finite) {
  return select(finite, select(converged, T(0.0), T(double(status_not_converged))), T(double(status_not_finite)));
}
/// The same; a singular matrix counts first.
template <class T>
RB_HD T step_status(mask_t<T> converged, mask_t<T> singular, mask_t<T> finite) {
  return select(singular, T(double(status_singular)), step_status<T>(converged, finite));
}

RB_NAMESPACE_END
