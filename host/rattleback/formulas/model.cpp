#include "rattleback/formulas/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "rattleback/base/message.hpp"
#include "rattleback/expression/parser.hpp"

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

std::vector<GroupFactor> parse_group(const FormulaText& group) {
  const auto fail = [&](const std::string& why) {
    input_error(group.where, fmt::format("{} = {} is not a configuration space ({}); write for example \"SO(3)\", "
                                         "\"SE(3)\" or \"SO(3) x R^2\"",
                                         group.key, quote(group.text), why));
  };
  std::string text;
  std::ranges::copy_if(group.text, std::back_inserter(text), [](char c) { return c != ' '; });
  std::vector<GroupFactor> factors;
  int rotations = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const std::string factor = text.substr(begin, end - begin);
    if (factor == "SO(3)") {
      factors.push_back({GroupFactor::Kind::so3, 3});
      ++rotations;
    } else if (factor == "SE(3)") {
      factors.push_back({GroupFactor::Kind::se3, 6});
      ++rotations;
    } else if (factor.size() > 2 && factor.size() < 5 && factor.starts_with("R^") && factor[2] != '0' &&
               std::all_of(factor.begin() + 2, factor.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      factors.push_back({GroupFactor::Kind::rn, std::stoi(factor.substr(2))});
      if (factors.back().size > most_coordinates) fail(fmt::format("R^n has at most {} dimensions", most_coordinates));
    } else {
      fail(fmt::format("{} is not SO(3), SE(3) or R^n", quote(factor)));
    }
    begin = end + 1;
  }
  if (rotations == 0) fail("it has no rotation; leave group out for R^n");
  if (rotations > 1) fail("it has more than one rotation, and their entries would have the same names");
  return factors;
}

std::string type_of(const std::vector<GroupFactor>& group) {
  std::vector<std::string> names;
  for (const GroupFactor& factor : group)
    names.push_back(factor.kind == GroupFactor::Kind::so3   ? "SO3"
                    : factor.kind == GroupFactor::Kind::se3 ? "SE3"
                                                            : fmt::format("Rn<{}>", factor.size));
  return names.size() == 1 ? names.front() : fmt::format("Product<{}>", join(names));
}

std::string SystemFormulas::configuration() const {
  std::string space;
  for (const GroupFactor& factor : group) {
    if (!space.empty()) space += " x ";
    space += factor.kind == GroupFactor::Kind::so3   ? "SO(3)"
             : factor.kind == GroupFactor::Kind::se3 ? "SE(3)"
                                                     : fmt::format("R^{}", factor.size);
  }
  return fmt::format("{}: {}", space, join(coordinates));
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
