// The counting scalar.

#include <gtest/gtest.h>

#include "rattleback/linalg/factors.hpp"
#include "rattleback/real/counted.hpp"
#include "rattleback/real/hyperbolic.hpp"
#include "rattleback/real/power.hpp"
#include "rattleback/real/trigonometric.hpp"

using namespace rattleback;

namespace {

template <class F>
std::uint64_t operations(F&& work) {
  const std::uint64_t before = counted_operations;
  work();
  return counted_operations - before;
}

TEST(Counted, CountsArithmeticAndNothingElse) {
  const Counted a = 2.0, b = 3.0, c = 5.0;
  EXPECT_EQ(operations([&] { EXPECT_EQ((a * b + c / a - b).value, 5.5); }), 4u);
  EXPECT_EQ(operations([&] { EXPECT_EQ(fma(a, b, c).value, 11.0); }), 2u);
  EXPECT_EQ(operations([&] { EXPECT_EQ(sqrt(a * a).value, 2.0); }), 2u);
  EXPECT_EQ(operations([&] { EXPECT_EQ(select(a < b, -abs(a), max(b, c)).value, -2.0); }), 0u);
  Counted d = a;
  EXPECT_EQ(operations([&] {
              d += b;
              d *= b;
              d -= a;
              d /= a;
            }),
            4u);
  EXPECT_EQ(d.value, 6.5);
}

TEST(Counted, CountsFactorsInSingle) {
  constexpr int n = 5;
  auto matrix = Matrix<Counted, n, n>::zero();
  Vector<Counted, n> right;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) matrix[i][j] = i == j ? 4.0 : 1.0 / (1.0 + i + 2 * j);
    right[i] = 1.0 + i;
  }
  Vector<Counted, n> wide, narrow;
  const std::uint64_t in_double = operations([&] { wide = Factors<Counted, n, Guide<>>(matrix).solve(right); });
  EXPECT_EQ(operations([&] { narrow = Factors<Counted, n, InSingle<Guide<>>>(matrix).solve(right); }), in_double);
  EXPECT_GT(in_double, 100u);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(narrow[i].value, wide[i].value, 1e-6);
}

TEST(Counted, ElementaryFunctionsGiveTheSameBits) {
  for (const double x : {0.0, 0.3, -2.5, 40.0, 1e5}) {
    EXPECT_EQ(sin(Counted(x)).value, rattleback::sin(x));
    EXPECT_EQ(cos(Counted(x)).value, rattleback::cos(x));
    EXPECT_EQ(exp(Counted(x / 1e3)).value, rattleback::exp(x / 1e3));
    EXPECT_EQ(atan(Counted(x)).value, rattleback::atan(x));
    EXPECT_EQ(tan(Counted(x)).value, rattleback::tan(x));
    EXPECT_EQ(asin(Counted(x / 1e6)).value, rattleback::asin(x / 1e6));
    EXPECT_EQ(acos(Counted(x / 1e6)).value, rattleback::acos(x / 1e6));
    EXPECT_EQ(atan2(Counted(x), Counted(-2.0)).value, rattleback::atan2(x, -2.0));
    EXPECT_EQ(sinh(Counted(x)).value, rattleback::sinh(x));
    EXPECT_EQ(cosh(Counted(x)).value, rattleback::cosh(x));
    EXPECT_EQ(tanh(Counted(x)).value, rattleback::tanh(x));
    EXPECT_EQ(asinh(Counted(x)).value, rattleback::asinh(x));
    EXPECT_EQ(acosh(Counted(x + 4.0)).value, rattleback::acosh(x + 4.0));
    EXPECT_EQ(atanh(Counted(x / 1e6)).value, rattleback::atanh(x / 1e6));
    EXPECT_EQ(log(Counted(x + 4.0)).value, rattleback::log(x + 4.0));
    EXPECT_EQ(log2(Counted(x + 4.0)).value, rattleback::log2(x + 4.0));
    EXPECT_EQ(log10(Counted(x + 4.0)).value, rattleback::log10(x + 4.0));
    EXPECT_EQ(pow(Counted(x + 4.0), Counted(-1.7)).value, rattleback::pow(x + 4.0, -1.7));
    EXPECT_EQ(sign(Counted(x)).value, rattleback::sign(x));
  }
  EXPECT_GT(operations([] { sin(Counted(1.0)); }), 40u);
}

}  // namespace
