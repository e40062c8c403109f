#pragma once
// The cache of compiled kernels: one folder per kernel, `FOLDER/KEY`, where the key is a hash of all that the kernel depends
// on. An entry never changes, so a sound entry with the right key is the right kernel.

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "rattleback/base/mutex.hpp"
#include "rattleback/kernels/manifest.hpp"
#include "rattleback/kernels/publish.hpp"

namespace rattleback {

/// A folder with the same layout as the cache, which is read only.
struct Pack {
  std::filesystem::path folder;
  uid_t owner = geteuid();  ///< whose kernels are loaded besides those of root and of this user
};

/// All member functions may be called from many threads and from many processes at once.
class Store {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// Returns `$XDG_CACHE_HOME/rattleback/kernels`, or `$HOME/.cache/rattleback/kernels`. Returns an empty path when
  /// neither variable has an absolute path.
  [[nodiscard]] static std::filesystem::path default_folder();
  /// Returns the folders of RATTLEBACK_KERNEL_PATH, which are separated by colons.
  [[nodiscard]] static std::vector<Pack> packs_of_environment();

  /// `packs` are searched first, in this order, before `folder`, and never written. `warn` receives faults that do not end a
  /// run, each once, from any thread, which then holds no lock of the store. Nothing is created. Throws Error(input) when
  /// `folder` belongs to another user, when others may write it, or when everybody may write a folder above it, because its
  /// kernels are loaded as code. A pack that others may write, or that belongs to them or lies in a folder of theirs, is left
  /// out with a warning.
  explicit Store(std::filesystem::path folder = default_folder(), std::vector<Pack> packs = {}, Warn warn = {});

  /// Returns the entry of a key. The sizes, hashes and owners of its files are checked. An entry that is damaged, or that others may
  /// have written, counts as absent, with a warning. Records at most once per day that the entry is in use. Another process may trim the cache before the
  /// caller has loaded the file; the caller then calls `find` once more.
  [[nodiscard]] std::optional<Entry> find(const std::string& key);

  /// Returns an entry of the cache whose origin has this name and is accepted, whatever its key: the one compiled last.
  /// Entries that others publish after the first call are not seen. Checks and records as `find` does.
  [[nodiscard]] std::optional<Entry> find_named(const std::string& name,
                                                const std::function<bool(const Origin&)>& accept);

  /// Returns a new folder to compile in. It is in the cache, which is created with mode 0700 if need be. If the cache
  /// cannot be written, the folder is in a private one in the directory for temporary files, with a warning. Throws
  /// Error(input) as the constructor does, and Error(runtime) when no folder can be written.
  [[nodiscard]] WorkFolder work_folder();

  /// From now on, work folders are in the private one, because of this fault of the cache ("No space left on device").
  void leave_cache(const std::string& fault);

  /// Moves a work folder, with all files in it, into the cache. Its files must be closed. An entry of this key that is
  /// sound stays, and is returned. Throws Error(runtime) when the files cannot be read, or the disk is full.
  Entry publish(const std::string& key, WorkFolder work, const Origin& origin);

  /// Returns the folder of the cache; empty when there is only a private one.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::optional<Entry> find_in(const std::filesystem::path& place, const std::string& key, uid_t owner = geteuid());
  std::vector<std::string> keys_named(const std::string& name);
  std::optional<WorkFolder> work_folder_in_cache(std::string& fault);
  void warn_once(const std::string& message);

  std::filesystem::path folder_;
  std::vector<Pack> packs_;
  Warn warn_;
  Mutex mutex_;                     ///< of the members below
  std::string cache_fault_;         ///< why the cache is not written any more
  std::filesystem::path private_;   ///< used in place of a cache that cannot be written
  std::set<std::string> warnings_;  ///< given so far
  /// Times of compilation and keys of the entries of the cache, by name; read once.
  std::optional<std::map<std::string, std::vector<std::pair<std::int64_t, std::string>>>> names_;
};

}  // namespace rattleback
