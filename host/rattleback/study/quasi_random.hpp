#pragma once
// Quasi-random points in the unit cube. A point is a pure function of its index and its shift.

#include <cstddef>
#include <cstdint>

#include "rattleback/real/config.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {

/// Largest number of dimensions of a point set.
inline constexpr std::size_t most_dimensions = 64;

/// Returns the largest number of points of a set, a power of two.
[[nodiscard]] std::uint64_t most_points(Axis::Points points);

/// Returns the numbers that the coordinate in `dimension` (from 0) comes from, in a set of `size` points, a power of two. Needs sobol or
/// lattice, dimension < most_dimensions and size <= most_points.
///
/// sobol: 32 columns of the generating matrix, times 2^32: the digits that each bit of an index contributes. Sets of all sizes have the
/// same. lattice: one number, the component of the vector z for this size, which tools/lattice_vector computes.
[[nodiscard]] const std::uint32_t* quasi_random_numbers(Axis::Points points, std::size_t dimension, std::uint64_t size);
inline constexpr std::size_t sobol_columns = 32;
/// Returns how many numbers these are.
[[nodiscard]] constexpr std::size_t count_of_quasi_random_numbers(Axis::Points points) {
  return points == Axis::Points::sobol ? sobol_columns : 1;
}

RB_CONSTEXPR std::uint32_t reversed_bits(std::uint32_t x) {
  x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
  x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
  x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
  return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

/// Returns a coordinate of point `index`, times 2^53, from its numbers. `shift` has 53 bits. Any 2^m points from an index on that is a
/// multiple of 2^m are one point set of their kind. Needs index < size.
///
/// sobol: Sobol's sequence in the order of the Gray code with the numbers of Joe and Kuo (2008), as in their program,
/// with the digital shift x xor `shift`.
/// Sources: I. M. Sobol, USSR Comput. Math. Math. Phys. 7 (1967) 86-112; I. A. Antonov, V. M. Saleev, the same journal
/// 19 (1980) 252-256.
///
/// lattice: point `index` is the fractional part of phi(index) z + `shift`, where phi is the radical inverse in base 2.
[[nodiscard]] RB_CONSTEXPR std::uint64_t bits_of_point(Axis::Points points, const std::uint32_t* numbers,
                                                       std::uint64_t index, std::uint64_t shift) {
  const auto i = static_cast<std::uint32_t>(index);
  if (points == Axis::Points::sobol) {
    std::uint32_t x = 0;
    for (std::uint32_t gray = i ^ i >> 1; gray != 0; gray >>= 1, ++numbers)
      if ((gray & 1) != 0) x ^= *numbers;
    return std::uint64_t{x} << 21 ^ shift;
  }
  const std::uint32_t x = reversed_bits(i) * *numbers;  // modulo 1 as modulo 2^32
  return ((std::uint64_t{x} << 21) + shift) & ((std::uint64_t{1} << 53) - 1);
}

/// The same from the dimension in a set of `size` points.
[[nodiscard]] inline std::uint64_t quasi_random_bits(Axis::Points points, std::size_t dimension, std::uint64_t index,
                                                     std::uint64_t shift, std::uint64_t size = std::uint64_t{1} << 24) {
  return bits_of_point(points, quasi_random_numbers(points, dimension, size), index, shift);
}

}  // namespace rattleback
