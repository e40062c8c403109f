#pragma once
// The coordinates of quasi-random points from the numbers of their dimension (study/quasi_random.hpp), times 2^53. A shift has 53 bits. Any
// 2^m points from an index on that is a multiple of 2^m are one point set of their kind.

#include <cstddef>
#include <cstdint>

#include "rattleback/real/config.hpp"

namespace rattleback {

inline constexpr std::size_t sobol_columns = 32;  ///< of the generating matrix of a dimension

RB_CONSTEXPR std::uint32_t reversed_bits(std::uint32_t x) {
  x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
  x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
  x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
  return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

/// Sobol's sequence in the order of the Gray code with the numbers of Joe and Kuo (2008), as in their program, with the digital shift
/// x xor `shift`. Needs the columns of the generating matrix and index < 2^32.
/// Sources: I. M. Sobol, USSR Comput. Math. Math. Phys. 7 (1967) 86-112; I. A. Antonov, V. M. Saleev, the same journal
/// 19 (1980) 252-256.
[[nodiscard]] RB_CONSTEXPR std::uint64_t sobol_bits(const std::uint32_t* columns, std::uint64_t index,
                                                    std::uint64_t shift) {
  const auto i = static_cast<std::uint32_t>(index);
  std::uint32_t x = 0;
  for (std::uint32_t gray = i ^ i >> 1; gray != 0; gray >>= 1, ++columns)
    if ((gray & 1) != 0) x ^= *columns;
  return std::uint64_t{x} << 21 ^ shift;
}

/// Point `index` of a lattice is the fractional part of phi(index) z + `shift`, where phi is the radical inverse in base 2.
[[nodiscard]] RB_CONSTEXPR std::uint64_t lattice_bits(std::uint32_t z, std::uint64_t index, std::uint64_t shift) {
  const std::uint32_t x = reversed_bits(static_cast<std::uint32_t>(index)) * z;  // modulo 1 as modulo 2^32
  return ((std::uint64_t{x} << 21) + shift) & ((std::uint64_t{1} << 53) - 1);
}

}  // namespace rattleback
