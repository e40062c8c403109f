#pragma once
// VI-S for systems with the structure `Blocks`.

#include "rattleback/mechanics/block_algebra.hpp"
#include "rattleback/methods/ggl/equations.hpp"
#include "rattleback/methods/solve/newton.hpp"
#include "rattleback/real/secant.hpp"

RB_NAMESPACE_BEGIN

/// Condensed form of VI-S: h lambda and gamma determine v, q' and p' explicitly,
///
///   M v = p - h DU(q) - G(q)^T h lambda,   (M + h D^2 g(gamma)) z = M v,   p' = M z,
///
/// with an inner system of one equation for each group of coordinates.
template <class T, class System>
class CondensedViS {
  static constexpr int n = System::n, m = System::m, size = 2 * m;
  using Algebra = detail::BlockAlgebra<T, System>;
  using Forms = typename Algebra::Forms;

 public:
  using Team = LaneTeam<team_lanes(size, coefficients<T>)>;
  using State = PhaseState<T, n, m>;

  RB_HD CondensedViS(const System& system, const SolverOptions<T>& options)
      : system_(system), algebra_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return (*this)(state, h, NothingKept{}); }
  template <class Keep>
  RB_HD_LARGE StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    typename Team::template Shared<Workspace> shared;
    Workspace& workspace = *shared;
    Team::sync();
    if (Team::leads()) workspace.g_0 = Forms(system_.position_jacobian(state.q));
    Team::sync();
    const Problem problem(*this, state, h, workspace.g_0);
    const Vector<T, n> v = Algebra::scale(algebra_.inverse_mass, state.p);
    const T scale = detail::velocity_scale(h, state.q, v, (T(1.0) / h) * (problem.v_free - v));
    Vector<T, size> x;
    const SolveState<T> report = newton(problem, options_, scale, x, workspace.newton);
    const Evaluation& r = workspace.newton.residual;
    return end_of_step<GglScheme::vi_s>(state, h, r.q_1, Algebra::scale(algebra_.mass, r.z), segment<0, m>(x),
                                        segment<m, m>(x), r.v,
                                        {report.converged(), report.singular, report.iterations, r.norm}, keep);
  }

 private:
  struct Evaluation {
    Vector<T, n> v, z, q_1;
    Forms g_y, g_1;
    Factors<T, Algebra::N> lu;
    Vector<T, m> position, hidden;
    T norm;
  };

  struct Problem {
    using Unknowns = Vector<T, size>;
    using Residual = Evaluation;
    using Team = typename CondensedViS::Team;
    struct Jacobian {
      Factors<T, size, Pivoted<Team>> lu;
      typename Algebra::BlockMatrix to_q;  // dq'/h = to_q dv + M^-1 G(y)^T dgamma
      Forms second;                        // D^2 g z
    };

    RB_HD Problem(const CondensedViS& step, const State& state, const T& h, const Forms& g_0)
        : step_(step), state_(state), h_(h), inverse_h_(T(1.0) / h), g_0_(g_0) {
      v_free = Algebra::scale(step.algebra_.inverse_mass, fma(h, force(step.system_, state.q), state.p));
    }

    RB_HD Unknowns guess(const T& fraction) const {
      auto x = Unknowns::zero();
      RB_UNROLL
      for (int i = 0; i < m; ++i) x[i] = -(fraction * h_ * state_.lambda[i]);
      return x;
    }

    RB_NOINLINE void evaluate(const Unknowns& x, Evaluation& r) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      const Vector<T, m> lambda = segment<0, m>(x), gamma = segment<m, m>(x);
      r.v = v_free - Algebra::scale(algebra.inverse_mass, g_0_.transpose_times(lambda));
      r.g_y = Forms(system.position_jacobian(fma(h_, r.v, state_.q)));
      const Vector<T, n> u = r.v + Algebra::scale(algebra.inverse_mass, r.g_y.transpose_times(gamma));
      r.q_1 = fma(h_, u, state_.q);
      r.g_1 = Forms(system.position_jacobian(r.q_1));
      r.lu = Factors<T, Algebra::N>(algebra.mass_plus(h_, system.constraint_hessian(gamma)));
      r.z = Algebra::solve(r.lu, Algebra::scale(algebra.mass, r.v));
      r.position = inverse_h_ * system.position_constraint(r.q_1);
      r.hidden = r.g_y * r.z;
      r.norm = max(max_norm(r.position), max_norm(r.hidden));
    }

    RB_NOINLINE mask_t<T> linearise(const Unknowns& x, const Evaluation& r, Jacobian& d) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      if (Team::leads()) {  // to_q = 1 + h M^-1 D^2 g(gamma)
        auto to_q = system.constraint_hessian(segment<m, m>(x));
        RB_UNROLL
        for (int b = 0; b < Algebra::N; ++b) {
          to_q[b] = (h_ * algebra.inverse_mass[b]) * to_q[b];
          to_q[b][b] = to_q[b][b] + T(1.0);
        }
        d.to_q = to_q;
        d.second = Algebra::second_forms(system, r.z);
      }
      Team::sync();
      Team::for_each(0, m, [&](int i) { differentiate(r, i, d); });
      d.lu.factorise();
      return d.lu.singular() | r.lu.singular();
    }

    /// The derivatives by the multipliers numbered i. Hidden constraints first, which determine h lambda, so that the
    /// pivots are where they belong. A function of its own, as a GPU has no registers for what could be kept from one i
    /// to the next.
    RB_NOINLINE void differentiate(const Evaluation& r, int i, Jacobian& d) const {
      const Algebra& algebra = step_.algebra_;
      const Forms& second = d.second;
      Matrix<T, size, size>& jacobian = d.lu.matrix();
      const Vector<T, n> dv = -Algebra::scale(algebra.inverse_mass, g_0_.mu[i]);
      const Vector<T, m> position = r.g_1 * Algebra::times(d.to_q, dv), moved = second * dv;
      const Vector<T, m> hidden = r.g_y * Algebra::solve(r.lu, -g_0_.mu[i]);
      const Vector<T, m> by_gamma = r.g_1 * Algebra::scale(algebra.inverse_mass, r.g_y.mu[i]);
      const Vector<T, m> turned = r.g_y * Algebra::solve(r.lu, second.mu[i]);
      for (int j = 0; j < m; ++j) {
        jacobian[j][i] = fma(h_, moved[j], hidden[j]);
        jacobian[j][m + i] = -(h_ * turned[j]);
        jacobian[m + j][i] = position[j];
        jacobian[m + j][m + i] = by_gamma[j];
      }
    }

    RB_NOINLINE Unknowns direction(const Evaluation& r, const Jacobian& d) const {
      return d.lu.solve(-join(r.hidden, r.position));
    }

    RB_HD T size_of(const Evaluation& r, const Unknowns& update) const {
      const Algebra& algebra = step_.algebra_;
      return larger(magnitude(Algebra::scale(algebra.inverse_mass, g_0_.transpose_times(segment<0, m>(update)))),
                    magnitude(Algebra::scale(algebra.inverse_mass, r.g_y.transpose_times(segment<m, m>(update)))));
    }

    RB_HD T merit(const Evaluation& r) const { return dot(r.position, r.position) + dot(r.hidden, r.hidden); }

    Vector<T, n> v_free;  // after the force alone

   private:
    const CondensedViS& step_;
    const State& state_;
    T h_, inverse_h_;
    const Forms& g_0_;  // at q
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
};

RB_NAMESPACE_END
