#pragma once
// The step of the line-integral methods HBVM(k, s): functional iteration, and Newton's method where it does not contract.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/methods/hbvm/equations.hpp"
#include "rattleback/methods/solve/newton.hpp"

RB_NAMESPACE_BEGIN

/// One step. Given gamma, Lambda solves m linear equations, so the unknowns are the s n coefficients. They are found by functional
/// iteration; lanes for which it does not contract go on with Newton's method, or without `robust` are handed over. A lane that
/// has converged keeps its gamma, so further sweeps of the pack recompute the same numbers for it.
template <class T, class System, int S, bool robust = true>
  requires(S >= 1 && S <= legendre_terms_max && HolonomicOnRn<System> && SeparableForm<System>)
class Hbvm : HbvmEquations<T, System, S> {
  static constexpr int n = System::n, m = System::m;
  static constexpr int size = S * n + m;
  using Base = HbvmEquations<T, System, S>;
  using Forms = typename Base::Forms;
  using Coefficients = typename Base::Coefficients;
  using Base::applied, Base::moves, Base::system_, Base::mass_;

 public:
  using Numbers = HbvmNumbers;
  using State = typename Base::State;
  using FastStep = Hbvm<T, System, S, false>;
  static constexpr bool defers_failures = !robust;

  RB_HD Hbvm(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : Base(system, numbers), options_(options) {}

  RB_HD_LARGE StepReport<T> operator()(State& state, T h) const { return (*this)(state, PlainSum{}, h); }

  /// The same with a summation of the state of one's own.
  template <class Sum>
  RB_HD_LARGE StepReport<T> operator()(State& state, Sum&& sum, T h) const {
    Vector<T, n> dq, dp;
    [[maybe_unused]] T work(0.0);
    StepReport<T> report = solve(state, h, dq, dp, work);
    const mask_t<T> solved = report.status == T(0.0);
    sum.add(dq, dp, solved, state);
    if constexpr (timed<System>)
      if (options_.measures_work) sum.add_work(work, solved, state);
    check(state, report);
    return report;
  }

 private:
  using Base::at_node, Base::direct, Base::direct_equations, Base::guess, Base::integrate,
      Base::line_integral_equations, Base::middle, Base::newton_only, Base::nodes, Base::position, Base::quadrature,
      Base::rate_of_constraint, Base::row, Base::value_at_node, Base::velocities, Base::velocity_at_node, Base::work;

  /// What one sweep makes of gamma.
  struct Sweep {
    Coefficients impulse;     // h (f_j + rho_j^T Lambda)
    Vector<T, m> multiplier;  // h Lambda
    mask_t<T> singular;
    RB_MAYBE_EMPTY typename Base::Times times;
  };

  /// The increments of q and p, the work of a driven system where it is measured, and the new multiplier.
  RB_HD StepReport<T> solve(State& state, T h, Vector<T, n>& dq, Vector<T, n>& dp, [[maybe_unused]] T& work) const {
    const Vector<T, n> v = mass_.inverse_times(state.p);
    Coefficients gamma;
    guess(v, gamma);
    const T inverse_h = T(1.0) / h;
    const T rounding = rounding_velocity(inverse_h, state.q);

    Sweep sweep;
    sweep.times = this->times_of_nodes(h);
    FixedPoint<T> lanes(options_);  // the refused ones are left to Newton's method
    lanes.refuse(mask_t<T>(newton_only()));
    T update(0.0), scale;
    Coefficients next;
    for (int iteration = 1;; ++iteration) {
      evaluate(state, h, inverse_h, v, gamma, sweep);
      velocities(v, sweep.impulse, next);
      T change(0.0);
      RB_UNROLL
      for (int j = 0; j < S; ++j) change = larger(change, magnitude(next[j] - gamma[j]));
      update = select(lanes.active, change, update);
      if (iteration == 1) {
        scale = magnitude(v) + change + rounding;
        lanes.rescale(options_, scale);
      }
      lanes.settle(change, iteration >= options_.max_iterations);
      if (lanes.ended()) break;
      RB_UNROLL
      for (int j = 0; j < S; ++j) gamma[j] = select(lanes.active, next[j], gamma[j]);
    }
    // not gamma: what the iteration has still to do is an error of one sign, which next shares only in the forces, times h
    dq = next[0];
    dp = sweep.impulse[0];
    if constexpr (m > 0) lanes.singular = sweep.singular & !lanes.refused;
    if constexpr (robust) {
      if (any(lanes.refused)) {
        const Hbvm step(*this);
        const State at(state);
        NewtonWorkspace<Problem> workspace;
        const SolveState<T> newton = step.refine(at, h, Vector<T, n>(v), scale, mask_t<T>(lanes.refused), workspace);
        const Evaluation& end = workspace.residual;
        RB_UNROLL
        for (int j = 0; timed<System> && j < S; ++j) next[j] = select(lanes.refused, end.gamma[j], next[j]);
        dq = select(lanes.refused, end.gamma[0], dq);
        dp = select(lanes.refused, end.impulse, dp);
        if constexpr (m > 0) sweep.multiplier = select(lanes.refused, end.multiplier, sweep.multiplier);
        update = select(lanes.refused, end.norm, update);
        lanes.iterations = lanes.iterations + newton.iterations;
        lanes.singular = lanes.singular | newton.singular;
        lanes.refused = newton.active;
      }
    }
    dq = h * dq;
    if constexpr (timed<System>)
      if (options_.measures_work) work = this->work(state, h, next, sweep.multiplier);
    if constexpr (m > 0) state.lambda = inverse_h * sweep.multiplier;
    return {step_status<T>(lanes.converged(), lanes.singular, mask_t<T>(true)), lanes.iterations, update};
  }

  /// One sweep: forces and constraint gradients at the nodes, the multiplier, the impulses.
  RB_HD void evaluate(const State& state, T h, T inverse_h, const Vector<T, n>& v, const Coefficients& gamma,
                      Sweep& sweep) const {
    Forms rho[S];
    const auto rate = quadrature(sweep.times, state, h, gamma, sweep.impulse, rho);
    if constexpr (m > 0) {
      Matrix<T, m, m> matrix;
      if (direct()) {
        direct_equations(state, h, inverse_h, v, gamma, sweep.impulse, rho, matrix, sweep.multiplier);
      } else {
        line_integral_equations(v, sweep.impulse, rho, rate, matrix, sweep.multiplier);
      }
      sweep.singular = solve_once<PivotedUnrolled>(matrix, sweep.multiplier);
      RB_UNROLL
      for (int j = 0; j < S; ++j) sweep.impulse[j] = sweep.impulse[j] + rho[j].transpose_times(sweep.multiplier);
    }
  }

  /// The equations of the unknowns (gamma, h Lambda) where these are.
  struct Evaluation {
    Coefficients gamma;
    Vector<T, m> multiplier;  // h Lambda
    Forms rho[S];
    Vector<T, n> impulse;  // h (f_0 + rho_0^T Lambda)
    Vector<T, size> lack;  // minus the residuals of (50) and of the multiplier's equation
    T norm;                // of those of (50)
  };
  /// The problem of Newton's method.
  struct Problem {
    using Unknowns = Vector<T, size>;
    using Residual = Evaluation;
    using Jacobian = Factors<T, size>;
    using Team = LaneTeam<1>;

    RB_HD Unknowns guess(const T& fraction) const {
      auto x = Unknowns::zero();
      for (int i = 0; i < n; ++i) x[i] = fraction * v[i];
      for (int c = 0; c < m; ++c) x[S * n + c] = h * state.lambda[c];
      return x;
    }
    RB_HD_LARGE void evaluate(const Unknowns& x, Evaluation& r) const {
      if constexpr (n <= 2 && size <= 4) {
        step.evaluate(state, h, v, x, r);
      } else {  // a GPU spills more where this is inlined
        evaluate_out_of_line(x, r);
      }
    }
    RB_NOINLINE void evaluate_out_of_line(const Unknowns& x, Evaluation& r) const { step.evaluate(state, h, v, x, r); }
    RB_HD mask_t<T> linearise(const Unknowns&, const Evaluation& r, Jacobian& d) const {
      step.linearise(state, h, r, d.matrix());
      return d.factorise();
    }
    RB_HD Unknowns direction(const Evaluation& r, const Jacobian& d) const { return d.solve(r.lack); }
    RB_HD T size_of(const Evaluation& r, const Unknowns& update) const {
      T size_of_update(0.0);
      for (int j = 0; j < S; ++j) size_of_update = larger(size_of_update, magnitude(step.coefficient_of(update, j)));
      if constexpr (m > 0)
        size_of_update = larger(
            size_of_update, magnitude(step.mass_.inverse_times(r.rho[0].transpose_times(segment<S * n, m>(update)))));
      return size_of_update;
    }
    RB_HD T merit(const Evaluation& r) const { return dot(r.lack, r.lack); }

    const Hbvm& step;
    const State& state;
    const T& h;
    const Vector<T, n>& v;
  };
  /// The part of the unknowns, or of their update, that belongs to gamma_j.
  RB_HD static Vector<T, n> coefficient_of(const Vector<T, size>& x, int j) {
    Vector<T, n> gamma;
    for (int i = 0; i < n; ++i) gamma[i] = x[j * n + i];
    return gamma;
  }

  /// Newton's method for the wanted lanes. Out of line, and with copies for arguments: its arrays live in memory, and what the sweeps
  /// use is to stay in registers.
  RB_NOINLINE SolveState<T> refine(const State& state, T h, const Vector<T, n>& v, T scale, const mask_t<T>& wanted,
                                   NewtonWorkspace<Problem>& workspace) const {
    Vector<T, size> x;
    return newton(Problem{*this, state, h, v}, options_, scale, x, workspace, wanted);
  }

  RB_HD_LARGE void evaluate(const State& state, T h, const Vector<T, n>& v, const Vector<T, size>& x,
                            Evaluation& r) const {
    Coefficients impulse, next;
    for (int j = 0; j < S; ++j) r.gamma[j] = coefficient_of(x, j);
    const auto rate = quadrature(state, h, r.gamma, impulse, r.rho);
    if constexpr (m > 0) {
      r.multiplier = segment<S * n, m>(x);
      for (int j = 0; j < S; ++j) impulse[j] = impulse[j] + r.rho[j].transpose_times(r.multiplier);
    }
    r.impulse = impulse[0];
    velocities(v, impulse, next);
    r.norm = T(0.0);
    for (int j = 0; j < S; ++j) {
      next[j] = next[j] - r.gamma[j];
      r.norm = larger(r.norm, magnitude(next[j]));
      for (int i = 0; i < n; ++i) r.lack[j * n + i] = next[j][i];
    }
    if constexpr (m > 0) {
      auto mean = Vector<T, m>::zero();
      if (direct()) {
        mean = (T(1.0) / h) * after(system_, h).position_constraint(fma(h, r.gamma[0], state.q));
      } else {
        if constexpr (moves) mean = rate;
        for (int j = 0; j < S; ++j) mean = mean + r.rho[j] * r.gamma[j];
      }
      for (int c = 0; c < m; ++c) r.lack[S * n + c] = -mean[c];
    }
  }

  /// Derivatives of those residuals, with the other sign, in (gamma, h Lambda).
  RB_HD_LARGE void linearise(const State& state, T h, const Evaluation& unknowns, Matrix<T, size, size>& jac) const {
    using D = Dual<T, 1>;
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) jac[i][j] = T(i == j && i < S * n ? 1.0 : 0.0);
    const Vector<T, n> from = middle(state, h, unknowns.gamma);
    const int k = nodes();
    for (int r = 0; r < k; ++r) {
      const double* weight = row(r) + S;
      const auto& at = at_node(h, r);
      double integral[S];
      for (int l = 0; l < S; ++l) integral[l] = row(r)[l] + (l == 0 ? 0.5 : 0.0);
      const Vector<T, n> y = position(from, h, unknowns.gamma, r);
      Vector<T, n> velocity = T(weight[0]) * unknowns.gamma[0];  // b_r u'(c_r h)
      for (int j = 1; j < S; ++j) velocity = fma(T(weight[j]), unknowns.gamma[j], velocity);
      for (int direction = 0; direction < n; ++direction) {
        Vector<D, n> x;
        for (int i = 0; i < n; ++i) {
          x[i].value = y[i];
          x[i].partial[0] = T(direction == i ? 1.0 : 0.0);
        }
        // column `direction` of h d(F + Dg^T Lambda)/dq, and of the rows D(Dg b_r u')/dq
        Vector<T, n> slope;
        Vector<D, n> f = force(at, x);
        if constexpr (applied) f = f + at.applied_force(x, lift<D>(velocity_at_node(unknowns.gamma, r)));
        for (int i = 0; i < n; ++i) slope[i] = h * f[i].partial[0];
        if constexpr (m > 0) {
          const auto dg = position_jacobian(at, x);
          Vector<D, m> rate;
          if constexpr (moves) rate = rate_of_constraint(at, x);
          for (int c = 0; c < m; ++c) {
            T bend(0.0);
            for (int i = 0; i < n; ++i) {
              slope[i] = fma(unknowns.multiplier[c], dg[c][i].partial[0], slope[i]);
              bend = fma(dg[c][i].partial[0], velocity[i], bend);
            }
            if constexpr (moves) bend = fma(T(weight[0]), rate[c].partial[0], bend);
            if (direct()) continue;
            for (int l = 0; l < S; ++l)
              jac[S * n + c][l * n + direction] = fma(h * T(integral[l]), bend, jac[S * n + c][l * n + direction]);
          }
        }
        add_force(h, r, integral, slope, direction, jac);
        if constexpr (applied) {  // and by V_i
          Vector<D, n> u = lift<D>(velocity_at_node(unknowns.gamma, r));
          u[direction].partial[0] = T(1.0);
          double values[S];
          for (int l = 0; l < S; ++l) values[l] = value_at_node(r, l);
          add_force(T(1.0), r, values, h * detail::derivative(at.applied_force(lift<D>(y), u)), direction, jac);
        }
      }
    }
    if constexpr (m > 0) {
      for (int c = 0; c < m; ++c) {
        Coefficients gradient;
        for (int j = 0; j < S; ++j) gradient[j] = unknowns.rho[j].mu[c];
        for (int i = 0; i < S; ++i) {
          const Vector<T, n> response = mass_.inverse_times(integrate(gradient, i));
          for (int a = 0; a < n; ++a) {
            jac[i * n + a][S * n + c] = -response[a];
            if (!direct()) jac[S * n + c][i * n + a] = jac[S * n + c][i * n + a] + gradient[i][a];
          }
        }
      }
      if (direct()) {
        const auto g = position_constraint(after(system_, h), fma(h, unknowns.gamma[0], state.q));
        for (int c = 0; c < m; ++c)
          for (int a = 0; a < n; ++a) jac[S * n + c][a] = g.jacobian[c][a];
      }
    }
  }

