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

template <class T, class System, int S>
class ConstantInertiaOfStages {
  static constexpr int n = System::n;

 public:
  static constexpr bool varies = false;
  RB_HD ConstantInertiaOfStages(const System&, const Mass<System>& mass) : mass_(mass) {}

  RB_HD void set_node(const System&, const Configuration<System>&, const Vector<T, n>&) {}
  RB_HD void set_stage(const System&, int, const Configuration<System>&, const Vector<T, n>&, bool) {}
  template <class Q, class P>
  RB_HD P velocity(const System&, const Q&, const P& p) const {
    return mass_.inverse_times(p);
  }
  RB_HD Vector<T, n> momentum(const System&, const Configuration<System>&, const Vector<T, n>& eta) const {
    return mass_.times(eta);
  }
  RB_HD Vector<T, n> node_velocity(const Vector<T, n>& p) const { return mass_.inverse_times(p); }
  RB_HD Vector<T, n> node_times(const Vector<T, n>& x) const { return mass_.times(x); }
  /// M_i^-1 x.
  RB_HD Vector<T, n> inverse_times(int, const Vector<T, n>& x) const { return mass_.inverse_times(x); }
  /// sum_j a_j M_j^-1 x_j.
  template <class Row>
  RB_HD Vector<T, n> sum_of_inverses(const Row& a, const Vector<T, n> (&x)[S]) const {
    Vector<T, n> sum = Vector<T, n>::zero();
    RB_UNROLL
    for (int j = 0; j < S; ++j) sum = fma(T(a[j]), x[j], sum);
    return mass_.inverse_times(sum);
  }
  /// sum_k a_ik ah_kl x.M_k^-1 y.
  template <class Tableau>
  RB_HD T coupled(const Tableau& tableau, int i, int l, const Vector<T, n>& x, const Vector<T, n>& y) const {
    return T(tableau.a_ah[i][l]) * dot(x, mass_.inverse_times(y));
  }

 private:
  const Mass<System>& mass_;
};

/// M_i of the stages of the present sweep, and B_i = l_eta,g of the first one.
template <class T, class System, int S>
class VaryingInertiaOfStages {
  static constexpr int n = System::n;
  using G = group_of<System>;

 public:
  static constexpr bool varies = true;
  template <class Mass>
  RB_HD VaryingInertiaOfStages(const System&, const Mass&) {}

  RB_HD void set_node(const System& system, const Configuration<System>& g, const Vector<T, n>& eta) {
    node_ = mass_matrix(system, g, eta);
    eta_ = eta;
  }
  RB_HD void set_stage(const System& system, int i, const Configuration<System>& g, const Vector<T, n>& eta,
                       bool first) {
    inverse_[i] = Factors<T, n, Definite<>>(mass_matrix(system, g, eta));
    if (!first) return;
    using D = Dual<T, n>;
    Vector<D, n> v;
    RB_UNROLL
    for (int k = 0; k < n; ++k) v[k] = D(eta[k]);
    const Vector<D, n> p = rattleback::momentum(system, seeded_configuration<G, D>(g), v);
    RB_UNROLL
    for (int a = 0; a < n; ++a) {
      RB_UNROLL
      for (int b = 0; b < n; ++b) coupling_[i][a][b] = p[a].partial[b];
    }
  }
  template <class Q, class P>
  RB_HD P velocity(const System& system, const Q& g, const P& p) const {
    return rattleback::velocity(system, g, p);
  }
  RB_HD Vector<T, n> momentum(const System& system, const Configuration<System>& g, const Vector<T, n>& eta) const {
    return rattleback::momentum(system, g, eta);
  }
  RB_HD const Vector<T, n>& node_velocity(const Vector<T, n>&) const { return eta_; }
  RB_HD Vector<T, n> node_times(const Vector<T, n>& x) const { return node_ * x; }
  RB_HD Vector<T, n> inverse_times(int i, const Vector<T, n>& x) const { return inverse_[i] * x; }
  template <class Row>
  RB_HD Vector<T, n> sum_of_inverses(const Row& a, const Vector<T, n> (&x)[S]) const {
    Vector<T, n> sum = Vector<T, n>::zero();
    RB_UNROLL
    for (int j = 0; j < S; ++j) sum = fma(T(a[j]), inverse_[j] * x[j], sum);
    return sum;
  }
  template <class Tableau>
  RB_HD T coupled(const Tableau& tableau, int i, int l, const Vector<T, n>& x, const Vector<T, n>& y) const {
    T sum(0.0);
    RB_UNROLL
    for (int k = 0; k < S; ++k) sum = fma(T(tableau.a[i][k] * tableau.ah[k][l]), dot(x, inverse_[k] * y), sum);
    return sum;
  }
  /// B_i.
  RB_HD const Matrix<T, n, n>& coupling(int i) const { return coupling_[i]; }

 private:
  Matrix<T, n, n> node_, coupling_[S];
  Vector<T, n> eta_;
  Factors<T, n, Definite<>> inverse_[S];
};

template <class T, class System, int S>
using InertiaOfStages =
    std::conditional_t<Separable<System>, ConstantInertiaOfStages<T, System, S>, VaryingInertiaOfStages<T, System, S>>;

RB_NAMESPACE_END
