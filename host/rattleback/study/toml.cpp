#include "rattleback/study/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "rattleback/language/expression.hpp"
#include "rattleback/language/table_reader.hpp"
#include "rattleback/study/toml_nesting.hpp"

namespace rattleback {
namespace {

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

}  // namespace

std::string place_of(const toml::source_region& source) { return place(source); }

void wrong_type(const toml::node& node, std::string_view key, std::string_view wanted) {
  input_error(place_of(node.source()), fmt::format("{} must be {} (got {})", key, wanted, kind_of(node)));
}

std::string to_text(const toml::node& node, const std::string& key) {
  const auto* text = node.as_string();
  if (text == nullptr) wrong_type(node, key, "a string");
  if (text->get().empty())
    input_error(place_of(node.source()), fmt::format("{} is empty; give it, or leave it out", key));
  return text->get();
}

bool to_flag(const toml::node& node, const std::string& key) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  wrong_type(node, key, "true or false");
}

std::uint64_t to_count(const toml::node& node, const std::string& key) {
  if (const auto* integer = node.as_integer()) {
    if (integer->get() >= 0) return static_cast<std::uint64_t>(integer->get());
    input_error(place_of(node.source()), fmt::format("{} must not be negative (got {})", key, integer->get()));
  }
  // TOML reads 1e6 as a float, but the author means a count.
  if (const auto* number = node.as_floating_point()) {
    const double value = number->get();
    if (value >= 0 && value < 0x1p63 && std::trunc(value) == value) return static_cast<std::uint64_t>(value);
    input_error(place_of(node.source()), fmt::format("{} must be a whole number from 0 (got {})", key, value));
  }
  wrong_type(node, key, "a whole number");
}

Value to_value(const toml::node& node, const std::string& key) {
  Value value;
  value.where = place_of(node.source());
  if (const auto* integer = node.as_integer()) {
    value.content = static_cast<double>(integer->get());
  } else if (const auto* number = node.as_floating_point()) {
    value.content = number->get();
    if (!std::isfinite(number->get())) {
      input_error(value.where, fmt::format("{} must be finite (got {})", key, number->get()));
    }
  } else if (const auto* text = node.as_string()) {
    value.content = text->get();
  } else {
    wrong_type(node, key, "a number or an expression");
  }
  return value;
}

double to_number(const toml::node& node, const std::string& key) { return constant(to_value(node, key), key); }

// Overrides of keys.

namespace {

/// One part of a key: a name, or the index of an array element.
using Step = std::variant<std::string, std::size_t>;

/// Splits a key such as "ensemble.axes[0].count"; empty for a malformed key.
std::vector<Step> parse_key(std::string_view key) {
  std::vector<Step> steps;
  std::size_t i = 0;
  while (i < key.size()) {
    if (key[i] == '[') {
      std::size_t index = 0;
      const auto [end, error] = std::from_chars(key.data() + i + 1, key.data() + key.size(), index);
      i = static_cast<std::size_t>(end - key.data());
      if (steps.empty() || error != std::errc() || i == key.size() || key[i] != ']') return {};
      steps.emplace_back(index);
      ++i;
    } else {
      if (steps.empty() == (key[i] == '.')) return {};
      if (key[i] == '.') ++i;
      const std::size_t begin = i;
      while (i < key.size() && (std::isalnum(static_cast<unsigned char>(key[i])) || key[i] == '_' || key[i] == '-'))
        ++i;
      if (i == begin) return {};
      steps.emplace_back(std::string(key.substr(begin, i - begin)));
    }
  }
  return steps;
}

/// Parses a document `value = TEXT`. A TEXT that is no TOML value becomes a string.
toml::table parse_value(std::string_view text, const std::string& where) {
  const std::string assignment = fmt::format("value = {}", text);
  check_nesting(assignment, where);
  try {
    toml::table document = toml::parse(assignment, where);
    if (document.size() == 1) return document;
  } catch (const toml::parse_error&) {
  }
  toml::table document = toml::parse("value = ''", where);
  **document.get_as<std::string>("value") = text;
  return document;
}

/// Puts the entries of a table into the table `name` inside `table`, whose other entries stay. Returns false unless both are
/// tables.
bool merge(toml::table& table, const std::string& name, toml::node& fresh) {
  toml::table* present = table.get_as<toml::table>(name);
  if (present == nullptr || !fresh.is_table()) return false;
  for (auto&& [key, value] : *fresh.as_table()) present->insert_or_assign(key, std::move(value));
  return true;
}

/// Largest size of a key in bytes. All keys of a study are much shorter.
constexpr std::size_t max_key = 1000;

void apply_override(toml::table& root, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string key(text.substr(0, equals));
  const std::vector<Step> steps = parse_key(key);
  if (equals == std::string_view::npos || equals + 1 == text.size() || steps.empty()) {
    input_error(fmt::format("{}{}", option_prefix, text.size() > max_key ? quote(text) : text),
                "not of the form KEY=VALUE; write for example time.step=0.05");
  }
  if (key.size() > max_key) {
    input_error(fmt::format("{}{}", option_prefix, quote(key)),
                fmt::format("no key of a study has more than {} bytes; 'rattleback check' prints the keys", max_key));
  }
  const std::string where = fmt::format("{}{}", option_prefix, key);
  check_nesting(key, where);
  toml::node* node = &root;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    const bool into_array = !last && std::holds_alternative<std::size_t>(steps[i + 1]);
    toml::table document = parse_value(last ? text.substr(equals + 1) : into_array ? "[]" : "{}", where);
    toml::node& fresh = *document.get("value");
    if (const auto* name = std::get_if<std::string>(&steps[i])) {
      toml::table* table = node->as_table();
      if (table == nullptr) input_error(where, fmt::format("'{}' is inside {}, not a table", *name, kind_of(*node)));
      if (last && key == "system.parameters" && merge(*table, *name, fresh)) return;
      if (last || !table->contains(*name)) table->insert_or_assign(*name, std::move(fresh));
      node = table->get(*name);
    } else {
      const std::size_t index = std::get<std::size_t>(steps[i]);
      toml::array* array = node->as_array();
      if (array == nullptr) input_error(where, fmt::format("[{}] is inside {}, not an array", index, kind_of(*node)));
      if (index > array->size()) {
        input_error(where, fmt::format("index {} is out of range (the array has {} elements)", index, array->size()));
      }
      if (index == array->size()) {
        array->push_back(std::move(fresh));
      } else if (last) {
        array->replace(array->cbegin() + static_cast<std::ptrdiff_t>(index), std::move(fresh));
      }
      node = array->get(index);
    }
  }
}

}  // namespace

toml::table parse_document(std::string_view text, std::string_view origin) {
  check_nesting(text, origin);
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    input_error(place_of(error.source()), fmt::format("not TOML: {} (column {})", error.description(),
                                                      static_cast<unsigned>(error.source().begin.column)));
  }
}

void apply_overrides(toml::table& document, std::span<const std::string> overrides) {
  for (const std::string& text : overrides) apply_override(document, text);
}

}  // namespace rattleback
