#pragma once
// Files that may be damaged: HDF5 crashes over some of them, so a child process reads a file first.

#include <filesystem>
#include <functional>
#include <string>

namespace rattleback {

/// Why a file cannot be read, in the words of the system ("Permission denied", "it is a directory"); empty when it can be.
/// Only a regular file can be: others may block, or never end.
[[nodiscard]] std::string why_unreadable(const std::filesystem::path& file);

/// Whether `body`, which reads `file`, comes back (by return or by exception) in a child process: neither a crash nor a
/// hang ends it. The child has a CPU-time limit of 10 s and what the file's size takes at 16 MiB/s, and ten times as long
/// by the clock. Nothing that it prints appears, and what it does to memory is lost. Throws Error(runtime) when no process
/// can be started.
[[nodiscard]] bool comes_back(const std::filesystem::path& file, const std::function<void()>& body);

}  // namespace rattleback
