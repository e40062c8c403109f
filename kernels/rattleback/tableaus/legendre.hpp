#pragma once
// Orthonormal shifted Legendre polynomials on [0, 1] and the Gauss-Legendre rules of 1 to 12 nodes.
//
//   P_j(c) = sqrt(2j+1) L_j(2c-1),   int_0^1 P_i P_j = delta_ij
//   int_0^c P_0 = xi_0 P_0(c) + xi_1 P_1(c),   int_0^c P_j = xi_{j+1} P_{j+1}(c) - xi_j P_{j-1}(c)
//   xi_j = 1/(2 sqrt|4j^2-1|)
//
// The rules are constant expressions, computed with pairs of doubles (about 106 bits), so that every number is the
// double nearest to the exact number; tests/kernels/tableaus/legendre_test.cpp derives the numbers again with MPFR.

#include "rattleback/tableaus/double_double.hpp"

RB_NAMESPACE_BEGIN

inline constexpr int legendre_nodes_max = 12, legendre_terms_max = 6;

/// xi_j, j = 0..5. These numbers are the entries of X = (int_0^1 P_i int_0^c P_j): X_00 = xi_0,
/// X_{j,j-1} = xi_j = -X_{j-1,j}.
RB_HD constexpr double legendre_xi(int j) {
  return j == 0   ? 0.5
         : j == 1 ? 0.28867513459481287
         : j == 2 ? 0.12909944487358058
         : j == 3 ? 0.08451542547285165
         : j == 4 ? 0.06299407883487121
                  : 0.050251890762960605;
}

namespace detail {

/// Returns L_j(x) and puts L_{j-1}(x) into `before`.
constexpr DoubleDouble legendre(int j, DoubleDouble x, DoubleDouble& before) {
  DoubleDouble p = 1.0;
  before = 0.0;
  for (int i = 0; i < j; ++i) {
    const DoubleDouble next = (DoubleDouble(2 * i + 1) * x * p - DoubleDouble(i) * before) / DoubleDouble(i + 1);
    before = p;
    p = next;
  }
  return p;
}
/// P_j(c), x = 2c - 1.
constexpr DoubleDouble shifted_legendre(int j, DoubleDouble x) {
  DoubleDouble before;
  return square_root(2 * j + 1) * legendre(j, x, before);
}
constexpr DoubleDouble xi(int j) { return DoubleDouble(0.5) / square_root(j == 0 ? 1 : 4 * j * j - 1); }
/// int_0^c P_j - delta_j0/2, x = 2c - 1.
constexpr DoubleDouble shifted_legendre_integral(int j, DoubleDouble x) {
  const DoubleDouble up = xi(j + 1) * shifted_legendre(j + 1, x);
  return j == 0 ? up : up - xi(j) * shifted_legendre(j - 1, x);
}

}  // namespace detail

/// The Gauss-Legendre rule with k nodes on [0, 1], exact for polynomials of degree 2k - 1, with the basis at the nodes.
/// All numbers are exactly even or odd about the middle, where int P_0 starts instead of at 0. Sums over the nodes that
/// decide whether a conserved quantity drifts thus vanish without rounding errors.
struct GaussLegendre {
  int k;
  double node[legendre_nodes_max], weight[legendre_nodes_max];
  double integral[legendre_nodes_max][legendre_terms_max];  ///< int_0^{c_i} P_j; for j = 0 the lower limit is 1/2
  double weighted[legendre_nodes_max][legendre_terms_max];  ///< b_i P_j(c_i)
};

/// 1 <= k <= 12; host only.
constexpr GaussLegendre gauss_legendre(int k) {
  using detail::DoubleDouble;
  GaussLegendre rule{k, {}, {}, {}, {}};
  for (int i = 0; 2 * i < k; ++i) {
    const int mirror = k - 1 - i;
    DoubleDouble x = mirror == i ? 0.0 : -detail::cosine(3.141592653589793 * (4 * i + 3) / (4 * k + 2)), slope;
    // The last evaluation gives the slope at the node.
    for (int iteration = 0; iteration < 7; ++iteration) {
      DoubleDouble before;
      const DoubleDouble p = detail::legendre(k, x, before);
      slope = DoubleDouble(k) * (before - x * p) / (DoubleDouble(1.0) - x * x);
      if (mirror != i && iteration < 6) x = x - p / slope;
    }
    const DoubleDouble weight = DoubleDouble(1.0) / ((DoubleDouble(1.0) - x * x) * slope * slope);
    for (int side = 0; side < 2; ++side) {
      const int node = side == 0 ? i : mirror;
      rule.node[node] = (DoubleDouble(0.5) * (DoubleDouble(1.0) + x)).high;
      rule.weight[node] = weight.high;
      for (int j = 0; j < legendre_terms_max; ++j) {
        rule.integral[node][j] = detail::shifted_legendre_integral(j, x).high;
        rule.weighted[node][j] = (weight * detail::shifted_legendre(j, x)).high;
      }
      x = -x;
    }
  }
  return rule;
}

RB_NAMESPACE_END
