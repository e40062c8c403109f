#pragma once
// The hash SHA-256 (FIPS 180-4), by OpenSSL.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace rattleback {

/// Computes the SHA-256 of bytes that come one after the other. Throws Error(runtime) when OpenSSL fails.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void add(std::string_view bytes);
  /// Returns 64 hexadecimal digits in lower case. Call this once.
  [[nodiscard]] std::string digits();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Returns the SHA-256 of bytes as 64 hexadecimal digits in lower case.
[[nodiscard]] std::string sha256(std::string_view bytes);

/// Returns the SHA-256 of an open file from its beginning. Returns an empty string when the file cannot be read; errno
/// has the reason.
[[nodiscard]] std::string sha256_of(int file);

/// Returns the SHA-256 of a file by name. Throws Error(runtime) when the file cannot be read.
[[nodiscard]] std::string sha256_of(const std::filesystem::path& file);

}  // namespace rattleback
