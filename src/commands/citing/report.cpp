// `rattleback report`: the package of figures writes the page (python/rattleback/plot/report.py). This file collects what only
// the library knows of results, and gives the page its place.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/plot_tool.hpp"
#include "output/report.hpp"
#include "rattleback/base/folder.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/results/result.hpp"
#include "rattleback/study/citations.hpp"

namespace rattleback::program {
namespace {

struct Arguments {
  std::vector<std::string> results;
  std::string output = "report.html";
  unsigned figures = 8;  ///< most per result
  bool quiet = false;
};

/// Adds references that the list lacks, and the uses that it lacks of others.
void merge(std::vector<Listed>& all, std::vector<Listed> further) {
  for (Listed& listed : further) {
    const auto found = std::ranges::find(all, listed.reference, &Listed::reference);
    if (found == all.end()) {
      all.push_back(std::move(listed));
      continue;
    }
    for (const std::string& use : listed.uses)
      if (std::ranges::find(found->uses, use) == found->uses.end()) found->uses.push_back(use);
  }
}

/// Returns citations, fingerprints and the summary of each result. Throws Error(input) for a file that is no result.
Json facts_of(const std::vector<std::string>& results) {
  Json facts{{"version", version()}, {"results", Json::array()}, {"references", Json::array()}};
  std::vector<Listed> references;
  Provenance provenance;
  std::uint64_t common_block = 0;
  for (const std::string& name : results) {
    const ResultFile file(name);
    const StudyCitations citations = Bibliography::instance().of_study(file.text("study"), name);
    const Summary summary = summary_of(file);
    const std::uint64_t block = block_of_fingerprint(file.attributes("/"));
    if (&name == &results.front()) common_block = block;
    const std::string fingerprint = file.fingerprint(block);
    facts["results"].push_back({{"title", citations.name.empty() ? name : citations.name},
                                {"system", citations.system},
                                {"method", citations.method},
                                {"own_system", citations.own_system},
                                {"trajectories", summary.trajectories},
                                {"trajectory_steps", summary.trajectory_steps},
                                {"failed", summary.failed},
                                {"threads", summary.threads},
                                {"seconds", summary.wall_seconds},
                                {"iterations", summary.iterations},
                                {"fingerprint", fingerprint},
                                {"comparable", block == common_block ? fingerprint : file.fingerprint(common_block)}});
    merge(references, references_of(citations));
    if (&name == &results.front()) provenance = {file.text("version"), file.text("git"), ""};
  }
  for (const Listed& listed : references)
    facts["references"].push_back({fmt::format("{} [{}]", to_text(*listed.reference), fmt::join(listed.uses, "; ")),
                                   listed.reference->doi.empty() ? "" : "https://doi.org/" + listed.reference->doi});
  facts["bibtex"] = bibtex_of(references, provenance);
  return facts;
}

/// Writes the page. Returns the exit code; the tool has said on stderr why it is not 0.
int write_report(const Arguments& arguments) {
  ReportFile file("report", arguments.output, {".html"}, {arguments.results.begin(), arguments.results.end()});
  const TemporaryFolder folder;
  const std::filesystem::path page = folder.file("page.html");
  std::ofstream facts(folder.file("facts.json"));
  facts << json_text(facts_of(arguments.results));
  facts.close();
  if (!facts)
    throw Error(Error::Kind::runtime,
                fmt::format("{}: cannot be written; set TMPDIR to another place", folder.file("facts.json").string()));
  std::vector<std::string> words{"--report", page.parent_path(), fmt::to_string(arguments.figures)};
  words.insert(words.end(), arguments.results.begin(), arguments.results.end());
  if (const int failed = run_plot_tool(words, true)) return failed;
  std::ifstream stream(page, std::ios::binary);
  file.write({.json = {}, .csv = "", .hdf5 = {}, .html = std::string{std::istreambuf_iterator<char>(stream), {}}});
  if (!arguments.quiet) print_stdout("report: {}\n", arguments.output);
  return exit_done;
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("report", "write a page about results: statistics, figures, provenance");
  auto arguments = std::make_shared<Arguments>();
  add_file(*command, "results", arguments->results, "result files")->required();
  add_file(*command, "-o,--output", arguments->output, "the page (.html), which needs no other file")
      ->capture_default_str();
  command->add_option("--figures", arguments->figures, "most figures per result")
      ->capture_default_str()
      ->check(CLI::Range(0, 100));
  command->add_flag("--quiet", arguments->quiet, "print nothing");
  command->footer("Examples:\n  rattleback report chaotic.h5 -o report.html");
  command->callback([arguments, &exit_code] { exit_code = write_report(*arguments); });
}

}  // namespace rattleback::program
