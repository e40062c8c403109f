#pragma once
// The hash FNV-1a, which finds damage by accident, not by intent.
// Source: G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, The FNV non-cryptographic hash algorithm.

#include <cstdint>
#include <string_view>

namespace rattleback {

/// Takes bytes in any number of pieces; `value` depends on all bytes and their order.
struct Fnv1a {
  std::uint64_t value = 14695981039346656037u;

  void add(std::string_view bytes) {
    for (const char c : bytes) add_unit(static_cast<unsigned char>(c));
  }
  /// Takes eight bytes at once: another hash than that of the bytes, and a faster one.
  void add_word(std::uint64_t word) {
    add_unit(word);
    value ^= value >> 32;  // high bits count too
  }

 private:
  void add_unit(std::uint64_t unit) { value = (value ^ unit) * 1099511628211u; }
};

}  // namespace rattleback
