#pragma once
// The hash SHA-256 (FIPS 180-4), by OpenSSL.

#include <filesystem>
#include <string>
#include <string_view>

namespace rattleback {

/// Returns the SHA-256 of bytes as 64 hexadecimal digits in lower case.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// Returns the SHA-256 of an open file from its beginning. Returns an empty string when the file cannot be read; errno
/// has the reason.
[[nodiscard]] std::string sha256_of(int file);

/// Returns the SHA-256 of a file by name. Throws Error(runtime) when the file cannot be read.
[[nodiscard]] std::string sha256_of(const std::filesystem::path& file);

}  // namespace rattleback
