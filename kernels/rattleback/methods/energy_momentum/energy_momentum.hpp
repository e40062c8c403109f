#pragma once
// Energy-momentum schemes with holonomic constraints. With discrete derivatives D (real/secant.hpp) between (q, p) and
// (q', p'), the Hamiltonian H, G = Dg and g^v(q, p) = G(q) v(q, p),
//
//   q' = q + h D_p H + h (D_p g^v)^T gamma
//   p' = p - h D_q H - h (D g)^T lambda - h (D_q g^v)^T gamma
//   g(q') = 0,  g^v(q', p') = 0.
//
// The schemes conserve H to round-off, because D f . (x' - x) = f(x') - f(x), and the momentum maps of linear
// symmetries, because the derivatives are equivariant. With explicit time, t is one more variable of the discrete derivatives. A
// generalized force f enters p' as h fb, where fb = f(t + h/2, (q + q')/2, (q' - q)/h), and with D_t, the derivatives by t,
//
//   H' - H = fb . (q' - q) + h (D_t H + lambda . D_t g + gamma . D_t g^v)
//
// holds to round-off. For a constant mass matrix the scheme is (84) of P. L. Kinon, P.
// Betsch, S. Schneider (see ggl.hpp). For other mass matrices the schemes differ: (84) carries a separate velocity from
// step to step and conserves p . v - L(q, v) instead of H.
//
//   energy-momentum           the equations above
//   energy-momentum-index3    without gamma and the constraint on velocities (O. Gonzalez, 1999)
//   classical-ggl             without the term of gamma in p' (C. W. Gear, B. Leimkuhler, G. K. Gupta): conserves
//                             neither energy nor momentum maps
//   bobenko-suris             for the Lagrange top only
//
// The recorded multiplier is minus lambda, as in ggl.hpp, and belongs to the middle of the step.

#include "rattleback/methods/composition/composed.hpp"
#include "rattleback/methods/energy_momentum/chords.hpp"
#include "rattleback/methods/ggl/ggl.hpp"

RB_NAMESPACE_BEGIN

namespace detail {
/// The step for any Lagrangian with an explicit inverse of p = L_v. The unknowns are u = (q' - q)/h, a velocity a at q with
/// p' = L_v(q, a), h lambda and, if the scheme has gamma, gamma.
template <class T, class System, GglScheme scheme>
  requires ExplicitVelocity<System>
class GeneralEnergyMomentumEquations {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;

 public:
  using State = StateOf<T, System>;
  static constexpr int size = 2 * n + (Traits::has_gamma ? 2 * m : m);

  RB_HD GeneralEnergyMomentumEquations(const System& system, const State& state, const T& h)
      : system_(system), state_(state), h_(h), v_0_(velocity(system, state.q, state.p)), equations_(system, state, h) {}

  RB_HD Vector<T, size> guess(const T& fraction) const {
    auto x = Vector<T, size>::zero();
    for (int i = 0; i < n; ++i) {
      x[i] = fraction * v_0_[i];
      x[n + i] = v_0_[i];
    }
    for (int k = 0; k < m; ++k) x[2 * n + k] = -(h_ * state_.lambda[k]);
    return x;
  }
  RB_HD T scale() const { return detail::velocity_scale(system_, h_, state_.q, v_0_); }
  RB_HD T size_of(const Vector<T, size>& update) const { return magnitude(segment<0, 2 * n>(update)); }

  template <class D>
  RB_HD auto at(const Vector<D, size>& x) const {
    const Vector<D, n> p_1 = momentum(system_, lift<D>(state_.q), segment<n, n>(x));
    return equations_(segment<0, n>(x), p_1, segment<2 * n, m>(x), gamma_of(x));
  }

  template <class D>
  RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
    const auto r = at(x);
    if constexpr (Traits::has_gamma) {
      return join(join(r.drift, r.kick), join(r.position, r.hidden));
    } else {
      return join(join(r.drift, r.kick), r.position);
    }
  }

  RB_HD T work(const Vector<T, size>& x) const { return at(x).work; }

  template <class Keep>
  RB_HD_LARGE StepReport<T> finish(const Vector<T, size>& x, State& state, const SolveState<T>& lanes,
                                   const T& residual, const Keep& keep) const {
    const Vector<T, n> q_1 = fma(h_, segment<0, n>(x), state.q), p_1 = momentum(system_, state.q, segment<n, n>(x));
    auto v_1 = Vector<T, n>::zero();
    if (keep.wanted()) v_1 = velocity(after(system_, h_), q_1, p_1);
    return end_of_step<scheme>(state, h_, q_1, p_1, segment<2 * n, m>(x), gamma_of(x), v_1,
                               {lanes.converged(), lanes.singular, lanes.iterations, residual}, keep);
  }

 private:
  template <class D>
  RB_HD static Vector<D, m> gamma_of(const Vector<D, size>& x) {
    if constexpr (Traits::has_gamma) {
      return segment<2 * n + m, m>(x);
    } else {
      return Vector<D, m>::zero();
    }
  }

  const System& system_;
  const State& state_;
  T h_;
  Vector<T, n> v_0_;
  EnergyMomentumEquations<T, System, scheme> equations_;
};
}  // namespace detail

template <class T, class System, GglScheme scheme>
using GeneralEnergyMomentum = detail::NewtonStep<T, System, detail::GeneralEnergyMomentumEquations<T, System, scheme>>;

namespace detail {
template <class T, class System, GglScheme scheme>
  requires GglTraits<scheme>::discrete_gradient
struct GglForm<T, System, scheme, GglPath::general> {
  using type = GeneralEnergyMomentum<T, System, scheme>;
};
template <class T, class System, GglScheme scheme>
  requires GglTraits<scheme>::discrete_gradient
struct GglChords<T, System, scheme> {
  using type = EnergyMomentumChords<T, System, scheme>;
};
}  // namespace detail

template <class System>
concept TakesEnergyMomentum = ConstrainedOnRn<System> && (Blocks<System> || ExplicitVelocity<System>);

/// The step on the path that methods/ggl/choose.hpp names for the system.
template <class T, class System, GglScheme scheme>
  requires TakesEnergyMomentum<System>
using EnergyMomentumStep = typename detail::GglForm<T, System, scheme, detail::ggl_path<System, scheme>>::type;

/// The step, composed to a higher order. The composed steps conserve what each of them does.
template <class T, class System, GglScheme scheme>
  requires TakesEnergyMomentum<System>
using ComposedEnergyMomentumStep = Composed<T, System, EnergyMomentumStep<T, System, scheme>>;

RB_NAMESPACE_END
