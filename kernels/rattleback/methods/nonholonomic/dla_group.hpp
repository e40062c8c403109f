#pragma once
// The nonholonomic RATTLE on a Lie group: the discrete Lagrange-d'Alembert integrator of dla.hpp in the chart g tau(h w), for
// l(g, eta) and a constraint a(g) eta + d(g) = 0. With p(w) = (l_eta(g, w) + l_eta(g', w))/2 and F = l_g, left trivialised,
//
//   dtau_{-h w}^-T p(w) = mu + h/2 (F(g, w) + a(g)^T Lambda_1),        a(x) w + d(x) = 0
//   g' = g tau(h w),
//   mu' = dtau_{h w}^-T p(w) + h/2 (F(g', w) + a(g')^T Lambda_2),      a(g') eta(g', mu') + d(g') = 0.
//
// where x is the middle of g and g', x = g tau(y) with tau(y)^2 = tau(h w). This is L_d = h/2 (l(g, w) + l(g', w)) of "verlet". The map is
// symmetric on groups, too: g' and -w take the places of g and w. With cay it would not be with x = g tau(h w/2). For the
// structure on groups see S. Hante, M. Arnold, RATTLie: a variational Lie group integration scheme for constrained mechanical systems, J.
// Comput. Appl. Math. 387 (2021) 112492.
//
// Where the time acts on the system, g is at t, x at t + h/2 and g' at t + h. A generalized force, in the frame of the body, is part of F.

#include "rattleback/lie/halfway.hpp"
#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/solve/dual_problem.hpp"

RB_NAMESPACE_BEGIN

/// Systems on a Lie group with velocity constraints affine in the velocity.
template <class System>
concept AffineOnGroup = on_group<System> && !HamiltonianAlone<System> && AffineConstraint<System>;

namespace detail {
/// Unknowns are w and y = h/2 Lambda_1.
template <class T, class System, class Tau>
class GroupDlaEquations : public VelocityEquations<T, System::n, System::m> {
  using G = group_of<System>;
  static constexpr int n = System::n, m = System::m, N = element_size<System>;
  using Base = VelocityEquations<T, n, m>;

 public:
  using Base::size;
  using State = StateOf<T, System>;

  RB_HD GroupDlaEquations(const System& system, const State& state, const T& h)
      : GroupDlaEquations(system, state, h, velocity(system, state.q, state.p)) {}

  /// g'
  template <class D>
  RB_HD Vector<D, N> next(const Vector<D, n>& w) const {
    return Chart<G, Tau, D>(D(h_) * w).move(lift<D>(q_));
  }
  /// -D_1 L_d, or D_2 L_d at the end.
  template <bool end, class D>
  RB_HD Vector<D, n> discrete_momentum(const Vector<D, n>& w) const {
    const D half(T(end ? 0.5 : -0.5) * h_);
    const Vector<D, N> q = lift<D>(q_);
    const auto& system_1 = after(system_, h_);
    Vector<D, n> p = momentum(system_, q, w);
    Vector<D, N> place = q;
    if constexpr (end || !Separable<System>) {
      const Vector<D, N> q_1 = next(w);
      if constexpr (!Separable<System>) p = D(T(0.5)) * (p + momentum(system_1, q_1, w));
      if constexpr (end) place = q_1;
    }
    const Vector<D, n> carried = Chart<G, Tau, D>(D(T(end ? 1.0 : -1.0) * h_) * w).dtau_inverse_star(p);
    return fma(half, configuration_force(end ? system_1 : system_, place, w), carried);
  }
  template <class D>
  RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
    const Vector<D, n> w = segment<0, n>(x);
    Vector<D, n> r = discrete_momentum<false>(w) - lift<D>(p_);
    RB_UNROLL
    for (int k = 0; k < m; ++k) r = fma(-x[n + k], lift<D>(forms_.mu[k]), r);
    const Chart<G, Tau, D> half(halfway<G, Tau, D>(D(h_) * w));
    return join(r, constraint(after(system_, T(0.5) * h_), half.move(lift<D>(q_)), w));
  }

  RB_HD Vector<T, m> finish(const Vector<T, size>& x, State& state, mask_t<T>& singular) const {
    const Vector<T, n> w = segment<0, n>(x);
    state.q = next(w);
    state.p = discrete_momentum<true>(w);
    return put_on_constraint(after(system_, h_), state.q, state.p, singular);
  }
  /// By the quadrature of L_d; `impulse` is h/2 Lambda_2.
  RB_HD_LARGE T work(const Vector<T, size>& x, const Vector<T, m>& impulse) const {
    const Vector<T, n> w = segment<0, n>(x);
    const T half = T(0.5) * h_;
    return work_at(system_, half, q_, w, segment<n, m>(x)) + work_at(after(system_, h_), half, next(w), w, impulse);
  }

  /// Whether a step that failed turns so far that tau = cay, which ends at the angle pi, has no solution near the motion.
  RB_HD mask_t<T> folded() const {
    if constexpr (std::same_as<Tau, Cay>) {
      return G::angle_squared(h_ * this->before) > T(fold_limit * fold_limit);
    } else {
      return mask_t<T>(false);
    }
  }

 private:
  static constexpr double fold_limit = 3.14159;

  RB_HD GroupDlaEquations(const System& system, const State& state, const T& h, const Vector<T, n>& v)
      : Base(v, magnitude(v) + magnitude(velocity(system, state.q, pushed(system, state, h, v)) - v)),
        system_(system),
        h_(h),
        q_(state.q),
        p_(state.p),
        forms_(system, state.q) {}
  RB_HD static Vector<T, n> pushed(const System& system, const State& state, const T& h, const Vector<T, n>& v) {
    return fma(h, configuration_force(system, state.q, v), state.p);
  }

  const System& system_;
  T h_;
  Vector<T, N> q_;
  Vector<T, n> p_;
  ConstraintForms<System> forms_;
};
}  // namespace detail

template <class T, class System, class Tau>
using GroupDla = detail::NewtonStep<T, System, detail::GroupDlaEquations<T, System, Tau>>;

RB_NAMESPACE_END
