#pragma once
// Variational Runge-Kutta-Munthe-Kaas methods (G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie
// group methods, sections 3 and 4.1): symplectic on T*G, of any order.
//
// A Runge-Kutta method (a, b) in the chart exp(X) q at the configuration q, with velocities xi = D(X) k right
// trivialised, and momenta from the discrete variational principle. States hold the momentum in space, mu; a step works
// in the frame of the body at q, where the equations look the same, because Ad_q carries everything along, and where
// the inertia is constant:
//
//   x_i = h sum_j a_ij k_j,   g_i = q exp(x_i),   eta_i = B_i k_i,   B_i = Ad_{exp(-x_i)} D(x_i)
//   m_i = dl/deta(g_i, eta_i)
//   n_i = f_i + ad*_{eta_i} m_i,   f_i = dl/dg(g_i, eta_i)                        the rate of the momentum in the body
//   m'  = m + h sum_j b_j n_j,     y = h sum_j b_j k_j,     Lambda = dexp*_{-y} m'
//   v_i = dexp*_{-x_i} f_i + grad_x <m_i, B(x_i) k_i>
//
//   B_i^T m_i = Lambda - h sum_j (b_j a_ji/b_i) v_j,   i = 1..s                   the s n equations for k_1..k_s
//   q' = q exp(y),   mu' = mu + Ad*_{q^-1} (m' - m - ad*_y Lambda)
//
// The multipliers lambda_i = -h b_i v_i of the paper are eliminated, and mu' = Ad*_{q'^-1} m' is written as an
// increment, by Ad*_{exp(-y)} - 1 = -dexp*_{-y} ad*_y: components that are conserved are so up to rounding of size h.
// Where the system gives its Hamiltonian, which may be degenerate, the momenta m_i are unknown too, with the s n
// equations B_i k_i = dH/dp(g_i, m_i).
//
// D is the inverse of the series of dexp^-1 up to ad^r (vrkmk; r = 0 is the identity), or the series of dexp up to
// ad^r, the alternative approach of the paper (vrkmk-pade). The order is that of the pair (a, ahat) on R^n, but at most
// r + 2, where for vrkmk an even r > 0 counts as r + 1.

#include <cstdio>
#include <type_traits>

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/lie/series.hpp"
#include "rattleback/linalg/lu.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/tableaus/runge_kutta.hpp"

RB_NAMESPACE_BEGIN

/// How the stage equations are solved: by Newton's method, which keeps a Jacobian only as long as it contracts well;
/// with the Jacobian of the first iterate; with the mass matrix in its place; or by sweeps, which need no Jacobian
/// either but contract like h^2, and Newton's method for what they do not solve.
enum class StageIteration : int { newton, chord, fixed_point, sweeps };

/// a, b and b_j a_ji/b_i of S stages, as a block of numbers.
template <int S>
class StageCoefficients {
 public:
  static constexpr int size = (2 * S + 1) * S;
  static constexpr void fill(const RungeKuttaTableau& tableau, double* numbers) {
    for (int i = 0; i < S; ++i) {
      numbers[2 * S * S + i] = tableau.b[i];
      for (int j = 0; j < S; ++j) {
        numbers[i * S + j] = tableau.a[i][j];
        numbers[(S + i) * S + j] = tableau.b[j] * tableau.a[j][i] / tableau.b[i];
      }
    }
  }

  RB_HD explicit StageCoefficients(const double* numbers) : numbers_(numbers) {}
  RB_HD double a(int i, int j) const { return numbers_[i * S + j]; }
  /// b_j a_ji/b_i
  RB_HD double back(int i, int j) const { return numbers_[(S + i) * S + j]; }
  RB_HD double b(int i) const { return numbers_[2 * S * S + i]; }

 private:
  const double* numbers_;
};

/// What the equations take from one stage; it does not depend on their number.
template <class T, class System>
class VariationalStage {
  using G = group_of<System>;
  static constexpr int n = System::n, N = element_size<System>;
  struct Nothing {};

 public:
  static constexpr bool by_hamiltonian = HasHamiltonian<System>;

  /// At x and k: B^T m, v, and f + ad*_eta m. The momentum m of the stage, p, is given where there is a Hamiltonian, and
  /// the velocity B k may lack something of dH/dp.
  template <class R>
  struct Terms {
    Vector<R, n> p, lack, w, v, rate;
  };

