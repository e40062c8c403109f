// The Legendre basis and the Gauss rules, derived again with 256 bits, and the identities they obey.

#include "rattleback/tableaus/legendre.hpp"

#include <gtest/gtest.h>

#include "multiprecision.hpp"

namespace rattleback {
namespace {

using Mp = Multiprecision<256>;

// the tables are constant expressions
static_assert(gauss_legendre(1).node[0] == 0.5 && gauss_legendre(1).weight[0] == 1.0);
static_assert(gauss_legendre(2).node[0] == 0.21132486540518712);
static_assert(gauss_legendre(12).integral[11][3] != 0.0);

Mp root(const Mp& x) { return Mp::call(mpfr_sqrt, x); }

Mp legendre(int j, const Mp& x) {
  Mp p = 1.0, before = 0.0;
  for (int i = 0; i < j; ++i) {
    const Mp next = (Mp(2 * i + 1) * x * p - Mp(i) * before) / Mp(i + 1);
    before = p;
    p = next;
  }
  return p;
}
/// P_j(c) from Rodrigues' sum, not from the recurrence.
Mp shifted(int j, const Mp& c) {
  Mp sum, power = 1.0;
  double binomials = 1.0;  // binomial(j, i) binomial(j + i, i)
  for (int i = 0; i <= j; ++i) {
    sum = sum + Mp((i + j) % 2 == 0 ? binomials : -binomials) * power;
    power = power * c;
    binomials = binomials * (j - i) * (j + i + 1) / ((i + 1.0) * (i + 1.0));
  }
  return root(Mp(2 * j + 1)) * sum;
}
/// The same polynomial integrated term by term.
Mp integral(int j, const Mp& c) {
  Mp sum, power = c;
  double binomials = 1.0;
  for (int i = 0; i <= j; ++i) {
    sum = sum + Mp((i + j) % 2 == 0 ? binomials : -binomials) * power / Mp(i + 1);
    power = power * c;
    binomials = binomials * (j - i) * (j + i + 1) / ((i + 1.0) * (i + 1.0));
  }
  return root(Mp(2 * j + 1)) * sum;
}

/// Zero of L_k by bisection between the zeros of L_{k-1}, which separate those of L_k.
std::vector<Mp> nodes(int k) {
  if (k == 0) return {};
  std::vector<Mp> bounds = nodes(k - 1), found;
  bounds.insert(bounds.begin(), Mp(-1.0));
  bounds.push_back(Mp(1.0));
  for (int i = 0; i < k; ++i) {
    Mp a = bounds[i], b = bounds[i + 1];
    const bool rising = legendre(k, a) < Mp(0.0);
    for (int bit = 0; bit < 200; ++bit) {
      const Mp middle = (a + b) / Mp(2.0);
      ((legendre(k, middle) < Mp(0.0)) == rising ? a : b) = middle;
    }
    found.push_back(a);
  }
  return found;
}

TEST(Legendre, EveryNumberIsTheNearestDouble) {
  for (int k = 1; k <= legendre_nodes_max; ++k) {
    const GaussLegendre rule = gauss_legendre(k);
    EXPECT_EQ(rule.k, k);
    const std::vector<Mp> x = nodes(k);
    for (int i = 0; i < k; ++i) {
      SCOPED_TRACE(std::to_string(k) + " nodes, node " + std::to_string(i));
      const Mp c = (Mp(1.0) + x[i]) / Mp(2.0);
      // b = (1 - x^2) / (k L_{k-1}(x))^2
      const Mp denominator = Mp(k) * legendre(k - 1, x[i]);
      const Mp b = (Mp(1.0) - x[i] * x[i]) / (denominator * denominator);
      EXPECT_EQ(rule.node[i], double(c));
      EXPECT_EQ(rule.weight[i], double(b));
      for (int j = 0; j < legendre_terms_max; ++j) {
        // near a zero the sums above and in the header round differently at the level of their terms
        const Mp from_start = integral(j, c);
        EXPECT_NEAR(rule.integral[i][j], double(j == 0 ? from_start - Mp(0.5) : from_start), 1e-30) << j;
        EXPECT_NEAR(rule.weighted[i][j], double(b * shifted(j, c)), 1e-30) << j;
      }
    }
  }
  for (int j = 0; j < legendre_terms_max; ++j)
    EXPECT_EQ(legendre_xi(j), double(Mp(0.5) / root(Mp(std::abs(4.0 * j * j - 1.0))))) << j;
}

TEST(Legendre, IsEvenOrOddAboutTheMiddle) {
  for (int k = 1; k <= legendre_nodes_max; ++k) {
    const GaussLegendre rule = gauss_legendre(k);
    for (int i = 0; i < k; ++i) {
      EXPECT_EQ(rule.weight[i], rule.weight[k - 1 - i]);
      for (int j = 0; j < legendre_terms_max; ++j) {
        const double sign = j % 2 == 0 ? 1.0 : -1.0;
        EXPECT_EQ(rule.weighted[i][j], sign * rule.weighted[k - 1 - i][j]);
        EXPECT_EQ(rule.integral[i][j], -sign * rule.integral[k - 1 - i][j]);
      }
    }
  }
}

// W P = 1, W I = X, W (1, .., 1)^T = e_1, sum b = 1; I = P X only for k = s
TEST(Legendre, MatricesOfTheMethodObeyTheirIdentities) {
  for (int s = 1; s <= legendre_terms_max; ++s)
    for (int k = s; k <= legendre_nodes_max; ++k) {
      SCOPED_TRACE("k = " + std::to_string(k) + ", s = " + std::to_string(s));
      const GaussLegendre rule = gauss_legendre(k);
      const auto x = [](int i, int j) {
        return i == 0 && j == 0 ? 0.5 : j == i - 1 ? legendre_xi(i) : j == i + 1 ? -legendre_xi(j) : 0.0;
      };
      const auto integral = [&](int r, int j) { return rule.integral[r][j] + (j == 0 ? 0.5 : 0.0); };
      double total = 0.0, difference = 0.0;
      for (int r = 0; r < k; ++r) {
        total += rule.weight[r];
        for (int j = 0; j < s; ++j) {
          double product = 0.0;
          for (int i = 0; i < s; ++i) product += rule.weighted[r][i] / rule.weight[r] * x(i, j);
          difference = std::max(difference, std::abs(product - integral(r, j)));
        }
      }
      EXPECT_NEAR(total, 1.0, 1e-15);
      if (k == s) {
        EXPECT_LE(difference, 1e-15);
      } else {
        EXPECT_GE(difference, 1e-2);
      }
      for (int i = 0; i < s; ++i) {
        double first = 0.0;
        for (int r = 0; r < k; ++r) first += rule.weighted[r][i];
        EXPECT_NEAR(first, i == 0 ? 1.0 : 0.0, 1e-15);
        for (int j = 0; j < s; ++j) {
          double identity = 0.0, integrals = 0.0;
          for (int r = 0; r < k; ++r) {
            identity += rule.weighted[r][i] * rule.weighted[r][j] / rule.weight[r];
            integrals += rule.weighted[r][i] * integral(r, j);
          }
          EXPECT_NEAR(identity, i == j ? 1.0 : 0.0, 2e-15);
          EXPECT_NEAR(integrals, x(i, j), 1e-15);
        }
      }
    }
}

}  // namespace
}  // namespace rattleback
