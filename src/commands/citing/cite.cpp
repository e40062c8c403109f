#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/catalogue.hpp"
#include "rattleback/study/citations.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback::program {
namespace {

/// What is cited: the name of a study, a system or a method, its references, and where the numbers come from.
struct Cited {
  std::string name, own_system;
  std::vector<Listed> references;
  Provenance provenance{version(), git_commit(), ""};
};

Cited of_study(const StudyCitations& citations) {
  return {citations.name, citations.own_system, references_of(citations)};
}

Cited of_result(const std::string& name) {
  const ResultFile file(name);
  Cited cited = of_study(Bibliography::instance().of_study(file.text("study"), name));
  cited.provenance = {file.text("version"), file.text("git"), file.text("fingerprint")};
  return cited;
}

Cited of_entry(const std::string& name) {
  const StudyCitations citations = citations_of_entry(name);
  if (citations.system.empty() && citations.method.empty()) {
    const Catalogue& catalogue = Catalogue::instance();
    std::vector<std::string> known = catalogue.system_names();
    for (const MethodEntry* m : catalogue.methods()) known.emplace_back(m->name);
    input_error("",
                fmt::format("{} is neither a file nor the name of a system or method{}", quote(name, most_of_a_path),
                            did_you_mean(name, known, "; give a study, a result, or a name of rattleback list")));
  }
  return of_study(citations);
}

Cited cited_by(const std::string& name) {
  std::error_code code;
  if (name.ends_with(".toml"))
    return of_study(Bibliography::instance().of_study(Problem::load(name).study.to_toml(), name));
  if (std::filesystem::exists(name, code) || name.ends_with(".h5")) return of_result(name);
  return of_entry(name);
}

Cited everything() {
  Cited cited{.name = "rattleback", .own_system = "", .references = {}};
  for (const Publication& reference : Bibliography::instance().references())
    cited.references.push_back({&reference, {}});
  return cited;
}

nlohmann::ordered_json json_of_citations(const Cited& cited) {
  nlohmann::ordered_json json{
      {"name", cited.name}, {"version", cited.provenance.version}, {"git", cited.provenance.git}};
  if (!cited.provenance.fingerprint.empty()) json["fingerprint"] = cited.provenance.fingerprint;
  if (!cited.own_system.empty()) json["own_system"] = cited.own_system;
  json["references"] = nlohmann::ordered_json::array();
  for (const Listed& listed : cited.references) {
    nlohmann::ordered_json entry = json_of(std::span<const Citation>{{Citation{listed.reference, ""}}})[0];
    entry.erase("place");
    entry["uses"] = listed.uses;
    entry["bibtex"] = bibtex_of({&listed, 1}, cited.provenance);
    json["references"].push_back(entry);
  }
  return json;
}

}  // namespace

void add_cite(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("cite", "references of the software, the method and the system of a study, as BibTeX");
  struct Arguments {
    std::string name;
    bool all = false, json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  add_file(*command, "name", arguments->name, "a study, a result, a system or a method; without it the software alone");
  command->add_flag("--all", arguments->all, "the whole bibliography of the program");
  command->add_flag("--json", arguments->json, "as one JSON object");
  command->footer("Examples:\n  rattleback cite chaotic.h5 > references.bib\n  rattleback cite examples/chaotic.toml");
  command->callback([arguments, &exit_code] {
    if (arguments->all && !arguments->name.empty())
      input_error("--all", "prints the whole bibliography; leave the name out");
    const Cited cited = arguments->all            ? everything()
                        : arguments->name.empty() ? of_study({})
                                                  : cited_by(arguments->name);
    if (arguments->json) {
      print_stdout_json(json_of_citations(cited));
    } else {
      if (!cited.own_system.empty()) print_stdout("% system of the study: {}\n\n", in_bibtex_comment(cited.own_system));
      print_stdout_lines(bibtex_of(cited.references, cited.provenance));
    }
    exit_code = exit_done;
  });
}

}  // namespace rattleback::program
