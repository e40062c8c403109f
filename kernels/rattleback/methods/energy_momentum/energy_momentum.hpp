#pragma once
// Energy-momentum schemes with holonomic constraints. With discrete derivatives D (real/secant.hpp) between (q, p) and
// (q', p'), the Hamiltonian H, G = Dg and g^v(q, p) = G(q) v(q, p),
//
//   q' = q + h D_p H + h (D_p g^v)^T gamma
//   p' = p - h D_q H - h (D g)^T lambda - h (D_q g^v)^T gamma
//   g(q') = 0,  g^v(q', p') = 0.
//
// They conserve H to round-off, because D f . (x' - x) = f(x') - f(x), and the momentum maps of linear symmetries, because the
// derivatives are equivariant. For a constant mass matrix this is scheme (84) of P. L. Kinon, P. Betsch, S. Schneider
// (see ggl.hpp). For others it differs from (84), which carries a velocity of its own from step to step and conserves
// p . v - L(q, v) instead of H.
//
//   energy-momentum           as above
//   energy-momentum-index3    without gamma and the constraint on velocities (O. Gonzalez, 1999)
//   classical-ggl             without the term of gamma in p' (C. W. Gear, B. Leimkuhler, G. K. Gupta): conserves
//                             neither energy nor momentum maps
//   bobenko-suris             for the Lagrange top only
//
// The recorded multiplier is minus lambda, as in ggl.hpp; it belongs to the middle of the step.

#include "rattleback/methods/ggl/ggl.hpp"

RB_NAMESPACE_BEGIN

/// The Hamiltonian scheme above needs v(q, p) without a linear solve.
template <class System>
concept ExplicitVelocity = Separable<System> ||
    requires(const System& s, const Vector<typename System::scalar, System::n>& q) {
  s.velocity(q, q);
};

/// Any Lagrangian with an explicit inverse of p = L_v. The unknowns are u = (q' - q)/h, a velocity a at q with p' = L_v(q, a),
/// h lambda and, unless the scheme has none, gamma.
template <class T, class System, GglScheme scheme>
  requires ExplicitVelocity<System>
