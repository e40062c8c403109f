// Runs a study on several backends and compares the results, which are files, so that ensembles of any size can be
// compared; or compares the statistics of two results that exist.

#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/diff_output.hpp"
#include "output/output.hpp"
#include "output/paired_output.hpp"
#include "output/terminal.hpp"
#include "rattleback/base/folder.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/engine/backend.hpp"
#include "rattleback/engine/run.hpp"

namespace rattleback::program {
namespace {

struct CompareArguments {
  StudyArguments study;
  std::vector<std::string> backends;
  std::uint64_t tile = 0;
  DiffOutputArguments output;
  bool statistics = false;
  std::string second;  ///< with `statistics`; the first result is study.file
  std::vector<std::string> observables;
};

bool is_isa(std::string_view name) {
  for (const Isa isa : known_isas)
    if (name == to_string(isa)) return true;
  return false;
}

/// Returns whether a piece of a comma-separated list is an option of the backend before.
bool continues(const std::string& backend, std::string_view piece) {
  if (piece.starts_with("threads=")) return true;
  return is_isa(piece) && backend.starts_with("cpu:threads=") && backend.find(',') == std::string::npos;
}

/// Returns the backends of lists. "cpu:avx2,threads=1,cuda" has two backends.
std::vector<std::string> split(const std::vector<std::string>& lists) {
  std::vector<std::string> backends;
  for (std::string_view rest : lists) {
    const std::size_t begin = backends.size();
    for (;;) {
      const std::string_view piece = rest.substr(0, rest.find(','));
      if (backends.size() > begin && continues(backends.back(), piece)) {
        backends.back() += ',';
        backends.back() += piece;
      } else {
        backends.emplace_back(piece);
      }
      if (piece.size() == rest.size()) break;
      rest.remove_prefix(piece.size() + 1);
    }
  }
  return backends;
}

Summary run_on(const std::string& backend, const Problem& problem, const CompareArguments& arguments,
               const std::filesystem::path& file, const Interrupt& interrupt) {
  ProgressDisplay display;
  RunOptions options;
  options.backend = backend;
  options.tile = arguments.tile;
  options.stop = interrupt.token();
  if (!arguments.output.quiet) options.progress = [&display](const Progress& progress) { display(progress); };
  const auto sink = make_file_sink(file);
  return run(problem, *sink, options);
}

int compare(const CompareArguments& arguments) {
  const Interrupt interrupt;
  const Problem problem = arguments.study.resolve();
  const Study& study = problem.study;
  const std::vector<std::string> backends = split(arguments.backends);
  if (backends.size() < 2)
    throw Error(
        Error::Kind::input,
        fmt::format("--backends names one backend ({}); give two or more, separated by commas", backends.front()));
  for (const std::string& backend : backends) make_backend(backend, 0);  // all must exist before the first run
  const TemporaryFolder scratch;
  const auto reference = scratch.file("reference.h5"), other = scratch.file("other.h5");
  check_space(problem, reference, {.results = 2});

  nlohmann::ordered_json json{{"study", study.name}, {"identical", true}};
  const bool text = !arguments.output.json && !arguments.output.quiet;
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const Summary summary = run_on(backends[i], problem, arguments, i == 0 ? reference : other, interrupt);
    const auto failures = summary.failed > 0 ? failures_of(ResultFile(i == 0 ? reference : other))
                                             : std::map<std::string, std::uint64_t>{};
    json["runs"].push_back({{"backend", backends[i]},
                            {"device", summary.device},
                            {"threads", summary.threads},
                            {"trajectories", summary.trajectories},
                            {"failed", summary.failed},
                            {"failures", failures},
                            {"wall_seconds", summary.wall_seconds}});
    if (text)
      print_stdout("{}: {}, {} threads, {:.3g} s, {} of {} trajectories failed{}\n", backends[i], summary.device,
                   summary.threads, summary.wall_seconds, summary.failed, summary.trajectories, in_brackets(failures));
    if (i == 0) continue;
    const DiffReport report = diff(ResultFile(reference), ResultFile(other), interrupt.token());
    if (!report.identical()) json["identical"] = false;
    json["comparisons"].push_back(to_json(report, backends[0], backends[i]));
    if (text) print_stdout_lines(to_text(report, backends[0], backends[i]));
  }
  if (arguments.output.json) print_stdout_json(json);
  return json["identical"] ? exit_done : exit_different;
}

int compare_statistics(const CompareArguments& arguments) {
  const std::string &first = arguments.study.file, &second = arguments.second;
  if (second.empty())
    throw Error(Error::Kind::input,
                fmt::format("--statistics compares two results (got {}); name another one", quote(first)));
  const PairedReport report = paired_differences(ResultFile(first), ResultFile(second), arguments.observables);
  for (const PairedObservable& observable : report.observables)
    if (!observable.same_formula)
      say(fmt::format("observable {} has another formula in {} than in {}", quote(observable.name), second, first));
  if (arguments.output.json) {
    print_stdout_json(to_json(report, first, second));
  } else if (!arguments.output.quiet) {
    print_stdout_lines(to_text(report, first, second));
  }
  return exit_done;
}

/// Refuses what only the other of the two comparisons takes.
void check_kind(const CompareArguments& arguments) {
  if (!arguments.statistics && !arguments.second.empty())
    throw Error(Error::Kind::input,
                "two files are compared by --statistics; `rattleback diff` compares two results bit by bit");
  if (!arguments.statistics && arguments.backends.empty())
    throw Error(
        Error::Kind::input,
        "--backends is missing; it names the backends to run the study on, and --statistics compares two results");
}

}  // namespace

void add_compare(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "compare",
      "run a study on several backends and compare the results bit by bit, or compare two results statistically");
  auto arguments = std::make_shared<CompareArguments>();
  arguments->study.add_to(*command);
  command->get_option("study")->description("study file (TOML); with --statistics a result");
  add_file(*command, "second", arguments->second, "with --statistics: another result");
  CLI::Option* backends = command->add_option(
      "--backends", arguments->backends,
      "two or more, separated by commas, as for run; the first is what the others are compared with");
  backends->allow_extra_args(false)->type_name(value::backends);
  CLI::Option* tile =
      command->add_option("--tile", arguments->tile, "trajectories in memory at a time; default: what fits");
  tile->check(from_one());
  CLI::Option* statistics =
      command->add_flag("--statistics", arguments->statistics,
                        "compare two results that start from the same states, paired by trajectory");
  statistics->excludes(backends, tile, command->get_option("--set"));
  command
      ->add_option("--observable", arguments->observables, "with --statistics: an observable; default: all with values")
      ->needs(statistics)
      ->allow_extra_args(false)
      ->type_name("NAME");
  arguments->output.add_to(*command);
  command->footer(
      "Examples:\n  rattleback compare examples/chaotic.toml --backends cpu,cuda\n"
      "  rattleback compare examples/chaotic.toml --backends cpu:scalar,threads=1,cpu:avx2,cpu --set time.end=10.0\n"
      "  rattleback compare --statistics coarse.h5 fine.h5 --observable energy");
  command->callback([arguments, &exit_code] {
    check_kind(*arguments);
    exit_code = arguments->statistics ? compare_statistics(*arguments) : compare(*arguments);
  });
}

}  // namespace rattleback::program
