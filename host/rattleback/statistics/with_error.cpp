#include "rattleback/statistics/with_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace rattleback {
namespace {

/// The decimal exponent of the leading digit after rounding to `digits` digits.
int exponent_of(double x, int digits) {
  const std::string text = fmt::format("{:.{}e}", x, digits - 1);
  return std::atoi(text.c_str() + text.find('e') + 1);
}

}  // namespace

std::string with_error(double value, double error) {
  if (!std::isfinite(value) || std::isnan(error)) return fmt::format("{:.17g}", value);
  if (error == 0.0) return fmt::format("{:.17g}(0)", value);
  if (!std::isfinite(error) || error < 0.0) return fmt::format("{:.17g} +- {:.2g}", value, error);
  const int last = exponent_of(error, 2) - 1;  // the place of the error's second digit
  // The leading digit of the value, rounded at that place, or of the error where the error is larger.
  int leading = last + 1;
  if (value != 0.0) {
    const int exact = exponent_of(std::abs(value), 17);
    leading = std::max(leading, exponent_of(std::abs(value), std::max(exact - last, 0) + 1));
  }
  const int decimals = leading - last;
  if (decimals > 16) return fmt::format("{:.17g} +- {:.2g}", value, error);
  // Digits of error / 10^last, from the decimal text of the error.
  const std::string text = fmt::format("{:.1e}", error);
  const std::string digits{text[0], text[2]};
  const bool plain = -4 <= leading && leading <= 5 && last <= 0;
  if (plain) return fmt::format("{:.{}f}({})", value, -last, digits);
  const std::string scaled = fmt::format("{:.{}f}", value / std::pow(10.0, leading), decimals);
  return fmt::format("{}({})e{}{:02}", scaled, digits, leading < 0 ? '-' : '+', std::abs(leading));
}

}  // namespace rattleback