  RB_HD VariationalStage(const System& given, const TangentSeries& series)
      : system(given), series(series), mass([&] {
          if constexpr (Separable<System>) {
            return Mass<System>(given);
          } else {
            return Nothing{};
          }
        }()) {}

  /// Derivatives are long code and seldom wanted: they stay out of line.
  template <class R>
  RB_HD void operator()(const Vector<T, N>& q, const Vector<R, n>& x, const Vector<R, n>& k, Terms<R>& at) const {
    if constexpr (std::is_same_v<R, decltype(value_of(R()))>) {
      evaluate(q, x, k, at);
    } else {
      evaluate_out_of_line(q, x, k, at);
    }
  }

  System system;
  TangentSeries series;
  [[no_unique_address]] std::conditional_t<Separable<System>, Mass<System>, Nothing> mass;

 private:
  template <class R>
  RB_NOINLINE void evaluate_out_of_line(const Vector<T, N>& q, const Vector<R, n>& x, const Vector<R, n>& k,
                                        Terms<R>& at) const {
    evaluate(q, x, k, at);
  }
  template <class R>
  RB_HD void evaluate(const Vector<T, N>& q, const Vector<R, n>& x, const Vector<R, n>& k, Terms<R>& at) const {
    const SeriesChart<G, R> chart(x, series);
    Vector<R, N> start;
    RB_UNROLL
    for (int i = 0; i < N; ++i) start[i] = R(q[i]);
    const Vector<R, N> g = chart.move(start);
    const Vector<R, n> eta = chart.velocity(k);
    Vector<R, n> force;
    if constexpr (by_hamiltonian) {
      Vector<R, n> by_momentum;
      hamiltonian_rates(system, g, at.p, by_momentum, force);
      at.lack = eta - by_momentum;
    } else {
      if constexpr (Separable<System>) {
        at.p = mass.times(eta);
      } else {
        at.p = momentum(system, g, eta);
      }
      force = configuration_force(system, g, eta);
    }
    at.v = chart.dtau_star(force) + chart.variation(at.p, k);
    at.w = chart.velocity_star(at.p);
    at.rate = force + G::ad_star(eta, at.p);
  }
};

/// The step above, with its numbers as arguments. Without `newton` it only tries: it hands over what sweeps do not
/// solve.
template <class T, class System, int S, bool newton = true>
class VariationalRungeKutta {
  using G = group_of<System>;
  static constexpr int n = System::n, N = element_size<System>;
  using Stage = VariationalStage<T, System>;
  static constexpr bool by_hamiltonian = Stage::by_hamiltonian;
  /// Unknowns of a stage: k_i, and m_i where it does not follow from k_i.
  static constexpr int per_stage = by_hamiltonian ? 2 * n : n, size = S * per_stage;
  /// An update that shrinks by less than this, the first against the unknowns, calls for a new Jacobian.
  static constexpr double slow = 0.01;
  static constexpr int max_sweeps = 20;

 public:
  using State = StateOf<T, System>;

  RB_HD VariationalRungeKutta(const System& system, const SolverOptions<T>& options, StageIteration iteration,
                              const TangentSeries& series)
      : stage_(system, series), options_(options), iteration_(iteration) {}

  /// The whole step is out of line, shared by the loops that call it; the one that only tries is part of its loop.
  RB_NOINLINE StepReport<T> operator()(State& state, T h, const StageCoefficients<S>& tableau) const requires newton {
    return step(state, h, tableau);
  }
  RB_HD StepReport<T> operator()(State& state, T h, const StageCoefficients<S>& tableau) const requires(!newton) {
    return step(state, h, tableau);
  }

  static constexpr bool hands_over = !newton;

