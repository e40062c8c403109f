#include "rattleback/study/describe.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/study/citations.hpp"
#include "rattleback/study/familiar.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/options.hpp"
#include "rattleback/study/schema.hpp"
#include "rattleback/study/statistics.hpp"
#include "rattleback/study/tables.hpp"

namespace rattleback {

Json json_of(const MethodOption& value) {
  return std::visit([](const auto& x) { return Json(x); }, value.content);
}

Json json_of(std::span<const OptionInfo> options) {
  constexpr const char* kinds[] = {"integer", "choice", "number", "flag", "numbers", "matrix"};
  constexpr const char* scopes[] = {"all", "groups-matter", "groups-only", "rn-only", "holonomic-only"};
  static_assert(std::size(scopes) == static_cast<int>(OptionScope::holonomic_only) + 1);
  auto json = Json::array();
  for (const OptionInfo& option : options) {
    auto& entry = json.emplace_back();
    entry["name"] = option.name;
    entry["kind"] = kinds[static_cast<int>(option.kind)];
    entry["default"] = json_of(default_of(option));
    if (option.kind == OptionKind::choice)
      entry["choices"] = std::vector<std::string>(option.choices.begin(), option.choices.end());
    if (std::isfinite(option.minimum)) entry["minimum"] = option.minimum;
    if (std::isfinite(option.maximum)) entry["maximum"] = option.maximum;
    if (const std::string range = range_in_words(option); !range.empty()) entry["range"] = range;
    entry["systems"] = scopes[static_cast<int>(option.scope)];
    entry["text"] = option.text;
  }
  return json;
}

namespace {

/// Returns the references of a system of the catalogue; none for a system of the user.
std::vector<Citation> references_of(const SystemEntry& system) {
  const auto builtin = Catalogue::instance().systems();
  if (std::ranges::find(builtin, &system) == builtin.end()) return {};
  return Bibliography::instance().of_system(system.name);
}

Json describe_instance(const SystemEntry& s) {
  Json json{{"variant", s.variant},
            {"summary", s.summary},
            {"configuration_dimension", s.n},
            {"configuration_numbers", s.elements},
            {"constraints", s.m}};
  for (const StructureInfo& p : s.structure) json["structure"][p.name] = p.value;
  json["state"] = Json::array({fmt::format("q[{}]", s.elements), fmt::format("p[{}]", s.n)});
  if (s.m > 0) json["state"].push_back(fmt::format("lambda[{}]", s.m));
  json["coordinates"] = std::vector<std::string>(s.coordinates.begin(), s.coordinates.end());
  json["parameters"] = Json::array();
  for (const ParameterInfo& p : s.parameters)
    json["parameters"].push_back({{"name", p.name}, {"default", p.value}, {"unit", p.unit}, {"text", p.text}});
  json["driven"] = s.driven;
  json["observables"] = Json::array();
  for (const ObservableInfo& o : s.observables)
    json["observables"].push_back({{"name", o.name}, {"conserved", o.conserved}, {"text", o.text}});
  json["default_q"] = std::vector(s.default_q.begin(), s.default_q.end());
  json["default_v"] = std::vector(s.default_v.begin(), s.default_v.end());
  if (!s.default_p.empty()) json["default_p"] = std::vector(s.default_p.begin(), s.default_p.end());
  json["time_scale"] = s.time_scale;
  json["methods"] = Json::array();
  for (const MethodEntry* m : Catalogue::instance().methods())
    if (m->take(s)) json["methods"].push_back(m->name);
  return json;
}

/// What each lambda[i] is called, of which joint it is, what it does, and the constraint that it holds.
Json describe_multipliers(const SystemFormulas& system) {
  auto json = Json::array();
  for (std::size_t k = 0; k < static_cast<std::size_t>(system.m()); ++k) {
    const std::size_t positions = system.constraints.size();
    const FormulaText& constraint = k < positions ? system.constraints[k] : system.velocity_constraints[k - positions];
    const SystemFormulas::Multiplier known =
        k < system.multipliers.size() ? system.multipliers[k] : SystemFormulas::Multiplier{};
    json.push_back({{"component", fmt::format("lambda[{}]", k)},
                    {"name", known.name},
                    {"joint", known.joint},
                    {"unit", known.unit},
                    {"text", known.text},
                    {"constraint", one_line(constraint.text.substr(constraint.begin))},
                    {"of", k < positions ? "positions" : "velocities"}});
    for (const auto& [index, value] : constraint.indices) json.back()["indices"][index] = value;
  }
  return json;
}

Json describe_method(const MethodEntry& m) {
  Json json{{"name", m.name}, {"kind", "method"}, {"summary", m.summary}, {"order", m.order}, {"source", m.source}};
  json["references"] = json_of(Bibliography::instance().of_method(m.name));
  json["options"] = json_of(m.options);
  for (const FieldInfo& row : solver_fields) {
    if (row.key == std::string_view("guess") && !m.predicts) continue;
    const std::string standard = row.standard;  // between backticks
    Json option{{"name", path_of("solver", row.key)}, {"default", parse_json(standard.substr(1, standard.size() - 2))}};
    if (!row.choices.empty()) option["choices"] = std::vector<std::string>(row.choices.begin(), row.choices.end());
    option["text"] = without_links(row.text);
    json["options"].push_back(std::move(option));
  }
  json["takes"] = systems_in_words(m) + (m.driven ? "; also with forces and explicit time" : "");
  json["driven"] = m.driven;
  json["state"] = m.carries_multiplier ? Json{"q", "p", "lambda"} : Json{"q", "p"};
  json["frame"] = m.in_space ? "space" : "body";
  json["step_observables"] = Json::array();
  SystemEntry some_system{};
  some_system.n = some_system.m = some_system.elements = 1;
  for (const RunObservable& observable : run_observables())
    if (observable.of_step && observable.components(some_system, m) > 0)
      json["step_observables"].push_back(observable.title());
  json["systems"] = Json::array();
  for (const std::string& name : Catalogue::instance().system_names())
    if (m.take(*Catalogue::instance().instances(name)[0])) json["systems"].push_back(name);
  return json;
}

}  // namespace

Json describe_system(const std::string& name, const std::vector<const SystemEntry*>& instances,
                     const SystemFormulas* formulas) {
  Json json{{"name", name},
            {"kind", "system"},
            {"configuration", instances[0]->configuration},
            {"source", instances[0]->source},
            {"references", json_of(references_of(*instances[0]))},
            {"instances", Json::array()}};
  for (const SystemEntry* instance : instances) json["instances"].push_back(describe_instance(*instance));
  if (formulas != nullptr && formulas->m() > 0) json["instances"][0]["multipliers"] = describe_multipliers(*formulas);
  return json;
}

Json describe(const std::string& name) {
  const Catalogue& catalogue = Catalogue::instance();
  if (const MethodEntry* method = catalogue.method(name)) return describe_method(*method);
  const auto instances = catalogue.instances(name);
  if (!instances.empty()) return describe_system(name, instances);
  if (const std::string_view ours = familiar_method(name); !ours.empty())
    input_error("", fmt::format("no system or method is named {}; {}", quote(name), ours));
  std::vector<std::string> known = catalogue.system_names();
  for (const MethodEntry* method : catalogue.methods()) known.emplace_back(method->name);
  input_error("", fmt::format("no system or method is named {}{}", quote(name),
                              did_you_mean(name, known, "; see rattleback list")));
}

Json list(const CatalogueParts& what) {
  const Catalogue& catalogue = Catalogue::instance();
  Json json;
  if (what.systems) {
    for (const std::string& name : catalogue.system_names()) {
      const auto instances = catalogue.instances(name);
      Json entry{{"name", name},
                 {"summary", instances[0]->summary},
                 {"configuration", instances[0]->configuration},
                 {"source", instances[0]->source}};
      for (const SystemEntry* system : instances) {
        Json reading{{"variant", system->variant}, {"n", system->n}, {"elements", system->elements}, {"m", system->m}};
        for (const StructureInfo& s : system->structure) reading["structure"][s.name] = s.value;
        entry["instances"].push_back(reading);
      }
      json["systems"].push_back(entry);
    }
  }
  if (what.methods) {
    for (const MethodEntry* method : catalogue.methods())
      json["methods"].push_back({{"name", method->name},
                                 {"summary", method->summary},
                                 {"options", json_of(method->options)},
                                 {"order", method->order},
                                 {"takes", systems_in_words(*method)},
                                 {"source", method->source}});
  }
  if (what.observables)
    for (const RunObservable& observable : run_observables())
      json["observables"].push_back(
          {{"name", observable.title()}, {"of_step", observable.of_step}, {"text", observable.text}});
  if (what.statistics)
    for (const StatisticEntry& statistic : statistics())
      json["statistics"].push_back({{"name", statistic.name}, {"text", statistic.text}});
  if (what.keys) json["keys"] = list_keys();
  return json;
}

}  // namespace rattleback
