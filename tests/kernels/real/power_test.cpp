// log2, log10 and pow against MPFR.

#include "rattleback/real/power.hpp"

#include "comparison.hpp"

namespace rattleback {
namespace {

constexpr double tiny = std::numeric_limits<double>::denorm_min();

/// Arguments of logarithms.
template <class Compare>
void compare_logarithm(Compare& compare) {
  Random random(1);
  for (int i = 0; i < samples; ++i) compare.at(std::fabs(log_uniform(random, -1074.0, 1024.0)));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(0.5, 2.0));
  for (int i = 0; i < samples; ++i) compare.at(1.0 + log_uniform(random, -53.0, -1.0));
  // the ends of the significand's range and of the range of every power of two, subnormal ones included
  for (int k = -1073; k <= 1023; ++k)
    for (const double x : {std::ldexp(1.0, k), std::ldexp(std::sqrt(2.0), k)}) compare.around(x);
  compare.at(tiny);
  compare.at(std::numeric_limits<double>::max());
  compare.expect_below_one_ulp();
}

TEST(LogarithmToBase2, Error) {
  Comparison<> compare{"log2", [](double x) { return log2(x); }, mpfr_log2};
  compare_logarithm(compare);
}

TEST(LogarithmToBase10, Error) {
  Comparison<> compare{"log10", [](double x) { return log10(x); }, mpfr_log10};
  compare_logarithm(compare);
}

TEST(LogarithmsToBases, SpecialArguments) {
  for (const auto f : {+[](double x) { return log2(x); }, +[](double x) { return log10(x); }}) {
    EXPECT_TRUE(same_bits(f(1.0), 0.0));
    for (double zero : {0.0, -0.0}) EXPECT_EQ(f(zero), -infinity);
    EXPECT_EQ(f(infinity), infinity);
    for (double x : {-tiny, -1.0, -1e300, -infinity, nan}) EXPECT_TRUE(std::isnan(f(x))) << x;
  }
}

TEST(LogarithmsToBases, ArePowersExactly) {
  for (int k = -1074; k <= 1023; ++k) EXPECT_EQ(log2(std::ldexp(1.0, k)), k);
  double power = 1.0;
  for (int k = 0; k <= 22; ++k, power *= 10.0) EXPECT_EQ(log10(power), k);
}

/// Draws b such that a^b is e^x with x between low and high.
double exponent_for(Random& random, double a, double low, double high) {
  return random.uniform(low, high) / std::log(a);
}

TEST(Power, Error) {
  Comparison<2> compare{"pow", [](double a, double b) { return pow(a, b); }, mpfr_pow};
  Random random(2);
  const auto any = [&](double a) { compare.at(a, exponent_for(random, a, -746.0, 710.0)); };
  const auto extreme = [&](double a) {
    compare.at(a, random.bits() & 1 ? exponent_for(random, a, 680.0, 710.0) : exponent_for(random, a, -746.0, -680.0));
  };
  for (int i = 0; i < samples / 2; ++i)
    compare.at(std::fabs(log_uniform(random, -10.0, 10.0)), random.uniform(-50.0, 50.0));
  for (int i = 0; i < samples / 2; ++i) any(std::fabs(log_uniform(random, -1074.0, 1024.0)));
  for (int i = 0; i < samples / 2; ++i) any(random.uniform(0.5, 2.0));
  for (int i = 0; i < samples / 2; ++i) extreme(1.0 + log_uniform(random, -52.0, -1.5));
  // the ends of the significand's range, where the logarithm is least precise
  for (int i = 0; i < samples / 2; ++i) extreme(random.uniform(1.38, 1.42));
  for (int i = 0; i < samples / 2; ++i) extreme(random.uniform(0.7, 0.72));
  // subnormal powers, and powers near 1
  for (int i = 0; i < samples / 2; ++i) {
    const double a = std::fabs(log_uniform(random, -1074.0, 1024.0));
    compare.at(a, exponent_for(random, a, -746.0, -708.0));
    compare.at(a, log_uniform(random, -80.0, -5.0));
  }
  compare.expect_below_one_ulp();
}

TEST(Power, ErrorOfNegativeNumbers) {
  Comparison<2> compare{"pow of negative numbers", [](double a, double b) { return pow(a, b); }, mpfr_pow};
  Random random(3);
  for (int i = 0; i < samples / 2; ++i)
    compare.at(-std::fabs(log_uniform(random, -20.0, 20.0)), std::floor(random.uniform(-40.0, 40.0)));
  compare.expect_below_one_ulp();
}

// The C++ library has the special values of C99, annex F. Its other values may be the doubles next to those here.
TEST(Power, SpecialArguments) {
  const double special[] = {0.0,    tiny,         0x1p-1022, 1e-300, 0.5,          std::nextafter(1.0, 0.0),
                            1.0,    1.5,          2.0,       3.0,    0x1p51 + 0.5, 0x1p52 + 1.0,
                            0x1p53, 0x1p53 + 2.0, 0x1p70,    1e300,  infinity,     nan};
  for (double size_a : special)
    for (double size_b : special)
      for (double a : {size_a, -size_a})
        for (double b : {size_b, -size_b}) {
          const double expected = std::pow(a, b), power = pow(a, b);
          const bool next = std::isfinite(expected) && expected != 0.0 &&
                            std::fabs(power - expected) <= std::max(tiny, 0x1p-52 * std::fabs(expected));
          EXPECT_TRUE(next || same_bits(power, expected)) << a << ' ' << b << ": " << power << ' ' << expected;
        }
}

TEST(Power, ExactPowers) {
  for (int k = -1074; k <= 1023; ++k) EXPECT_EQ(pow(2.0, double(k)), std::ldexp(1.0, k));
  for (int a = -30; a <= 30; ++a) {
    double power = a;
    for (int b = 1; b <= 10; ++b, power *= a) EXPECT_EQ(pow(double(a), double(b)), power) << a << ' ' << b;
  }
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const double a = std::fabs(log_uniform(random, -1074.0, 1024.0));
    EXPECT_EQ(pow(a, 1.0), a);
    EXPECT_EQ(pow(a, 0.0), 1.0);
  }
}

}  // namespace
}  // namespace rattleback
