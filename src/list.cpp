#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/catalogue/method_options.hpp"
#include "report.hpp"

namespace rattleback::program {
namespace {

/// What distinguishes the instances of a system: "printed m=2,3,4; contact m=2,3,4".
std::string readings(const std::vector<const SystemEntry*>& instances) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const SystemEntry* system : instances) {
    auto group = std::ranges::find(groups, system->variant, &std::pair<std::string, std::string>::first);
    if (group == groups.end()) group = groups.emplace(groups.end(), system->variant, "");
    for (const StructureInfo& s : system->structure)
      group->second += fmt::format("{}{}", group->second.empty() ? fmt::format("{} = ", s.name) : ", ", s.value);
  }
  std::string text;
  for (const auto& [variant, values] : groups) {
    if (variant.empty() && values.empty()) continue;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : "; ", variant, variant.empty() || values.empty() ? "" : ": ",
                        values);
  }
  return text;
}

/// "stages 2 to 5; retraction cay, exp; "
std::string options_of(const MethodEntry& method) {
  std::string text;
  for (const OptionInfo& option : method.options) {
    const std::string range = option.kind == OptionKind::flag ? "" : range_in_words(option);
    text += fmt::format("{}{}{}; ", option.name, range.empty() ? "" : " ", range);
  }
  return text;
}

void print_text(bool systems, bool methods) {
  const Catalogue& catalogue = Catalogue::instance();
  if (systems) {
    fmt::print("systems\n");
    for (const std::string& name : catalogue.system_names()) {
      const auto instances = catalogue.instances(name);
      fmt::print("  {}\n      {}\n      {}\n", name, instances[0]->summary, instances[0]->configuration);
      if (const std::string text = readings(instances); !text.empty()) fmt::print("      variants: {}\n", text);
      fmt::print("      source: {}\n", instances[0]->source);
    }
  }
  if (methods) {
    fmt::print("methods\n");
    for (const MethodEntry* method : catalogue.methods())
      fmt::print("  {}\n      {}\n      {}order {}\n      for {}\n      source: {}\n", method->name, method->summary,
                 options_of(*method), method->order, systems_in_words(*method), method->source);
  }
}

void print_names(bool systems, bool methods) {
  const Catalogue& catalogue = Catalogue::instance();
  if (systems)
    for (const std::string& name : catalogue.system_names()) fmt::print("{}\n", name);
  if (methods)
    for (const MethodEntry* method : catalogue.methods()) fmt::print("{}\n", method->name);
}

void print_json(bool systems, bool methods) {
  const Catalogue& catalogue = Catalogue::instance();
  nlohmann::ordered_json json;
  if (systems) {
    for (const std::string& name : catalogue.system_names()) {
      const auto instances = catalogue.instances(name);
      nlohmann::ordered_json entry{{"name", name},
                                   {"summary", instances[0]->summary},
                                   {"configuration", instances[0]->configuration},
                                   {"source", instances[0]->source}};
      for (const SystemEntry* system : instances) {
        nlohmann::ordered_json reading{
            {"variant", system->variant}, {"n", system->n}, {"elements", system->elements}, {"m", system->m}};
        for (const StructureInfo& s : system->structure) reading["structure"][s.name] = s.value;
        entry["instances"].push_back(reading);
      }
      json["systems"].push_back(entry);
    }
  }
  if (methods) {
    for (const MethodEntry* method : catalogue.methods())
      json["methods"].push_back({{"name", method->name},
                                 {"summary", method->summary},
                                 {"options", json_of(method->options)},
                                 {"order", method->order},
                                 {"takes", systems_in_words(*method)},
                                 {"source", method->source}});
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("list", "list the systems and methods with their sources");
  auto what = std::make_shared<std::string>();
  auto names = std::make_shared<bool>(false), json = std::make_shared<bool>(false);
  command->add_option("what", *what, "systems or methods; default: both")->check(CLI::IsMember({"systems", "methods"}));
  command->add_flag("--names", *names, "the names alone, one per line");
  command->add_flag("--json", *json, "as one JSON object");
  command->callback([what, names, json, &exit_code] {
    (*json ? print_json : *names ? print_names : print_text)(*what != "methods", *what != "systems");
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
