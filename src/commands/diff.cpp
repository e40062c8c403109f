#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "output/diff_output.hpp"
#include "output/output.hpp"
#include "rattleback/base/fingerprint.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/manifest.hpp"

namespace rattleback::program {

void DiffOutputArguments::add_to(CLI::App& command) {
  command.add_flag("--json", json, "as one JSON object");
  command.add_flag("--quiet", quiet, "the exit code alone: 0 identical, 1 different");
}

namespace {

/// A result's fingerprint as its data give it, and as the file stores it.
struct Found {
  std::string file, computed, stored;  ///< the computed one is empty for a fingerprint on the command line
  std::uint64_t block = 0;             ///< of the definition by which it is computed
  [[nodiscard]] bool changed() const { return !computed.empty() && !stored.empty() && computed != stored; }
};

Found fingerprint_of(const std::string& name) {
  std::error_code code;
  if (is_key(name) && !std::filesystem::exists(name, code)) return {name, "", name};
  const ResultFile file(name);
  const std::uint64_t block = block_of_fingerprint(file.attributes("/"));
  return {name, file.fingerprint(block), summary_of(file).fingerprint, block};
}

/// Whether two fingerprints are of the same data, where they may have different definitions. A fingerprint on the command line does not say by
/// which it was computed.
bool are_equal(const Found& a, const Found& b) {
  if (a.computed.empty()) return b.computed.empty() ? a.stored == b.stored : are_equal(b, a);
  if (!b.computed.empty())
    return a.computed == (a.block == b.block ? b.computed : ResultFile(b.file).fingerprint(a.block));
  const std::uint64_t other = a.block == fingerprint_block ? fingerprint_without_blocks : fingerprint_block;
  return a.computed == b.stored || ResultFile(a.file).fingerprint(other) == b.stored;
}

/// Compares fingerprints, and each with the one that the file stores. Returns the exit code.
int compare_fingerprints(const std::string& first, const std::string& second, const DiffOutputArguments& output) {
  std::vector<Found> found{fingerprint_of(first)};
  if (!second.empty()) found.push_back(fingerprint_of(second));
  const bool changed = std::ranges::any_of(found, &Found::changed);
  const bool equal = found.size() == 1 || are_equal(found[0], found[1]);
  if (output.json) {
    nlohmann::ordered_json json{{"identical", equal && !changed}, {"fingerprints", nlohmann::ordered_json::array()}};
    for (const Found& f : found)
      json["fingerprints"].push_back(
          {{"name", f.file}, {"computed", f.computed}, {"stored", f.stored}, {"changed", f.changed()}});
    print_stdout_json(json);
  } else if (!output.quiet) {
    for (const Found& f : found)
      if (!f.computed.empty())
        print_stdout("{}  {}{}\n", f.computed, f.file,
                     f.stored.empty() ? "  (the file stores none)"
                     : f.changed()    ? fmt::format("  (the file stores {}: its data have changed)", f.stored)
                                      : "  (as stored)");
    if (found.size() == 2) print_stdout("the fingerprints {}\n", equal ? "are equal" : "differ");
  }
  return equal && !changed ? exit_done : exit_different;
}

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("diff", "compare two results bit by bit");
  struct Arguments {
    std::string first, second;
    bool fingerprint = false;
    DiffOutputArguments output;
  };
  auto arguments = std::make_shared<Arguments>();
  add_file(*command, "first", arguments->first, "a result")->required();
  add_file(*command, "second", arguments->second, "another result; with --fingerprint also a fingerprint, or nothing");
  command->add_flag("--fingerprint", arguments->fingerprint,
                    "compute the fingerprints (SHA-256 of the datasets); compare them, and with those in the files");
  arguments->output.add_to(*command);
  command->footer("Examples:\n  rattleback diff gpu.h5 cpu.h5\n  rattleback diff --fingerprint chaotic.h5");
  command->callback([arguments, &exit_code] {
    if (arguments->fingerprint) {
      exit_code = compare_fingerprints(arguments->first, arguments->second, arguments->output);
      return;
    }
    if (arguments->second.empty())
      input_error("diff", "compares two results; name another one, or use --fingerprint for one result");
    const DiffReport report = diff(ResultFile(arguments->first), ResultFile(arguments->second));
    if (arguments->output.json) {
      print_stdout_json(to_json(report, arguments->first, arguments->second));
    } else if (!arguments->output.quiet) {
      print_stdout_lines(to_text(report, arguments->first, arguments->second));
    }
    exit_code = report.identical() ? exit_done : exit_different;
  });
}

}  // namespace rattleback::program
