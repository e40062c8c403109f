#pragma once
// The hash FNV-1a detects accidental damage, not intended damage.
// Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, The FNV non-cryptographic hash algorithm.

#include <cstdint>
#include <string_view>

namespace rattleback {

/// Accepts bytes in any number of pieces. `value` depends on all bytes and their order.
struct Fnv1a {
  std::uint64_t value = 14695981039346656037u;

  void add(std::string_view bytes) {
    for (const char c : bytes) add_unit(static_cast<unsigned char>(c));
  }
  /// Adds eight bytes at once. The hash differs from the hash of the single bytes and takes less time.
  void add_word(std::uint64_t word) {
    add_unit(word);
    value ^= value >> 32;  // the high bits must change the low bits too
  }

 private:
  void add_unit(std::uint64_t unit) { value = (value ^ unit) * 1099511628211u; }
};

}  // namespace rattleback
