#pragma once
// Lagrangians that a system states by their parts, L = v.M(q)v/2 + A(q).v - U(q).
//
// With f = L_q, p = L_v = M v + A and the coupling B = L_vq = dp/dq, whose column k is (d_k M) v + d_k A,
//
//   f_k = v.(d_k M)v/2 + (d_k A).v - d_k U,     L_qv = B^T,     M dv = dp - B dq for v = v(q, p).
//
// The last identity stands in for every derivative of the inverse Legendre map. Only active coordinates, those that L or the
// constraint depends on, have columns of B and entries of f.

#include <array>
#include <utility>

#include "rattleback/linalg/factors.hpp"
#include "rattleback/linalg/pattern.hpp"
#include "rattleback/mechanics/constraint.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

template <class System>
consteval auto active_coordinates() {
  if constexpr (requires { System::active; }) {
    return System::active;
  } else {
    std::array<int, System::n> all{};
    for (int i = 0; i < System::n; ++i) all[static_cast<std::size_t>(i)] = i;
    return all;
  }
}
template <class System>
inline constexpr auto coordinates_of = active_coordinates<System>();

/// M at q: a number, the diagonal, or a matrix.
template <class System, class S>
RB_HD auto inertia(const System& system, [[maybe_unused]] const Vector<S, System::n>& q) {
  if constexpr (requires { system.mass_matrix(q); }) {
    return system.mass_matrix(q);
  } else if constexpr (requires { system.mass_diagonal(); }) {
    return lift<S>(system.mass_diagonal());
  } else if constexpr (requires { system.mass_matrix(); }) {
    const auto constant = system.mass_matrix();
    Matrix<S, System::n, System::n> mass;
    RB_UNROLL
    for (int i = 0; i < System::n; ++i) mass[i] = lift<S>(constant[i]);
    return mass;
  } else {
    return S(1.0);
  }
}

/// Which entries of M, B and f are there, from what the system states (mechanics/system.hpp).
template <class System>
struct QuadraticPattern {
  using T = typename System::scalar;
  static constexpr int n = System::n, active = static_cast<int>(active_coordinates<System>().size());
  using Inertia =
      std::remove_cvref_t<decltype(inertia(std::declval<const System&>(), std::declval<const Vector<T, n>&>()))>;
  static constexpr bool dense = std::is_same_v<Inertia, Matrix<T, n, n>>;
  static constexpr bool has_vector_potential =
      requires(const System& s, const Vector<T, n>& q) { s.vector_potential(q); };
  static constexpr bool has_potential = requires(const System& s, const Vector<T, n>& q) { s.potential(q); };

  struct Coordinates {
    static constexpr auto value = coordinates_of<System>;
  };
  /// The index of the k-th active coordinate.
  RB_HD static constexpr int coordinate(int k) { return entry_of<Coordinates>(k); }
  /// M.
  RB_HD static constexpr bool entry(int i, int j) {
    if (LagrangianAlone<System>) return true;
    if (!dense) return i == j;
    if constexpr (requires { System::mass_entry(0, 0); }) {
      return looked_up<n, n, StatedEntry>(i, j);
    } else {
      return true;
    }
  }
  /// The derivative of M by the k-th active coordinate.
  RB_HD static constexpr bool mass_varies(int i, int j, int k) {
    if constexpr (LagrangianAlone<System>) {
      return true;
    } else if constexpr (Separable<System>) {
      return false;
    } else if constexpr (requires { System::mass_varies(0, 0, 0); }) {
      return looked_up<n * n, active, StatedRate>(i * n + j, k);
    } else {
      return entry(i, j);
    }
  }
  /// Whether M depends on q.
  RB_HD static constexpr bool varies() {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < active; ++k)
          if (mass_varies(i, j, k)) return true;
    return false;
  }
  /// The derivative of A.
  RB_HD static constexpr bool vector_potential_varies(int i, int k) {
    if constexpr (!has_vector_potential) {
      return false;
    } else if constexpr (requires { System::vector_potential_varies(0, 0); }) {
      return System::vector_potential_varies(i, coordinate(k));
    } else {
      return true;
    }
  }
  RB_HD static constexpr bool potential_varies(int k) {
    if constexpr (!has_potential) {
      return false;
    } else if constexpr (requires { System::potential_varies(0); }) {
      return System::potential_varies(coordinate(k));
    } else {
      return true;
    }
  }
  /// Row i of column k of B.
  RB_HD static constexpr bool coupled(int i, int k) { return looked_up<n, active, Coupled>(i, k); }
  /// The force along the k-th active coordinate.
  RB_HD static constexpr bool forced(int k) { return looked_up<active, 1, Forced>(k); }
  /// Whether the coordinate i is active and there is a force along it.
  RB_HD static constexpr bool forces(int i) { return looked_up<n, 1, Forces>(i); }

 private:
  // What the tables say, as classes: closures cannot be arguments of templates for all compilers.
  struct StatedEntry {
    constexpr bool operator()(int i, int j) const { return System::mass_entry(i, j); }
  };
  struct StatedRate {
    constexpr bool operator()(int entry_of_mass, int c) const {
      const int row = entry_of_mass / n, column = entry_of_mass % n;
      return entry(row, column) && System::mass_varies(row, column, coordinate(c));
    }
  };
  struct Coupled {
    constexpr bool operator()(int r, int c) const {
      for (int j = 0; j < n; ++j)
        if (mass_varies(r, j, c)) return true;
      return vector_potential_varies(r, c);
    }
  };
  struct Forced {
    constexpr bool operator()(int c) const {
      for (int i = 0; i < n; ++i)
        if (coupled(i, c)) return true;
      return potential_varies(c);
    }
  };
  struct Forces {
    constexpr bool operator()(int r) const {
      for (int k = 0; k < active; ++k)
        if (coordinate(k) == r && forced(k)) return true;
      return false;
    }
  };
};

