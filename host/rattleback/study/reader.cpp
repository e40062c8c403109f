#include "rattleback/study/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "rattleback/base/floating_point.hpp"
#include "rattleback/base/text_file.hpp"
#include "rattleback/language/read.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/changes.hpp"
#include "rattleback/study/formulas_text.hpp"
#include "rattleback/study/machine.hpp"
#include "rattleback/study/tables.hpp"
#include "rattleback/study/toml.hpp"

namespace rattleback {
namespace {

const toml::table& table_of(const toml::table& root, std::string_view key) {
  const toml::node& node = *root.get(key);
  if (!node.is_table()) wrong_type(node, key, "a table");
  return *node.as_table();
}

void record_places(const toml::node& node, const std::string& key, Study& study) {
  if (!key.empty()) study.places[key] = place_of(node.source());
  if (const toml::table* table = node.as_table()) {
    for (const auto& [name, child] : *table) {
      record_places(child, key.empty() ? std::string(name.str()) : fmt::format("{}.{}", key, name.str()), study);
    }
  } else if (const toml::array* array = node.as_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (array->get(i)->is_table()) record_places(*array->get(i), fmt::format("{}[{}]", key, i), study);
    }
  }
}

/// Reads a system that is written as formulas in `table`.
void read_formulas(const toml::table& table, bool starts_there, Study::System& system) {
  system.formulas = std::make_shared<const SystemFormulas>(read_system_formulas(table, starts_there));
  system.formulas_text = formulas_as_toml(table);
  system.name = system.formulas->name;
  if (const toml::table* parameters = table["parameters"].as_table())
    for (const auto& [name, node] : *parameters)  // in a table are the default, the unit and a text
      if (!node.is_table())
        system.parameters[std::string(name.str())] = to_value(node, fmt::format("system.parameters.{}", name.str()));
}

/// Reads the formulas in a file of their own. The study may give values of parameters.
void read_formulas_of(const std::filesystem::path& file, const toml::table& table, bool starts_there,
                      Study::System& system) {
  check_known(table, "system", rows_of<Study::System>(system_fields, formulas_file));
  constexpr std::size_t most = std::size_t{64} << 20;
  const std::string text = read_regular(file, most, place_of(table.get("file")->source()));
  const toml::table document = parse_document(text, file.string());
  const toml::table* own = document["system"].as_table();
  read_formulas(own != nullptr ? *own : document, starts_there, system);
  const std::string name = system.name;
  read_fields<Study::System>(table, "system", system_fields, system, formulas_file);
  system.file.clear();  // that of a header
  if (name != system.name)
    input_error(place_of(table.get("name")->source()),
                fmt::format("the system of {} is '{}' (got {}); leave the name out",
                            quote(file.string(), most_of_a_path), name, quote(system.name)));
}

/// Returns whether trajectories start in the default state of the system as it is.
bool starts_in_default_state(const toml::table& document) {
  const auto ensemble = document["ensemble"];
  return !ensemble["file"] && !ensemble["initial"]["q"] && !ensemble["project"].value_or(false);
}

void read_system(const toml::table& table, const std::filesystem::path& folder, bool starts_there,
                 Study::System& system) {
  system.where = place_of(table.source());
  if (has_formulas(table)) {
    read_formulas(table, starts_there, system);
    return;
  }
  if (const auto* own = table["file"].as_string(); own != nullptr && own->get().ends_with(".toml")) {
    read_formulas_of(folder / own->get(), table, starts_there, system);
    return;
  }
  read_fields<Study::System>(table, "system", system_fields, system, catalogue_system | header_system);
  const bool header = table.contains("file");
  if (!header && (table.contains("type") || table.contains("digest")))
    input_error(system.where, "system.file is missing; it names the C++ header of system.type");
  if (!table.contains(header ? "type" : "name"))
    input_error(system.where, header ? "system.type is missing; it names the class template in system.file"
                                     : "system.name is missing; take one of 'rattleback list systems', or write your "
                                       "own with coordinates and formulas");
}

std::vector<double> to_numbers(const toml::array& array, const std::string& key) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < array.size(); ++i)
    numbers.push_back(to_number(*array.get(i), fmt::format("{}[{}]", key, i)));
  return numbers;
}

