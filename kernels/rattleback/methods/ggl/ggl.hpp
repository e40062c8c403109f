#pragma once
// One-step integrators from the GGL variational principle for holonomic constraints (P. L. Kinon, P. Betsch, S. Schneider,
// Structure-preserving integrators based on a new variational principle for constrained mechanical systems, Nonlinear Dynamics
// 111 (2023)): a second multiplier gamma for the constraint on velocities, which vanishes in the continuous equations.
// With G = Dg, g^v(q, p) = G(q) v(q, p), A = L_vv, and x = (1 - theta) q + theta q',
//
//   VI-S (55):    q' = q + h (v + w)                      y = q + h v, p' = L_v(y, z)
//                 p' = p + h L_q(q, v) - h G(q)^T lambda - h B
//                 L_v(q, v) = p' + h B                    A w = G(y)^T gamma, B = D_1 g^v(y, p')^T gamma
//                 g(q') = 0, G(y) z = 0
//
//   theta (76):   q' = q + h (v + w)                      A w = G(x)^T gamma, B = D_1 g^v(x, L_v(x, v))^T gamma
//                 p' = p + h L_q(x, v) - h Ghat^T lambda - h B
//                 G(x) v = 0
//     A (79):     Ghat = G(x), g(x) = 0, L_v(x, v) = theta p + (1 - theta) p'
//     B (82):     Ghat = (1 - vartheta) G(q) + vartheta G(q'), g(q') = 0,
//                 L_v(x, v) = theta p + (1 - theta) p' - h (theta (1 - vartheta) G(q) - (1 - theta) vartheta G(q'))^T lambda
//
// VI-A is A with theta = 1/2; VI-B is B with theta = 1, vartheta = 1/2; VI-Bs is B with theta = vartheta = 1/2. All are
// symplectic. The recorded multiplier has the sign of the other methods, the force being G^T lambda: minus the lambda
// above. It belongs to the beginning of the step for VI-S and is spread over the step for the others. gamma and v can be
// observed (loop/last_step.hpp): v belongs to (q, p) in VI-S, to (q', p') in the others.
//
// Two forms: one for the structure `Blocks` of mechanics/system.hpp, condensed to the multipliers, which the energy-momentum
// schemes (energy_momentum.hpp) share; and one for any regular Lagrangian, a configuration-dependent mass matrix included.

#include <cstdio>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/linalg/lu.hpp"
#include "rattleback/methods/solve/newton.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/real/secant.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// What changes the structure of the equations.
enum class GglScheme { vi_s, theta_a, theta_b, energy_momentum, energy_momentum_index3, classical };

constexpr bool is_theta(GglScheme scheme) { return scheme == GglScheme::theta_a || scheme == GglScheme::theta_b; }

/// The numbers of the theta family.
struct GglNumbers {
  double theta, vartheta;
};
inline constexpr GglNumbers ggl_vi_a_numbers{0.5, 0.5}, ggl_vi_b_numbers{1.0, 0.5}, ggl_vi_bs_numbers{0.5, 0.5};

/// Writes the numbers of a step; returns how many.
inline int fill_numbers(const GglNumbers& a, double* numbers) {
  numbers[0] = a.theta;
  numbers[1] = a.vartheta;
  return 2;
}

/// Why a member of the theta family cannot be used, or null.
constexpr const char* unusable(GglScheme scheme, const GglNumbers& a) {
  if (scheme == GglScheme::theta_a && a.theta != 0.5)
    return "with constraint A theta must be 1/2: the distance from the constraint grows by a factor (1 - theta)/theta "
           "a step, "
           "that of the momentum by theta/(1 - theta)";
  if (scheme == GglScheme::theta_b && !(a.theta >= 0.0 && a.theta <= 1.0)) return "theta must be in [0, 1]";
  if (scheme == GglScheme::theta_b && !(a.vartheta >= 0.0 && a.vartheta <= 0.5))
    return "vartheta must be in [0, 1/2]: lambda and p along the constraint forces grow by a factor vartheta/(1 - "
           "vartheta) "
           "a step, and at 1 the equations of a step are singular";
  return nullptr;
}

namespace detail {

/// Linear algebra of a system with the structure `Blocks`.
template <class T, class System>
struct BlockAlgebra {
  static constexpr int n = System::n, m = System::m, k = System::block, N = n / k;
  using BlockMatrix = Matrix<T, N, N>;  // times the identity of R^k
  using Forms = ConstraintForms<System>;

  RB_HD explicit BlockAlgebra(const System& system) {
    const Vector<T, n> diagonal = system.mass_diagonal();
    RB_UNROLL
    for (int b = 0; b < N; ++b) {
      mass[b] = diagonal[b * k];
      inverse_mass[b] = T(1.0) / mass[b];
    }
  }

