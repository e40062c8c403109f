#pragma once
// The value of an axis at one of its positions: one text for the processor and for the kernels of a GPU.

#include <cstdint>

#include "rattleback/base/normal.hpp"
#include "rattleback/base/quasi_random_bits.hpp"
#include "rattleback/base/random.hpp"

namespace rattleback {

/// The numbers that an axis of a study consists of.
struct AxisNumbers {
  enum class Kind { range, values, uniform, normal };
  enum class Points { random, sobol, lattice };
  Kind kind = Kind::range;
  Points points = Points::random;
  double a = 0.0, b = 0.0;         ///< from and to, or mean and standard deviation
  const double* values = nullptr;  ///< of a list, `count` of them
  std::uint64_t seed = 0, count = 0, stride = 1;
  std::uint32_t stream = 0;  ///< of the random numbers: the number of the axis
  std::uint64_t block = 0;   ///< quasi-random points of one randomisation
  /// The numbers of the axis's dimension (quasi_random_numbers of study/quasi_random.hpp).
  const std::uint32_t* quasi_random = nullptr;

  /// Returns how many numbers `quasi_random` has.
  [[nodiscard]] std::size_t quasi_random_count() const {
    return points == Points::sobol ? sobol_columns : points == Points::lattice ? 1 : 0;
  }
  /// Returns the index of a trajectory's value: in the range, in the list, or of the draw.
  [[nodiscard]] RB_HD std::uint64_t position(std::uint64_t trajectory) const { return trajectory / stride % count; }

  [[nodiscard]] RB_HD double value_at(std::uint64_t i) const {
    switch (kind) {
      case Kind::range:
        if (i == 0) return a;
        // The last point is exactly `to`, without rounding.
        return i + 1 == count ? b : a + static_cast<double>(i) * (b - a) / static_cast<double>(count - 1);
      case Kind::values:
        return values[i];
      case Kind::uniform:
        return a + uniform(i) * (b - a);
      case Kind::normal:
        return a + normal(i) * b;
    }
    return 0.0;  // all kinds are handled above
  }

 private:
  /// The shift of a randomisation is the draw of its number of the axis's generator.
  [[nodiscard]] RB_HD std::uint64_t bits(std::uint64_t draw) const {
    const Draw shift(seed, stream, draw / block);
    if (points == Points::sobol) return sobol_bits(quasi_random, draw % block, shift.bits());
    return lattice_bits(*quasi_random, draw % block, shift.bits());
  }
  [[nodiscard]] RB_HD double uniform(std::uint64_t draw) const {
    if (points == Points::random) return Draw(seed, stream, draw).uniform();
    return static_cast<double>(bits(draw)) * 0x1p-53;
  }
  [[nodiscard]] RB_HD double normal(std::uint64_t draw) const {
    if (points == Points::random) return Draw(seed, stream, draw).normal();
    return normal_quantile_of_cell(bits(draw));
  }
};

}  // namespace rattleback
