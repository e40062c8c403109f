#pragma once
// The nonholonomic integrator that conserves the energy, for L = v.Mv/2 - U(q) and A(q) v = 0 on R^n. M is constant.
//
// T(A -> B) turns momenta with A M^-1 p = 0 to momenta with B M^-1 r = 0, in the metric M^-1, by the smallest turn. With
// M^-1-orthonormal rows N0 of A and N1 of B, N0 aligned so that X = N1 M^-1 N0^T is symmetric,
//
//   T p = p - (N0 + N1)^T (1 + X)^-1 N1 M^-1 p.
//
// A step from (q, p) to (q', p'), with the middle x = (q + q')/2 and the discrete gradient DU between q and q', is
//
//   w = T(A(q) -> A(x)) p,     w' = w - h DU + h A(x)^T Lambda  with  A(x) M^-1 w' = 0,
//   q' = q + h M^-1 (w + w')/2,     p' = T(A(x) -> A(q')) w'.
//
// Turns keep p.M^-1 p, and w' keeps the energy because A(x) M^-1 (w + w') = 0. This holds for any orthonormal rows: the alignment
// makes the step symmetric and independent of the choice of rows. Part of the constraint force is in the turns, so that
// Lambda is not the multiplier of the continuous equations; the recorded one is that of the state.
//
// The class of schemes is that of E. Celledoni, M. Farre Puiggali, E. H. Hoiseth, D. Martin de Diego, Energy-preserving integrators
// applied to nonholonomic systems, J. Nonlinear Sci. 29 (2019) 1523. Where M depends on q, p.M^-1 p of two points has no common metric,
// and the force of the kinetic energy is no gradient of U. With A(q) v + d(q) = 0 the energy is no invariant.

#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"
#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/methods/solve/dual_problem.hpp"
#include "rattleback/methods/solve/handing_over.hpp"
#include "rattleback/real/secant.hpp"

RB_NAMESPACE_BEGIN

template <class System>
concept TakesTransport =
    Condensable<System> && kind_of<System>() == ConstraintKind::velocity && !has_constraint_offset<System>;

namespace detail {

/// M^-1-orthonormal rows N of a constraint matrix, as covectors N and as vectors M^-1 N.
template <class System, class D>
struct ConstraintNormals {
  static constexpr int n = System::n, m = System::m;
  using Forms = ConstraintForms<System, D>;
  Vector<D, n> covector[m], vector[m];

  ConstraintNormals() = default;
  RB_HD ConstraintNormals(const System& system, const Mass<System>& mass, const Vector<D, n>& q) {
    const Forms forms(system, q);
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      covector[k] = forms.mu[k];
      // a second time, because the first one leaves rounding errors times the condition of the rows
      RB_UNROLL
      for (int again = 0; again < 2; ++again) {
        if (k == 0 && again == 1) continue;
        RB_UNROLL
        for (int l = 0; l < k; ++l) {
          const D part = product(k, l, covector[k], vector[l]);
          RB_UNROLL
          for (int i = 0; i < n; ++i)
            if (entry(l, i)) covector[k][i] = fma(-part, covector[l][i], covector[k][i]);
        }
        vector[k] = mass.inverse_times(covector[k]);
        const D scale = D(1.0) / sqrt(product(k, k, covector[k], vector[k]));
        RB_UNROLL
        for (int i = 0; i < n; ++i) {
          if (entry(k, i)) covector[k][i] = scale * covector[k][i];
          if (vector_entry(k, i)) vector[k][i] = scale * vector[k][i];
        }
      }
    }
  }

  /// Whether N[k][i], or (M^-1 N)[k][i], may differ from 0.
  RB_HD static constexpr bool entry(int k, int i) {
    bool there = false;
    for (int l = 0; l <= k; ++l) there = there || Forms::entry(l, i);
    return there;
  }
  RB_HD static constexpr bool vector_entry(int k, int i) { return !Mass<System>::is_diagonal || entry(k, i); }

