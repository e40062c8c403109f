// Vectors, matrices and linear equations against Eigen.

#include "rattleback/linalg/factors.hpp"

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

/// The solution of A x = b by a policy and whether A was found singular: by factors, which have to agree with the solution at once.
template <class Policy, int N>
struct By {
  static constexpr int size = N;
  using policy = Policy;
  static std::pair<Vector<double, N>, bool> solve(const Matrix<double, N, N>& a, const Vector<double, N>& b) {
    const Factors<double, N, Policy> factors(a);
    return {factors.solve(b), factors.singular()};
  }
};
/// By the solution at once.
template <class Policy, int N>
struct AtOnce {
  static constexpr int size = N;
  using policy = Policy;
  static std::pair<Vector<double, N>, bool> solve(const Matrix<double, N, N>& a, Vector<double, N> b) {
    const bool singular = solve_once<Policy>(a, b);
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
    ::testing::Types<By<Pivoted<>, 1>, By<Pivoted<>, 2>, By<Pivoted<>, 3>, By<Pivoted<>, 7>, By<Pivoted<>, 23>,
                     By<PivotedUnrolled, 3>, By<PivotedUnrolled, 6>, AtOnce<PivotedUnrolled, 1>,
                     AtOnce<PivotedUnrolled, 2>, AtOnce<PivotedUnrolled, 3>, AtOnce<PivotedUnrolled, 4>,
                     AtOnce<PivotedUnrolled, 6>, AtOnce<Definite<>, 1>, AtOnce<Definite<>, 2>, AtOnce<Definite<>, 3>>;
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
  if (std::same_as<typename TypeParam::policy, Definite<>> && n > 1)
    GTEST_SKIP() << "cofactors are for equations of like size";
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

using Exact = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// Zeros of a matrix that couples neighbours in a ring of N, whose rows are mixed up by the step from one to the next.
template <int N, int step>
struct Ring {
  static constexpr bool entry(int i, int j) {
    const int distance = (i * step - j * step) % N;
    return distance == 0 || distance == 1 || distance == -1 || distance == N - 1 || distance == 1 - N;
  }
};
/// An arrow whose shaft is the first row and column: elimination from the first row on fills the matrix, in reverse it fills nothing.
template <int N>
struct Arrow {
  static constexpr bool entry(int i, int j) { return i == j || i == 0 || j == 0; }
};
/// Blocks of two, of which the last one depends on the first one only.
struct Blocks {
  static constexpr bool entry(int i, int j) { return i / 2 == j / 2 || (i == 5 && j == 0); }
};
template <int N>
struct Diagonal {
  static constexpr bool entry(int i, int j) { return i == j; }
};

/// Matrices with zeros where a pattern has them, dominated by their diagonal: solutions against elimination in higher precision, known
/// entries of the inverse, and what a policy says of singular matrices. What lies in the place of a zero must not matter.
template <class Policy, int N, class Pattern = FullPattern>
void expect_factors_solve(double tolerance = 1e-15) {
  SCOPED_TRACE(N);
  Random random{N};
  for (int trial = 0; trial < 40; ++trial) {
    Matrix<double, N, N> a;
    Exact exact = Exact::Zero(N, N);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) {
        const bool there = Pattern::entry(i, j);
        a[i][j] = there ? random.uniform(-1.0, 1.0) + (i == j ? N : 0) : std::numeric_limits<double>::quiet_NaN();
        if (there) exact(i, j) = a[i][j];
      }
    const auto b = random.vector<N>(-1.0, 1.0);
    const Factors<double, N, Policy> factors(a);
    ASSERT_FALSE(factors.singular());
    const Exact inverse = exact.fullPivLu().inverse(), x = inverse * to_eigen(b).template cast<long double>();
    const auto expect_solution = [&](const Vector<double, N>& found) {
      for (int i = 0; i < N; ++i) EXPECT_NEAR(found[i], static_cast<double>(x(i)), tolerance);
    };
    expect_solution(factors.solve(b));
    expect_solution(factors * b);
    if constexpr (requires { factors.entry(0, 0); }) {
      for (int j = 0; j < N; ++j) {
        const auto column = factors.column(j);
        for (int i = 0; i < N; ++i) {
          EXPECT_NEAR(column[i], static_cast<double>(inverse(i, j)), tolerance);
          if (!factors.entry(i, j)) {
            EXPECT_EQ(column[i], 0.0) << i << ' ' << j;
            EXPECT_NEAR(static_cast<double>(inverse(i, j)), 0.0, 1e-18);
          }
        }
      }
    }
    if constexpr (requires(typename Policy::template Method<double, N> method, Vector<double, N> y) {
                    method.solve_once(y);
                  }) {
      auto at_once = b;
      EXPECT_FALSE(solve_once<Policy>(a, at_once));
      expect_solution(at_once);
    }
    for (const double broken : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
      Matrix<double, N, N> no_row = a;
      for (int j = 0; j < N; ++j)
        if (Pattern::entry(N - 1, j)) no_row[N - 1][j] = broken;
      Factors<double, N, Policy> refilled;
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j)
          refilled.matrix()[i][j] = std::remove_cvref_t<decltype(refilled.matrix()[i][j])>(no_row[i][j]);
      EXPECT_TRUE(refilled.factorise());
      EXPECT_TRUE(refilled.singular());
    }
  }
}

