#pragma once
// Quasi-random points in the unit cube. A point is a pure function of its index and its shift.

#include <cstddef>
#include <cstdint>

#include "rattleback/base/quasi_random_bits.hpp"
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

/// Returns a coordinate of point `index` in a set of `size` points, times 2^53 (base/quasi_random_bits.hpp). Needs index < size.
[[nodiscard]] inline std::uint64_t quasi_random_bits(Axis::Points points, std::size_t dimension, std::uint64_t index,
                                                     std::uint64_t shift, std::uint64_t size = std::uint64_t{1} << 24) {
  const std::uint32_t* numbers = quasi_random_numbers(points, dimension, size);
  return points == Axis::Points::sobol ? sobol_bits(numbers, index, shift) : lattice_bits(*numbers, index, shift);
}

}  // namespace rattleback
