// Hyperbolic functions and their inverses against MPFR.

#include "rattleback/real/hyperbolic.hpp"

#include "comparison.hpp"

namespace rattleback {
namespace {

constexpr double tiny = std::numeric_limits<double>::denorm_min();

/// Arguments of sinh, cosh and tanh.
template <class Compare>
void compare_hyperbolic(Compare& compare) {
  Random random(1);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-711.0, 711.0));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-3.0, 3.0));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-25.0, 25.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -60.0, 9.4));
  for (int i = 0; i < samples / 10; ++i) compare.at(log_uniform(random, -1074.0, -60.0));
  for (int i = 0; i < samples / 10; ++i) compare.at(random.uniform(710.4, 710.5));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(0.34, 0.38));
  // where the reduction changes its integer
  for (int k = 0; k <= 1025; ++k) compare.around((k + 0.5) * std::log(2.0));
  compare.expect_below_one_ulp();
}

TEST(Hyperbolic, ErrorOfTheSine) {
  Comparison<> compare{"sinh", [](double x) { return sinh(x); }, mpfr_sinh};
  compare_hyperbolic(compare);
}

TEST(Hyperbolic, ErrorOfTheCosine) {
  Comparison<> compare{"cosh", [](double x) { return cosh(x); }, mpfr_cosh};
  compare_hyperbolic(compare);
}

TEST(Hyperbolic, ErrorOfTheTangent) {
  Comparison<> compare{"tanh", [](double x) { return tanh(x); }, mpfr_tanh};
  compare_hyperbolic(compare);
}

TEST(Hyperbolic, SpecialArguments) {
  for (double zero : {0.0, -0.0}) {
    EXPECT_TRUE(same_bits(sinh(zero), zero));
    EXPECT_TRUE(same_bits(tanh(zero), zero));
    EXPECT_EQ(cosh(zero), 1.0);
  }
  for (double x : {tiny, -tiny, 3.0 * tiny, 0x1p-1022}) {
    EXPECT_EQ(sinh(x), x);
    EXPECT_EQ(tanh(x), x);
    EXPECT_EQ(cosh(x), 1.0);
  }
  for (double x : {710.5, 712.0, 1e300, infinity}) {
    EXPECT_EQ(sinh(x), infinity) << x;
    EXPECT_EQ(sinh(-x), -infinity) << x;
    EXPECT_EQ(cosh(x), infinity) << x;
    EXPECT_EQ(cosh(-x), infinity) << x;
    EXPECT_EQ(tanh(x), 1.0) << x;
    EXPECT_EQ(tanh(-x), -1.0) << x;
  }
  EXPECT_TRUE(std::isnan(sinh(nan)));
  EXPECT_TRUE(std::isnan(cosh(nan)));
  EXPECT_TRUE(std::isnan(tanh(nan)));
}

TEST(Hyperbolic, TogetherAndApartAreTheSame) {
  Random random(2);
  for (int i = 0; i < 1000; ++i) {
    const double x = log_uniform(random, -20.0, 9.0);
    double s, c;
    sinhcosh(x, s, c);
    EXPECT_EQ(s, sinh(x));
    EXPECT_EQ(c, cosh(x));
    EXPECT_EQ(sinh(-x), -s);
    EXPECT_EQ(cosh(-x), c);
    EXPECT_EQ(tanh(-x), -tanh(x));
  }
}

TEST(InverseHyperbolic, ErrorOfTheSine) {
  Comparison<> compare{"asinh", [](double x) { return asinh(x); }, mpfr_asinh};
  Random random(3);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-3.0, 3.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -40.0, 40.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -1074.0, 1024.0));
  // where the formulas change: sinh(ln(2)/2), 2^30
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(0.34, 0.37));
  for (int k = 0; k <= 1024; ++k) compare.around(std::sinh(std::min((k + 0.5) * std::log(2.0), 710.0)));
  compare.around(0x1p30);
  compare.at(std::numeric_limits<double>::max());
  compare.expect_below_one_ulp();
}

TEST(InverseHyperbolic, ErrorOfTheCosine) {
  Comparison<> compare{"acosh", [](double x) { return acosh(x); }, mpfr_acosh};
  Random random(4);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(1.0, 4.0));
  for (int i = 0; i < samples; ++i) compare.at(1.0 + std::fabs(log_uniform(random, -53.0, 1.0)));
  for (int i = 0; i < samples; ++i) compare.at(std::fabs(log_uniform(random, 0.0, 40.0)));
  for (int i = 0; i < samples; ++i) compare.at(std::fabs(log_uniform(random, 0.0, 1024.0)));
  for (int k = 0; k <= 1024; ++k) compare.around(std::cosh(std::min((k + 0.5) * std::log(2.0), 710.0)));
  compare.around(0x1p30);
  compare.at(1.0);
  compare.at(std::numeric_limits<double>::max());
  compare.expect_below_one_ulp();
}

TEST(InverseHyperbolic, ErrorOfTheTangent) {
  Comparison<> compare{"atanh", [](double x) { return atanh(x); }, mpfr_atanh};
  Random random(5);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-1.0, 1.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -60.0, -0.01));
  for (int i = 0; i < samples / 10; ++i) compare.at(log_uniform(random, -1074.0, -60.0));
  for (int i = 0; i < samples; ++i) {
    const double distance = log_uniform(random, -53.0, -1.0);
    compare.at(distance < 0.0 ? -1.0 - distance : 1.0 - distance);
  }
  // where the reduction changes
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(0.16, 0.19));
  for (int k = 0; k < 53; ++k) compare.around(std::tanh((k + 0.5) * 0.5 * std::log(2.0)));
  compare.expect_below_one_ulp();
}

TEST(InverseHyperbolic, SpecialArguments) {
  for (double zero : {0.0, -0.0}) {
    EXPECT_TRUE(same_bits(asinh(zero), zero));
    EXPECT_TRUE(same_bits(atanh(zero), zero));
  }
  for (double x : {tiny, -tiny, 3.0 * tiny, 0x1p-1022}) {
    EXPECT_EQ(asinh(x), x);
    EXPECT_EQ(atanh(x), x);
  }
  EXPECT_EQ(asinh(infinity), infinity);
  EXPECT_EQ(asinh(-infinity), -infinity);
  EXPECT_TRUE(same_bits(acosh(1.0), 0.0));
  EXPECT_EQ(acosh(infinity), infinity);
  EXPECT_EQ(atanh(1.0), infinity);
  EXPECT_EQ(atanh(-1.0), -infinity);
  EXPECT_TRUE(std::isnan(asinh(nan)));
  for (double x : {nan, 0.0, std::nextafter(1.0, 0.0), -2.0, -infinity}) EXPECT_TRUE(std::isnan(acosh(x))) << x;
  for (double x : {nan, std::nextafter(1.0, 2.0), -2.0, infinity, -infinity}) EXPECT_TRUE(std::isnan(atanh(x))) << x;
}

}  // namespace
}  // namespace rattleback
