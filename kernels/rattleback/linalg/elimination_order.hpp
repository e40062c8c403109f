#pragma once
// Elimination of matrices whose zeros are known at compile time: the order of the pivots, and which entries the factors have.

#include "rattleback/linalg/pattern.hpp"

RB_NAMESPACE_BEGIN

/// The pattern of a matrix without known zeros. A pattern has `entry(i, j)`, which is false where the matrix is 0.
struct FullPattern {
  RB_HD static constexpr bool entry(int, int) { return true; }
};

namespace detail {

/// Pivots on the diagonal of an N x N matrix in an order of little fill: the next pivot is one that turns the fewest zeros into
/// entries, among these one with the fewest products, among these the first. Without known zeros that is the natural order.
template <int N>
struct EliminationOrder {
  int pivot[N > 0 ? N : 1];  ///< row and column of pivot k
  int products;              ///< of the elimination
  // rows and columns as in the matrix
  PatternTable<N, N> factors;  ///< entries of the factors
  PatternTable<N, N> fill;     ///< those that are zeros of the matrix
  PatternTable<N, N> inverse;  ///< entries of the inverse

  template <class Pattern>
  static consteval EliminationOrder of() {
    EliminationOrder r{};
    bool left[N > 0 ? N : 1]{};
    for (int i = 0; i < N; ++i) {
      left[i] = true;
      for (int j = 0; j < N; ++j)
        r.factors.values[i * N + j] = r.inverse.values[i * N + j] = i == j || Pattern::entry(i, j);
    }
    for (int k = 0; k < N; ++k) {
      int best = -1, least_fill = 0, least_products = 0;
      for (int candidate = 0; candidate < N; ++candidate) {
        if (!left[candidate]) continue;
        int fill = 0, products = 0;
        for (int i = 0; i < N; ++i) {
          if (!left[i] || i == candidate || !r.factors(i, candidate)) continue;
          for (int j = 0; j < N; ++j) {
            if (!left[j] || j == candidate || !r.factors(candidate, j)) continue;
            ++products;
            if (!r.factors(i, j)) ++fill;
          }
        }
        if (best < 0 || fill < least_fill || (fill == least_fill && products < least_products)) {
          best = candidate;
          least_fill = fill;
          least_products = products;
        }
      }
      r.pivot[k] = best;
      r.products += least_products;
      left[best] = false;
      for (int i = 0; i < N; ++i) {
        for (int j = 0; j < N; ++j) {
          if (left[i] && left[j] && r.factors(i, best) && r.factors(best, j) && !r.factors(i, j))
            r.factors.values[i * N + j] = r.fill.values[i * N + j] = true;
          if (r.inverse(i, best) && r.inverse(best, j)) r.inverse.values[i * N + j] = true;  // paths through `best`
        }
      }
    }
    return r;
  }
};

template <int N, class Pattern>
inline constexpr EliminationOrder<N> elimination_order = EliminationOrder<N>::template of<Pattern>();

}  // namespace detail

RB_NAMESPACE_END
