#pragma once
// The Routhian, which reduces a system on R^n with cyclic coordinates to its other coordinates (J. E. Marsden, T. S. Ratiu, Introduction
// to Mechanics and Symmetry, section 8.9). A step of any family may be taken on it (methods/reduced.hpp).

#include "rattleback/mechanics/quadratic.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Which coordinates are cyclic, because no part of L and no constraint depends on them. The others are shape coordinates.
template <class System>
struct ShapePattern {
  using Pattern = QuadraticPattern<System>;
  static constexpr int n = System::n;

  RB_HD static constexpr bool cyclic(int i) {
    for (int k = 0; k < System::m; ++k)
      if (ConstraintForms<System>::entry(k, i)) return false;
    return !Pattern::forces(i);
  }
  static constexpr int shapes() {
    int count = 0;
    for (int i = 0; i < n; ++i) count += !cyclic(i);
    return count;
  }
  /// The index of the k-th shape coordinate, and of the k-th cyclic one.
  RB_HD static constexpr int coordinate(int k) {
    constexpr auto coordinates = chosen<false>();
    return coordinates[static_cast<std::size_t>(k)];
  }
  RB_HD static constexpr int cyclic_coordinate(int k) {
    constexpr auto coordinates = chosen<true>();
    return coordinates[static_cast<std::size_t>(k)];
  }
  /// The place of the k-th shape coordinate among the active coordinates of L, or -1 where L does not depend on it.
  RB_HD static constexpr int active_index(int k) {
    for (int a = 0; a < Pattern::active; ++a)
      if (Pattern::coordinate(a) == coordinate(k)) return a;
    return -1;
  }
  /// The block of M of the shape coordinates is diagonal.
  static constexpr bool diagonal() {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != j && !cyclic(i) && !cyclic(j) && Pattern::entry(i, j)) return false;
    return true;
  }
  /// M has no entries between shape and cyclic coordinates.
  static constexpr bool apart() {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (cyclic(i) != cyclic(j) && Pattern::entry(i, j)) return false;
    return true;
  }
  /// M and A have constant rows of shape coordinates.
  static constexpr bool constant() {
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < Pattern::active; ++k)
        if (!cyclic(i) && Pattern::coupled(i, k)) return false;
    return true;
  }

 private:
  template <bool are_cyclic>
  static consteval auto chosen() {
    std::array<int, n> found{};
    for (int i = 0, next = 0; i < n; ++i)
      if (cyclic(i) == are_cyclic) found[static_cast<std::size_t>(next++)] = i;
    return found;
  }
};

template <class System>
consteval bool has_routhian() {
  if constexpr (Quadratic<System> && !timed<System> && (System::m == 0 || is_holonomic<System>)) {
    using Shape = ShapePattern<System>;
    return Shape::shapes() > 0 && Shape::shapes() < System::n && Shape::apart();
  } else {
    return false;
  }
}
template <class System>
consteval bool has_separable_routhian() {
  if constexpr (has_routhian<System>()) {
    return System::m == 0 && ShapePattern<System>::constant();
  } else {
    return false;
  }
}

}  // namespace detail

/// The system has cyclic coordinates c, and M has no entries between them and the shape coordinates x:
///
///   L = x'.M_x(x) x'/2 + A_x(x).x' + c'.M_c(x) c'/2 + A_c(x).c' - U(x).
///
/// The momenta p_c are constant, so that they are parameters of a system of the shape coordinates. A holonomic constraint belongs to the
/// shape coordinates alone.
template <class System>
concept HasRouthian = detail::has_routhian<System>();
/// The system of the shape coordinates is separable, because M_x and A_x are constant and there is no constraint.
template <class System>
concept SeparableRouthian = detail::has_separable_routhian<System>();

namespace detail {

/// The two parts of a system with cyclic coordinates, for given momenta of these coordinates.
template <HasRouthian System>
class CyclicParts {
 protected:
  using Shape = ShapePattern<System>;
  using Pattern = QuadraticPattern<System>;
  static constexpr int all = System::n, cyclic = all - Shape::shapes();

 public:
  using scalar = typename System::scalar;
  static constexpr int n = Shape::shapes(), m = System::m;
  using Full = Vector<scalar, all>;

  /// `p` holds the momenta of the cyclic coordinates. Its other entries are not used.
  RB_HD CyclicParts(const System& system, const Full& p) : system_(system), p_(p) {}