 private:
  RB_HD StepReport<T> step(State& state, T h, const StageCoefficients<S>& tableau) const {
    if constexpr (!newton)
      if (iteration_ != StageIteration::sweeps) return {T(double(status_not_converged)), T(0.0), T(0.0)};
    const Vector<T, n> m = G::Ad_star(state.q, state.p);
    Unknowns<T> u;
    Evaluation<T> at;
    const T scale = guess(state.q, m, h, tableau, u);
    mask_t<T> active(true), singular(false);
    T iterations(0.0);
    if constexpr (Separable<System>) {
      if (iteration_ == StageIteration::sweeps) sweep(state.q, m, h, tableau, scale, active, iterations, u, at);
    }
    if constexpr (newton) {
      if (any(active)) solve(state.q, m, h, tableau, scale, active, singular, iterations, u, at);
    }

    T norm(0.0);
    RB_UNROLL
    for (int i = 0; i < S; ++i) norm = max(norm, max_norm(at.residual[i]));
    const Vector<T, n> change = at.increment - G::ad_star(at.y, at.lambda);
    state.p = state.p + G::Ad_inverse_star(state.q, change);
    state.q = Chart<G, Exp, T>(at.y).move(state.q);
    return {step_status<T>(!active, singular, is_finite(sum(state.q) + sum(state.p))), iterations, norm};
  }

  template <class R>
  struct Unknowns {
    Vector<R, per_stage> stage[S];
  };
  template <class R>
  struct Evaluation {
    Vector<R, per_stage> residual[S];
    Vector<R, n> y, increment, lambda;  // increment: m' - m
  };

  /// T without derivatives. Iterations over dual numbers take the Jacobian of the values: with it the derivatives
  /// converge one iteration later.
  using Plain = part_t<T>;

  /// A matrix, to be factorised in the lanes of a mask, and the factors that serve until then. Small systems are
  /// factorised without exchanges: their diagonal blocks are inertia.
  class Jacobian {
    static constexpr bool small = size <= 9;
    using Entries = Matrix<Plain, size, size>;

   public:
    RB_HD Plain& operator()(int i, int j) { return matrix_[i][j]; }
    RB_HD mask_t<T> factorise(const mask_t<T>& mask) {
      mask_t<T> singular;
      if constexpr (small) {
        singular = rattleback::factorise(matrix_);
        RB_UNROLL
        for (int i = 0; i < size; ++i) factors_[i] = select(mask, matrix_[i], factors_[i]);
      } else {
        const Lu<Plain, size> lu(matrix_);
        singular = lu.singular();
        factors_.assign(mask, lu);
      }
      return mask & singular;
    }
    RB_HD void solve(Vector<T, size>& b) const {
      RB_ROLLED
      for (int p = 0; p < parts<T>; ++p) {
        Vector<Plain, size> x;
        RB_UNROLL
        for (int i = 0; i < size; ++i) x[i] = part(b[i], p);
        solve_plain(x);
        RB_UNROLL
        for (int i = 0; i < size; ++i) part(b[i], p) = x[i];
      }
    }

   private:
    RB_HD void solve_plain(Vector<Plain, size>& b) const {
      if constexpr (small) {
        solve_factorised(factors_, b);
      } else {
        b = factors_.solve(b);
      }
    }

    Entries matrix_;
    std::conditional_t<small, Entries, Lu<Plain, size>> factors_;
  };

  /// y + s x for a constant s.
  RB_HD static T add(const T& s, const T& x, const T& y) { return fma(s, x, y); }
  template <int K>
  RB_HD static Dual<T, K> add(const T& s, const Dual<T, K>& x, const Dual<T, K>& y) {
    Dual<T, K> r;
    r.value = fma(s, x.value, y.value);
    RB_UNROLL
    for (int i = 0; i < K; ++i) r.partial[i] = fma(s, x.partial[i], y.partial[i]);
    return r;
  }
  template <class R, int length>
  RB_HD static Vector<R, length> add(const T& s, const Vector<R, length>& x, const Vector<R, length>& y) {
    Vector<R, length> r;
    RB_UNROLL
    for (int i = 0; i < length; ++i) r[i] = add(s, x[i], y[i]);
    return r;
  }
  template <class R, int length>
  RB_HD static Vector<R, length> lift(const Vector<T, length>& x) {
    Vector<R, length> r;
    RB_UNROLL
    for (int i = 0; i < length; ++i) r[i] = R(x[i]);
    return r;
  }

