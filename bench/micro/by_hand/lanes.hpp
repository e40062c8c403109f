#pragma once
// What the steps written by hand have in common: the test of convergence, and sizes.

#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/real/pack.hpp"

namespace by_hand {

using P = rattleback::Pack<RATTLEBACK_PACK>;
using V3 = rattleback::Vector<P, 3>;
using State = rattleback::PhaseState<P, 3, 1>;
using Report = rattleback::StepReport<P>;
using Mask = rattleback::mask_t<P>;

inline P size(const V3& x) { return max(max(abs(x[0]), abs(x[1])), abs(x[2])); }

/// Lanes whose next update is below round-off, by the rate of the last two updates, are not changed any more.
struct Lanes {
  Mask active{true};
  P iterations{0.0}, last{1e300}, small, near;

  explicit Lanes(const P& scale) : small(P(1e-16) * scale), near(P(1e-2) * scale) {}

  void settle(const P& change) {
    iterations = iterations + select(active, P(1.0), P(0.0));
    active =
        active & !((change <= small) | ((change * change <= small * last) & (change + change < last) & (last <= near)));
    last = change;
  }
  bool more(int iteration) const { return any(active) && iteration < 40; }
  void add(V3& x, const V3& dx) const { x = select(active, x + dx, x); }
  void add(P& x, const P& dx) const { x = select(active, x + dx, x); }
  [[nodiscard]] Report report(const P& residual) const {
    return {select(active, P(1.0), P(0.0)), iterations, residual};
  }
};

}  // namespace by_hand
