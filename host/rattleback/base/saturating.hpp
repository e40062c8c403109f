#pragma once
// Counts that a study may ask for beyond the range of integers.

#include <cstdint>
#include <limits>

namespace rattleback {

/// An integer that stays at 2^64 - 1 on overflow.
class Saturating {
 public:
  Saturating(std::uint64_t value) : value_(value) {}
  friend Saturating operator+(Saturating a, Saturating b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? most : sum;
  }
  friend Saturating operator*(Saturating a, Saturating b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? most : product;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  static constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_;
};

}  // namespace rattleback
