#pragma once
// The inverse of the normal distribution function.

#include <cstdint>

#include "rattleback/real/elementary.hpp"

namespace rattleback {

/// Returns x with P(X <= x) = p for a normal X of mean 0 and standard deviation 1. Needs 0 < p < 1. The relative error
/// is below 1e-15.
/// Source: M. J. Wichura, Algorithm AS 241: the percentage points of the normal distribution, Appl. Stat. 37 (1988)
/// 477-484, PPND16.
[[nodiscard]] RB_HD_LARGE double normal_quantile(double p) {
  const auto ratio = [](const double (&a)[8], const double (&b)[8], double r) {
    double numerator = a[7], denominator = b[7];
    for (int i = 7; i-- > 0;) {
      numerator = numerator * r + a[i];
      denominator = denominator * r + b[i];
    }
    return numerator / denominator;
  };
  static constexpr double a[]{3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                              1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                              3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double b[]{1.0000000000000000000e0,  4.2313330701600911252e+1, 6.8718700749205790830e+2,
                              5.3941960214247511077e+3, 2.1213794301586595867e+4, 3.9307895800092710610e+4,
                              2.8729085735721942674e+4, 5.2264952788528545610e+3};
  static constexpr double c[]{1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                              3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                              2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double d[]{1.0000000000000000000e0,   2.05319162663775882187e0,  1.67638483018380384940e0,
                              6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
                              5.47593808499534494600e-4, 1.05075007164441684324e-9};
  static constexpr double e[]{6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                              2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                              2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[]{1.0000000000000000000e0,   5.99832206555887937690e-1, 1.36929880922735805310e-1,
                              1.48753612908506148525e-2, 7.86869131145613259100e-4, 1.84631831751005468180e-5,
                              1.42151175831644588870e-7, 2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (abs(q) <= 0.425) return q * ratio(a, b, 0.180625 - q * q);
  const double r = sqrt(-log(q < 0 ? p : 1 - p));
  const double x = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
  return q < 0 ? -x : x;
}

/// Returns the quantile of the centre of cell `bits` of the 2^53 equal cells of [0, 1]. Cells i and 2^53 - 1 - i give
/// opposite numbers, at most 8.3 in size.
[[nodiscard]] RB_HD_LARGE double normal_quantile_of_cell(std::uint64_t bits) {
  constexpr std::uint64_t cells = std::uint64_t{1} << 53;
  // The centres in the upper half are no doubles.
  const auto lower = [](std::uint64_t i) { return normal_quantile((static_cast<double>(i) + 0.5) * 0x1p-53); };
  return bits < cells / 2 ? lower(bits) : -lower(cells - 1 - bits);
}

}  // namespace rattleback
