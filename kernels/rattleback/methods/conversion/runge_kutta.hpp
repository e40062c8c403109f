#pragma once
// Explicit Runge-Kutta methods on the index-reduced equations of motion q' = v, v' = A(q, v) (mechanics/dynamics.hpp): the
// base of the variational conversion (variational_conversion.hpp), and on their own, with or without projection onto the
// constraints after each step, what to compare it with. They keep no structure.

#include "rattleback/catalogue/entry.hpp"
#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/mechanics/dynamics.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/methods/solve/iteration.hpp"
#include "rattleback/tableaus/explicit.hpp"

RB_NAMESPACE_BEGIN

/// One step of an explicit Runge-Kutta method, of any length, over T or over dual numbers.
template <class T, class System>
class ExplicitFlow {
  static constexpr int n = System::n, m = System::m;

 public:
  struct Nothing {};
  /// A number that only the flow of a driven system has.
  using IfDriven = std::conditional_t<timed<System>, T, Nothing>;
  /// Acceleration at a stage, and the power of what drives the system or the derivatives of the Lagrangian in the directions of the
  /// partials.
  template <class S>
  struct Rate {
    Vector<S, n> a;
    RB_MAYBE_EMPTY IfDriven power{};
  };
  template <int K>
  struct Rate<Dual<T, K>> {
    Vector<Dual<T, K>, n> a;
    Vector<T, K> dl;
  };
  /// Where a step leads, and its work where the system is driven; over dual numbers also the derivatives of the action.
  template <class S>
  struct End {
    Vector<S, n> q, v;
    RB_MAYBE_EMPTY IfDriven work{};
  };
  template <int K>
  struct End<Dual<T, K>> {
    Vector<Dual<T, K>, n> q, v;
    Vector<T, K> action;
  };

  RB_HD ExplicitFlow(const Dynamics<System>& dynamics, const ExplicitNumbers& numbers, bool measures_work = false)
      : dynamics_(dynamics), numbers_(numbers), measures_work_(measures_work) {}

  /// The rate at a time `after` that of the dynamics.
  template <class S>
  RB_HD void rate(const T& after, const Vector<S, n>& q, const Vector<S, n>& v, Rate<S>& r) const {
    const auto& dynamics = dynamics_.after(after);
    if constexpr (requires { r.dl; }) {
      if constexpr (n <= 6) {
        dynamics.acceleration(q, v, r.a, r.dl);
      } else {
        acceleration_apart(dynamics, q, v, r);
      }
    } else {
      Vector<T, m> lambda;
      if constexpr (n <= 6) {
        r.a = dynamics.inlined_acceleration(q, v, lambda);
      } else {
        r.a = dynamics.acceleration(q, v, lambda);
      }
      if constexpr (timed<System>)
        if (measures_work_) r.power = work_at(dynamics.system(), T(1.0), q, v, lambda);
    }
  }

  /// A step of length t from (q, v), where the rate is `first`.
  template <class S>
  RB_HD_APART void operator()(const Vector<S, n>& q, const Vector<S, n>& v, const Rate<S>& first, T t,
                              End<S>& end) const {
    constexpr bool with_action = requires(End<S> e) { e.action; };
    const int stages = static_cast<int>(numbers_.stages);
    Rate<S> rates[max_explicit_stages];
    rates[0] = first;
    if constexpr (with_action) end.action = (t * T(numbers_.b[0])) * first.dl;
    for (int i = 1; i < stages; ++i) {
      Vector<S, n> dv, dq;
      sums(
          i, rates, [this, i](int j) { return numbers_.a(i, j); }, [this, i](int j) { return numbers_.aa(i, j); }, dv,
          dq);
      const T after = t * T(numbers_.c[i]);
      rate(after, add_scaled(t * t, dq, add_scaled(after, v, q)), add_scaled(t, dv, v), rates[i]);
      if constexpr (with_action) end.action = fma(t * T(numbers_.b[i]), rates[i].dl, end.action);
    }
    Vector<S, n> dv, dq;
    sums(stages, rates, [this](int j) { return numbers_.b[j]; }, [this](int j) { return numbers_.ba[j]; }, dv, dq);
    end.q = add_scaled(t * t, dq, add_scaled(t, v, q));
    end.v = add_scaled(t, dv, v);
    if constexpr (timed<System> && !with_action) {
      end.work = T(0.0);
      for (int i = 0; measures_work_ && i < stages; ++i) end.work = fma(t * T(numbers_.b[i]), rates[i].power, end.work);
    }
  }

