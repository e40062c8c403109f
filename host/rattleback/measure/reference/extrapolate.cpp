#include "rattleback/measure/reference/extrapolate.hpp"

#include <cmath>
#include <cstddef>

namespace rattleback {

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
  const double found = 0.5 * std::log(coarse / fine);
  int best = 0;
  double distance = 0.0;
  for (int q = 1; q <= most; ++q) {
    const double expected = std::log((std::pow(runs.ratio, q) - std::exp2(-q)) / (1.0 - std::exp2(-q)));
    if (best > 0 && std::abs(expected - found) >= distance) continue;
    best = q;
    distance = std::abs(expected - found);
  }
  return best;
}

void extrapolate(const Runs& runs, int order) {
  const double weight = order > 0 ? 1.0 / (std::exp2(order) - 1.0) : 0.0;
  for (std::size_t i = 0; i < runs.fine.size(); ++i)
    runs.fine[i] = runs.half[i] + (runs.half[i] - runs.fine[i]) * weight;
}

}  // namespace rattleback