TEST(FactorsTest, OfGuides) {
  expect_factors_solve<Guide<>, 1>();
  expect_factors_solve<Guide<>, 2>();
  expect_factors_solve<Guide<>, 3>();
  expect_factors_solve<Guide<>, 4>();
  expect_factors_solve<Guide<>, 5>();
  expect_factors_solve<Guide<>, 12>();
  expect_factors_solve<Guide<>, 13>();
  expect_factors_solve<Guide<>, 19>();
  expect_factors_solve<Guide<Diagonal<4>>, 4, Diagonal<4>>();
  expect_factors_solve<Guide<Arrow<3>>, 3, Arrow<3>>();
  expect_factors_solve<Guide<Blocks>, 6, Blocks>();
  expect_factors_solve<Guide<Ring<23, 2>>, 23, Ring<23, 2>>();
  expect_factors_solve<Guide<Ring<40, 2>>, 40, Ring<40, 2>>();
}

TEST(FactorsTest, OfDefiniteMatrices) {
  expect_factors_solve<Definite<>, 1>();
  expect_factors_solve<Definite<>, 3>();
  expect_factors_solve<Definite<>, 4>();
  expect_factors_solve<Eliminated<>, 2>();
  expect_factors_solve<PivotedUnrolled, 4>();
  expect_factors_solve<Pivoted<>, 5>();
}

TEST(FactorsTest, OfPatterns) {
  expect_factors_solve<Definite<Diagonal<2>>, 2, Diagonal<2>>();
  expect_factors_solve<Definite<Diagonal<5>>, 5, Diagonal<5>>();
  expect_factors_solve<Definite<Arrow<3>>, 3, Arrow<3>>();
  expect_factors_solve<Definite<Arrow<7>>, 7, Arrow<7>>();
  expect_factors_solve<Definite<Ring<7, 1>>, 7, Ring<7, 1>>();
  expect_factors_solve<Definite<Ring<9, 2>>, 9, Ring<9, 2>>();
  expect_factors_solve<Definite<Blocks>, 6, Blocks>();
}

// Each number is rounded to 24 bits.
TEST(FactorsTest, InSingle) {
  expect_factors_solve<InSingle<Guide<>>, 3>(1e-6);
  expect_factors_solve<InSingle<Guide<>>, 6>(1e-6);
  expect_factors_solve<InSingle<Definite<Arrow<7>>>, 7, Arrow<7>>(1e-6);
  expect_factors_solve<InSingle<Pivoted<>>, 13>(1e-6);
  expect_factors_solve<InSingle<PivotedUnrolled>, 4>(1e-6);
  Factors<double, 2, InSingle<Pivoted<>>> third(Matrix<double, 2, 2>{{{3.0, 0.0}, {0.0, 1.0}}});
  EXPECT_EQ((third.solve({1.0, 0.0})[0]), static_cast<double>(1.0f / 3.0f));
}

/// The products of an elimination in the order that was found, by entries of the factors; and with pivots as they come.
template <int N, class Pattern>
void expect_order(int fill, const std::vector<int>& first_pivots) {
  constexpr auto order = detail::elimination_order<N, Pattern>;
  int filled = 0;
  std::vector<int> pivots(order.pivot, order.pivot + N);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) filled += order.fill(i, j);
  EXPECT_EQ(filled, fill);
  EXPECT_TRUE(std::equal(first_pivots.begin(), first_pivots.end(), pivots.begin()));
  std::sort(pivots.begin(), pivots.end());
  for (int k = 0; k < N; ++k) EXPECT_EQ(pivots[k], k);
}

TEST(EliminationOrderTest, HasLittleFill) {
  expect_order<7, FullPattern>(0, {0, 1, 2, 3, 4, 5, 6});
  expect_order<7, Diagonal<7>>(0, {0, 1, 2, 3, 4, 5, 6});
  expect_order<7, Arrow<7>>(0, {1, 2, 3, 4, 5});
  expect_order<7, Ring<7, 1>>(8, {0});  // each pivot joins its neighbours, two entries, but for the last three
  expect_order<9, Ring<9, 2>>(12, {0});
  expect_order<6, Blocks>(0, {});
}

}  // namespace
}  // namespace rattleback
