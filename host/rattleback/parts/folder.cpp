#include "rattleback/parts/folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/text_file.hpp"
#include "rattleback/base/version.hpp"
#include "rattleback/results/run_files.hpp"
#include "rattleback/study/problem.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr const char *about_name = "about.json", *merging_name = "merging";
constexpr std::size_t most_of_about = std::size_t{1} << 30, most_of_heartbeat = 1 << 16;
constexpr std::uint64_t most_epochs = 1'000'000'000;  // far from an overflow in the next one
constexpr std::array kind_names = {"claim", "second"};

std::optional<double> modified(const fs::path& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

/// Returns the seconds between a sign of life and now. A sign of life in the future is none for as long: a clock was set, or
/// another program wrote it, and to wait until that time could be to wait for ever.
double age(double now, double sign_of_life) { return std::abs(now - sign_of_life); }

/// Reads a number at the beginning of a text, and removes it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string machine_identity() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(stream, boot);
  std::error_code code;
  return host_name() + " " + boot + " " + fs::read_symlink("/proc/self/ns/pid", code).string();
}

std::string this_version() { return fmt::format("{} ({})", version(), git_commit()); }

bool write_renamed(const fs::path& file, const std::string& text) {
  const fs::path part = file.string() + fmt::format(".{}.{}", host_name(), getpid());
  std::error_code code;
  {
    std::ofstream stream(part, std::ios::binary);
    errno = EIO;
    stream << text;
    stream.flush();
    if (!stream) code = {errno, std::generic_category()};
  }
  if (!code) fs::rename(part, file, code);
  std::error_code ignored;
  if (code) fs::remove(part, ignored);
  if (code) errno = code.value();
  return !code;
}

fs::path PartsFolder::place_of(const fs::path& result) {
  fs::path folder = followed(result);
  return folder += ".parts";
}

PartsFolder::PartsFolder(const fs::path& result) : result_(followed(result)), folder_(place_of(result)) {
  std::error_code code;
  if (!fs::exists(folder_ / about_name, code))
    input_error(result.string(), fmt::format("has no parts (there is no folder of parts {}); compute some with "
                                             "'rattleback run STUDY --parts N --worker -o {}'",
                                             folder_.string(), result.string()));
  read_about();
}

PartsFolder::PartsFolder(const fs::path& result, const Problem& problem, std::optional<std::uint64_t> parts,
                         std::uint64_t otherwise)
    : result_(followed(result)), folder_(place_of(result)) {
  const fs::path about = folder_ / about_name;
  const std::uint64_t trajectories = trajectories_of(problem);
  std::error_code code;
  if (!fs::exists(about, code)) {
    const Cut cut(trajectories, parts.value_or(std::clamp<std::uint64_t>(otherwise, 1, most_parts(trajectories))));
    if (mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST)
      input_error(folder_.string(),
                  fmt::format("cannot be made ({}); choose another result with -o", std::strerror(errno)));
    if (!fs::is_directory(folder_, code))
      input_error(folder_.string(),
                  "is in the way (it is not a folder of parts); move it, or choose another result with -o");
    const Json json{{"program", "rattleback"},      {"format", 1},
                    {"version", this_version()},    {"parts", cut.parts()},
                    {"trajectories", trajectories}, {"study", problem.study.to_toml()}};
    // Whoever comes second reads what the first one wrote.
    const fs::path mine = about.string() + fmt::format(".{}.{}", host_name(), getpid());
    if (!write_renamed(mine, json_text(json, 2) + "\n"))
      input_error(folder_.string(),
                  fmt::format("cannot be written ({}); choose another result with -o", std::strerror(errno)));
    if (link(mine.c_str(), about.c_str()) != 0 && errno != EEXIST) fs::rename(mine, about, code);
    fs::remove(mine, code);
  }
  read_about();
  const auto refuse = [&](const std::string& why) {
    input_error(folder_.string(), why + "; delete this folder to compute them again, or choose another result with -o");
  };
  require_this_version();
  if (study_ != problem.study.to_toml()) refuse("holds parts of another study, or of this one with other settings");
  if (parts && *parts != cut_->parts())
    refuse(fmt::format("holds parts of a cut into {}, not into {}; give --parts {}", cut_->parts(), *parts,
                       cut_->parts()));
  if (cut_->trajectories() != trajectories)
    refuse(fmt::format("holds parts of {} trajectories, and the study has {} (the file of initial states has changed)",
                       cut_->trajectories(), trajectories));
}

void PartsFolder::read_about() {
  const fs::path about = folder_ / about_name;
  const Json json = parse_json(read_regular(about, most_of_about));
  try {
    if (json.at("program") != "rattleback" || json.at("format") != 1) throw std::runtime_error("other format");
    study_ = json.at("study");
    version_ = json.at("version");
    cut_.emplace(json.at("trajectories").get<std::uint64_t>(), json.at("parts").get<std::uint64_t>());
  } catch (const std::exception&) {
    input_error(about.string(),
                "does not describe parts (damaged, or of another version of rattleback); delete the folder "
                "to compute the parts again, or choose another result with -o");
  }
}