  /// The entries of x that belong to shape coordinates, and x with these entries replaced by `part`.
  template <class S>
  RB_HD static Vector<S, n> part_of(const Vector<S, all>& x) {
    Vector<S, n> part;
    RB_UNROLL
    for (int k = 0; k < n; ++k) part[k] = x[Shape::coordinate(k)];
    return part;
  }
  template <class S>
  RB_HD static Vector<S, all> with_part(const Vector<S, n>& part, Vector<S, all> x) {
    RB_UNROLL
    for (int k = 0; k < n; ++k) x[Shape::coordinate(k)] = part[k];
    return x;
  }
  /// y + a V_c(x) in the entries of the cyclic coordinates, where V_c = M_c^-1 (p_c - A_c) is their velocity.
  RB_HD Full plus_velocity(const scalar& a, const Vector<scalar, n>& x, Full y) const {
    const Vector<scalar, cyclic> v = velocity_of(kinetic(at(x)), at(x));
    RB_UNROLL
    for (int k = 0; k < cyclic; ++k) {
      scalar& entry = y[Shape::cyclic_coordinate(k)];
      entry = fma(a, v[k], entry);
    }
    return y;
  }

 protected:
  struct CyclicBlock {
    RB_HD static constexpr bool entry(int i, int j) {
      return Pattern::entry(Shape::cyclic_coordinate(i), Shape::cyclic_coordinate(j));
    }
  };

  template <class S>
  RB_HD static Vector<S, all> at(const Vector<S, n>& x) {
    return with_part(x, Vector<S, all>::zero());
  }
  /// p_c - A_c.
  template <class S>
  RB_HD Vector<S, cyclic> kinetic(const Vector<S, all>& q) const {
    Vector<S, cyclic> pi;
    RB_UNROLL
    for (int k = 0; k < cyclic; ++k) pi[k] = S(p_[Shape::cyclic_coordinate(k)]);
    if constexpr (Pattern::has_vector_potential) {
      const Vector<S, all> a = system_.vector_potential(q);
      RB_UNROLL
      for (int k = 0; k < cyclic; ++k) pi[k] = pi[k] - a[Shape::cyclic_coordinate(k)];
    }
    return pi;
  }
  /// M_c^-1 pi.
  template <class S>
  RB_HD Vector<S, cyclic> velocity_of(const Vector<S, cyclic>& pi, const Vector<S, all>& q) const {
    const auto inertia = detail::inertia(system_, q);
    Matrix<S, cyclic, cyclic> mass;
    RB_UNROLL
    for (int i = 0; i < cyclic; ++i) {
      RB_UNROLL
      for (int j = 0; j < cyclic; ++j)
        if (CyclicBlock::entry(i, j))
          mass[i][j] = entry_of<S>(inertia, Shape::cyclic_coordinate(i), Shape::cyclic_coordinate(j));
    }
    return Factors<S, cyclic, Definite<CyclicBlock>>(mass) * pi;
  }

  System system_;
  Full p_;
};

}  // namespace detail

/// The system of the shape coordinates x for given momenta of the cyclic ones. Its potential is the amended one,
/// U(x) + (p_c - A_c).M_c^-1 (p_c - A_c)/2.
template <class System>
class Routhian : public detail::CyclicParts<System> {
  using Base = detail::CyclicParts<System>;
  using typename Base::Pattern, typename Base::Shape;

 public:
  using Base::Base, Base::n, Base::m;

  static constexpr auto active = [] {
    constexpr auto count = [] {
      std::size_t k = 0;
      for (int i = 0; i < n; ++i) k += Shape::active_index(i) >= 0;
      return k;
    }();
    std::array<int, count> found{};
    for (int i = 0, next = 0; i < n; ++i)
      if (Shape::active_index(i) >= 0) found[static_cast<std::size_t>(next++)] = i;
    return found;
  }();
  RB_HD static constexpr bool mass_entry(int i, int j) {
    return Pattern::entry(Shape::coordinate(i), Shape::coordinate(j));
  }
  RB_HD static constexpr bool mass_varies(int i, int j, int k) {
    return Pattern::mass_varies(Shape::coordinate(i), Shape::coordinate(j), Shape::active_index(k));
  }
  RB_HD static constexpr bool vector_potential_varies(int i, int k) {
    return Pattern::vector_potential_varies(Shape::coordinate(i), Shape::active_index(k));
  }
  RB_HD static constexpr bool potential_varies(int k) {
    for (int c = 0; c < Base::cyclic; ++c)
      if (Pattern::coupled(Shape::cyclic_coordinate(c), Shape::active_index(k))) return true;
    return Pattern::potential_varies(Shape::active_index(k));
  }
  RB_HD static constexpr bool constraint_entry(int row, int j) {
    return ConstraintForms<System>::entry(row, Shape::coordinate(j));
  }
  RB_HD static constexpr bool constraint_hessian_entry(int i, int j) {
    return detail::HessianPattern<System>::entry(Shape::coordinate(i), Shape::coordinate(j));
  }

