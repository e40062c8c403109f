// First and second derivatives by dual numbers against central differences of eighth order.

#include "rattleback/real/dual.hpp"

#include "hessian.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

constexpr int n = 3, components = 2;

/// Two functions of (q, v) that between them use every operation and sin, cos, exp; smooth where the arguments are below 1 in modulus.
struct Everything {
  template <class S>
  Vector<S, components> operator()(const Vector<S, n>& q, const Vector<S, n>& v) const {
    S s, c;
    sincos(q[0] * v[1], s, c);
    S f = sin(q[0]) * exp(v[0] - q[1]) + cos(q[2] + v[2]) / (S(2.0) + square(q[1])) - s * c;
    f += sqrt(S(3.0) + fma(q[2], v[0], -v[1]));
    f *= S(1.5) - q[1];
    S g = abs(q[0] - S(4.0)) * v[1] + max(q[1], S(-5.0)) * min(v[2], S(5.0));
    g -= select(value_of(q[2]) < 7.0, q[2] * v[0] * v[0], S(0.0));
    g /= S(2.0) + q[1] * v[2];
    return {f, g + dot(q, v) * max_norm(Vector<S, 2>{q[0] + S(3.0), v[0]})};
  }
};

/// Two functions that use the other elementary functions.
struct Functions {
  template <class S>
  Vector<S, components> operator()(const Vector<S, n>& q, const Vector<S, n>& v) const {
    const S size = sqrt(S(1.5) + dot(q, q));
    S f = tan(q[0] * S(0.5)) * asin(q[1] / size) + acos(v[0] / S(2.0)) * atan2(q[2] + S(2.0), v[1] * v[2] - S(1.0));
    f -= atan(q[2]) * log(size) + sign(q[1] - S(3.0)) * exp(v[0]) * log2(S(2.0) + v[2]);
    S sine, cosine;
    sinhcosh(q[0] * q[1], sine, cosine);
    S g = sinh(v[0] - q[0]) / cosh(v[1]) + tanh(q[1] + v[2]) * asinh(q[2] + v[0]) + sine * cosine;
    g += acosh(size + S(1.0)) * atanh(v[1] * v[2]) + log10(size) * pow(size, v[0]);
    return {f, g + pow(size, S(-0.7)) * pow(S(2.0) + q[0], 2.5)};
  }
};

/// d/dx f(x) at x = 0; the error is about 1e-13 for functions of size 1.
template <class F>
auto derivative(F f) {
  constexpr double h = 0x1p-6, weight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  double sum = 0.0;
  for (int k = 1; k <= 4; ++k) sum += weight[k - 1] * (f(k * h) - f(-k * h));
  return sum / h;
}

Vector<double, n> moved(Vector<double, n> x, int i, double by) {
  x[i] += by;
  return x;
}

constexpr double tolerance = 1e-11;

template <class F>
void expect_gradient(const F& f, const Vector<double, n>& q, const Vector<double, n>& v) {
  const auto g = gradient<components>(f, q, v);
  for (int r = 0; r < components; ++r) {
    EXPECT_EQ(g.value[r], f(q, v)[r]);
    for (int i = 0; i < n; ++i) {
      EXPECT_NEAR(g.dq[r][i], derivative([&](double x) { return f(moved(q, i, x), v)[r]; }), tolerance);
      EXPECT_NEAR(g.dv[r][i], derivative([&](double x) { return f(q, moved(v, i, x))[r]; }), tolerance);
    }
  }
}

template <class F>
void expect_hessian(const F& f, const Vector<double, n>& q, const Vector<double, n>& v) {
  const auto h = hessian<components>(f, q, v);
  const auto g = gradient<components>(f, q, v);
  for (int r = 0; r < components; ++r) {
    EXPECT_EQ(h.first.value[r], g.value[r]);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(h.first.dq[r][i], g.dq[r][i]);
      EXPECT_EQ(h.first.dv[r][i], g.dv[r][i]);
      for (int j = 0; j < n; ++j) {
        const auto at_q = [&](double x) { return gradient<components>(f, moved(q, j, x), v); };
        const auto at_v = [&](double x) { return gradient<components>(f, q, moved(v, j, x)); };
        EXPECT_NEAR(h.qq[r][i][j], derivative([&](double x) { return at_q(x).dq[r][i]; }), tolerance);
        EXPECT_NEAR(h.vq[r][i][j], derivative([&](double x) { return at_q(x).dv[r][i]; }), tolerance);
        EXPECT_NEAR(h.vv[r][i][j], derivative([&](double x) { return at_v(x).dv[r][i]; }), tolerance);
        EXPECT_NEAR(h.qq[r][i][j], h.qq[r][j][i], 1e-14);
        EXPECT_NEAR(h.vv[r][i][j], h.vv[r][j][i], 1e-14);
      }
    }
  }
}

class DerivativeTest : public ::testing::TestWithParam<int> {
 protected:
  Random random{std::uint64_t(GetParam())};
  Vector<double, n> q = random.vector<n>(-0.8, 0.8), v = random.vector<n>(-0.8, 0.8);
};

