#include "rattleback/study/with_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace rattleback {
namespace {

/// The decimal exponent of a number that fmt has written with one.
int exponent_of(const std::string& text) { return std::atoi(text.c_str() + text.find('e') + 1); }

/// Returns the digits of x >= 0 as a whole number of units of 10^place, rounded.
std::string units_of(double x, int place) {
  if (x == 0.0) return "0";
  const std::string all = fmt::format("{:.17e}", x);
  const int exponent = exponent_of(all);
  if (exponent < place) return exponent == place - 1 && all[0] >= '5' ? "1" : "0";
  const std::string rounded = fmt::format("{:.{}e}", x, exponent - place);
  std::string digits = rounded.substr(0, rounded.find('e'));
  std::erase(digits, '.');
  if (exponent_of(rounded) > exponent) digits += '0';  // 9.99 has become 10.0
  return digits;
}

/// Places a decimal point before the last `decimals` digits.
std::string with_point(std::string digits, int decimals) {
  if (decimals == 0) return digits;
  const auto end = static_cast<std::size_t>(decimals);
  if (digits.size() <= end) digits.insert(0, end + 1 - digits.size(), '0');
  return digits.insert(digits.size() - end, 1, '.');
}

}  // namespace

std::string with_error(double value, double error) {
  error = std::abs(error);
  std::string text = fmt::format("{}", value);
  if (std::isnan(value)) return "nan";
  if (std::isnan(error) || std::isinf(value)) return text;
  if (error == 0.0) return text.insert(std::min(text.find('e'), text.size()), "(0)");

  constexpr int most_digits = 17;
  const int place = exponent_of(fmt::format("{:.1e}", error)) - 1;  // of the last digit
  const int first = value == 0.0 ? place : exponent_of(fmt::format("{:.{}e}", value, most_digits - 1));
  if (std::isinf(error) || first - place >= most_digits) return fmt::format("{} +- {:.2g}", text, error);
  const std::string value_digits = units_of(std::abs(value), place), error_digits = units_of(error, place);
  const int after_first = static_cast<int>(std::max(value_digits.size(), error_digits.size())) - 1;
  const int exponent = place + after_first;
  const bool fixed = exponent >= -4 && exponent <= 5 && place <= 0;
  return fmt::format("{}{}({}){}", value < 0.0 && value_digits != "0" ? "-" : "",
                     with_point(value_digits, fixed ? -place : after_first), error_digits,
                     fixed ? "" : fmt::format("e{:+03d}", exponent));
}

}  // namespace rattleback