/// M + x B and M + x B^T.
template <class System, bool transposed>
struct ChordPattern {
  using Pattern = QuadraticPattern<System>;
  struct Entry {
    constexpr bool operator()(int r, int c) const {
      for (int k = 0; k < Pattern::active; ++k)
        if (Pattern::coordinate(k) == (transposed ? r : c) && Pattern::coupled(transposed ? c : r, k)) return true;
      return Pattern::entry(r, c);
    }
  };
  RB_HD static constexpr bool entry(int i, int j) { return looked_up<System::n, System::n, Entry>(i, j); }
};

}  // namespace detail

/// L = v.M v/2 + A(q).v - U(q) on R^n.
template <class System>
concept ConstantInertia =
    (Quadratic<System> || (Separable<System> && !on_group<System>)) && !detail::QuadraticPattern<System>::varies();

/// The coupling B = dp/dq at a point and a velocity, as columns for the active coordinates.
template <class System, class T = typename System::scalar>
class Coupling {
  using Pattern = detail::QuadraticPattern<System>;
  static constexpr int n = System::n, active = Pattern::active;

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
    for (int k = 0; k < active; ++k) {
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
    for (int k = 0; k < active; ++k) {
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
    for (int k = 0; k < active; ++k) {
      bool first = true;
      T sum(0.0);
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        if (!Pattern::coupled(i, k)) continue;
        sum = first ? column[k][i] * x[i] : fma(column[k][i], x[i], sum);
        first = false;
      }
      const int c = Pattern::coordinate(k);
      if (!first) y[c] = fma(s, sum, y[c]);
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
    return MassInverse(mass());
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
  RB_HD_RARE void evaluate_apart(const System& system, const Vector<T, n>& q) { evaluate(system, q); }
  RB_HD_RARE MassInverse inverse_apart() const { return MassInverse(mass()); }
  RB_HD_RARE Vector<T, n> plus_force_apart(const T& s, const Vector<T, n>& v, const Vector<T, n>& y) const {
    return plus_force_inlined(s, v, y);
  }
  RB_HD_RARE Coupling<System, T> coupling_apart(const Vector<T, n>& v) const { return coupling_inlined(v); }

  RB_HD void evaluate(const System& system, const Vector<T, n>& q) {
    auto x = lift<D>(q);
    if constexpr (active > 0) {
      RB_UNROLL
      for (int k = 0; k < active; ++k) x[Pattern::coordinate(k)].partial[k] = T(1.0);
    }
    const auto inertia = detail::inertia(system, x);
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int j = 0; j < n; ++j) {
        if (Pattern::entry(i, j)) mass_entry(i, j) = value(detail::entry_of<D>(inertia, i, j));
        if constexpr (Pattern::varies()) {
          RB_UNROLL
          for (int k = 0; k < active; ++k)
            mass_by_[k][i][j] = Pattern::mass_varies(i, j, k) ? partial(detail::entry_of<D>(inertia, i, j), k) : T(0.0);
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
    if constexpr (Separable<System> && active == n) {
      const Vector<T, n> f = force(system, q);
      RB_UNROLL
      for (int k = 0; k < n; ++k) potential_by_[k] = -f[k];
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
      bool first = true;
      T f(0.0);
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        if (!Pattern::coupled(i, k)) continue;
        const T slope = coupled(k, i, v, T(0.5));
        f = first ? v[i] * slope : fma(v[i], slope, f);
        first = false;
      }
      if (Pattern::potential_varies(k)) f = first ? -potential_by_[k] : f - potential_by_[k];
      const int c = Pattern::coordinate(k);
      y[c] = fma(s, f, y[c]);
    }
    return y;
  }
  RB_HD Coupling<System, T> coupling_inlined(const Vector<T, n>& v) const {
    Coupling<System, T> b;
    RB_UNROLL
    for (int k = 0; k < active; ++k) {
      RB_UNROLL
      for (int i = 0; i < n; ++i) b.column[k][i] = Pattern::coupled(i, k) ? coupled(k, i, v, T(1.0)) : T(0.0);
    }
    return b;
  }
  RB_HD static T value(const D& x) {
    if constexpr (active > 0) {
      return x.value;
    } else {
      return x;
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
    bool first = true;
    T sum(0.0);
    RB_UNROLL
    for (int j = 0; j < n; ++j) {
      if (!entry(i, j)) continue;
      sum = first ? a[i][j] * v[j] : fma(a[i][j], v[j], sum);
      first = false;
    }
    return sum;
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
