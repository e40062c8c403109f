#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/report.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/text_file.hpp"
#include "rattleback/kernels/sources.hpp"
#include "rattleback/language/print.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/describe.hpp"
#include "rattleback/study/observables.hpp"
#include "rattleback/study/problem.hpp"
#include "rattleback/study/reader.hpp"

namespace rattleback::program {
namespace {

const char* scope_in_words(const std::string& systems) {
  if (systems == "all") return "";
  if (systems == "rn-only") return "; for systems on R^n";
  return systems == "holonomic-only" ? "; for holonomic constraints" : "; for systems on Lie groups";
}

void print_lines(const Json& list, const char* format_name) {
  for (const Json& item : list)
    print_stdout("    {:<24} {}{}{}{}{}\n", item["name"].get<std::string>(), item["text"].get<std::string>(),
                 item.contains("unit") ? fmt::format(" [{}]", item["unit"].get<std::string>()) : "",
                 item.contains("range") ? fmt::format("; {}", item["range"].get<std::string>()) : "",
                 scope_in_words(item.value("systems", "all")),
                 item.contains("default") ? fmt::format("; {} {}", format_name, json_text(item["default"])) : "");
}

/// One line for each lambda[i]: its name, its joint, what it is, and its unit; or the constraint where the system does not say that.
void print_multipliers(const Json& multipliers) {
  print_stdout("  multipliers\n");
  for (const Json& one : multipliers) {
    const auto text = [&one](const char* key) { return one[key].get<std::string>(); };
    std::string words = text("text").empty() ? fmt::format("of the constraint {}", text("constraint")) : text("text");
    if (one.contains("indices"))
      for (const auto& [index, value] : one["indices"].items())
        words += fmt::format(", {} = {}", index, value.get<int>());
    if (!text("joint").empty()) words = fmt::format("joint '{}': {}", text("joint"), words);
    print_stdout("    {:<32} {}{}\n", text("component") + (text("name").empty() ? "" : ", " + text("name")), words,
                 text("unit").empty() ? "" : fmt::format(" [{}]", text("unit")));
  }
}

void print_references(const Json& references) {
  if (!references.empty()) print_stdout("  references\n");
  for (const Json& r : references) {
    const std::string place = r["place"];
    print_stdout("    {}{}\n", r["text"].get<std::string>(), place.empty() ? "" : fmt::format(" [{}]", place));
  }
}

void print_text(const Json& json) {
  print_stdout("{} ({})\n", json["name"].get<std::string>(), json["kind"].get<std::string>());
  if (json["kind"] == "method") {
    print_stdout("  {}\n  order: {}\n  source: {}\n  takes: {}\n  state: {}; on Lie groups v, p in {}\n  options\n",
                 json["summary"].get<std::string>(), json["order"].get<std::string>(),
                 json["source"].get<std::string>(), json["takes"].get<std::string>(), json_text(json["state"]),
                 json["frame"] == "space" ? "space (right trivialised)" : "the body (left trivialised)");
    print_lines(json["options"], "default");
    if (!json["step_observables"].empty())
      print_stdout("  observables of a step: {}\n", json_text(json["step_observables"]));
    print_stdout("  systems: {}\n", json_text(json["systems"]));
    print_references(json["references"]);
    return;
  }
  print_stdout("  configuration: {}\n  source: {}\n", json["configuration"].get<std::string>(),
               json["source"].get<std::string>());
  for (const Json& instance : json["instances"]) {
    std::string title = instance["variant"];
    if (instance.contains("structure"))
      for (const auto& [name, value] : instance["structure"].items())
        title += fmt::format("{}{} = {}", title.empty() ? "" : ", ", name, value.get<double>());
    if (!title.empty()) print_stdout("  variant {}\n", title);
    print_stdout("  {}\n  state: {}\n", instance["summary"].get<std::string>(), json_text(instance["state"]));
    if (!instance["coordinates"].empty()) print_stdout("  coordinates: {}\n", json_text(instance["coordinates"]));
    if (instance.contains("multipliers")) print_multipliers(instance["multipliers"]);
    print_stdout("  parameters\n");
    print_lines(instance["parameters"], "default");
    std::string others;
    for (const RunObservable& observable : run_observables())
      if (!observable.of_step && (!observable.of_drive || instance["driven"]))
        others += (others.empty() ? "" : ", ") + observable.title();
    print_stdout("  observables (also {})\n", others);
    print_lines(instance["observables"], "");
    const char* rates = instance.contains("default_p") ? "p" : "v";
    print_stdout("  default q: {}\n  default {}: {}\n  methods: {}\n", json_text(instance["default_q"]), rates,
                 json_text(instance[fmt::format("default_{}", rates)]), json_text(instance["methods"]));
  }
  print_references(json["references"]);
}

/// Prints the C++ header of the system of a study. That of formulas needs no compiler.
void print_header(const std::string& file) {
  const Study study = read_study_file(file);
  if (study.system.formulas) return print_stdout_bytes(system_header(*study.system.formulas));
  const Problem problem(study);
  const SystemSource& source = problem.system->source_text;
  for (const EmbeddedHeader& header : embedded_headers())
    if (header.name == source.header) print_stdout_bytes(header.text);
  if (!problem.study.system.file.empty())
    print_stdout_bytes(read_regular(problem.study.system.file, std::size_t{64} << 20));
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
    std::shared_ptr<const SystemFormulas> formulas;
    if (name->ends_with(".toml")) {
      if (*header) {
        print_header(*name);
        exit_code = exit_done;
        return;
      }
      const Problem problem = Problem::load(*name);
      instances = {problem.system};
      title = problem.system->name;
      formulas = problem.study.system.formulas;
    } else if (*header) {
      input_error("--header",
                  fmt::format("takes a study, which {} is not; name a file that ends in .toml", quote(*name)));
    }
    const Json json = instances.empty() ? describe(*name) : describe_system(title, instances, formulas.get());
    if (*as_json) {
      print_stdout_json(json);
    } else {
      print_text(json);
    }
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
