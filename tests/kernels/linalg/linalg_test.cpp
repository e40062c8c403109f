// Vectors, matrices and linear equations against Eigen.

#include "rattleback/linalg/guide.hpp"

#include "eigen.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

template <int R, int C>
Matrix<double, R, C> random_matrix(Random& random) {
  Matrix<double, R, C> a;
  for (int i = 0; i < R; ++i) a[i] = random.vector<C>(-1.0, 1.0);
  return a;
}

TEST(VectorTest, Operations) {
  Random random(1);
  const auto a = random.vector<5>(-1.0, 1.0), b = random.vector<5>(-1.0, 1.0);
  const auto x = to_eigen(a), y = to_eigen(b);
  EXPECT_EQ(to_eigen(a + b), x + y);
  EXPECT_EQ(to_eigen(a - b), x - y);
  EXPECT_EQ(to_eigen(-a), -x);
  EXPECT_EQ(to_eigen(0.3 * a), 0.3 * x);
  EXPECT_EQ(to_eigen(select(true, a, b)), x);
  EXPECT_EQ(to_eigen(select(false, a, b)), y);
  EXPECT_EQ((Vector<double, 5>::zero()[4]), 0.0);
  EXPECT_EQ(max_norm(a), x.lpNorm<Eigen::Infinity>());
  EXPECT_NEAR(dot(a, b), x.dot(y), 1e-15);
  EXPECT_NEAR(sum(a), x.sum(), 1e-15);
  EXPECT_TRUE(to_eigen(fma(0.3, a, b)).isApprox(0.3 * x + y, 1e-15));
  EXPECT_EQ((dot(Vector<double, 0>{}, Vector<double, 0>{})), 0.0);
  const auto u = segment<0, 3>(a), v = segment<2, 3>(a);
  EXPECT_EQ(to_eigen(v), x.tail<3>());
  EXPECT_EQ(to_eigen(cross(u, v)), Eigen::Vector3d(to_eigen(u)).cross(Eigen::Vector3d(to_eigen(v))));
  EXPECT_EQ(to_eigen(join(segment<0, 2>(a), v)), x);
  EXPECT_EQ(to_eigen(join(a, Vector<double, 0>{})), x);
}

TEST(MatrixTest, Products) {
  Random random(2);
  const auto a = random_matrix<3, 4>(random);
  const auto x = random.vector<4>(-1.0, 1.0);
  const auto y = random.vector<3>(-1.0, 1.0);
  EXPECT_TRUE(to_eigen(a * x).isApprox(to_eigen(a) * to_eigen(x), 1e-15));
  EXPECT_TRUE(to_eigen(transpose_times(a, y)).isApprox(to_eigen(a).transpose() * to_eigen(y), 1e-15));
  EXPECT_EQ(to_eigen(Matrix<double, 3, 4>::zero()), Eigen::MatrixXd::Zero(3, 4));
}

/// Solution of A x = b and whether A was found singular, by either algorithm.
template <int N>
struct ByLu {
  static constexpr int size = N;
  static std::pair<Vector<double, N>, bool> solve(const Matrix<double, N, N>& a, const Vector<double, N>& b) {
    const Lu<double, N> lu(a);
    return {lu.solve(b), lu.singular()};
  }
};
template <int N>
struct ByElimination {
  static constexpr int size = N;
  static std::pair<Vector<double, N>, bool> solve(const Matrix<double, N, N>& a, Vector<double, N> b) {
    const bool singular = solve_small(a, b);
    return {b, singular};
  }
};
template <int N>
struct ByCofactors {
  static constexpr int size = N;
  static std::pair<Vector<double, N>, bool> solve(const Matrix<double, N, N>& a, Vector<double, N> b) {
    const bool singular = solve_by_cofactors(a, b);
    return {b, singular};
  }
};

template <class Solver>
class EquationsTest : public ::testing::Test {
 protected:
  static constexpr int n = Solver::size;
  using Coefficients = Matrix<double, n, n>;

  /// Expects a solution with a small backward error.
  void expect_solved(const Coefficients& a) {
    const auto b = random.vector<n>(-1.0, 1.0);
    const auto [x, singular] = Solver::solve(a, b);
    ASSERT_FALSE(singular);
    const auto matrix = to_eigen(a);
    EXPECT_LT(norm(matrix * to_eigen(x) - to_eigen(b)), 1e-14 * n * norm(matrix) * max_norm(x));
  }
  /// Expects a solution near Eigen's, as far as the condition number lets it be.
  void expect_like_eigen(const Coefficients& a) {
    const auto b = random.vector<n>(-1.0, 1.0);
    const auto x = to_eigen(Solver::solve(a, b).first);
    const auto matrix = to_eigen(a);
    const Eigen::FullPivLU<Eigen::MatrixXd> oracle(matrix);
    EXPECT_LT(norm(x - oracle.solve(to_eigen(b))), 1e-14 * n * norm(matrix) * norm(oracle.inverse()) * norm(x));
  }
  void expect_singular(const Coefficients& a) { EXPECT_TRUE(Solver::solve(a, random.vector<n>(-1.0, 1.0)).second); }

