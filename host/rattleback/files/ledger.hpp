#pragma once
// What has been written into an array of a file, so that the file can be checked later.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace rattleback {

/// The words of an array that have been written, as ranges of indices, and a digest of their bits. The digest is a sum over
/// the words, so it does not depend on the order in which they were written, and words that were written after a
/// checkpoint do not disturb what the checkpoint says of the words before it.
class Ledger {
 public:
  /// Words of 4 or 8 bytes.
  explicit Ledger(unsigned word_size = 8) : word_size_(word_size) {}
  /// What `numbers` gave. Throws std::out_of_range where they are not of a ledger.
  explicit Ledger(std::span<const std::uint64_t> numbers);

  /// The words [first, first + count) of the array have the bits at `data`. A word that is written again has the same bits
  /// again: it counts once.
  void add(std::uint64_t first, const void* data, std::uint64_t count);

  /// Whether the array that begins at byte `offset` of an open file has all these words. Reads them; changes nothing.
  [[nodiscard]] bool agrees_with(int file, std::uint64_t offset) const;

  /// Word size, digest, and the ranges: 2 + 2 R numbers.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;

 private:
  unsigned word_size_;
  std::uint64_t digest_ = 0;
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< first index to the index after the last; disjoint, not adjacent
};

}  // namespace rattleback
