#pragma once
// Every file of this program begins with a mark, which names the program and the run.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace rattleback {

/// Size of the mark in bytes. The mark is in the user block of HDF5, whose size is a power of two from 512.
inline constexpr std::size_t mark_size = 512;

/// What a file of this program holds. A command replaces only files of the kind that it writes.
enum class FileKind {
  result,  ///< the result of a run, or a file beside it
  part,    ///< the result of a part of a run
  order,   ///< the table of `rattleback order`
  states,  ///< initial states of a study
};

/// Returns the name of a new run: 32 random hexadecimal digits.
[[nodiscard]] std::string new_run();

/// Locks an open file for the run that writes it, until the file is closed. Returns false when another run has the lock, or
/// when there are no locks there; errno has the reason. The lock is one of fcntl: HDF5 locks the same file with flock where
/// the variable HDF5_USE_FILE_LOCKING asks for it, and the two kinds do not exclude each other.
[[nodiscard]] bool lock_file(int file);

/// Writes the mark of a run at the beginning of an open file. The text has less than 64 bytes: a seal follows in parts.
/// Returns false on failure; errno has the reason.
[[nodiscard]] bool write_mark(int file, const std::string& run, FileKind kind = FileKind::result);

/// Returns the run of an open file; empty when the file has no mark. Only the first bytes are read, so the rest of the
/// file may be damaged.
[[nodiscard]] std::string run_of(int file);

/// Returns the run of a file by name; empty also when the file does not exist. Symbolic links are not followed.
[[nodiscard]] std::string run_of(const std::filesystem::path& file);

/// Returns the kind that the mark of a file states; empty for a file without a mark, and for one of versions up to 0.2.0,
/// whose marks state no kind.
[[nodiscard]] std::optional<FileKind> stated_kind(const std::filesystem::path& file);

}  // namespace rattleback
