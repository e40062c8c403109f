#pragma once

#include <limits>
#include <string>

namespace rattleback {

/// A value with its standard error; NaN where there is none.
struct ValueWithError {
  double value = std::numeric_limits<double>::quiet_NaN(), error = std::numeric_limits<double>::quiet_NaN();
};

/// Returns a value and its standard error in the short form of the literature: 3.81(19)e-05 is 3.81e-05 with the error
/// 0.19e-05. The error has two digits, and the value ends at the same place: 12.3(19) has the error 1.9. The exponent is
/// that of the larger of the two, 0.1(34)e-05, and appears only below -4, above 5, and where the last digit is left of
/// the decimal point.
///
/// An error of 0 stands beside the shortest text that reads back as the value: 0.1(0). Without an error (NaN), that text
/// stands alone. An infinite error, and an error that has no digit in common with a value of 17 digits, follows that text
/// as `+- error`. A value that is not finite is inf, -inf or nan, without its error. The sign of an error does not count.
[[nodiscard]] std::string with_error(double value, double error);

}  // namespace rattleback
