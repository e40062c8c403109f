#pragma once
// Variational Runge-Kutta-Munthe-Kaas methods (G. Bogfjellmo, H. Marthinsen, High order symplectic partitioned Lie
// group methods, sections 3 and 4.1), symplectic on T*G, of any order.
//
// The method is a Runge-Kutta method (a, b) in the chart exp(X) q at the configuration q, with right-trivialised
// velocities xi = D(X) k; the momenta follow from the discrete variational principle. States hold the momentum in
// space, mu. A step works in the frame of the body at q, where the inertia is constant. There the equations have the
// same form, because Ad_q maps all terms to this frame:
//
//   x_i = h sum_j a_ij k_j,   g_i = q exp(x_i),   eta_i = B_i k_i,   B_i = Ad_{exp(-x_i)} D(x_i)
//   m_i = dl/deta(g_i, eta_i)
//   n_i = f_i + ad*_{eta_i} m_i,   f_i = (dl/dg + f)(g_i, eta_i)                  n_i: rate of the momentum in the body
//   m'  = m + h sum_j b_j n_j,     y = h sum_j b_j k_j,     Lambda = dexp*_{-y} m'
//   v_i = dexp*_{-x_i} f_i + grad_x <m_i, B(x_i) k_i>
//
//   B_i^T m_i = Lambda - h sum_j (b_j a_ji/b_i) v_j,   i = 1..s                   the s n equations for k_1..k_s
//   q' = q exp(y),   mu' = mu + Ad*_{q^-1} (m' - m - ad*_y Lambda)
//
// The multipliers lambda_i = -h b_i v_i of the paper are eliminated. mu' = Ad*_{q'^-1} m' is written as an increment
// with Ad*_{exp(-y)} - 1 = -dexp*_{-y} ad*_y, so that the rounding errors of conserved components are
// proportional to h. For a system with a Hamiltonian, which may be degenerate, the momenta m_i are unknown too, with
// the s n equations B_i k_i = dH/dp(g_i, m_i).
//
// A generalized force f is in the frame of the body, also where results are in space. Where the time acts on the system, stage i is at
// t + h sum_j a_ij.
//
// D is the inverse of the series of dexp^-1 up to ad^r (vrkmk; r = 0 gives the identity), or the series of dexp up to
// ad^r, the alternative approach of the paper (vrkmk-pade). The order is that of the pair (a, ahat) on R^n, but at most
// r + 2; for vrkmk an even r > 0 counts as r + 1.

#include <type_traits>

#include "rattleback/methods/lie/variational_runge_kutta.hpp"

RB_NAMESPACE_BEGIN

/// The numbers of a step: the iteration, the series and the tableau.
template <int S>
struct VrkmkNumbers {
  double iteration;  ///< a StageIteration
  TangentSeries series;
  StageCoefficients<S> tableau;

  static constexpr VrkmkNumbers of(StageIteration iteration, const RungeKuttaTableau& tableau, int cutoff, bool pade) {
    return {static_cast<double>(iteration),
            pade ? TangentSeries::of_tangent(cutoff) : TangentSeries::of_inverse(cutoff),
            StageCoefficients<S>::of(tableau)};
  }
};

namespace detail {
/// Gives a step the type FastStep, the step that defers failures, if `has_fast_step`.
template <class Step, bool has_fast_step>
struct WithFastStep {};
template <class Step>
struct WithFastStep<Step, true> {
  using FastStep = Step;
};
}  // namespace detail

/// A step of vrkmk or vrkmk-pade; only the numbers of these methods differ.
template <class T, class System, int S, bool newton = true>
class VrkmkStep : public detail::WithFastStep<VrkmkStep<T, System, S, false>, newton && Separable<System>> {
  using Core = VariationalRungeKutta<T, System, S, newton>;

 public:
  using Numbers = VrkmkNumbers<S>;
  using State = StateOf<T, System>;
  static constexpr bool defers_failures = !newton;
  RB_HD VrkmkStep(const System& system, const SolverOptions<T>& options, const Numbers& numbers)
      : core_(system, options, static_cast<StageIteration>(static_cast<int>(numbers.iteration)), numbers.series),
        tableau_(numbers.tableau) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return core_(state, h, tableau_); }

 private:
  Core core_;
  const StageCoefficients<S>& tableau_;
};

RB_NAMESPACE_END
