#include "rattleback/engine/outcome.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

#include "rattleback/base/fnv.hpp"
#include "rattleback/base/version.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

/// Returns the file for a device, a driver and this build; empty when the user has no state folder.
fs::path file_of(const std::string& device, const std::string& driver) {
  const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
  fs::path folder;
  if (state != nullptr && *state == '/') {
    folder = state;
  } else if (home != nullptr && *home == '/') {
    folder = fs::path(home) / ".local" / "state";
  } else {
    return {};
  }
  Fnv1a hash;
  for (const std::string& text : {device, driver, std::string(version()), std::string(git_commit())})
    hash.add(text + "\n");
  return folder / "rattleback" / fmt::format("selftest-{:016x}.txt", hash.value);
}

}  // namespace

std::string keep_outcome(const std::string& device, const std::string& driver, const std::string& outcome) {
  const fs::path file = file_of(device, driver);
  std::error_code code;
  if (file.empty() || (fs::create_directories(file.parent_path(), code), code)) return {};
  const fs::path part = file.string() + fmt::format(".{}", getpid());
  std::ofstream(part) << outcome << '\n';
  fs::rename(part, file, code);
  return code ? std::string() : file.string();
}

std::string kept_outcome(const std::string& device, const std::string& driver) {
  std::string line;
  if (const fs::path file = file_of(device, driver); !file.empty()) {
    constexpr std::size_t most = 1000;
    std::error_code code;
    if (!fs::is_regular_file(file, code) || fs::file_size(file, code) > most || code) return line;
    std::ifstream stream(file);
    std::getline(stream, line);
  }
  const bool plain = std::ranges::all_of(line, [](unsigned char c) { return c >= ' ' && c < 127; });
  return plain && line.size() <= 100 ? line : std::string();
}

}  // namespace rattleback
