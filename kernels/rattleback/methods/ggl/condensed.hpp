#pragma once
// The theta family and the energy-momentum schemes for systems with the structure `Blocks`, condensed to the multipliers.

#include "rattleback/mechanics/block_algebra.hpp"
#include "rattleback/methods/ggl/equations.hpp"
#include "rattleback/methods/solve/newton.hpp"
#include "rattleback/real/secant.hpp"

RB_NAMESPACE_BEGIN

/// Condensed form of the theta family and of the energy-momentum schemes in the unknowns u = (q' - q)/h, l = h lambda and gamma, where
/// v = u - M^-1 G(x)^T gamma. The energy-momentum schemes are the equations with theta = 1/2, constraint forces along G(x), a difference
/// quotient for DU, and p' = 2 M v - p. The derivative in u is a matrix of blocks plus one of rank `terms`; elimination of u leaves
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
    if (Team::leads()) workspace.g_0 = Forms(system_.position_jacobian(state.q));
    Team::sync();
    const Problem problem(*this, state, h, workspace.g_0);
    const Vector<T, n> acceleration = Algebra::scale(algebra_.inverse_mass, force(system_, state.q));
    const T scale = detail::velocity_scale(h, state.q, problem.v_0, acceleration);
    Vector<T, size> x;
    const SolveState<T> report = newton(problem, options_, scale, x, workspace.newton);
    const Evaluation& r = workspace.newton.residual;
    Vector<T, n> p_1, pull_1;
    if constexpr (Traits::discrete_gradient) {
      p_1 = T(2.0) * r.at.momentum - state.p;
    } else {
      if constexpr (Traits::forces_at_ends) pull_1 = r.g_1.transpose_times(r.l);
      p_1 = problem.equations.momentum_at_end(r.at.slope, problem.along_l(r).transpose_times(r.l), pull_1);
    }
    auto gamma = Vector<T, m>::zero();
    if constexpr (Traits::has_gamma) gamma = r.gamma;
    return end_of_step<scheme>(state, h, r.q_1, p_1, r.l, gamma, Traits::discrete_gradient ? r.v_1 : r.v,
                               {report.converged(), report.singular, report.iterations, r.norm}, keep);
  }

 private:
  struct Evaluation {
    Vector<T, n> u, x, q_1, v, v_1;
    Vector<T, m> l, gamma;
    Forms g_x, g_1;
    GglPoint<T, n, m> at;
    GglResidual<T, n, m> left;
    T norm;
  };
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
        : g_0(g_0), equations{step.system_, state, h, step.theta_, step.vartheta_}, step_(step), h_(h) {
      v_0 = Algebra::scale(step.algebra_.inverse_mass, state.p);
      if constexpr (Traits::discrete_gradient && terms > 0) invariants_0_ = step.system_.potential_invariants(state.q);
    }

    /// The velocity, with the multiplier of the last step.
    RB_HD Unknowns guess(const T& fraction) const {
      auto x = Unknowns::zero();
      RB_UNROLL
      for (int i = 0; i < n; ++i) x[i] = fraction * v_0[i];
      RB_UNROLL
      for (int i = 0; i < m; ++i) x[n + i] = -(h_ * equations.start.lambda[i]);
      return x;
    }

    RB_NOINLINE void evaluate(const Unknowns& unknowns, Evaluation& r) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      r.u = segment<0, n>(unknowns);
      r.l = segment<n, m>(unknowns);
      r.x = equations.middle(r.u);
      r.q_1 = equations.end(r.u);
      r.g_x = Forms(system.position_jacobian(r.x));
      if constexpr (Traits::discrete_gradient || Traits::forces_at_ends) r.g_1 = Forms(system.position_jacobian(r.q_1));
      r.v = r.u;
      if constexpr (Traits::has_gamma) {
        r.gamma = segment<n + m, m>(unknowns);
        r.v = r.v - Algebra::scale(algebra.inverse_mass, r.g_x.transpose_times(r.gamma));
      }
      r.at.momentum = Algebra::scale(algebra.mass, r.v);
      if constexpr (Traits::discrete_gradient) {
        r.at.slope = discrete_force(system, r);
        r.v_1 = T(2.0) * r.v - v_0;
      } else {
        r.at.slope = force(system, r.x);
      }
      r.at.hidden = Vector<T, m>::zero();
      if constexpr (Traits::has_gamma) r.at.hidden = Traits::discrete_gradient ? r.g_1 * r.v_1 : r.g_x * r.v;
      if constexpr (Traits::has_gamma && Traits::variational)
        r.at.slope = r.at.slope - Algebra::times(system.constraint_hessian(r.gamma), r.v);
      r.left = equations(r.x, r.q_1, along_l(r).transpose_times(r.l), r.at);
      r.norm = max(max_norm(Algebra::scale(algebra.inverse_mass, r.left.kick)), max_norm(r.left.position));
      if constexpr (Traits::has_gamma) r.norm = max(r.norm, max_norm(r.left.hidden));
    }

    RB_NOINLINE mask_t<T> linearise(const Unknowns&, const Evaluation& r, Linearisation& d) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      const T reach = equations.reach(), rest = equations.rest();
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
          response = equations.share() * along_l(r).mu[i];
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
                                                         along_l(r).transpose_times(segment<n, m>(update)))));
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

    Vector<T, n> v_0;
    const Forms& g_0;  // at q
    ThetaEquations<T, System, scheme> equations;

    /// What l acts along in the equation of v.
    RB_HD const Forms& along_l(const Evaluation& r) const { return Traits::forces_at_ends ? g_0 : r.g_x; }

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
        potential_slopes(system, r, first, second);
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

    /// Minus the equivariant discrete gradient of U: a difference quotient for each f_a, the derivative at the midpoint for its
    /// invariant.
    RB_HD Vector<T, n> discrete_force(const System& system, const Evaluation& r) const {
      // without its terms U is linear
      Vector<T, n> f = force(system, r.x);
      if constexpr (terms > 0) {
        const Vector<T, terms> at_x = system.potential_invariants(r.x), at_1 = system.potential_invariants(r.q_1);
        const Matrix<T, terms, n> gradients = system.potential_invariants_jacobian(r.x);
        for_terms([&](auto a) {
          using D = Dual<T, 1>;
          const T tangent = system.template potential_term<a.value>(D(at_x[a.value], 0)).partial[0];
          const T quotient = secant<a.value>(system, invariants_0_[a.value], at_1[a.value]);
          f = fma(tangent - quotient, gradients[a.value], f);
        });
      }
      return f;
    }
    /// The factors of D^2 pi_a and of D pi_a D pi_a^T in the derivative of DU.
    RB_HD void potential_slopes(const System& system, const Evaluation& r, Vector<T, terms>& first,
                                Vector<T, terms>& second) const {
      const Vector<T, terms> pi = system.potential_invariants(Traits::discrete_gradient ? r.q_1 : r.x);
      for_terms([&](auto a) {
        using D = Dual<T, 1>;
        D slope;
        if constexpr (Traits::discrete_gradient) {
          slope = secant<a.value>(system, D(invariants_0_[a.value]), D(pi[a.value], 0));
        } else {
          const Dual<D, 1> f = system.template potential_term<a.value>(Dual<D, 1>(D(pi[a.value], 0), 0));
          slope = f.partial[0];
        }
        first[a.value] = slope.value;
        second[a.value] = slope.partial[0];
      });
    }
    template <int a, class S>
    RB_HD static S secant(const System& system, const S& pi_0, const S& pi_1) {
      return system.template potential_term<a>(Secant<S, 1>(pi_0, pi_1, 0)).slope(0);
    }
    template <class F>
    RB_HD static void for_terms(F f) {
      [&]<int... a>(std::integer_sequence<int, a...>) {
        (f(std::integral_constant<int, a>{}), ...);
      }(std::make_integer_sequence<int, terms>{});
    }

    const CondensedGgl& step_;
    T h_;
    Vector<T, terms> invariants_0_;
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
