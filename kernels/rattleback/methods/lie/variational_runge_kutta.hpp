#pragma once
// All stages of a variational Runge-Kutta step on a group, and how their equations are solved (vrkmk.hpp).

#include "rattleback/methods/lie/variational_stage.hpp"
#include "rattleback/methods/solve/newton.hpp"

RB_NAMESPACE_BEGIN

/// The step of vrkmk.hpp with its numbers as arguments. Without `newton` it defers what sweeps do not solve.
template <class T, class System, int S, bool newton = true>
class VariationalRungeKutta {
  using G = group_of<System>;
  static constexpr int n = System::n, N = element_size<System>;
  using Stage = VariationalStage<T, System>;
  static constexpr bool by_hamiltonian = Stage::by_hamiltonian;
  /// Unknowns of a stage: k_i, and m_i where it does not follow from k_i.
  static constexpr int per_stage = by_hamiltonian ? 2 * n : n, size = S * per_stage;
  static constexpr int max_sweeps = 20;

 public:
  using State = StateOf<T, System>;

  RB_HD VariationalRungeKutta(const System& system, const SolverOptions<T>& options, StageIteration iteration,
                              const TangentSeries& series)
      : stage_(system, series), options_(options), iteration_(iteration) {}

  /// The same on the system h later.
  RB_HD decltype(auto) after([[maybe_unused]] const T& h) const {
    if constexpr (timed<System>) {
      return VariationalRungeKutta(rattleback::after(stage_.system, h), options_, iteration_, stage_.series);
    } else {
      return (*this);
    }
  }

  /// The whole step is out of line, shared by the loops that call it; the fast step is part of its loop.
  RB_NOINLINE StepReport<T> operator()(State& state, T h, const StageCoefficients<S>& tableau) const
    requires newton
  {
    return step(state, h, tableau);
  }
  RB_HD StepReport<T> operator()(State& state, T h, const StageCoefficients<S>& tableau) const
    requires(!newton)
  {
    return step(state, h, tableau);
  }

  static constexpr bool defers_failures = !newton;

 private:
  RB_HD StepReport<T> step(State& state, T h, const StageCoefficients<S>& tableau) const {
    if constexpr (!newton)
      if (iteration_ != StageIteration::sweeps) return {T(double(status_not_converged)), T(0.0), T(0.0)};
    const Vector<T, n> m = G::Ad_star(state.q, state.p);
    Stages<T> u;
    Evaluation<T> at;
    const T scale = guess(state.q, m, h, tableau, u);
    SolveState<T> lanes;
    if constexpr (Separable<System>) {
      if (iteration_ == StageIteration::sweeps) sweep(state.q, m, h, tableau, scale, lanes, u, at);
    }
    if constexpr (newton) {
      if (any(lanes.active)) solve(state.q, m, h, tableau, scale, lanes, u, at);
    }

    if constexpr (timed<System>)
      if (options_.measures_work) add_work(work(state.q, h, tableau, u), state);
    T norm(0.0);
    RB_UNROLL
    for (int i = 0; i < S; ++i) norm = max(norm, max_norm(at.residual[i]));
    const Vector<T, n> change = at.increment - G::ad_star(at.y, at.lambda);
    state.p = state.p + G::Ad_inverse_star(state.q, change);
    state.q = Chart<G, Exp, T>(at.y).move(state.q);
    return {step_status<T>(lanes.converged(), lanes.singular, is_finite(sum(state.q) + sum(state.p))), lanes.iterations,
            norm};
  }

  /// The unknowns, stage by stage.
  template <class R>
  using Stages = Vector<R, size>;
  /// Numbers first..first + count - 1 of stage i.
  template <int first, int count, class R>
  RB_HD static Vector<R, count> of_stage(const Stages<R>& u, int i) {
    return segment<count>(u, i * per_stage + first);
  }
  RB_HD static void set_stage(const Vector<T, per_stage>& x, int i, Stages<T>& u) {
    RB_UNROLL
    for (int c = 0; c < per_stage; ++c) u[i * per_stage + c] = x[c];
  }
  template <class R>
  struct Evaluation {
    Vector<R, per_stage> residual[S];
    Vector<R, n> y, increment, lambda;  // increment: m' - m
  };

  /// T without derivatives. Iterations over dual numbers take the Jacobian of the values: with it the derivatives
  /// converge one iteration later.
  using Plain = coefficient_t<T>;

  using Entries = Matrix<Plain, size, size>;

  /// The Jacobian, and its factors. Small systems are factorised without exchanges: their diagonal blocks are inertia.
  class Jacobian {
    using Policy = std::conditional_t<(size <= 9), Eliminated<>, Pivoted<>>;

