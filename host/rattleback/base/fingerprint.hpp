#pragma once
// The fingerprint of a result: SHA-256 over its datasets.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rattleback/base/sha256.hpp"

namespace rattleback {

/// Computes a fingerprint. The hash is over all datasets in the order of the bytes of their paths. For each dataset it is
/// over the line "PATH TYPE N1,N2\n" and then over the numbers, row-major and little-endian. TYPE is float64, uint32 or
/// uint64. Attributes, the time of day, the storage layout and the way to the numbers have no part in it.
class Fingerprint {
 public:
  /// Begins a dataset. The path must come after all paths before it.
  void begin(std::string_view path, std::string_view type, std::span<const std::uint64_t> shape);
  /// Adds numbers of the dataset.
  void add(const void* numbers, std::size_t bytes);
  /// Returns the fingerprint as 64 hexadecimal digits. Call this once.
  [[nodiscard]] std::string digits() { return hash_.digits(); }

 private:
  Sha256 hash_;
  std::string last_;
};

}  // namespace rattleback