TEST_P(DerivativeTest, GradientAgreesWithDifferences) {
  expect_gradient(Everything{}, q, v);
  expect_gradient(Functions{}, q, v);
}

TEST_P(DerivativeTest, HessianAgreesWithDifferencesOfTheGradient) {
  expect_hessian(Everything{}, q, v);
  expect_hessian(Functions{}, q, v);
}

// Third derivatives, for nesting has no depth: the Hessian of the directional derivative.
TEST_P(DerivativeTest, NestsThreeDeep) {
  using D1 = Dual<double, 1>;
  Vector<D1, n> dq, dv;
  for (int i = 0; i < n; ++i) {
    dq[i] = D1(q[i]);
    dv[i] = D1(v[i]);
  }
  dq[1].partial[0] = 1.0;
  const Everything f;
  const auto h = hessian<components>(f, dq, dv);
  for (int r = 0; r < components; ++r)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const auto entry = [&](double x) { return hessian<components>(f, moved(q, 1, x), v).vq[r][i][j]; };
        EXPECT_NEAR(h.vq[r][i][j].partial[0], derivative(entry), tolerance);
      }
}

INSTANTIATE_TEST_SUITE_P(RandomPoints, DerivativeTest, ::testing::Range(0, 5));

TEST(DualTest, ComparesByValue) {
  using D = Dual<double, 2>;
  const D a(1.0, 0), b(1.0, 1), c(2.0);
  EXPECT_TRUE(a == b);
  EXPECT_TRUE(a < c && c > a && a <= b && a >= b);
  EXPECT_FALSE(a < b || b > a || c <= a);
  EXPECT_EQ(value_of(Dual<D, 1>(c)), 2.0);
}

TEST(DualTest, ConstantsAndDirections) {
  using D = Dual<Dual<double, 1>, 2>;
  const D constant(3.0), variable(Dual<double, 1>(3.0, 0), 1);
  for (const auto& partial : constant.partial) {
    EXPECT_EQ(partial.value, 0.0);
    EXPECT_EQ(partial.partial[0], 0.0);
  }
  EXPECT_EQ(variable.value.partial[0], 1.0);
  EXPECT_EQ(variable.partial[0].value, 0.0);
  EXPECT_EQ(variable.partial[1].value, 1.0);
}

TEST(DualTest, AbsoluteValueAndExtremaTakeTheBranchOfTheValue) {
  using D = Dual<double, 2>;
  const D a(-2.0, 0), b(1.0, 1);
  EXPECT_EQ(abs(a).partial[0], -1.0);
  EXPECT_EQ(abs(b).partial[1], 1.0);
  EXPECT_EQ(max(a, b).partial[1], 1.0);
  EXPECT_EQ(min(a, b).partial[0], 1.0);
  EXPECT_EQ(select(a < b, a, b).partial[0], 1.0);
}

// The slopes at places where the general formulas meet 0/0, 0 ln 0 or a logarithm of a negative number.
TEST(DualTest, PowersOfZeroAndOfNegativeNumbers) {
  using D = Dual<Dual<double, 1>, 1>;
  const auto variable = [](double x) { return D(Dual<double, 1>(x, 0), 0); };
  for (const double x : {0.0, -0.0, -1.5})
    for (int b = 0; b <= 4; ++b)
      for (const D& y : {pow(variable(x), D(double(b))), pow(variable(x), double(b))}) {
        EXPECT_EQ(y.value.value, std::pow(x, b));
        EXPECT_EQ(y.value.partial[0], b == 0 ? 0.0 : b * std::pow(x, b - 1));
        EXPECT_EQ(y.partial[0].value, y.value.partial[0]);
        EXPECT_EQ(y.partial[0].partial[0], b < 2 ? 0.0 : b * (b - 1) * std::pow(x, b - 2)) << x << ' ' << b;
      }
  using E = Dual<double, 2>;
  const E y = pow(E(3.0, 0), E(0.0, 1));
  EXPECT_EQ(y.partial[0], 0.0);
  EXPECT_EQ(y.partial[1], log(3.0));
}

TEST(DualTest, SlopesOfLargeArguments) {
  using D = Dual<double, 1>;
  for (const double x : {30.0, 300.0, 800.0}) {
    EXPECT_NEAR(tanh(D(x, 0)).partial[0], 4.0 * std::exp(-2.0 * x), 1e-14 * std::exp(-2.0 * x));
    EXPECT_EQ(tanh(D(-x, 0)).partial[0], tanh(D(x, 0)).partial[0]);
  }
  const double near = std::nextafter(1.0, 0.0);
  EXPECT_NEAR(asin(D(near, 0)).partial[0] / 0x1p26, 1.0, 1e-15);
  EXPECT_NEAR(atanh(D(near, 0)).partial[0] / 0x1p52, 1.0, 1e-15);
}

TEST(DualTest, TheSignHasNoSlope) {
  using D = Dual<double, 1>;
  for (const double x : {2.0, 0.0, -0.0, -2.0}) {
    EXPECT_TRUE(same_bits(sign(D(x, 0)).value, sign(x)));
    EXPECT_EQ(sign(D(x, 0)).partial[0], 0.0);
  }
}

}  // namespace
}  // namespace rattleback
