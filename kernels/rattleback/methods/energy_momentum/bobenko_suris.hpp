#pragma once
// The discrete Lagrange top of Bobenko and Suris.

#include "rattleback/linalg/vector.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/methods/step.hpp"

RB_NAMESPACE_BEGIN

/// Count of numbers that BobenkoSuris carries: 3 for M and 3 for a.
inline constexpr int bobenko_suris_carried = 6;

/// The discrete Lagrange top of A. I. Bobenko, Y. B. Suris (Commun. Math. Phys. 204 (1999) 147). The step is explicit
/// in the axis a and the angular momentum M about the tip. With I' = I + mass l^2,
///
///   M' = M + h mass gravity l e_3 x a,   a' - a = (h/I') M' x (a + a')/2.
///
/// The second equation is a Cayley rotation, which turns all directors here. A rotation about the axis follows at the
/// rate (1/J - 1/I') M . a of the continuous equations, so that the state is that of a rigid body. Multipliers stay
/// unchanged.
///
/// M from (q, p) has the rounding errors of 24 numbers. These errors would add up from step to step, and M turns the
/// axis. The step thus carries the difference between M and the value from (q, p), and the rounding error of a: M and a
/// are compensated sums.
template <class T, LagrangeTop System>
class BobenkoSuris {
  static constexpr int n = System::n, m = System::m;

 public:
  using State = PhaseState<T, n, m, n, bobenko_suris_carried>;

  RB_HD BobenkoSuris(const System& system, const SolverOptions<T>&) : system_(system), mass_(system) {}

  RB_HD StepReport<T> operator()(State& state, T h) const {
    const T inverse_inertia = T(1.0) / fma(system_.mass * system_.length, system_.length, system_.inertia);
    const T torque = system_.mass * system_.gravity * system_.length;
    Vector<T, 3> rest = segment<0, 3>(state.carried), axis_rest = segment<3, 3>(state.carried);
    Vector<T, 3> total = momentum_of(state);
    add({-(h * torque) * state.q[10], (h * torque) * state.q[9], T(0.0)}, total, rest);
    const Vector<T, 3> w = (T(0.5) * h * inverse_inertia) * total;
    const T factor = T(2.0) / (T(1.0) + dot(w, w));
    Vector<T, 3> d[4];
    RB_UNROLL
    for (int b = 1; b < 4; ++b) {
      d[b] = {state.q[3 * b], state.q[3 * b + 1], state.q[3 * b + 2]};
      const Vector<T, 3> turned = cross(w, d[b]), moved = turned + cross(w, turned);
      if (b == 3) {
        add(factor * moved, d[b], axis_rest);
      } else {
        d[b] = fma(factor, moved, d[b]);
      }
    }
    const T rate = (T(1.0) / system_.axial_inertia - inverse_inertia) * dot(total, d[3]);
    T s, c;
    sincos(h * rate, s, c);
    const Vector<T, 3> d_1 = d[1];
    d[0] = system_.length * d[3];
    d[1] = fma(s, d[2], c * d_1);
    d[2] = fma(-s, d_1, c * d[2]);
    const Vector<T, 3> omega = fma(rate, d[3], inverse_inertia * total);
    Vector<T, n> v;
    RB_UNROLL
    for (int b = 0; b < 4; ++b) {
      const Vector<T, 3> moved = cross(omega, d[b]);
      RB_UNROLL
      for (int i = 0; i < 3; ++i) {
        state.q[3 * b + i] = d[b][i];
        v[3 * b + i] = moved[i];
      }
    }
    state.p = mass_.times(v);
    const T check = sum(state.q) + sum(state.p);
    const T status = step_status<T>(mask_t<T>(true), is_finite(check));
    // The difference is exact, because the two values differ only by rounding.
    state.carried = join((total - momentum_of(state)) + rest, axis_rest);
    return {status, T(0.0), T(0.0)};
  }

 private:
  /// The angular momentum M about the tip.
  RB_HD Vector<T, 3> momentum_of(const State& state) const {
    return system_.angular_momentum(state.q, mass_.inverse_times(state.p));
  }
  /// Adds dx to x + rest; rest is the exact rounding error of the sum.
  RB_HD static void add(const Vector<T, 3>& dx, Vector<T, 3>& x, Vector<T, 3>& rest) {
    StateRounding<T, 3>::add(dx, mask_t<T>(true), x, rest);
  }

  System system_;
  Mass<System> mass_;
};

RB_NAMESPACE_END
