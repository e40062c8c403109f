#include "rattleback/study/schema.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include "rattleback/base/json.hpp"
#include "rattleback/language/read.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/describe.hpp"
#include "rattleback/study/options.hpp"
#include "rattleback/study/tables.hpp"

namespace rattleback {
namespace {

const TableInfo* find_table(const std::string& path) {
  const auto found = std::ranges::find_if(study_tables(), [&](const TableInfo& table) { return table.path == path; });
  return found == study_tables().end() ? nullptr : &*found;
}

std::vector<std::string> words_of(std::span<const char* const> names) { return {names.begin(), names.end()}; }

/// Returns the schema of tables that have these keys.
Json with_keys(std::initializer_list<const char*> keys) {
  Json schema;
  for (const char* key : keys) schema["required"].push_back(key);
  return schema;
}

Json object(Json properties) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

Json array_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

/// Adds the bounds of a row to the schema of a number or of an element.
void add_bounds(Json& schema, double minimum, double maximum, bool above = false) {
  if (std::isfinite(minimum)) schema[above ? "exclusiveMinimum" : "minimum"] = minimum;
  if (std::isfinite(maximum)) schema["maximum"] = maximum;
}

Json schema_of(const TableInfo& table, unsigned kinds = ~0u);

Json schema_of(const FieldInfo& row, const std::string& path) {
  Json schema;
  if (row.table != nullptr) {
    schema = schema_of(TableInfo{row.list ? path + "[]" : path, row.table()});
  } else {
    schema = parse_json(row.schema);
    add_bounds(schema, row.minimum, row.maximum, row.above);
    if (!row.choices.empty()) schema["enum"] = words_of(row.choices);
  }
  if (row.list) schema = array_of(schema);
  schema["description"] = without_links(row.text);
  return schema;
}

/// Returns the schema of a table with the keys of these kinds.
Json schema_of(const TableInfo& table, unsigned kinds) {
  const std::string_view path = table.path;
  if (kinds == ~0u && path == "ensemble.axes[]") {
    Json any = Json::array();
    for (const AxisKinds kind : {range_axis, values_axis, uniform_axis, normal_axis})
      any.push_back(schema_of(table, kind));
    return {{"anyOf", any}};
  }
  Json properties = Json::object(), required = Json::array();
  for (const FieldInfo& row : table.fields) {
    if ((row.kinds & kinds) == 0) continue;
    properties[row.key] = schema_of(row, path_of(path, row.key));
    if (row.required() && (row.kinds & kinds) == kinds) required.push_back(row.key);  // not where one kind needs it
  }
  Json schema = object(properties);
  if (!required.empty()) schema["required"] = required;
  for (const FieldInfo& row : table.fields)
    if (*row.excludes != '\0') schema["allOf"].push_back(Json{{"not", with_keys({row.excludes, row.key})}});
  return schema;
}

Json schema_of(const OptionInfo& option) {
  Json schema;
  switch (option.kind) {
    case OptionKind::integer:
      schema["type"] = "integer";
      break;
    case OptionKind::choice:
      schema["enum"] = words_of(option.choices);
      break;
    case OptionKind::number:
      schema["type"] = {"number", "string"};
      break;
    case OptionKind::flag:
      schema["type"] = "boolean";
      break;
    case OptionKind::numbers:
    case OptionKind::matrix:
      schema = array_of({{"type", {"number", "string"}}});
      if (option.kind == OptionKind::matrix) schema = array_of(schema);
      break;
  }
  if (option.kind == OptionKind::integer || option.kind == OptionKind::number)
    add_bounds(schema, option.minimum, option.maximum);
  if (std::ranges::find(option.choices, std::string_view("given")) != option.choices.end())
    schema = Json{{"anyOf", Json::array({schema, Json{{"type", "object"}}})}};
  schema["description"] = option.text;
  if (option.kind != OptionKind::matrix && option.kind != OptionKind::numbers)
    schema["default"] = json_of(default_of(option));
  return schema;
}

/// A table with the keys of rows and others, of which one key says which alternative holds.
Json alternatives(const char* path, Json any) {
  const TableInfo& table = *find_table(path);
  Json names = Json::object();
  for (const FieldInfo& row : table.fields) names[row.key] = {{"description", without_links(row.text)}};
  return {{"type", "object"}, {"properties", names}, {"anyOf", std::move(any)}};
}

Json schema_of_method() {
  Json any = Json::array();
  const Json solver = schema_of(*find_table("method.solver"));
  for (const MethodEntry* method : Catalogue::instance().methods()) {
    Json properties{{"name", {{"const", method->name}, {"description", method->summary}}}};
    for (const OptionInfo& option : method->options) properties[option.name] = schema_of(option);
    properties["solver"] = solver;
    any.push_back(object(properties));
    any.back().update(with_keys({"name"}));
  }
  return alternatives("method", any);
}

/// A table with the keys of formulas.
Json schema_of_formulas() {
  Json properties = Json::object();
  for (const FormulaKey& row : keys_of_formulas()) {
    properties[row.key] = parse_json(row.schema);
    properties[row.key]["description"] = row.text;
  }
  Json schema = object(properties);
  schema.update(with_keys({"name"}));
  return schema;
}

Json schema_of_system() {
  Json any = Json::array();
  const Json value{{"type", {"number", "string"}}};
  for (const std::string& name : Catalogue::instance().system_names()) {
    Json variants = Json::array(), parameters = Json::object();
    const auto instances = Catalogue::instance().instances(name);
    for (const SystemEntry* system : instances) {
      if (*system->variant != '\0' && std::ranges::find(variants, system->variant) == variants.end())
        variants.push_back(system->variant);
      for (const StructureInfo& info : system->structure) parameters[info.name] = {{"type", "number"}};
      for (const ParameterInfo& info : system->parameters) {
        parameters[info.name] = value;
        parameters[info.name]["description"] =
            *info.unit != '\0' ? fmt::format("{} [{}]", info.text, info.unit) : std::string(info.text);
        parameters[info.name]["default"] = info.value;
      }
    }
    Json properties{{"name", {{"const", name}, {"description", instances[0]->summary}}}};
    if (!variants.empty()) properties["variant"] = {{"enum", variants}};
    properties["parameters"] = object(parameters);
    any.push_back(object(properties));
    any.back().update(with_keys({"name"}));
  }
  Json header = schema_of(*find_table("system"), header_system), file = schema_of(*find_table("system"), formulas_file);
  header.update(with_keys({"file", "type"}));
  file.update(with_keys({"file"}));
  file["properties"]["file"]["pattern"] = "\\.toml$";
  any.push_back(header);
  any.push_back(file);
  any.push_back(schema_of_formulas());
  any.back()["anyOf"] = Json::array({with_keys({"coordinates"}), with_keys({"group"})});
  return alternatives("system", any);
}

}  // namespace

std::string without_links(const std::string& markdown) {
  static const std::regex link(R"( ?\(\[[^\]]*\]\([^)]*\)\))");
  return std::regex_replace(markdown, link, "");
}

Json list_keys() {
  auto keys = Json::array();
  for (const TableInfo& table : study_tables())
    for (const FieldInfo& row : table.fields) {
      auto& key = keys.emplace_back();
      key["name"] = path_of(table.path, row.key);
      key["type"] = row.wanted;
      key["default"] = row.standard;
      if (!row.choices.empty()) key["choices"] = words_of(row.choices);
      if (const std::string range = row.range(); !range.empty()) key["range"] = range;
      if (table.path == "ensemble.axes[]")
        for (const auto& [kind, name] : {std::pair{range_axis, "range"}, std::pair{values_axis, "values"},
                                         std::pair{uniform_axis, "uniform"}, std::pair{normal_axis, "normal"}})
          if ((row.kinds & kind) != 0) key["axes"].push_back(name);
      key["text"] = row.text;
    }
  for (const FormulaKey& row : keys_of_formulas()) {
    const std::string name = path_of("system", row.key);
    if (std::ranges::any_of(keys, [&](const Json& key) { return key["name"] == name; })) continue;
    keys.push_back(
        {{"name", name}, {"type", row.wanted}, {"default", row.standard}, {"formulas", true}, {"text", row.text}});
  }
  return keys;
}

Json study_schema() {
  Json schema = schema_of(*find_table(""));
  Json machine{{"properties", {{"system", schema_of_formulas()}}}},
      other{{"properties", {{"system", schema_of_system()}}}};
  machine.update(with_keys({"body"}));
  other["not"] = with_keys({"body"});
  schema["anyOf"] = Json::array({machine, other});
  schema["properties"]["system"] = Json::object();
  schema["properties"]["method"] = schema_of_method();
  schema["properties"]["time"]["anyOf"] = Json::array({with_keys({"end"}), with_keys({"steps"})});
  Json document{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Study of rattleback"}};
  document.update(schema);
  return document;
}

}  // namespace rattleback
