#pragma once
// Line-integral methods HBVM(k, s) for H = p.M^-1 p/2 + U(q) with holonomic constraints g(q) = 0, or none.
// L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller, Line Integral Solution of Hamiltonian Systems with Holonomic
// Constraints, section 4; the numbers in parentheses are its equations. Its lambda has the other sign.
//
// The velocity of a step is the polynomial sum_{j<s} gamma_j P_j, its coefficients from a Gauss rule of k nodes c_i,
// weights b_i:
//
//   Y_i = q + h sum_j I_ij gamma_j                      I_ij = int_0^{c_i} P_j,  i = 1..k
//   f_j = sum_i W_ji F(Y_i),  rho_j = sum_i W_ji Dg(Y_i)        W_ji = b_i P_j(c_i),  F = -grad U,  j = 0..s-1      (49)
//   gamma_j = delta_j0 v + h M^-1 sum_l X_jl (f_l + rho_l^T Lambda)      X_jl = int_0^1 P_j int_0^c P_l              (50)
//   sum_j rho_j gamma_j = 0, the mean of d/dt g over the step, or "direct": g(q + h gamma_0) = 0                    (51)
//   q' = q + h gamma_0,   p' = p + h (f_0 + rho_0^T Lambda)                                                        (52)
//
// Lambda is constant over the step and belongs to its middle. It is kept for the record and as the guess of Newton's method.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/solve/iteration.hpp"
#include "rattleback/tableaus/legendre.hpp"

RB_NAMESPACE_BEGIN

/// The options of a step that are numbers at run time.
struct HbvmOptions {
  int k = 6;            ///< nodes, s <= k <= 12
  bool direct = false;  ///< g(q') = 0 in place of the line integral
  bool newton = false;  ///< Newton's method from the start, not only where the fixed point does not contract
};

namespace detail {
/// Where the numbers of a step are: its options, then k rows of I_i0 - 1/2, I_i1..I_i,s-1, W_0i..W_s-1,i.
struct HbvmNumbers {
  static constexpr int k = 0, direct = 1, newton = 2, rows = 3;
};
}  // namespace detail

inline constexpr int hbvm_numbers_max = detail::HbvmNumbers::rows + 2 * legendre_nodes_max * legendre_terms_max;
static_assert(hbvm_numbers_max <= max_method_numbers);

/// Writes the numbers a step with s coefficients needs; host only.
inline void hbvm_numbers(int s, const HbvmOptions& options, double* numbers) {
  using N = detail::HbvmNumbers;
  const GaussLegendre rule = gauss_legendre(options.k);
  numbers[N::k] = options.k;
  numbers[N::direct] = options.direct;
  numbers[N::newton] = options.newton;
  double* row = numbers + N::rows;
  for (int i = 0; i < options.k; ++i, row += 2 * s)
    for (int j = 0; j < s; ++j) {
      row[j] = rule.integral[i][j];
      row[s + j] = rule.weighted[i][j];
    }
}

/// One step. Its numbers, written by `hbvm_numbers`, stay where they are for as long as it is in use.
///
/// Given gamma, Lambda solves m linear equations, so the unknowns are the s n coefficients. They are found by functional
/// iteration; lanes for which it does not contract go on with Newton's method, or without `robust` are handed over. A lane that
/// has converged keeps its gamma, so further sweeps of the pack recompute the same numbers for it.
template <class T, class System, int S, bool robust = true>
  requires(S >= 1 && S <= legendre_terms_max && HolonomicOnRn<System> && SeparableForm<System>)
class Hbvm {
  static constexpr int n = System::n, m = System::m;
  static constexpr int size = S * n + m;
  using Forms = ConstraintForms<System>;
  using Coefficients = Vector<T, n>[S];

 public:
  using State = StateOf<T, System>;
  using FastStep = Hbvm<T, System, S, false>;
  static constexpr bool defers_failures = !robust;

  RB_HD Hbvm(const System& system, const SolverOptions<T>& options, const double* numbers)
      : system_(system), mass_(system), options_(options), numbers_(numbers) {}

  RB_HD_LARGE StepReport<T> operator()(State& state, T h) const { return (*this)(state, PlainSum{}, h); }

  /// The same with a summation of the state of one's own.
  template <class Sum>
  RB_HD_LARGE StepReport<T> operator()(State& state, Sum&& sum, T h) const {
    Vector<T, n> dq, dp;
    StepReport<T> report = solve(state, h, dq, dp);
    sum.add(dq, dp, report.status == T(0.0), state);
    check(state, report);
    return report;
  }

