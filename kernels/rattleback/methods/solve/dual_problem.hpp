#pragma once
// Newton problems with a residual over any scalar, for systems with any Lagrangian.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/solve/newton.hpp"

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
      : before(velocity_of_state), scale(size_of_velocities) {}

  RB_HD Vector<T, size> guess(const T& fraction) const { return join(fraction * before, Vector<T, m>::zero()); }
  RB_HD T size_of(const Vector<T, size>& update) const { return magnitude(segment<0, n>(update)); }

  Vector<T, n> before;
  T scale;
};

/// A step whose equations Newton's method solves. Equations comes from (system, state, h); besides what DualProblem asks for it has
/// `scale` and finish(x, state, singular), which moves the state and returns the impulse of the constraints at its end. Of a driven system
/// it has work(x, impulse), too. With `folded()` it says which failed lanes turn too far.
template <class T, class System, class Equations>
class NewtonStep {
  using Problem = DualProblem<T, Equations>;

 public:
  using State = StateOf<T, System>;
  using Team = typename Problem::Team;
  using Workspace = NewtonWorkspace<Problem>;

  RB_HD NewtonStep(const System& system, const SolverOptions<T>& options) : system_(system), options_(options) {}

  RB_HD_LARGE StepReport<T> operator()(State& state, T h) const {
    const Equations equations(system_, state, h);
    typename Problem::Unknowns x;
    typename Team::template Shared<Workspace> workspace;
    SolveState<T> lanes = newton(Problem{equations}, options_, equations.scale, x, *workspace);
    [[maybe_unused]] const auto impulse = equations.finish(x, state, lanes.singular);
    if constexpr (timed<System>)
      if (options_.measures_work) add_work(equations.work(x, impulse), state);
    T status = step_status<T>(lanes.converged(), lanes.singular, is_finite(sum(state.q) + sum(state.p)));
    if constexpr (requires { equations.folded(); })
      status = select((!(status == T(0.0))) & equations.folded(), T(double(status_fold)), status);
    return {status, lanes.iterations, max_norm((*workspace).residual)};
  }

 private:
  System system_;
  SolverOptions<T> options_;
};

}  // namespace detail

RB_NAMESPACE_END
