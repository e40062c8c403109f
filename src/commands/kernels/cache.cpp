#include <cmath>
#include <ctime>
#include <memory>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "output/output.hpp"
#include "output/report.hpp"
#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/kernels/listing.hpp"
#include "rattleback/kernels/store.hpp"

namespace rattleback::program {
namespace {

struct CacheArguments {
  std::optional<double> days;
  bool json = false;
};

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 0x1p20; }

/// Returns a time in UTC: "2026-05-03". Files may have times that no calendar has.
std::string date(std::int64_t seconds) {
  constexpr std::int64_t year_10000 = 253402300800;
  if (seconds <= -year_10000 || seconds >= year_10000) return "no date";
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void print_json(const std::filesystem::path& folder, const Listing& listing, const Trimmed& trimmed) {
  nlohmann::ordered_json json = report_json("cache");
  json["folder"] = folder.string();
  json["bytes"] = listing.bytes();
  json["kernels"] = nlohmann::ordered_json::array();
  for (const ListedEntry& entry : listing.entries)
    json["kernels"].push_back({{"key", entry.key},
                               {"title", entry.title},
                               {"fault", entry.fault},
                               {"bytes", entry.bytes},
                               {"compiled", entry.compiled},
                               {"used", entry.used}});
  json["work_folders"] = nlohmann::ordered_json::array();
  for (const ListedWork& work : listing.work)
    json["work_folders"].push_back({{"folder", work.folder.string()}, {"bytes", work.bytes}, {"stale", work.stale}});
  json["removed"] = {{"kernels", trimmed.entries}, {"work_folders", trimmed.work_folders}, {"bytes", trimmed.bytes}};
  print_stdout_json(json);
}

void print_text(const std::filesystem::path& folder, const Listing& listing) {
  if (!listing.entries.empty()) print_stdout("{:>8}  {:<10}  {:<10}  kernel\n", "KiB", "compiled", "used");
  for (const ListedEntry& entry : listing.entries)
    print_stdout(
        "{:>8.0f}  {:<10}  {:<10}  {}\n", std::ceil(static_cast<double>(entry.bytes) / 1024), date(entry.compiled),
        date(entry.used),
        one_line(entry.fault.empty() ? entry.title
                                     : fmt::format("{}.. is damaged: {}", entry.key.substr(0, 12), entry.fault)));
  std::size_t stale = 0;
  for (const ListedWork& work : listing.work) stale += work.stale;
  print_stdout("{} of {:.3g} MiB in {}\n", counted(listing.entries.size(), "kernel", "kernels"),
               mebibytes(listing.bytes()), folder.string());
  if (const std::size_t busy = listing.work.size() - stale; busy > 0)
    print_stdout("{} compiled at this moment\n", counted(busy, "kernel is", "kernels are"));
  if (stale > 0) print_stdout("{} of interrupted programs; --trim removes them\n", counted(stale, "folder", "folders"));
}

int show_cache(const CacheArguments& arguments) {
  const std::filesystem::path folder = Store::default_folder();
  if (folder.empty())
    input_error("cache", "there is none, because neither XDG_CACHE_HOME nor HOME is an absolute path; set one of them");
  Trimmed trimmed;
  if (arguments.days) trimmed = trim_cache(folder, *arguments.days);
  const Listing listing = list_cache(folder);
  if (arguments.json) {
    print_json(folder, listing, trimmed);
    return exit_done;
  }
  if (arguments.days)
    print_stdout("removed: {} and {}, {:.3g} MiB\n", counted(trimmed.entries, "kernel", "kernels"),
                 counted(trimmed.work_folders, "folder of interrupted programs", "folders of interrupted programs"),
                 mebibytes(trimmed.bytes));
  print_text(folder, listing);
  return exit_done;
}

}  // namespace

void add_cache(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("cache", "show the compiled kernels that are kept, or remove old ones");
  auto arguments = std::make_shared<CacheArguments>();
  command
      ->add_option("--trim", arguments->days,
                   "first remove the kernels that were not used for this many days; 0 removes all")
      ->type_name("DAYS")
      ->check(not_negative());
  command->add_flag("--json", arguments->json, "as one JSON object");
  command->footer("Examples:\n  rattleback cache\n  rattleback cache --trim 90");
  command->callback([arguments, &exit_code] { exit_code = show_cache(*arguments); });
}

}  // namespace rattleback::program
