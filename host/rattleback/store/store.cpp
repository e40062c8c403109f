#include "rattleback/store/store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/message.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

/// Returns an environment variable that is an absolute path; empty otherwise.
fs::path absolute_path(const char* variable) {
  const char* value = std::getenv(variable);
  fs::path path = value ? value : "";
  return path.is_absolute() ? path : fs::path{};
}

/// Throws Error(input) when other users could have put kernels into the cache. A folder that does not exist is good.
void require_own(const fs::path& folder) {
  struct stat status{};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
  constexpr std::string_view why = "its kernels are loaded as code";
  const std::string where = fmt::format("the cache of kernels, {}", folder.string());
  if (status.st_uid != geteuid())
    input_error(where, fmt::format("belongs to the user {} ({}); set XDG_CACHE_HOME to a folder of your own",
                                   status.st_uid, why));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    input_error(where, fmt::format("can be written by other users ({}); look at what is in it, then: chmod 700 {}", why,
                                   folder.string()));
}

/// Creates a folder and its parents with mode 0700. Returns 0, or the reason of the system.
int create_folders(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) == 0) return 0;
  if (errno == ENOENT && folder.has_relative_path()) {
    if (const int error = create_folders(folder.parent_path())) return error;
    if (mkdir(folder.c_str(), 0700) == 0) return 0;
  }
  if (errno != EEXIST) return errno;
  std::error_code code;
  return fs::is_directory(folder, code) ? 0 : ENOTDIR;
}

/// Makes a folder in the directory for temporary files. Throws std::system_error.
fs::path make_private_folder() {
  std::error_code code;
  fs::path temporary = fs::temp_directory_path(code);
  if (code) temporary = "/tmp";
  std::string name = (temporary / "rattleback-kernels-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
  return name;
}

/// Sets the time of the mark of use, at most once per day. A cache that cannot be written keeps its old mark.
void mark_as_used(const fs::path& entry) {
  constexpr std::time_t day = 24 * 60 * 60;
  const fs::path mark = entry / used_name;
  struct stat status{};
  if (lstat(mark.c_str(), &status) == 0 && std::time(nullptr) - status.st_mtime < day) return;
  const int id = open(mark.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (id < 0) return;
  (void)futimens(id, nullptr);
  close(id);
}

}  // namespace

fs::path Store::default_folder() {
  if (const fs::path cache = absolute_path("XDG_CACHE_HOME"); !cache.empty()) return cache / "rattleback" / "kernels";
  if (const fs::path home = absolute_path("HOME"); !home.empty()) return home / ".cache" / "rattleback" / "kernels";
  return {};
}

std::vector<fs::path> Store::packs_of_environment() {
  const char* value = std::getenv("RATTLEBACK_KERNEL_PATH");
  const std::string_view list = value ? value : "";
  std::vector<fs::path> packs;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) packs.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return packs;
}

Store::Store(fs::path folder, std::vector<fs::path> packs, Warn warn)
    : folder_(std::move(folder)), warn_(std::move(warn)) {
  require_own(folder_);
  for (fs::path& pack : packs_of_environment()) packs.push_back(std::move(pack));
  for (fs::path& pack : packs) {
    struct stat status{};
    const std::string where = fmt::format("the pack of kernels {}", quote(pack.string(), most_of_a_path));
    if (stat(pack.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
      warn_once(fmt::format("{} is left out (it is no folder)", where));
    } else if ((status.st_mode & S_IWOTH) != 0) {
      warn_once(fmt::format("{} is left out (every user can write it, and its kernels are loaded as code)", where));
    } else {
      packs_.push_back(std::move(pack));
    }
  }
}

void Store::warn_once(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (warnings_.insert(message).second && warn_) warn_(message);
}

std::optional<Entry> Store::find_in(const fs::path& place, const std::string& key) {
  if (place.empty()) return {};
  std::string fault;
  auto entry = read_entry(place / key, key, Compare::files, fault);
  if (!fault.empty())
    warn_once(fmt::format("{}: this compiled kernel is damaged ({}); it is not used", (place / key).string(), fault));
  return entry;
}

std::optional<Entry> Store::find(const std::string& key) {
  if (!is_key(key)) return {};
  for (const fs::path& pack : packs_)
    if (auto entry = find_in(pack, key)) return entry;
  if (auto entry = find_in(folder_, key)) {
    mark_as_used(entry->folder);
    return entry;
  }
  fs::path own;
  {
    const std::lock_guard lock(mutex_);
    own = private_;
  }
  return find_in(own, key);
}

std::vector<std::string> Store::keys_named(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!names_) {
    names_.emplace();
    std::error_code code;
    for (fs::directory_iterator item(folder_, code), end; !code && item != end; item.increment(code)) {
      const std::string key = item->path().filename();
      std::string fault;
      if (!is_key(key)) continue;
      if (const auto entry = read_entry(item->path(), key, Compare::nothing, fault))
        (*names_)[entry->origin.name].emplace_back(entry->compiled, key);
    }
    for (auto& [found, entries] : *names_) std::ranges::sort(entries, std::greater<>());
  }
  std::vector<std::string> keys;
  if (const auto found = names_->find(name); found != names_->end())
    for (const auto& [compiled, key] : found->second) keys.push_back(key);
  return keys;
}

std::optional<Entry> Store::find_named(const std::string& name, const std::function<bool(const Origin&)>& accept) {
  if (folder_.empty()) return {};
  for (const std::string& key : keys_named(name)) {
    auto entry = find_in(folder_, key);
    if (!entry || entry->origin.name != name || !accept(entry->origin)) continue;
    mark_as_used(entry->folder);
    return entry;
  }
  return {};
}

std::optional<WorkFolder> Store::work_folder_in_cache(std::string& fault) {
  if (folder_.empty()) {
    fault = "there is no cache of kernels (neither XDG_CACHE_HOME nor HOME is an absolute path)";
    return {};
  }
  int error = create_folders(folder_);
  if (error == 0) {
    require_own(folder_);
    try {
      return WorkFolder(folder_);
    } catch (const std::system_error& why) {
      error = why.code().value();
    }
  }
  fault = fmt::format("the cache of kernels, {}, cannot be written ({})", folder_.string(), std::strerror(error));
  return {};
}

WorkFolder Store::work_folder() {
  std::string fault;
  if (auto work = work_folder_in_cache(fault)) return std::move(*work);
  const std::lock_guard lock(mutex_);
  try {
    if (private_.empty()) {
      private_ = make_private_folder();
      remove_at_exit(private_);
      if (warn_) warn_(fault + "; compiled kernels are lost at the end of this program");
    }
    return WorkFolder(private_);
  } catch (const std::system_error& why) {
    throw Error(
        Error::Kind::runtime,
        fmt::format("{}, and no folder can be made in the directory for temporary files ({}); set XDG_CACHE_HOME "
                    "or TMPDIR to a folder that can be written",
                    fault, why.what()));
  }
}

Entry Store::publish(const std::string& key, WorkFolder work, const Origin& origin) {
  if (!is_key(key))
    throw Error(Error::Kind::runtime, fmt::format("{} is no key of a kernel (64 hexadecimal digits)", quote(key)));
  const Entry entry = write_manifest(work.path(), key, origin);
  const fs::path cache = work.path().parent_path();
  return publish_entry(std::move(work), entry, cache);
}

}  // namespace rattleback
