#include "rattleback/study/formulas_text.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/language/read.hpp"

namespace rattleback {
namespace {

/// Returns a key as TOML takes it.
std::string key_text(const std::string& key) {
  const bool bare =
      !key.empty() && std::ranges::all_of(key, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
  if (bare) return key;
  if (!is_printable(key)) return basic_string(key);
  std::ostringstream quoted;
  quoted << toml::toml_formatter(toml::value(key));
  return quoted.str();
}

std::string inline_text(const toml::node& node) {
  if (const toml::table* table = node.as_table()) {
    std::string text;
    for (const auto& [key, value] : entries_of(*table))
      text += fmt::format("{} {} = {}", text.empty() ? "" : ",", key_text(key), inline_text(*value));
    return fmt::format("{{{} }}", text);
  }
  if (const toml::array* array = node.as_array()) {
    std::string text;
    for (const toml::node& value : *array) text += (text.empty() ? "" : ", ") + inline_text(value);
    return fmt::format("[{}]", text);
  }
  if (const auto* number = node.as_floating_point()) {
    const std::string text = fmt::format("{}", number->get());
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* words = node.as_string(); words != nullptr && !is_printable(words->get()))
    return basic_string(words->get());
  std::ostringstream text;
  text << toml::node_view(node);
  return text.str();
}

}  // namespace

std::string basic_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  quoted += '"';
  return escape_unprintable(quoted, [](char32_t c) {
    const auto code = static_cast<unsigned>(c);
    return code < 0x10000 ? fmt::format("\\u{:04x}", code) : fmt::format("\\U{:08x}", code);
  });
}

std::string formulas_as_toml(const toml::table& system) {
  std::string text;
  for (const auto& [key, node] : entries_of(system))
    if (key != "name" && key != "parameters") text += fmt::format("{} = {}\n", key_text(key), inline_text(*node));
  return text;
}

}  // namespace rattleback