  /// First-order prediction of the unknowns: k' = eta' at x = 0. Returns the size of the unknowns.
  RB_HD_LARGE T guess(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                      Unknowns<T>& u) const {
    Vector<T, n> eta, force;
    if constexpr (by_hamiltonian) {
      hamiltonian_rates(stage_.system, q, m, eta, force);
    } else {
      eta = velocity(stage_.system, q, m);
      force = configuration_force(stage_.system, q, eta);
    }
    const Vector<T, n> rate = h * (force + G::ad_star(eta, m));
    const T scale = magnitude(eta);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      double c = 0.0;
      for (int j = 0; j < S; ++j) c += tableau.a(i, j);
      if constexpr (by_hamiltonian) {
        u.stage[i] = join(eta, add(T(c), rate, m));
      } else if constexpr (Separable<System>) {
        u.stage[i] = add(T(c), stage_.mass.inverse_times(rate), eta);
      } else {
        u.stage[i] = eta;
      }
    }
    if constexpr (by_hamiltonian) {
      return scale + magnitude(m) + magnitude(rate);
    } else if constexpr (Separable<System>) {
      return scale + magnitude(stage_.mass.inverse_times(rate));
    } else {
      return scale + magnitude(Lu<T, n>(mass_matrix(stage_.system, q, eta)).solve(rate));
    }
  }

  /// Newton's method and its simplifications for the active lanes; leaves active those that have not converged.
  RB_NOINLINE void solve(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                         T scale, mask_t<T>& active, mask_t<T>& singular, T& iterations, Unknowns<T>& u,
                         Evaluation<T>& at) const {
    const bool simplified = iteration_ == StageIteration::chord || iteration_ == StageIteration::fixed_point;
    if (iteration_ == StageIteration::sweeps) {  // they start again
      Unknowns<T> start;
      guess(q, m, h, tableau, start);
      RB_UNROLL
      for (int i = 0; i < S; ++i) u.stage[i] = select(active, start.stage[i], u.stage[i]);
    }
    Jacobian jacobian{};
    mask_t<T> stale(true);
    T previous = scale;
    Convergence<T> convergence(options_, scale);
    for (int iteration = 0;; ++iteration) {
      evaluate(q, m, h, tableau, u, at);
      if (!any(active) || iteration == options_.max_iterations) break;
      if (any(active & stale)) {
        if (iteration_ == StageIteration::fixed_point) {
          leading_jacobian(q, m, jacobian);
        } else {
          differentiate(q, m, h, tableau, u, jacobian);
        }
        singular = singular | (active & jacobian.factorise(stale));
      }
      Vector<T, size> update;
      RB_UNROLL
      for (int i = 0; i < size; ++i) update[i] = -at.residual[i / per_stage][i % per_stage];
      jacobian.solve(update);
      RB_UNROLL
      for (int i = 0; i < size; ++i) {
        T& x = u.stage[i / per_stage][i % per_stage];
        x = select(active, x + update[i], x);
      }
      iterations = iterations + select(active, T(1.0), T(0.0));
      const T change = magnitude(update);
      stale = mask_t<T>(!simplified) & (change > T(double(slow)) * previous);
      previous = change;
      active = active & !convergence.with_rate(change);
    }
  }

  /// With the Jacobian J = M + J_1, J_1 of order h, the updates are M^-1 r - M^-1 J_1 M^-1 r.
  RB_HD_LARGE void sweep(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                         T scale, mask_t<T>& active, T& iterations, Unknowns<T>& u, Evaluation<T>& at) const {
    const Vector<T, n> eta = stage_.mass.inverse_times(m);
    Convergence<T> convergence(options_, scale);
    for (int iteration = 0;; ++iteration) {
      evaluate(q, m, h, tableau, u, at);
      if (!any(active) || iteration == max_sweeps || iteration == options_.max_iterations) break;
      Vector<T, n> x[S], second[S];
      RB_UNROLL
      for (int i = 0; i < S; ++i) x[i] = stage_.mass.inverse_times(at.residual[i]);
      first_order(eta, m, h, tableau, x, second);
      T change(0.0);
      RB_UNROLL
      for (int i = 0; i < S; ++i) {
        const Vector<T, n> update = x[i] - stage_.mass.inverse_times(second[i]);
        u.stage[i] = select(active, u.stage[i] - update, u.stage[i]);
        change = larger(change, magnitude(update));
      }
      iterations = iterations + select(active, T(1.0), T(0.0));
      active = active & !convergence.with_rate(change);
    }
  }

  /// J_1 x at the velocity eta and the momentum m: with y_i = sum_j a_ij x_j, v_i = sum_j (b_j a_ji/b_i) x_j, z = sum_j
  /// b_j x_j and B = 1 + alpha ad_x + ...,
  ///   h (alpha (M ad_eta (c_i x_i - y_i) + ad*_{y_i - v_i} m + ad*_eta M (c_i x_i - v_i)) - ad*_eta M z - ad*_z m/2).
  RB_HD void first_order(const Vector<T, n>& eta, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                         const Vector<T, n> (&x)[S], Vector<T, n> (&r)[S]) const {
    Vector<T, n> z = Vector<T, n>::zero();
    RB_UNROLL
    for (int j = 0; j < S; ++j) z = add(T(tableau.b(j)), x[j], z);
    const Vector<T, n> common = h * (G::ad_star(eta, stage_.mass.times(z)) + T(0.5) * G::ad_star(z, m));
    const T alpha = h * T(stage_.series.first() - 1.0);
    RB_UNROLL
    for (int i = 0; i < S; ++i) {
      double c = 0.0;
      Vector<T, n> y = Vector<T, n>::zero(), v = y;
      RB_UNROLL
      for (int j = 0; j < S; ++j) {
        c += tableau.a(i, j);
        y = add(T(tableau.a(i, j)), x[j], y);
        v = add(T(tableau.back(i, j)), x[j], v);
      }
      const Vector<T, n> cx = T(c) * x[i];
      r[i] = alpha * (stage_.mass.times(G::ad(eta, cx - y)) + G::ad_star(y - v, m) +
                      G::ad_star(eta, stage_.mass.times(cx - v))) -
             common;
    }
  }

  /// What stage j adds: to w_i = B_i^T m_i + h sum_j (b_j a_ji/b_i) v_j, to y and to m' - m.
  template <class R>
  RB_HD void add_stage(int j, const Vector<T, N>& q, T h, const StageCoefficients<S>& tableau, const Unknowns<R>& u,
                       Vector<R, n> (&w)[S], Evaluation<R>& r) const {
    const Vector<R, n> k = segment<0, n>(u.stage[j]);
    Vector<R, n> x = Vector<R, n>::zero();
    RB_UNROLL
    for (int l = 0; l < S; ++l) x = add(h * T(tableau.a(j, l)), segment<0, n>(u.stage[l]), x);
    typename Stage::template Terms<R> at;
    if constexpr (by_hamiltonian) at.p = segment<n, n>(u.stage[j]);
    stage_(q, x, k, at);
    if constexpr (by_hamiltonian) r.residual[j] = join(at.lack, Vector<R, n>::zero());
    w[j] = w[j] + at.w;
    RB_UNROLL
    for (int i = 0; i < S; ++i) w[i] = add(h * T(tableau.back(i, j)), at.v, w[i]);
    r.increment = add(h * T(tableau.b(j)), at.rate, r.increment);
    r.y = add(h * T(tableau.b(j)), k, r.y);
  }

  template <class R>
  RB_HD_LARGE void evaluate(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                            const Unknowns<R>& u, Evaluation<R>& r) const {
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
                                 const Unknowns<T>& u, Jacobian& jacobian) const {
    if constexpr (parts<T> == 1) {
#ifdef __CUDA_ARCH__
      constexpr int width = 1;
#else
      constexpr int width = n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1;
#endif
      differentiate<Dual<T, width>, width>(q, m, h, tableau, u, jacobian);
    } else {
      differentiate<T, 1>(values_of(q), values_of(m), T(part(h, 0)), tableau, u, jacobian);
    }
  }
  template <class D, int width>
  RB_HD_LARGE void differentiate(const Vector<T, N>& q, const Vector<T, n>& m, T h, const StageCoefficients<S>& tableau,
                                 const Unknowns<T>& u, Jacobian& jacobian) const {
    for (int first = 0; first < size; first += width) {
      Unknowns<D> d;
      RB_UNROLL
      for (int i = 0; i < size; ++i) {
        D& x = d.stage[i / per_stage][i % per_stage];
        x = D(part(u.stage[i / per_stage][i % per_stage], 0));
        RB_UNROLL
        for (int l = 0; l < width; ++l) x.partial[l] = Plain(i == first + l ? 1.0 : 0.0);
      }
      Evaluation<D> at;
      evaluate(q, m, h, tableau, d, at);
      RB_UNROLL
      for (int i = 0; i < size; ++i) {
        RB_UNROLL
        for (int l = 0; l < width; ++l) jacobian(i, first + l) = at.residual[i / per_stage][i % per_stage].partial[l];
      }
    }
  }
  template <int length>
  RB_HD static Vector<T, length> values_of(const Vector<T, length>& x) {
    Vector<T, length> r;
    RB_UNROLL
    for (int i = 0; i < length; ++i) r[i] = T(part(x[i], 0));
    return r;
  }

  /// The Jacobian at h = 0; for a Hamiltonian the identity.
  RB_HD_LARGE void leading_jacobian(const Vector<T, N>& q, const Vector<T, n>& m, Jacobian& jacobian) const {
    Matrix<T, per_stage, per_stage> block = Matrix<T, per_stage, per_stage>::zero();
    if constexpr (by_hamiltonian) {
      for (int i = 0; i < per_stage; ++i) block[i][i] = T(1.0);
    } else {
      block = mass_matrix(stage_.system, q, velocity(stage_.system, q, m));
    }
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        jacobian(i, j) = i / per_stage == j / per_stage ? part(block[i % per_stage][j % per_stage], 0) : Plain(0.0);
  }

  Stage stage_;
  SolverOptions<T> options_;
  StageIteration iteration_;
};

