#pragma once
// A file for data of a run that may not fit into memory.

#include <cstdint>
#include <filesystem>
#include <string>

#include "rattleback/base/ledger.hpp"

namespace rattleback {

class ScratchFile {
 public:
  /// Opens or creates the file of a run. A file of another run is emptied. With an empty name the file has no name and
  /// is in the directory for temporary files. `what` names the content in messages. Throws Error(runtime) when the file
  /// cannot be opened, and Error(input) when another program wrote the file.
  ScratchFile(const std::filesystem::path& file, const std::string& run, const char* what);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Writes or reads `count` words of 8 bytes from word `first` on. Throws Error(runtime).
  void write(std::uint64_t first, const double* words, std::uint64_t count);
  void read(std::uint64_t first, double* words, std::uint64_t count) const;
  /// Writes to disk, so that the words survive a power failure.
  void sync();
  /// Copies the words into the file `name` of the run `run`, which replaces the present file. Throws like the constructor.
  void move_to(const std::filesystem::path& name, const std::string& run);

  /// Returns the record of the words written so far, for a checkpoint.
  [[nodiscard]] std::vector<std::uint64_t> written() const { return ledger_.numbers(); }
  /// Replaces the record of written words by one from a checkpoint.
  void restore(const std::vector<std::uint64_t>& written) { ledger_ = Ledger(written); }
  /// Returns whether a file belongs to a run and holds the words of the record `written`.
  [[nodiscard]] static bool agrees(const std::filesystem::path& file, const std::string& run,
                                   const std::vector<std::uint64_t>& written);

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path name_;
  const char* what_;
  int file_ = -1;
  Ledger ledger_;
};

/// Writes the entry of a file in its directory to disk, so that a new name survives a power failure.
void sync_directory_of(const std::filesystem::path& file);

}  // namespace rattleback
