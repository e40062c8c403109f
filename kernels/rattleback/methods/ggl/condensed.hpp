#pragma once
// Newton's method for the theta family and the energy-momentum schemes, for systems with the structure `Blocks`, condensed to the multipliers.

#include "rattleback/methods/ggl/condensed_equations.hpp"
#include "rattleback/methods/solve/newton.hpp"

RB_NAMESPACE_BEGIN

/// Newton's method on CondensedEquations. The derivative in u is a matrix of blocks plus one of rank `terms`; elimination of u leaves
/// equations in l, gamma and the factors of these terms.
template <class T, class System, GglScheme scheme>
class CondensedGgl : public NumbersOfScheme<scheme> {
  static constexpr int n = System::n, m = System::m, terms = System::terms;
  using Traits = GglTraits<scheme>;
  // equations of the constraints: hidden ones first, which determine h lambda, so that the pivots are where they belong
  static constexpr int first_position = Traits::has_gamma ? m : 0;
  static constexpr int multipliers = Traits::has_gamma ? 2 * m : m, reduced = multipliers + terms,
                       size = n + multipliers;

 public:
  /// The lanes distribute the columns of the reduced matrix. With fewer than 12 columns a thread is twice as fast as a team, also where the
  /// step spills (bench/results/gpu-h100.md); then there is a team only on demand.
  using Team =
      LaneTeam<team_lanes(size < 12 || reduced >= 12 || forced_team_lanes == 0 ? reduced : 12, coefficients<T>)>;

 private:
  using Algebra = detail::BlockAlgebra<T, System>;
  using Forms = typename Algebra::Forms;
  using BlockMatrix = typename Algebra::BlockMatrix;
  using Equations = CondensedEquations<T, System, scheme>;
  struct Evaluation : Equations::Values {
    T norm;
  };

 public:
  using State = PhaseState<T, n, m>;