  RB_HD static Vector<T, n> scale(const Vector<T, N>& by, const Vector<T, n>& x) {
    Vector<T, n> r;
    RB_UNROLL
    for (int i = 0; i < n; ++i) r[i] = by[i / k] * x[i];
    return r;
  }
  RB_HD static Vector<T, n> times(const BlockMatrix& a, const Vector<T, n>& x) {
    Vector<T, n> r;
    RB_UNROLL
    for (int b = 0; b < N; ++b) {
      RB_UNROLL
      for (int i = 0; i < k; ++i) {
        T entry = a[b][0] * x[i];
        RB_UNROLL
        for (int c = 1; c < N; ++c) entry = fma(a[b][c], x[c * k + i], entry);
        r[b * k + i] = entry;
      }
    }
    return r;
  }
  RB_HD static BlockMatrix product(const BlockMatrix& a, const BlockMatrix& b) {
    BlockMatrix r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = transpose_times(b, a[i]);
    return r;
  }
  /// diag(mass) + s a
  RB_HD BlockMatrix mass_plus(const T& s, const BlockMatrix& a) const {
    BlockMatrix r;
    RB_UNROLL
    for (int b = 0; b < N; ++b) {
      r[b] = s * a[b];
      r[b][b] = r[b][b] + mass[b];
    }
    return r;
  }
  RB_HD static Vector<T, n> solve(const Lu<T, N>& lu, const Vector<T, n>& x) {
    Vector<T, n> r;
    RB_UNROLL
    for (int i = 0; i < k; ++i) {
      Vector<T, N> y;
      RB_UNROLL
      for (int b = 0; b < N; ++b) y[b] = x[b * k + i];
      y = lu.solve(y);
      RB_UNROLL
      for (int b = 0; b < N; ++b) r[b * k + i] = y[b];
    }
    return r;
  }
  RB_HD static Forms forms(const System& system, const Vector<T, n>& q) {
    Forms r;
    r.mu = system.position_jacobian(q);
    return r;
  }
  /// Rows D^2 g_i x: Dg is affine in q.
  RB_HD static Forms second_forms(const System& system, const Vector<T, n>& x) {
    const Matrix<T, m, n> at_0 = system.position_jacobian(Vector<T, n>::zero());
    Forms r = forms(system, x);
    RB_UNROLL
    for (int i = 0; i < m; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j)
        if (Forms::entry(i, j)) r.mu[i][j] = r.mu[i][j] - at_0[i][j];
    }
    return r;
  }

  Vector<T, N> mass, inverse_mass;
};

/// The velocity that Newton's sizes are compared with: a position rounds by eps |q|, which shows divided by h and times the
/// condition of the system.
template <class T, int n>
RB_HD T velocity_scale(const T& h, const Vector<T, n>& q, const Vector<T, n>& v, const Vector<T, n>& acceleration) {
  return magnitude(v) + abs(h) * magnitude(acceleration) + T(0.01) / abs(h) * magnitude(q);
}

}  // namespace detail

/// Condensed form of the theta family and of the energy-momentum schemes. With the unknowns u = (q' - q)/h, h lambda, gamma,
///
///   v = u - M^-1 G(x)^T gamma,
///   f = M v - p + (1 - theta) h (DU + D^2 g(gamma) v) + c Gk^T h lambda = 0
///
/// is what remains of the equations in p', where c Gk = (1 - vartheta) G(q) with option B, (1 - theta) G(x) otherwise. The
/// energy-momentum schemes have theta = 1/2, a difference quotient for DU, and p' = 2 M v - p. The derivative in u is a
/// matrix of blocks plus one of rank `terms`; elimination of u leaves equations in h lambda, gamma and the factors of
/// these terms.
template <class T, class System, GglScheme scheme>
class CondensedGgl {
  static constexpr int n = System::n, m = System::m, terms = System::terms;
  static constexpr bool energy = !is_theta(scheme), has_gamma = scheme != GglScheme::energy_momentum_index3,
                        variational = scheme != GglScheme::classical, option_b = scheme == GglScheme::theta_b;
  // equations of the constraints: hidden ones first, which determine h lambda, so that the pivots are where they belong
  static constexpr int first_position = has_gamma ? m : 0;
  static constexpr int multipliers = has_gamma ? 2 * m : m, reduced = multipliers + terms, size = n + multipliers;

 public:
  /// By the number of all unknowns whether there is a tile, by that of the columns its lanes.
  using Team = Tile<tile_lanes(size < 12 || reduced >= 12 ? reduced : 12, parts<T>)>;

