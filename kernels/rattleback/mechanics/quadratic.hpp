#pragma once
// Lagrangians that a system states by their parts, L = v.M(q)v/2 + A(q).v - U(q).
//
// With f = L_q, p = L_v = M v + A and the coupling B = L_vq = dp/dq, whose column k is (d_k M) v + d_k A,
//
//   f_k = v.(d_k M)v/2 + (d_k A).v - d_k U,     L_qv = B^T,     M dv = dp - B dq for v = v(q, p).
//
// The last identity stands in for every derivative of the inverse Legendre map. Only active coordinates, those that L or the
// constraint depends on, have columns of B and entries of f.

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/quadratic_pattern.hpp"

RB_NAMESPACE_BEGIN

/// L = v.M v/2 + A(q).v - U(q) on R^n.
template <class System>
concept ConstantInertia =
    (Quadratic<System> || (Separable<System> && !on_group<System>)) && !detail::QuadraticPattern<System>::varies();

/// The coupling B = dp/dq at a point and a velocity, as columns for the active coordinates.
template <class System, class T = typename System::scalar>
class Coupling {
  using Pattern = detail::QuadraticPattern<System>;
  static constexpr int n = System::n, active = Pattern::active, coupling = Pattern::couples() ? active : 0;

 public:
  Vector<T, n> column[active > 0 ? active : 1];

  /// s B.
  RB_HD Coupling scaled(const T& s) const {
    Coupling r;
    RB_UNROLL
    for (int k = 0; k < active; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (Pattern::coupled(i, k)) r.column[k][i] = s * column[k][i];
    }
    return r;
  }
  /// y + B x, or y - B x.
  template <int sign = 1>
  RB_HD Vector<T, n> plus_times(const Vector<T, n>& x, Vector<T, n> y) const {
    RB_UNROLL
    for (int k = 0; k < coupling; ++k) {
      const T& at = x[Pattern::coordinate(k)];
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (Pattern::coupled(i, k)) y[i] = fma(sign > 0 ? column[k][i] : -column[k][i], at, y[i]);
    }
    return y;
  }
  /// y + B^T x, or y - B^T x.
  template <int sign = 1>
  RB_HD Vector<T, n> plus_transpose_times(const Vector<T, n>& x, Vector<T, n> y) const {
    RB_UNROLL
    for (int k = 0; k < coupling; ++k) {
      T& to = y[Pattern::coordinate(k)];
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (Pattern::coupled(i, k)) to = fma(sign > 0 ? column[k][i] : -column[k][i], x[i], to);
    }
    return y;
  }
  /// y + s B x.
  RB_HD Vector<T, n> plus_times(const T& s, const Vector<T, n>& x, const Vector<T, n>& y) const {
    return plus_times(s * x, y);
  }
  /// y + s B^T x.
  RB_HD Vector<T, n> plus_transpose_times(const T& s, const Vector<T, n>& x, Vector<T, n> y) const {
    RB_UNROLL
    for (int k = 0; k < coupling; ++k) {
      SumOfProducts<T> sum;
      RB_UNROLL
      for (int i = 0; i < n; ++i)
        if (Pattern::coupled(i, k)) sum.add(column[k][i], x[i]);
      const int c = Pattern::coordinate(k);
      if (!sum.empty) y[c] = fma(s, sum.value, y[c]);
    }
    return y;
  }
  /// M + s B, or M + s B^T. Unless the matrix is `filled`, entries that M does not have are not read.
  template <bool transposed, bool filled = false>
  RB_HD Matrix<T, n, n> added_to(Matrix<T, n, n> mass, const T& s) const {
    RB_UNROLL
    for (int k = 0; k < active; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        if (!Pattern::coupled(i, k)) continue;
        const int c = Pattern::coordinate(k), row = transposed ? c : i, column_of = transposed ? i : c;
        mass[row][column_of] =
            filled || Pattern::entry(row, column_of) ? fma(s, column[k][i], mass[row][column_of]) : s * column[k][i];
      }
    }
    return mass;
  }
};

/// The parts of L and their derivatives at one configuration. Where M varies with five or more coordinates, the CPU has functions for M with
/// its derivatives, for M^-1, L_q and B, because the same code inlined at every stage is compiled many times over. For a pendulum of six
/// links by its angles (three stages, AVX-512) the functions save two thirds of the compilation, 6 s in place of 19 s and 0.4 GB in place of
/// 1.3 GB, and cost a fifth of the speed.
template <class System, class T = typename System::scalar>
class QuadraticLagrangian {
  using Pattern = detail::QuadraticPattern<System>;
  static constexpr int n = System::n, active = Pattern::active;
  using D = std::conditional_t<(active > 0), Dual<T, (active > 0 ? active : 1)>, T>;

 public:
  using MassInverse = Factors<T, n, Definite<Pattern>>;

  QuadraticLagrangian() = default;
  RB_HD QuadraticLagrangian(const System& system, const Vector<T, n>& q) {
    if constexpr (large) {
      evaluate_apart(system, q);
    } else {
      evaluate(system, q);
    }
  }

