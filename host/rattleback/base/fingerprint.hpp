#pragma once
// The fingerprint of a result: SHA-256 over its datasets.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "rattleback/base/parallel.hpp"
#include "rattleback/base/sha256.hpp"

namespace rattleback {

/// Bytes of the blocks of a dataset that are hashed side by side, and of old results, which have no blocks.
inline constexpr std::uint64_t fingerprint_block = std::uint64_t{1} << 20,
                               fingerprint_without_blocks = std::numeric_limits<std::uint64_t>::max();

/// Computes a fingerprint. The hash is over all datasets in the order of the bytes of their paths. For each dataset it is
/// over the line "PATH TYPE N1,N2\n" and then over the numbers, row-major and little-endian. TYPE is float64, uint32 or
/// uint64. A dataset with more bytes than a block has, in place of its numbers, the SHA-256 of each block of them, as hexadecimal digits; the
/// last block may be shorter. Attributes, the time of day, the storage layout and the way to the numbers have no part in it.
class Fingerprint {
 public:
  /// `threads` hash the blocks of what is added at once.
  explicit Fingerprint(std::uint64_t block = fingerprint_block, unsigned threads = worker_count(0))
      : block_(block), threads_(threads) {}
  /// Returns how many bytes are best added at once: a block for each thread, which stays in the caches of the processors.
  [[nodiscard]] std::uint64_t bytes_at_once() const {
    return std::min(block_, fingerprint_block) * std::clamp(threads_, 1u, 16u);
  }
  /// Begins a dataset. The path must come after all paths before it.
  void begin(std::string_view path, std::string_view type, std::span<const std::uint64_t> shape);
  /// Adds numbers of the dataset.
  void add(const void* numbers, std::size_t bytes);
  /// Adds the next block of a dataset that has more bytes than a block, by its SHA-256 in hexadecimal digits.
  void add_block(std::string_view digits) { hash_.add(digits); }
  /// Returns the fingerprint as 64 hexadecimal digits. Call this once.
  [[nodiscard]] std::string digits() {
    end();
    return hash_.digits();
  }

 private:
  /// Ends a dataset: hashes its last block.
  void end();

  std::uint64_t block_;
  unsigned threads_;
  Sha256 hash_;
  std::string last_;
  bool in_blocks_ = false;
  std::string rest_;  ///< of what was added, less than a block
};

}  // namespace rattleback