 private:
  using N = detail::HbvmNumbers;

  /// What one sweep makes of gamma.
  struct Sweep {
    Coefficients impulse;     // h (f_j + rho_j^T Lambda)
    Vector<T, m> multiplier;  // h Lambda
    mask_t<T> singular;
  };

  RB_HD int nodes() const { return static_cast<int>(numbers_[N::k]); }
  RB_HD const double* row(int i) const { return numbers_ + N::rows + 2 * S * i; }
  RB_HD bool direct() const { return numbers_[N::direct] != 0.0; }
  RB_HD bool newton_only() const { return numbers_[N::newton] != 0.0; }

  /// The increments of q and p, and the new multiplier.
  RB_HD StepReport<T> solve(State& state, T h, Vector<T, n>& dq, Vector<T, n>& dp) const {
    const Vector<T, n> v = mass_.inverse_times(state.p);
    Coefficients gamma;
    guess(v, gamma);
    const T inverse_h = T(1.0) / h;
    const T rounding = rounding_velocity(inverse_h, state.q);

    Sweep sweep;
    FixedPoint<T> lanes(options_);  // the refused ones are left to Newton's method
    lanes.refuse(mask_t<T>(newton_only()));
    T update(0.0);
    Coefficients next;
    for (int iteration = 1;; ++iteration) {
      evaluate(state, h, inverse_h, v, gamma, sweep);
      velocities(v, sweep.impulse, next);
      T change(0.0);
      RB_UNROLL
      for (int j = 0; j < S; ++j) change = larger(change, magnitude(next[j] - gamma[j]));
      update = select(lanes.active, change, update);
      if (iteration == 1) lanes.rescale(options_, magnitude(v) + change + rounding);
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
        // on copies: its arrays live in memory, and what the sweeps use is to stay in registers
        const Hbvm step(*this);
        const State at(state);
        Newton newton;
        newton.lanes.active = lanes.refused;
        step.refine(at, h, newton);
        dq = select(lanes.refused, newton.gamma[0], dq);
        dp = select(lanes.refused, newton.impulse, dp);
        if constexpr (m > 0) sweep.multiplier = select(lanes.refused, newton.multiplier, sweep.multiplier);
        update = select(lanes.refused, newton.residual, update);
        lanes.iterations = lanes.iterations + newton.lanes.iterations;
        lanes.singular = lanes.singular | newton.lanes.singular;
        lanes.refused = newton.lanes.active;
      }
    }
    dq = h * dq;
    if constexpr (m > 0) state.lambda = inverse_h * sweep.multiplier;
    return {step_status<T>(lanes.converged(), lanes.singular, mask_t<T>(true)), lanes.iterations, update};
  }

  RB_HD static void guess(const Vector<T, n>& v, Coefficients& gamma) {
    gamma[0] = v;
    RB_UNROLL
    for (int j = 1; j < S; ++j) gamma[j] = Vector<T, n>::zero();
  }

  /// q + h gamma_0/2, from which the node positions are reckoned.
  RB_HD static Vector<T, n> middle(const State& state, T h, const Coefficients& gamma) {
    return fma(T(0.5) * h, gamma[0], state.q);
  }
  /// Y_i
  RB_HD Vector<T, n> position(const Vector<T, n>& middle, T h, const Coefficients& gamma, int i) const {
    const double* integral = row(i);
    Vector<T, n> y = T(integral[0]) * gamma[0];
    RB_UNROLL
    for (int j = 1; j < S; ++j) y = fma(T(integral[j]), gamma[j], y);
    return fma(h, y, middle);
  }

  /// h f_j and rho_j (49)
  RB_HD void quadrature(const State& state, T h, const Coefficients& gamma, Coefficients& hf, Forms (&rho)[S]) const {
    RB_UNROLL
    for (int j = 0; j < S; ++j) {
      hf[j] = Vector<T, n>::zero();
      if constexpr (m > 0) rho[j].mu = Matrix<T, m, n>::zero();
    }
    const Vector<T, n> from = middle(state, h, gamma);
    const int k = nodes();
    for (int i = 0; i < k; ++i) {
      const double* weight = row(i) + S;
      const Vector<T, n> y = position(from, h, gamma, i);
      const Vector<T, n> f = force(system_, y);
      RB_UNROLL
      for (int j = 0; j < S; ++j) hf[j] = fma(T(weight[j]), f, hf[j]);
      if constexpr (m > 0) {
        const Matrix<T, m, n> dg = position_constraint(system_, y).jacobian;
        RB_UNROLL
        for (int j = 0; j < S; ++j) accumulate(T(weight[j]), dg, rho[j]);
      }
    }
    RB_UNROLL
    for (int j = 0; j < S; ++j) {
      hf[j] = h * hf[j];
      if constexpr (m > 0) complete(rho[j]);
    }
  }
  /// rho += weight Dg, without the entries that are minus another one.
  RB_HD static void accumulate(T weight, const Matrix<T, m, n>& dg, Forms& rho) {
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (Forms::entry(c, i) && !(opposite(c, i) < i)) rho.mu[c][i] = fma(weight, dg[c][i], rho.mu[c][i]);
    }
  }
  RB_HD static void complete(Forms& rho) {
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (opposite(c, i) < i) rho.mu[c][i] = -rho.mu[c][opposite(c, i)];
    }
  }
  RB_HD static constexpr int opposite(int row, int column) {
    if constexpr (requires { System::constraint_opposite(0, 0); }) {
      return System::constraint_opposite(row, column);
    } else {
      return column;
    }
  }

  /// Row i of X applied to vectors: xi_i u_{i-1} - xi_{i+1} u_{i+1}, and u_0/2 - xi_1 u_1 for i = 0.
  RB_HD static Vector<T, n> integrate(const Coefficients& u, int i) {
    Vector<T, n> r = T(legendre_xi(i)) * u[i == 0 ? 0 : i - 1];
    if (i + 1 < S) r = fma(T(-legendre_xi(i + 1)), u[i + 1 < S ? i + 1 : i], r);
    return r;
  }

  /// gamma_j from the impulses (50).
  RB_HD void velocities(const Vector<T, n>& v, const Coefficients& impulse, Coefficients& gamma) const {
    RB_UNROLL
    for (int j = 0; j < S; ++j) gamma[j] = mass_.inverse_times(integrate(impulse, j));
    gamma[0] = v + gamma[0];
  }

  /// One sweep: forces and constraint gradients at the nodes, the multiplier, the impulses.
  RB_HD void evaluate(const State& state, T h, T inverse_h, const Vector<T, n>& v, const Coefficients& gamma,
                      Sweep& sweep) const {
    Forms rho[S];
    quadrature(state, h, gamma, sweep.impulse, rho);
    if constexpr (m > 0) {
      Matrix<T, m, m> matrix;
      if (direct()) {
        direct_equations(state, h, inverse_h, v, gamma, sweep.impulse, rho, matrix, sweep.multiplier);
      } else {
        line_integral_equations(v, sweep.impulse, rho, matrix, sweep.multiplier);
      }
      sweep.singular = solve_once<PivotedUnrolled>(matrix, sweep.multiplier);
      RB_UNROLL
      for (int j = 0; j < S; ++j) sweep.impulse[j] = sweep.impulse[j] + rho[j].transpose_times(sweep.multiplier);
    }
  }

  /// sum_j rho_j gamma_j = 0 with gamma from (50): A h Lambda = -sum_i rho_i (delta_i0 v + M^-1 sum_j X_ij h f_j) (51), where
  ///   A = sum_ij X_ij rho_i M^-1 rho_j^T = rho_0 M^-1 rho_0^T/2 + sum_j xi_j (rho_j M^-1 rho_{j-1}^T - its transpose).
  RB_HD void line_integral_equations(const Vector<T, n>& v, const Coefficients& hf, const Forms (&rho)[S],
                                     Matrix<T, m, m>& a, Vector<T, m>& right) const {
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      const Vector<T, n> response = mass_.inverse_times(rho[0].mu[c]);
      RB_UNROLL
      for (int d = c; d < m; ++d) a[c][d] = a[d][c] = T(0.5) * product(rho[0], d, response, c);
    }
    // not v + M^-1 h f_0/2 first: where the force is constant, the rounding of that sum is, too, and the energy drifts
    right = -(rho[0] * v);
    RB_UNROLL
    for (int j = 0; j < S; ++j) right = right - rho[j] * mass_.inverse_times(integrate(hf, j));
    RB_UNROLL
    for (int j = 1; j < S; ++j) {
      const T xi(legendre_xi(j));
      RB_UNROLL
      for (int c = 0; c < m; ++c) {
        const Vector<T, n> response = mass_.inverse_times(rho[j - 1].mu[c]), other = mass_.inverse_times(rho[j].mu[c]);
        RB_UNROLL
        for (int d = c + 1; d < m; ++d) {
          const T skew = xi * (product(rho[j], d, response, c) - product(rho[j - 1], d, other, c));
          a[d][c] = a[d][c] + skew;
          a[c][d] = a[c][d] - skew;
        }
      }
    }
  }
  /// Row d of rho times M^-1 times a row with the sparsity of row c, given by its response.
  RB_HD static T product(const Forms& rho, int d, const Vector<T, n>& response, int c) {
    T r(0.0);
    RB_UNROLL
    for (int i = 0; i < n; ++i)
      if (Forms::entry(d, i) && (!Mass<System>::is_diagonal || Forms::entry(c, i)))
        r = fma(rho.mu[d][i], response[i], r);
    return r;
  }

  /// g(q') = 0, linearised about the present q' = q + h gamma_0, with the next gamma_0 from (50).
  RB_HD void direct_equations(const State& state, T h, T inverse_h, const Vector<T, n>& v, const Coefficients& gamma,
                              const Coefficients& hf, const Forms (&rho)[S], Matrix<T, m, m>& a,
                              Vector<T, m>& right) const {
    const auto g = position_constraint(system_, fma(h, gamma[0], state.q));
    Forms dg;
    dg.mu = g.jacobian;
    Forms mean = rho[0];  // rho_0/2 - xi_1 rho_1
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      mean.mu[c] = T(0.5) * mean.mu[c];
      if constexpr (S > 1) mean.mu[c] = fma(T(-legendre_xi(1)), rho[1].mu[c], mean.mu[c]);
    }
    a = dg.gram(mass_, mean);
    right = -(inverse_h * g.value) - dg * ((v - gamma[0]) + mass_.inverse_times(integrate(hf, 0)));
  }

  /// Unknowns and outcome of Newton's method.
  struct Newton {
    Coefficients gamma;
    Vector<T, m> multiplier;  // h Lambda
    Vector<T, n> impulse;     // h (f_0 + rho_0^T Lambda)
    T residual;
    SolveState<T> lanes;
  };

  /// Newton's method for (gamma, h Lambda) in the active lanes, from the guess of the sweeps. The Jacobian, by dual numbers, is
  /// new in every iteration.
  RB_HD_LARGE void refine(const State& state, T h, Newton& x) const {
    const Vector<T, n> v = mass_.inverse_times(state.p);
    const T inverse_h = T(1.0) / h;
    guess(v, x.gamma);
    if constexpr (m > 0) x.multiplier = h * state.lambda;
    Iteration<T> lanes(options_, T(0.0));
    lanes.active = x.lanes.active;
    for (int iteration = 0;; ++iteration) {
      Forms rho[S];
      Vector<T, size> b;  // minus the residuals, then the update
      residual(state, h, inverse_h, v, x, rho, b);
      if (lanes.ended() || iteration == options_.max_iterations) break;
      const Factors<T, size> lu(jacobian(state, h, x, rho));
      lanes.note_singular(lu.singular());
      b = lu.solve(b);
      T change(0.0);
      for (int j = 0; j < S; ++j) {
        Vector<T, n> d;
        for (int i = 0; i < n; ++i) d[i] = b[j * n + i];
        x.gamma[j] = select(lanes.active, x.gamma[j] + d, x.gamma[j]);
        change = larger(change, magnitude(d));
      }
      if constexpr (m > 0) {
        Vector<T, m> d;
        for (int c = 0; c < m; ++c) d[c] = b[S * n + c];
        x.multiplier = select(lanes.active, x.multiplier + d, x.multiplier);
        change = larger(change, magnitude(mass_.inverse_times(rho[0].transpose_times(d))));
      }
      if (iteration == 0)
        lanes.convergence = Convergence<T>(options_, magnitude(v) + change + rounding_velocity(inverse_h, state.q));
      lanes.settle(change);
    }
    x.lanes = lanes;
  }

  /// Minus the residuals of (50) and of the multiplier's equation, and what else follows from the unknowns.
  RB_HD_LARGE void residual(const State& state, T h, T inverse_h, const Vector<T, n>& v, Newton& x, Forms (&rho)[S],
                            Vector<T, size>& b) const {
    Coefficients impulse, next;
    quadrature(state, h, x.gamma, impulse, rho);
    if constexpr (m > 0) {
      for (int j = 0; j < S; ++j) impulse[j] = impulse[j] + rho[j].transpose_times(x.multiplier);
    }
    x.impulse = impulse[0];
    velocities(v, impulse, next);
    x.residual = T(0.0);
    for (int j = 0; j < S; ++j) {
      next[j] = next[j] - x.gamma[j];
      x.residual = larger(x.residual, magnitude(next[j]));
      for (int i = 0; i < n; ++i) b[j * n + i] = next[j][i];
    }
    if constexpr (m > 0) {
      auto mean = Vector<T, m>::zero();
      if (direct()) {
        mean = inverse_h * system_.position_constraint(fma(h, x.gamma[0], state.q));
      } else {
        for (int j = 0; j < S; ++j) mean = mean + rho[j] * x.gamma[j];
      }
      for (int c = 0; c < m; ++c) b[S * n + c] = -mean[c];
    }
  }

  /// Derivatives of those residuals, with the other sign, in (gamma, h Lambda).
  RB_HD_LARGE Matrix<T, size, size> jacobian(const State& state, T h, const Newton& unknowns,
                                             const Forms (&rho)[S]) const {
    using D = Dual<T, 1>;
    auto jac = Matrix<T, size, size>::zero();
    for (int i = 0; i < S * n; ++i) jac[i][i] = T(1.0);
    const Vector<T, n> from = middle(state, h, unknowns.gamma);
    const int k = nodes();
    for (int r = 0; r < k; ++r) {
      const double* weight = row(r) + S;
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
        const Vector<D, n> f = force(system_, x);
        for (int i = 0; i < n; ++i) slope[i] = h * f[i].partial[0];
        if constexpr (m > 0) {
          const auto dg = position_constraint(system_, x).jacobian;
          for (int c = 0; c < m; ++c) {
            T bend(0.0);
            for (int i = 0; i < n; ++i) {
              slope[i] = fma(unknowns.multiplier[c], dg[c][i].partial[0], slope[i]);
              bend = fma(dg[c][i].partial[0], velocity[i], bend);
            }
            if (direct()) continue;
            for (int l = 0; l < S; ++l)
              jac[S * n + c][l * n + direction] = fma(h * T(integral[l]), bend, jac[S * n + c][l * n + direction]);
          }
        }
        slope = mass_.inverse_times(slope);
        for (int i = 0; i < S; ++i) {
          // row i of X W at this node
          double factor = legendre_xi(i) * weight[i == 0 ? 0 : i - 1];
          if (i + 1 < S) factor -= legendre_xi(i + 1) * weight[i + 1];
          for (int l = 0; l < S; ++l)
            for (int a = 0; a < n; ++a)
              jac[i * n + a][l * n + direction] =
                  fma(-(h * T(factor * integral[l])), slope[a], jac[i * n + a][l * n + direction]);
        }
      }
    }
    if constexpr (m > 0) {
      for (int c = 0; c < m; ++c) {
        Coefficients gradient;
        for (int j = 0; j < S; ++j) gradient[j] = rho[j].mu[c];
        for (int i = 0; i < S; ++i) {
          const Vector<T, n> response = mass_.inverse_times(integrate(gradient, i));
          for (int a = 0; a < n; ++a) {
            jac[i * n + a][S * n + c] = -response[a];
            if (!direct()) jac[S * n + c][i * n + a] = jac[S * n + c][i * n + a] + gradient[i][a];
          }
        }
      }
      if (direct()) {
        const auto g = position_constraint(system_, fma(h, unknowns.gamma[0], state.q));
        for (int c = 0; c < m; ++c)
          for (int a = 0; a < n; ++a) jac[S * n + c][a] = g.jacobian[c][a];
      }
    }
    return jac;
  }

  /// Marks states that are not finite.
  RB_HD static void check(const State& state, StepReport<T>& report) {
    T total = sum(state.q) + sum(state.p);
    if constexpr (m > 0) total = total + sum(state.lambda);
    const T status = select(is_finite(total), T(0.0), T(double(status_not_finite)));
    report.status = select(report.status == T(0.0), status, report.status);
  }

  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
  const double* numbers_;
};

RB_NAMESPACE_END