 private:
  template <class S>
  RB_HD_APART static void acceleration_apart(const Dynamics<System>& dynamics, const Vector<S, n>& q,
                                             const Vector<S, n>& v, Rate<S>& r) {
    dynamics.acceleration(q, v, r.a, r.dl);
  }
  /// The sums of the first `count` accelerations with two sets of weights.
  template <class S, class ToV, class ToQ>
  RB_HD static void sums(int count, const Rate<S> (&rates)[max_explicit_stages], const ToV& to_v, const ToQ& to_q,
                         Vector<S, n>& dv, Vector<S, n>& dq) {
    dv = dq = Vector<S, n>::zero();
    for (int j = 0; j < count; ++j) {
      const double by_v = to_v(j), by_q = to_q(j);
      if (by_v == 0.0 && by_q == 0.0) continue;
      dv = add_scaled(T(by_v), rates[j].a, dv);
      dq = add_scaled(T(by_q), rates[j].a, dq);
    }
  }

  const Dynamics<System>& dynamics_;
  const ExplicitNumbers& numbers_;
  bool measures_work_;
};

namespace detail {

/// Rows all of whose entries are there, with the interface of ConstraintForms.
template <class T, int n, int m>
struct DenseForms {
  Matrix<T, m, n> mu;
  RB_HD static constexpr bool entry(int, int) { return true; }
  RB_HD void set(const Matrix<T, m, n>& forms) { mu = forms; }
  RB_HD Vector<T, n> row(int i) const { return mu[i]; }
  RB_HD T row_times(int i, const Vector<T, n>& x) const { return dot(mu[i], x); }
  RB_HD Vector<T, m> operator*(const Vector<T, n>& x) const { return mu * x; }
  RB_HD Vector<T, n> transpose_times(const Vector<T, m>& x) const { return rattleback::transpose_times(mu, x); }
};

/// m rows of constraint forms of a system, G, with G G^T factorised: those of all constraints, or those of the positions alone.
template <class System, int m>
class Normals {
  using T = typename System::scalar;
  static constexpr int n = System::n;
  static constexpr bool all = m == System::m;
  using Forms = std::conditional_t<all, FormsOfSweeps<System>, DenseForms<T, n, m>>;
  using Gram = std::conditional_t<all, GramPattern<System, UnitInverse>, FullPattern>;
  using GramFactors = Factors<T, m, Definite<ZerosOfFactors<Gram, m>>>;
  Forms forms_;
  GramFactors gram_;

 public:
  Normals() = default;
  RB_HD explicit Normals(const Matrix<T, m, n>& g) {
    forms_.set(g);
    auto product = Matrix<T, m, m>::zero();
    for_constants<m>([&](auto k) RB_INLINED {
      const Vector<T, n> row = forms_.row(k);
      for_entries<m, Gram>(k, [&](auto l) RB_INLINED { product[l][k] = forms_.row_times(l, row); });
    });
    gram_ = GramFactors(product);
  }

  RB_HD mask_t<T> singular() const { return gram_.singular(); }
  RB_HD Matrix<T, m, n> jacobian() const {
    Matrix<T, m, n> r;
    RB_UNROLL
    for (int k = 0; k < m; ++k) r[k] = forms_.row(k);
    return r;
  }
  /// G x.
  RB_HD Vector<T, m> operator*(const Vector<T, n>& x) const { return forms_ * x; }
  /// G^T y.
  RB_HD Vector<T, n> along(const Vector<T, m>& y) const { return forms_.transpose_times(y); }
  /// (G G^T)^-1 y.
  RB_HD Vector<T, m> solve(const Vector<T, m>& y) const { return gram_ * y; }
  /// The multiplier of the normal part of x, G^T (G G^T)^-1 G x.
  RB_HD Vector<T, m> multiplier(const Vector<T, n>& x) const { return solve(*this * x); }
  RB_HD Vector<T, n> tangential(const Vector<T, n>& x) const { return x - along(multiplier(x)); }
  /// The velocity nearest to v, unit metric, for which the hidden constraint of the system at q holds; for a system that no time
  /// acts on, its tangential part.
  RB_HD Vector<T, n> onto_hidden_constraint(const System& system, const Vector<T, n>& q, const Vector<T, n>& v) const {
    if constexpr (changes_in_time<System>()) {
      return v - along(solve(hidden_constraint(system, q, v)));
    } else {
      return tangential(v);
    }
  }
};
template <class System>
class Normals<System, 0> {
  using T = typename System::scalar;
  static constexpr int n = System::n;

