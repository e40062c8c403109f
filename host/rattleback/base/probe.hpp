#pragma once
// Reads files that may be damaged. HDF5 crashes on some damaged files, so a child process reads a file first.

#include <filesystem>
#include <functional>
#include <string>

namespace rattleback {

/// Returns why a file cannot be read, in the words of the system ("Permission denied", "it is a directory"); empty for
/// a readable file. Only regular files are readable, because other files may block or never end.
[[nodiscard]] std::string why_unreadable(const std::filesystem::path& file);

/// Returns whether `body`, which reads `file`, ends in a child process by return or by exception, without a crash or a
/// hang. The child may use 10 s of CPU time plus the file size divided by 16 MiB/s, and ten times as much wall time.
/// Output of the child and changes to its memory are lost. Throws Error(runtime) when no process can be started.
[[nodiscard]] bool comes_back(const std::filesystem::path& file, const std::function<void()>& body);

}  // namespace rattleback