  static constexpr int passes = 1;  ///< LagrangianAt (lagrangian_at.hpp)

  /// The parts hold for all velocities.
  RB_HD void move(const Vector<T, n>&) {}
  /// M^-1 and B at v.
  RB_HD void linearise(const Vector<T, n>& v, MassInverse& mass_inverse, Coupling<System, T>& b) const {
    mass_inverse = inverse();
    b = coupling(v);
  }
  RB_HD Matrix<T, n, n> mass() const {
    Matrix<T, n, n> mass;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j) mass[i][j] = Pattern::entry(i, j) ? mass_entry(i, j) : T(0.0);
    }
    return mass;
  }
  RB_HD MassInverse inverse() const {
    if constexpr (large) return inverse_apart();
    return inverse_of_mass();
  }
  RB_HD MassInverse inverse_at(const Vector<T, n>&) const { return inverse(); }
  RB_HD Vector<T, n> mass_times(const Vector<T, n>& v) const {
    Vector<T, n> p;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      if constexpr (Pattern::dense) {
        p[i] = row_times(mass_, i, v, EntryOfMass{});
      } else {
        p[i] = mass_[i] * v[i];
      }
    }
    return p;
  }
  /// p = M v + A.
  RB_HD Vector<T, n> momentum(const Vector<T, n>& v) const { return canonical(mass_times(v)); }
  /// M^-1 (p - A).
  RB_HD Vector<T, n> velocity(const Vector<T, n>& p, const Vector<T, n>&) const { return inverse() * kinetic(p); }
  /// The velocity of the momentum p, to first order in p - L_v(v).
  RB_HD Vector<T, n> velocity_near(const Vector<T, n>&, const MassInverse& mass_inverse, const Vector<T, n>& p) const {
    return mass_inverse * kinetic(p);
  }
  /// A added to the kinetic momentum M v, and back: p - A.
  RB_HD Vector<T, n> canonical(const Vector<T, n>& kinetic) const {
    if constexpr (Pattern::has_vector_potential) return kinetic + vector_potential_;
    return kinetic;
  }
  RB_HD Vector<T, n> kinetic(const Vector<T, n>& p) const {
    if constexpr (Pattern::has_vector_potential) return p - vector_potential_;
    return p;
  }
  /// y + s f(v).
  RB_HD Vector<T, n> plus_force(const T& s, const Vector<T, n>& v, const Vector<T, n>& y) const {
    if constexpr (large) return plus_force_apart(s, v, y);
    return plus_force_inlined(s, v, y);
  }
  RB_HD Coupling<System, T> coupling(const Vector<T, n>& v) const {
    if constexpr (large) return coupling_apart(v);
    return coupling_inlined(v);
  }

 private:
  static constexpr bool large = Pattern::varies() && active >= 5;
  RB_HD MassInverse inverse_of_mass() const {
    if constexpr (Pattern::dense) {
      return MassInverse(mass());
    } else {
      MassInverse inverse;
      RB_UNROLL
      for (int i = 0; i < n; ++i) inverse.set(i, i, mass_[i]);
      inverse.factorise();
      return inverse;
    }
  }
  RB_HD_RARE void evaluate_apart(const System& system, const Vector<T, n>& q) { evaluate(system, q); }
  RB_HD_RARE MassInverse inverse_apart() const { return inverse_of_mass(); }
  RB_HD_RARE Vector<T, n> plus_force_apart(const T& s, const Vector<T, n>& v, const Vector<T, n>& y) const {
    return plus_force_inlined(s, v, y);
  }
  RB_HD_RARE Coupling<System, T> coupling_apart(const Vector<T, n>& v) const { return coupling_inlined(v); }

  /// The force of a separable system is stated, and its mass constant, so that nothing is left to differentiate. Of few coordinates, some of
  /// which U does not have, dual numbers take fewer operations.
  static constexpr bool by_force = Separable<System> && (active == n || n > 16);

  RB_HD void evaluate(const System& system, const Vector<T, n>& q) {
    using Entry = std::conditional_t<by_force, T, D>;
    auto x = lift<Entry>(q);
    if constexpr (active > 0 && !by_force) {
      RB_UNROLL
      for (int k = 0; k < active; ++k) x[Pattern::coordinate(k)].partial[k] = T(1.0);
    }
    const auto inertia = detail::inertia(system, x);
    if constexpr (!Pattern::dense && !Pattern::varies()) {
      RB_UNROLL
      for (int i = 0; i < n; ++i) mass_[i] = value(detail::entry_of<Entry>(inertia, i, i));
    } else {
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        RB_UNROLL
        for (int j = 0; j < n; ++j) {
          if (Pattern::entry(i, j)) mass_entry(i, j) = value(detail::entry_of<Entry>(inertia, i, j));
          if constexpr (Pattern::varies()) {
            RB_UNROLL
            for (int k = 0; k < active; ++k)
              mass_by_[k][i][j] =
                  Pattern::mass_varies(i, j, k) ? partial(detail::entry_of<Entry>(inertia, i, j), k) : T(0.0);
          }
        }
      }
    }
    if constexpr (Pattern::has_vector_potential) {
      const Vector<D, n> a = system.vector_potential(x);
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        vector_potential_[i] = value(a[i]);
        RB_UNROLL
        for (int k = 0; k < active; ++k)
          vector_potential_by_[k][i] = Pattern::vector_potential_varies(i, k) ? partial(a[i], k) : T(0.0);
      }
    }
    if constexpr (by_force) {
      const Vector<T, n> f = force(system, q);
      RB_UNROLL
      for (int k = 0; k < active; ++k) potential_by_[k] = -f[Pattern::coordinate(k)];
    } else if constexpr (Pattern::has_potential && active > 0) {
      const D u = system.potential(x);
      RB_UNROLL
      for (int k = 0; k < active; ++k) potential_by_[k] = Pattern::potential_varies(k) ? partial(u, k) : T(0.0);
    }
  }

  RB_HD Vector<T, n> plus_force_inlined(const T& s, const Vector<T, n>& v, Vector<T, n> y) const {
    RB_UNROLL
    for (int k = 0; k < active; ++k) {
      if (!Pattern::forced(k)) continue;
      SumOfProducts<T> sum;
      RB_UNROLL
      for (int i = 0; Pattern::couples() && i < n; ++i)
        if (Pattern::coupled(i, k)) sum.add(v[i], coupled(k, i, v, T(0.5)));
      T f = sum.value;
      if (Pattern::potential_varies(k)) f = sum.empty ? -potential_by_[k] : f - potential_by_[k];
      const int c = Pattern::coordinate(k);
      y[c] = fma(s, f, y[c]);
    }
    return y;
  }
  RB_HD Coupling<System, T> coupling_inlined(const Vector<T, n>& v) const {
    Coupling<System, T> b;
    RB_UNROLL
    for (int k = 0; Pattern::couples() && k < active; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i) b.column[k][i] = Pattern::coupled(i, k) ? coupled(k, i, v, T(1.0)) : T(0.0);
    }
    return b;
  }
  template <class S>
  RB_HD static T value(const S& x) {
    if constexpr (std::is_same_v<S, T>) {
      return x;
    } else {
      return x.value;
    }
  }
  RB_HD static T partial(const D& x, int k) {
    if constexpr (active > 0) {
      return x.partial[k];
    } else {
      return T(0.0);
    }
  }
  // Closures would not be inlined into large functions, and their loops and tables would be run.
  struct EntryOfMass {
    RB_HD constexpr bool operator()(int i, int j) const { return Pattern::entry(i, j); }
  };
  struct EntryOfRate {
    int k;
    RB_HD constexpr bool operator()(int i, int j) const { return Pattern::mass_varies(i, j, k); }
  };
  /// Row i of a matrix, where `entry` says, times v.
  template <class Entry>
  RB_HD static T row_times(const Matrix<T, n, n>& a, int i, const Vector<T, n>& v, Entry entry) {
    SumOfProducts<T> sum;
    RB_UNROLL
    for (int j = 0; j < n; ++j)
      if (entry(i, j)) sum.add(a[i][j], v[j]);
    return sum.value;
  }
  /// Row i of s (d_k M) v + d_k A.
  RB_HD T coupled(int k, int i, const Vector<T, n>& v, const T& s) const {
    bool varies = false;
    RB_UNROLL
    for (int j = 0; j < n; ++j) varies = varies || Pattern::mass_varies(i, j, k);
    if constexpr (Pattern::varies()) {
      if (varies) {
        const T by_mass = row_times(mass_by_[k], i, v, EntryOfRate{k});
        return Pattern::vector_potential_varies(i, k) ? fma(s, by_mass, vector_potential_by_[k][i]) : s * by_mass;
      }
    }
    if constexpr (Pattern::has_vector_potential) return vector_potential_by_[k][i];
    return T(0.0);
  }
  RB_HD T& mass_entry(int i, [[maybe_unused]] int j) {
    if constexpr (Pattern::dense) {
      return mass_[i][j];
    } else {
      return mass_[i];
    }
  }
  RB_HD const T& mass_entry(int i, [[maybe_unused]] int j) const {
    if constexpr (Pattern::dense) {
      return mass_[i][j];
    } else {
      return mass_[i];
    }
  }

  static constexpr int directions = active > 0 ? active : 1;
  struct Nothing {};
  // Compilers keep large objects in memory, NVRTC those beyond 8 KB, of which each stage has one of these. So zeros of M are not stored, and
  // what a system does not have takes no place.
  std::conditional_t<Pattern::dense, Matrix<T, n, n>, Vector<T, n>> mass_;
  RB_MAYBE_EMPTY std::conditional_t<Pattern::varies(), Vector<Matrix<T, n, n>, directions>, Nothing> mass_by_;
  Vector<T, n> vector_potential_, vector_potential_by_[Pattern::has_vector_potential ? directions : 1];
  T potential_by_[directions];
};

RB_NAMESPACE_END
