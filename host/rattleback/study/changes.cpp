#include "rattleback/study/changes.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/language/expression.hpp"
#include "rattleback/language/parser.hpp"
#include "rattleback/language/read.hpp"
#include "rattleback/language/table_reader.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/tables.hpp"
#include "rattleback/study/toml.hpp"

namespace rattleback {
namespace {

/// Adds the names that a text uses: those of an expression, or else all words.
void add_names(const std::string& text, std::set<std::string>& names) {
  try {
    for (std::string& name : variables_of(Value(text))) names.insert(std::move(name));
    return;
  } catch (const Error&) {  // another language, or a fault that the reader reports
  }
  const auto in_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), in_name);
    at = std::find_if_not(begin, text.end(), in_name);
    if (begin != at) names.emplace(begin, at);
  }
}

void collect_names(const toml::node& node, std::set<std::string>& names) {
  if (const toml::table* table = node.as_table()) {
    for (const auto& entry : *table) collect_names(entry.second, names);
  } else if (const toml::array* array = node.as_array()) {
    for (const toml::node& entry : *array) collect_names(entry, names);
  } else if (const auto* text = node.as_string()) {
    add_names(text->get(), names);
  }
}

/// Returns the names in all values that may use an axis or a parameter.
std::set<std::string> names_in_values(const toml::table& document) {
  std::set<std::string> names;
  for (const char* key :
       {"system", "body", "joint", "time", "observable", "section", "stop", "fate", "average", "derivatives"})
    if (const toml::node* node = document.get(key)) collect_names(*node, names);
  for (const char* key : {"ensemble.initial", "ensemble.where"})
    if (const toml::node* node = document.at_path(key).node()) collect_names(*node, names);
  return names;
}

/// Returns whether an array of the ensemble has this name, as an axis with `key` = "name", or itself.
bool lists(const toml::table& ensemble, const char* array, const std::string& name) {
  const toml::array* entries = ensemble.get_as<toml::array>(array);
  return entries != nullptr && std::ranges::any_of(*entries, [&](const toml::node& entry) {
           const toml::table* axis = entry.as_table();
           return (axis != nullptr ? (*axis)["name"].value<std::string>() : entry.value<std::string>()) == name;
         });
}

/// Whether the study itself describes its system.
bool describes_system(const toml::table& document) {
  const toml::table* system = document.get_as<toml::table>("system");
  return system != nullptr && (has_formulas(*system) || document.contains("body"));
}

std::vector<std::string> parameters_of(const toml::table& document) {
  std::vector<std::string> names;
  if (const toml::table* parameters = document.at_path("system.parameters").as_table())
    for (const auto& entry : *parameters) names.emplace_back(entry.first.str());
  return names;
}

/// Refuses a new parameter that no value of the study names: it is a misspelt one, whose old value would stay.
void refuse_unused_parameters(const toml::table& before, const toml::table& after) {
  if (!describes_system(before) || !describes_system(after)) return;
  const std::vector<std::string> known = parameters_of(before);
  const std::set<std::string> used = names_in_values(after);
  for (const std::string& parameter : parameters_of(after)) {
    const auto names = [&parameter](const std::string& word) {  // k[i] is k1 or k_1
      return word == parameter || (word.find('[') != std::string::npos && parameter.starts_with(vector_of(word)));
    };
    if (std::ranges::find(known, parameter) != known.end() || std::ranges::any_of(used, names)) continue;
    input_error(place(*after.at_path(fmt::format("system.parameters.{}", parameter)).node()),
                fmt::format("nothing uses a parameter {} ({}){}", quote(parameter),
                            known.empty() ? "the study has none" : "known: " + join(known),
                            did_you_mean(parameter, known, "; change a formula with it, or leave it out")));
  }
}

}  // namespace

Consequences consequences_of(const toml::table& before, const toml::table& after, std::span<const std::string> keys,
                             bool listed) {
  // A key has a new value where a part of it, or the table or array that holds it, has one.
  const auto given = [&](const std::string& key) {
    return std::ranges::any_of(keys, [&](const std::string& other) {
      const auto& [part, whole] =
          std::minmax(key, other, [](const auto& a, const auto& b) { return a.size() < b.size(); });
      return whole.starts_with(part) &&
             (whole.size() == part.size() || whole[part.size()] == '.' || whole[part.size()] == '[');
    });
  };
  refuse_unused_parameters(before, after);
  Consequences result;
  for (const TableInfo& info : study_tables()) {
    const toml::table* table = after.get_as<toml::table>(info.path);
    if (table == nullptr) continue;
    for (const FieldInfo& row : info.fields) {
      if (*row.excludes == '\0' || !table->contains(row.key) || !table->contains(row.excludes)) continue;
      const std::string one = path_of(info.path, row.key), other = path_of(info.path, row.excludes);
      if (given(one) != given(other)) result.dropped.push_back(given(one) ? other : one);
    }
  }
  if (const toml::table* method = after.get_as<toml::table>("method"); method != nullptr && given("method.name"))
    if (const MethodEntry* entry = Catalogue::instance().method((*method)["name"].value_or(std::string())))
      for (const auto& [key, node] : *method) {
        const auto same = [&key = key](const auto& known) { return key == known; };
        if (std::ranges::none_of(method_fields, same, &FieldInfo::key) &&
            std::ranges::none_of(entry->options, same, &OptionInfo::name) && !given(path_of("method", key.str())))
          result.dropped.push_back(path_of("method", key.str()));
      }
  if (const toml::table* ensemble = after.get_as<toml::table>("ensemble")) {
    const std::set<std::string> now = names_in_values(after);
    for (const std::string& name : names_in_values(before))
      if (!now.contains(name) && !lists(*ensemble, "unused", name) &&
          (listed || ensemble->contains("file") || lists(*ensemble, "axes", vector_of(name))))
        result.unused.push_back(name);
  }
  return result;
}

void change(toml::table& document, std::span<const std::string> overrides) {
  if (overrides.empty()) return;
  const toml::table before = document;
  apply_overrides(document, overrides);
  std::vector<std::string> keys;
  for (const std::string& text : overrides) keys.push_back(text.substr(0, text.find('=')));
  const Consequences consequences = consequences_of(before, document, keys);
  for (const std::string& key : consequences.dropped) {
    const auto dot = key.find('.');
    document.get_as<toml::table>(key.substr(0, dot))->erase(key.substr(dot + 1));
  }
  if (consequences.unused.empty()) return;
  toml::table& ensemble = *document.get_as<toml::table>("ensemble");
  ensemble.insert("unused", toml::array());
  if (toml::array* unused = ensemble.get_as<toml::array>("unused"))
    for (const std::string& name : consequences.unused) unused->push_back(name);
}

}  // namespace rattleback
