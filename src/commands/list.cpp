#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/report.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/describe.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/options.hpp"
#include "rattleback/study/schema.hpp"
#include "rattleback/study/statistics.hpp"

namespace rattleback::program {
namespace {

/// Returns the differences between the instances of a system: "printed: m = 2, 3, 4; contact: m = 2, 3, 4".
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

/// Returns "stages 2 to 5; retraction cay, exp; ".
std::string options_of(const MethodEntry& method) {
  std::string text;
  for (const OptionInfo& option : method.options) {
    const std::string range = option.kind == OptionKind::flag ? "" : range_in_words(option);
    text += fmt::format("{}{}{}; ", option.name, range.empty() ? "" : " ", range);
  }
  return text;
}

void print_text(const CatalogueParts& what) {
  const Catalogue& catalogue = Catalogue::instance();
  if (what.systems) {
    print_stdout("systems\n");
    for (const std::string& name : catalogue.system_names()) {
      const auto instances = catalogue.instances(name);
      print_stdout("  {}\n      {}\n      {}\n", name, instances[0]->summary, instances[0]->configuration);
      if (const std::string text = readings(instances); !text.empty()) print_stdout("      variants: {}\n", text);
      print_stdout("      source: {}\n", instances[0]->source);
    }
  }
  if (what.methods) {
    print_stdout("methods\n");
    for (const MethodEntry* method : catalogue.methods())
      print_stdout("  {}\n      {}\n      {}order {}\n      for {}\n      source: {}\n", method->name, method->summary,
                   options_of(*method), method->order, systems_in_words(*method), method->source);
  }
  if (what.observables) {
    print_stdout("observables, besides those of a system\n");
    for (const RunObservable& observable : run_observables())
      print_stdout("  {:<28}{}{}\n", observable.title(), observable.text,
                   observable.of_step ? ", of the last step" : "");
  }
  if (what.statistics) {
    print_stdout("statistics of values x with references r, over the c trajectories that count\n");
    for (const StatisticEntry& statistic : statistics()) print_stdout("  {:<28}{}\n", statistic.name, statistic.text);
  }
  if (what.keys) {
    print_stdout("keys of a study file\n");
    for (const auto keys = list_keys(); const auto& key : keys) {
      std::string notes =
          fmt::format("{}; default {}", key["type"].get<std::string>(), key["default"].get<std::string>());
      if (key.contains("range")) notes += "; " + key["range"].get<std::string>();
      if (key.contains("choices")) notes += "; " + join(key["choices"].get<std::vector<std::string>>());
      if (key.contains("formulas")) notes += "; of systems as formulas";
      if (key.contains("axes")) notes += "; of axes " + join(key["axes"].get<std::vector<std::string>>());
      print_stdout("  {:<34}{}\n      {}\n", key["name"].get<std::string>(), notes,
                   without_links(key["text"].get<std::string>()));
    }
  }
}

void print_names(const CatalogueParts& what) {
  const Catalogue& catalogue = Catalogue::instance();
  if (what.systems)
    for (const std::string& name : catalogue.system_names()) print_stdout("{}\n", name);
  if (what.methods)
    for (const MethodEntry* method : catalogue.methods()) print_stdout("{}\n", method->name);
  if (what.observables)
    for (const RunObservable& observable : run_observables()) print_stdout("{}\n", observable.title());
  if (what.statistics)
    for (const StatisticEntry& statistic : statistics()) print_stdout("{}\n", statistic.name);
  if (what.keys)
    for (const auto keys = list_keys(); const auto& key : keys) print_stdout("{}\n", key["name"].get<std::string>());
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("list", "list systems, methods, observables, statistics and the keys of a study");
  auto what = std::make_shared<std::string>();
  auto names = std::make_shared<bool>(false), json = std::make_shared<bool>(false),
       schema = std::make_shared<bool>(false);
  command
      ->add_option("what", *what,
                   "systems, methods, observables, statistics or keys of a study; default: systems and methods")
      ->check(CLI::IsMember({"systems", "methods", "observables", "statistics", "keys"}));
  command->add_flag("--names", *names, "the names alone, one per line");
  command->add_flag("--json", *json, "as one JSON object");
  command->add_flag(
      "--schema", *schema,
      "the JSON schema of a study file, from which editors complete and check studies (docs/study-file.md)");
  command->footer("Examples:\n  rattleback list keys\n  rattleback list --schema > study.schema.json");
  command->callback([what, names, json, schema, &exit_code] {
    const bool both = what->empty();
    const CatalogueParts listed{both || *what == "systems", both || *what == "methods", *what == "observables",
                                *what == "statistics", *what == "keys"};
    if (*schema) {
      print_stdout_json(study_schema());
    } else if (*json) {
      print_stdout_json(list(listed));
    } else if (*names) {
      print_names(listed);
    } else {
      print_text(listed);
    }
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