  /// N[k] x.
  RB_HD D along(int k, const Vector<D, n>& x) const {
    SumOfProducts<D> sum;
    RB_UNROLL
    for (int i = 0; i < n; ++i)
      if (entry(k, i)) sum.add(covector[k][i], x[i]);
    return sum.value;
  }
  RB_HD Vector<D, m> along(const Vector<D, n>& x) const {
    Vector<D, m> r;
    RB_UNROLL
    for (int k = 0; k < m; ++k) r[k] = along(k, x);
    return r;
  }
  /// M^-1 N[l] along N[k] of another point.
  RB_HD static D product(int k, int l, const Vector<D, n>& covector, const Vector<D, n>& vector) {
    SumOfProducts<D> sum;
    RB_UNROLL
    for (int i = 0; i < n; ++i)
      if (entry(k, i) && vector_entry(l, i)) sum.add(covector[i], vector[i]);
    return sum.value;
  }
  /// v - (M^-1 N^T) y and p - N^T y.
  RB_HD Vector<D, n> taken_from_velocity(Vector<D, n> v, const Vector<D, m>& y) const {
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (vector_entry(k, i)) v[i] = fma(-y[k], vector[k][i], v[i]);
    }
    return v;
  }
  RB_HD Vector<D, n> taken_from_momentum(Vector<D, n> p, const Vector<D, m>& y) const {
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (entry(k, i)) p[i] = fma(-y[k], covector[k][i], p[i]);
    }
    return p;
  }
};

/// The orthogonal factor Q of X = S Q, S symmetric: that with determinant 1 for two rows, for more rows that with a positive definite S,
/// by Newton-Schulz iteration. Turns of up to 70 degrees converge to round-off; `turned` says whether they did.
template <class D, int m>
RB_HD Matrix<D, m, m> orthogonal_factor(const Matrix<D, m, m>& x, mask_t<D>& turned) {
  Matrix<D, m, m> q = x;
  if constexpr (m == 2) {
    const D c = x[0][0] + x[1][1], s = x[0][1] - x[1][0], size = fma(c, c, s * s), scale = D(1.0) / sqrt(size);
    q[0][0] = q[1][1] = scale * c;
    q[0][1] = scale * s;
    q[1][0] = -q[0][1];
    turned = turned & (size > D(0.01));
  } else {
    D defect(0.0);
    RB_ROLLED
    for (int iteration = 0; iteration <= 9; ++iteration) {
      // q (3 - q^T q)/2; the last product only tests q
      Matrix<D, m, m> correction;
      defect = D(0.0);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) {
          D sum(i == j ? -1.0 : 0.0);
          for (int k = 0; k < m; ++k) sum = fma(q[k][i], q[k][j], sum);
          defect = max(defect, abs(sum));
          correction[i][j] = D(i == j ? 1.0 : 0.0) - D(0.5) * sum;
        }
      if (iteration == 9) break;
      const Matrix<D, m, m> old = q;
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) {
          D sum(0.0);
          for (int k = 0; k < m; ++k) sum = fma(old[i][k], correction[k][j], sum);
          q[i][j] = sum;
        }
    }
    turned = turned & (defect < D(1e-13));
  }
  return q;
}

/// The turn of velocities from one constraint to another: T v = v - (M^-1 N0^T) z - (M^-1 N1^T) y.
template <class System, class D>
struct ConstraintTurn {
  static constexpr int n = System::n, m = System::m;
  using Normals = ConstraintNormals<System, D>;
  Vector<D, m> z, y;

  /// Takes the lanes out of `turned` in which the constraints are too far apart: nearly opposite, where the turn has no plane.
  RB_HD ConstraintTurn(const Normals& from, const Normals& to, const Vector<D, n>& v, mask_t<D>& turned) {
    Matrix<D, m, m> x;
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      RB_UNROLL
      for (int l = 0; l < m; ++l) x[k][l] = Normals::product(k, l, to.covector[k], from.vector[l]);
    }
    y = to.along(v);
    if constexpr (m == 1) {
      const D sum = D(1.0) + x[0][0];
      turned = turned & (sum > D(0.01));
      y[0] = y[0] / sum;
      z = y;
    } else {
      const Matrix<D, m, m> q = orthogonal_factor(x, turned);
      Matrix<D, m, m> sum;  // 1 + X Q^T
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        sum[k] = q * x[k];
        sum[k][k] = sum[k][k] + D(1.0);
      }
      turned = turned & !solve_once<PivotedUnrolled>(sum, y);
      z = transpose_times(q, y);
    }
  }
};