/// The numbers of a step: its iteration, the series and the tableau.
template <int S>
struct VrkmkNumbers {
  static constexpr int at_series = 1, at_tableau = at_series + TangentSeries::size;
  static constexpr int size = at_tableau + StageCoefficients<S>::size;

  static constexpr void fill(StageIteration iteration, const RungeKuttaTableau& tableau, int cutoff, bool pade,
                             double* numbers) {
    numbers[0] = static_cast<double>(iteration);
    if (pade) {
      TangentSeries::fill_tangent(cutoff, numbers + at_series);
    } else {
      TangentSeries::fill_inverse(cutoff, numbers + at_series);
    }
    StageCoefficients<S>::fill(tableau, numbers + at_tableau);
  }
};

namespace detail {
/// Names the step that only tries, where there is one.
template <class Step, bool tries>
struct WithTrying {};
template <class Step>
struct WithTrying<Step, true> {
  using Trying = Step;
};
}  // namespace detail

/// A step of vrkmk or vrkmk-pade, which differ in their numbers alone. More than 18 unknowns are too many to compile.
template <class T, class System, int S, bool newton = true>
  requires(S*(HasHamiltonian<System> ? 2 : 1) * System::n <= 18)
class VrkmkStep : public detail::WithTrying<VrkmkStep<T, System, S, false>, newton && Separable<System>> {
  using Core = VariationalRungeKutta<T, System, S, newton>;
  using Numbers = VrkmkNumbers<S>;

