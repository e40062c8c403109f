#include "rattleback/expression/expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

#include "rattleback/base/message.hpp"

namespace rattleback {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = [] {
    const mu::Parser parser;
    std::vector<std::string> result;
    for (const auto& [name, callback] : parser.GetFunDef()) result.push_back(name);
    return result;
  }();
  return names;
}

bool is_known_to_parser(std::string_view name) {
  return name == "pi" || std::ranges::find(function_names(), name) != function_names().end();
}

/// The end of the number that starts at `i`, its exponent included, so that 1e5 does not look like a name.
std::size_t skip_number(std::string_view text, std::size_t i) {
  const auto skip_digits = [&] {
    while (i < text.size() && (is_digit(text[i]) || text[i] == '.')) ++i;
  };
  skip_digits();
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const std::size_t sign = i + 1 < text.size() && (text[i + 1] == '+' || text[i + 1] == '-') ? 1 : 0;
    if (i + 1 + sign < text.size() && is_digit(text[i + 1 + sign])) {
      i += 1 + sign;
      skip_digits();
    }
  }
  return i;
}

std::vector<std::string> variables_in(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < text.size();) {
    if (is_digit(text[i]) || text[i] == '.') {
      i = skip_number(text, i);
    } else if (is_letter(text[i])) {
      const std::size_t begin = i;
      while (i < text.size() && (is_letter(text[i]) || is_digit(text[i]))) ++i;
      std::string name(text.substr(begin, i - begin));
      if (!is_known_to_parser(name) && std::ranges::find(result, name) == result.end()) {
        result.push_back(std::move(name));
      }
    } else {
      ++i;
    }
  }
  return result;
}

/// muParser would write to a variable of ours.
bool assigns(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    if (i + 1 < text.size() && text[i + 1] == '=') {
      ++i;
    } else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

/// muParser repeats the expression in its messages.
std::string_view shortened(std::string_view message) { return message.substr(0, 200); }

}  // namespace

std::string fault_of_expression(std::string_view text) {
  constexpr std::size_t most = 4096, levels = 64;
  if (text.size() > most) return fmt::format("it has {} bytes; an expression has at most {}", text.size(), most);
  if (text.find('\0') != std::string_view::npos) return "it has a character NUL; take it out";
  std::size_t level = 0;
  for (const char c : text) {
    if (c == '(' && ++level > levels)
      return fmt::format("its parentheses are nested deeper than {} levels; take levels out", levels);
    if (c == ')' && level > 0) --level;
  }
  return "";
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); }) && !is_known_to_parser(name);
}

std::vector<std::string> variables_of(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  return text != nullptr ? variables_in(*text) : std::vector<std::string>{};
}

Expression::Expression(const Value& value, std::string what, std::span<const std::string> names, double* slots,
                       std::string_view hint)
    : what_(std::move(what)), where_(value.where), slots_(slots) {
  if (const auto* number = std::get_if<double>(&value.content)) {
    number_ = *number;
  } else {
    text_ = std::get<std::string>(value.content);
    bind(names, slots, hint);
  }
}

Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;

std::string Expression::stated() const { return fmt::format("{} = {}", what_, quote(text_)); }

void Expression::bind(std::span<const std::string> names, double* slots, std::string_view hint) {
  if (const std::string fault = fault_of_expression(text_); !fault.empty()) {
    input_error(where_, fmt::format("{} cannot be used: {}", stated(), fault));
  }
  if (assigns(text_)) input_error(where_, fmt::format("{} assigns (an expression only computes a value)", stated()));
  parser_ = std::make_unique<mu::Parser>();
  parser_->ClearConst();
  parser_->DefineConst("pi", std::numbers::pi);
  for (const std::string& name : variables_in(text_)) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
      std::vector<std::string> known(names.begin(), names.end());
      known.emplace_back("pi");
      const std::string list = join(known);
      known.insert(known.end(), function_names().begin(), function_names().end());
      input_error(where_, fmt::format("unknown name {} in {} (known: {}{}){}", quote(name), stated(), list, hint,
                                      did_you_mean(name, known)));
    }
    const auto slot = found - names.begin();
    reads_.push_back(static_cast<int>(slot));
    read_names_.push_back(name);
    parser_->DefineVar(name, slots + slot);
  }
  int count = 0;
  try {
    parser_->SetExpr(text_);
    parser_->Eval(count);
  } catch (const mu::ParserError& error) {
    input_error(where_, fmt::format("{} is not an expression ({})", stated(), shortened(error.GetMsg())));
  }
  if (count != 1) input_error(where_, fmt::format("{} has {} values (needs one)", stated(), count));
}

double Expression::operator()() const {
  const double value = parser_ ? parser_->Eval() : number_;
  if (std::isfinite(value)) return value;
  if (!parser_) input_error(where_, fmt::format("{} must be finite (got {})", what_, value));
  std::string at;
  for (std::size_t i = 0; i < reads_.size(); ++i) {
    at += fmt::format("{}{} = {}", i == 0 ? " at " : ", ", read_names_[i], slots_[reads_[i]]);
  }
  input_error(where_, fmt::format("{} is not finite (it is {}{})", stated(), value, at));
}

double constant(const Value& value, const std::string& what) {
  return Expression(value, what, {}, nullptr, "; a constant is needed here")();
}

}  // namespace rattleback
