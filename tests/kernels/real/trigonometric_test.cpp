// tan, asin, acos and atan2 against MPFR.

#include "rattleback/real/trigonometric.hpp"

#include "comparison.hpp"

namespace rattleback {
namespace {

const double half_pi = half_pi_times(1.0);
constexpr double tiny = std::numeric_limits<double>::denorm_min();

TEST(Tangent, Error) {
  Comparison<> compare{"tan", [](double x) { return tan(x); }, mpfr_tan};
  Random random(1);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-largest_angle, largest_angle));
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-4.0, 4.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -60.0, 30.0));
  for (int i = 0; i < samples / 10; ++i) compare.at(log_uniform(random, -1074.0, -60.0));
  // next to zeros and poles, and where they are equally far
  for (int i = 0; i < samples / 4; ++i) {
    const double n = i < 1000 ? i : std::floor(random.uniform(1.0, largest_angle / 1.5708));
    if (n > 0.0) compare.around(half_pi_times(n));
    compare.around(half_pi_times(n + 0.5));
  }
  for_hardest_angles([&](double x) { compare.at(x); });
  compare.at(largest_angle);
  compare.expect_below_one_ulp();
}

TEST(Tangent, SpecialArguments) {
  for (double zero : {0.0, -0.0}) EXPECT_TRUE(same_bits(tan(zero), zero));
  for (double x : {tiny, -tiny, 0x1p-1022}) EXPECT_EQ(tan(x), x);
  for (double x : {nan, infinity, -infinity, std::nextafter(largest_angle, infinity), -1e300})
    EXPECT_TRUE(std::isnan(tan(x))) << x;
  for (double x : {0.3, 2.0, 1e6}) EXPECT_EQ(tan(-x), -tan(x));
}

/// Arguments of asin and acos.
template <class Compare>
void compare_arcs(Compare& compare) {
  Random random(2);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-1.0, 1.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -60.0, 0.0));
  for (int i = 0; i < samples / 10; ++i) compare.at(log_uniform(random, -1074.0, -60.0));
  for (int i = 0; i < samples; ++i) {
    const double distance = log_uniform(random, -53.0, -1.0);
    compare.at(distance < 0.0 ? -1.0 - distance : 1.0 - distance);
  }
  // where the reduction changes
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(0.49, 0.51) * (i & 1 ? 1.0 : -1.0));
  for (double x : {0.5, -0.5}) compare.around(x);
  for (double x : {1.0, -1.0}) compare.at(x);
  compare.expect_below_one_ulp();
}

TEST(Arcsine, Error) {
  Comparison<> compare{"asin", [](double x) { return asin(x); }, mpfr_asin};
  compare_arcs(compare);
}

TEST(Arcsine, SpecialArguments) {
  for (double zero : {0.0, -0.0}) EXPECT_TRUE(same_bits(asin(zero), zero));
  for (double x : {tiny, -tiny}) EXPECT_EQ(asin(x), x);
  EXPECT_EQ(asin(1.0), half_pi);
  EXPECT_EQ(asin(-1.0), -half_pi);
  for (double x : {nan, infinity, -infinity, std::nextafter(1.0, 2.0), -1.5}) EXPECT_TRUE(std::isnan(asin(x))) << x;
}

TEST(Arccosine, Error) {
  Comparison<> compare{"acos", [](double x) { return acos(x); }, mpfr_acos};
  compare_arcs(compare);
}

TEST(Arccosine, SpecialArguments) {
  EXPECT_TRUE(same_bits(acos(1.0), 0.0));
  EXPECT_EQ(acos(-1.0), 2.0 * half_pi);
  for (double x : {0.0, -0.0, tiny, -tiny}) EXPECT_EQ(acos(x), half_pi);
  for (double x : {nan, infinity, -infinity, std::nextafter(1.0, 2.0), -1.5}) EXPECT_TRUE(std::isnan(acos(x))) << x;
}

TEST(ArctangentOfTwo, Error) {
  Comparison<2> compare{"atan2", [](double y, double x) { return atan2(y, x); }, mpfr_atan2};
  Random random(3);
  for (int i = 0; i < samples; ++i) compare.at(random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0));
  for (int i = 0; i < samples; ++i) compare.at(log_uniform(random, -30.0, 30.0), log_uniform(random, -30.0, 30.0));
  for (int i = 0; i < samples; ++i)
    compare.at(log_uniform(random, -1074.0, 1024.0), log_uniform(random, -1074.0, 1024.0));
  // quotients down to the smallest, at any scale
  for (int i = 0; i < samples; ++i) {
    const double x = log_uniform(random, -1074.0, 1024.0);
    compare.at(x * std::fabs(log_uniform(random, -1074.0, 0.0)), std::fabs(x));
  }
  // where the base of the reduction changes
  for (int i = 0; i < samples; ++i) {
    const double x = log_uniform(random, -1.0, 1.0), y = x * random.uniform(0.4, 0.73);
    compare.at(y, x);
    compare.at(x, y);
  }
  for (double y : {tiny, 3.0 * tiny, 0x1p-1022, 0x1.fffffffffffffp1023})
    for (double x : {tiny, 5.0 * tiny, 0x1p-1022, 1.0, 0x1.fffffffffffffp1023}) {
      compare.at(y, x);
      compare.at(y, -x);
    }
  compare.expect_below_one_ulp();
}

// The C++ library has the special values of C99, annex F.
TEST(ArctangentOfTwo, SpecialArguments) {
  const double special[] = {0.0, -0.0, 1.0, -1.0, tiny, -tiny, 1e300, -1e300, infinity, -infinity, nan};
  for (double y : special)
    for (double x : special) EXPECT_TRUE(same_bits(atan2(y, x), std::atan2(y, x))) << y << ' ' << x;
}

}  // namespace
}  // namespace rattleback