 public:
  using State = StateOf<T, System>;
  static constexpr bool hands_over = !newton;
  RB_HD VrkmkStep(const System& system, const SolverOptions<T>& options, const double* numbers)
      : core_(system, options, static_cast<StageIteration>(static_cast<int>(numbers[0])),
              TangentSeries(numbers + Numbers::at_series)),
        tableau_(numbers + Numbers::at_tableau) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return core_(state, h, tableau_); }

 private:
  Core core_;
  StageCoefficients<S> tableau_;
};

namespace methods {

inline constexpr const char* variational_iterations[] = {"newton", "chord", "fixed-point", "sweeps"};
inline constexpr OptionInfo variational_iteration{.name = "iteration",
                                                  .kind = OptionKind::choice,
                                                  .text =
                                                      "for the stage equations: Newton's method, with one Jacobian "
                                                      "(chord) or with the mass matrix (fixed-point), or sweeps of "
                                                      "second order in h, then Newton's method",
                                                  .standard = 3,
                                                  .choices = variational_iterations};

/// The Gauss method of as many stages as wanted, the named tableaus in their order, and the one of a study.
inline constexpr auto vrkmk_tableaus = [] {
  std::array<const char*, std::size(runge_kutta_tableaus) + 2> names{"gauss"};
  for (std::size_t i = 0; i + 2 < names.size(); ++i) names[i + 1] = runge_kutta_tableaus[i].name;
  names.back() = "given";
  return names;
}();

inline constexpr int max_vrkmk_stages = 4;
inline constexpr OptionInfo vrkmk_options[] = {
    {.name = "stages",
     .kind = OptionKind::integer,
     .text = "number of stages; that of the tableau where one is named or given",
     .standard = 2,
     .minimum = 1,
     .maximum = max_vrkmk_stages,
     .compiled = true},
    {.name = "tableau",
     .kind = OptionKind::choice,
     .text = "Runge-Kutta method; `gauss` is that of `stages` stages, `given` takes the one of `a` and `b`",
     .choices = vrkmk_tableaus},
    {.name = "cutoff",
     .kind = OptionKind::integer,
     .text = "largest power r of ad in the truncated series; -1 is the smallest that keeps the order of the tableau",
     .standard = -1,
     .minimum = -1,
     .maximum = TangentSeries::largest_cutoff},
    variational_iteration,
    {.name = "a", .kind = OptionKind::matrix, .text = "with tableau = \"given\", the rows of its matrix"},
    {.name = "b", .kind = OptionKind::numbers, .text = "with tableau = \"given\", its weights, one per stage"}};

/// The values of the options above.
struct VrkmkValues {
  int stages, cutoff;
  std::size_t tableau;
  StageIteration iteration;
  OptionValue a, b;

