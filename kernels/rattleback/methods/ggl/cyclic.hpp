#pragma once
// VI-S and the theta family for systems with cyclic coordinates, as steps of the Routhian: the force and B of cyclic coordinates are zero, so
// that their velocity in a step is V_c at the point where the scheme evaluates L, which is q for VI-S and x for the theta family. The
// energy-momentum schemes take difference quotients of the whole energy, and their steps of the Routhian are another map.

#include "rattleback/methods/ggl/theta_chords.hpp"
#include "rattleback/methods/ggl/vi_s_chords.hpp"
#include "rattleback/methods/reduced.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
template <class System, GglScheme scheme>
concept ReducesGgl = HasRouthian<System> && !GglTraits<scheme>::discrete_gradient;

template <class T, class System, GglScheme scheme>
class GglOfShape : public NumbersOfScheme<scheme> {
  using Reduced = Routhian<System>;
  static constexpr int n = Reduced::n;
  static constexpr bool at_start = scheme == GglScheme::vi_s;
  using Step = std::conditional_t<at_start, ViSChords<T, Reduced>, ThetaChords<T, Reduced, scheme>>;

 public:
  static constexpr bool keeps = true, keeps_start = at_start, two_packs = Step::two_packs;

  RB_HD GglOfShape(const System&, const SolverOptions<T>& options)
    requires at_start
      : options_(options), numbers_{} {}
  RB_HD GglOfShape(const System&, const SolverOptions<T>& options, const GglNumbers& numbers)
    requires(!at_start)
      : options_(options), numbers_(numbers) {}

  template <class Keep>
  RB_HD StepReport<T> step(const Reduced& reduced, StateOf<T, Reduced>& shape, const T& h,
                           Vector<T, System::n>& velocity, const Keep& keep) const {
    if constexpr (at_start) {
      velocity = reduced.plus_velocity(T(1.0), shape.q, velocity);
      return Step(reduced, options_)(shape, h, keep);
    } else {
      const Vector<T, n> q = shape.q;
      return Step(reduced, options_, numbers_)(shape, h, AtPoint<Keep>{keep, reduced, q, T(numbers_.theta), velocity});
    }
  }

 private:
  /// Knows x, and with it the velocity, when the step keeps its end.
  template <class Keep>
  struct AtPoint {
    const Keep& keep;
    const Reduced& reduced;
    const Vector<T, n>& q;
    T theta;
    Vector<T, System::n>& velocity;

    RB_HD bool wanted() const { return keep.wanted(); }
    RB_HD void put(const mask_t<T>& solved, const Vector<T, Reduced::m>& gamma, const Vector<T, n>& v,
                   const Vector<T, n>& q_1, const Vector<T, n>& p_1) const {
      velocity = reduced.plus_velocity(T(1.0), fma(theta, q_1 - q, q), velocity);
      keep.put(solved, gamma, v, q_1, p_1);
    }
  };

  SolverOptions<T> options_;
  GglNumbers numbers_;
};
}  // namespace detail

RB_NAMESPACE_END
