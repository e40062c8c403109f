// sin, cos, exp, log and atan against MPFR.

#include "rattleback/real/elementary.hpp"

#include "comparison.hpp"

namespace rattleback {
namespace {

using Mp = Multiprecision<128>;

struct Trigonometric {
  Comparison<> sine{"sin", [](double x) { return sin(x); }, mpfr_sin};
  Comparison<> cosine{"cos", [](double x) { return cos(x); }, mpfr_cos};
  void at(double x) {
    sine.at(x);
    cosine.at(x);
  }
  ~Trigonometric() {
    sine.expect_below_one_ulp();
    cosine.expect_below_one_ulp();
  }
};

TEST(SineCosine, ErrorOfUniformAngles) {
  Trigonometric compare;
  Random random(1);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-largest_angle, largest_angle));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-10.0, 10.0));
}

TEST(SineCosine, ErrorOfLogUniformAngles) {
  Trigonometric compare;
  Random random(2);
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -60.0, 30.0));
  for (int i = 0; i < samples / 10; ++i) compare.at(log_uniform(random, -1074.0, -60.0));
  compare.at(largest_angle);
  compare.at(-largest_angle);
}

TEST(SineCosine, ErrorNextToMultiplesOfHalfPi) {
  Trigonometric compare;
  Random random(3);
  for (int i = 0; i < samples / 4; ++i) {
    const double n = i < 1000 ? i + 1.0 : std::floor(random.uniform(1.0, largest_angle / 1.5708));
    const double x = half_pi_times(n);
    for (double y : {std::nextafter(x, 0.0), x, std::nextafter(x, infinity)}) compare.at(y);
    // the quadrants meet at odd multiples of pi/4
    compare.at(half_pi_times(n + 0.5));
  }
}

TEST(SineCosine, ErrorOfTheHardestAngles) {
  Trigonometric compare;
  for_hardest_angles([&](double x) { compare.at(x); });
}

TEST(SineCosine, SpecialArguments) {
  EXPECT_TRUE(same_bits(sin(0.0), 0.0));
  EXPECT_TRUE(same_bits(sin(-0.0), -0.0));
  for (double zero : {0.0, -0.0}) EXPECT_EQ(cos(zero), 1.0);
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (double x : {tiny, -tiny}) EXPECT_EQ(sin(x), x);
  for (double x : {nan, infinity, -infinity, std::nextafter(largest_angle, infinity), -1e300}) {
    EXPECT_TRUE(std::isnan(sin(x))) << x;
    EXPECT_TRUE(std::isnan(cos(x))) << x;
  }
}

TEST(SineCosine, TogetherAndApartAreTheSame) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const double x = log_uniform(random, -20.0, 30.0);
    double s, c;
    sincos(x, s, c);
    EXPECT_EQ(s, sin(x));
    EXPECT_EQ(c, cos(x));
    EXPECT_EQ(sin(-x), -s);
    EXPECT_EQ(cos(-x), c);
  }
}

TEST(Exponential, Error) {
  Comparison<> compare{"exp", [](double x) { return exp(x); }, mpfr_exp};
  Random random(5);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-746.0, 710.0));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-1.0, 1.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -70.0, 9.4));
  for (int i = 0; i < samples / 10; ++i) compare.at(random.uniform(-746.0, -708.0));
  for (int i = 0; i < samples / 10; ++i) compare.at(random.uniform(709.7, 709.8));
  // where the reduction changes its integer
  for (int k = -1075; k <= 1024; ++k) {
    const double x = double((Mp(k) + Mp(0.5)) * Mp::call(mpfr_log, Mp(2.0)));
    for (double y : {std::nextafter(x, -infinity), x, std::nextafter(x, infinity)}) compare.at(y);
  }
  compare.expect_below_one_ulp();
}

TEST(Exponential, SpecialArguments) {
  for (double zero : {0.0, -0.0}) EXPECT_EQ(exp(zero), 1.0);
  for (double x : {709.79, 710.0, 711.0, 1e300, infinity}) EXPECT_EQ(exp(x), infinity) << x;
  for (double x : {-745.2, -746.0, -747.0, -1e300, -infinity}) EXPECT_TRUE(same_bits(exp(x), 0.0)) << x;
  EXPECT_EQ(exp(-745.13), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::isnan(exp(nan)));
}

TEST(Logarithm, Error) {
  Comparison<> compare{"log", [](double x) { return log(x); }, mpfr_log};
  Random random(7);
  for (int i = 0; i < samples; ++i) compare.at(std::fabs(log_uniform(random, -1074.0, 1024.0)));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(0.5, 2.0));
  for (int i = 0; i < samples; ++i) compare.at(1.0 + log_uniform(random, -53.0, -1.0));
  // the ends of the significand's range and of the range of every power of two, subnormal ones included
  for (int k = -1074; k <= 1023; ++k)
    for (const double x : {std::ldexp(1.0, k), std::ldexp(std::sqrt(2.0), k)})
      for (const double y : {std::nextafter(x, 0.0), x, std::nextafter(x, infinity)})
        if (y > 0.0 && y < infinity) compare.at(y);
  compare.at(std::numeric_limits<double>::max());
  compare.expect_below_one_ulp();
}

