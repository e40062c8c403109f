// The Lobatto IIIA-IIIB coefficients, derived again with 256 bits, and the identities they obey.

#include "rattleback/tableaus/lobatto.hpp"

#include <Eigen/Dense>

#include "multiprecision.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

using Mp = Multiprecision<256>;

Mp power(const Mp& x, int k) { return k == 0 ? Mp(1.0) : x * power(x, k - 1); }

/// P_k(x) and P_k'(x), |x| < 1.
std::pair<Mp, Mp> legendre(int k, const Mp& x) {
  Mp p = x, before = 1.0;
  for (int j = 1; j < k; ++j) {
    const Mp next = (Mp(2 * j + 1) * x * p - Mp(j) * before) / Mp(j + 1);
    before = p;
    p = next;
  }
  return {p, Mp(k) * (before - x * p) / (Mp(1.0) - x * x)};
}

/// 0, 1 and the roots of P'_{s-1}(2c - 1), by Newton from the extrema of the Chebyshev polynomial.
std::vector<Mp> lobatto_nodes(int s) {
  std::vector<Mp> c(s);
  c[s - 1] = 1.0;
  for (int i = 1; i < s - 1; ++i) {
    Mp x = -std::cos(M_PI * i / (s - 1));
    for (int k = 0; k < 12; ++k) {
      const auto [p, dp] = legendre(s - 1, x);
      // Legendre's equation gives P''
      const Mp ddp = (Mp(2.0) * x * dp - Mp(s * (s - 1)) * p) / (Mp(1.0) - x * x);
      x = x - dp / ddp;
    }
    c[i] = (Mp(1.0) + x) / Mp(2.0);
  }
  return c;
}

/// Monomial coefficients of the Lagrange polynomial l_j.
std::vector<Mp> lagrange(const std::vector<Mp>& c, int j) {
  std::vector<Mp> l{1.0};
  for (int k = 0; k < int(c.size()); ++k) {
    if (k == j) continue;
    std::vector<Mp> product(l.size() + 1);
    for (std::size_t i = 0; i < l.size(); ++i) {
      product[i] = product[i] - l[i] * c[k] / (c[j] - c[k]);
      product[i + 1] = product[i + 1] + l[i] / (c[j] - c[k]);
    }
    l = product;
  }
  return l;
}

Mp integral_from_zero(const std::vector<Mp>& polynomial, const Mp& to) {
  Mp sum;
  for (int k = 0; k < int(polynomial.size()); ++k) sum = sum + polynomial[k] * power(to, k + 1) / Mp(k + 1);
  return sum;
}

template <class Stages>
class LobattoPairTest : public ::testing::Test {
 protected:
  static constexpr int s = Stages::value;
  static constexpr auto tableau = lobatto_pair<s>();
  static constexpr double tolerance = 1e-15;

  /// sum_j row_j c_j^(k-1)
  static double moment(const double (&row)[s], int k) {
    double sum = 0.0;
    for (int j = 0; j < s; ++j) sum += row[j] * std::pow(tableau.c[j], k - 1);
    return sum;
  }
};

struct StageNames {
  template <class Stages>
  static std::string GetName(int) {
    return "s" + std::to_string(Stages::value);
  }
};
using Stages =
    ::testing::Types<std::integral_constant<int, 2>, std::integral_constant<int, 3>, std::integral_constant<int, 4>,
                     std::integral_constant<int, 5>, std::integral_constant<int, 6>, std::integral_constant<int, 7>,
                     std::integral_constant<int, 8>>;
TYPED_TEST_SUITE(LobattoPairTest, Stages, StageNames);

TYPED_TEST(LobattoPairTest, EntriesAreTheNearestDoubles) {
  constexpr int s = TestFixture::s;
  constexpr auto& tableau = TestFixture::tableau;
  const std::vector<Mp> c = lobatto_nodes(s);
  Mp a[s][s], b[s], ah[s][s];
  for (int j = 0; j < s; ++j) {
    const std::vector<Mp> l = lagrange(c, j);
    b[j] = integral_from_zero(l, 1.0);
    for (int i = 0; i < s; ++i) a[i][j] = integral_from_zero(l, c[i]);
  }
  for (int i = 0; i < s; ++i)
    for (int j = 0; j < s; ++j) ah[i][j] = b[j] * (Mp(1.0) - a[j][i] / b[i]);
  for (int i = 0; i < s; ++i) {
    EXPECT_EQ(tableau.c[i], double(c[i])) << i;
    EXPECT_EQ(tableau.b[i], double(b[i])) << i;
    for (int j = 0; j < s; ++j) {
      Mp a_ah;
      for (int k = 0; k < s; ++k) a_ah = a_ah + a[i][k] * ah[k][j];
      EXPECT_EQ(tableau.a[i][j], double(a[i][j])) << i << ", " << j;
      EXPECT_EQ(tableau.ah[i][j], double(ah[i][j])) << i << ", " << j;
      EXPECT_EQ(tableau.a_ah[i][j], double(a_ah)) << i << ", " << j;
    }
  }
}