 private:
  using Algebra = detail::BlockAlgebra<T, System>;
  using Forms = typename Algebra::Forms;
  using BlockMatrix = typename Algebra::BlockMatrix;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD CondensedGgl(const System& system, const SolverOptions<T>& options, const double* numbers) requires(!energy)
      : system_(system), algebra_(system), options_(options), theta_(numbers[0]), vartheta_(numbers[1]) {}
  RB_HD CondensedGgl(const System& system, const SolverOptions<T>& options) requires energy : system_(system),
                                                                                              algebra_(system),
                                                                                              options_(options),
                                                                                              theta_(0.5),
                                                                                              vartheta_(0.5) {}

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
    const T scale = detail::velocity_scale(h, state.q, problem.v_0, acceleration);
    Vector<T, size> x;
    const NewtonReport<T> report = newton(problem, options_, scale, x, workspace.newton);
    const Evaluation& r = workspace.newton.residual;
    const Vector<T, m> impulse = segment<n, m>(x);
    if constexpr (energy) {
      state.p = T(2.0) * Algebra::scale(algebra_.mass, r.v) - state.p;
    } else {
      state.p = state.p - h * r.slope;
      if constexpr (option_b) {
        state.p = state.p - (T(1.0) - vartheta_) * problem.g_0.transpose_times(impulse) -
                  vartheta_ * r.g_1.transpose_times(impulse);
      } else {
        state.p = state.p - r.g_x.transpose_times(impulse);
      }
    }
    state.q = fma(h, segment<0, n>(x), state.q);
    state.lambda = (T(-1.0) / h) * impulse;
    const T check = sum(state.q) + sum(state.p) + sum(state.lambda);
    const T status = step_status<T>(report.converged, report.singular, is_finite(check));
    if (keep.wanted()) {
      auto gamma = Vector<T, m>::zero();
      if constexpr (has_gamma) gamma = r.gamma;
      keep.put(status == T(0.0), gamma, energy ? r.v_1 : r.v, state.q, state.p);
    }
    return {status, report.iterations, r.norm};
  }

 private:
  struct Evaluation {
    Vector<T, n> u, x, q_1, v, v_1;
    Vector<T, m> lambda, gamma;  // h lambda
    Forms g_x, g_1;
    Vector<T, n> slope;  // DU + D^2 g(gamma) v
    Vector<T, n> f;
    Vector<T, m> position, hidden;
    T norm;
  };
  struct Linearisation {
    Lu<T, Algebra::N> lu;
    Lu<T, reduced, Team> schur;
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
        : g_0(g_0), step_(step), state_(state), h_(h), inverse_h_(T(1.0) / h), rest_(h * (T(1.0) - step.theta_)) {
      v_0 = Algebra::scale(step.algebra_.inverse_mass, state.p);
      if constexpr (energy && terms > 0) invariants_0_ = step.system_.potential_invariants(state.q);
    }

    /// The velocity, with the multiplier of the last step.
    RB_HD Unknowns guess(const T& fraction) const {
      auto x = Unknowns::zero();
      RB_UNROLL
      for (int i = 0; i < n; ++i) x[i] = fraction * v_0[i];
      RB_UNROLL
      for (int i = 0; i < m; ++i) x[n + i] = -(h_ * state_.lambda[i]);
      return x;
    }

    RB_NOINLINE void evaluate(const Unknowns& unknowns, Evaluation& r) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      r.u = segment<0, n>(unknowns);
      r.lambda = segment<n, m>(unknowns);
      r.x = fma(step_.theta_ * h_, r.u, state_.q);
      r.q_1 = fma(h_, r.u, state_.q);
      r.g_x = Algebra::forms(system, r.x);
      if constexpr (energy || option_b) r.g_1 = Algebra::forms(system, r.q_1);
      r.v = r.u;
      if constexpr (has_gamma) {
        r.gamma = segment<n + m, m>(unknowns);
        r.v = r.v - Algebra::scale(algebra.inverse_mass, r.g_x.transpose_times(r.gamma));
      }
      if constexpr (energy) {
        r.slope = -discrete_force(system, r);
        r.v_1 = T(2.0) * r.v - v_0;
      } else {
        r.slope = -force(system, r.x);
      }
      if constexpr (has_gamma && variational)
        r.slope = r.slope + Algebra::times(system.constraint_hessian(r.gamma), r.v);
      r.f = fma(rest_, r.slope, Algebra::scale(algebra.mass, r.v) - state_.p);
      if constexpr (option_b) {
        r.f = fma(T(1.0) - step_.vartheta_, g_0.transpose_times(r.lambda), r.f);
      } else {
        r.f = fma(T(1.0) - step_.theta_, r.g_x.transpose_times(r.lambda), r.f);
      }
      r.position = inverse_h_ * system.position_constraint(scheme == GglScheme::theta_a ? r.x : r.q_1);
      r.norm = max(max_norm(Algebra::scale(algebra.inverse_mass, r.f)), max_norm(r.position));
      if constexpr (has_gamma) {
        r.hidden = energy ? r.g_1 * r.v_1 : r.g_x * r.v;
        r.norm = max(r.norm, max_norm(r.hidden));
      }
    }

    RB_NOINLINE mask_t<T> linearise(const Unknowns&, const Evaluation& r, Linearisation& d) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      const T reach = h_ * step_.theta_;  // x = q + reach u
      // dv = dv_du du - M^-1 G(x)^T dgamma, df = through dv + ...
      auto through = algebra.mass_plus(T(0.0), BlockMatrix::zero());
      if constexpr (has_gamma && variational) through = algebra.mass_plus(rest_, system.constraint_hessian(r.gamma));
      if (Team::leads()) eliminate_velocity(r, reach, through, d);
      Team::sync();
      Team::for_each(0, reduced, [&](int i) {
        Vector<T, reduced> column = Vector<T, reduced>::zero();
        Vector<T, n> response;
        if (i < m) {
          const Forms& by_lambda = option_b ? g_0 : r.g_x;
          response = (T(1.0) - (option_b ? step_.vartheta_ : step_.theta_)) * by_lambda.mu[i];
        } else if (i < multipliers) {
          if constexpr (has_gamma) {
            const Vector<T, n> dv = -Algebra::scale(algebra.inverse_mass, r.g_x.mu[i - m]);
            response = Algebra::times(through, dv);
            if constexpr (variational) response = fma(rest_, Algebra::second_forms(system, r.v).mu[i - m], response);
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
      Vector<T, n> du = -Algebra::solve(d.lu, r.f);
      Vector<T, reduced> y = -constraints_of(d, du);
      RB_UNROLL
      for (int i = 0; i < m; ++i) {
        y[first_position + i] = y[first_position + i] - r.position[i];
        if constexpr (has_gamma) y[i] = fma(energy ? T(-0.5) : T(-1.0), r.hidden[i], y[i]);
      }
      y = d.schur.solve(y);
      for (int i = 0; i < reduced; ++i) du = fma(-y[i], d.response[i], du);
      return join(du, segment<0, multipliers>(y));
    }

    RB_NOINLINE T size_of(const Evaluation& r, const Unknowns& update) const {
      T size = magnitude(segment<0, n>(update));
      const Forms& by_lambda = option_b ? g_0 : r.g_x;
      size = larger(size, magnitude(Algebra::scale(step_.algebra_.inverse_mass,
                                                   by_lambda.transpose_times(segment<n, m>(update)))));
      if constexpr (has_gamma)
        size = larger(size, magnitude(Algebra::scale(step_.algebra_.inverse_mass,
                                                     r.g_x.transpose_times(segment<n + m, m>(update)))));
      return size;
    }

    RB_NOINLINE T merit(const Evaluation& r) const {
      const Vector<T, n> f = Algebra::scale(step_.algebra_.inverse_mass, r.f);
      T sum = dot(f, f) + dot(r.position, r.position);
      if constexpr (has_gamma) sum = sum + dot(r.hidden, r.hidden);
      return sum;
    }

    Vector<T, n> v_0;
    const Forms& g_0;  // at q

   private:
    /// The derivatives in u, all of d but the responses to the multipliers and what remains of the equations.
    RB_HD void eliminate_velocity(const Evaluation& r, const T& reach, const BlockMatrix& through,
                                  Linearisation& d) const {
      const System& system = step_.system_;
      const Algebra& algebra = step_.algebra_;
      d.dv_du = BlockMatrix::zero();
      RB_UNROLL
      for (int b = 0; b < Algebra::N; ++b) d.dv_du[b][b] = T(1.0);
      if constexpr (has_gamma) {
        const BlockMatrix curvature = system.constraint_hessian(r.gamma);
        RB_UNROLL
        for (int b = 0; b < Algebra::N; ++b)
          d.dv_du[b] = fma(-(reach * algebra.inverse_mass[b]), curvature[b], d.dv_du[b]);
      }
      BlockMatrix a = Algebra::product(through, d.dv_du);
      if constexpr (!option_b) {
        const BlockMatrix curvature = system.constraint_hessian(r.lambda);
        RB_UNROLL
        for (int b = 0; b < Algebra::N; ++b) a[b] = fma((T(1.0) - step_.theta_) * reach, curvature[b], a[b]);
      }
      if constexpr (terms > 0) {
        Vector<T, terms> first, second;
        potential_slopes(system, r, first, second);
        const BlockMatrix curvature = system.potential_invariants_hessian(first);
        RB_UNROLL
        for (int b = 0; b < Algebra::N; ++b) a[b] = fma(rest_ * reach, curvature[b], a[b]);
        const Matrix<T, terms, n> columns = system.potential_invariants_jacobian(r.x);
        d.rows = energy ? system.potential_invariants_jacobian(r.q_1) : columns;
        RB_UNROLL
        for (int t = 0; t < terms; ++t)
          d.response[multipliers + t] = (rest_ * (energy ? h_ : reach) * second[t]) * columns[t];
      }
      d.lu = Lu<T, Algebra::N>(a);

      d.g_position = scheme == GglScheme::theta_a ? r.g_x : r.g_1;
      d.position_factor = scheme == GglScheme::theta_a ? step_.theta_ : T(1.0);
      if constexpr (has_gamma) {
        d.g_hidden = energy ? r.g_1 : r.g_x;
        d.second = Algebra::second_forms(system, energy ? r.v_1 : r.v);
        d.second_factor = energy ? T(0.5) * h_ : reach;  // with the factor 2 of v_1 = 2 v - v_0 taken out
      }
    }

    /// Derivatives along du of the constraints (the hidden one of v_1 halved) and of the rank-1 terms.
    RB_HD Vector<T, reduced> constraints_of(const Linearisation& d, const Vector<T, n>& du) const {
      Vector<T, reduced> r;
      const Vector<T, m> position = d.g_position * du;
      RB_UNROLL
      for (int i = 0; i < m; ++i) r[first_position + i] = d.position_factor * position[i];
      if constexpr (has_gamma) {
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
      const Vector<T, terms> pi = system.potential_invariants(energy ? r.q_1 : r.x);
      for_terms([&](auto a) {
        using D = Dual<T, 1>;
        D slope;
        if constexpr (energy) {
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
      return system.template potential_term<a>(Secant<S, 1>(pi_0, pi_1, 0)).slope[0];
    }
    template <class F>
    RB_HD static void for_terms(F f) {
      [&]<int... a>(std::integer_sequence<int, a...>) { (f(std::integral_constant<int, a>{}), ...); }
      (std::make_integer_sequence<int, terms>{});
    }

    const CondensedGgl& step_;
    const State& state_;
    T h_, inverse_h_, rest_;
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
  using Team = Tile<tile_lanes(size, parts<T>)>;
  using State = PhaseState<T, n, m>;

  RB_HD CondensedViS(const System& system, const SolverOptions<T>& options)
      : system_(system), algebra_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return (*this)(state, h, NothingKept{}); }
  template <class Keep>
  RB_HD_LARGE StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    typename Team::template Shared<Workspace> shared;
    Workspace& workspace = *shared;
    Team::sync();
    if (Team::leads()) workspace.g_0 = Algebra::forms(system_, state.q);
    Team::sync();
    const Problem problem(*this, state, h, workspace.g_0);
    const Vector<T, n> v = Algebra::scale(algebra_.inverse_mass, state.p);
    const T scale = detail::velocity_scale(h, state.q, v, (T(1.0) / h) * (problem.v_free - v));
    Vector<T, size> x;
    const NewtonReport<T> report = newton(problem, options_, scale, x, workspace.newton);
    const Evaluation& r = workspace.newton.residual;
    const Vector<T, n> p_1 = Algebra::scale(algebra_.mass, r.z);
    state.lambda = (T(-1.0) / h) * segment<0, m>(x);
    const T check = sum(r.q_1) + sum(p_1) + sum(state.lambda);
    const T status = step_status<T>(report.converged, report.singular, is_finite(check));
    keep.put(status == T(0.0), segment<m, m>(x), r.v, state.q, state.p);
    state.q = r.q_1;
    state.p = p_1;
    return {status, report.iterations, r.norm};
  }

 private:
  struct Evaluation {
    Vector<T, n> v, z, q_1;
    Forms g_y, g_1;
    Lu<T, Algebra::N> lu;
    Vector<T, m> position, hidden;
    T norm;
  };

  struct Problem {
    using Unknowns = Vector<T, size>;
    using Residual = Evaluation;
    using Team = typename CondensedViS::Team;
    struct Jacobian {
      Lu<T, size, Team> lu;
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
      r.g_y = Algebra::forms(system, fma(h_, r.v, state_.q));
      const Vector<T, n> u = r.v + Algebra::scale(algebra.inverse_mass, r.g_y.transpose_times(gamma));
      r.q_1 = fma(h_, u, state_.q);
      r.g_1 = Algebra::forms(system, r.q_1);
      r.lu = Lu<T, Algebra::N>(algebra.mass_plus(h_, system.constraint_hessian(gamma)));
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

namespace detail {

/// Derivatives in q and v of gamma . G(q) v - L_v(q, v) . w: zero in v says that L_vv w = G^T gamma, and then the derivative
/// in q is D_1 g^v(q, p)^T gamma at p = L_v(q, v).
template <class System, class D, int n = System::n, int m = System::m>
RB_HD_LARGE Gradient<D, n, 1> hidden_gradient(const System& system, const Vector<D, n>& q, const Vector<D, n>& v,
                                              const Vector<D, n>& w, const Vector<D, m>& gamma) {
  const auto f = [&](const auto& x, const auto& y) {
    using S = std::remove_cvref_t<decltype(x[0])>;
    using E = Dual<S, 1>;
    Vector<E, n> moved, fixed, pushed;
    for (int i = 0; i < n; ++i) {
      moved[i].value = fixed[i].value = x[i];
      moved[i].partial[0] = pushed[i].value = y[i];
      fixed[i].partial[0] = S(0.0);
      pushed[i].partial[0] = S(w[i]);
    }
    const auto g = system.position_constraint(moved);
    S sum = -lagrangian(system, fixed, pushed).partial[0];
    for (int k = 0; k < m; ++k) sum = sum + S(gamma[k]) * g[k].partial[0];
    return Vector<S, 1>{sum};
  };
  return gradient<1>(f, q, v);
}

template <class System, class D, int n = System::n>
RB_HD_LARGE Gradient<D, n, 1> lagrangian_gradient(const System& system, const Vector<D, n>& q, const Vector<D, n>& v) {
  return gradient<1>(
      [&](const auto& x, const auto& y) {
        return Vector<std::remove_cvref_t<decltype(x[0])>, 1>{lagrangian(system, x, y)};
      },
      q, v);
}

/// velocity_scale with the acceleration of the free motion, about.
template <class System, class T, int n = System::n>
RB_HD T velocity_scale(const System& system, const T& h, const Vector<T, n>& q, const Vector<T, n>& v) {
  const Vector<T, n> by_force = velocity(system, q, lagrangian_gradient(system, q, v).dq[0]);
  return velocity_scale(h, q, v, by_force);
}

/// What the steps for any Lagrangian share: a full Newton problem from a residual over any scalar. Equations provides size,
/// guess(fraction), residual(x), size_of(x). The Jacobian is found by dual numbers, a direction at a time.
template <class T, class Equations>
struct DualProblem {
  using Unknowns = Vector<T, Equations::size>;
  using Residual = Unknowns;
  using Team = Tile<tile_lanes(Equations::size, parts<T>)>;
  using Jacobian = Lu<T, Equations::size, Team>;

  RB_HD Unknowns guess(const T& fraction) const { return equations.guess(fraction); }
  RB_HD void evaluate(const Unknowns& x, Residual& r) const { r = equations.residual(x); }
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
};

}  // namespace detail

/// Any regular Lagrangian. w of the head of this file is an unknown in VI-S, with v, z, h lambda and gamma, and u - v in the
/// theta family, with the unknowns u = (q' - q)/h, v, h lambda and gamma.
template <class T, class System, GglScheme scheme>
class GeneralGgl {
  static constexpr int n = System::n, m = System::m;
  static constexpr bool vi_s = scheme == GglScheme::vi_s, option_b = scheme == GglScheme::theta_b;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD GeneralGgl(const System& system, const SolverOptions<T>& options) requires vi_s : system_(system),
                                                                                          options_(options),
                                                                                          theta_(0.0),
                                                                                          vartheta_(0.0) {}
  RB_HD GeneralGgl(const System& system, const SolverOptions<T>& options, const double* numbers) requires(!vi_s)
      : system_(system), options_(options), theta_(numbers[0]), vartheta_(numbers[1]) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return (*this)(state, h, NothingKept{}); }
  template <class Keep>
  RB_HD_LARGE StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const Equations equations(*this, state, h);
    Vector<T, Equations::size> x;
    typename Team::template Shared<Workspace> workspace;
    const NewtonReport<T> report =
        newton(detail::DualProblem<T, Equations>{equations}, options_, equations.scale(), x, *workspace);
    equations.finish(x, state);
    const T check = sum(state.q) + sum(state.p) + sum(state.lambda);
    const T status = step_status<T>(report.converged, report.singular, is_finite(check));
    const State& of_v = vi_s ? equations.start() : state;
    keep.put(status == T(0.0), segment<Equations::first_gamma, m>(x), segment < vi_s ? 0 : n, n > (x), of_v.q, of_v.p);
    return {status, report.iterations, max_norm((*workspace).residual)};
  }

 private:
  struct Equations {
    static constexpr int blocks = vi_s ? 3 : 2, size = blocks * n + 2 * m, first_lambda = blocks * n,
                         first_gamma = first_lambda + m;

    RB_HD Equations(const GeneralGgl& step, const State& state, const T& h)
        : step_(step),
          state_(state),
          h_(h),
          v_0_(velocity(step.system_, state.q, state.p)),
          g_0_(position_constraint(step.system_, state.q).jacobian) {}

    RB_HD Vector<T, size> guess(const T& fraction) const {
      auto x = Vector<T, size>::zero();
      for (int i = 0; i < n; ++i) x[i] = x[n + i] = fraction * v_0_[i];
      for (int k = 0; k < m; ++k) x[first_lambda + k] = -(h_ * state_.lambda[k]);
      return x;
    }
    RB_HD const State& start() const { return state_; }
    RB_HD T scale() const { return detail::velocity_scale(step_.system_, h_, state_.q, v_0_); }
    /// Of the velocities among the unknowns.
    RB_HD T size_of(const Vector<T, size>& update) const { return magnitude(segment<0, blocks * n>(update)); }

    template <class D>
    RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
      const System& system = step_.system_;
      const D h(h_), inverse_h(T(1.0) / h_);
      const Vector<D, m> lambda = segment<first_lambda, m>(x), gamma = segment<first_gamma, m>(x);
      const Vector<D, n> q_0 = constant<D>(state_.q), p_0 = constant<D>(state_.p);
      Vector<D, n> force_0;  // of h lambda, at the beginning of the step
      for (int i = 0; i < n; ++i) {
        force_0[i] = D(0.0);
        for (int k = 0; k < m; ++k) force_0[i] = force_0[i] + lambda[k] * D(g_0_[k][i]);
      }
      if constexpr (vi_s) {
        const Vector<D, n> v = segment<0, n>(x), z = segment<n, n>(x), w = segment<2 * n, n>(x);
        const Vector<D, n> y = fma(h, v, q_0), q_1 = fma(h, v + w, q_0);
        const auto hidden = detail::hidden_gradient(system, y, z, w, gamma);
        const auto l_0 = detail::lagrangian_gradient(system, q_0, v), l_y = detail::lagrangian_gradient(system, y, z);
        const Vector<D, n> kick = l_0.dv[0] - p_0 - h * l_0.dq[0] + force_0;
        const Vector<D, n> drift = l_0.dv[0] - l_y.dv[0] - h * hidden.dq[0];
        return join(join(join(hidden.dv[0], kick), drift),
                    join(inverse_h * system.position_constraint(q_1), constraint(system, y, z)));
      } else {
        const Vector<D, n> u = segment<0, n>(x), v = segment<n, n>(x);
        const D theta(step_.theta_), rest = D(1.0) - theta;
        const Vector<D, n> middle = fma(h * theta, u, q_0), q_1 = fma(h, u, q_0);
        const auto hidden = detail::hidden_gradient(system, middle, v, u - v, gamma);
        const auto l = detail::lagrangian_gradient(system, middle, v);
        Vector<D, n> kick = l.dv[0] - p_0 - (rest * h) * (l.dq[0] - hidden.dq[0]);
        if constexpr (option_b) {
          kick = fma(D(1.0) - D(step_.vartheta_), force_0, kick);
        } else {
          kick = fma(rest, transpose_times(position_constraint(system, middle).jacobian, lambda), kick);
        }
        const Vector<D, m> g = system.position_constraint(option_b ? q_1 : middle);
        return join(join(hidden.dv[0], kick), join(inverse_h * g, constraint(system, middle, v)));
      }
    }

    /// The state at the end of the step.
    RB_HD_LARGE void finish(const Vector<T, size>& x, State& state) const {
      const System& system = step_.system_;
      const Vector<T, m> lambda = segment<first_lambda, m>(x), gamma = segment<first_gamma, m>(x);
      if constexpr (vi_s) {
        const Vector<T, n> v = segment<0, n>(x), z = segment<n, n>(x), w = segment<2 * n, n>(x);
        state.p = momentum(system, fma(h_, v, state.q), z);
        state.q = fma(h_, v + w, state.q);
      } else {
        const Vector<T, n> u = segment<0, n>(x), v = segment<n, n>(x);
        const Vector<T, n> middle = fma(h_ * step_.theta_, u, state.q), q_1 = fma(h_, u, state.q);
        const auto hidden = detail::hidden_gradient(system, middle, v, u - v, gamma);
        const auto l = detail::lagrangian_gradient(system, middle, v);
        state.p = fma(h_, l.dq[0] - hidden.dq[0], state.p);
        if constexpr (option_b) {
          state.p = state.p - (T(1.0) - step_.vartheta_) * transpose_times(g_0_, lambda) -
                    step_.vartheta_ * transpose_times(position_constraint(system, q_1).jacobian, lambda);
        } else {
          state.p = state.p - transpose_times(position_constraint(system, middle).jacobian, lambda);
        }
        state.q = q_1;
      }
      state.lambda = (T(-1.0) / h_) * lambda;
    }

   private:
    template <class D, int N>
    RB_HD static Vector<D, N> constant(const Vector<T, N>& a) {
      Vector<D, N> r;
      for (int i = 0; i < N; ++i) r[i] = D(a[i]);
      return r;
    }

    const GeneralGgl& step_;
    const State state_;
    T h_;
    Vector<T, n> v_0_;
    Matrix<T, m, n> g_0_;
  };

 public:
  using Team = typename detail::DualProblem<T, Equations>::Team;
  using Workspace = NewtonWorkspace<detail::DualProblem<T, Equations>>;

 private:
  System system_;
  SolverOptions<T> options_;
  T theta_, vartheta_;
};

namespace detail {
template <class T, class System, GglScheme scheme>
struct GglForm {
  using type = GeneralGgl<T, System, scheme>;
};
template <class T, class System, GglScheme scheme>
  requires Blocks<System>
struct GglForm<T, System, scheme> {
  using type = CondensedGgl<T, System, scheme>;
};
template <class T, class System>
  requires Blocks<System>
struct GglForm<T, System, GglScheme::vi_s> {
  using type = CondensedViS<T, System>;
};
}  // namespace detail

/// The condensed form where the system allows it.
template <class T, class System, GglScheme scheme>
  requires ConstrainedOnRn<System>
using GglStep = typename detail::GglForm<T, System, scheme>::type;

/// The two ways to impose the constraint in the theta family, (79) and (82).
struct ConstraintA {
  static constexpr auto scheme = GglScheme::theta_a;
};
struct ConstraintB {
  static constexpr auto scheme = GglScheme::theta_b;
};

namespace methods {

inline constexpr auto ggl_source =
    "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
    "constrained mechanical systems, Nonlinear Dynamics 111 (2023)";

inline constexpr auto ggl_needs = "configuration space R^n";

template <int order>
int constant_order(std::span<const OptionValue>, const SystemEntry&) {
  return order;
}

/// The numbers of a fixed member of the theta family.
template <const GglNumbers& member>
Settled settle_ggl(std::span<const OptionValue>, const SystemEntry&, double* numbers, char*, int) {
  fill_numbers(member, numbers);
  return Settled::good;
}

inline constexpr MethodEntry ggl_vi_s{
    .name = "ggl-vi-s",
    .summary = "GGL variational integrator with one-sided evaluations; symplectic, positions on the constraint",
    .source = ggl_source,
    .order = "q, p: 1",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<1>,
    .needs = ggl_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true};
inline constexpr MethodEntry ggl_vi_a{
    .name = "ggl-vi-a",
    .summary = "GGL variational integrator at the midpoint; symplectic, constraints hold at midpoints",
    .source = ggl_source,
    .order = "q, p: 2",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .settle = settle_ggl<ggl_vi_a_numbers>,
    .order_of = constant_order<2>,
    .needs = ggl_needs,
    .exact_constraint = false,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};
inline constexpr MethodEntry ggl_vi_b{
    .name = "ggl-vi-b",
    .summary =
        "GGL variational integrator with evaluations at the end of the step; symplectic, positions on the "
        "constraint",
    .source = ggl_source,
    .order = "q, p: 1; lambda: 0, mean of two steps 1",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .settle = settle_ggl<ggl_vi_b_numbers>,
    .order_of = constant_order<1>,
    .needs = ggl_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};
inline constexpr MethodEntry ggl_vi_bs{
    .name = "ggl-vi-bs",
    .summary = "GGL variational integrator with midpoint evaluations; symplectic, positions on the constraint",
    .source = ggl_source,
    .order = "q, p: 2",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .settle = settle_ggl<ggl_vi_bs_numbers>,
    .order_of = constant_order<2>,
    .needs = ggl_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};

inline constexpr const char* ggl_constraints[] = {"A", "B"};
inline constexpr OptionInfo ggl_theta_options[] = {
    {.name = "theta",
     .kind = OptionKind::number,
     .text = "where forces are evaluated: at (1 - theta) q + theta q'; with constraint A 1/2",
     .standard = 0.5},
    {.name = "vartheta",
     .kind = OptionKind::number,
     .text = "with constraint B, where the multiplier acts, from 0, the beginning of the step, to 1/2, both ends",
     .standard = 0.5},
    {.name = "constraint",
     .kind = OptionKind::choice,
     .text = "g vanishes at the point of evaluation (A) or at the end of the step (B)",
     .standard = 1,
     .choices = ggl_constraints,
     .compiled = true}};

inline Settled settle_ggl_theta(std::span<const OptionValue> values, const SystemEntry&, double* numbers, char* message,
                                int message_size) {
  const GglNumbers member{values[0].number, values[1].number};
  const auto scheme = values[2].number == 0.0 ? ConstraintA::scheme : ConstraintB::scheme;
  fill_numbers(member, numbers);
  const char* fault = unusable(scheme, member);
  if (fault == nullptr) return Settled::good;
  std::snprintf(message, static_cast<std::size_t>(message_size), "theta = %g, vartheta = %g: %s", member.theta,
                member.vartheta, fault);
  return Settled::refused;
}

inline int order_of_ggl_theta(std::span<const OptionValue> values, const SystemEntry&) {
  return values[0].number == 0.5 ? 2 : 1;
}

inline constexpr MethodEntry ggl_theta{
    .name = "ggl-theta",
    .summary = "GGL variational integrators with theta, vartheta and constraint A or B; symplectic",
    .source = ggl_source,
    .order = "q: 2 for theta = 1/2, else 1; p: as q, but with constraint B 2 only where vartheta = 1/2, too",
    .constraints = ConstraintKind::holonomic,
    .options = ggl_theta_options,
    .carries_multiplier = true,
    .settle = settle_ggl_theta,
    .order_of = order_of_ggl_theta,
    .needs = ggl_needs,
    .exact_constraint = false,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};

}  // namespace methods

RB_NAMESPACE_END
