#pragma once
// The seal of a finished part: its size, the number of its failed trajectories, and a digest of all, in the user block before
// the data.

#include <cstdint>
#include <filesystem>
#include <string>

namespace rattleback {

/// Seals a finished file and writes it to the disk. Throws Error(runtime).
void seal(const std::filesystem::path& file, std::uint64_t failed);

/// Returns why a file is not what was sealed ("is cut off", ..); empty for a good file. Reads the whole file, or with
/// `size_only` the seal only.
[[nodiscard]] std::string fault_of_seal(const std::filesystem::path& file, bool size_only = false);

/// Returns the number of failed trajectories that the seal of a file tells; 0 without a seal. Reads the seal only.
[[nodiscard]] std::uint64_t failed_of_seal(const std::filesystem::path& file);

}  // namespace rattleback