 public:
  Normals() = default;
  RB_HD explicit Normals(const Matrix<T, 0, n>&) {}
  RB_HD Vector<T, n> tangential(const Vector<T, n>& x) const { return x; }
  RB_HD Vector<T, n> onto_hidden_constraint(const System&, const Vector<T, n>&, const Vector<T, n>& v) const {
    return v;
  }
};

/// An orthonormal basis of the vectors x with G x = 0, in rows: the last rows of H_m .. H_1 for the Householder reflections H_k
/// that take the rows of G to a triangle.
template <class T, int n, int m>
RB_HD_LARGE Matrix<T, n - m, n> tangent_basis(Matrix<T, m, n> g) {
  Vector<T, m> factor;  // H_k = 1 - factor_k x_k x_k^T, with x_k in row k of g, zero before entry k
  for (int k = 0; k < m; ++k) {
    T square(0.0);
    for (int i = k; i < n; ++i) square = fma(g[k][i], g[k][i], square);
    const T norm = sqrt(square), pivot = g[k][k] + select(g[k][k] < T(0.0), -norm, norm);
    factor[k] = T(2.0) / fma(pivot, pivot, fma(-g[k][k], g[k][k], square));
    g[k][k] = pivot;
    for (int l = k + 1; l < m; ++l) {
      T along(0.0);
      for (int i = k; i < n; ++i) along = fma(g[k][i], g[l][i], along);
      along = factor[k] * along;
      for (int i = k; i < n; ++i) g[l][i] = fma(-along, g[k][i], g[l][i]);
    }
  }
  auto basis = Matrix<T, n - m, n>::zero();
  for (int j = 0; j < n - m; ++j) {
    basis[j][m + j] = T(1.0);
    for (int k = m - 1; k >= 0; --k) {
      T along(0.0);
      for (int i = k; i < n; ++i) along = fma(g[k][i], basis[j][i], along);
      along = factor[k] * along;
      for (int i = k; i < n; ++i) basis[j][i] = fma(-along, g[k][i], basis[j][i]);
    }
  }
  return basis;
}

}  // namespace detail

/// The nearest point of the constraint manifold: q with q + G(q)^T theta = q_hat, g(q) = 0.
template <class System, int m = position_count<System>>
struct NearestPoint {
  using T = typename System::scalar;
  Vector<T, System::n> q;
  Vector<T, m> theta;
  detail::Normals<System, m> normals;
  mask_t<T> converged, singular;
};

/// Newton's method without the second derivative of theta . g, which is as small as theta.
template <class System, class T = typename System::scalar, int n = System::n, int m = position_count<System>>
RB_HD_APART NearestPoint<System> nearest_point(const System& system, const Vector<T, n>& q_hat) {
  NearestPoint<System> r;
  r.q = q_hat;
  r.converged = mask_t<T>(true);
  r.singular = mask_t<T>(false);
  if constexpr (m > 0) {
    constexpr int max_iterations = 12;
    r.theta = Vector<T, m>::zero();
    Iteration<T> lanes({T(1e-16), max_iterations}, magnitude(q_hat));
    for (int iteration = 0;; ++iteration) {
      r.normals = detail::Normals<System, m>(position_jacobian(system, r.q));
      r.singular = r.normals.singular();
      if (lanes.ended() || iteration == max_iterations) break;
      const Vector<T, n> excess = r.q - q_hat + r.normals.along(r.theta);
      const Vector<T, m> change = r.normals.solve(system.position_constraint(r.q) - r.normals * excess);
      const Vector<T, n> dq = -excess - r.normals.along(change);
      r.q = select(lanes.active, r.q + dq, r.q);
      r.theta = select(lanes.active, r.theta + change, r.theta);
      lanes.settle(magnitude(dq));
    }
    r.converged = lanes.converged();
  }
  return r;
}

