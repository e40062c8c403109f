#pragma once
// Records which words of an array in a file are written, so that the file can be checked later.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace rattleback {

/// The written words of an array, as ranges of indices, and a digest of their bits. The digest is a sum over the words,
/// so the order of writing does not matter. Words written after a checkpoint do not change the record of the earlier
/// words in that checkpoint.
class Ledger {
 public:
  /// The words have 4 or 8 bytes.
  explicit Ledger(unsigned word_size = 8) : word_size_(word_size) {}
  /// Restores a ledger from `numbers`. Throws std::out_of_range when `numbers` does not come from a ledger.
  explicit Ledger(std::span<const std::uint64_t> numbers);

  /// Records that the words [first, first + count) have the bits at `data`. A word that is written again must have the
  /// same bits and counts once. Up to `threads` threads read many words.
  void add(std::uint64_t first, const void* data, std::uint64_t count, unsigned threads = 1);

  /// Returns whether the array that begins at byte `offset` of an open file has all recorded words. Only reads the
  /// file.
  [[nodiscard]] bool agrees_with(int file, std::uint64_t offset) const;

  /// Returns word size, digest, and R ranges: 2 + 2 R numbers.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const;

 private:
  unsigned word_size_;
  std::uint64_t digest_ = 0;
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< first index to index after the last; disjoint, not adjacent
};

}  // namespace rattleback
