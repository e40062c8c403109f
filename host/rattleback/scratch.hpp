#pragma once
// A file for what a run cannot keep in memory.

#include <cstdint>
#include <filesystem>

namespace rattleback {

class ScratchFile {
 public:
  /// Opens or makes the file; an empty name makes an unnamed one in the directory for temporary files. `what` names its
  /// content in messages. Throws Error(runtime).
  ScratchFile(const std::filesystem::path& file, const char* what);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void write(std::uint64_t offset, const void* data, std::uint64_t bytes);
  void read(std::uint64_t offset, void* data, std::uint64_t bytes) const;
  /// All that is written survives a power failure.
  void sync();

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path name_;
  const char* what_;
  int file_ = -1;
};

/// The same for the entry of a file in its directory: after this a rename or a new name is there to stay.
void sync_directory_of(const std::filesystem::path& file);

}  // namespace rattleback