class GeneralEnergyMomentum {
  static constexpr int n = System::n, m = System::m;
  static constexpr bool has_gamma = scheme != GglScheme::energy_momentum_index3,
                        variational = scheme != GglScheme::classical;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD GeneralEnergyMomentum(const System& system, const SolverOptions<T>& options)
      : system_(system), options_(options) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return (*this)(state, h, NothingKept{}); }
  template <class Keep>
  RB_HD_LARGE StepReport<T> operator()(State& state, T h, const Keep& keep) const {
    const Equations equations(system_, state, h);
    Vector<T, Equations::size> x;
    typename Team::template Shared<Workspace> workspace;
    const NewtonReport<T> report =
        newton(detail::DualProblem<T, Equations>{equations}, options_, equations.scale(), x, *workspace);
    state.p = momentum(system_, state.q, segment<n, n>(x));
    state.q = fma(h, segment<0, n>(x), state.q);
    state.lambda = (T(-1.0) / h) * segment<2 * n, m>(x);
    const T check = sum(state.q) + sum(state.p) + sum(state.lambda);
    const T status = step_status<T>(report.converged, report.singular, is_finite(check));
    if (keep.wanted()) {
      auto gamma = Vector<T, m>::zero();
      if constexpr (has_gamma) gamma = segment<2 * n + m, m>(x);
      keep.put(status == T(0.0), gamma, velocity(system_, state.q, state.p), state.q, state.p);
    }
    return {status, report.iterations, max_norm((*workspace).residual)};
  }

 private:
  struct Equations {
    static constexpr int size = 2 * n + (has_gamma ? 2 * m : m);

    RB_HD Equations(const System& system, const State& state, const T& h)
        : system_(system), state_(state), h_(h), v_0_(velocity(system, state.q, state.p)) {}

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
    RB_HD_LARGE Vector<D, size> residual(const Vector<D, size>& x) const {
      using Slopes = Secant<D, 2 * n>;
      const D h(h_);
      const Vector<D, n> u = segment<0, n>(x);
      const Vector<D, m> lambda = segment<2 * n, m>(x);
      Vector<D, n> q_0, p_0;
      for (int i = 0; i < n; ++i) {
        q_0[i] = D(state_.q[i]);
        p_0[i] = D(state_.p[i]);
      }
      const Vector<D, n> q_1 = fma(h, u, q_0), p_1 = momentum(system_, q_0, segment<n, n>(x));
      Vector<Slopes, n> q, p;
      for (int i = 0; i < n; ++i) {
        q[i] = Slopes(q_0[i], q_1[i], i);
        p[i] = Slopes(p_0[i], p_1[i], n + i);
      }
      const Vector<Slopes, n> v = velocity(system_, q, p);
      const Slopes energy = hamiltonian(q, p, v);
      const Vector<Slopes, m> g = system_.position_constraint(q);
      Vector<D, n> drift = u, kick = p_1 - p_0;
      Vector<D, m> position;
      for (int i = 0; i < n; ++i) {
        drift[i] = drift[i] - energy.slope[n + i];
        kick[i] = kick[i] + h * energy.slope[i];
        for (int k = 0; k < m; ++k) kick[i] = kick[i] + lambda[k] * g[k].slope[i];
      }
      for (int k = 0; k < m; ++k) position[k] = D(T(1.0) / h_) * g[k].at1;
      if constexpr (has_gamma) {
        const Vector<D, m> gamma = segment<2 * n + m, m>(x);
        const Vector<Slopes, m> phi = constraint(system_, q, v);
        Vector<D, m> hidden;
        for (int k = 0; k < m; ++k) {
          hidden[k] = phi[k].at1;
          for (int i = 0; i < n; ++i) {
            drift[i] = drift[i] - gamma[k] * phi[k].slope[n + i];
            if constexpr (variational) kick[i] = kick[i] + h * gamma[k] * phi[k].slope[i];
          }
        }
        return join(join(drift, kick), join(position, hidden));
      } else {
        return join(join(drift, kick), position);
      }
    }

   private:
    template <class S>
    RB_HD S hamiltonian(const Vector<S, n>& q, const Vector<S, n>& p, const Vector<S, n>& v) const {
      if constexpr (requires { system_.hamiltonian(q, p); }) {
        return system_.hamiltonian(q, p);
      } else {
        return dot(p, v) - lagrangian(system_, q, v);
      }
    }

    const System& system_;
    const State state_;
    T h_;
    Vector<T, n> v_0_;
  };

 public:
  using Team = typename detail::DualProblem<T, Equations>::Team;
  using Workspace = NewtonWorkspace<detail::DualProblem<T, Equations>>;

 private:
  System system_;
  SolverOptions<T> options_;
};

namespace detail {
template <class T, class System, GglScheme scheme>
struct EnergyMomentumForm {
  using type = GeneralEnergyMomentum<T, System, scheme>;
};
template <class T, class System, GglScheme scheme>
  requires Blocks<System>
struct EnergyMomentumForm<T, System, scheme> {
  using type = CondensedGgl<T, System, scheme>;
};
}  // namespace detail

template <class System>
concept TakesEnergyMomentum = ConstrainedOnRn<System> &&(Blocks<System> || ExplicitVelocity<System>);

/// The condensed form where the system allows it.
template <class T, class System, GglScheme scheme>
  requires TakesEnergyMomentum<System>
using EnergyMomentumStep = typename detail::EnergyMomentumForm<T, System, scheme>::type;

/// Numbers that BobenkoSuris carries: of M and of a.
inline constexpr int bobenko_suris_carried = 6;

/// A Lagrange top in directors.
template <class System>
concept LagrangeTop = requires(const System& s, const Vector<typename System::scalar, System::n>& q) {
  s.angular_momentum(q, q);
  s.axial_inertia;
};

/// The discrete Lagrange top of A. I. Bobenko, Y. B. Suris (Commun. Math. Phys. 204 (1999) 147), explicit, for the axis a and
/// the angular momentum M about the tip. With I' = I + mass l^2,
///
///   M' = M + h mass gravity l e_3 x a,   a' - a = (h/I') M' x (a + a')/2.
///
/// The second is a Cayley rotation. It turns all directors here, and a rotation about the axis follows at the rate
/// (1/J - 1/I') M . a of the continuous equations, so that the state is that of a rigid body. Multipliers are left alone.
///
/// M from (q, p) has the rounding errors of 24 numbers, which would add up in M from step to step, and M turns the axis. So
/// the step carries what (q, p) leaves out of M, and what rounding leaves out of a: M and a are sums with compensation.
template <class T, LagrangeTop System>
class BobenkoSuris {
  static constexpr int n = System::n, m = System::m;