   public:
    RB_HD Entries& entries() { return factors_.matrix(); }
    RB_HD mask_t<T> factorise() { return factors_.factorise(); }
    /// Each part of a dual number by itself.
    RB_HD Vector<T, size> solve(Vector<T, size> b) const {
      RB_ROLLED
      for (int p = 0; p < coefficients<T>; ++p) {
        Vector<Plain, size> x;
        RB_UNROLL
        for (int i = 0; i < size; ++i) x[i] = coefficient(b[i], p);
        x = factors_.solve(x);
        RB_UNROLL
        for (int i = 0; i < size; ++i) coefficient(b[i], p) = x[i];
      }
      return b;
    }

   private:
    Factors<Plain, size, Policy> factors_;
  };

  /// The problem of Newton's method: the stages from their prediction on, in the lanes that want it.
  struct Problem {
    using Unknowns = Stages<T>;
    using Residual = Evaluation<T>;
    using Jacobian = VariationalRungeKutta::Jacobian;
    using Team = LaneTeam<1>;
    static constexpr bool predicts = true;

    RB_HD bool keeps_jacobian() const {
      return step.iteration_ == StageIteration::chord || step.iteration_ == StageIteration::fixed_point;
    }
    RB_HD Unknowns guess(const T& fraction) const {
      Unknowns x;
      RB_UNROLL
      for (int i = 0; i < size; ++i) {
        x[i] = i % per_stage < n ? select(wanted, fraction * start[i], start[i]) : start[i];
      }
      return x;
    }
    RB_NOINLINE void evaluate(const Unknowns& x, Evaluation<T>& r) const { step.evaluate(q, m, h, tableau, x, r); }
    RB_HD mask_t<T> linearise(const Unknowns& x, const Evaluation<T>&, Jacobian& d) const {
      if (step.iteration_ == StageIteration::fixed_point) {
        step.leading_jacobian(q, m, d.entries());
      } else {
        step.differentiate(q, m, h, tableau, x, d.entries());
      }
      return d.factorise();
    }
    RB_HD Unknowns direction(const Evaluation<T>& r, const Jacobian& d) const {
      Unknowns b;
      RB_UNROLL
      for (int i = 0; i < size; ++i) b[i] = -r.residual[i / per_stage][i % per_stage];
      return d.solve(b);
    }
    RB_HD T size_of(const Evaluation<T>&, const Unknowns& update) const { return magnitude(update); }
    RB_HD T merit(const Evaluation<T>& r) const {
      T sum = dot(r.residual[0], r.residual[0]);
      RB_UNROLL
      for (int i = 1; i < S; ++i) sum = sum + dot(r.residual[i], r.residual[i]);
      return sum;
    }

    const VariationalRungeKutta& step;
    const Vector<T, N>& q;
    const Vector<T, n>& m;
    T h;
    const StageCoefficients<S>& tableau;
    const Stages<T>& start;
    mask_t<T> wanted;
  };

