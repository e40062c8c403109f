#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace rattleback {

/// Returns the text of a file, which may be a pipe. Throws Error(input) when the file cannot be read or has more than
/// `most` bytes.
[[nodiscard]] std::string read_text(const std::filesystem::path& file, std::size_t most);

}  // namespace rattleback
