#include "rattleback/kernels/publish.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/mutex.hpp"
#include "rattleback/base/scratch.hpp"
#include "rattleback/kernels/trust.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view work_prefix = "tmp-";

/// The folders that are removed when the process exits, and the process.
struct AtExit {
  ~AtExit() {
    std::error_code code;
    for (const auto& [process, folder] : folders)
      if (process == getpid()) fs::remove_all(folder, code);
  }

  Mutex mutex;
  std::vector<std::pair<pid_t, fs::path>> folders;
};

/// Reads an entry that is sound and that nobody else can have written.
std::optional<Entry> read_sound(const fs::path& folder, const std::string& key) {
  std::string fault;
  auto entry = read_entry(folder, key, Compare::files, fault);
  if (entry && !fault_of_owner(*entry).empty()) entry.reset();
  return entry;
}

}  // namespace

WorkFolder::WorkFolder(const fs::path& parent) {
  std::random_device random;
  const std::string stem = fmt::format("{}{}-{}-", work_prefix, host_of_this_process(), getpid());
  for (int attempt = 0; attempt < 100; ++attempt) {
    path_ = parent / fmt::format("{}{:08x}{:08x}", stem, random(), random());
    if (mkdir(path_.c_str(), 0700) == 0) return;
    if (errno != EEXIST) break;
  }
  throw std::system_error(errno, std::generic_category(), path_.string());
}

WorkFolder::~WorkFolder() {
  std::error_code code;
  if (!path_.empty()) fs::remove_all(path_, code);
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

std::string host_of_this_process() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::string name = host;
  // Containers on one host may have the same name of the host and different processes of the same number.
  std::error_code code;
  const std::string space = fs::read_symlink("/proc/self/ns/pid", code).string();  // pid:[4026531836]
  if (!code) name += "." + space;
  std::erase_if(name, [](char c) { return std::string_view("/:[]").find(c) != std::string_view::npos; });
  return name;
}

std::optional<WorkFolderName> parse_work_folder(const std::string& name) {
  const std::size_t random = name.rfind('-');
  if (!name.starts_with(work_prefix) || random == std::string::npos || random <= work_prefix.size()) return {};
  const std::size_t process = name.rfind('-', random - 1);
  if (process == std::string::npos || process < work_prefix.size()) return {};
  if (name.size() - random != 17 || name.find_first_not_of("0123456789abcdef", random + 1) != std::string::npos)
    return {};
  WorkFolderName parts{name.substr(work_prefix.size(), process - work_prefix.size()), 0};
  const char *begin = name.data() + process + 1, *end = name.data() + random;
  const auto [last, error] = std::from_chars(begin, end, parts.process);
  if (error != std::errc{} || last != end || parts.process <= 0) return {};
  return parts;
}

void remove_damaged_entry(const fs::path& cache, const std::string& key) {
  WorkFolder aside(cache);
  const fs::path place = cache / key, moved = aside.path() / key;
  if (rename(place.c_str(), moved.c_str()) != 0) return;
  if (read_sound(moved, key)) (void)rename(moved.c_str(), place.c_str());
}

Entry publish_entry(WorkFolder work, const Entry& entry, const fs::path& cache) {
  const fs::path place = cache / entry.key;
  Entry published = entry;
  published.folder = place;
  constexpr int attempts = 5;  // other processes may put damaged entries there meanwhile
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (rename(work.path().c_str(), place.c_str()) == 0) {
      work.release();
      sync_directory_of(place);
      return published;
    }
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) break;
    if (const auto present = read_sound(place, entry.key)) return *present;
    // An exchange leaves no moment without an entry. The damaged one goes with the work folder.
    if (renameat2(AT_FDCWD, work.path().c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0) {
      sync_directory_of(place);
      return published;
    }
    try {
      if (errno != ENOENT) remove_damaged_entry(cache, entry.key);  // NFS exchanges nothing
    } catch (const std::system_error&) {
      break;  // the disk is full, for example
    }
  }
  published.folder = work.path();
  remove_at_exit(work.path());
  work.release();
  return published;
}

void remove_at_exit(const fs::path& folder) {
  static AtExit at_exit;
  const std::lock_guard lock(at_exit.mutex);
  at_exit.folders.emplace_back(getpid(), folder);
}

bool copy_to_pack(const Entry& kernel, const std::string& name, const std::string& title, const fs::path& pack) {
  std::string fault;
  if (read_entry(pack / name, name, Compare::files, fault)) return false;
  try {
    WorkFolder work(pack);
    for (const StoredFile& file : kernel.files) fs::copy_file(kernel.folder / file.name, work.path() / file.name);
    const Entry entry = write_manifest(work.path(), name, kernel.origin);
    using fs::perms;
    const perms readable = perms::owner_read | perms::group_read | perms::others_read;
    for (const auto& file : fs::directory_iterator(work.path()))
      fs::permissions(file.path(), readable | perms::owner_write);
    fs::permissions(work.path(), readable | perms::owner_write | perms::owner_exec | perms::group_exec |
                                     perms::others_exec);  // a pack may serve many users
    if (publish_entry(std::move(work), entry, pack).folder != pack / name)
      throw std::system_error(EIO, std::generic_category());
  } catch (const std::system_error& why) {
    throw Error(Error::Kind::runtime,
                fmt::format("{}: {} cannot be copied there ({})", pack.string(), title, why.code().message()));
  }
  return true;
}

}  // namespace rattleback
