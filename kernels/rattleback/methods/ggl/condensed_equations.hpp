#pragma once
// What the condensed forms of the theta family and of the energy-momentum schemes solve, for systems with the structure `Blocks`.

#include "rattleback/mechanics/block_algebra.hpp"
#include "rattleback/methods/ggl/equations.hpp"
#include "rattleback/real/secant.hpp"

RB_NAMESPACE_BEGIN

/// The equations in u = (q' - q)/h, l = h lambda and gamma, where v = u - M^-1 G(x)^T gamma. The energy-momentum schemes are those with
/// theta = 1/2, constraint forces along G(x), a difference quotient for DU, and p' = 2 M v - p.
template <class T, class System, GglScheme scheme>
class CondensedEquations {
  static constexpr int n = System::n, m = System::m, terms = System::terms;
  using Traits = GglTraits<scheme>;
  using Algebra = detail::BlockAlgebra<T, System>;
  using Forms = typename Algebra::Forms;

 public:
  using State = PhaseState<T, n, m>;
  struct Values {
    Vector<T, n> u, x, q_1, v, v_1;
    Vector<T, m> l, gamma;
    Forms g_x, g_1;
    GglPoint<T, n, m> at;
    GglResidual<T, n, m> left;
  };

  RB_HD CondensedEquations(const System& system, const Algebra& algebra, const State& state, const T& h, const T& theta,
                           const T& vartheta, const Forms& g_0)
      : family{system, state, h, theta, vartheta}, g_0(g_0), system_(system), algebra_(algebra) {
    v_0 = Algebra::scale(algebra.inverse_mass, state.p);
    if constexpr (Traits::discrete_gradient && terms > 0) invariants_0_ = system.potential_invariants(state.q);
  }

  /// Sets the other values from r.u, r.l and r.gamma.
  RB_HD void evaluate(Values& r) const {
    r.x = family.middle(r.u);
    r.q_1 = family.end(r.u);
    r.g_x = Algebra::forms(system_, r.x);
    if constexpr (Traits::discrete_gradient || Traits::forces_at_ends) r.g_1 = Algebra::forms(system_, r.q_1);
    r.v = r.u;
    if constexpr (Traits::has_gamma) r.v = r.v - Algebra::scale(algebra_.inverse_mass, r.g_x.transpose_times(r.gamma));
    r.at.momentum = Algebra::scale(algebra_.mass, r.v);
    if constexpr (Traits::discrete_gradient) {
      r.at.slope = discrete_force(r);
      r.v_1 = T(2.0) * r.v - v_0;
    } else {
      r.at.slope = force(system_, r.x);
    }
    r.at.hidden = Vector<T, m>::zero();
    if constexpr (Traits::has_gamma) r.at.hidden = Traits::discrete_gradient ? r.g_1 * r.v_1 : r.g_x * r.v;
    if constexpr (Traits::has_gamma && Traits::variational)
      r.at.slope = r.at.slope - Algebra::times(system_.constraint_hessian(r.gamma), r.v);
    r.left = family(r.x, r.q_1, along_l(r).transpose_times(r.l), r.at);
  }
  /// What is left of the equations, in velocities.
  RB_HD T norm(const Values& r) const {
    const T norm = max(max_norm(Algebra::scale(algebra_.inverse_mass, r.left.kick)), max_norm(r.left.position));
    if constexpr (Traits::has_gamma) return max(norm, max_norm(r.left.hidden));
    return norm;
  }
  /// p'.
  RB_HD Vector<T, n> momentum_at_end(const Values& r) const {
    if constexpr (Traits::discrete_gradient) {
      return T(2.0) * r.at.momentum - family.start.p;
    } else {
      Vector<T, n> pull_1;
      if constexpr (Traits::forces_at_ends) pull_1 = r.g_1.transpose_times(r.l);
      return family.momentum_at_end(r.at.slope, along_l(r).transpose_times(r.l), pull_1);
    }
  }
  /// The factors of D^2 pi_a and of D pi_a D pi_a^T in the derivative of DU.
  RB_HD void potential_slopes(const Values& r, Vector<T, terms>& first, Vector<T, terms>& second) const {
    const Vector<T, terms> pi = system_.potential_invariants(Traits::discrete_gradient ? r.q_1 : r.x);
    for_terms([&](auto a) {
      using D = Dual<T, 1>;
      D slope;
      if constexpr (Traits::discrete_gradient) {
        slope = secant<a.value>(system_, D(invariants_0_[a.value]), D(pi[a.value], 0));
      } else {
        const Dual<D, 1> f = system_.template potential_term<a.value>(Dual<D, 1>(D(pi[a.value], 0), 0));
        slope = f.partial[0];
      }
      first[a.value] = slope.value;
      second[a.value] = slope.partial[0];
    });
  }
  /// What l acts along in the equation of v.
  RB_HD const Forms& along_l(const Values& r) const { return Traits::forces_at_ends ? g_0 : r.g_x; }

  ThetaEquations<T, System, scheme> family;
  Vector<T, n> v_0;
  const Forms& g_0;  // at q

 private:
  /// Minus the equivariant discrete gradient of U: a difference quotient for each f_a, the derivative at the midpoint for its
  /// invariant.
  RB_HD Vector<T, n> discrete_force(const Values& r) const {
    // without its terms U is linear
    Vector<T, n> f = force(system_, r.x);
    if constexpr (terms > 0) {
      const Vector<T, terms> at_x = system_.potential_invariants(r.x), at_1 = system_.potential_invariants(r.q_1);
      const Matrix<T, terms, n> gradients = system_.potential_invariants_jacobian(r.x);
      for_terms([&](auto a) {
        using D = Dual<T, 1>;
        const T tangent = system_.template potential_term<a.value>(D(at_x[a.value], 0)).partial[0];
        const T quotient = secant<a.value>(system_, invariants_0_[a.value], at_1[a.value]);
        f = fma(tangent - quotient, gradients[a.value], f);
      });
    }
    return f;
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

  const System& system_;
  const Algebra& algebra_;
  Vector<T, terms> invariants_0_;
};

RB_NAMESPACE_END
