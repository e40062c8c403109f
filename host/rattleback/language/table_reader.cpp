#include "rattleback/language/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rattleback/base/message.hpp"
#include "rattleback/language/parser.hpp"

namespace rattleback {
namespace {

constexpr std::size_t most_formulas = 4096;

}  // namespace

std::string place(const toml::source_region& source) {
  if (!source.path) return "";
  if (source.path->starts_with(whole_place)) return source.path->substr(whole_place.size());
  // An option on the command line has no line number.
  return source.path->starts_with(option_prefix) ? *source.path : fmt::format("{}:{}", *source.path, source.begin.line);
}

std::string place(const toml::node& node) { return place(node.source()); }

void TableReader::fail(std::string_view key, std::string_view why) const {
  const toml::node* node = table_.get(key);
  input_error(node != nullptr ? place(*node) : place(table_), fmt::format("system.{}: {}", key, why));
}

void TableReader::wrong_type(const toml::node& node, std::string_view key, std::string_view wanted) {
  input_error(place(node), fmt::format("{} must be {}", key, wanted));
}

void TableReader::check_keys(const toml::table& table, std::string_view path, const std::vector<std::string>& known) {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    const toml::source_region& source = key.source().path ? key.source() : node.source();
    input_error(place(source), fmt::format("unknown key {} in [{}] (known: {}){}", quote(key.str()), path, join(known),
                                           did_you_mean(key.str(), known)));
  }
}

void TableReader::check_symbol(const std::string& name, const std::string& where, std::string_view what) {
  if (const std::string fault = fault_of_symbol(name); !fault.empty())
    input_error(where, fmt::format("{} cannot name {} ({})", quote(name), what, fault));
}

std::string TableReader::text(std::string_view key) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) input_error(place(table_), fmt::format("system.{} is missing", key));
  return string(*node, fmt::format("system.{}", key));
}

std::string TableReader::string(const toml::node& node, std::string_view key) {
  const auto* value = node.as_string();
  if (value == nullptr) wrong_type(node, key, "a string");
  if (value->get().empty()) input_error(place(node), fmt::format("{} is empty; give it, or leave it out", key));
  if (!is_printable(value->get())) input_error(place(node), fmt::format("{} has characters that cannot be shown", key));
  return value->get();
}

double TableReader::number(const toml::node& node, const std::string& key) const {
  Value value;
  value.where = place(node);
  if (const auto* integer = node.as_integer())
    value.content = static_cast<double>(integer->get());
  else if (const auto* real = node.as_floating_point())
    value.content = real->get();
  else if (const auto* words = node.as_string())
    value.content = words->get();
  else
    wrong_type(node, key, "a number or an expression");
  return Expression(value, key, known_, values_.data())();
}

int TableReader::bound(std::string_view text, const std::string& of, const std::string& where,
                       const std::map<std::string, int>& indices, int least) const {
  constexpr int most = 1000;
  std::vector<std::string> names = known_;
  std::vector<double> values = values_;
  for (const auto& [name, value] : indices) {
    names.push_back(name);
    values.push_back(value);
  }
  Value value{std::string(text)};
  value.where = where;
  const double number = Expression(value, fmt::format("a bound of {}", quote(of)), names, values.data(),
                                   "; a bound is a whole number or a dimension")();
  if (number != std::floor(number) || number < least || number > most)
    input_error(where, fmt::format("a bound of {} must be a whole number from {} to {} (got {})", quote(of), least,
                                   most, number));
  return static_cast<int>(number);
}

std::vector<std::string> TableReader::names(std::string_view key, std::string_view what) const {
  std::vector<std::string> result;
  const toml::node* node = table_.get(key);
  if (node == nullptr) return result;
  const toml::array* array = node->as_array();
  if (array == nullptr) wrong_type(*node, fmt::format("system.{}", key), "an array of names");
  for (const toml::node& entry : *array) {
    const std::string name = string(entry, fmt::format("system.{}", key));
    const std::size_t open = name.find('['), dots = name.find("..");
    if (open == std::string::npos || dots == std::string::npos || name.back() != ']') {
      check_symbol(name, place(entry), what);
      result.push_back(name);
    } else {
      const auto number = [&](std::size_t begin, std::size_t end) {
        return bound(std::string_view(name).substr(begin, end - begin), name, place(entry), {}, 0);
      };
      const int first = number(open + 1, dots), last = number(dots + 2, name.size() - 1);
      check_symbol(name.substr(0, open), place(entry), what);
      for (int i = first; i <= last; ++i) result.push_back(fmt::format("{}{}", name.substr(0, open), i));
    }
    if (result.size() > most_coordinates) {
      const std::string_view one = what.substr(2);  // behind "a "
      input_error(place(entry), fmt::format("there are more than {} names of {}", most_coordinates,
                                            one.ends_with('y') ? fmt::format("{}ies", one.substr(0, one.size() - 1))
                                                               : fmt::format("{}s", one)));
    }
  }
  return result;
}