  static double norm(const Eigen::MatrixXd& a) { return a.cwiseAbs().rowwise().sum().maxCoeff(); }

  Random random{n};
};

using Solvers =
    ::testing::Types<ByLu<1>, ByLu<2>, ByLu<3>, ByLu<7>, ByLu<23>, ByElimination<1>, ByElimination<2>, ByElimination<3>,
                     ByElimination<4>, ByElimination<6>, ByCofactors<1>, ByCofactors<2>, ByCofactors<3>>;
TYPED_TEST_SUITE(EquationsTest, Solvers);

TYPED_TEST(EquationsTest, Random) {
  constexpr int n = TestFixture::n;
  for (int trial = 0; trial < 300; ++trial) {
    const auto a = random_matrix<n, n>(this->random);
    this->expect_solved(a);
    this->expect_like_eigen(a);
  }
}

// A cyclic permutation, disturbed: elimination without exchanges would divide by zero or by a tiny number.
TYPED_TEST(EquationsTest, InNeedOfPivoting) {
  constexpr int n = TestFixture::n;
  for (double disturbance : {0.0, 1e-12, 1e-3}) {
    for (int trial = 0; trial < 50; ++trial) {
      auto a = random_matrix<n, n>(this->random);
      for (int i = 0; i < n; ++i) {
        a[i] = disturbance * a[i];
        a[i][(i + 1) % n] = 1.0 + i;
      }
      this->expect_solved(a);
      this->expect_like_eigen(a);
    }
  }
}

TYPED_TEST(EquationsTest, BadlyScaled) {
  constexpr int n = TestFixture::n;
  if (std::same_as<TypeParam, ByCofactors<n>> && n > 1) GTEST_SKIP() << "cofactors are for equations of like size";
  const auto random_power = [&](int largest) { return std::ldexp(1.0, int(this->random.uniform(-largest, largest))); };
  for (int trial = 0; trial < 50; ++trial) {
    const auto a = random_matrix<n, n>(this->random);
    auto scaled_rows = a, scaled_columns = a;
    const auto b = this->random.template vector<n>(-1.0, 1.0);
    Vector<double, n> scale;
    for (int j = 0; j < n; ++j) scale[j] = random_power(400);
    for (int i = 0; i < n; ++i) {
      scaled_rows[i] = random_power(40) * a[i];
      for (int j = 0; j < n; ++j) scaled_columns[i][j] = a[i][j] * scale[j];
    }
    this->expect_solved(scaled_rows);
    // powers of two in the columns change neither pivots nor rounding
    const auto x = TypeParam::solve(a, b).first, x_scaled = TypeParam::solve(scaled_columns, b).first;
    for (int j = 0; j < n; ++j) EXPECT_EQ(x_scaled[j] * scale[j], x[j]);
  }
}

TYPED_TEST(EquationsTest, Singular) {
  constexpr int n = TestFixture::n;
  this->expect_singular(Matrix<double, n, n>::zero());
  auto not_finite = random_matrix<n, n>(this->random);
  not_finite[n - 1][0] = std::numeric_limits<double>::quiet_NaN();
  this->expect_singular(not_finite);
  if constexpr (n > 1) {
    for (int trial = 0; trial < 50; ++trial) {
      auto zero_column = random_matrix<n, n>(this->random), same_rows = zero_column;
      for (int i = 0; i < n; ++i) zero_column[i][trial % n] = 0.0;
      this->expect_singular(zero_column);
      // sums of small integers are exact, and so are their multiples by powers of two
      same_rows[0] = Vector<double, n>::zero();
      same_rows[0][0] = 1.0;
      same_rows[n - 1] = 0.5 * same_rows[0];
      this->expect_singular(same_rows);
    }
  }
}

template <int N>
void expect_guides_solve() {
  SCOPED_TRACE(N);
  Random random{N};
  for (int trial = 0; trial < 50; ++trial) {
    auto a = random_matrix<N, N>(random);
    for (int i = 0; i < N; ++i) a[i][i] = a[i][i] + N;  // dominant, so that no exchange is needed
    const auto b = random.vector<N>(-1.0, 1.0);
    GuideFactors<double, N> guide;
    guide.matrix() = a;
    ASSERT_FALSE(guide.factorise());
    auto x = b;
    guide.solve(x);
    EXPECT_LE(distance(x, Lu<double, N>(a).solve(b)), 1e-14);
    a[N - 1] = trial % 2 == 0 ? Vector<double, N>::zero() : std::numeric_limits<double>::quiet_NaN() * a[0];
    guide.matrix() = a;
    EXPECT_TRUE(guide.factorise());
  }
}

TEST(GuideFactorsTest, Solve) {
  expect_guides_solve<1>();
  expect_guides_solve<2>();
  expect_guides_solve<3>();
  expect_guides_solve<4>();
  expect_guides_solve<5>();
  expect_guides_solve<13>();
}

}  // namespace
}  // namespace rattleback
