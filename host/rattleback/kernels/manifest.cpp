#include "rattleback/kernels/manifest.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rattleback/base/error.hpp"
#include "rattleback/base/json.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/base/sha256.hpp"

namespace rattleback {
namespace {

namespace fs = std::filesystem;

constexpr int layout = 2;                            // number of the layout of a manifest
constexpr std::size_t most_of_a_manifest = 1 << 20;  // bytes

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int id) : id_(id) {}
  ~Descriptor() {
    if (id_ >= 0) close(id_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  int id_;
};

/// The flag O_NONBLOCK keeps a pipe with the name of a file from blocking.
constexpr int read_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

[[noreturn]] void fail(const fs::path& path, const char* action) {
  throw Error(Error::Kind::runtime, fmt::format("{}: cannot be {} ({})", path.string(), action, std::strerror(errno)));
}

void write_to_disk(const fs::path& path, const std::string& text) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) fail(path, "written");
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file.get(), text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR) fail(path, "written");
    if (wrote > 0) done += static_cast<std::size_t>(wrote);
  }
  if (fsync(file.get()) != 0) fail(path, "written");
}

/// Returns the text of a manifest; empty when the manifest cannot be read.
std::string manifest_text(int folder) {
  const Descriptor file(openat(folder, manifest_name, read_flags));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  if (static_cast<std::size_t>(status.st_size) > most_of_a_manifest) return "";
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(), 0);
  return got == status.st_size ? text : "";
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos && name != manifest_name;
}

/// Returns a whole number. Throws Json::exception when it is none that fits: the conversion of others is not defined.
template <class Number>
Number whole_number(const Json& json, Number most) {
  if (json.is_number_unsigned() && json.get<std::uint64_t>() <= static_cast<std::uint64_t>(most))
    return json.get<Number>();
  throw Json::out_of_range::create(406, "not a whole number in range", &json);
}

/// Throws Json::exception when a member is missing or has another type, and for a number without sense.
Entry entry_of(const Json& json) {
  constexpr std::int64_t year_10000 = 253402300800;
  Entry entry;
  entry.key = json.at("key").get<std::string>();
  entry.origin.title = json.at("title").get<std::string>();
  entry.origin.name = json.at("name").get<std::string>();
  entry.origin.compiler = json.at("compiler").get<std::string>();
  entry.origin.flags = json.at("flags").get<std::vector<std::string>>();
  entry.origin.seconds = json.at("seconds").get<double>();
  entry.compiled = whole_number(json.at("compiled"), year_10000 - 1);
  for (const Json& file : json.at("files"))
    entry.files.push_back({file.at("name").get<std::string>(),
                           whole_number(file.at("bytes"), std::numeric_limits<std::uint64_t>::max()),
                           file.at("sha256").get<std::string>()});
  return entry;
}

/// Returns what is wrong with a file of an entry; empty when the file is the one of the manifest.
std::string fault_of(int folder, const StoredFile& stored) {
  if (!is_plain_name(stored.name)) return fmt::format("its manifest names {}", quote(stored.name));
  const Descriptor file(openat(folder, stored.name.c_str(), read_flags));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0)
    return fmt::format("{} cannot be read: {}", stored.name, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return fmt::format("{} is not a regular file", stored.name);
  if (static_cast<std::uint64_t>(status.st_size) != stored.bytes)
    return fmt::format("{} has {} bytes instead of {}", stored.name, status.st_size, stored.bytes);
  return sha256_of(file.get()) == stored.sha256 ? "" : fmt::format("{} has other contents", stored.name);
}

}  // namespace

fs::path Entry::file(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &StoredFile::name);
  return found == files.end() ? fs::path{} : folder / found->name;
}

std::uint64_t Entry::bytes() const {
  std::uint64_t total = 0;
  for (const StoredFile& file : files) total += file.bytes;
  return total;
}

bool is_key(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Entry write_manifest(const fs::path& folder, const std::string& key, const Origin& origin) {
  Entry entry{key, folder, origin, {}, 0};
  entry.compiled =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::error_code code;
  for (const fs::directory_entry& item : fs::directory_iterator(folder, code)) {
    if (!item.is_regular_file() || item.is_symlink()) continue;
    const Descriptor file(open(item.path().c_str(), read_flags));
    struct stat status{};
    if (!file || fstat(file.get(), &status) != 0) fail(item.path(), "read");
    // A compiler leaves what it makes to the umask; others must not write what is loaded as code.
    if (fchmod(file.get(), status.st_mode & 0755u) != 0) fail(item.path(), "protected");
    if (fsync(file.get()) != 0) fail(item.path(), "written to disk");
    const std::string digits = sha256_of(file.get());
    if (digits.empty()) fail(item.path(), "read");
    entry.files.push_back({item.path().filename().string(), static_cast<std::uint64_t>(status.st_size), digits});
  }
  if (entry.files.empty())
    throw Error(Error::Kind::runtime, fmt::format("{}: has no compiled kernel (it is empty or gone)", folder.string()));
  std::ranges::sort(entry.files, {}, &StoredFile::name);

  Json files = Json::array();
  for (const StoredFile& file : entry.files)
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  const Json json = {{"layout", layout},
                     {"key", key},
                     {"title", origin.title},
                     {"name", origin.name},
                     {"compiler", origin.compiler},
                     {"flags", origin.flags},
                     {"seconds", origin.seconds},
                     {"compiled", entry.compiled},
                     {"files", files}};
  write_to_disk(folder / manifest_name, json_text(json, 2) + "\n");
  const Descriptor itself(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (itself) fsync(itself.get());
  return entry;
}

std::optional<Entry> read_entry(const fs::path& folder, const std::string& key, Compare compare, std::string& fault) {
  fault.clear();
  const Descriptor id(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!id) {
    const int error = errno;
    struct stat status{};
    if (lstat(folder.c_str(), &status) == 0) fault = std::strerror(error);
    return {};
  }
  const Json json = Json::parse(manifest_text(id.get()), nullptr, false);
  Entry entry;
  try {
    if (json.at("layout") != layout) {
      fault = "another version of rattleback has written its manifest";
      return {};
    }
    entry = entry_of(json);
  } catch (const Json::exception&) {
    fault = "its manifest is missing or damaged";
    return {};
  }
  if (entry.key != key) fault = "its manifest has the key of another kernel";
  if (fault.empty() && entry.files.empty()) fault = "its manifest names no file";
  if (compare == Compare::files)
    for (const StoredFile& file : entry.files)
      if (fault.empty()) fault = fault_of(id.get(), file);
  if (!fault.empty()) return {};
  entry.folder = folder;
  return entry;
}

}  // namespace rattleback
