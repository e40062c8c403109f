// Checks that all commands make in their options, and the output of messages.

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "rattleback/base/message.hpp"

namespace rattleback::program {
namespace {

/// Makes a check from a function that returns the fault of a text, or "".
CLI::Validator check(std::function<std::string(std::string&)> fault) { return {std::move(fault), "", ""}; }

/// Returns whether a whole text is one number within the range of the type.
template <class T>
bool reads(std::string_view text, T& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

CLI::Validator real(bool may_be_negative) {
  return check([may_be_negative](std::string& text) -> std::string {
    double number = 0;
    if (reads(text, number) && std::isfinite(number) && (may_be_negative || number >= 0)) return "";
    return fmt::format("must be a finite number{} (got {})", may_be_negative ? "" : ", not negative", quote(text));
  });
}

}  // namespace

CLI::Validator from_one() {
  return check([](std::string& text) -> std::string {
    constexpr unsigned most = std::numeric_limits<unsigned>::max();
    unsigned number = 0;
    if (reads(text, number) && number >= 1) return "";
    return fmt::format("must be a whole number from 1 to {} (got {})", most, quote(text));
  });
}

CLI::Validator not_negative() { return real(false); }
CLI::Validator finite() { return real(true); }

CLI::Validator not_empty() {
  return check([](std::string& text) -> std::string {
    return text.empty() ? "is empty; give a name, or leave the option out" : "";
  });
}

void say(std::string_view message) { print_stderr("rattleback: {}\n", one_line(message)); }

}  // namespace rattleback::program