TYPED_TEST(LobattoPairTest, IsSymplectic) {
  constexpr auto& t = TestFixture::tableau;
  for (int i = 0; i < TestFixture::s; ++i)
    for (int j = 0; j < TestFixture::s; ++j)
      EXPECT_NEAR(t.b[i] * t.ah[i][j] + t.b[j] * t.a[j][i], t.b[i] * t.b[j], TestFixture::tolerance) << i << ", " << j;
}

TYPED_TEST(LobattoPairTest, SatisfiesTheSimplifyingAssumptions) {
  constexpr int s = TestFixture::s;
  constexpr auto& t = TestFixture::tableau;
  constexpr double tolerance = TestFixture::tolerance;
  for (int k = 1; k <= 2 * s - 2; ++k) EXPECT_NEAR(TestFixture::moment(t.b, k), 1.0 / k, tolerance) << "B(" << k << ")";
  for (int k = 1; k <= s; ++k)
    for (int i = 0; i < s; ++i) {
      const double c_power = std::pow(t.c[i], k);
      EXPECT_NEAR(TestFixture::moment(t.a[i], k), c_power / k, tolerance) << "C(" << k << ") of IIIA, row " << i;
      if (k <= s - 2) {
        EXPECT_NEAR(TestFixture::moment(t.ah[i], k), c_power / k, tolerance) << "C(" << k << ") of IIIB, row " << i;
      }
      double sum = 0.0, sum_hat = 0.0;
      for (int j = 0; j < s; ++j) {
        sum += t.b[j] * std::pow(t.c[j], k - 1) * t.a[j][i];
        sum_hat += t.b[j] * std::pow(t.c[j], k - 1) * t.ah[j][i];
      }
      const double expected = t.b[i] * (1.0 - c_power) / k;
      if (k <= s - 2) {
        EXPECT_NEAR(sum, expected, tolerance) << "D(" << k << ") of IIIA, column " << i;
      }
      EXPECT_NEAR(sum_hat, expected, tolerance) << "D(" << k << ") of IIIB, column " << i;
    }
}

TYPED_TEST(LobattoPairTest, HasTheRowsAndColumnsThatMethodsRelyOn) {
  constexpr int s = TestFixture::s;
  constexpr auto& t = TestFixture::tableau;
  EXPECT_EQ(t.order, 2 * s - 2);
  for (int i = 0; i < s; ++i) {
    EXPECT_EQ(t.a[0][i], 0.0);
    EXPECT_EQ(t.a[s - 1][i], t.b[i]);
    EXPECT_EQ(t.ah[i][0], t.b[0]);
    EXPECT_EQ(t.ah[i][s - 1], 0.0);
    EXPECT_EQ(t.a_ah[0][i], 0.0);
    EXPECT_EQ(t.a_ah[i][s - 1], 0.0);
    // both members are symmetric methods
    EXPECT_NEAR(t.c[i] + t.c[s - 1 - i], 1.0, TestFixture::tolerance);
    for (int j = 0; j < s; ++j) {
      EXPECT_NEAR(t.a[i][j] + t.a[s - 1 - i][s - 1 - j], t.b[j], TestFixture::tolerance);
      EXPECT_NEAR(t.ah[i][j] + t.ah[s - 1 - i][s - 1 - j], t.b[j], TestFixture::tolerance);
    }
  }
}

// The stability function of IIIA at infinity, -(e_s^T A~^-1 (a_i1)_{i>=2}) with A~ = (a_ij)_{i,j>=2}, has modulus 1: an
// error of the initial multiplier is neither damped nor amplified.
TYPED_TEST(LobattoPairTest, StabilityFunctionAtInfinity) {
  constexpr int s = TestFixture::s;
  constexpr auto& t = TestFixture::tableau;
  Eigen::MatrixXd a(s, s);
  for (int i = 0; i < s; ++i)
    for (int j = 0; j < s; ++j) a(i, j) = t.a[i][j];
  const Eigen::VectorXd x = a.bottomRightCorner(s - 1, s - 1).fullPivLu().solve(a.col(0).tail(s - 1));
  EXPECT_NEAR(-x[s - 2], s % 2 ? 1.0 : -1.0, 1e-14);
}

}  // namespace
}  // namespace rattleback
