#include "rattleback/kernels/store.hpp"

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
#include "rattleback/kernels/trust.hpp"

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
    input_error(where, fmt::format("can be written by other users ({}); check what is in it, then: chmod 700 {}", why,
                                   folder.string()));
  std::error_code code;
  if (const std::string fault = fault_above(fs::canonical(folder, code), Above::everybody); !fault.empty())
    input_error(where, fmt::format("is not safe: {} ({}); set XDG_CACHE_HOME to another folder", fault, why));
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

std::vector<Pack> Store::packs_of_environment() {
  const char* value = std::getenv("RATTLEBACK_KERNEL_PATH");
  const std::string_view list = value ? value : "";
  std::vector<Pack> packs;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) packs.push_back({list.substr(begin, end - begin)});
    begin = end + 1;
  }
  return packs;
}

Store::Store(fs::path folder, std::vector<Pack> packs, Warn warn) : folder_(std::move(folder)), warn_(std::move(warn)) {
  require_own(folder_);
  for (Pack& pack : packs) {
    const std::string where = fmt::format("the pack of kernels {}", quote(pack.folder.string(), most_of_a_path));
    std::error_code code;
    const fs::path place = fs::canonical(pack.folder, code);  // a link cannot lead elsewhere later
    if (code || !fs::is_directory(place, code)) {
      warn_once(fmt::format("{} is left out (it is no folder)", where));
      continue;
    }
    std::string fault = fault_of_owner(place, pack.owner);
    if (!fault.empty()) fault = "it " + fault;
    if (fault.empty()) fault = fault_above(place, Above::owners, pack.owner);
    if (fault.empty()) {
      packs_.push_back({place, pack.owner});
    } else {
      warn_once(fmt::format("{} is left out ({}, and its kernels are loaded as code)", where, fault));
    }
  }
}

void Store::warn_once(const std::string& message) {
  {
    const std::lock_guard lock(mutex_);
    if (!warnings_.insert(message).second) return;
  }
  if (warn_) warn_(message);
}

std::optional<Entry> Store::find_in(const fs::path& place, const std::string& key, uid_t owner) {
  if (place.empty()) return {};
  std::string fault;
  auto entry = read_entry(place / key, key, Compare::files, fault);
  if (!fault.empty())
    warn_once(fmt::format("{}: this compiled kernel is damaged ({}); it is not used", (place / key).string(), fault));
  if (!entry) return {};
  fault = fault_of_owner(*entry, owner);
  if (fault.empty()) return entry;
  warn_once(fmt::format(
      "{0}: this compiled kernel is not used, because it is loaded as code and {1}; check what is in it, then: "
      "chmod -R go-w {0}",
      entry->folder.string(), fault));
  return {};
}

std::optional<Entry> Store::find(const std::string& key) {
  if (!is_key(key)) return {};
  for (const Pack& pack : packs_)
    if (auto entry = find_in(pack.folder, key, pack.owner)) return entry;
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
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    why = cache_fault_;
  }
  if (why.empty()) {
    int error = create_folders(folder_);
    if (error == 0) {
      require_own(folder_);
      try {
        return WorkFolder(folder_);
      } catch (const std::system_error& system) {
        error = system.code().value();
      }
    }
    why = std::strerror(error);
  }
  fault = fmt::format("the cache of kernels, {}, cannot be written ({})", folder_.string(), why);
  return {};
}

WorkFolder Store::work_folder() {
  std::string fault;
  if (auto work = work_folder_in_cache(fault)) return std::move(*work);
  std::optional<WorkFolder> work;
  bool first = false;
  try {
    const std::lock_guard lock(mutex_);
    if (private_.empty()) {
      private_ = make_private_folder();
      remove_at_exit(private_);
      first = true;
    }
    work.emplace(private_);
  } catch (const std::system_error& why) {
    throw Error(
        Error::Kind::runtime,
        fmt::format("{}, and no folder can be made in the directory for temporary files ({}); set XDG_CACHE_HOME "
                    "or TMPDIR to a folder that can be written",
                    fault, why.what()));
  }
  if (first && warn_) warn_(fault + "; compiled kernels are lost at the end of this program");
  return std::move(*work);
}

void Store::leave_cache(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  if (cache_fault_.empty()) cache_fault_ = fault;
}

Entry Store::publish(const std::string& key, WorkFolder work, const Origin& origin) {
  if (!is_key(key))
    throw Error(Error::Kind::runtime, fmt::format("{} is not the key of a kernel (64 hexadecimal digits)", quote(key)));
  const Entry entry = write_manifest(work.path(), key, origin);
  const fs::path cache = work.path().parent_path();
  return publish_entry(std::move(work), entry, cache);
}

}  // namespace rattleback
