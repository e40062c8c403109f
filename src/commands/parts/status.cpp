#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/terminal.hpp"
#include "rattleback/parts/folder.hpp"
#include "rattleback/parts/seal.hpp"

namespace rattleback::program {
namespace {

struct StatusArguments {
  std::string result;
  double stale = 0.0;
  bool json = false;
};

struct Count {
  std::uint64_t finished = 0, failed = 0;
  std::map<std::string, std::uint64_t> failures;  ///< failures_of the finished parts
  std::vector<ClaimState> running, stale;
  std::vector<std::uint64_t> missing;

  Count(const PartsFolder& folder, double stale_seconds) {
    std::vector<PartStatus> parts = folder.parts();
    folder.read_claims(parts);
    for (const PartStatus& part : parts) {
      if (part.finished) {
        ++finished;
        const std::filesystem::path file = folder.part_file(part.number);
        const std::uint64_t count = failed_of_seal(file);
        failed += count;
        if (count > 0)
          for (const auto& [reason, of_it] : failures_of(ResultFile(file))) failures[reason] += of_it;
        continue;
      }
      if (!part.claims[0]) missing.push_back(part.number);
      for (const auto& claim : part.claims)
        if (claim) (claim->stale(stale_seconds) ? stale : running).push_back(*claim);
    }
  }

  /// Returns the seconds until all parts are finished, if the workers stay as they are; nothing when no worker tells its speed.
  [[nodiscard]] std::optional<double> seconds_left() const {
    double rate = 0.0, left = 0.0, whole = 0.0, known = 0.0;
    for (const ClaimState& claim : running) {
      if (claim.rate() == 0.0) continue;
      rate += claim.rate();
      if (claim.kind == ClaimKind::first) left += static_cast<double>(claim.all_steps - claim.steps);
      whole += static_cast<double>(claim.all_steps);
      known += 1.0;
    }
    if (rate == 0.0) return std::nullopt;
    return (left + whole / known * static_cast<double>(missing.size() + stale.size())) / rate;
  }
};

nlohmann::ordered_json json_of(const std::vector<ClaimState>& claims) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ClaimState& claim : claims)
    all.push_back({{"part", claim.part},
                   {"duplicate", claim.kind == ClaimKind::second},
                   {"host", claim.host},
                   {"pid", claim.pid},
                   {"share", claim.share()},
                   {"seconds_since_sign_of_life", claim.age}});
  return all;
}

void print(const PartsFolder& folder, const Count& count) {
  print_stdout("{}: {} parts of {} trajectories\n", folder.path().string(), folder.cut().parts(),
               folder.cut().trajectories());
  print_stdout("  finished {}, running {}, stale {}, missing {}; failed trajectories {}{}\n", count.finished,
               count.running.size(), count.stale.size(), count.missing.size(), count.failed,
               in_brackets(count.failures));
  const auto list = [](const std::vector<ClaimState>& claims, const char* state) {
    for (const ClaimState& claim : claims)
      print_stdout("  part {}{}: {} {:.0f} %, process {} on {}, last sign of life {:.0f} s ago\n", claim.part,
                   claim.kind == ClaimKind::second ? " (duplicate)" : "", state, 100.0 * claim.share(), claim.pid,
                   claim.host.empty() ? "an unknown host" : claim.host, claim.age);
  };
  list(count.running, "running");
  list(count.stale, "stale");
  if (count.finished == folder.cut().parts()) {
    print_stdout("all parts are there: 'rattleback merge {}'\n", folder.result().string());
  } else if (const auto left = count.seconds_left()) {
    print_stdout("  about {:.0f} s left with these workers\n", *left);
  }
}

}  // namespace

void add_status(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("status", "list which parts of a result are finished, running, stale and missing");
  auto arguments = std::make_shared<StatusArguments>();
  add_file(*command, "result", arguments->result, "the result file; its parts are in RESULT.parts")->required();
  add_stale_option(*command, arguments->stale);
  command->add_flag("--json", arguments->json, "as one JSON object");
  command->footer("Examples:\n  rattleback status chaotic.h5");
  command->callback([arguments, &exit_code] {
    const PartsFolder folder(arguments->result);
    const Count count(folder, arguments->stale);
    exit_code = exit_done;
    if (!arguments->json) return print(folder, count);
    const auto left = count.seconds_left();
    print_stdout_json({{"result", folder.result().string()},
                       {"parts", folder.cut().parts()},
                       {"trajectories", folder.cut().trajectories()},
                       {"version", folder.version()},
                       {"finished", count.finished},
                       {"running", json_of(count.running)},
                       {"stale", json_of(count.stale)},
                       {"missing", count.missing},
                       {"failed", count.failed},
                       {"failures", count.failures},
                       {"seconds_left", left ? nlohmann::ordered_json(*left) : nullptr}});
  });
}

}  // namespace rattleback::program
