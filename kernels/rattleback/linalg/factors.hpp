#pragma once
// Linear equations A x = b with small matrices: one class, whose policy says how A is factorised.
//
//   Pivoted<Team>       elimination that exchanges rows, for any matrix; loops stay loops, and the lanes of a team share them
//   PivotedUnrolled     the same with unrolled loops, for few unknowns that are to stay in registers
//   Definite<Pattern>   without exchanges, for matrices near positive definite ones
//   Guide<Pattern>      for matrices that only guide an iteration, where the error of the solution costs no more than sweeps
//   Eliminated<Pattern> elimination without exchanges, unrolled, whatever the size
//   InSingle<Policy>    the factors of another policy in fp32
//
// A policy names the method of its factors by their scalar and size. To try another method for some use, write another policy.
// Known zeros (`Pattern`) are not touched, and pivots come in an order of little fill. Rows are exchanged by `select`, lane by
// lane, so that each trajectory of a pack gets the same pivots as with double.

#include <concepts>

#include "rattleback/linalg/elimination.hpp"
#include "rattleback/linalg/small_inverse.hpp"
#include "rattleback/real/single.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

/// Whether N x N matrices with this pattern are diagonal.
template <class Pattern, int N>
consteval bool is_diagonal_pattern() {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      if (i != j && Pattern::entry(i, j)) return false;
  return true;
}

}  // namespace detail

template <class Team = LaneTeam<1>>
struct Pivoted {
  template <class T, int N>
  using Method = detail::RolledElimination<T, N, Team>;
};
struct PivotedUnrolled {
  template <class T, int N>
  using Method = detail::UnrolledElimination<T, N, true, FullPattern>;
};
template <class Pattern = FullPattern>
struct Eliminated {
  template <class T, int N>
  using Method = detail::UnrolledElimination<T, N, false, Pattern>;
};
template <class Pattern = FullPattern>
struct Definite {
  template <class T, int N>
  using Method =
      std::conditional_t<detail::is_diagonal_pattern<Pattern, N>(), detail::DiagonalInverse<T, N>,
                         std::conditional_t<(N > 3), detail::UnrolledElimination<T, N, false, Pattern>,
                                            detail::CofactorInverse<T, (N >= 1 && N <= 3) ? N : 1, Pattern>>>;
};
/// Up to three rows the inverse by cofactors, four by minors; then unrolled elimination without exchanges, and loops with exchanges
/// where its code would be too long.
template <class Pattern = FullPattern>
struct Guide {
  template <class T, int N>
  using Method = std::conditional_t<
      detail::is_diagonal_pattern<Pattern, N>() && (N > 1), detail::DiagonalInverse<T, N>,
      std::conditional_t<
          (N >= 1 && N <= 3), detail::CofactorInverse<T, N >= 1 && N <= 3 ? N : 1, Pattern>,
          std::conditional_t<N == 4 && detail::is_full_pattern<Pattern, N>(), detail::MinorInverse<T>,
                             std::conditional_t<detail::is_guided_unrolled<N, Pattern>(),
                                                detail::UnrolledElimination<T, N, false, Pattern>,
                                                detail::RolledElimination<T, N, LaneTeam<1>, Pattern>>>>>;
};

namespace detail {
template <class Method, class Vector>
concept SolvesOnce = requires(Method method, Vector x) { method.solve_once(x); };
/// A method in fp32 behind right-hand sides and solutions over T.
template <class T, int N, class Method>
struct Narrowed : Method {
  RB_HD Vector<T, N> solve(const Vector<T, N>& b) const { return wide(Method::solve(narrow(b))); }
  RB_HD mask_t<T> solve_once(Vector<T, N>& b)
    requires SolvesOnce<Method, Vector<Single<T>, N>>
  {
    Vector<Single<T>, N> x = narrow(b);
    const mask_t<T> singular = Method::solve_once(x);
    b = wide(x);
    return singular;
  }

 private:
  RB_HD static Vector<Single<T>, N> narrow(const Vector<T, N>& x) {
    Vector<Single<T>, N> r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = Single<T>(x[i]);
    return r;
  }
  RB_HD static Vector<T, N> wide(const Vector<Single<T>, N>& x) {
    Vector<T, N> r;
    RB_UNROLL
    for (int i = 0; i < N; ++i) r[i] = x[i].wide();
    return r;
  }
};

/// Gives a method its matrix.
template <class T, class R, int N>
RB_HD void set_matrix(Matrix<R, N, N>& to, const Matrix<T, N, N>& from) {
  if constexpr (std::same_as<R, T>) {
    to = from;
  } else {
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) to[i][j] = R(from[i][j]);
  }
}
template <class T, class R, int N>
RB_HD void set_matrix(DiagonalMatrix<R, N>& to, const Matrix<T, N, N>& from) {
  to.set(from);
}
}  // namespace detail

template <class Policy>
struct InSingle {
  template <class T, int N>
  using Method = detail::Narrowed<T, N, typename Policy::template Method<Single<T>, N>>;
};

/// What a policy makes of an N x N matrix A, for any number of right-hand sides. `singular` marks lanes with a pivot or a
/// determinant that is zero or not finite.
template <class T, int N, class Policy = Pivoted<>>
class Factors {
  using Method = typename Policy::template Method<T, N>;

 public:
  Factors() = default;
  RB_HD explicit Factors(const Matrix<T, N, N>& matrix) {
    detail::set_matrix(method_.a, matrix);
    method_.factorise();
  }

  /// A, to be filled before `factorise`, which overwrites it. On a GPU copies of a large matrix would go through registers.
  RB_HD auto& matrix() { return method_.a; }
  /// Sets an entry of A in the precision of the factors.
  RB_HD void set(int i, int j, const T& entry) {
    method_.a[i][j] = std::remove_cvref_t<decltype(method_.a[i][j])>(entry);
  }
  RB_HD mask_t<T> factorise() {
    method_.factorise();
    return method_.singular();
  }
  RB_HD mask_t<T> singular() const { return method_.singular(); }

  /// A^-1 b.
  [[nodiscard]] RB_HD Vector<T, N> solve(const Vector<T, N>& b) const { return method_.solve(b); }
  [[nodiscard]] RB_HD Vector<T, N> operator*(const Vector<T, N>& b) const { return method_.solve(b); }
  /// The column number j of A^-1.
  RB_HD Vector<T, N> column(int j) const {
    auto x = Vector<T, N>::zero();
    if constexpr (requires {
                    { method_.column(j) } -> std::same_as<Vector<T, N>>;
                  }) {
      x = method_.column(j);
    } else if constexpr (requires { Method::holds_inverse; } && std::same_as<decltype(method_.a), Matrix<T, N, N>>) {
      RB_UNROLL
      for (int i = 0; i < N; ++i)
        if (entry(i, j)) x[i] = method_.a[i][j];
    } else {
      x[j] = T(1.0);
      x = method_.solve(x);
    }
    return x;
  }
  /// Whether A^-1 has this entry.
  RB_HD static constexpr bool entry(int i, int j) {
    if constexpr (requires { Method::inverse_entry(i, j); }) {
      return Method::inverse_entry(i, j);
    } else {
      return true;
    }
  }

 private:
  Method method_;
};

/// Solves A x = b in place, for one right-hand side; returns the singular lanes.
template <class Policy, class T, int N>
RB_HD mask_t<T> solve_once(const Matrix<T, N, N>& a, Vector<T, N>& b) {
  typename Policy::template Method<T, N> method;
  detail::set_matrix(method.a, a);
  return method.solve_once(b);
}

RB_NAMESPACE_END
