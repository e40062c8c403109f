#pragma once
// A file for what a run cannot keep in memory.

#include <cstdint>
#include <filesystem>
#include <string>

#include "rattleback/files/ledger.hpp"

namespace rattleback {

class ScratchFile {
 public:
  /// Opens the file of a run, or makes it anew where another run has left it; an empty name makes an unnamed one in the
  /// directory for temporary files. `what` names its content in messages. Throws Error(runtime) where the file cannot be
  /// opened, Error(input) where it is not of this program.
  ScratchFile(const std::filesystem::path& file, const std::string& run, const char* what);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Words of 8 bytes, from the word `first` on. Throws Error(runtime).
  void write(std::uint64_t first, const double* words, std::uint64_t count);
  void read(std::uint64_t first, double* words, std::uint64_t count) const;
  /// All that is written survives a power failure.
  void sync();

  /// What has been written so far, for a checkpoint.
  [[nodiscard]] std::vector<std::uint64_t> written() const { return ledger_.numbers(); }
  /// Goes on from there.
  void restore(const std::vector<std::uint64_t>& written) { ledger_ = Ledger(written); }
  /// Whether a file is of this run and holds what was written.
  [[nodiscard]] static bool agrees(const std::filesystem::path& file, const std::string& run,
                                   const std::vector<std::uint64_t>& written);

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path name_;
  const char* what_;
  int file_ = -1;
  Ledger ledger_;
};

/// The same for the entry of a file in its directory: after this a rename or a new name is there to stay.
void sync_directory_of(const std::filesystem::path& file);

}  // namespace rattleback
