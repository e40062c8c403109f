#pragma once
// What the tests of HBVM(k, s) share: systems and initial states of L. Brugnano, G. Gurioli, F. Iavernaro, E. B. Weinmueller,
// Line Integral Solution of Hamiltonian Systems with Holonomic Constraints, and generic ones; a step with its numbers.
// Their multiplier has the other sign.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <vector>

#include "rattleback/loop/describe.hpp"
#include "rattleback/methods/hbvm/entry.hpp"
#include "rattleback/systems/holonomic/modified_pendulum.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/tethered_satellites.hpp"

namespace rattleback {

/// The momentum without its component along the constraint forces, p - Dg^T (Dg M^-1 Dg^T)^-1 Dg M^-1 p: for s >= 2 its error
/// is of order 4, that of p of order 2. For output only: fed back, it would cost symmetry and energy.
template <class System, class T = typename System::scalar>
RB_HD Vector<T, System::n> tangential_momentum(const System& system, const Vector<T, System::n>& q,
                                               const Vector<T, System::n>& p) {
  if constexpr (System::m == 0) {
    return p;
  } else {
    const Mass<System> mass(system);
    ConstraintForms<System> forms;
    forms.mu = position_constraint(system, q).jacobian;
    Vector<T, System::m> along = forms * mass.inverse_times(p);
    solve_once<PivotedUnrolled>(forms.gram(mass, forms), along);
    return p - forms.transpose_times(along);
  }
}

template <int S>
using Number = std::integral_constant<int, S>;

template <class System>
using HbvmState = PhaseState<double, System::n, System::m>;

/// HBVM(k, S) together with the numbers it refers to.
template <int S, class System>
class HbvmTest {
 public:
  HbvmTest(const System& system, HbvmOptions options, SolverOptions<double> solver = {1e-16, 100})
      : numbers_(HbvmNumbers::of(S, options)), step_(system, solver, numbers_) {}
  HbvmTest(const HbvmTest&) = delete;

  template <class... Arguments>
  StepReport<double> operator()(Arguments&&... arguments) const {
    return step_(std::forward<Arguments>(arguments)...);
  }

