#pragma once
// What is in a cache of compiled kernels, and how it is made smaller.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rattleback {

/// An entry as `rattleback cache` shows it. Times are seconds since 1970, UTC.
struct ListedEntry {
  std::string key;
  std::string title;        ///< empty when `fault` is not
  std::string fault;        ///< what is wrong with the manifest; the hashes of the files are not checked
  std::uint64_t bytes = 0;  ///< of all files in the folder
  std::int64_t compiled = 0;
  std::int64_t used = 0;  ///< when the entry was used last, to a day
};

/// A folder in which a process compiles, or in which a process that is gone has compiled.
struct ListedWork {
  std::filesystem::path folder;
  std::uint64_t bytes = 0;
  bool stale = false;  ///< its process is gone (on this host), or the folder is older than a day
};

struct Listing {
  std::vector<ListedEntry> entries;  ///< the one used last comes first
  std::vector<ListedWork> work;

  /// Returns the size of all in bytes.
  [[nodiscard]] std::uint64_t bytes() const;
};

/// Returns what is in a cache; nothing when there is no such folder. Symbolic links are not followed, and other files
/// are left out.
[[nodiscard]] Listing list_cache(const std::filesystem::path& cache);

/// What `trim_cache` has removed.
struct Trimmed {
  std::uint64_t entries = 0, work_folders = 0, bytes = 0;
};

/// Removes the entries that were not used for `days` days, and stale work folders. 0 removes all entries. Nothing else
/// in the folder is touched, and nothing behind a symbolic link. A run that has loaded a kernel keeps it.
Trimmed trim_cache(const std::filesystem::path& cache, double days);

}  // namespace rattleback
