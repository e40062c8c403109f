#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace rattleback {

/// Returns the text of a file, which may be a pipe that a shell has opened. Throws Error(input) when the file cannot be read,
/// is a FIFO, which may never have a writer, or has more than `most` bytes.
[[nodiscard]] std::string read_text(const std::filesystem::path& file, std::size_t most);

/// Like read_text, for files that the user does not name as such: they must be regular files, because other files may block or
/// never end. A message begins with `where`, or with the file where it is empty.
[[nodiscard]] std::string read_regular(const std::filesystem::path& file, std::size_t most,
                                       std::string_view where = "");

}  // namespace rattleback