 private:
  HbvmNumbers numbers_;
  Hbvm<double, System, S> step_;
};

/// A trajectory: states and the multiplier, in the sign of the paper, of each step.
template <class System>
struct Trajectory {
  std::vector<HbvmState<System>> states;
  std::vector<Vector<double, System::m>> lambda;
  double sweeps_max = 0.0;
};

template <int S, class System>
Trajectory<System> integrate(const System& system, HbvmOptions options, HbvmState<System> state, double h, int steps,
                             SolverOptions<double> solver = {1e-16, 100}) {
  const HbvmTest<S, System> step(system, options, solver);
  Trajectory<System> r;
  r.states.push_back(state);
  for (int i = 0; i < steps; ++i) {
    const auto report = step(state, h);
    if (report.status != 0.0) {
      ADD_FAILURE() << "status " << report.status << " at step " << i;
      break;
    }
    r.states.push_back(state);
    if constexpr (System::m > 0) r.lambda.push_back(-state.lambda);
    r.sweeps_max = std::max(r.sweeps_max, report.iterations);
  }
  return r;
}

// --- the systems of the paper, with its constraint functions ---

using Planar = Pendulum<double, 2>;
using Conical = Pendulum<double, 3>;
using Modified = ModifiedPendulum<double>;
using Satellites = TetheredSatellites<double>;

inline constexpr Planar planar{1.0, 1.0, 1.0, 2.0};
inline constexpr Conical conical{1.0, 1.0, 1.0, 2.0};
inline constexpr Modified modified{1.0, 0.625};
inline constexpr Satellites satellites{1.0, 1.0};

inline constexpr HbvmState<Planar> planar_start{{0.0, -1.0}, {1.0, 0.0}, {0.0}};
inline constexpr HbvmState<Conical> conical_start{
    {0.7071067811865476, 0.0, -0.7071067811865476}, {0.0, 0.8408964152537145, 0.0}, {0.0}};
inline constexpr double conical_period = 5.283508001182123518619904;
inline constexpr HbvmState<Modified> modified_start{conical_start.q, conical_start.p, {0.0}};
inline HbvmState<Satellites> satellites_start() {
  HbvmState<Satellites> x;
  std::copy(Satellites::default_q.begin(), Satellites::default_q.end(), x.q.entry);
  std::copy(Satellites::default_v.begin(), Satellites::default_v.end(), x.p.entry);
  x.lambda = Vector<double, 3>::zero();
  return x;
}

// initial data without the symmetry d lambda/dt = 0 of those of the paper

inline HbvmState<Planar> planar_generic() {
  return {{std::sin(1.0), -std::cos(1.0)}, {1.5 * std::cos(1.0), 1.5 * std::sin(1.0)}, {0.0}};
}
/// On the modified pendulum's surface, below; the velocity is completed in z.
inline HbvmState<Modified> modified_at(double x, double y, double px, double py) {
  const double z = -std::sqrt(0.625 - std::pow(x, 6) - std::pow(y, 4));
  return {{x, y, z}, {px, py, -(6 * std::pow(x, 5) * px + 4 * std::pow(y, 3) * py) / (2 * z)}, {0.0}};
}
inline HbvmState<Modified> modified_generic() { return modified_at(0.38, -0.14, 0.3, -0.4); }
inline HbvmState<Satellites> satellites_generic() {
  auto x = satellites_start();
  x.p = tangential_momentum(satellites, x.q, {0.1, 0.05, 0.02, -0.03, 0.02, 0.07, 0.3, 0.1, -0.05});
  return x;
}

// --- norms and errors ---

template <int N>
double one_norm(const Vector<double, N>& a) {
  double r = 0.0;
  for (int i = 0; i < N; ++i) r += std::abs(a[i]);
  return r;
}
template <class System>
double phase_distance(const HbvmState<System>& a, const HbvmState<System>& b) {
  return std::max(max_norm(a.q - b.q), max_norm(a.p - b.p));
}
template <class System>
double energy_of(const System& system, const HbvmState<System>& x) {
  return energy(system, x.q, velocity(system, x.q, x.p));
}
/// Dg(q) M^-1 p
template <class System>
Vector<double, System::m> hidden(const System& system, const HbvmState<System>& x) {
  return constraint(system, x.q, velocity(system, x.q, x.p));
}

/// Largest errors of a trajectory: of the energy, of the constraint, and of the hidden one (1-norm).
struct Drift {
  double energy = 0.0, constraint = 0.0, hidden = 0.0;
};
template <class System>
Drift drift(const System& system, const Trajectory<System>& trajectory) {
  Drift d;
  const double start = energy_of(system, trajectory.states.front());
  for (const auto& x : trajectory.states) {
    d.energy = std::max(d.energy, std::abs(energy_of(system, x) - start));
    if constexpr (System::m > 0) {
      d.constraint = std::max(d.constraint, max_norm(system.position_constraint(x.q)));
      d.hidden = std::max(d.hidden, one_norm(hidden(system, x)));
    }
  }
  return d;
}

/// Sum of q_i x p_i of the satellites.
inline Vector<double, 3> angular_momentum(const HbvmState<Satellites>& x) {
  return satellites.evaluate_invariants(x.q, x.p);
}

/// The planar pendulum from (0, -1) with unit speed: theta' = cn(t | 1/4), by descending Landen transformations.
inline HbvmState<Planar> planar_exact(double t, double& lambda) {
  double a[8] = {1.0}, c[8] = {0.5};
  double b = std::sqrt(0.75);
  for (int i = 1; i < 8; ++i) {
    a[i] = 0.5 * (a[i - 1] + b);
    c[i] = 0.5 * (a[i - 1] - b);
    b = std::sqrt(a[i - 1] * b);
  }
  double phi = 128.0 * a[7] * t;
  for (int i = 7; i > 0; --i) phi = 0.5 * (phi + std::asin(c[i] / a[i] * std::sin(phi)));
  const double sn = std::sin(phi), cn = std::cos(phi), dn = std::sqrt(1.0 - 0.25 * sn * sn);
  const double x = sn * dn, y = -(1.0 - 0.5 * sn * sn);
  lambda = 0.5 * (cn * cn - y);
  return {{x, y}, {-cn * y, cn * x}, {lambda}};
}

/// The order that two errors show, the second with half the step.
inline double rate(double coarse, double fine) { return std::log2(coarse / fine); }

inline void expect_relative(double value, double expected, double tolerance, const char* what) {
  EXPECT_NEAR(value / expected, 1.0, tolerance) << what << " = " << value << ", expected " << expected;
}

}  // namespace rattleback
