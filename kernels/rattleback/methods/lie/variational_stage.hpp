#pragma once
// The equations of one stage of a variational Runge-Kutta method on a group, and their derivatives (vrkmk.hpp).

#include "rattleback/lie/series.hpp"
#include "rattleback/linalg/dual_vector.hpp"
#include "rattleback/linalg/factors.hpp"
#include "rattleback/mechanics/power.hpp"
#include "rattleback/methods/step.hpp"
#include "rattleback/tableaus/runge_kutta.hpp"

RB_NAMESPACE_BEGIN

/// The iteration for the stage equations. newton computes a new Jacobian when the convergence is not fast enough; chord
/// keeps the Jacobian of the first iterate; fixed_point uses the mass matrix instead of a Jacobian. sweeps iterates
/// without a Jacobian, with contraction of order h^2, and then uses Newton's method for unsolved equations.
enum class StageIteration : int { newton, chord, fixed_point, sweeps };

/// The coefficients of S stages.
template <int S>
struct StageCoefficients {
  double entries[S][S]{}, backward[S][S]{}, weights[S]{};

  static constexpr StageCoefficients of(const RungeKuttaTableau& tableau) {
    StageCoefficients numbers;
    for (int i = 0; i < S; ++i) {
      numbers.weights[i] = tableau.b[i];
      for (int j = 0; j < S; ++j) {
        numbers.entries[i][j] = tableau.a[i][j];
        numbers.backward[i][j] = tableau.b[j] * tableau.a[j][i] / tableau.b[i];
      }
    }
    return numbers;
  }

  RB_HD double a(int i, int j) const { return entries[i][j]; }
  /// b_j a_ji/b_i.
  RB_HD double back(int i, int j) const { return backward[i][j]; }
  RB_HD double b(int i) const { return weights[i]; }
  /// The time of stage i in steps, sum_j a_ij.
  RB_HD double c(int i) const {
    double sum = 0.0;
    for (int j = 0; j < S; ++j) sum += a(i, j);
    return sum;
  }
};

/// The terms of one stage in the stage equations; these terms do not depend on the number of stages.
template <class T, class System>
class VariationalStage {
  using G = group_of<System>;
  static constexpr int n = System::n, N = element_size<System>;
  struct Nothing {};

 public:
  static constexpr bool by_hamiltonian = HasHamiltonian<System>;

  /// The terms at x and k: p = m, w = B^T m, v, and rate = f + ad*_eta m, with the generalized force as part of f. For a system with a Hamiltonian p is an
  /// input, and lack = B k - dH/dp.
  template <class R>
  struct Terms {
    Vector<R, n> p, lack, w, v, rate;
  };

  RB_HD VariationalStage(const System& given, const TangentSeries& series)
      : system(given), series(series), mass([&] {
          if constexpr (Separable<System>) {
            return Mass<System>(given);
          } else {
            return Nothing{};
          }
        }()) {}

  /// The terms of a stage that is `after` the time of the system. Derivatives are long code for rare use, so this code stays out of
  /// line.
  template <class R>
  RB_HD void operator()(const T& after, const Vector<T, N>& q, const Vector<R, n>& x, const Vector<R, n>& k,
                        Terms<R>& at) const {
    const auto& here = rattleback::after(system, after);
    if constexpr (std::is_same_v<R, decltype(value_of(R()))>) {
      evaluate(here, q, x, k, at);
    } else {
      evaluate_out_of_line(here, q, x, k, at);
    }
  }

  /// h P of a stage that is `after` the time of the system; `momentum` is m where the system has a Hamiltonian.
  RB_HD T work(const T& after, const T& h, const Vector<T, N>& q, const Vector<T, n>& x, const Vector<T, n>& k,
               const Vector<T, n>& momentum) const {
    const SeriesChart<G, T> chart(x, series);
    const auto& here = rattleback::after(system, after);
    return work_at_momentum(here, h, chart.move(q), chart.velocity(k), Vector<T, System::m>::zero(), momentum);
  }

  /// The velocity and f at a configuration and a momentum.
  RB_HD void rates(const Vector<T, N>& q, const Vector<T, n>& p, Vector<T, n>& eta, Vector<T, n>& force) const {
    if constexpr (by_hamiltonian) {
      hamiltonian_rates(system, q, p, eta, force);
      force = plus_applied_force(system, q, eta, force);
    } else {
      eta = velocity(system, q, p);
      force = configuration_force(system, q, eta);
    }
  }

  System system;
  const TangentSeries& series;
  RB_MAYBE_EMPTY std::conditional_t<Separable<System>, Mass<System>, Nothing> mass;

 private:
  template <class R>
  RB_HD static Vector<R, n> plus_applied_force(const System& here, const Vector<R, N>& q, const Vector<R, n>& eta,
                                               const Vector<R, n>& force) {
    if constexpr (detail::has_applied_force<System>()) {
      return force + here.applied_force(q, eta);
    } else {
      return force;
    }
  }
  template <class R>
  RB_NOINLINE void evaluate_out_of_line(const System& here, const Vector<T, N>& q, const Vector<R, n>& x,
                                        const Vector<R, n>& k, Terms<R>& at) const {
    evaluate(here, q, x, k, at);
  }
  template <class R>
  RB_HD void evaluate(const System& here, const Vector<T, N>& q, const Vector<R, n>& x, const Vector<R, n>& k,
                      Terms<R>& at) const {
    const SeriesChart<G, R> chart(x, series);
    const Vector<R, N> g = chart.move(lift<R>(q));
    const Vector<R, n> eta = chart.velocity(k);
    Vector<R, n> force;
    if constexpr (by_hamiltonian) {
      Vector<R, n> by_momentum;
      hamiltonian_rates(here, g, at.p, by_momentum, force);
      force = plus_applied_force(here, g, eta, force);
      at.lack = eta - by_momentum;
    } else {
      if constexpr (Separable<System>) {
        at.p = mass.times(eta);
      } else {
        at.p = momentum(here, g, eta);
      }
      force = configuration_force(here, g, eta);
    }
    at.v = chart.dtau_star(force) + chart.variation(at.p, k);
    at.w = chart.velocity_star(at.p);
    at.rate = force + G::ad_star(eta, at.p);
  }
};

RB_NAMESPACE_END
