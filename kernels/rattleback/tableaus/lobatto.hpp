#pragma once
// Lobatto IIIA-IIIB pairs: nodes c, weights b, IIIA matrix a, the symplectic conjugate ah (IIIB),
//   ah_ij = b_j (1 - a_ji / b_i),
// and the product a ah, which maps accelerations to positions.
//
// With x = 2c - 1 and the Legendre polynomials L_k, where L_{-1} is -1:
//   L'_{s-1}(x_i) = 0 inside,  b_i = 1/(s (s-1) L_{s-1}(x_i)^2),  a_ij = b_j k_ij,  ah_ij = b_j (1 - k_ji),
//   k_ij = sum_{k<s} g_k L_k(x_j) (L_{k+1}(x_i) - L_{k-1}(x_i))/2,  g_k = 1, but g_{s-1} = (s-1)/(2s-1).
//
// The compiler computes the entries with pairs of doubles (about 106 bits), so that every entry is the double nearest to the
// exact number; tests/kernels/tableaus/lobatto_test.cpp derives the numbers again with MPFR.
//
// Structure: row 1 of a is zero, row s of a is b, column s of ah is zero, column 1 of ah is b_1.

#include "rattleback/tableaus/double_double.hpp"

RB_NAMESPACE_BEGIN

inline constexpr int lobatto_stages_max = 8;

template <int S>
struct LobattoPair {
  double c[S];
  double b[S];
  double a[S][S];
  double ah[S][S];
  double a_ah[S][S];

  static constexpr int order = 2 * S - 2;
};

namespace detail {

/// L_{-1}(x)..L_S(x): the value of L_k is at k + 1.
template <int S>
struct LegendreValues {
  DoubleDouble at[S + 2];

  RB_CONSTEXPR explicit LegendreValues(DoubleDouble x) : at{-1.0, 1.0, x} {
    for (int k = 1; k < S; ++k)
      at[k + 2] = (DoubleDouble(2 * k + 1) * x * at[k + 1] - DoubleDouble(k) * at[k]) / (k + 1);
  }
  RB_CONSTEXPR DoubleDouble operator[](int k) const { return at[k + 1]; }
};

/// Node i as x: 0 in the middle; a zero of L'_{s-1} by Newton's method from the extremum of the Chebyshev polynomial.
template <int S>
RB_CONSTEXPR DoubleDouble lobatto_node(int i) {
  constexpr int degree = S - 1;
  if (i == 0) return -1.0;
  if (2 * i >= degree) return 2 * i == degree ? DoubleDouble(0.0) : -lobatto_node<S>(degree - i);
  DoubleDouble x = -cosine(3.141592653589793 * i / degree);
  for (int iteration = 0; iteration < 5; ++iteration) {
    const LegendreValues<S> l(x);
    const DoubleDouble rest = DoubleDouble(1.0) - x * x,
                       slope = DoubleDouble(degree) * (l[degree - 1] - x * l[degree]) / rest;
    x = x - slope * rest / (DoubleDouble(2.0) * x * slope - DoubleDouble(S * degree) * l[degree]);
  }
  return x;
}

template <int S>
RB_CONSTEXPR LobattoPair<S> compute_lobatto_pair() {
  LobattoPair<S> pair{};
  DoubleDouble legendre[S][S], integral[S][S], b[S], a[S][S], ah[S][S];
  for (int i = 0; i < S; ++i) {
    const DoubleDouble x = lobatto_node<S>(i);
    const LegendreValues<S> l(x);
    for (int k = 0; k < S; ++k) {
      legendre[i][k] = l[k];
      integral[i][k] = DoubleDouble(0.5) * (l[k + 1] - l[k - 1]);
    }
    legendre[i][S - 1] = DoubleDouble(S - 1) / (2 * S - 1) * l[S - 1];
    b[i] = DoubleDouble(1.0) / (DoubleDouble(S * (S - 1)) * l[S - 1] * l[S - 1]);
    pair.c[i] = integral[i][0].high;
    pair.b[i] = b[i].high;
  }
  for (int i = 0; i < S; ++i)
    for (int j = 0; j < S; ++j) {
      DoubleDouble k_ij = 0.0;
      for (int k = 0; k < S; ++k) k_ij = k_ij + legendre[j][k] * integral[i][k];
      a[i][j] = b[j] * k_ij;
      ah[j][i] = b[i] * (DoubleDouble(1.0) - k_ij);
    }
  for (int i = 0; i < S; ++i)
    for (int j = 0; j < S; ++j) {
      DoubleDouble sum = 0.0;
      for (int k = 0; k < S; ++k) sum = sum + a[i][k] * ah[k][j];
      pair.a[i][j] = a[i][j].high;
      pair.ah[i][j] = ah[i][j].high;
      pair.a_ah[i][j] = sum.high;
    }
  return pair;
}

/// The compiler computes a pair once.
template <int S>
inline constexpr LobattoPair<S> lobatto_table = compute_lobatto_pair<S>();

}  // namespace detail

/// The pair with S stages, as a value, because device code cannot refer to a static array.
template <int S>
  requires(S >= 2 && S <= lobatto_stages_max)
consteval LobattoPair<S> lobatto_pair() {
  return detail::lobatto_table<S>;
}

RB_NAMESPACE_END
