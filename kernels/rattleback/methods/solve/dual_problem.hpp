#pragma once
// Newton problems with a residual over any scalar, for systems with any Lagrangian.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/solve/newton.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// L, L_q with the generalized force where the system has one, and L_v.
template <class System, class D, int n = System::n>
RB_HD_LARGE Gradient<D, n, 1> lagrangian_gradient(const System& system, const Vector<D, n>& q, const Vector<D, n>& v) {
  auto l = gradient<1>(
      [&](const auto& x, const auto& y) {
        return Vector<std::remove_cvref_t<decltype(x[0])>, 1>{lagrangian(system, x, y)};
      },
      q, v);
  if constexpr (has_applied_force<System>()) l.dq[0] = l.dq[0] + system.applied_force(q, v);
  return l;
}

/// velocity_scale with an approximate acceleration of the free motion.
template <class System, class T, int n = System::n>
RB_HD T velocity_scale(const System& system, const T& h, const Vector<T, n>& q, const Vector<T, n>& v) {
  const Vector<T, n> by_force = velocity(system, q, lagrangian_gradient(system, q, v).dq[0]);
  return velocity_scale(h, q, v, by_force);
}

/// The Newton problem of the steps for any Lagrangian, with a residual over any scalar. Equations provides size,
/// guess(fraction), residual(x), size_of(x). Dual numbers give the Jacobian, one column at a time.
template <class T, class Equations>
struct DualProblem {
  using Unknowns = Vector<T, Equations::size>;
  using Residual = Unknowns;
  using Team = LaneTeam<team_lanes(Equations::size, coefficients<T>)>;
  using Jacobian = Factors<T, Equations::size, Pivoted<Team>>;

  RB_HD Unknowns guess(const T& fraction) const { return equations.guess(fraction); }
  RB_HD void evaluate(const Unknowns& x, Residual& r) const {
    constexpr int most_inlined = 11;  // more are in memory anyway
    if constexpr (Equations::size > most_inlined) {
      evaluate_apart(x, r);
    } else {
      r = equations.residual(x);
    }
  }
  RB_HD mask_t<T> linearise(const Unknowns& x, const Residual&, Jacobian& d) const {
    Team::for_each(0, Equations::size, [&](int direction) {
      Vector<Dual<T, 1>, Equations::size> y;
      for (int i = 0; i < Equations::size; ++i) {
        y[i].value = x[i];
        y[i].partial[0] = T(i == direction ? 1.0 : 0.0);
      }
      y = equations.residual(y);
      for (int i = 0; i < Equations::size; ++i) d.matrix()[i][direction] = y[i].partial[0];
    });
    d.factorise();
    return d.singular();
  }
  RB_HD Unknowns direction(const Residual& r, const Jacobian& d) const { return d.solve(-r); }
  RB_HD T size_of(const Residual&, const Unknowns& update) const { return equations.size_of(update); }
  RB_HD T merit(const Residual& r) const { return dot(r, r); }

  const Equations& equations;

 private:
  RB_HD_APART void evaluate_apart(const Unknowns& x, Residual& r) const { r = equations.residual(x); }
};

/// A base of Equations whose first n unknowns are a velocity, predicted by that of the state, followed by m multipliers.
template <class T, int n, int m>
struct VelocityEquations {
  static constexpr int size = n + m;

  RB_HD VelocityEquations(const Vector<T, n>& velocity_of_state, const T& size_of_velocities)
      : before(velocity_of_state), speed(size_of_velocities) {}

  RB_HD Vector<T, size> guess(const T& fraction) const { return join(fraction * before, Vector<T, m>::zero()); }
  RB_HD T scale() const { return speed; }
  RB_HD T size_of(const Vector<T, size>& update) const { return magnitude(segment<0, n>(update)); }

  Vector<T, n> before;
  T speed;
};

/// What equations take from the options of the method, or nothing.
struct NoNumbers {};
template <class Equations>
using NumbersMember = typename Equations::Numbers;

/// A step whose equations Newton's method solves. Equations has the type State and comes from (system, state, h), and from its `Numbers`
/// where it has such a type. Besides what DualProblem asks for it has `scale()` and
///
///   Vector<T, m> finish(x, state, singular)             moves the state and returns the impulse of the constraints at its end
///   T work(x, impulse)                                  of a driven system, after `finish`
///   mask_t<T> folded()                                  which failed lanes turn too far (optional)
///
/// or, where it keeps data of the step or gives its report itself,
///
///   T work(x)                                           of a driven system, before `finish`
///   StepReport<T> finish(x, state, lanes, residual, keep)
template <class T, class System, class Equations>
class NewtonStep : public NumbersOf<Equations> {
  using Problem = DualProblem<T, Equations>;
  using Unknowns = typename Problem::Unknowns;
  using GivenNumbers = member_or<NumbersMember, Equations, NoNumbers>;
  static constexpr bool numbered = !std::same_as<GivenNumbers, NoNumbers>;

 public:
  using State = typename Equations::State;
  using Team = typename Problem::Team;
  using Workspace = NewtonWorkspace<Problem>;
  /// Whether the equations give the report of a step themselves, and take what a caller keeps of it in this form.
  template <class Keep>
  static constexpr bool reports =
      requires(const Equations& equations, const Unknowns& x, State& state, const SolveState<T>& lanes,
               const T& residual, const Keep& keep) { equations.finish(x, state, lanes, residual, keep); };
  struct AnyData {};
  /// Whether a caller may keep data of a step. Generalized-alpha reports by itself, but has no data to keep.
  static constexpr bool keeps = reports<AnyData>;

  RB_HD NewtonStep(const System& system, const SolverOptions<T>& options)
    requires(!numbered)
      : system_(system), options_(options) {}
  RB_HD NewtonStep(const System& system, const SolverOptions<T>& options, const GivenNumbers& numbers)
    requires numbered
      : system_(system), options_(options), numbers_(numbers) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return step(state, h, NothingKept{}); }
  template <class Keep>
    requires keeps
  RB_HD StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    return step(state, h, keep);
  }

 private:
  template <class Keep>
  RB_HD_LARGE StepReport<T> step(State& state, T h, const Keep& keep) const {
    const Equations equations = equations_at(state, h);
    Unknowns x;
    typename Team::template Shared<Workspace> workspace;
    SolveState<T> lanes = newton(Problem{equations}, options_, equations.scale(), x, *workspace);
    const T residual = max_norm((*workspace).residual);
    if constexpr (reports<Keep>) {
      if constexpr (timed<System>)
        if (options_.measures_work) add_work(equations.work(x), state);
      return equations.finish(x, state, lanes, residual, keep);
    } else {
      [[maybe_unused]] const auto impulse = equations.finish(x, state, lanes.singular);
      if constexpr (timed<System>)
        if (options_.measures_work) add_work(equations.work(x, impulse), state);
      T status = step_status<T>(lanes.converged(), lanes.singular, is_finite(sum(state.q) + sum(state.p)));
      if constexpr (requires { equations.folded(); })
        status = select((!(status == T(0.0))) & equations.folded(), T(double(status_fold)), status);
      return {status, lanes.iterations, residual};
    }
  }
  RB_HD Equations equations_at(const State& state, const T& h) const {
    if constexpr (numbered) {
      return Equations(system_, state, h, numbers_);
    } else {
      return Equations(system_, state, h);
    }
  }

  System system_;
  SolverOptions<T> options_;
  RB_MAYBE_EMPTY GivenNumbers numbers_;
};

}  // namespace detail

RB_NAMESPACE_END
