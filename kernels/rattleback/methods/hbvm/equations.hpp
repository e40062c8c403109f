#pragma once
// The equations of the line-integral methods HBVM(k, s) for H = p.M^-1 p/2 + U(q) with holonomic constraints g(q) = 0, or none.
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
//
// With explicit time and a generalized force f, node i is at the time t_i = t + c_i h and has the velocity V_i = sum_j P_j(c_i) gamma_j;
// F = f(t_i, Y_i, V_i) - grad U(t_i, Y_i) and Dg are those of the node. The mean of d/dt g has the term sum_i b_i g_t(t_i, Y_i), and
//
//   H' - H = h sum_i b_i (f_i . V_i + U_t(t_i, Y_i)) - h Lambda . sum_i b_i g_t(t_i, Y_i)
//
// as exactly as the quadrature integrates.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/tableaus/legendre.hpp"

RB_NAMESPACE_BEGIN

/// The options of a step that are numbers at run time.
struct HbvmOptions {
  int k = 6;            ///< nodes, s <= k <= 12
  bool direct = false;  ///< g(q') = 0 in place of the line integral
  bool newton = false;  ///< Newton's method from the start, not only where the fixed point does not contract
};

/// The numbers of a step: its options, and k rows of I_i0 - 1/2, I_i1..I_i,s-1, W_0i..W_s-1,i.
struct HbvmNumbers {
  double k, direct, newton, rows[2 * legendre_nodes_max * legendre_terms_max]{};

  /// Those of a step with s coefficients; host only.
  static HbvmNumbers of(int s, const HbvmOptions& options) {
    const GaussLegendre rule = gauss_legendre(options.k);
    HbvmNumbers numbers{double(options.k), double(options.direct), double(options.newton)};
    double* row = numbers.rows;
    for (int i = 0; i < options.k; ++i, row += 2 * s)
      for (int j = 0; j < s; ++j) {
        row[j] = rule.integral[i][j];
        row[s + j] = rule.weighted[i][j];
      }
    return numbers;
  }
};

/// The equations of a step with its numbers, which stay where they are for as long as it is in use.
template <class T, class System, int S>
class HbvmEquations {
 protected:
  static constexpr int n = System::n, m = System::m;
  static constexpr bool applied = detail::has_applied_force<System>();
  static constexpr bool moves = m > 0 && detail::changes_in_time<System>();  // the constraint has a derivative g_t
  using Forms = ConstraintForms<System>;
  using Coefficients = Vector<T, n>[S];
  using Rate = Vector<T, moves ? m : 0>;
  using State = StateOf<T, System>;

  RB_HD HbvmEquations(const System& system, const HbvmNumbers& numbers)
      : system_(system), mass_(system), numbers_(numbers) {}

  RB_HD int nodes() const { return static_cast<int>(numbers_.k); }
  RB_HD const double* row(int i) const { return numbers_.rows + 2 * S * i; }
  RB_HD bool direct() const { return numbers_.direct != 0.0; }
  RB_HD bool newton_only() const { return numbers_.newton != 0.0; }

  RB_HD static void guess(const Vector<T, n>& v, Coefficients& gamma) {
    gamma[0] = v;
    RB_UNROLL
    for (int j = 1; j < S; ++j) gamma[j] = Vector<T, n>::zero();
  }

  /// q + h gamma_0/2, from which the node positions are reckoned.
  RB_HD static Vector<T, n> middle(const State& state, T h, const Coefficients& gamma) {
    return fma(T(0.5) * h, gamma[0], state.q);
  }
  /// The system at the time t_i.
  RB_HD decltype(auto) at_node([[maybe_unused]] const T& h, [[maybe_unused]] int i) const {
    if constexpr (timed<System>) {
      return after(system_, h * T(row(i)[0] + 0.5));
    } else {
      return (system_);
    }
  }
  /// What the system takes from the times t_i alone.
  using Times = Instants<System, legendre_nodes_max>;
  RB_HD Times times_of_nodes([[maybe_unused]] const T& h) const {
    Times times{};
    if constexpr (timed<System>)
      for (int i = 0; i < nodes(); ++i) times.keep(i, system_, h * T(row(i)[0] + 0.5));
    return times;
  }
  RB_HD decltype(auto) at_node([[maybe_unused]] const Times& times, [[maybe_unused]] const T& h,
                               [[maybe_unused]] int i) const {
    if constexpr (timed<System>) {
      return times.at(i, system_, h * T(row(i)[0] + 0.5));
    } else {
      return (system_);
    }
  }
  /// P_j(c_i)
  RB_HD double value_at_node(int i, int j) const { return row(i)[S + j] / row(i)[S]; }
  /// V_i
  RB_HD Vector<T, n> velocity_at_node(const Coefficients& gamma, int i) const {
    Vector<T, n> v = gamma[0];
    RB_UNROLL
    for (int j = 1; j < S; ++j) v = fma(T(value_at_node(i, j)), gamma[j], v);
    return v;
  }
  /// g_t at a node.
  template <class At, class D>
  RB_HD static Vector<D, m> rate_of_constraint(const At& system, const Vector<D, n>& y) {
    return time_derivative(system, [](const auto& s, const auto& x) { return s.position_constraint(x); }, y);
  }
  /// Y_i
  RB_HD Vector<T, n> position(const Vector<T, n>& middle, T h, const Coefficients& gamma, int i) const {
    const double* integral = row(i);
    Vector<T, n> y = T(integral[0]) * gamma[0];
    RB_UNROLL
    for (int j = 1; j < S; ++j) y = fma(T(integral[j]), gamma[j], y);
    return fma(h, y, middle);
  }

