#pragma once
// The forms that a mass matrix has (a number, a diagonal, a matrix), and the constant mass matrix of a separable system.

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

  RB_HD explicit Mass(const System& system) {
    if constexpr (diagonal) {
      mass_ = system.mass_diagonal();
      RB_UNROLL
      for (int i = 0; i < n; ++i) inverse_[i] = T(1.0) / mass_[i];
    } else if constexpr (dense) {
      mass_ = system.mass_matrix();
      const Factors<T, n, Eliminated<>> factors(mass_);
      RB_UNROLL
      for (int i = 0; i < n; ++i) inverse_[i] = factors.column(i);  // the inverse is symmetric: column i is row i
    }
  }

  template <class S>
  RB_HD Vector<S, n> times(const Vector<S, n>& v) const {
    return detail::apply(mass_, v);
  }
  template <class S>
  RB_HD Vector<S, n> inverse_times(const Vector<S, n>& p) const {
    return detail::apply(inverse_, p);
  }

 private:
  RB_MAYBE_EMPTY Storage mass_, inverse_;
};

RB_NAMESPACE_END
