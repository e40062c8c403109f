#include "rattleback/kernels/listing.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>

#include <sys/stat.h>

#include "rattleback/kernels/manifest.hpp"
#include "rattleback/kernels/publish.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t day = 24 * 60 * 60;  // seconds

/// Returns the time of the last change of a file, seconds since 1970; 0 when there is no such file.
std::int64_t time_of(const fs::path& file) {
  struct stat status{};
  return lstat(file.c_str(), &status) == 0 ? status.st_mtime : 0;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t total = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator item(folder, code), end; !code && item != end; item.increment(code)) {
    struct stat status{};
    if (lstat(item->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      total += static_cast<std::uint64_t>(status.st_size);
  }
  return total;
}

ListedEntry listed(const fs::path& folder, const std::string& key) {
  ListedEntry item{.key = key, .title = {}, .fault = {}, .bytes = bytes_in(folder)};
  if (const auto entry = read_entry(folder, key, Compare::nothing, item.fault)) {
    item.title = entry->origin.title;
    item.compiled = entry->compiled;
  } else {
    item.compiled = time_of(folder);
  }
  const std::int64_t mark = time_of(folder / used_name);
  item.used = mark > 0 ? mark : std::max(item.compiled, time_of(folder / manifest_name));
  return item;
}

bool is_stale(const fs::path& folder, const WorkFolderName& name) {
  if (std::time(nullptr) - time_of(folder) > day) return true;
  if (name.host != host_of_this_process()) return false;
  return kill(static_cast<pid_t>(name.process), 0) != 0 && errno == ESRCH;
}

}  // namespace

std::uint64_t Listing::bytes() const {
  std::uint64_t total = 0;
  for (const ListedEntry& entry : entries) total += entry.bytes;
  for (const ListedWork& folder : work) total += folder.bytes;
  return total;
}

Listing list_cache(const fs::path& cache) {
  Listing listing;
  std::error_code code;
  for (fs::directory_iterator item(cache, code), end; !code && item != end; item.increment(code)) {
    std::error_code ignored;
    if (item->symlink_status(ignored).type() != fs::file_type::directory) continue;
    const std::string name = item->path().filename().string();
    if (is_key(name)) {
      listing.entries.push_back(listed(item->path(), name));
    } else if (const auto work = parse_work_folder(name)) {
      listing.work.push_back({item->path(), bytes_in(item->path()), is_stale(item->path(), *work)});
    }
  }
  std::ranges::sort(listing.entries, [](const ListedEntry& a, const ListedEntry& b) {
    return a.used != b.used ? a.used > b.used : a.key < b.key;
  });
  std::ranges::sort(listing.work, {}, &ListedWork::folder);
  return listing;
}

Trimmed trim_cache(const fs::path& cache, double days) {
  Trimmed trimmed;
  const double now = static_cast<double>(std::time(nullptr));
  const Listing listing = list_cache(cache);
  std::error_code code;
  for (const ListedEntry& entry : listing.entries) {
    if (std::max(0.0, now - static_cast<double>(entry.used)) < days * static_cast<double>(day)) continue;
    // The entry goes at once, so that no process finds a part of it.
    try {
      const WorkFolder aside(cache);
      fs::rename(cache / entry.key, aside.path() / entry.key);
    } catch (const std::system_error&) {
      continue;  // another process has removed it, or the cache cannot be written
    }
    ++trimmed.entries;
    trimmed.bytes += entry.bytes;
  }
  for (const ListedWork& work : listing.work) {
    if (!work.stale) continue;
    fs::remove_all(work.folder, code);
    if (code) continue;
    ++trimmed.work_folders;
    trimmed.bytes += work.bytes;
  }
  return trimmed;
}

}  // namespace rattleback
