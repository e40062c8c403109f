#pragma once
// What is kept of the values of a set of trajectories, for statistics and their errors.

namespace rattleback {

/// Data for the statistics of a set of values x with references r, and for their errors. A good trajectory whose value
/// is not finite enters as an infinity, a failed trajectory as a NaN. The initial values are those of no trajectory.
///
/// A mean is an unrounded sum of two numbers, because sets are combined by the differences of their means. Sums of powers
/// neither overflow nor underflow: they are in units of powers of 2^exponent, which is 1 unless the values differ by more
/// than 2^200 or by less than 2^-200 (exponent_of_unit in loop/reduction.hpp).
struct Moments {
  static constexpr double no_unit = -1001.0;  ///< the exponent where all sums are 0, below all others
  double count = 0.0;               ///< number of finite values; the others except `missing` use finite values only
  double mean = 0.0;                ///< mean of x
  double mean_low = 0.0;            ///< what rounding has taken from the mean
  double exponent = no_unit;        ///< of the unit of x - mean
  double squares = 0.0;             ///< sum (x - mean)^2
  double cubes = 0.0;               ///< sum (x - mean)^3
  double fourths = 0.0;             ///< sum (x - mean)^4
  double error_exponent = no_unit;  ///< of the unit of x - r
  double error_mean = 0.0;          ///< mean of (x - r)^2
  double error_mean_low = 0.0;      ///< what rounding has taken from it
  double error_spread = 0.0;        ///< sum ((x - r)^2 - error_mean)^2
  double minimum = __builtin_huge_val(), maximum = -__builtin_huge_val();
  double error_maximum = 0.0;  ///< max |x - r|, in units of 1
  double missing = 0.0;        ///< number of infinities
};

/// Data for the covariance and the correlation of x and y, and for their errors; pairs with a value that is not finite
/// are left out.
struct CoMoments {
  double count = 0.0;
  double mean_x = 0.0, mean_x_low = 0.0, mean_y = 0.0, mean_y_low = 0.0;  ///< as in Moments
  double exponent_x = Moments::no_unit, exponent_y = Moments::no_unit;    ///< of the units of both deviations
  double sums[12] = {};  ///< sum (x - mean_x)^i (y - mean_y)^j for 2 <= i + j <= 4, at `index`
  static constexpr int index(int i, int j) {
    const int degree = i + j;
    return (degree == 2 ? 0 : degree == 3 ? 3 : 7) + j;
  }
  [[nodiscard]] constexpr double sum(int i, int j) const { return sums[index(i, j)]; }
};

}  // namespace rattleback
