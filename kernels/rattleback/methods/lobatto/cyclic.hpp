#pragma once
// The Lobatto pairs of systems on R^n with cyclic coordinates, as steps of the Routhian (J. E. Marsden, T. S. Ratiu, Introduction to
// Mechanics and Symmetry, section 8.9).

#include "rattleback/mechanics/quadratic.hpp"
#include "rattleback/methods/lobatto/condensed.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Which coordinates are cyclic: no part of L depends on them. The others are shape coordinates.
template <class System>
struct ShapePattern {
  using Pattern = QuadraticPattern<System>;
  static constexpr int n = System::n;

  RB_HD static constexpr bool cyclic(int i) { return !Pattern::forces(i); }
  static constexpr int shapes() {
    int count = 0;
    for (int i = 0; i < n; ++i) count += !cyclic(i);
    return count;
  }
  /// The index of the k-th shape coordinate.
  RB_HD static constexpr int coordinate(int k) {
    constexpr auto coordinates = [] {
      std::array<int, n> found{};
      for (int i = 0, next = 0; i < n; ++i)
        if (!cyclic(i)) found[static_cast<std::size_t>(next++)] = i;
      return found;
    }();
    return coordinates[static_cast<std::size_t>(k)];
  }
  /// The block of M of the shape coordinates is diagonal.
  static constexpr bool diagonal() {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != j && !cyclic(i) && !cyclic(j) && Pattern::entry(i, j)) return false;
    return true;
  }
  /// M has constant rows of shape coordinates, without entries for cyclic ones, and A has constant entries there.
  static constexpr bool splits() {
    for (int i = 0; i < n; ++i) {
      if (cyclic(i)) continue;
      for (int k = 0; k < Pattern::active; ++k)
        if (Pattern::coupled(i, k)) return false;
      for (int j = 0; j < n; ++j)
        if (cyclic(j) && (Pattern::entry(i, j) || Pattern::entry(j, i))) return false;
    }
    return true;
  }
};

template <class System>
consteval bool has_routhian() {
  if constexpr (Quadratic<System> && System::m == 0) {
    using Shape = ShapePattern<System>;
    return Shape::shapes() > 0 && Shape::shapes() < System::n && Shape::splits();
  } else {
    return false;
  }
}

}  // namespace detail

/// No constraint, and the momenta p_c of cyclic coordinates c leave a separable system of the shape coordinates x:
///
///   L = x'.M_x x'/2 + A_x.x' + c'.M_c(x) c'/2 + A_c(x).c' - U(x)     with constant M_x and A_x.
template <class System>
concept SeparableRouthian = detail::has_routhian<System>();

/// The separable system of the shape coordinates x for given momenta of the cyclic ones. The amended potential is
/// U(x) + (p_c - A_c).M_c^-1 (p_c - A_c)/2.
template <class System>
  requires SeparableRouthian<System>
class Routhian {
  using Shape = detail::ShapePattern<System>;

 public:
  using scalar = typename System::scalar;
  static constexpr int n = Shape::shapes(), m = 0;
  using Full = Vector<scalar, System::n>;

  /// `p` holds the momenta of the cyclic coordinates; its other entries do not count.
  RB_HD Routhian(const System& system, const Full& p) : system_(system), p_(p) {}

  /// The shape coordinates of x, and back.
  RB_HD static Vector<scalar, n> part_of(const Full& x) {
    Vector<scalar, n> part;
    RB_UNROLL
    for (int k = 0; k < n; ++k) part[k] = x[Shape::coordinate(k)];
    return part;
  }
  RB_HD static Full with_part(const Vector<scalar, n>& part, Full x) {
    RB_UNROLL
    for (int k = 0; k < n; ++k) x[Shape::coordinate(k)] = part[k];
    return x;
  }

  RB_HD Matrix<scalar, n, n> mass_matrix() const
    requires(!Shape::diagonal())
  {
    const auto full = at(Vector<scalar, n>::zero()).mass();
    Matrix<scalar, n, n> mass;
    RB_UNROLL
    for (int i = 0; i < n; ++i) mass[i] = part_of(full[Shape::coordinate(i)]);
    return mass;
  }
  RB_HD Vector<scalar, n> mass_diagonal() const
    requires(Shape::diagonal())
  {
    const auto full = at(Vector<scalar, n>::zero()).mass();
    Vector<scalar, n> mass;
    RB_UNROLL
    for (int k = 0; k < n; ++k) mass[k] = full[Shape::coordinate(k)][Shape::coordinate(k)];
    return mass;
  }
  RB_HD Vector<scalar, n> force(const Vector<scalar, n>& x) const {
    const QuadraticLagrangian<System> here = at(x);
    return part_of(here.plus_force(scalar(1.0), here.velocity(p_, p_), Full::zero()));
  }
  /// y + a c' at x, in the entries of the cyclic coordinates.
  RB_HD Full plus_velocity(const scalar& a, const Vector<scalar, n>& x, Full y) const {
    const Full v = at(x).velocity(p_, p_);
    RB_UNROLL
    for (int i = 0; i < System::n; ++i)
      if (Shape::cyclic(i)) y[i] = fma(a, v[i], y[i]);
    return y;
  }

 private:
  RB_HD QuadraticLagrangian<System> at(const Vector<scalar, n>& x) const {
    return QuadraticLagrangian<System>(system_, with_part(x, Full::zero()));
  }

  System system_;
  Full p_;
};

/// The steps of the whole system and of its Routhian are the same map: cyclic momenta P_i are p at all stages, and
///   c' = c + h sum_i b_i V_c(X_i)     with V_c = M_c^-1 (p_c - A_c).
template <class T, class System, int S>
class CyclicLobatto {
  using Reduced = Routhian<System>;
  using Condensed = CondensedLobatto<T, Reduced, S>;

 public:
  using State = StateOf<T, System>;
  using Scalar = T;
  using MechanicalSystem = System;
  static constexpr bool two_packs = Condensed::two_packs;

  RB_HD CyclicLobatto(const System& system, const SolverOptions<T>& options)
      : system_(system), condensed_(Reduced(system, Vector<T, System::n>::zero()), options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    constexpr auto tableau = lobatto_pair<S>();
    const QuadraticLagrangian<System> node(system_, state.q);
    const Reduced reduced(system_, state.p);
    PhaseState<T, Reduced::n, 0> shape{Reduced::part_of(state.q), Reduced::part_of(node.kinetic(state.p)), {}};
    Vector<T, Reduced::n> x[S - 1];  // X_2..X_s
    auto velocity = reduced.plus_velocity(T(tableau.b[0]), shape.q, Vector<T, System::n>::zero());
    StepReport<T> report = condensed_.step(reduced, shape, h, x);
    RB_UNROLL
    for (int i = 1; i < S; ++i) velocity = reduced.plus_velocity(T(tableau.b[i]), x[i - 1], velocity);
    state.q = Reduced::with_part(shape.q, fma(h, velocity, state.q));
    state.p = Reduced::with_part(Reduced::part_of(node.canonical(Reduced::with_part(shape.p, state.p))), state.p);
    return report;
  }

 private:
  System system_;
  Condensed condensed_;
};

RB_NAMESPACE_END
