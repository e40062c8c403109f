#pragma once
// A folder for files that nobody needs later.

#include <filesystem>

namespace rattleback {

/// A folder among the temporary files. The destructor removes the folder and its files.
class TemporaryFolder {
 public:
  /// Throws Error(input) where no folder can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::filesystem::path file(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace rattleback
