#include "rattleback/language/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rattleback/base/message.hpp"
#include "rattleback/language/parser.hpp"

namespace rattleback {
namespace {

std::string message_of(const FormulaText& formula, std::size_t column, std::string_view fault) {
  const auto lines =
      1 + std::count(formula.text.begin(),
                     formula.text.begin() + static_cast<std::ptrdiff_t>(std::min(column, formula.text.size())), '\n');
  const std::string line =
      std::ranges::count(formula.text, '\n') > 0 && column > 0 ? fmt::format("line {}, ", lines) : "";
  const std::size_t begin = column > 0 ? formula.text.rfind('\n', column - 1) + 1 : 0;  // npos + 1 is 0
  const std::string place = column > 0 ? fmt::format(" ({}column {})", line, column - begin) : "";
  return one_line(fmt::format("{}{}{} = {} cannot be used{}: {}", formula.where, formula.where.empty() ? "" : ": ",
                              formula.key, quote(formula.text), place, fault));
}

}  // namespace

FormulaError::FormulaError(const FormulaText& formula, std::size_t column, std::string_view fault)
    : Error(Kind::input, message_of(formula, column, fault)) {
  if (column == 0) return;
  constexpr std::size_t around = 100;  // bytes on each side of the place
  const std::string& text = formula.text;
  const auto goes_on = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto character = [&](std::size_t i) {
    while (i < text.size() && goes_on(text[i])) ++i;
    return i;
  };
  const std::size_t at = std::min(column - 1, text.size());
  const std::size_t first = at == 0 ? 0 : text.rfind('\n', at - 1) + 1,
                    last = std::min(text.find('\n', at), text.size());
  const std::size_t begin = character(std::max(first, at - std::min(at, around))),
                    end = character(std::min(last, at + around));
  std::string line = text.substr(begin, end - begin);
  std::ranges::replace(line, '\t', ' ');
  if (!is_printable(line)) return;
  const auto columns = std::count_if(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at - begin),
                                     [&](char c) { return !goes_on(c); });
  excerpt_ = fmt::format("  {}\n  {}^", line, std::string(static_cast<std::size_t>(columns), ' '));
}

std::vector<std::string> meanings_of(const std::string& name) {
  constexpr std::size_t most = 32;
  std::vector<std::string> meanings{""};
  std::size_t at = 0;
  for (std::size_t open; (open = name.find('[', at)) != std::string::npos;) {
    const std::size_t close = name.find(']', open);
    if (close == std::string::npos || meanings.size() > most) return {name};
    const std::string before = name.substr(at, open - at), index = name.substr(open + 1, close - open - 1);
    std::vector<std::string> longer;
    for (const std::string& meaning : meanings)
      for (const char* separator : {"", "_"}) longer.push_back(meaning + before + separator + index);
    meanings = std::move(longer);
    at = close + 1;
  }
  for (std::string& meaning : meanings) meaning += name.substr(at);
  return meanings;
}

std::optional<int> SystemFormulas::multiplier(const std::string& name) const {
  for (const std::string& meaning : meanings_of(name))
    if (const auto found = std::ranges::find(multipliers, meaning, &Multiplier::name);
        found != multipliers.end() && !meaning.empty())
      return static_cast<int>(found - multipliers.begin());
  return std::nullopt;
}

std::string SystemFormulas::configuration() const {
  const std::string space = fmt::format("{}: {}", text_of(group), join(coordinates));
  return std::ranges::any_of(group, &GroupFactor::is_body) ? fmt::format("{}; velocities {}", space, join(velocities))
                                                           : space;
}

std::string fault_of_symbol(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  constexpr std::size_t most = 64;
  if (name.empty() || !letter(name.front()) ||
      !std::ranges::all_of(name, [&](char c) { return letter(c) || digit(c); }))
    return "a name is letters, digits and _, and does not start with a digit";
  if (name.size() > most) return fmt::format("a name has at most {} letters", most);
  if (!is_variable_name(name)) return "it is pi or a function";
  return "";
}

}  // namespace rattleback
