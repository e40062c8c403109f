#pragma once

#include <string>
#include <variant>

namespace rattleback {

/// A number, or the text of an expression in pi, the axes and the system parameters; remembers where it was written.
struct Value {
  std::variant<double, std::string> content = 0.0;
  std::string where;  ///< "FILE:LINE", "--set KEY", or ""

  Value() = default;
  Value(double number) : content(number) {}
  Value(std::string expression) : content(std::move(expression)) {}
  Value(const char* expression) : content(std::string(expression)) {}
};

}  // namespace rattleback