TEST(Logarithm, SpecialArguments) {
  EXPECT_TRUE(same_bits(log(1.0), 0.0));
  for (double zero : {0.0, -0.0}) EXPECT_EQ(log(zero), -infinity);
  EXPECT_EQ(log(infinity), infinity);
  for (double x : {-std::numeric_limits<double>::denorm_min(), -1.0, -1e300, -infinity, nan})
    EXPECT_TRUE(std::isnan(log(x))) << x;
}

TEST(Arctangent, Error) {
  Comparison<> compare{"atan", [](double x) { return atan(x); }, mpfr_atan};
  Random random(8);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-4.0, 4.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -70.0, 70.0));
  for (int i = 0; i < samples / 10; ++i) compare.at(log_uniform(random, -1022.0, 1024.0));
  // where the reduction changes its base
  for (const double x : {0.4375, 0.6875, 1.1875, 2.4375})
    for (const double y : {std::nextafter(x, 0.0), x, std::nextafter(x, infinity)}) compare.at(y);
  compare.expect_below_one_ulp();
}

TEST(Arctangent, SpecialArguments) {
  for (double zero : {0.0, -0.0}) EXPECT_TRUE(same_bits(atan(zero), zero));
  const double half_pi = 1.5707963267948966;
  for (double x : {1e300, infinity}) {
    EXPECT_EQ(atan(x), half_pi);
    EXPECT_EQ(atan(-x), -half_pi);
  }
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(atan(-tiny), -tiny);
  EXPECT_TRUE(std::isnan(atan(nan)));
}

TEST(NearestWholeNumber, IsExact) {
  Random random(9);
  const auto expect = [](double x) {
    const double below = std::floor(x);
    EXPECT_TRUE(same_bits(rint(x), (x - below >= 0.5 ? below + 1.0 : below) + 0.0)) << x;
  };
  for (int i = 0; i < samples; ++i) expect(random.uniform(-4.0, 4.0)), expect(log_uniform(random, -1074.0, 1024.0));
  for (const double x : {0.49999999999999994, 0.5, 0.5000000000000001, 1.5, 2.5, 0x1p51 + 0.5, 0x1p52 - 0.5,
                         0x1p52 + 1.0, 0.0, infinity})
    expect(x), expect(-x);
  EXPECT_TRUE(std::isnan(rint(nan)));
}

TEST(Hypotenuse, HasNoSquares) {
  Random random(10);
  for (int i = 0; i < samples / 10; ++i) {
    const double a = log_uniform(random, -1000.0, 1000.0), b = a * random.uniform(-2.0, 2.0);
    EXPECT_NEAR(hypot(a, b) / std::hypot(a, b), 1.0, 0x1p-51) << a << ' ' << b;
  }
  for (const double a : {0.0, 1.0, 1e300, infinity})
    for (const double b : {0.0, 1.0, 1e-300, infinity}) EXPECT_EQ(hypot(-a, b), std::hypot(a, b)) << a << ' ' << b;
  EXPECT_TRUE(std::isnan(hypot(nan, 1.0)) && std::isnan(hypot(1.0, nan)));
}

// f, f' and f'' at once, from dual numbers over dual numbers.
TEST(Derivatives, OfElementaryFunctions) {
  using Dual2 = Dual<Dual<double, 1>, 1>;
  struct Jet {
    double value, first, second;
  };
  const auto expect = [](const Dual2& y, const Jet& jet) {
    EXPECT_EQ(y.value.value, jet.value);
    EXPECT_EQ(y.value.partial[0], jet.first);
    EXPECT_EQ(y.partial[0].value, jet.first);
    EXPECT_EQ(y.partial[0].partial[0], jet.second);
  };
  Random random(6);
  for (int i = 0; i < 1000; ++i) {
    const double x = random.uniform(-20.0, 20.0);
    const Dual2 d(Dual<double, 1>(x, 0), 0);
    const Jet sine{sin(x), cos(x), -sin(x)}, cosine{cos(x), -sin(x), -cos(x)};
    expect(sin(d), sine);
    expect(cos(d), cosine);
    Dual2 s, c;
    sincos(d, s, c);
    expect(s, sine);
    expect(c, cosine);
    expect(exp(d), {exp(x), exp(x), exp(x)});
    const double y = std::fabs(x), inverse = 1.0 / y;
    expect(log(Dual2(Dual<double, 1>(y, 0), 0)), {log(y), inverse, -inverse * inverse});
    const double slope = 1.0 / fma(x, x, 1.0);
    EXPECT_EQ(atan(d).partial[0].value, slope);
    EXPECT_NEAR(atan(d).partial[0].partial[0], -2.0 * x * slope * slope, 1e-15);
  }
}

}  // namespace
}  // namespace rattleback
