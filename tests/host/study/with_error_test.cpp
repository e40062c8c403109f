#include "rattleback/study/with_error.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace rattleback {
namespace with_error_test {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(WithError, HasTwoDigitsOfTheError) {
  EXPECT_EQ(with_error(3.8123e-5, 1.94e-6), "3.81(19)e-05");
  EXPECT_EQ(with_error(-3.8123e-5, 1.94e-6), "-3.81(19)e-05");
  EXPECT_EQ(with_error(6.2041e-2, 2.7e-3), "0.0620(27)");
  EXPECT_EQ(with_error(0.0950241e-3, 0.0022e-3), "9.50(22)e-05");
  EXPECT_EQ(with_error(1.0, 0.5), "1.00(50)");
  EXPECT_EQ(with_error(12.345, 0.0067), "12.3450(67)");
  EXPECT_EQ(with_error(6.02214076e23, 1.2e16), "6.02214076(12)e+23");
}

TEST(WithError, WritesTheExponentWhereZerosWouldFill) {
  EXPECT_EQ(with_error(1.234e-4, 5.6e-6), "0.0001234(56)");
  EXPECT_EQ(with_error(9.876e-5, 5.6e-7), "9.876(56)e-05");
  EXPECT_EQ(with_error(123456.0, 78.0), "123456(78)");
  EXPECT_EQ(with_error(123456.0, 780.0), "1.2346(78)e+05");
  EXPECT_EQ(with_error(1234567.0, 78.0), "1.234567(78)e+06");
  EXPECT_EQ(with_error(1e-120, 2.5e-122), "1.000(25)e-120");
}

TEST(WithError, WritesTheErrorInUnitsOfTheLastPlace) {
  EXPECT_EQ(with_error(1234.5, 1.0), "1234.5(10)");
  EXPECT_EQ(with_error(12.34, 1.9), "12.3(19)");
  EXPECT_EQ(with_error(3.81e-5, 1.9e-5), "3.8(19)e-05");
  EXPECT_EQ(with_error(123.0, 19.0), "123(19)");
}

TEST(WithError, TakesErrorsLargerThanTheValue) {
  EXPECT_EQ(with_error(1.2e-6, 3.4e-5), "0.1(34)e-05");
  EXPECT_EQ(with_error(-1.2e-6, 3.4e-5), "-0.1(34)e-05");
  EXPECT_EQ(with_error(0.002, 0.034), "0.002(34)");
  EXPECT_EQ(with_error(1.0, 1e30), "0.0(10)e+30");
  EXPECT_EQ(with_error(0.6, 12.0), "1(12)");
  EXPECT_EQ(with_error(0.4, 12.0), "0(12)");
  EXPECT_EQ(with_error(0.04, 12.0), "0(12)");
  EXPECT_EQ(with_error(4.4e-6, 1.2e-4), "0.00000(12)");
}

TEST(WithError, HasNoMinusBeforeZeros) {
  EXPECT_EQ(with_error(-1e-9, 3.4e-5), "0.0(34)e-05");
  EXPECT_EQ(with_error(-0.0, 0.5), "0.00(50)");
}

TEST(WithError, CarriesWhenItRounds) {
  EXPECT_EQ(with_error(1.0, 0.0996), "1.00(10)");
  EXPECT_EQ(with_error(9.996, 0.1), "10.00(10)");
  EXPECT_EQ(with_error(9.996e-6, 1.0e-7), "1.000(10)e-05");
  EXPECT_EQ(with_error(9.9996e-5, 1.0e-6), "0.0001000(10)");
  EXPECT_EQ(with_error(0.96, 9.96), "1(10)");
}

TEST(WithError, TakesZeros) {
  EXPECT_EQ(with_error(0.0, 0.0), "0(0)");
  EXPECT_EQ(with_error(0.0, 0.034), "0.000(34)");
  EXPECT_EQ(with_error(0.0, 3.4e-7), "0.0(34)e-07");
  EXPECT_EQ(with_error(0.1, 0.0), "0.1(0)");
  EXPECT_EQ(with_error(-1.5e-7, 0.0), "-1.5(0)e-07");
}

TEST(WithError, SaysWhatIsNotANumber) {
  EXPECT_EQ(with_error(nan, 0.1), "nan");
  EXPECT_EQ(with_error(-nan, nan), "nan");
  EXPECT_EQ(with_error(3.8123456789e-5, nan), "3.8123456789e-05");
  EXPECT_EQ(with_error(infinity, 0.1), "inf");
  EXPECT_EQ(with_error(-infinity, nan), "-inf");
  EXPECT_EQ(with_error(infinity, infinity), "inf");
  EXPECT_EQ(with_error(2.5, infinity), "2.5 +- inf");
  EXPECT_EQ(with_error(2.5e-9, infinity), "2.5e-09 +- inf");
}

TEST(WithError, EndsWhereTheDigitsOfADoubleEnd) {
  EXPECT_EQ(with_error(1.0, 1e-30), "1 +- 1e-30");
  EXPECT_EQ(with_error(1.0, 3.2e-16), "1 +- 3.2e-16");
  EXPECT_EQ(with_error(1.0, 3.2e-15), "1.0000000000000000(32)");
  EXPECT_EQ(with_error(-0.1, 1e-30), "-0.1 +- 1e-30");
  EXPECT_EQ(with_error(2.0, -0.25), "2.00(25)");  // the sign of an error does not count
}

TEST(WithError, TakesTheExtremes) {
  constexpr double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(with_error(most, most), "1.8(18)e+308");
  EXPECT_EQ(with_error(least, least), "4.9(49)e-324");
  EXPECT_EQ(with_error(most, least), "1.7976931348623157e+308 +- 4.9e-324");
  EXPECT_EQ(with_error(least, most), "0.0(18)e+308");
}

/// Reads the form back: value, error and the unit of the last digit.
struct Read {
  long double value, error, unit;
  std::string error_digits;
};
Read read(const std::string& text) {
  const std::size_t open = text.find('('), close = text.find(')');
  const std::string value = text.substr(0, open), error = text.substr(open + 1, close - open - 1);
  const std::string power = text.substr(close + 1);
  const std::size_t point = value.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : value.size() - point - 1;
  const long double scale = power.empty() ? 1.0L : std::strtold(("1" + power).c_str(), nullptr);
  const long double unit = std::strtold(("1e-" + std::to_string(decimals)).c_str(), nullptr) * scale;
  return {std::strtold(value.c_str(), nullptr) * scale, std::strtold(error.c_str(), nullptr) * unit, unit, error};
}

TEST(WithError, IsRoundedToHalfAUnit) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> decade(-30.0, 30.0), above(-3.0, 12.0);
  for (int i = 0; i < 100'000; ++i) {
    const double error = std::pow(10.0, decade(random));
    const double value = (i % 2 ? 1.0 : -1.0) * error * std::pow(10.0, above(random));
    const std::string text = with_error(value, error);
    const Read found = read(text);
    const long double half = 0.5L * found.unit * (1.0L + 1e-3L);
    ASSERT_LE(std::abs(found.value - static_cast<long double>(value)), half) << text << ' ' << value << ' ' << error;
    ASSERT_LE(std::abs(found.error - static_cast<long double>(error)), half) << text << ' ' << value << ' ' << error;
    ASSERT_EQ(found.error_digits.size(), 2u) << text;
    ASSERT_NE(found.error_digits[0], '0') << text;
  }
}

}  // namespace with_error_test
}  // namespace rattleback
