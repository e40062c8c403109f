#include "rattleback/language/familiar_notation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/language/characters.hpp"

namespace rattleback {
namespace {

struct Familiar {
  std::string_view theirs;
  std::string_view ours;
};

constexpr Familiar notations[] = {
    {"**", "^ for a power"},
    {"·", "* for a product"},
    {"⋅", "* for a product"},
    {"×", "* for a product"},
    {"∗", "* for a product"},
    {"÷", "/ for a quotient"},
    {"−", "the sign -"},
    {"–", "the sign -"},
    {"²", "^2"},
    {"³", "^3"},
    {"π", "pi"},
    {"√", "sqrt(..)"},
    {"∞", "a finite number"},
    {"|", "abs(..)"},
    {"&", "&&"},
    {"!", "!= or == 0"},
    {"'", "the velocity by its name"},
    {"\\", "sin(x), x^2 and a/b, without LaTeX"},
    {"{", "parentheses"},
    {"[", "parentheses"},
    {"≤", "<="},
    {"≥", ">="},
    {"≠", "!="},
};

constexpr Familiar names[] = {
    {"pow", "x^a for pow(x, a)"},
    {"power", "x^a for power(x, a)"},
    {"sqr", "x^2 for sqr(x)"},
    {"square", "x^2 for square(x)"},
    {"cbrt", "x^(1/3) for cbrt(x) of positive x"},
    {"hypot", "sqrt(x^2 + y^2) for hypot(x, y)"},
    {"e", "exp(x) for e^x"},
    {"sec", "1/cos(x) for sec(x)"},
    {"csc", "1/sin(x) for csc(x)"},
    {"cot", "1/tan(x) for cot(x)"},
    {"sech", "1/cosh(x) for sech(x)"},
    {"coth", "1/tanh(x) for coth(x)"},
    {"arcsin", "asin"},
    {"arccos", "acos"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arcsinh", "asinh"},
    {"arccosh", "acosh"},
    {"arctanh", "atanh"},
    {"tg", "tan"},
    {"lg", "log10"},
    {"lb", "log2"},
    {"fabs", "abs"},
    {"sgn", "sign"},
    {"round", "rint"},
    {"floor", "rint(x) - (rint(x) > x ? 1 : 0) for floor(x), but not in a system, whose functions are smooth"},
    {"ceil", "rint(x) + (rint(x) < x ? 1 : 0) for ceil(x), but not in a system, whose functions are smooth"},
    {"mod",
     "x - a (rint(x/a) - (rint(x/a) > x/a ? 1 : 0)) for mod(x, a), but not in a system, whose functions are smooth"},
    {"fmod",
     "x - a (rint(x/a) - (rint(x/a) > x/a ? 1 : 0)) for fmod(x, a) of positive x and a, but not in a system, whose "
     "functions are smooth"},
    {"mean", "avg"},
    {"if", "condition ? a : b"},
    {"where", "condition ? a : b"},
    {"piecewise", "condition ? a : b"},
    {"heaviside", "x > 0 ? 1 : 0, or in a system a smooth step, (1 + tanh(x/width))/2"},
    {"step", "x > 0 ? 1 : 0, or in a system a smooth step, (1 + tanh(x/width))/2"},
    {"and", "&&"},
    {"or", "||"},
    {"not", "== 0"},
};

std::string lower(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace

std::string advice_on_notation(std::string_view rest) {
  if (!rest.empty() && (is_digit(rest.front()) || rest.front() == '.')) return "; write * before a number";
  for (const std::string_view ours : {"&&", "||", "!="})
    if (rest.starts_with(ours)) return {};
  const auto found =
      std::ranges::find_if(notations, [rest](const Familiar& one) { return rest.starts_with(one.theirs); });
  return found == std::end(notations) ? std::string() : fmt::format("; write {}", found->ours);
}

std::string advice_on_name(std::string_view name, std::span<const std::string> known) {
  const std::string asked = lower(name);
  const auto found = std::ranges::find(names, asked, &Familiar::theirs);
  return found == std::end(names) ? did_you_mean(name, known) : fmt::format("; write {}", found->ours);
}

}  // namespace rattleback
