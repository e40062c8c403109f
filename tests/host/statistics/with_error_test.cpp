#include "rattleback/statistics/with_error.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

using rattleback::with_error;

namespace {

TEST(WithError, HasTwoDigitsOfTheError) {
  EXPECT_EQ(with_error(3.8123e-5, 1.93e-6), "3.81(19)e-05");
  EXPECT_EQ(with_error(-3.8123e-5, 1.93e-6), "-3.81(19)e-05");
  EXPECT_EQ(with_error(1.2345678, 0.0123), "1.235(12)");
  EXPECT_EQ(with_error(1234.5, 1.0), "1234.5(10)");
  EXPECT_EQ(with_error(123456789.0, 4321.0), "1.234568(43)e+08");
  EXPECT_EQ(with_error(0.99999, 0.00996), "1.000(10)");  // the error rounds up to 0.010
  EXPECT_EQ(with_error(0.0950241e-3, 0.0022e-3), "9.50(22)e-05");
  EXPECT_EQ(with_error(9.99999e-7, 1.0e-9), "1.0000(10)e-06");
}

TEST(WithError, KeepsErrorsLargerThanTheValue) {
  EXPECT_EQ(with_error(0.0, 0.0123), "0.000(12)");
  EXPECT_EQ(with_error(1e-9, 2.5e-3), "0.0000(25)");
  EXPECT_EQ(with_error(3.0e-8, 2.0e-6), "0.0(20)e-06");
}

TEST(WithError, ShowsAllDigitsWithoutAnError) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(with_error(0.1, std::nan("")), "0.10000000000000001");
  EXPECT_EQ(with_error(0.5, 0.0), "0.5(0)");
  EXPECT_EQ(with_error(infinity, 1.0), "inf");
  EXPECT_EQ(with_error(std::nan(""), 1.0), "nan");
  EXPECT_EQ(with_error(2.0, infinity), "2 +- inf");
  EXPECT_EQ(with_error(1.0, 1e-30), "1 +- 1e-30");
}

}  // namespace
