#pragma once
// The hashes of the blocks of a dataset, taken while it is written, so that its fingerprint need not read it again.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rattleback/base/sha256.hpp"

namespace rattleback {

/// The SHA-256 of each block of an array of bytes that comes in any order. Bytes that follow those that came before continue their block; a
/// block that comes in another order has no hash.
class BlockHashes {
 public:
  /// For an array of one block no hashes are taken: see Fingerprint.
  BlockHashes(std::uint64_t bytes, std::uint64_t block);

  /// Takes bytes of the array from byte `first` on, and hashes them on up to `threads` threads.
  void add(std::uint64_t first, std::string_view bytes, unsigned threads);
  /// Returns the hash of a block as hexadecimal digits; empty where it is not known.
  [[nodiscard]] const std::string& of(std::uint64_t block) const { return digits_[block]; }
  /// Returns the number of blocks; 0 for an array of one block.
  [[nodiscard]] std::uint64_t count() const { return digits_.size(); }

 private:
  /// A block whose bytes have come up to `next`.
  struct Begun {
    std::uint64_t next;
    Sha256 hash;
  };

  std::uint64_t bytes_, block_;
  std::vector<std::string> digits_;
  std::optional<Begun> begun_;
};

}  // namespace rattleback
