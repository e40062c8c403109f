#pragma once
// The forms that a mass matrix has (a number, a diagonal, a matrix), and the constant mass matrix of a separable system.

#include <array>

#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/concepts.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

// M x, where M is the identity, a number, a diagonal or a matrix.
struct Identity {
  char not_empty{};  // nvcc's quick compilation does not support functions that return empty classes
};
template <class S, int n>
RB_HD const Vector<S, n>& apply(Identity, const Vector<S, n>& x) {
  return x;
}
template <class S, int n>
RB_HD Vector<S, n> apply(const S& number, const Vector<S, n>& x) {
  return number * x;
}
template <class T, class S, int n>
RB_HD Vector<S, n> apply(const Vector<T, n>& diagonal, const Vector<S, n>& x) {
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) r[i] = x[i] * diagonal[i];
  return r;
}
template <class T, class S, int n>
RB_HD Vector<S, n> apply(const Matrix<T, n, n>& matrix, const Vector<S, n>& x) {
  Vector<S, n> r;
  RB_UNROLL
  for (int i = 0; i < n; ++i) {
    r[i] = x[0] * matrix[i][0];
    RB_UNROLL
    for (int j = 1; j < n; ++j) r[i] = r[i] + x[j] * matrix[i][j];
  }
  return r;
}

template <int n>
struct MassBlocks {
  std::array<int, 2 * n> entries{};
  int widest = n;
};
/// The diagonal blocks of a constant M, by its zeros: for each row the first column of its block, and the number of columns.
template <class System>
consteval auto blocks_of_mass() {
  constexpr int n = System::n;
  MassBlocks<n> blocks;
  for (int i = 0; i < n; ++i) blocks.entries[2 * i + 1] = n;
  if constexpr (requires { System::mass_entry(0, 0); }) {
    blocks.widest = 1;
    for (int first = 0, last = 0; first < n; first = ++last) {
      for (int i = first; i <= last; ++i)
        for (int j = last + 1; j < n; ++j)
          if (System::mass_entry(i, j)) last = j;
      const int size = last + 1 - first;
      for (int i = first; i <= last; ++i) {
        blocks.entries[2 * i] = first;
        blocks.entries[2 * i + 1] = size;
      }
      if (size > blocks.widest) blocks.widest = size;
    }
  }
  return blocks;
}
template <class System>
struct BlocksOfMass {
  static constexpr auto all = blocks_of_mass<System>();
  static constexpr auto value = all.entries;
};
/// M x, or M^-1 x, without the zeros beside the blocks.
template <class System, class T, class S, int n>
RB_HD Vector<S, n> apply_blocks(const Matrix<T, n, n>& matrix, const Vector<S, n>& x) {
  using Blocks = BlocksOfMass<System>;
  constexpr int widest = Blocks::all.widest;
  if constexpr (widest == n) {
    return apply(matrix, x);
  } else {
    Vector<S, n> r;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      const int first = entry_of<Blocks>(2 * i), size = entry_of<Blocks>(2 * i + 1);
      r[i] = x[first] * matrix[i][first];
      RB_UNROLL
      for (int j = 1; j < widest; ++j)
        if (j < size) r[i] = r[i] + x[first + j] * matrix[i][first + j];
    }
    return r;
  }
}

/// The entry (i, j) of M, which is a number, a diagonal or a matrix.
template <class S, class M>
RB_HD const S& entry_of(const M& mass, [[maybe_unused]] int i, [[maybe_unused]] int j) {
  if constexpr (std::is_same_v<M, S>) {
    return mass;
  } else if constexpr (requires { M::size; }) {
    return mass[i];
  } else {
    return mass[i][j];
  }
}
/// M as a matrix.
template <class T, int n, class M>
RB_HD Matrix<T, n, n> as_matrix(const M& mass) {
  if constexpr (std::is_same_v<M, Matrix<T, n, n>>) {
    return mass;
  } else {
    auto r = Matrix<T, n, n>::zero();
    RB_UNROLL
    for (int i = 0; i < n; ++i) r[i][i] = entry_of<T>(mass, i, i);
    return r;
  }
}

}  // namespace detail

/// The constant mass matrix of a separable system and its inverse: identity, diagonal or dense. Systems whose mass depends on q have
/// no use for it, and it is as empty as the identity.
template <class System>
class Mass {
  using T = typename System::scalar;
  static constexpr int n = System::n;
  static constexpr bool diagonal = requires(const System& s) { s.mass_diagonal(); };
  static constexpr bool dense = requires(const System& s) { s.mass_matrix(); };
  using Storage =
      std::conditional_t<diagonal, Vector<T, n>, std::conditional_t<dense, Matrix<T, n, n>, detail::Identity>>;

 public:
  static constexpr bool is_diagonal = !dense, is_identity = !dense && !diagonal;

  /// Whether M and its inverse have this entry.
  static constexpr bool entry(int i, int j) {
    if constexpr (dense) {
      return detail::BlocksOfMass<System>::all.entries[2 * i] == detail::BlocksOfMass<System>::all.entries[2 * j];
    } else {
      return i == j;
    }
  }

  RB_HD explicit Mass(const System& system) {
    if constexpr (diagonal) {
      mass_ = system.mass_diagonal();
      RB_UNROLL
      for (int i = 0; i < n; ++i) inverse_[i] = T(1.0) / mass_[i];
    } else if constexpr (dense) {
      mass_ = system.mass_matrix();
      invert();
    }
  }

  template <class S>
  RB_HD Vector<S, n> times(const Vector<S, n>& v) const {
    return product(mass_, v);
  }
  template <class S>
  RB_HD Vector<S, n> inverse_times(const Vector<S, n>& p) const {
    return product(inverse_, p);
  }

 private:
  /// The inverse is symmetric: column i is row i. Beside the blocks nothing is set.
  RB_HD void invert() {
    using Blocks = detail::BlocksOfMass<System>;
    constexpr int widest = Blocks::all.widest;
    if constexpr (widest == n) {
      const Factors<T, n, Eliminated<>> factors(mass_);
      RB_UNROLL
      for (int i = 0; i < n; ++i) inverse_[i] = factors.column(i);
    } else {
      RB_UNROLL
      for (int first = 0; first < n; ++first) {
        const int size = detail::entry_of<Blocks>(2 * first + 1);
        if (detail::entry_of<Blocks>(2 * first) != first) continue;
        Matrix<T, widest, widest> block;  // with a part of the identity, where it is smaller
        RB_UNROLL
        for (int i = 0; i < widest; ++i) {
          RB_UNROLL
          for (int j = 0; j < widest; ++j)
            block[i][j] = i < size && j < size ? mass_[first + i][first + j] : T(i == j ? 1.0 : 0.0);
        }
        const Factors<T, widest, Eliminated<>> factors(block);
        RB_UNROLL
        for (int i = 0; i < widest; ++i) {
          const Vector<T, widest> column = factors.column(i);
          RB_UNROLL
          for (int j = 0; j < widest; ++j)
            if (i < size && j < size) inverse_[first + i][first + j] = column[j];
        }
      }
    }
  }
  template <class S>
  RB_HD static Vector<S, n> product(const Storage& mass, const Vector<S, n>& x) {
    if constexpr (dense) {
      return detail::apply_blocks<System>(mass, x);
    } else {
      return detail::apply(mass, x);
    }
  }

  RB_MAYBE_EMPTY Storage mass_, inverse_;
};

RB_NAMESPACE_END
