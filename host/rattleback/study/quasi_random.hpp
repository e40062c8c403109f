#pragma once
// Quasi-random points in the unit cube. A point is a pure function of its index and its shift.

#include <cstddef>
#include <cstdint>

#include "rattleback/study/study.hpp"

namespace rattleback {

/// Largest number of dimensions of a point set.
inline constexpr std::size_t most_dimensions = 64;

/// Returns the largest number of points of a set, a power of two.
[[nodiscard]] std::uint64_t most_points(Axis::Points points);

/// Returns the coordinate of point `index` in `dimension` (from 0), times 2^53, in a set of `size` points, a power of two.
/// `shift` has 53 bits. Any 2^m points from an index on that is a multiple of 2^m are one point set of their kind. Needs sobol or
/// lattice, dimension < most_dimensions and index < size <= most_points.
///
/// sobol: Sobol's sequence in the order of the Gray code with the numbers of Joe and Kuo (2008), as in their program,
/// with the digital shift x xor `shift`. Sets of all sizes have the same points.
/// Sources: I. M. Sobol, USSR Comput. Math. Math. Phys. 7 (1967) 86-112; I. A. Antonov, V. M. Saleev, the same journal
/// 19 (1980) 252-256.
///
/// lattice: point `index` is the fractional part of phi(index) z + `shift`, where phi is the radical inverse in base 2 and z the
/// vector for this size. tools/lattice_vector computes the vectors.
[[nodiscard]] std::uint64_t quasi_random_bits(Axis::Points points, std::size_t dimension, std::uint64_t index,
                                              std::uint64_t shift, std::uint64_t size = std::uint64_t{1} << 24);

}  // namespace rattleback