  template <class S>
  RB_HD auto mass_matrix(const Vector<S, n>& x) const {
    const auto inertia = detail::inertia(this->system_, Base::at(x));
    if constexpr (Pattern::dense) {
      Matrix<S, n, n> mass;
      RB_UNROLL
      for (int i = 0; i < n; ++i) mass[i] = Base::part_of(inertia[Shape::coordinate(i)]);
      return mass;
    } else {
      Vector<S, n> mass;
      RB_UNROLL
      for (int i = 0; i < n; ++i) mass[i] = detail::entry_of<S>(inertia, Shape::coordinate(i), Shape::coordinate(i));
      return mass;
    }
  }
  template <class S>
  RB_HD Vector<S, n> vector_potential(const Vector<S, n>& x) const
    requires(Pattern::has_vector_potential)
  {
    return Base::part_of(this->system_.vector_potential(Base::at(x)));
  }
  template <class S>
  RB_HD S potential(const Vector<S, n>& x) const {
    const auto q = Base::at(x);
    const auto pi = this->kinetic(q);
    const S amended = S(0.5) * dot(pi, this->velocity_of(pi, q));
    if constexpr (Pattern::has_potential) return amended + this->system_.potential(q);
    return amended;
  }
  template <class S>
  RB_HD Vector<S, m> position_constraint(const Vector<S, n>& x) const
    requires(m > 0)
  {
    return this->system_.position_constraint(Base::at(x));
  }
  template <class S>
  RB_HD Matrix<S, m, n> position_jacobian(const Vector<S, n>& x) const
    requires(m > 0 && requires(const System& s, const Vector<S, System::n>& q) { s.position_jacobian(q); })
  {
    const auto full = this->system_.position_jacobian(Base::at(x));
    Matrix<S, m, n> jacobian;
    RB_UNROLL
    for (int k = 0; k < m; ++k) jacobian[k] = Base::part_of(full[k]);
    return jacobian;
  }
};

template <SeparableRouthian System>
class Routhian<System> : public detail::CyclicParts<System> {
  using Base = detail::CyclicParts<System>;
  using typename Base::Shape;

 public:
  using Base::Base, Base::n;
  using typename Base::Full, typename Base::scalar;

  RB_HD Matrix<scalar, n, n> mass_matrix() const
    requires(!Shape::diagonal())
  {
    const auto full = lagrangian(Vector<scalar, n>::zero()).mass();
    Matrix<scalar, n, n> mass;
    RB_UNROLL
    for (int i = 0; i < n; ++i) mass[i] = Base::part_of(full[Shape::coordinate(i)]);
    return mass;
  }
  RB_HD Vector<scalar, n> mass_diagonal() const
    requires(Shape::diagonal())
  {
    const auto full = lagrangian(Vector<scalar, n>::zero()).mass();
    Vector<scalar, n> mass;
    RB_UNROLL
    for (int k = 0; k < n; ++k) mass[k] = full[Shape::coordinate(k)][Shape::coordinate(k)];
    return mass;
  }
  RB_HD Vector<scalar, n> force(const Vector<scalar, n>& x) const {
    const QuadraticLagrangian<System> here = lagrangian(x);
    return Base::part_of(here.plus_force(scalar(1.0), here.velocity(this->p_, this->p_), Full::zero()));
  }
  /// The constant A_x, which the separable form leaves out: its momentum is p_x - A_x.
  RB_HD Vector<scalar, n> vector_potential(const Vector<scalar, n>& x) const
    requires(Base::Pattern::has_vector_potential)
  {
    return Base::part_of(this->system_.vector_potential(Base::at(x)));
  }

 private:
  RB_HD QuadraticLagrangian<System> lagrangian(const Vector<scalar, n>& x) const {
    return QuadraticLagrangian<System>(this->system_, Base::at(x));
  }
};

RB_NAMESPACE_END
