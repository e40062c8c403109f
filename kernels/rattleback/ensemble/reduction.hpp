#pragma once
// The reduction tree, which is part of the definition of a result: lane i meets lane i + s for s = 128, 64, .., 1 within a
// chunk, chunks meet in a fixed binary tree over their index. The same on every backend, thread count and tile size.

#include <cstdint>

#include "rattleback/ensemble/entry.hpp"
#include "rattleback/real/real.hpp"

namespace rattleback {

/// What the statistics mean, std, mse, rms, min, max, maxabs need of a set of values x with references r.
struct Moments {
  double count;          ///< good trajectories
  double mean;           ///< of x
  double squares;        ///< sum (x - mean)^2
  double error_squares;  ///< sum (x - r)^2
  double minimum, maximum;
  double error_maximum;  ///< max |x - r|
};

}  // namespace rattleback

RB_NAMESPACE_BEGIN

/// Moments of one trajectory; a failed one counts for nothing.
RB_HD Moments moments_of(double x, double reference, bool good) {
  const double error = x - reference;
  const double infinity = __builtin_huge_val();
  if (!good) return {0.0, 0.0, 0.0, 0.0, infinity, -infinity, 0.0};
  return {1.0, x, 0.0, error * error, x, x, abs(error)};
}

/// Moments of the union (means and squares by the pairwise update of Chan, Golub and LeVeque).
RB_HD Moments combine(const Moments& a, const Moments& b) {
  if (b.count == 0.0) return a;
  if (a.count == 0.0) return b;
  const double count = a.count + b.count;
  const double delta = b.mean - a.mean;
  const double share = b.count / count;
  return {count,
          fma(delta, share, a.mean),
          a.squares + b.squares + delta * delta * (a.count * share),
          a.error_squares + b.error_squares,
          min(a.minimum, b.minimum),
          max(a.maximum, b.maximum),
          max(a.error_maximum, b.error_maximum)};
}

RB_NAMESPACE_END
