#pragma once
// The residuals of the energy-momentum schemes (energy_momentum.hpp).

#include "rattleback/mechanics/constraint.hpp"
#include "rattleback/mechanics/lagrangian.hpp"
#include "rattleback/mechanics/quadratic.hpp"
#include "rattleback/methods/ggl/equations.hpp"
#include "rattleback/real/secant.hpp"

RB_NAMESPACE_BEGIN

/// The residuals at u = (q' - q)/h, p', h lambda and gamma, with all derivatives by difference quotients in (t, q, p): explicit time is one
/// more variable. A generalized force is taken at the midpoint and the velocity u, so that its work is h u times the force.
template <class T, class System, GglScheme scheme>
class EnergyMomentumEquations {
  static constexpr int n = System::n, m = System::m;
  using Traits = GglTraits<scheme>;
  using State = StateOf<T, System>;

 public:
  template <class D>
  struct Residual {
    Vector<D, n> drift, kick;
    Vector<D, m> position, hidden;
    D work;  ///< by which the energy grows at a solution, to round-off
  };

  RB_HD EnergyMomentumEquations(const System& system, const State& state, const T& h)
      : system_(system), state_(state), h_(h) {}

  template <class D>
  RB_HD Residual<D> operator()(const Vector<D, n>& u, const Vector<D, n>& p_1, const Vector<D, m>& lambda,
                               const Vector<D, m>& gamma) const {
    using Slopes = Secant<D, detail::changes_in_time<System>() ? 2 * n + 1 : 2 * n>;
    const D h(h_);
    const Vector<D, n> q_0 = lift<D>(state_.q), p_0 = lift<D>(state_.p), q_1 = fma(h, u, q_0);
    Vector<Slopes, n> q, p;
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      q[i] = Slopes(q_0[i], q_1[i], i);
      p[i] = Slopes(p_0[i], p_1[i], n + i);
    }
    const auto& system = during_step<Slopes, D>();
    const Vector<Slopes, n> v = velocity(system, q, p);
    const Vector<Slopes, m> g = system.position_constraint(q);
    Residual<D> r{u, p_1 - p_0, {}, {}, D(0.0)};
    if constexpr (detail::has_applied_force<System>()) {
      const Vector<D, n> push = h * after(system_, T(0.5) * h_).applied_force(fma(D(T(0.5) * h_), u, q_0), u);
      r.kick = r.kick - push;
      r.work = dot(push, u);
    }
    add_energy(system, q, p, v, h, r);
    RB_UNROLL
    for (int i = 0; i < n; ++i) {
      RB_UNROLL
      for (int k = 0; k < m; ++k) r.kick[i] = r.kick[i] + lambda[k] * g[k].slope(i);
    }
    RB_UNROLL
    for (int k = 0; k < m; ++k) {
      r.position[k] = D(T(1.0) / h_) * g[k].at1;
      if constexpr (detail::changes_in_time<System>()) r.work = r.work + lambda[k] * g[k].slope(2 * n);
    }
    if constexpr (Traits::has_gamma) {
      const Vector<Slopes, m> phi = constraint(system, q, v);
      RB_UNROLL
      for (int k = 0; k < m; ++k) {
        r.hidden[k] = phi[k].at1;
        if constexpr (detail::changes_in_time<System>()) r.work = r.work + h * gamma[k] * phi[k].slope(2 * n);
        RB_UNROLL
        for (int i = 0; i < n; ++i) {
          r.drift[i] = r.drift[i] - gamma[k] * phi[k].slope(n + i);
          if constexpr (Traits::variational) r.kick[i] = r.kick[i] + h * gamma[k] * phi[k].slope(i);
        }
      }
    }
    return r;
  }

 private:
  /// The system over the step: its time goes from t to t'.
  template <class S, class D>
  RB_HD decltype(auto) during_step() const {
    if constexpr (detail::changes_in_time<System>()) {
      return at(system_, S(D(system_.time), D(system_.time + h_), 2 * n));
    } else {
      return (system_);
    }
  }
  template <class During, class S, class D>
  RB_HD static void add_energy(const During& system, const Vector<S, n>& q, const Vector<S, n>& p,
                               const Vector<S, n>& v, const D& h, Residual<D>& r) {
    if constexpr (ConstantInertia<System> && !HasHamiltonian<System>) {
      // with pi = p - A, H = pi.M^-1 pi/2 + U has the slopes v.(slope of pi) + slope of U, where v is the mean
      using Pattern = detail::QuadraticPattern<System>;
      RB_UNROLL
      for (int j = 0; j < n; ++j) r.drift[j] = r.drift[j] - v[j].mean();
      if constexpr (Pattern::has_vector_potential) {
        const Vector<S, n> a = system.vector_potential(q);
        RB_UNROLL
        for (int k = 0; k < Pattern::active; ++k) {
          const int i = Pattern::coordinate(k);
          RB_UNROLL
          for (int j = 0; j < n; ++j)
            if (Pattern::vector_potential_varies(j, k)) r.kick[i] = r.kick[i] - h * (v[j].mean() * a[j].slope(i));
        }
        if constexpr (detail::changes_in_time<System>()) {
          RB_UNROLL
          for (int j = 0; j < n; ++j) r.work = r.work - h * (v[j].mean() * a[j].slope(2 * n));
        }
      }
      if constexpr (Pattern::has_potential) {
        const S potential = system.potential(q);
        RB_UNROLL
        for (int k = 0; k < Pattern::active; ++k) {
          const int i = Pattern::coordinate(k);
          if (Pattern::potential_varies(k)) r.kick[i] = r.kick[i] + h * potential.slope(i);
        }
        if constexpr (detail::changes_in_time<System>()) r.work = r.work + h * potential.slope(2 * n);
      }
    } else {
      const S energy = hamiltonian(system, q, p, v);
      RB_UNROLL
      for (int i = 0; i < n; ++i) {
        r.drift[i] = r.drift[i] - energy.slope(n + i);
        r.kick[i] = r.kick[i] + h * energy.slope(i);
      }
      if constexpr (detail::changes_in_time<System>()) r.work = r.work + h * energy.slope(2 * n);
    }
  }
  template <class During, class S>
  RB_HD static S hamiltonian(const During& system, const Vector<S, n>& q, const Vector<S, n>& p,
                             const Vector<S, n>& v) {
    if constexpr (HasHamiltonian<System>) {
      return system.hamiltonian(q, p);
    } else {
      return dot(p, v) - lagrangian(system, q, v);
    }
  }

  const System& system_;
  const State& state_;
  T h_;
};

RB_NAMESPACE_END
