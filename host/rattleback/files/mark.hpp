#pragma once
// The first bytes of every file that this program writes: they say that the file is its own, and of which run.

#include <cstddef>
#include <filesystem>
#include <string>

namespace rattleback {

/// Bytes before the content of a file: the user block of HDF5, whose size is a power of two from 512.
inline constexpr std::size_t mark_size = 512;

/// The name of a new run: 32 random hexadecimal digits.
[[nodiscard]] std::string new_run();

/// Writes the mark of a run at the beginning of an open file. False when the write fails; errno says why.
[[nodiscard]] bool write_mark(int file, const std::string& run);

/// The run that an open file belongs to; empty where the file has no mark. Reads the first bytes only, so the rest of the
/// file may be damaged.
[[nodiscard]] std::string run_of(int file);

/// The same for the name of a file; empty also where there is no file. Symbolic links are not followed.
[[nodiscard]] std::string run_of(const std::filesystem::path& file);

}  // namespace rattleback