/// DU between two points. Few slopes come at once, unrolled; those of many coordinates come four at a time, in a loop whose code
/// is that of four.
template <class System, class D, int n = System::n>
RB_HD Vector<D, n> discrete_gradient(const System& system, const Vector<D, n>& q, const Vector<D, n>& next) {
  Vector<D, n> r;
  if constexpr (n <= 8) {
    using Slopes = Secant<D, n>;
    Vector<Slopes, n> path;
    RB_UNROLL
    for (int i = 0; i < n; ++i) path[i] = Slopes(q[i], next[i], i);
    const Slopes u = system.potential(path);
    RB_UNROLL
    for (int i = 0; i < n; ++i) r[i] = u.slope(i);
  } else {
    constexpr int at_once = 4;
    RB_ROLLED
    for (int first = 0; first < n; first += at_once) {
      Vector<Secant<D, at_once>, n> path;
      for (int i = 0; i < n; ++i) path[i] = Secant<D, at_once>::between(q[i], next[i], i - first);
      const Secant<D, at_once> u = system.potential(path);
      for (int i = 0; i < at_once && first + i < n; ++i) r[first + i] = u.slope(i);
    }
  }
  return r;
}

/// The equations of a step for the mean velocity u = (q' - q)/h, with a mass of their own or that of a step.
template <class T, class System, class HeldMass = Mass<System>>
class TransportEquations {
  static constexpr int n = System::n, m = System::m;

 public:
  using State = StateOf<T, System>;
  static constexpr int size = n;

  template <class D>
  struct Middle {
    Vector<D, n> end;                      // q + h u
    ConstraintNormals<System, D> normals;  // at x
    Vector<D, m> z, y;                     // of the turn to x
    Vector<D, n> velocity, force;          // M^-1 w, -DU
    Vector<D, m> along_force;              // N M^-1 force
    Vector<D, n> acceleration;             // M^-1 (w' - w)/h
    Vector<D, n> mean;                     // M^-1 (w + w')/2
    mask_t<D> turned;
  };

  RB_HD TransportEquations(const System& system, const Mass<System>& mass, const State& state, const T& h)
      : system_(system),
        mass_(mass),
        state_(state),
        h_(h),
        v_(mass.inverse_times(state.p)),
        start_(system, mass, state.q) {}
  RB_HD TransportEquations(const System& system, const State& state, const T& h)
      : TransportEquations(system, Mass<System>(system), state, h) {}

  RB_HD const Vector<T, n>& velocity() const { return v_; }

  template <class D>
  RB_HD Middle<D> middle(const Vector<D, n>& u) const {
    const D h(h_);
    const Vector<D, n> q = lift<D>(state_.q);
    Middle<D> r;
    r.end = fma(h, u, q);
    r.turned = mask_t<D>(true);
    r.normals = ConstraintNormals<System, D>(system_, mass_, fma(D(T(0.5) * h_), u, q));
    const ConstraintTurn<System, D> turn(lifted<D>(), r.normals, lift<D>(v_), r.turned);
    r.z = turn.z;
    r.y = turn.y;
    r.velocity = r.normals.taken_from_velocity(lifted<D>().taken_from_velocity(lift<D>(v_), r.z), r.y);
    r.force = -discrete_gradient(system_, q, r.end);
    const Vector<D, n> free = mass_.inverse_times(r.force);
    r.along_force = r.normals.along(free);
    r.acceleration = r.normals.taken_from_velocity(free, r.along_force);
    r.mean = fma(D(T(0.5) * h_), r.acceleration, r.velocity);
    return r;
  }

