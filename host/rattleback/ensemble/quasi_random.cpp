#include "rattleback/ensemble/quasi_random.hpp"

#include <array>
#include <bit>
#include <iterator>

#include "rattleback/ensemble/sobol_numbers.hpp"

namespace rattleback {
namespace {

static_assert(std::size(sobol_numbers) + 1 == most_dimensions);

/// Column i of the generating matrix of a dimension, times 2^32: the digits that bit i of an index contributes.
using Columns = std::array<std::uint32_t, 32>;

/// The columns of the first dimension are those of the identity.
constexpr Columns identity_columns() {
  Columns v{};
  for (unsigned i = 0; i < 32; ++i) v[i] = std::uint32_t{1} << (31 - i);
  return v;
}

constexpr Columns sobol_columns(const SobolNumbers& numbers) {
  const auto degree = static_cast<unsigned>(std::bit_width(numbers.polynomial)) - 1;
  Columns v{};
  for (unsigned i = 0; i < 32; ++i) {
    if (i < degree) {
      v[i] = numbers.initial[i] << (31 - i);
      continue;
    }
    v[i] = v[i - degree] ^ v[i - degree] >> degree;
    for (unsigned k = 1; k < degree; ++k)
      if ((numbers.polynomial >> (degree - k) & 1) != 0) v[i] ^= v[i - k];
  }
  return v;
}

constexpr auto sobol_matrices = [] {
  std::array<Columns, most_dimensions> matrices{identity_columns()};
  for (std::size_t i = 1; i < most_dimensions; ++i) matrices[i] = sobol_columns(sobol_numbers[i - 1]);
  return matrices;
}();

constexpr int lattice_levels = 24;

/// The output of tools/lattice_vector.
constexpr std::array<std::uint32_t, most_dimensions> lattice_vector{
    1,       6124259, 1162373, 421401,  4245971, 6067743, 2483793, 4216633, 6285617, 1461709, 6091767, 6550055, 5762489,
    865927,  4457519, 5162391, 4418911, 5500007, 7321889, 6238585, 2676219, 5947817, 2842125, 1092199, 7482725, 3266671,
    5560273, 5166227, 4371833, 2006165, 6688437, 2251405, 7142803, 5544175, 6254639, 2283769, 5301753, 4057431, 6598195,
    2854497, 59477,   6345797, 2841285, 7698341, 1449671, 3332875, 5099249, 2763105, 8010391, 532887,  1957649, 7818115,
    4337237, 2122503, 4130101, 6453871, 5316277, 5845753, 5786407, 7291343, 7037537, 3006987, 8325755, 7290719,
};

constexpr std::uint32_t reversed_bits(std::uint32_t x) {
  x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
  x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
  x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
  return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

}  // namespace

std::uint64_t most_points(Axis::Points points) {
  return std::uint64_t{1} << (points == Axis::Points::sobol ? 32 : lattice_levels);
}

std::uint64_t quasi_random_bits(Axis::Points points, std::size_t dimension, std::uint64_t index, std::uint64_t shift) {
  const auto i = static_cast<std::uint32_t>(index);
  if (points == Axis::Points::sobol) {
    std::uint32_t x = 0;
    for (std::uint32_t gray = i ^ i >> 1; gray != 0; gray &= gray - 1)
      x ^= sobol_matrices[dimension][static_cast<std::size_t>(std::countr_zero(gray))];
    return std::uint64_t{x} << 21 ^ shift;
  }
  const std::uint32_t x = reversed_bits(i) * lattice_vector[dimension];  // modulo 1 as modulo 2^32
  return ((std::uint64_t{x} << 21) + shift) & ((std::uint64_t{1} << 53) - 1);
}

}  // namespace rattleback
