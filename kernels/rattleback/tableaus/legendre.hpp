#pragma once
// Orthonormal shifted Legendre polynomials on [0, 1] and the Gauss-Legendre rules of 1 to 12 nodes.
//
//   P_j(c) = sqrt(2j+1) L_j(2c-1),   int_0^1 P_i P_j = delta_ij
//   int_0^c P_0 = xi_0 P_0(c) + xi_1 P_1(c),   int_0^c P_j = xi_{j+1} P_{j+1}(c) - xi_j P_{j-1}(c)
//   xi_j = 1/(2 sqrt|4j^2-1|)
//
// The rules are constant expressions, computed with pairs of doubles (about 106 bits), so that every number is the
// double nearest to the exact number; tests/kernels/legendre_test.cpp derives the numbers again with MPFR.

#include "rattleback/real/config.hpp"

RB_NAMESPACE_BEGIN

inline constexpr int legendre_nodes_max = 12, legendre_terms_max = 4;

/// xi_j, j = 0..3. These numbers are the entries of X = (int_0^1 P_i int_0^c P_j): X_00 = xi_0,
/// X_{j,j-1} = xi_j = -X_{j-1,j}.
RB_HD constexpr double legendre_xi(int j) {
  return j == 0 ? 0.5 : j == 1 ? 0.28867513459481287 : j == 2 ? 0.12909944487358058 : 0.08451542547285165;
}

namespace detail {

/// An unevaluated sum of two doubles.
struct DoubleDouble {
  double high, low;

  constexpr DoubleDouble(double a = 0.0, double b = 0.0) : high(a), low(b) {}

  static constexpr DoubleDouble sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
  }
  static constexpr DoubleDouble product(double a, double b) {
    const DoubleDouble x = split(a), y = split(b);
    const double p = a * b;
    return {p, ((x.high * y.high - p) + x.high * y.low + x.low * y.high) + x.low * y.low};
  }
  friend constexpr DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble s = sum(a.high, b.high), t = sum(a.low, b.low);
    const DoubleDouble r = sum(s.high, s.low + t.high);
    return sum(r.high, r.low + t.low);
  }
  friend constexpr DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
  friend constexpr DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
  friend constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble p = product(a.high, b.high);
    return sum(p.high, p.low + (a.high * b.low + a.low * b.high));
  }
  friend constexpr DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
    DoubleDouble quotient = a.high / b.high, rest = a - quotient * b;
    for (int i = 0; i < 2; ++i) {
      const DoubleDouble next = rest.high / b.high;
      quotient = quotient + next;
      rest = rest - next * b;
    }
    return quotient;
  }

 private:
  /// Splits a into two halves of 26 bits.
  static constexpr DoubleDouble split(double a) {
    const double t = 134217729.0 * a, high = t - (t - a);
    return {high, a - high};
  }
};

constexpr DoubleDouble square_root(double a) {
  DoubleDouble r = a;
  for (int i = 0; i < 10; ++i) r = DoubleDouble(0.5) * (r + DoubleDouble(a) / r);
  return r;
}

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
/// P_j(c), j < 6, x = 2c - 1.
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

/// cos x by the power series, as a start of Newton's method.
constexpr double cosine(double x) {
  double term = 1.0, sum = 1.0;
  for (int i = 1; i < 20; ++i) {
    term *= -x * x / ((2 * i - 1) * (2 * i));
    sum += term;
  }
  return sum;
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
