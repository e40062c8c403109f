#pragma once
// Which entries M, B = L_vq and f of a Lagrangian that states its parts (quadratic.hpp) have, known when a kernel is compiled.

#include <array>
#include <utility>

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
    for (int i = 0; !Separable<System> && i < n; ++i)
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
  /// Whether B has entries.
  static constexpr bool couples() {
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < active; ++k)
        if (coupled(i, k)) return true;
    return false;
  }
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
      for (int j = 0; !Separable<System> && j < n; ++j)
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

RB_NAMESPACE_END