  /// Ends the step: q' and p' from a middle that solves the equations. The work of the force in coordinate i is that over the way
  /// q'_i - q_i, in place of h mean_i: so neither the rounding of q', which is large where angles are, nor what an iteration has
  /// left to do changes the energy.
  template <class Lanes>
  RB_HD StepReport<T> finish(Middle<T>& at, State& state, const Lanes& lanes, const T& residual) const {
    state.q = at.end;
    Vector<T, n> velocity = fma(h_, at.acceleration, at.velocity), extra;
    const Vector<T, n> rest = fma(-h_, at.mean, at.end - state_.q);
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      const T lasts = rest[i] / velocity[i];
      extra[i] = at.force[i] * select(abs(lasts) < T(1e-6) * abs(h_), lasts, T(0.0));  // where the coordinate does move
    }
    const Vector<T, n> free = mass_.inverse_times(extra);
    const Vector<T, m> along_extra = at.normals.along(free);
    velocity = velocity + at.normals.taken_from_velocity(free, along_extra);
    const ConstraintNormals<System, T> end(system_, mass_, state.q);
    const ConstraintTurn<System, T> turn(at.normals, end, velocity, at.turned);
    // p grows by one sum, because each sum is rounded
    Vector<T, n> change = fma(h_, at.force, extra);
    change = at.normals.taken_from_momentum(change, fma(h_, at.along_force, along_extra + at.y + turn.z));
    state.p = state_.p + end.taken_from_momentum(start_.taken_from_momentum(change, at.z), turn.y);
    const mask_t<T> finite = is_finite(sum(state.q) + sum(state.p));
    return {step_status<T>(lanes.converged(), lanes.singular | !at.turned, finite), lanes.iterations, residual};
  }

  // as Newton's method asks (methods/solve/dual_problem.hpp)
  RB_HD T scale() const { return velocity_scale(h_, state_.q, v_, mass_.inverse_times(force(system_, state_.q))); }
  RB_HD Vector<T, n> guess(const T& fraction) const { return fraction * v_; }
  RB_HD T size_of(const Vector<T, n>& update) const { return magnitude(update); }
  template <class D>
  RB_HD_LARGE Vector<D, n> residual(const Vector<D, n>& u) const {
    return u - middle(u).mean;
  }
  RB_HD StepReport<T> finish(const Vector<T, n>& u, State& state, const SolveState<T>& lanes, const T& residual,
                             NothingKept) const {
    Middle<T> at = middle(u);
    return finish(at, state, lanes, residual);
  }

 private:
  template <class D>
  RB_HD ConstraintNormals<System, D> lifted() const {
    ConstraintNormals<System, D> r;
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      r.covector[k] = lift<D>(start_.covector[k]);
      r.vector[k] = lift<D>(start_.vector[k]);
    }
    return r;
  }

  const System& system_;
  HeldMass mass_;
  const State state_;
  T h_;
  Vector<T, n> v_;
  ConstraintNormals<System, T> start_;
};

}  // namespace detail

/// The step by functional iteration, which contracts like h. A sweep gives the next u; the lanes that do not contract are left
/// unsolved. The energy changes by h DU.(error of u), so the last sweep tests what the rate of contraction promised.
template <class T, class System>
class TransportSweeps {
  static constexpr int n = System::n;
  using Equations = detail::TransportEquations<T, System, const Mass<System>&>;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = false;

  RB_HD TransportSweeps(const System& system, const SolverOptions<T>& options)
      : system_(system), mass_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const Equations equations(system_, mass_, state, h);
    Vector<T, n> u = equations.velocity();
    T scale = magnitude(u), residual(0.0);
    Sweeps<T> lanes(options_, scale);
    typename Equations::template Middle<T> at;
    for (int sweep = 0;; ++sweep) {
      at = equations.middle(u);
      const Vector<T, n> change = at.mean - u;
      if (sweep == 0) {  // the first change shows the size of velocities where they are 0
        scale = scale + magnitude(change);
        lanes.rescale(options_, scale);
      }
      residual = max_norm(change);
      lanes.check(residual, T(1e-15) * scale);
      if (lanes.ended() || lanes.late(sweep, options_)) break;
      u = select(lanes.active, at.mean, u);
      lanes.settle(sweep, magnitude(change));
    }
    return equations.finish(at, state, lanes, residual);
  }

 private:
  System system_;
  Mass<System> mass_;
  SolverOptions<T> options_;
};

template <class T, class System>
using GeneralTransport = detail::NewtonStep<T, System, detail::TransportEquations<T, System>>;

/// The sweeps, and Newton's method where they do not converge.
template <class T, class System>
  requires TakesTransport<System>
using TransportStep = HandingOver<TransportSweeps<T, System>, GeneralTransport<T, System>>;

/// The step, composed.
template <class T, class System>
  requires TakesTransport<System>
using ComposedTransportStep = Composed<T, System, TransportStep<T, System>>;

RB_NAMESPACE_END