MethodOption to_option(const toml::node& node, const std::string& key) {
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* text = node.as_string()) return text->get();
  const toml::array* array = node.as_array();
  if (array == nullptr) wrong_type(node, key, "a number, a string, true or false, or an array of numbers");
  if (array->empty() || !array->get(0)->is_array()) return to_numbers(*array, key);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const std::string row_key = fmt::format("{}[{}]", key, i);
    const toml::array* row = array->get(i)->as_array();
    if (row == nullptr) wrong_type(*array->get(i), row_key, "an array of numbers, as the first row is");
    rows.push_back(to_numbers(*row, row_key));
  }
  return rows;
}

/// Returns whether the method has an option `name` with "given" as a choice.
bool may_be_given(const std::string& method, std::string_view name) {
  const MethodEntry* entry = Catalogue::instance().method(method);
  return entry != nullptr && std::ranges::any_of(entry->options, [&](const OptionInfo& option) {
           return option.name == name &&
                  std::ranges::find(option.choices, std::string_view("given")) != option.choices.end();
         });
}

/// Reads an option. A table such as tableau = { a = .., b = .. } means tableau = "given" plus the options in the table.
void read_option(const toml::table& options, std::string_view key, const toml::node& node, Study::Method& method) {
  const toml::table* table = node.as_table();
  if (table == nullptr || !may_be_given(method.name, key)) {
    method.options[std::string(key)] = to_option(node, fmt::format("method.{}", key));
    return;
  }
  method.options[std::string(key)] = "given";
  for (const auto& [part, value] : *table) {
    const std::string path = fmt::format("method.{}", part.str());
    if (options.contains(part.str()))
      input_error(place_of(value.source()),
                  fmt::format("{} is given in method.{} and beside it; leave one out", path, key));
    method.options[std::string(part.str())] = to_option(value, path);
  }
}

/// Reads [method]. All keys that no row has are options of the method.
void read_method(const toml::table& table, Study::Method& method) {
  method.where = place_of(table.source());
  if (!table.contains("name"))
    input_error(method.where, "method.name is missing; take one of 'rattleback list methods'");
  read_rows<Study::Method>(table, "method", method_fields, method);
  for (const auto& [key, node] : table)
    if (std::ranges::none_of(method_fields, [&key = key](const FieldInfo& row) { return row.key == key.str(); }))
      read_option(table, key.str(), node, method);
}

}  // namespace

Study read_study(std::string_view toml, std::string_view origin, std::span<const std::string> overrides,
                 std::span<const std::string> changes, bool states_follow, const std::filesystem::path& folder) {
  const FloatingPointScope environment;
  toml::table document = parse_document(toml, origin);
  change(document, overrides);
  change(document, changes);
  assemble_machine(document);

  Study study;
  record_places(document, "", study);
  check_keys(document, "", rows_of<Study>(root_fields, ~0u));
  read_system(table_of(document, "system"), folder.empty() ? std::filesystem::path(origin).parent_path() : folder,
              !states_follow && starts_in_default_state(document), study.system);
  read_method(table_of(document, "method"), study.method);
  read_rows<Study>(document, "", root_fields, study);
  return study;
}

Study read_study_file(const std::filesystem::path& file, std::span<const std::string> overrides,
                      std::span<const std::string> changes) {
  constexpr std::size_t most = std::size_t{64} << 20;
  Study study = read_study(read_text(file, most), file.string(), overrides, changes);
  study.file = file;
  study.directory = file.parent_path();  // a header of the study is sought there
  return study;
}

}  // namespace rattleback