  /// Computes h f_j and rho_j (49), and returns sum_i b_i g_t where the constraint moves.
  RB_HD Rate quadrature(const State& state, T h, const Coefficients& gamma, Coefficients& hf, Forms (&rho)[S]) const {
    return quadrature(times_of_nodes(h), state, h, gamma, hf, rho);
  }
  RB_HD Rate quadrature(const Times& times, const State& state, T h, const Coefficients& gamma, Coefficients& hf,
                        Forms (&rho)[S]) const {
    Rate rate{};
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
      const auto& at = at_node(times, h, i);
      Vector<T, n> f = force(at, y);
      if constexpr (applied) f = f + at.applied_force(y, velocity_at_node(gamma, i));
      RB_UNROLL
      for (int j = 0; j < S; ++j) hf[j] = fma(T(weight[j]), f, hf[j]);
      if constexpr (m > 0) {
        const Matrix<T, m, n> dg = position_jacobian(at, y);
        RB_UNROLL
        for (int j = 0; j < S; ++j) accumulate(T(weight[j]), dg, rho[j]);
        if constexpr (moves) rate = fma(T(weight[0]), rate_of_constraint(at, y), rate);
      }
    }
    RB_UNROLL
    for (int j = 0; j < S; ++j) {
      hf[j] = h * hf[j];
      if constexpr (m > 0) complete(rho[j]);
    }
    return rate;
  }
  /// The work of the step: h sum_i b_i (f_i . V_i + U_t) - h Lambda . sum_i b_i g_t, where the multiplier is h Lambda.
  RB_HD_LARGE T work(const State& state, const T& h, const Coefficients& gamma, const Vector<T, m>& multiplier) const {
    const Vector<T, n> from = middle(state, h, gamma);
    T work(0.0);
    const int k = nodes();
    for (int i = 0; i < k; ++i)
      work = fma(T(row(i)[S]),
                 work_at(at_node(h, i), h, position(from, h, gamma, i), velocity_at_node(gamma, i), multiplier), work);
    return work;
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

  /// sum_j rho_j gamma_j + rate = 0 with gamma from (50): A h Lambda = -sum_i rho_i (delta_i0 v + M^-1 sum_j X_ij h f_j) - rate (51), where
  ///   A = sum_ij X_ij rho_i M^-1 rho_j^T = rho_0 M^-1 rho_0^T/2 + sum_j xi_j (rho_j M^-1 rho_{j-1}^T - its transpose).
  RB_HD void line_integral_equations(const Vector<T, n>& v, const Coefficients& hf, const Forms (&rho)[S],
                                     const Rate& rate, Matrix<T, m, m>& a, Vector<T, m>& right) const {
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      const Vector<T, n> response = mass_.inverse_times(rho[0].mu[c]);
      RB_UNROLL
      for (int d = c; d < m; ++d) a[c][d] = a[d][c] = T(0.5) * product(rho[0], d, response, c);
    }
    // not v + M^-1 h f_0/2 first: where the force is constant, the rounding of that sum is, too, and the energy drifts
    right = -(rho[0] * v);
    if constexpr (moves) right = right - rate;
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
    const auto g = position_constraint(after(system_, h), fma(h, gamma[0], state.q));
    const Forms dg(g.jacobian);
    Forms mean = rho[0];  // rho_0/2 - xi_1 rho_1
    RB_UNROLL
    for (int c = 0; c < m; ++c) {
      mean.mu[c] = T(0.5) * mean.mu[c];
      if constexpr (S > 1) mean.mu[c] = fma(T(-legendre_xi(1)), rho[1].mu[c], mean.mu[c]);
    }
    a = dg.gram(mass_, mean);
    right = -(inverse_h * g.value) - dg * ((v - gamma[0]) + mass_.inverse_times(integrate(hf, 0)));
  }

  System system_;
  Mass<System> mass_;
  const HbvmNumbers& numbers_;
};

RB_NAMESPACE_END
