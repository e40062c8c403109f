#pragma once
// A folder in which one process compiles a kernel, and its way into the cache. Many processes of many hosts may share a
// cache, also on NFS. So nothing is locked, and no name is ever written twice: a finished folder is renamed.

#include <filesystem>
#include <optional>
#include <string>

#include "rattleback/kernels/manifest.hpp"

namespace rattleback {

/// A folder of this process alone, `PARENT/tmp-HOST-PID-RANDOM`, with mode 0700. The destructor removes it.
class WorkFolder {
 public:
  /// Makes the folder in `parent`, which exists. Throws std::system_error, with the reason of the system.
  explicit WorkFolder(const std::filesystem::path& parent);
  ~WorkFolder();
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// From now on, the folder stays.
  void release() { path_.clear(); }

 private:
  std::filesystem::path path_;
};

/// The parts of the name of a work folder.
struct WorkFolderName {
  std::string host;  ///< name of the host and number of the name space of its processes
  long process = 0;
};
/// Returns the parts of a name; nothing for a name of another form.
[[nodiscard]] std::optional<WorkFolderName> parse_work_folder(const std::string& name);
/// Returns the host of this process, as in names of work folders.
[[nodiscard]] std::string host_of_this_process();

/// Removes an entry that is damaged. The entry is moved into a work folder first. If it is sound there, because another
/// process has just replaced it, it goes back. Throws std::system_error when there can be no work folder.
void remove_damaged_entry(const std::filesystem::path& cache, const std::string& key);

/// Renames a finished folder, which has a manifest, to `cache/KEY`. If that entry exists and is sound, the entry stays
/// and the new folder is removed. A damaged entry is replaced. Returns the entry of the cache. If nothing can be
/// renamed, returns the entry in the work folder, which is then removed when the program exits.
Entry publish_entry(WorkFolder work, const Entry& entry, const std::filesystem::path& cache);

/// Copies the kernel `title` into a pack, as `name`. Returns false when it is there. Throws Error(runtime).
bool copy_to_pack(const Entry& kernel, const std::string& name, const std::string& title,
                  const std::filesystem::path& pack);

/// Removes a folder when this process exits. A forked child does not remove it.
void remove_at_exit(const std::filesystem::path& folder);

}  // namespace rattleback
