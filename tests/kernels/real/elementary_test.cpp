// sin, cos, exp, log and atan against MPFR: errors in units in the last place of the exact result.

#include "rattleback/real/elementary.hpp"

#include <cstdio>

#include "multiprecision.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

using Mp = Multiprecision<128>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double largest_angle = 0x1p30;
constexpr int samples = 200000;

/// A function of the kernels and the one of MPFR, with the largest error met.
class Comparison {
 public:
  using Exact = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
  Comparison(const char* name, double (*f)(double), Exact exact) : name_(name), f_(f), exact_(exact) {}

  void at(double x) {
    // an overflow counts as 2^1024, the number that would follow the largest double
    const Mp next_to_largest = Mp(0x1p1023) * Mp(2.0);
    const double y = f_(x);
    Mp exact = Mp::call(exact_, Mp(x));
    if (next_to_largest < exact) exact = next_to_largest;
    const Mp difference = (y == infinity ? next_to_largest : Mp(y)) - exact;
    const double error = std::fabs(double(difference / Mp(exact.ulp())));
    if (!(error <= worst_)) {
      worst_ = error;
      where_ = x;
    }
  }
  void expect_below_one_ulp() const {
    std::printf("%s: largest error %.4f ulp, at %a\n", name_, worst_, where_);
    EXPECT_LT(worst_, 1.0) << name_ << " at " << where_;
  }

 private:
  const char* name_;
  double (*f_)(double);
  Exact exact_;
  double worst_ = 0.0, where_ = 0.0;
};

struct Trigonometric {
  Comparison sine{"sin", [](double x) { return sin(x); }, mpfr_sin};
  Comparison cosine{"cos", [](double x) { return cos(x); }, mpfr_cos};
  void at(double x) {
    sine.at(x);
    cosine.at(x);
  }
  ~Trigonometric() {
    sine.expect_below_one_ulp();
    cosine.expect_below_one_ulp();
  }
};

/// Sign random, magnitude log-uniform in [2^low, 2^high].
double log_uniform(Random& random, double low, double high) {
  const double magnitude = std::exp2(random.uniform(low, high));
  return random.bits() & 1 ? magnitude : -magnitude;
}

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
  const Mp half_pi = Mp::pi() / Mp(2.0);
  for (int i = 0; i < samples / 4; ++i) {
    const double n = i < 1000 ? i + 1.0 : std::floor(random.uniform(1.0, largest_angle / 1.5708));
    const double x = double(Mp(n) * half_pi);
    for (double y : {std::nextafter(x, 0.0), x, std::nextafter(x, infinity)}) compare.at(y);
    // the quadrants meet at odd multiples of pi/4
    compare.at(double(Mp(n + 0.5) * half_pi));
  }
}

// The doubles p 2^k closest to a multiple of pi/2 have p from the convergents of the continued fraction of
// pi / 2^(k+1).
TEST(SineCosine, ErrorOfTheHardestAngles) {
  using Precise = Multiprecision<400>;
  Trigonometric compare;
  for (int k = -52; k <= 29; ++k) {
    Precise rest = Precise::pi() / Precise(std::ldexp(2.0, k));
    double p = 1.0, p_before = 0.0;
    while (true) {
      const double digit = double(Precise::call([](auto r, auto x, mpfr_rnd_t) { mpfr_floor(r, x); }, rest));
      const double p_next = digit * p + p_before;
      p_before = p;
      p = p_next;
      if (p >= 0x1p53 || std::ldexp(p, k) > largest_angle) break;
      compare.at(std::ldexp(p, k));
      compare.at(-std::ldexp(p, k));
      rest = Precise(1.0) / (rest - Precise(digit));
    }
    // the significand of the double closest to a multiple of pi/2 of all, at exponents in range
    if (k <= -23) compare.at(std::ldexp(6381956970095103.0, k));
  }
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
  Comparison compare{"exp", [](double x) { return exp(x); }, mpfr_exp};
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
  Comparison compare{"log", [](double x) { return log(x); }, mpfr_log};
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
  Comparison compare{"atan", [](double x) { return atan(x); }, mpfr_atan};
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