 public:
  using State = PhaseState<T, n, m>;

  RB_HD BobenkoSuris(const System& system, const SolverOptions<T>&) : system_(system), mass_(system) {}

  RB_HD StepReport<T> operator()(State& state, T h) const { return (*this)(state, PlainSum{}, h); }
  template <class Compensation>
  RB_HD StepReport<T> operator()(State& state, const Compensation& compensation, T h) const {
    const T inverse_inertia = T(1.0) / fma(system_.mass * system_.length, system_.length, system_.inertia);
    const T torque = system_.mass * system_.gravity * system_.length;
    const auto left_out = compensation.template carried<T, bobenko_suris_carried>();
    Vector<T, 3> rest = segment<0, 3>(left_out), axis_rest = segment<3, 3>(left_out);
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
    const T status = step_status<T>(mask_t<T>(true), mask_t<T>(false), is_finite(check));
    // the difference is exact: the two differ by rounding
    compensation.carry(join((total - momentum_of(state)) + rest, axis_rest), status == T(0.0));
    return {status, T(0.0), T(0.0)};
  }

 private:
  /// M about the tip.
  RB_HD Vector<T, 3> momentum_of(const State& state) const {
    return system_.angular_momentum(state.q, mass_.inverse_times(state.p));
  }
  /// x + rest grows by dx; the rounding error of the sum is exact.
  RB_HD static void add(const Vector<T, 3>& dx, Vector<T, 3>& x, Vector<T, 3>& rest) {
    StateRounding<T, 3>::add(dx, mask_t<T>(true), x, rest);
  }

  System system_;
  Mass<System> mass_;
};

namespace methods {

inline constexpr auto energy_momentum_source =
    "P. L. Kinon, P. Betsch, S. Schneider, Structure-preserving integrators based on a new variational principle for "
    "constrained mechanical systems, Nonlinear Dynamics 111 (2023), eq. (84)";

inline constexpr auto energy_momentum_needs = "configuration space R^n, and velocity(q, p) unless separable";

inline constexpr MethodEntry energy_momentum{
    .name = "energy-momentum",
    .summary =
        "GGL energy-momentum scheme: energy, momentum maps, and constraints on positions and momenta to "
        "round-off",
    .source = energy_momentum_source,
    .order = "q, p: 2; lambda: 2 at the middle of the step",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<2>,
    .needs = energy_momentum_needs,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};

inline constexpr MethodEntry energy_momentum_index3{
    .name = "energy-momentum-index3",
    .summary = "energy-momentum scheme with the constraint on positions only",
    .source = "O. Gonzalez, Mechanical systems subject to holonomic constraints, Physica D 132 (1999) 165",
    .order = "q, p: 2; lambda: 2 at the middle of the step",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<2>,
    .needs = energy_momentum_needs,
    .exact_hidden_constraint = false,
    .step_velocity = true,
    .predicts = true};

inline constexpr MethodEntry classical_ggl{
    .name = "classical-ggl",
    .summary =
        "classical GGL stabilisation in the form of the energy-momentum scheme; a negative control that conserves "
        "nothing",
    .source = energy_momentum_source,
    .order = "q, p: 2",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = true,
    .order_of = constant_order<2>,
    .needs = energy_momentum_needs,
    .step_velocity = true,
    .step_multiplier = true,
    .predicts = true};

inline constexpr MethodEntry bobenko_suris{
    .name = "bobenko-suris",
    .summary = "discrete Lagrange top, explicit and integrable",
    .source =
        "A. I. Bobenko, Y. B. Suris, Discrete time Lagrangian mechanics on Lie groups, with an application to the "
        "Lagrange top, Commun. Math. Phys. 204 (1999) 147",
    .order = "1",
    .constraints = ConstraintKind::holonomic,
    .options = {},
    .carries_multiplier = false,
    .order_of = constant_order<1>,
    .needs = "the directors and the parameters of a Lagrange top",
    .carried = bobenko_suris_carried};

}  // namespace methods

RB_NAMESPACE_END
