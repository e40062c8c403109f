#pragma once
// Elimination, in loops or unrolled, with or without exchanges of rows: methods of factors.hpp.

#include <concepts>
#include <utility>

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

/// Whether unrolled elimination takes so few products that its code compiles in seconds.
template <int N, class Pattern>
consteval bool is_guided_unrolled() {
  constexpr int most_rows = 32, most_products = 2000;
  if constexpr (N > most_rows) {
    return false;
  } else if constexpr (is_full_pattern<Pattern, N>()) {
    return N * (N - 1) * (2 * N - 1) / 6 <= most_products;
  } else {
    return elimination_order<N, Pattern>.products <= most_products;
  }
}

/// Unrolled elimination, with exchanges or in the order that the pattern asks for. The diagonal holds the inverse pivots.
///
/// With known zeros the operations are `written` one by one, with constants as indices: of loops that look the entries up, compilers unroll
/// all passes before they drop those of the zeros, which took a GPU compiler seconds for the 18 multipliers of the top in directors.
template <class T, int N, bool exchanges, class Pattern>
class UnrolledElimination {
  static_assert(!exchanges || std::same_as<Pattern, FullPattern>, "exchanges need all entries");
  static constexpr bool dense = is_full_pattern<Pattern, N>();
  static constexpr bool written = RB_WRITES_ENTRIES != 0 && !dense && is_guided_unrolled<N, Pattern>();

 public:
  Matrix<T, N, N> a;

  /// Factorises; right-hand sides `b` are reduced on the way. Their solution then lacks `substitute_back`.
  template <class... Right>
  RB_HD void factorise(Right&... b) {
    if constexpr (is_long()) {
      factorise_apart(b...);
    } else {
      factorise_here(b...);
    }
  }
  RB_HD void substitute_back(Vector<T, N>& b) const {
    for_pivots<true>([&](auto k) RB_INLINED {
      const auto p = pivot(k);
      for_entries<Of::row_after>(k, [&](auto j) RB_INLINED { b[p] = fma(-a[p][j], b[j], b[p]); });
      b[p] = b[p] * a[p][p];
    });
  }
  RB_HD Vector<T, N> solve(Vector<T, N> b) const {
    for_pivots([&](auto k) RB_INLINED {
      if constexpr (exchanges) {
        RB_UNROLL
        for (int i = k + 1; i < N; ++i) exchange_if(exchange_[k][i], b[k], b[i]);
        RB_UNROLL
        for (int i = k + 1; i < N; ++i) b[i] = fma(-a[i][k], b[k], b[i]);
      } else {
        const auto p = pivot(k);
        for_entries<Of::row_before>(k, [&](auto j) RB_INLINED { b[p] = fma(-a[p][j], b[j], b[p]); });
      }
    });
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
  /// Whether the code is so long that it is no part of the step.
  static constexpr bool is_long() {
    if constexpr (written) return elimination_order<N, Pattern>.products > 1000;
    return false;
  }

  template <class... Right>
  RB_NOINLINE void factorise_apart(Right&... b) {
    factorise_here(b...);
  }
  template <class... Right>
  RB_HD void factorise_here(Right&... b) {
    if constexpr (!dense)
      for_pivots([&](auto k) RB_INLINED {
        const auto p = pivot(k);
        for_entries<Of::row_filled>(k, [&](auto j) RB_INLINED { a[p][j] = T(0.0); });
      });
    singular_ = mask_t<T>(false);
    for_pivots([&](auto k) RB_INLINED {
      const auto p = pivot(k);
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
      for_entries<Of::column_after>(k, [&](auto i) RB_INLINED {
        a[i][p] = a[i][p] * a[p][p];
        for_entries<Of::row_after>(k, [&](auto j) RB_INLINED { a[i][j] = fma(-a[i][p], a[p][j], a[i][j]); });
        ((b[i] = fma(-a[i][p], b[p], b[i])), ...);
      });
    });
  }

  // What the loops above go over. Indices are constants where the operations are written one by one.
  /// Calls f with the numbers of the pivots.
  template <bool backwards = false, class F>
  RB_HD static void for_pivots(const F& f) {
    if constexpr (written) {
      [&]<int... k>(std::integer_sequence<int, k...>) RB_INLINED {
        (f(std::integral_constant<int, backwards ? N - 1 - k : k>{}), ...);
      }(std::make_integer_sequence<int, N>{});
    } else {
      RB_UNROLL
      for (int k = 0; k < N; ++k) f(backwards ? N - 1 - k : k);
    }
  }
  /// The row and column of a pivot.
  template <int k>
  RB_HD static constexpr auto pivot(std::integral_constant<int, k>) {
    return std::integral_constant<int, elimination_order<N, Pattern>.pivot[k]>{};
  }
  RB_HD static int pivot(int k) {
    if constexpr (dense) {
      return k;
    } else {
      static constexpr auto order =
          elimination_order<N, Pattern>;  // static, because on a GPU each look-up would copy it otherwise
      return order.pivot[k];
    }
  }
  /// Entries in the row or column of a pivot, before or after it in the order of the pivots, or zeros of the matrix in its row.
  enum class Of { row_before, row_after, column_after, row_filled };
  RB_HD static constexpr bool is_after(Of of) { return of == Of::row_after || of == Of::column_after; }
  RB_HD static constexpr bool is_there(Of of, const EliminationOrder<N>& order, int p, int o) {
    return of == Of::row_filled ? order.fill(p, o) : of == Of::column_after ? order.factors(o, p) : order.factors(p, o);
  }
  static constexpr Places<N> places_of(int k, Of of) {
    constexpr const auto& order = elimination_order<N, Pattern>;
    Places<N> r{};
    for (int l = is_after(of) ? k + 1 : 0; l < (of == Of::row_before ? k : N); ++l)
      if (is_there(of, order, order.pivot[k], order.pivot[l])) r.at[r.count++] = order.pivot[l];
    return r;
  }
  template <int k, Of of>
  static constexpr Places<N> places = places_of(k, of);
  /// Calls f with the other index of these entries.
  template <Of of, class K, class F>
  RB_HD static void for_entries(K k, const F& f) {
    if constexpr (written) {
      [&]<int... c>(std::integer_sequence<int, c...>) RB_INLINED {
        (f(std::integral_constant<int, places<K::value, of>.at[c]>{}), ...);
      }(std::make_integer_sequence<int, places<K::value, of>.count>{});
    } else {
      RB_UNROLL
      for (int l = is_after(of) ? k + 1 : 0; l < (of == Of::row_before ? k : N); ++l) {
        if constexpr (dense) {
          f(l);
        } else {
          static constexpr auto order = elimination_order<N, Pattern>;
          if (is_there(of, order, order.pivot[k], order.pivot[l])) f(order.pivot[l]);
        }
      }
    }
  }

  struct Nothing {};
  mask_t<T> singular_{false};
  using Exchanges = mask_t<T>[N > 0 ? N : 1][N > 0 ? N : 1];
  RB_MAYBE_EMPTY std::conditional_t<exchanges, Exchanges, Nothing> exchange_;  // rows k and i in step k, [k][i]
};

}  // namespace detail

RB_NAMESPACE_END