  /// First-order prediction of the unknowns: k' = eta' at x = 0. Returns the size of the unknowns.
  RB_HD_LARGE T guess(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                      Stages<T>& u) const {
    Vector<T, n> eta, force;
    stage_.rates(q, m, eta, force);
    const Vector<T, n> rate = h * (force + G::ad_star(eta, m));
    T scale = magnitude(eta);
    if constexpr (timed<System>) scale = scale + rounding_velocity(T(1.0) / h, q);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      const double c = tableau.c(i);
      if constexpr (by_hamiltonian) {
        set_stage(join(eta, add_scaled(T(c), rate, m)), i, u);
      } else if constexpr (Separable<System>) {
        set_stage(add_scaled(T(c), stage_.mass.inverse_times(rate), eta), i, u);
      } else {
        set_stage(eta, i, u);
      }
    }
    if constexpr (by_hamiltonian) {
      return scale + magnitude(m) + magnitude(rate);
    } else if constexpr (Separable<System>) {
      return scale + magnitude(stage_.mass.inverse_times(rate));
    } else {
      return scale + magnitude(Factors<T, n>(mass_matrix(stage_.system, q, eta)).solve(rate));
    }
  }

  /// Newton's method and its simplifications for the active lanes; leaves active those that have not converged.
  RB_HD_LARGE void solve(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                         T scale, SolveState<T>& lanes, Stages<T>& u, Evaluation<T>& at) const {
    if (iteration_ == StageIteration::sweeps) {  // they start again
      Stages<T> start;
      guess(q, m, h, tableau, start);
      u = select(lanes.active, start, u);
    }
    Stages<T> x;
    NewtonWorkspace<Problem> workspace;
    const SolveState<T> found = rattleback::newton(Problem{*this, q, m, h, tableau, u, lanes.active}, options_, scale,
                                                   x, workspace, lanes.active);
    u = x;
    at = workspace.residual;
    lanes.active = found.active;
    lanes.singular = lanes.singular | found.singular;
    lanes.iterations = lanes.iterations + found.iterations;
  }

  /// With the Jacobian J = M + J_1, J_1 of order h, the updates are M^-1 r - M^-1 J_1 M^-1 r. Strong friction makes them grow, which ends
  /// the sweeps of a lane.
  RB_HD_LARGE void sweep(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                         T scale, SolveState<T>& lanes, Stages<T>& u, Evaluation<T>& at) const {
    const Vector<T, n> eta = stage_.mass.inverse_times(m);
    Convergence<T> convergence(options_, scale);
    mask_t<T> contracts(true);
    T first(0.0);
    for (int iteration = 0;; ++iteration) {
      evaluate(q, m, h, tableau, u, at);
      const mask_t<T> swept = lanes.active & contracts;
      if (!any(swept) || iteration == max_sweeps || iteration == options_.max_iterations) break;
      Vector<T, n> x[S], second[S];
      RB_UNROLL
      for (int i = 0; i < S; ++i) x[i] = stage_.mass.inverse_times(at.residual[i]);
      first_order(q, eta, m, h, tableau, x, second);
      T change(0.0);
      RB_UNROLL
      for (int i = 0; i < S; ++i) {
        const Vector<T, n> update = x[i] - stage_.mass.inverse_times(second[i]);
        const Vector<T, n> before = of_stage<0, n>(u, i);
        set_stage(select(swept, before - update, before), i, u);
        change = larger(change, magnitude(update));
      }
      lanes.count(swept);
      lanes.stop(swept & convergence.with_rate(change));
      if constexpr (detail::has_applied_force<System>()) {
        if (iteration == 0) first = change;
        if (iteration > 0) contracts = contracts & (change < first);
      }
    }
  }

  /// J_1 x at the velocity eta and the momentum m: with y_i = sum_j a_ij x_j, v_i = sum_j (b_j a_ji/b_i) x_j, z = sum_j
  /// b_j x_j and B = 1 + alpha ad_x + ...,
  ///   h (alpha (M ad_eta (c_i x_i - y_i) + ad*_{y_i - v_i} m + ad*_eta M (c_i x_i - v_i)) - ad*_eta M z - ad*_z m/2),
  /// and, where F is the derivative of the generalized force by the velocity, h F (v_i - z).
  RB_HD void first_order(const Vector<T, N>& q, const Vector<T, n>& eta, const Vector<T, n>& m, T h,
                         const StageCoefficients<S>& tableau, const Vector<T, n> (&x)[S], Vector<T, n> (&r)[S]) const {
    Vector<T, n> z = Vector<T, n>::zero();
    RB_UNROLL
    for (int j = 0; j < S; ++j) z = add_scaled(T(tableau.b(j)), x[j], z);
    const Vector<T, n> common = h * (G::ad_star(eta, stage_.mass.times(z)) + T(0.5) * G::ad_star(z, m));
    const T alpha = h * T(stage_.series.first() - 1.0);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      double c = 0.0;
      Vector<T, n> y = Vector<T, n>::zero(), v = y;
      RB_UNROLL
      for (int j = 0; j < S; ++j) {
        c += tableau.a(i, j);
        y = add_scaled(T(tableau.a(i, j)), x[j], y);
        v = add_scaled(T(tableau.back(i, j)), x[j], v);
      }
      const Vector<T, n> cx = T(c) * x[i];
      r[i] = alpha * (stage_.mass.times(G::ad(eta, cx - y)) + G::ad_star(y - v, m) +
                      G::ad_star(eta, stage_.mass.times(cx - v))) -
             common;
      if constexpr (detail::has_applied_force<System>()) {
        const auto along = stage_.system.applied_force(lift<Dual<T, 1>>(q), detail::along(eta, v - z));
        r[i] = r[i] + h * detail::derivative(along);
      }
    }
  }

  /// x_j = h sum_l a_jl k_l.
  template <class R>
  RB_HD static Vector<R, n> place(int j, T h, const StageCoefficients<S>& tableau, const Stages<R>& u) {
    Vector<R, n> x = Vector<R, n>::zero();
    RB_UNROLL
    for (int l = 0; l < S; ++l) x = add_scaled(h * T(tableau.a(j, l)), of_stage<0, n>(u, l), x);
    return x;
  }
  /// The work of the step, by the weights of the tableau.
  RB_HD T work(const Vector<T, N>& q, T h, const StageCoefficients<S>& tableau, const Stages<T>& u) const {
    T work(0.0);
    RB_UNROLL
    for (int j = 0; j < S; ++j)
      work = fma(T(tableau.b(j)),
                 stage_.work(h * T(tableau.c(j)), h, q, place(j, h, tableau, u), of_stage<0, n>(u, j),
                             of_stage<per_stage - n, n>(u, j)),
                 work);
    return work;
  }

  /// What stage j adds: to w_i = B_i^T m_i + h sum_j (b_j a_ji/b_i) v_j, to y and to m' - m.
  template <class R>
  RB_HD void add_stage(int j, const Vector<T, N>& q, T h, const StageCoefficients<S>& tableau, const Stages<R>& u,
                       Vector<R, n> (&w)[S], Evaluation<R>& r) const {
    const Vector<R, n> k = of_stage<0, n>(u, j);
    const Vector<R, n> x = place(j, h, tableau, u);
    typename Stage::template Terms<R> at;
    if constexpr (by_hamiltonian) at.p = of_stage<n, n>(u, j);
    stage_(h * T(tableau.c(j)), q, x, k, at);
    if constexpr (by_hamiltonian) r.residual[j] = join(at.lack, Vector<R, n>::zero());
    w[j] = w[j] + at.w;
    RB_UNROLL
    for (int i = 0; i < S; ++i) w[i] = add_scaled(h * T(tableau.back(i, j)), at.v, w[i]);
    r.increment = add_scaled(h * T(tableau.b(j)), at.rate, r.increment);
    r.y = add_scaled(h * T(tableau.b(j)), k, r.y);
  }

  template <class R>
  RB_HD_LARGE void evaluate(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                            const Stages<R>& u, Evaluation<R>& r) const {
    Vector<R, n> w[S];
    r.y = r.increment = Vector<R, n>::zero();
    RB_UNROLL
    for (int i = 0; i < S; ++i) w[i] = Vector<R, n>::zero();
    RB_UNROLL
    for (int j = 0; j < S; ++j) add_stage(j, q, h, tableau, u, w, r);
    r.lambda = Chart<G, Exp, R>(r.y).dtau_star(lift<R>(m) + r.increment);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      RB_UNROLL
      for (int c = 0; c < n; ++c) r.residual[i][per_stage - n + c] = w[i][c] - r.lambda[c];
    }
  }

  /// The Jacobian by dual numbers; their width makes no difference to the result. Where T is dual it has room for them.
  RB_HD_LARGE void differentiate(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                                 const Stages<T>& u, Entries& jacobian) const {
    if constexpr (coefficients<T> == 1) {
      constexpr int width = RB_DEVICE_PASS ? 1 : n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1;
      differentiate<Dual<T, width>, width>(q, m, h, tableau, u, jacobian);
    } else {
      differentiate<T, 1>(constant<T>(q), constant<T>(m), T(coefficient(h, 0)), tableau, u, jacobian);
    }
  }
  template <class D, int width>
  RB_HD_LARGE void differentiate(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                                 const Stages<T>& u, Entries& jacobian) const {
    Evaluation<D> fixed;  // where T is dual, parameters of the system may have derivatives of their own
    if constexpr (coefficients<T> == 2) {
      Stages<D> d;
      RB_UNROLL
      for (int i = 0; i < size; ++i) d[i] = D(coefficient(u[i], 0));
      evaluate(q, m, h, tableau, d, fixed);
    }
    for (int first = 0; first < size; first += width) {
      Stages<D> d;
      RB_UNROLL
      for (int i = 0; i < size; ++i) {
        d[i] = D(coefficient(u[i], 0));
        RB_UNROLL
        for (int l = 0; l < width; ++l) d[i].partial[l] = Plain(i == first + l ? 1.0 : 0.0);
      }
      Evaluation<D> at;
      evaluate(q, m, h, tableau, d, at);
      RB_UNROLL
      for (int i = 0; i < size; ++i) {
        RB_UNROLL
        for (int l = 0; l < width; ++l) {
          jacobian[i][first + l] = at.residual[i / per_stage][i % per_stage].partial[l];
          if constexpr (coefficients<T> == 2)
            jacobian[i][first + l] = jacobian[i][first + l] - fixed.residual[i / per_stage][i % per_stage].partial[l];
        }
      }
    }
  }

  /// The Jacobian at h = 0; for a Hamiltonian the identity.
  RB_HD_LARGE void leading_jacobian(const Vector<T, N>& q, const Vector<T, n>& m, Entries& jacobian) const {
    Matrix<T, per_stage, per_stage> block = Matrix<T, per_stage, per_stage>::zero();
    if constexpr (by_hamiltonian) {
      for (int i = 0; i < per_stage; ++i) block[i][i] = T(1.0);
    } else {
      block = mass_matrix(stage_.system, q, velocity(stage_.system, q, m));
    }
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < size; ++j) {
        const bool own_stage = i / per_stage == j / per_stage;
        jacobian[i][j] = own_stage ? coefficient(block[i % per_stage][j % per_stage], 0) : Plain(0.0);
      }
    }
  }

  Stage stage_;
  SolverOptions<T> options_;
  StageIteration iteration_;
};

RB_NAMESPACE_END
