#pragma once
// Removes the leading term of the error from the states of a reference.

#include <cstdint>
#include <span>

#include "rattleback/study/problem.hpp"

namespace rattleback {

/// A reference whose own error is at least this share of a tested one is extrapolated. A share s shifts the order that is
/// observed between two halved steps by less than 1.5 s.
inline constexpr double negligible_share = 1.0 / 500;

/// Returns the error of a reference with the step H as a share of the smallest error that it has to measure, (H/h)^p; 1 where
/// p is unknown, and 0 for tested runs of lower order. Where lambda is carried, p is the least order of lambda, lower by 2.
/// The runs have uniform steps.
[[nodiscard]] double share_of_own_error(const Problem& reference, double step, std::span<const Problem> runs);

/// The values of one variable in runs of one study: row-major, a row per trajectory.
struct Runs {
  std::span<const double> coarse;      ///< with the step `ratio` H
  std::span<double> fine;              ///< with the step H
  std::span<const double> half;        ///< with the step H/2
  std::span<const std::uint8_t> good;  ///< per trajectory: 0 leaves it out of the order
  double ratio;                        ///< greater than 1
};

/// Returns the order of the error: the whole number q from 1 to 12 for which |coarse - half| / |fine - half| is nearest to
/// (ratio^q - 2^-q) / (1 - 2^-q), which is its value where the error is C step^q. Returns 0 where `fine` and `half` agree.
[[nodiscard]] int observed_order(const Runs& runs);

/// Replaces `fine` by half + (half - fine) / (2^order - 1), or by `half` for order 0. Where the error is of another order,
/// what is left is not larger than the error of `fine`.
void extrapolate(const Runs& runs, int order);

}  // namespace rattleback