  /// Derivatives of (50) through the force of node r, whose derivative, times h, is `slope` by component `direction` of
  /// scale sum_l shares_l gamma_l.
  RB_HD void add_force(const T& scale, int r, const double (&shares)[S], const Vector<T, n>& slope, int direction,
                       Matrix<T, size, size>& jac) const {
    const Vector<T, n> response = mass_.inverse_times(slope);
    const double* weight = row(r) + S;
    for (int i = 0; i < S; ++i) {
      // row i of X W at this node
      double factor = legendre_xi(i) * weight[i == 0 ? 0 : i - 1];
      if (i + 1 < S) factor -= legendre_xi(i + 1) * weight[i + 1];
      for (int l = 0; l < S; ++l)
        for (int a = 0; a < n; ++a)
          jac[i * n + a][l * n + direction] =
              fma(-(scale * T(factor * shares[l])), response[a], jac[i * n + a][l * n + direction]);
    }
  }

  /// Marks states that are not finite.
  RB_HD static void check(const State& state, StepReport<T>& report) {
    T total = sum(state.q) + sum(state.p);
    if constexpr (m > 0) total = total + sum(state.lambda);
    const T status = select(is_finite(total), T(0.0), T(double(status_not_finite)));
    report.status = select(report.status == T(0.0), status, report.status);
  }

  SolverOptions<T> options_;
};

RB_NAMESPACE_END
