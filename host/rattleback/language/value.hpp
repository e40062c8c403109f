#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <variant>

namespace rattleback {

/// A number, or the text of an expression in pi, the axes and the system parameters; remembers where it was written.
struct Value {
  std::variant<double, std::string> content = 0.0;
  std::string where;  ///< "FILE:LINE", "--set KEY", or ""
  /// Where the text stands for several values: the names that are whole numbers in this one, and where its expression begins.
  std::map<std::string, int> indices = {};
  std::size_t begin = 0;

  Value() = default;
  Value(double number) : content(number) {}
  Value(std::string expression) : content(std::move(expression)) {}
  Value(const char* expression) : content(std::string(expression)) {}
};

}  // namespace rattleback