void PartsFolder::require_this_version() const {
  if (version_ != this_version())
    input_error(folder_.string(),
                fmt::format("holds parts by rattleback {}, and this is {} (whose bits may differ); use "
                            "that version, or delete the folder to compute the parts again",
                            version_, this_version()));
}

void PartsFolder::note_merge() const { (void)write_renamed(folder_ / merging_name, this_version() + "\n"); }

double PartsFolder::seconds_since_merge() const {
  const auto noted = modified(folder_ / merging_name);
  return noted ? age(now(), *noted) : std::numeric_limits<double>::infinity();
}

bool PartsFolder::exists() const {
  std::error_code code;
  return fs::exists(folder_ / about_name, code);
}

fs::path PartsFolder::part_file(std::uint64_t number) const { return folder_ / (cut_->name(number) + ".h5"); }

bool PartsFolder::finished(std::uint64_t number) const {
  std::error_code code;
  return fs::exists(part_file(number), code);
}

fs::path PartsFolder::claim_path(std::uint64_t part, ClaimKind kind, std::uint64_t epoch) const {
  return folder_ / fmt::format("{}.{}-{}", cut_->name(part), kind_names[static_cast<std::size_t>(kind)], epoch);
}

double PartsFolder::now() const {
  std::string name = (folder_ / "clock-XXXXXX").string();
  const int file = mkstemp(name.data());
  const auto time = file < 0 ? std::nullopt : modified(name);
  if (file >= 0) {
    close(file);
    unlink(name.c_str());
  }
  return time.value_or(static_cast<double>(std::time(nullptr)));
}

std::vector<PartStatus> PartsFolder::parts() const {
  std::vector<PartStatus> parts(cut_->parts());
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].number = i + 1;
  std::error_code code;
  for (fs::directory_iterator entry(folder_, code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename();
    std::string_view rest = name;
    const auto number = take_number(rest);
    if (!number || *number == 0 || *number > parts.size() || !name.starts_with(cut_->name(*number))) continue;
    PartStatus& part = parts[*number - 1];
    if (name == part_file(*number).filename()) {
      part.finished = true;
    } else if (const auto claim = claim_of(entry->path(), *number)) {
      auto& known = part.claims[static_cast<std::size_t>(claim->kind)];
      if (!known || known->epoch < claim->epoch) known = claim;
    }
  }
  if (code && exists()) input_error(folder_.string(), fmt::format("cannot be read ({})", code.message()));
  return parts;
}

std::optional<ClaimState> PartsFolder::claim_of(const fs::path& path, std::uint64_t part) const {
  const std::string name = path.filename();
  for (const ClaimKind kind : {ClaimKind::first, ClaimKind::second}) {
    const std::string prefix = fmt::format("{}.{}-", cut_->name(part), kind_names[static_cast<std::size_t>(kind)]);
    if (!name.starts_with(prefix)) continue;
    std::string_view digits = std::string_view(name).substr(prefix.size());
    const auto epoch = take_number(digits);
    if (!epoch || *epoch > most_epochs || !digits.empty()) continue;
    std::error_code code;
    const fs::file_status status = fs::symlink_status(path, code);
    if (!fs::exists(status)) return std::nullopt;  // the claim has ended
    if (!fs::is_directory(status))
      input_error(path.string(), "is in the way of a claim on a part (it is not a folder); delete it");
    ClaimState claim;
    claim.path = path;
    claim.kind = kind;
    claim.part = part;
    claim.epoch = *epoch;
    return claim;
  }
  return std::nullopt;
}

void PartsFolder::read_claims(std::vector<PartStatus>& parts) const {
  const double time = now();
  const std::string machine = machine_identity();
  for (PartStatus& part : parts)
    for (auto& claim : part.claims) {
      if (!claim) continue;
      auto beat = modified(claim->path / heartbeat_name);
      if (!beat) beat = modified(claim->path);
      if (!beat) {
        claim.reset();
        continue;
      }
      claim->age = age(time, *beat);
      try {
        const Json json = parse_json(read_regular(claim->path / heartbeat_name, most_of_heartbeat));
        if (!json.is_object()) continue;
        claim->released = json.value("released", false);
        claim->host = json.value("host", "");
        claim->pid = json.value("pid", std::int64_t{0});
        claim->seconds = json.value("seconds", 0.0);
        claim->steps = json.value("steps", std::uint64_t{0});
        claim->all_steps = json.value("all_steps", std::uint64_t{0});
        claim->before = json.value("before", std::uint64_t{0});
        claim->gone =
            json.value("machine", "") == machine && kill(static_cast<pid_t>(claim->pid), 0) != 0 && errno == ESRCH;
      } catch (const Error&) {            // nobody has written it yet, or it is not a regular file
      } catch (const Json::exception&) {  // another program wrote it; its time of writing counts all the same
      }
    }
}

}  // namespace rattleback