  RB_HD CondensedGgl(const System& system, const SolverOptions<T>& options, const GglNumbers& numbers)
    requires(!Traits::discrete_gradient)
      : system_(system), algebra_(system), options_(options), theta_(numbers.theta), vartheta_(numbers.vartheta) {}
  RB_HD CondensedGgl(const System& system, const SolverOptions<T>& options)
    requires(Traits::discrete_gradient)
      : system_(system), algebra_(system), options_(options), theta_(0.5), vartheta_(0.5) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return (*this)(state, h, NothingKept{}); }
  template <class Keep>
  RB_HD_LARGE StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    typename Team::template Shared<Workspace> shared;
    Workspace& workspace = *shared;
    Team::sync();
    if (Team::leads()) workspace.g_0 = Algebra::forms(system_, state.q);
    Team::sync();
    const Problem problem(*this, state, h, workspace.g_0);
    const Vector<T, n> acceleration = Algebra::scale(algebra_.inverse_mass, force(system_, state.q));
    const T scale = detail::velocity_scale(h, state.q, problem.equations.v_0, acceleration);
    Vector<T, size> x;
    const SolveState<T> report = newton(problem, options_, scale, x, workspace.newton);
    const Evaluation& r = workspace.newton.residual;
    auto gamma = Vector<T, m>::zero();
    if constexpr (Traits::has_gamma) gamma = r.gamma;
    return end_of_step<scheme>(state, h, r.q_1, problem.equations.momentum_at_end(r), r.l, gamma,
                               Traits::discrete_gradient ? r.v_1 : r.v,
                               {report.converged(), report.singular, report.iterations, r.norm}, keep);
  }

 private:
  struct Linearisation {
    Factors<T, Algebra::N> lu;
    Factors<T, reduced, Pivoted<Team>> schur;
    BlockMatrix dv_du;
    Forms g_position, g_hidden, second;  // rows of the constraints' derivatives
    T position_factor, second_factor;
    Matrix<T, terms, n> rows;  // of the rank-1 terms
    Vector<T, n> response[reduced];
  };

  struct Problem {
    using Unknowns = Vector<T, size>;
    using Residual = Evaluation;
    using Jacobian = Linearisation;
    using Team = typename CondensedGgl::Team;

    RB_HD Problem(const CondensedGgl& step, const State& state, const T& h, const Forms& g_0)
        : equations(step.system_, step.algebra_, state, h, step.theta_, step.vartheta_, g_0), step_(step), h_(h) {}

    /// The velocity, with the multiplier of the last step.
    RB_HD Unknowns guess(const T& fraction) const {
      auto x = Unknowns::zero();
      RB_UNROLL
      for (int i = 0; i < n; ++i) x[i] = fraction * equations.v_0[i];
      RB_UNROLL
      for (int i = 0; i < m; ++i) x[n + i] = -(h_ * equations.family.start.lambda[i]);
      return x;
    }

    RB_NOINLINE void evaluate(const Unknowns& unknowns, Evaluation& r) const {
      r.u = segment<0, n>(unknowns);
      r.l = segment<n, m>(unknowns);
      if constexpr (Traits::has_gamma) r.gamma = segment<n + m, m>(unknowns);
      equations.evaluate(r);
      r.norm = equations.norm(r);
    }

    RB_NOINLINE mask_t<T> linearise(const Unknowns&, const Evaluation& r, Linearisation& d) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      const T reach = equations.family.reach(), rest = equations.family.rest();
      // dv = dv_du du - M^-1 G(x)^T dgamma, df = through dv + ...
      auto through = algebra.mass_plus(T(0.0), BlockMatrix::zero());
      if constexpr (Traits::has_gamma && Traits::variational)
        through = algebra.mass_plus(rest, system.constraint_hessian(r.gamma));
      if (Team::leads()) eliminate_velocity(r, reach, rest, through, d);
      Team::sync();
      Team::for_each(0, reduced, [&](int i) {
        Vector<T, reduced> column = Vector<T, reduced>::zero();
        Vector<T, n> response;
        if (i < m) {
          response = equations.family.share() * equations.along_l(r).mu[i];
        } else if (i < multipliers) {
          if constexpr (Traits::has_gamma) {
            const Vector<T, n> dv = -Algebra::scale(algebra.inverse_mass, r.g_x.mu[i - m]);
            response = Algebra::times(through, dv);
            if constexpr (Traits::variational)
              response = fma(rest, Algebra::second_forms(system, r.v).mu[i - m], response);
            const Vector<T, m> hidden = d.g_hidden * dv;
            for (int j = 0; j < m; ++j) column[j] = hidden[j];
          }
        } else if constexpr (terms > 0) {
          response = d.response[i];
          column[i] = T(-1.0);
        }
        d.response[i] = Algebra::solve(d.lu, response);
        column = column - constraints_of(d, d.response[i]);
        for (int j = 0; j < reduced; ++j) d.schur.matrix()[j][i] = column[j];
      });
      d.schur.factorise();
      return d.lu.singular() | d.schur.singular();
    }

    RB_NOINLINE Unknowns direction(const Evaluation& r, const Linearisation& d) const {
      Vector<T, n> du = Algebra::solve(d.lu, r.left.kick);
      Vector<T, reduced> y = -constraints_of(d, du);
      RB_UNROLL
      for (int i = 0; i < m; ++i) {
        y[first_position + i] = y[first_position + i] - r.left.position[i];
        if constexpr (Traits::has_gamma)
          y[i] = fma(Traits::discrete_gradient ? T(-0.5) : T(-1.0), r.left.hidden[i], y[i]);
      }
      y = d.schur.solve(y);
      for (int i = 0; i < reduced; ++i) du = fma(-y[i], d.response[i], du);
      return join(du, segment<0, multipliers>(y));
    }

    RB_NOINLINE T size_of(const Evaluation& r, const Unknowns& update) const {
      T largest = magnitude(segment<0, n>(update));
      largest = larger(largest, magnitude(Algebra::scale(step_.algebra_.inverse_mass,
                                                         equations.along_l(r).transpose_times(segment<n, m>(update)))));
      if constexpr (Traits::has_gamma)
        largest = larger(largest, magnitude(Algebra::scale(step_.algebra_.inverse_mass,
                                                           r.g_x.transpose_times(segment<n + m, m>(update)))));
      return largest;
    }

    RB_NOINLINE T merit(const Evaluation& r) const {
      const Vector<T, n> f = Algebra::scale(step_.algebra_.inverse_mass, r.left.kick);
      T sum = dot(f, f) + dot(r.left.position, r.left.position);
      if constexpr (Traits::has_gamma) sum = sum + dot(r.left.hidden, r.left.hidden);
      return sum;
    }

    Equations equations;

   private:
    /// The derivatives in u, all of d but the responses to the multipliers and what remains of the equations.
    RB_HD void eliminate_velocity(const Evaluation& r, const T& reach, const T& rest, const BlockMatrix& through,
                                  Linearisation& d) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      d.dv_du = BlockMatrix::zero();
      RB_UNROLL
      for (int b = 0; b < Algebra::N; ++b) d.dv_du[b][b] = T(1.0);
      if constexpr (Traits::has_gamma) {
        const BlockMatrix curvature = system.constraint_hessian(r.gamma);
        RB_UNROLL
        for (int b = 0; b < Algebra::N; ++b)
          d.dv_du[b] = fma(-(reach * algebra.inverse_mass[b]), curvature[b], d.dv_du[b]);
      }
      BlockMatrix a = Algebra::product(through, d.dv_du);
      if constexpr (!Traits::forces_at_ends) {
        const BlockMatrix curvature = system.constraint_hessian(r.l);
        RB_UNROLL
        for (int b = 0; b < Algebra::N; ++b) a[b] = fma((T(1.0) - step_.theta_) * reach, curvature[b], a[b]);
      }
      if constexpr (terms > 0) {
        Vector<T, terms> first, second;
        equations.potential_slopes(r, first, second);
        const BlockMatrix curvature = system.potential_invariants_hessian(first);
        RB_UNROLL
        for (int b = 0; b < Algebra::N; ++b) a[b] = fma(rest * reach, curvature[b], a[b]);
        const Matrix<T, terms, n> columns = system.potential_invariants_jacobian(r.x);
        d.rows = Traits::discrete_gradient ? system.potential_invariants_jacobian(r.q_1) : columns;
        RB_UNROLL
        for (int t = 0; t < terms; ++t)
          d.response[multipliers + t] = (rest * (Traits::discrete_gradient ? h_ : reach) * second[t]) * columns[t];
      }
      d.lu = Factors<T, Algebra::N>(a);

      d.g_position = Traits::position_at_end ? r.g_1 : r.g_x;
      d.position_factor = Traits::position_at_end ? T(1.0) : step_.theta_;
      if constexpr (Traits::has_gamma) {
        d.g_hidden = Traits::discrete_gradient ? r.g_1 : r.g_x;
        d.second = Algebra::second_forms(system, Traits::discrete_gradient ? r.v_1 : r.v);
        d.second_factor =
            Traits::discrete_gradient ? T(0.5) * h_ : reach;  // with the factor 2 of v_1 = 2 v - v_0 taken out
      }
    }

    /// Derivatives along du of the constraints (the hidden one of v_1 halved) and of the rank-1 terms.
    RB_HD Vector<T, reduced> constraints_of(const Linearisation& d, const Vector<T, n>& du) const {
      Vector<T, reduced> r;
      const Vector<T, m> position = d.g_position * du;
      RB_UNROLL
      for (int i = 0; i < m; ++i) r[first_position + i] = d.position_factor * position[i];
      if constexpr (Traits::has_gamma) {
        const Vector<T, m> turned = d.g_hidden * Algebra::times(d.dv_du, du), moved = d.second * du;
        RB_UNROLL
        for (int i = 0; i < m; ++i) r[i] = fma(d.second_factor, moved[i], turned[i]);
      }
      RB_UNROLL
      for (int t = 0; t < terms; ++t) r[multipliers + t] = dot(d.rows[t], du);
      return r;
    }

    const CondensedGgl& step_;
    T h_;
  };

 public:
  struct Workspace {
    NewtonWorkspace<Problem> newton;
    Forms g_0;
  };

 private:
  System system_;
  Algebra algebra_;
  SolverOptions<T> options_;
  T theta_, vartheta_;
};

RB_NAMESPACE_END