  explicit VrkmkValues(std::span<const OptionValue> values)
      : stages(static_cast<int>(values[0].number)),
        cutoff(static_cast<int>(values[2].number)),
        tableau(static_cast<std::size_t>(values[1].number)),
        iteration(static_cast<StageIteration>(static_cast<int>(values[3].number))),
        a(values[4]),
        b(values[5]) {}

  [[nodiscard]] bool by_stages() const { return tableau == 0; }
  [[nodiscard]] bool given() const { return tableau + 1 == vrkmk_tableaus.size(); }
  [[nodiscard]] const RungeKuttaTableau& named() const { return runge_kutta_tableaus[tableau - 1]; }
};

inline int stages_of_vrkmk(std::span<const OptionValue> values) {
  const VrkmkValues v(values);
  if (v.by_stages()) return v.stages;
  if (!v.given()) return v.named().stages;
  const auto stages = static_cast<int>(v.b.numbers.size());
  return stages < 1 ? 1 : stages < max_vrkmk_stages ? stages : max_vrkmk_stages;  // settling refuses what is beyond
}

/// The tableau of a method; false, with a message, where there is none.
inline bool settle_vrkmk_tableau(const VrkmkValues& v, RungeKuttaTableau& tableau, char* message, std::size_t size) {
  const int stages = v.stages;
  if (!v.given() && (!v.a.numbers.empty() || !v.b.numbers.empty())) {
    std::snprintf(message, size, "method.a and method.b are given (the tableau is \"%s\"); set tableau = \"given\"",
                  vrkmk_tableaus[v.tableau]);
    return false;
  }
  if (!v.given()) {
    tableau = v.by_stages() ? gauss_tableau(stages) : v.named();
    if (tableau.stages == stages) return true;
    std::snprintf(message, size, "method.stages = %d (the tableau \"%s\" has %d stages); leave stages out", stages,
                  tableau.name, tableau.stages);
    return false;
  }
  const std::size_t count = v.b.numbers.size();
  if (count < 1 || count > max_vrkmk_stages) {
    std::snprintf(message, size, "method.b has %d weights (one per stage); give 1 to %d", static_cast<int>(count),
                  max_vrkmk_stages);
    return false;
  }
  if (count != static_cast<std::size_t>(stages)) {
    std::snprintf(message, size, "method.stages = %d (method.b has %d weights, one per stage); leave stages out",
                  stages, static_cast<int>(count));
    return false;
  }
  if (v.a.rows != stages || v.a.numbers.size() != count * count) {
    std::snprintf(message, size,
                  "method.a is not a square matrix with as many rows as method.b has weights, %d; give a = [[..], ..], "
                  "zeros included",
                  stages);
    return false;
  }
  tableau = {"given", stages, 0, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    tableau.b[i] = v.b.numbers[i];
    for (std::size_t j = 0; j < count; ++j) tableau.a[i][j] = v.a.numbers[i * count + j];
  }
  if (const char* fault = variational_tableau_fault(tableau)) {
    std::snprintf(message, size, "method.b: %s; change the tableau", fault);
    return false;
  }
  tableau.order = symplectic_pair_order(tableau);
  return true;
}

/// Order that a cut-off allows: the terms of odd order above 1 vanish from the series of dexp^-1.
constexpr int order_of_cutoff(int cutoff, bool pade) {
  return 2 + (!pade && cutoff > 0 && cutoff % 2 == 0 ? cutoff + 1 : cutoff);
}
/// The smallest that allows an order.
constexpr int cutoff_for(int order, bool pade) {
  int cutoff = 0;
  while (order_of_cutoff(cutoff, pade) < order) ++cutoff;
  return cutoff;
}

template <bool pade>
Settled settle_vrkmk(std::span<const OptionValue> values, const SystemEntry& system, double* numbers, char* message,
                     int message_size) {
  const VrkmkValues v(values);
  const auto size = static_cast<std::size_t>(message_size);
  RungeKuttaTableau tableau;
  if (!settle_vrkmk_tableau(v, tableau, message, size)) return Settled::refused;
  const int needed = cutoff_for(tableau.order, pade);
  // of a given tableau's order it is known only whether it is at least 4
  const bool may_be_more = v.given() && tableau.order == 4;
  const int cutoff = v.cutoff >= 0 ? v.cutoff : may_be_more ? cutoff_for(2 * v.stages, pade) : needed;
  switch (v.stages) {
    case 1:
      VrkmkNumbers<1>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
    case 2:
      VrkmkNumbers<2>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
    case 3:
      VrkmkNumbers<3>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
    default:
      VrkmkNumbers<4>::fill(v.iteration, tableau, cutoff, pade, numbers);
      break;
  }
  if (cutoff >= needed || system.turn == nullptr) return Settled::good;
  std::snprintf(message, size, "method.cutoff = %d lowers the order of the tableau \"%s\" from %d to %d; %d keeps it",
                cutoff, tableau.name, tableau.order, order_of_cutoff(cutoff, pade), needed);
  return Settled::doubtful;
}

template <bool pade>
int order_of_vrkmk(std::span<const OptionValue> values, const SystemEntry& system) {
  const VrkmkValues v(values);
  RungeKuttaTableau tableau;
  char message[400];
  if (!settle_vrkmk_tableau(v, tableau, message, sizeof message)) return 0;
  if (v.cutoff < 0 || system.turn == nullptr) return tableau.order;
  const int bound = order_of_cutoff(v.cutoff, pade);
  return bound < tableau.order ? bound : tableau.order;
}

inline constexpr MethodEntry vrkmk{
    .name = "vrkmk",
    .summary = "variational Runge-Kutta-Munthe-Kaas method; symplectic, keeps momentum maps",
    .source = "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, sections 3, 4.1",
    .order = "that of the tableau's symplectic pair, at most cutoff + 2 (+ 3 for even cutoff > 0)",
    .constraints = ConstraintKind::none,
    .options = vrkmk_options,
    .carries_multiplier = false,
    .settle = settle_vrkmk<false>,
    .order_of = order_of_vrkmk<false>,
    .stages_of = stages_of_vrkmk,
    .in_space = true};

inline constexpr MethodEntry vrkmk_pade{
    .name = "vrkmk-pade",
    .summary = "variational Runge-Kutta-Munthe-Kaas method with the series of dexp; symplectic, keeps momentum maps",
    .source = "G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie group methods, section 4.1.1",
    .order = "that of the tableau's symplectic pair, at most cutoff + 2",
    .constraints = ConstraintKind::none,
    .options = vrkmk_options,
    .carries_multiplier = false,
    .settle = settle_vrkmk<true>,
    .order_of = order_of_vrkmk<true>,
    .stages_of = stages_of_vrkmk,
    .in_space = true};

}  // namespace methods

RB_NAMESPACE_END
