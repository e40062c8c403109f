#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "output/report.hpp"
#include "rattleback/about/describe.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/catalogue/catalogue.hpp"
#include "rattleback/catalogue/observables.hpp"
#include "rattleback/compile/sources.hpp"
#include "rattleback/files/text_file.hpp"
#include "rattleback/formulas/print.hpp"
#include "rattleback/problem/problem.hpp"

namespace rattleback::program {
namespace {

using Json = nlohmann::ordered_json;

void print_lines(const Json& list, const char* format_name) {
  for (const Json& item : list)
    fmt::print("    {:<24} {}{}{}{}{}\n", item["name"].get<std::string>(), item["text"].get<std::string>(),
               item.contains("unit") ? fmt::format(" [{}]", item["unit"].get<std::string>()) : "",
               item.contains("range") ? fmt::format("; {}", item["range"].get<std::string>()) : "",
               item.value("systems", "all") == "all" ? "" : "; for systems on Lie groups",
               item.contains("default") ? fmt::format("; {} {}", format_name, item["default"].dump()) : "");
}

void print_references(const Json& references) {
  if (!references.empty()) fmt::print("  references\n");
  for (const Json& r : references) {
    const std::string place = r["place"];
    fmt::print("    {}{}\n", r["text"].get<std::string>(), place.empty() ? "" : fmt::format(" [{}]", place));
  }
}

void print_text(const Json& json) {
  fmt::print("{} ({})\n", json["name"].get<std::string>(), json["kind"].get<std::string>());
  if (json["kind"] == "method") {
    fmt::print("  {}\n  order: {}\n  source: {}\n  takes: {}\n  state: {}; on Lie groups v, p in {}\n  options\n",
               json["summary"].get<std::string>(), json["order"].get<std::string>(), json["source"].get<std::string>(),
               json["takes"].get<std::string>(), json["state"].dump(),
               json["frame"] == "space" ? "space (right trivialised)" : "the body (left trivialised)");
    print_lines(json["options"], "default");
    if (!json["step_observables"].empty()) fmt::print("  observables of a step: {}\n", json["step_observables"].dump());
    fmt::print("  systems: {}\n", json["systems"].dump());
    print_references(json["references"]);
    return;
  }
  fmt::print("  configuration: {}\n  source: {}\n", json["configuration"].get<std::string>(),
             json["source"].get<std::string>());
  for (const Json& instance : json["instances"]) {
    std::string title = instance["variant"];
    if (instance.contains("structure"))
      for (const auto& [name, value] : instance["structure"].items())
        title += fmt::format("{}{} = {}", title.empty() ? "" : ", ", name, value.get<double>());
    if (!title.empty()) fmt::print("  variant {}\n", title);
    fmt::print("  {}\n  state: {}\n", instance["summary"].get<std::string>(), instance["state"].dump());
    if (!instance["coordinates"].empty()) fmt::print("  coordinates: {}\n", instance["coordinates"].dump());
    fmt::print("  parameters\n");
    print_lines(instance["parameters"], "default");
    std::string others;
    for (const RunObservable& observable : run_observables())
      if (!observable.of_step) others += (others.empty() ? "" : ", ") + observable.title();
    fmt::print("  observables (also {})\n", others);
    print_lines(instance["observables"], "");
    fmt::print("  default q: {}\n  default v: {}\n  methods: {}\n", instance["default_q"].dump(),
               instance["default_v"].dump(), instance["methods"].dump());
  }
  print_references(json["references"]);
}

/// Prints the C++ header of the system of a study.
void print_header(const Problem& problem) {
  const SystemSource& source = problem.system->source_text;
  if (problem.study.system.formulas) {
    fmt::print("{}", system_header(*problem.study.system.formulas));
    return;
  }
  for (const EmbeddedHeader& header : embedded_headers())
    if (header.name == source.header) fmt::print("{}", header.text);
  if (!problem.study.system.file.empty()) fmt::print("{}", read_text(problem.study.system.file, std::size_t{64} << 20));
}

}  // namespace

void add_describe(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("describe", "parameters, observables, state layout and source of a system or method");
  auto name = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  auto header = std::make_shared<bool>(false);
  command->add_option("name", *name, "system or method; or a study, for its system")
      ->required()
      ->type_name(value::entry);
  command->add_flag("--header", *header, "the C++ header of the system of a study; of formulas, the one they become");
  command->add_flag("--json", *as_json, "as one JSON object");
  command->footer("Examples:\n  rattleback describe chaplygin-sleigh\n  rattleback describe study.toml --header");
  command->callback([name, as_json, header, &exit_code] {
    const Catalogue& catalogue = Catalogue::instance();
    auto instances = catalogue.instances(*name);
    std::string title = *name;
    if (name->ends_with(".toml")) {
      const Problem problem = Study::load(*name);
      if (*header) {
        print_header(problem);
        exit_code = exit_done;
        return;
      }
      instances = {problem.system};
      title = problem.system->name;
    } else if (*header) {
      input_error("--header",
                  fmt::format("takes a study, and {} is none; name a file that ends in .toml", quote(*name)));
    }
    const Json json = instances.empty() ? describe(*name) : describe_system(title, instances);
    if (*as_json) {
      fmt::print("{}\n", json.dump(2));
    } else {
      print_text(json);
    }
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
