#pragma once
// Elimination, in loops or unrolled, with or without exchanges of rows: methods of factors.hpp.

#include <concepts>

#include "rattleback/linalg/elimination_order.hpp"
#include "rattleback/linalg/team.hpp"
#include "rattleback/linalg/vector.hpp"

RB_NAMESPACE_BEGIN

namespace detail {

template <class T>
RB_HD void exchange_if(const mask_t<T>& mask, T& a, T& b) {
  const T old = a;
  a = select(mask, b, a);
  b = select(mask, old, b);
}

/// Whether N x N matrices have all entries. Pivots are then taken in the natural order.
template <class Pattern, int N>
consteval bool is_full_pattern() {
  if constexpr (!std::same_as<Pattern, FullPattern>) {
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j)
        if (!Pattern::entry(i, j)) return false;
  }
  return true;
}

/// Elimination in loops, with exchanges. The lanes of a team share the object and distribute the columns. The exchanges fill the zeros of
/// a pattern.
template <class T, int N, class Team, class Pattern = FullPattern>
class RolledElimination {
  static_assert(!Team::shares() || std::same_as<mask_t<T>, bool>);

 public:
  Matrix<T, N, N> a;

  RB_HD_LARGE void factorise() {
    if constexpr (!is_full_pattern<Pattern, N>()) {
      Team::for_each(0, N, [&](int j) {
        RB_ROLLED
        for (int i = 0; i < N; ++i)
          if (!looked_up<N, N, Entry>(i, j)) a[i][j] = T(0.0);
      });
    }
    RB_ROLLED
    for (int k = 0; k < N; ++k) {
      if (Team::leads()) find_pivot(k);
      Team::sync();
      Team::for_each(0, N, [&](int j) {
        RB_ROLLED
        for (int i = k + 1; exchanged_[k] && i < N; ++i)
          if (any(exchange_[k][i])) exchange_if(exchange_[k][i], a[k][j], a[i][j]);
        RB_ROLLED
        for (int i = k + 1; j == k && i < N; ++i) a[i][k] = a[i][k] * inverse_pivot_[k];
      });
      Team::for_each(k + 1, N, [&](int j) {
        const T above = a[k][j];
        RB_ROLLED
        for (int i = k + 1; i < N; ++i) a[i][j] = fma(-a[i][k], above, a[i][j]);
      });
    }
  }

  RB_HD_LARGE Vector<T, N> solve(const Vector<T, N>& b) const {
    Vector<T, N> own;
    Vector<T, N>& x = shared_or(own);
    if (Team::leads()) {  // entry by entry: NVRTC 13.0 leaves out part of a copy of the whole vector
      RB_ROLLED
      for (int i = 0; i < N; ++i) x[i] = b[i];
    }
    Team::sync();
    RB_ROLLED
    for (int k = 0; k + 1 < N; ++k) {
      if (!exchanged_[k]) continue;
      Team::for_each(k + 1, N, [&](int i) {
        if (any(exchange_[k][i])) exchange_if(exchange_[k][i], x[k], x[i]);
      });
    }
    RB_ROLLED
    for (int j = 0; j + 1 < N; ++j) Team::for_each(j + 1, N, [&](int i) { x[i] = fma(-a[i][j], x[j], x[i]); });
    Vector<T, N> r;
    RB_ROLLED
    for (int j = N - 1; j > 0; --j) {
      r[j] = x[j] * inverse_pivot_[j];
      Team::for_each(0, j, [&](int i) { x[i] = fma(-a[i][j], r[j], x[i]); });
    }
    r[0] = x[0] * inverse_pivot_[0];
    Team::sync();
    return r;
  }

  RB_HD_LARGE mask_t<T> singular() const {
    mask_t<T> singular(false);
    RB_ROLLED
    for (int k = 0; k < N; ++k) singular = singular | !is_finite(inverse_pivot_[k]);
    return singular;
  }

 private:
  struct Entry {
    constexpr bool operator()(int i, int j) const { return Pattern::entry(i, j); }
  };
  /// Finds the largest entry of column k on and below the diagonal; among equal entries the first one counts.
  RB_HD void find_pivot(int k) {
    T largest = abs(a[k][k]);
    RB_ROLLED
    for (int i = k + 1; i < N; ++i) {
      const T size = abs(a[i][k]);
      largest = select(size > largest, size, largest);
    }
    T pivot = a[k][k];
    mask_t<T> found = !(largest > abs(pivot));
    exchanged_[k] = any(!found);
    RB_ROLLED
    for (int i = k + 1; exchanged_[k] && i < N; ++i) {
      const mask_t<T> here = (abs(a[i][k]) >= largest) & !found;
      exchange_[k][i] = here;
      pivot = select(here, a[i][k], pivot);
      found = found | here;
    }
    inverse_pivot_[k] = T(1.0) / pivot;
  }
  RB_HD Vector<T, N>& shared_or(Vector<T, N>& own) const {
    if constexpr (Team::lanes > 1) {
      return x_;
    } else {
      return own;
    }
  }

