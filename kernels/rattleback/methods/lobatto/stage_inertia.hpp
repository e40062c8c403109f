#pragma once
// The inertia at the stages of the sweeps on a group: constant, or M(g) of L = eta.M(g)eta/2 + A(g).eta - U(g).

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/system.hpp"

RB_NAMESPACE_BEGIN

/// Constant inertia, and an affine or holonomic constraint, or none.
template <class System>
concept Mechanical = Separable<System> && (AffineConstraint<System> || is_holonomic<System>);
/// The same on a group with M(g) and A(g), stated by the parts of L.
template <class System>
concept MechanicalOnGroup =
    on_group<System> && StatesParts<System> && !Separable<System> && (AffineConstraint<System> || is_holonomic<System>);

/// M_i at the stages of the present sweep, and the coupling B_i = l_eta,g of the first one. A constant M is kept once, and has no coupling.
template <class T, class System, int S>
class InertiaOfStages {
  static constexpr int n = System::n;
  using G = group_of<System>;

 public:
  static constexpr bool varies = !Separable<System>;

  RB_HD InertiaOfStages(const System&, const Mass<System>& mass) : mass_(mass) {}

  /// At the beginning of the step.
  RB_HD void set_node(const System& system, const Configuration<System>& g, const Vector<T, n>& eta) {
    if constexpr (varies) {
      at_.node = mass_matrix(system, g, eta);
      at_.eta = eta;
    }
  }
  RB_HD void set_stage(const System& system, int i, const Configuration<System>& g, const Vector<T, n>& eta,
                       bool first) {
    if constexpr (varies) {
      at_.inverse[i] = Factors<T, n, Definite<>>(mass_matrix(system, g, eta));
      if (!first) return;
      using D = Dual<T, n>;
      at_.coupling[i] = detail::partials<n>(rattleback::momentum(system, seeded_configuration<G, D>(g), lift<D>(eta)));
    }
  }

  template <class Q, class P>
  RB_HD P velocity(const System& system, const Q& g, const P& p) const {
    if constexpr (varies) {
      return rattleback::velocity(system, g, p);
    } else {
      return mass_.inverse_times(p);
    }
  }
  RB_HD Vector<T, n> momentum(const System& system, const Configuration<System>& g, const Vector<T, n>& eta) const {
    if constexpr (varies) {
      return rattleback::momentum(system, g, eta);
    } else {
      return mass_.times(eta);
    }
  }
  /// The velocity at the beginning, where the momentum is p.
  RB_HD Vector<T, n> node_velocity(const Vector<T, n>& p) const {
    if constexpr (varies) {
      return at_.eta;
    } else {
      return mass_.inverse_times(p);
    }
  }
  RB_HD Vector<T, n> node_times(const Vector<T, n>& x) const {
    if constexpr (varies) {
      return at_.node * x;
    } else {
      return mass_.times(x);
    }
  }
  /// M_i^-1 x.
  RB_HD Vector<T, n> inverse_times(int i, const Vector<T, n>& x) const {
    if constexpr (varies) {
      return at_.inverse[i] * x;
    } else {
      return mass_.inverse_times(x);
    }
  }
  /// sum_j a_j M_j^-1 x_j.
  template <class Row>
  RB_HD Vector<T, n> sum_of_inverses(const Row& a, const Vector<T, n> (&x)[S]) const {
    Vector<T, n> sum = Vector<T, n>::zero();
    RB_UNROLL
    for (int j = 0; j < S; ++j) sum = fma(T(a[j]), varies ? inverse_times(j, x[j]) : x[j], sum);
    return varies ? sum : inverse_times(0, sum);
  }
  /// M_k^-1 y at all stages.
  struct Responses {
    Vector<T, n> of[varies ? S : 1];
  };
  RB_HD Responses responses(const Vector<T, n>& y) const {
    Responses r;
    RB_UNROLL
    for (int k = 0; k < (varies ? S : 1); ++k) r.of[k] = inverse_times(k, y);
    return r;
  }
  /// sum_k a_ik ah_kl x.M_k^-1 y.
  template <class Tableau>
  RB_HD static T coupled(const Tableau& tableau, int i, int l, const Vector<T, n>& x, const Responses& y) {
    if constexpr (varies) {
      T sum(0.0);
      RB_UNROLL
      for (int k = 0; k < S; ++k) sum = fma(T(tableau.a[i][k] * tableau.ah[k][l]), dot(x, y.of[k]), sum);
      return sum;
    } else {
      return T(tableau.a_ah[i][l]) * dot(x, y.of[0]);
    }
  }
  /// B_i.
  RB_HD const Matrix<T, n, n>& coupling(int i) const
    requires varies
  {
    return at_.coupling[i];
  }

 private:
  struct Varying {
    Matrix<T, n, n> node, coupling[S];
    Vector<T, n> eta;
    Factors<T, n, Definite<>> inverse[S];
  };
  struct Nothing {};
  const Mass<System>& mass_;
  RB_MAYBE_EMPTY std::conditional_t<varies, Varying, Nothing> at_;
};

RB_NAMESPACE_END
