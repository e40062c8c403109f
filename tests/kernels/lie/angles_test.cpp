// Functions of the angle of a rotation: its logarithm next to pi, the entire functions of its square, the pole of dexp^-1, and
// the fold of steps by the Cayley transform.

#include "rattleback/lie/lie.hpp"

#include "multiprecision.hpp"
#include "testing.hpp"
#include "worst.hpp"

namespace rattleback {
namespace {

using D1 = Dual<double, 1>;

TEST(RotationTest, LogarithmNextToPi) {
  Random random(3);
  Worst worst(3e-15);
  for (double below : {0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3, 0.1}) {
    for (int trial = 0; trial < 100; ++trial) {
      auto axis = random.vector<3>(-1.0, 1.0);
      if (trial % 4 == 0) axis[trial % 3] *= 1e-12;
      if (trial % 8 == 0) axis[(trial + 1) % 3] = 0.0;
      axis = (1.0 / std::sqrt(dot(axis, axis))) * axis;
      const auto x = (3.141592653589793 - below) * axis;
      const auto y = Chart<SO3, Exp, double>::inverse(Chart<SO3, Exp, double>(x).tau());
      // either end of the axis at pi itself
      worst.compare(below < 1e-14 && dot(x, y) < 0.0 ? -y : y, x);
    }
  }
}

using Mp = Multiprecision<256>;

/// E_r(x) and its derivative, the sums of (-x)^k/(2k + r)! and (k + 1) (-1)^(k+1) x^k/(2k + 2 + r)!.
std::pair<double, double> exact_entire(int r, double x) {
  Mp value(0.0), derivative(0.0), term(1.0);
  for (int i = 2; i <= r; ++i) term = term / Mp(i);
  for (int k = 0; k < 120; ++k) {
    value = value + term;
    const Mp next = Mp(-1.0) * term / (Mp(2.0 * k + r + 1) * Mp(2.0 * k + r + 2));
    derivative = derivative + Mp(k + 1.0) * next;
    term = next * Mp(x);
  }
  return {double(value), double(derivative)};
}

TEST(EntireTest, AgreeWithTheirSeries) {
  Random random(4);
  double worst_series = 0.0, worst_beyond = 0.0, worst_derivative = 0.0;
  for (int trial = 0; trial < 4000; ++trial) {
    const double x =
        trial % 4 == 0 ? std::exp2(random.uniform(-80.0, 3.0)) : random.uniform(0.0, trial % 4 == 1 ? 10.0 : 60.0);
    const auto e = entire<5>(x);
    const auto d = entire<5>(D1(x, 0));
    double inverse_factorial = 1.0;
    for (int r = 0; r <= 5; ++r) {
      if (r > 1) inverse_factorial /= r;
      const auto [value, derivative] = exact_entire(r, x);
      // relative to the largest term below the end of the series, beyond it to the envelope of E_r
      const double envelope = r < 2 ? std::pow(x, -0.5 * r) : 1.0 / x;
      const double size =
          x <= 10.0 ? inverse_factorial : std::max(std::fabs(value), envelope * (r < 4 ? 1.0 : inverse_factorial));
      (x <= 10.0 ? worst_series : worst_beyond) =
          std::max(x <= 10.0 ? worst_series : worst_beyond, std::fabs(e[r] - value) / size);
      EXPECT_EQ(d[r].value, e[r]);
      const double derivative_size = std::max(std::fabs(derivative), size / (r + 2.0) / std::max(x, 1.0));
      worst_derivative = std::max(worst_derivative, std::fabs(d[r].partial[0] - derivative) / derivative_size);
    }
  }
  std::printf("E_r: largest error %.2e by series, %.2e beyond; of derivatives %.2e\n", worst_series, worst_beyond,
              worst_derivative);
  EXPECT_LT(worst_series, 1e-15);
  EXPECT_LT(worst_beyond, 2e-15);
  EXPECT_LT(worst_derivative, 1e-14);
}

// dexp^-1 up to its pole: relative to the condition of its coefficient there.
TEST(EntireTest, InverseOfDexpNextToItsPole) {
  Worst worst(1e-14);
  for (double below : {1.0, 0.1, 1e-3, 1e-6}) {
    const double angle = 6.283185307179586 - below;
    const Chart<SO3, Exp, double> at({angle, 0.0, 0.0});
    const auto column = at.dtau_inverse({0.0, 1.0, 0.0});
    // (theta/2) cot(theta/2) and theta/2, the pole's residue exactly
    const Mp half = Mp(angle) / Mp(2.0);
    const Mp cotangent = Mp::call(mpfr_cot, half) * half;
    worst.compare(column[1], double(cotangent), std::fabs(double(cotangent)) / below);
    worst.compare(column[2], 0.5 * angle);
  }
}

// The angle at which the step of a free spherical body with two stages has its fold, from the formula.
TEST(FoldTest, LimitOfTwoStages) {
  double largest = 0.0;
  for (double x = 1.0; x < 1.3; x += 1e-5) {
    const D1 y(x, 0), four(4.0);
    const D1 g = D1(16.0) * y * y / (square(four + y * y) + D1(16.0));
    largest = std::max(largest, g.partial[0] * (4.0 + x * x) / 4.0);
  }
  EXPECT_NEAR(largest, fold_angle(2), 1e-9);
}

TEST(FoldTest, IsOfRotationsByCayOnly) {
  const Vector<double, 6> slow{0.7, 0.0, 0.0, 5.0, 5.0, 5.0}, fast{0.0, 0.8, 0.0, 0.0, 0.0, 0.0};
  EXPECT_FALSE((beyond_fold<SE3, Cay>(slow, 2)));
  EXPECT_TRUE((beyond_fold<SE3, Cay>(slow, 2, 0.9)));
  EXPECT_TRUE((beyond_fold<SE3, Cay>(fast, 2)));
  EXPECT_FALSE((beyond_fold<SE3, Cay>(fast, 3)));
  EXPECT_FALSE((beyond_fold<SE3, Exp>(fast, 2)));
  using Ball = Product<SO3, Rn<2>>;
  EXPECT_FALSE((beyond_fold<Ball, Cay>(Vector<double, 5>{0.7, 0.0, 0.0, 9.0, 9.0}, 2)));
  EXPECT_TRUE((beyond_fold<Ball, Cay>(Vector<double, 5>{0.0, 0.0, 1.0, 0.0, 0.0}, 2)));
  EXPECT_FALSE((beyond_fold<Rn<2>, Cay>(Vector<double, 2>{9.0, 9.0}, 2)));
}

}  // namespace
}  // namespace rattleback