  struct Nothing {};
  Vector<T, N> inverse_pivot_;
  RB_MAYBE_EMPTY mutable std::conditional_t<(Team::lanes > 1), Vector<T, N>, Nothing> x_;  // used by `solve`
  bool exchanged_[N];         // whether step k exchanged rows in any lane
  mask_t<T> exchange_[N][N];  // lanes where step k exchanged rows k and i, [k][i]; only set if exchanged_[k]
};

/// Unrolled elimination, with exchanges or in the order that the pattern asks for. The diagonal holds the inverse pivots.
template <class T, int N, bool exchanges, class Pattern>
class UnrolledElimination {
  static_assert(!exchanges || std::same_as<Pattern, FullPattern>, "exchanges need all entries");
  static constexpr bool dense = is_full_pattern<Pattern, N>();

 public:
  Matrix<T, N, N> a;

  /// Factorises; right-hand sides `b` are reduced on the way. Their solution then lacks `substitute_back`.
  template <class... Right>
  RB_HD void factorise(Right&... b) {
    if constexpr (!dense) {
      RB_UNROLL
      for (int i = 0; i < N; ++i) {
        RB_UNROLL
        for (int j = 0; j < N; ++j)
          if (fills(i, j)) a[i][j] = T(0.0);
      }
    }
    singular_ = mask_t<T>(false);
    RB_UNROLL
    for (int k = 0; k < N; ++k) {
      const int p = pivot(k);
      if constexpr (exchanges) {
        RB_UNROLL
        for (int i = k + 1; i < N; ++i) {
          const mask_t<T> exchange = abs(a[i][k]) > abs(a[k][k]);
          RB_UNROLL
          for (int j = k; j < N; ++j) exchange_if(exchange, a[k][j], a[i][j]);
          (exchange_if(exchange, b[k], b[i]), ...);
          exchange_[k][i] = exchange;
        }
      }
      a[p][p] = T(1.0) / a[p][p];
      singular_ = singular_ | !is_finite(a[p][p]);
      RB_UNROLL
      for (int below = k + 1; below < N; ++below) {
        const int i = pivot(below);
        if (!entry(i, p)) continue;
        a[i][p] = a[i][p] * a[p][p];
        RB_UNROLL
        for (int right = k + 1; right < N; ++right) {
          const int j = pivot(right);
          if (entry(p, j)) a[i][j] = fma(-a[i][p], a[p][j], a[i][j]);
        }
        ((b[i] = fma(-a[i][p], b[p], b[i])), ...);
      }
    }
  }
  RB_HD void substitute_back(Vector<T, N>& b) const {
    RB_UNROLL
    for (int k = N - 1; k >= 0; --k) {
      const int p = pivot(k);
      RB_UNROLL
      for (int right = k + 1; right < N; ++right) {
        const int j = pivot(right);
        if (entry(p, j)) b[p] = fma(-a[p][j], b[j], b[p]);
      }
      b[p] = b[p] * a[p][p];
    }
  }
  RB_HD Vector<T, N> solve(Vector<T, N> b) const {
    if constexpr (exchanges) {
      RB_UNROLL
      for (int k = 0; k < N; ++k) {
        RB_UNROLL
        for (int i = k + 1; i < N; ++i) exchange_if(exchange_[k][i], b[k], b[i]);
        RB_UNROLL
        for (int i = k + 1; i < N; ++i) b[i] = fma(-a[i][k], b[k], b[i]);
      }
    } else {
      RB_UNROLL
      for (int k = 1; k < N; ++k) {
        const int i = pivot(k);
        RB_UNROLL
        for (int before = 0; before < k; ++before) {
          const int j = pivot(before);
          if (entry(i, j)) b[i] = fma(-a[i][j], b[j], b[i]);
        }
      }
    }
    substitute_back(b);
    return b;
  }
  RB_HD mask_t<T> solve_once(Vector<T, N>& b) {
    factorise(b);
    substitute_back(b);
    return singular_;
  }
  RB_HD const mask_t<T>& singular() const { return singular_; }

  /// Whether the inverse has this entry.
  RB_HD static constexpr bool inverse_entry(int i, int j) {
    if constexpr (dense) {
      return true;
    } else {
      return entry_of<Inverse>(i * N + j);
    }
  }

 private:
  struct Inverse {
    static constexpr auto value = elimination_order<N, Pattern>.inverse;
  };
  // Static, because on a GPU each look-up would copy the tables otherwise (`static_entry`).
  RB_HD static int pivot(int k) {
    if constexpr (dense) {
      return k;
    } else {
      static constexpr auto order = elimination_order<N, Pattern>;
      return order.pivot[k];
    }
  }
  RB_HD static bool entry(int i, int j) {
    if constexpr (dense) {
      return true;
    } else {
      static constexpr auto factors = elimination_order<N, Pattern>.factors;
      return factors(i, j);
    }
  }
  RB_HD static bool fills(int i, int j) {
    static constexpr auto fill = elimination_order<N, Pattern>.fill;
    return fill(i, j);
  }

  struct Nothing {};
  mask_t<T> singular_{false};
  using Exchanges = mask_t<T>[N > 0 ? N : 1][N > 0 ? N : 1];
  RB_MAYBE_EMPTY std::conditional_t<exchanges, Exchanges, Nothing> exchange_;  // rows k and i in step k, [k][i]
};

}  // namespace detail

RB_NAMESPACE_END
