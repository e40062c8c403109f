#pragma once
// Counter-based random numbers. A draw is a pure function of key and counter, so the order of draws does not matter.

#include <array>
#include <cstdint>
#include <numbers>

#include "rattleback/real/elementary.hpp"

namespace rattleback {

/// Philox4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC'11).
[[nodiscard]] RB_CONSTEXPR std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                                   std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;  // golden ratio
    key[1] += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

/// The random numbers of draw `index` of stream `stream`.
class Draw {
 public:
  RB_CONSTEXPR Draw(std::uint64_t seed, std::uint32_t stream, std::uint64_t index) {
    const auto bits = philox4x32({low(index), high(index), stream, 0}, {low(seed), high(seed)});
    first_ = bits[0] | std::uint64_t{bits[1]} << 32;
    second_ = bits[2] | std::uint64_t{bits[3]} << 32;
  }

  /// Returns 53 random bits.
  [[nodiscard]] RB_CONSTEXPR std::uint64_t bits() const { return first_ >> 11; }

  /// Returns the second 53 random bits.
  [[nodiscard]] RB_CONSTEXPR std::uint64_t second_bits() const { return second_ >> 11; }

  /// Returns a uniform number in [0, 1), a multiple of 2^-53.
  [[nodiscard]] RB_CONSTEXPR double uniform() const { return static_cast<double>(bits()) * 0x1p-53; }

  /// Returns a normal number with mean 0 and standard deviation 1 (Box and Muller 1958).
  [[nodiscard]] RB_HD_LARGE double normal() const {
    const double radius = sqrt(-2.0 * log(static_cast<double>(bits() + 1) * 0x1p-53));
    return radius * cos(2 * std::numbers::pi * (static_cast<double>(second_bits()) * 0x1p-53));
  }

 private:
  RB_CONSTEXPR static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  RB_CONSTEXPR static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

  std::uint64_t first_, second_;
};

}  // namespace rattleback