/// The velocity at q, nearest to `given` in the unit metric, that all constraints allow: v with v + C(v)^T x = given, where C are the
/// constraint forms. The iteration is that of the nearest point; where the constraints are affine in v, its first update is exact except
/// for round-off.
template <class System, class T = typename System::scalar, int n = System::n, int m = System::m>
RB_HD_LARGE Vector<T, n> nearest_velocity(const System& system, const Vector<T, n>& q, const Vector<T, n>& given,
                                          const T& scale, mask_t<T>& converged, mask_t<T>& singular) {
  constexpr int max_iterations = 20;
  Vector<T, n> v = given;
  auto x = Vector<T, m>::zero();
  Iteration<T> lanes({T(1e-16), max_iterations}, scale);
  for (int iteration = 0; !lanes.ended() && iteration < max_iterations; ++iteration) {
    const detail::Normals<System, m> normals(constraint_forms(system, q, v));
    lanes.note_singular(normals.singular());
    const Vector<T, n> excess = v - given + normals.along(x);
    const Vector<T, m> change = normals.solve(rattleback::constraint(system, q, v) - normals * excess);
    const Vector<T, n> dv = -excess - normals.along(change);
    v = select(lanes.active, v + dv, v);
    x = select(lanes.active, x + change, x);
    lanes.settle(magnitude(dv));
  }
  converged = converged & lanes.converged();
  singular = singular | lanes.singular;
  return v;
}

/// The numbers of a step of `runge-kutta`.
struct RungeKuttaNumbers {
  ExplicitNumbers base;
  double projection;  ///< 0 or 1

  /// Host only.
  static constexpr RungeKuttaNumbers of(const ExplicitTableau& base, bool projection) {
    return {ExplicitNumbers::of(base), projection ? 1.0 : 0.0};
  }
};

/// A step, with any constraints. After it, q moves to the nearest point of the constraints on positions at the time of the end, and v to
/// the nearest velocity that all constraints allow there.
template <class T, class System>
  requires LagrangianOnRn<System>
class RungeKutta {
  static constexpr int n = System::n, m = System::m;

 public:
  using Numbers = RungeKuttaNumbers;
  using State = StateOf<T, System>;
  static constexpr bool two_packs = true;

  RB_HD RungeKutta(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : dynamics_(system), numbers_(numbers), measures_work_(options.measures_work) {}

  RB_HD_LARGE StepReport<T> operator()(State& state, T h) const {
    const ExplicitFlow<T, System> flow(dynamics_, numbers_.base, measures_work_);
    Vector<T, n> v = velocity(dynamics_.system(), state.q, state.p);
    typename ExplicitFlow<T, System>::template Rate<T> rate;
    flow.rate(T(0.0), state.q, v, rate);
    typename ExplicitFlow<T, System>::template End<T> end;
    flow(state.q, v, rate, h, end);
    if constexpr (timed<System>) add_work(end.work, state);
    state.q = end.q;
    v = end.v;
    const auto& dynamics = dynamics_.after(h);
    mask_t<T> converged(true), singular(false);
    if constexpr (m > 0) {
      if (numbers_.projection != 0.0) {
        const auto nearest = nearest_point(dynamics.system(), state.q);
        converged = nearest.converged;
        singular = nearest.singular;
        state.q = nearest.q;
        if constexpr (is_holonomic<System>) {
          v = nearest.normals.onto_hidden_constraint(dynamics.system(), state.q, v);
        } else {
          const T scale = magnitude(v) + abs(h) * magnitude(rate.a);
          v = nearest_velocity(dynamics.system(), state.q, v, scale, converged, singular);
        }
      }
    }
    state.p = momentum(dynamics.system(), state.q, v);
    if constexpr (m > 0) dynamics.acceleration(state.q, v, state.lambda);
    return {step_status<T>(converged, singular, is_finite(state)), T(0.0), T(0.0)};
  }

 private:
  Dynamics<System> dynamics_;
  const Numbers& numbers_;
  bool measures_work_;
};

RB_NAMESPACE_END
