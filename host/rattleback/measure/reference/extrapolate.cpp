#include "rattleback/measure/reference/extrapolate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

#include "rattleback/real/elementary.hpp"
#include "rattleback/study/options.hpp"

namespace rattleback {
namespace {

/// x^k for k >= 0.
double power(double x, int k) {
  double product = 1.0;
  for (int i = 0; i < k; ++i) product *= x;
  return product;
}

}  // namespace

double share_of_own_error(const Problem& reference, double step, std::span<const Problem> runs) {
  const int order = order_of(reference);
  const bool multiplier = reference.system->m > 0 && reference.method->carries_multiplier;
  const int least = order == 0 ? 0 : multiplier ? std::max(order - 2, 1) : order;
  double share = 0.0;
  for (const Problem& run : runs)
    if (const int tested = order_of(run); tested == 0 || tested >= order)
      share = std::max(share, power(step / std::abs(std::get<double>(run.study.time.step.content)), least));
  return share;
}

int observed_order(const Runs& runs) {
  constexpr int most = 12;
  const std::size_t width = runs.good.empty() ? 0 : runs.fine.size() / runs.good.size();
  double coarse = 0.0, fine = 0.0;
  for (std::size_t i = 0; i < width * runs.good.size(); ++i) {
    if (!runs.good[i / width]) continue;
    coarse += (runs.coarse[i] - runs.half[i]) * (runs.coarse[i] - runs.half[i]);
    fine += (runs.fine[i] - runs.half[i]) * (runs.fine[i] - runs.half[i]);
  }
  if (!(coarse > 0.0 && fine > 0.0)) return 0;
  const double found = 0.5 * log(coarse / fine);
  int best = 0;
  double distance = 0.0;
  for (int q = 1; q <= most; ++q) {
    const double expected = log((power(runs.ratio, q) - power(0.5, q)) / (1.0 - power(0.5, q)));
    if (best > 0 && std::abs(expected - found) >= distance) continue;
    best = q;
    distance = std::abs(expected - found);
  }
  return best;
}

void extrapolate(const Runs& runs, int order) {
  const double weight = order > 0 ? 1.0 / (power(2.0, order) - 1.0) : 0.0;
  for (std::size_t i = 0; i < runs.fine.size(); ++i)
    runs.fine[i] = runs.half[i] + (runs.half[i] - runs.fine[i]) * weight;
}

}  // namespace rattleback