FormulaText TableReader::formula(const toml::node& node, std::string key) {
  FormulaText result{"", std::move(key), place(node)};
  if (const auto* integer = node.as_integer())
    result.text = fmt::format("{}", integer->get());
  else if (const auto* real = node.as_floating_point(); real != nullptr && std::isfinite(real->get()))
    result.text = fmt::format("{}", real->get());
  else if (const auto* words = node.as_string())
    result.text = words->get();
  else
    wrong_type(node, result.key, "a formula or a finite number");
  return result;
}

FormulaText TableReader::optional_formula(std::string_view key) const {
  const toml::node* node = table_.get(key);
  FormulaText result = node == nullptr ? FormulaText{} : formula(*node, fmt::format("system.{}", key));
  if (node != nullptr && result.text.empty()) fail(key, "it is empty; give it, or leave it out");
  return result;
}

std::vector<FormulaText> TableReader::formulas(const toml::node& node, const std::string& key) {
  const toml::array* array = node.as_array();
  if (array == nullptr) wrong_type(node, key, "an array of formulas");
  std::vector<FormulaText> result;
  for (std::size_t i = 0; i < array->size(); ++i) {
    std::size_t passes = 0;
    unfold(formula(*array->get(i), fmt::format("{}[{}]", key, i)), result, passes);
  }
  return result;
}

std::vector<FormulaText> TableReader::formulas(std::string_view key) {
  const toml::node* node = table_.get(key);
  return node == nullptr ? std::vector<FormulaText>{} : formulas(*node, fmt::format("system.{}", key));
}

void TableReader::unfold(const FormulaText& formula, std::vector<FormulaText>& all, std::size_t& passes) {
  const std::string& text = formula.text;
  std::size_t at = formula.begin;
  const auto blanks = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  };
  const auto word = [&] {
    blanks();
    const std::size_t begin = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_')) ++at;
    return text.substr(begin, at - begin);
  };
  if (word() != "for") {
    all.push_back(formula);
    return;
  }
  const auto must = [&](bool holds) {
    if (!holds) throw FormulaError(formula, at + 1, "formulas for several indices are written for i in 1..3: FORMULA");
  };
  blanks();
  const std::size_t column = at + 1;
  const std::string index = word();
  must(!index.empty() && word() == "in");
  blanks();
  const std::size_t first_bound = at, dots = text.find("..", at);
  must(dots != std::string::npos);
  const std::size_t colon = text.find(':', at = dots + 2);
  must(colon != std::string::npos);
  check_index(formula, index, column);
  const auto number = [&](std::size_t begin, std::size_t end) {
    return bound(std::string_view(text).substr(begin, end - begin), text, formula.where, formula.indices, -1000);
  };
  const int first = number(first_bound, dots), last = number(dots + 2, colon);
  const std::string key = formula.key.substr(0, formula.key.find(" ("));
  const bool empty = last < first;  // the formula is read once, for its faults
  for (int i = first; i <= (empty ? first : last); ++i) {
    FormulaText one = formula;
    one.begin = colon + 1;
    one.unused = formula.unused || empty;
    one.indices[index] = i;
    std::vector<std::string> values;
    for (const auto& [name, value] : one.indices) values.push_back(fmt::format("{} = {}", name, value));
    one.key = fmt::format("{} ({})", key, join(values));
    if (++passes > most_formulas)
      throw FormulaError(formula, 0, fmt::format("it stands for more than {} formulas", most_formulas));
    unfold(one, one.unused ? system_.unused : all, passes);
  }
}

void TableReader::check_index(const FormulaText& formula, const std::string& name, std::size_t column) const {
  if (const std::string fault = fault_of_symbol(name); !fault.empty())
    throw FormulaError(formula, column, fmt::format("{} cannot name an index ({})", quote(name), fault));
  const auto is_in = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (name == "t" || is_in(known_) || is_in(system_.coordinates) || is_in(system_.velocities) ||
      formula.indices.contains(name))
    throw FormulaError(formula, column,
                       fmt::format("{} already has a meaning; choose another name for the index", quote(name)));
}

void TableReader::count(std::string_view key, std::size_t given, int needed) const {
  if (static_cast<int>(given) == needed) return;
  fail(key, fmt::format("it has {} {}, and {} {} needed, one for each velocity ({})", given, entries(given), needed,
                        needed == 1 ? "is" : "are", join(system_.velocities)));
}

void TableReader::add_known(const std::string& name, double value, const std::string& where, std::string_view what) {
  check_symbol(name, where, what);
  known_.push_back(name);
  values_.push_back(value);
}

}  // namespace rattleback
