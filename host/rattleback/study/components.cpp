#include "rattleback/study/components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "rattleback/base/message.hpp"
#include "rattleback/language/characters.hpp"
#include "rattleback/language/expression.hpp"

namespace rattleback {
namespace {

constexpr int most = 10000;

/// Unfolds the values of a part of the state.
class Unfolding {
 public:
  Unfolding(const SystemEntry& system, std::string_view part)
      : what_(fmt::format("initial {}", part)),
        size_(static_cast<std::size_t>(part == "lambda" ? system.m : system.n)),
        open_(part != "q" || system.elements == system.n) {
    for (const StructureInfo& info : system.structure) {
      names_.emplace_back(info.name);
      numbers_.push_back(info.value);
    }
  }

  std::vector<Value> operator()(const std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) unfold(values[i], values.size() - i - 1);
    return std::move(all_);
  }

 private:
  [[noreturn]] void fail(const Value& value, std::string_view why) const {
    input_error(value.where, fmt::format("{} = {} {}", what_, quote(std::get<std::string>(value.content)), why));
  }

  /// Appends what a value stands for; `behind` entries follow it.
  void unfold(const Value& value, std::size_t behind) {
    const auto* text = std::get_if<std::string>(&value.content);
    std::size_t at = value.begin;
    const auto blanks = [&] {
      while (at < text->size() && ((*text)[at] == ' ' || (*text)[at] == '\t' || (*text)[at] == '\n')) ++at;
    };
    const auto word = [&] {
      blanks();
      const std::size_t begin = at;
      while (at < text->size() && (is_letter((*text)[at]) || is_digit((*text)[at]))) ++at;
      return text->substr(begin, at - begin);
    };
    if (text == nullptr || word() != "for") {
      if (all_.size() == most) fail(value, fmt::format("stands for more than {} values", most));
      all_.push_back(value);
      return;
    }
    const std::string index = word(), in = word();
    const std::size_t colon = text->find(':', at), dots = text->find("..", at);
    const bool ranged = in == "in" && dots < colon;
    blanks();
    if (!is_variable_name(index) || colon == std::string::npos || (!ranged && (!in.empty() || at != colon)))
      fail(value, "is not a list of values; several are written \"for i: FORMULA\" or \"for i in 1..3: FORMULA\"");
    if (value.indices.contains(index)) fail(value, fmt::format("has the index {} twice", quote(index)));
    int first = static_cast<int>(all_.size()), last = static_cast<int>(size_ - std::min(size_, behind)) - 1;
    if (ranged) {
      first = bound(value, at, dots);
      last = bound(value, dots + 2, colon);
    } else if (!open_ || !value.indices.empty()) {
      fail(value, "needs a range, as in \"for i in 0..2: FORMULA\" (the number of values does not follow)");
    }
    for (int i = first; i <= last; ++i) {
      Value one = value;
      one.begin = colon + 1;
      one.indices[index] = i;
      unfold(one, behind);
    }
  }

  [[nodiscard]] int bound(const Value& value, std::size_t begin, std::size_t end) const {
    std::vector<std::string> names = names_;
    std::vector<double> numbers = numbers_;
    for (const auto& [name, number] : value.indices) {
      names.push_back(name);
      numbers.push_back(number);
    }
    Value text(std::get<std::string>(value.content).substr(begin, end - begin));
    text.where = value.where;
    const double number = Expression(text, fmt::format("a bound of {}", what_), names, numbers.data())();
    if (number != std::floor(number) || std::abs(number) > most)
      fail(value, fmt::format("has a bound that is not a whole number up to {} ({})", most, number));
    return static_cast<int>(number);
  }

  std::string what_;
  std::size_t size_;
  bool open_;  ///< whether the number of components is fixed
  std::vector<std::string> names_;
  std::vector<double> numbers_;
  std::vector<Value> all_;
};

}  // namespace

std::vector<Value> components(const std::vector<Value>& values, const SystemEntry& system, std::string_view part) {
  return Unfolding(system, part)(values);
}

}  // namespace rattleback
