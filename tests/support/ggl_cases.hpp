#pragma once
// Systems, starts and measurements that the tests of the GGL and energy-momentum families share.

#include <cmath>

#include "eigen.hpp"
#include "rattleback/methods/energy_momentum/bobenko_suris.hpp"
#include "rattleback/methods/energy_momentum/energy_momentum.hpp"
#include "rattleback/systems/holonomic/cylindrical_pendulum.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/heavy_top_directors.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "sweeps.hpp"
#include "testing.hpp"

namespace rattleback {

template <class T>
using Spherical = Pendulum<T, 3>;

/// Every step below iterates to round-off.
inline constexpr double tight = 1e-16;

template <class Step, class System>
Step make_step(const System& system, const GglNumbers& numbers, int max_iterations) {
  using T = typename System::scalar;
  const SolverOptions<T> options{T(tight), max_iterations};
  if constexpr (std::is_constructible_v<Step, System, SolverOptions<T>>) {
    return Step(system, options);
  } else {
    return Step(system, options, numbers);
  }
}

/// A method of the family on any system.
template <GglScheme scheme>
struct Scheme {
  GglNumbers numbers{0.5, 0.5};
  template <class System>
  using Step =
      typename detail::GglForm<typename System::scalar, System, scheme, detail::ggl_path<System, scheme>>::type;
  template <class System>
  Step<System> on(const System& system, int max_iterations = 50) const {
    return make_step<Step<System>>(system, numbers, max_iterations);
  }
};
inline constexpr Scheme<GglScheme::vi_s> vi_s;
inline constexpr Scheme<GglScheme::theta_a> vi_a{ggl_vi_a_numbers};
inline constexpr Scheme<GglScheme::theta_b> vi_b{ggl_vi_b_numbers}, vi_bs{ggl_vi_bs_numbers};
inline constexpr Scheme<GglScheme::energy_momentum> em;
inline constexpr Scheme<GglScheme::energy_momentum_index3> em_index3;
inline constexpr Scheme<GglScheme::classical> classical;

// the runs of the paper
inline const Pendulum<double, 3> pendulum{1.0, 1.0, 9.81, 1.0};
inline PhaseState<double, 3, 1> pendulum_start() { return start(pendulum, {1, 0, 0}, {0, 1, 0}); }
inline const auto four_particle = make_default<FourParticle<double>>();
inline PhaseState<double, 12, 2> four_particle_start() { return default_start(four_particle); }
inline const auto top = make_default<HeavyTopDirectors<double>>();
inline PhaseState<double, 12, 9> top_start() { return default_start(top); }
inline const auto cylindrical = make_default<CylindricalPendulum<double>>();

template <int First, int N>
Vector<double, 3> part(const Vector<double, N>& q) {
  return segment<First, 3>(q);
}

inline double norm(const Vector<double, 3>& a) { return std::sqrt(dot(a, a)); }
inline double relative_error(const Vector<double, 3>& a, const Vector<double, 3>& exact) {
  return norm(a - exact) / norm(exact);
}

/// Least and greatest value of f over a run, the start included.
struct Range {
  double low = HUGE_VAL, high = -HUGE_VAL;
  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  [[nodiscard]] double size() const { return std::max(std::fabs(low), std::fabs(high)); }
};
template <class Step, class State, class F>
Range range_over(const Step& step, State state, double h, int steps, F f) {
  Range r;
  r.add(f(state));
  for (int i = 0; i < steps; ++i) {
    state = advance(step, state, h, 1);
    r.add(f(state));
  }
  return r;
}

template <class System, class State>
double hamiltonian(const System& system, const State& state) {
  return energy(system, state.q, velocity(system, state.q, state.p));
}
template <class System, class State>
auto energy_error(const System& system, const State& start) {
  return [&system, e = hamiltonian(system, start)](const State& s) { return hamiltonian(system, s) - e; };
}
/// Greatest change of any invariant.
template <class System, class State>
auto invariant_error(const System& system, const State& start, int first, int count) {
  const auto evaluate = [&system](const State& s) {
    return system.evaluate_invariants(s.q, velocity(system, s.q, s.p));
  };
  return [=, at_start = evaluate(start)](const State& s) {
    const auto now = evaluate(s);
    double r = 0.0;
    for (int i = first; i < first + count; ++i) r = std::max(r, std::fabs(now[i] - at_start[i]));
    return r;
  };
}
template <class System>
auto position_violation(const System& system) {
  return [&system](const auto& s) { return max_norm(system.position_constraint(s.q)); };
}
/// G(q) v(q, p)
template <class System>
auto hidden_violation(const System& system) {
  return [&system](const auto& s) { return max_norm(constraint(system, s.q, velocity(system, s.q, s.p))); };
}

/// max |F^T Omega F - Omega| over tangents spanned by the columns of `basis`, for the derivative F of a step, by dual numbers.
/// The system is one over dual numbers.
template <class System, class Scheme, class State>
double symplectic_defect(const Scheme& scheme, const System& system, const State& state, double h,
                         const Eigen::MatrixXd& basis) {
  using D = Dual<double, 1>;
  constexpr int n = decltype(state.q)::size;
  const auto step = scheme.on(system);
  Eigen::MatrixXd f(2 * n, basis.cols());
  for (int c = 0; c < basis.cols(); ++c) {
    typename std::remove_cvref_t<decltype(step)>::State s;
    for (int i = 0; i < n; ++i) {
      s.q[i] = state.q[i];
      s.p[i] = state.p[i];
      s.q[i].partial[0] = basis(i, c);
      s.p[i].partial[0] = basis(n + i, c);
    }
    for (int k = 0; k < s.lambda.size; ++k) s.lambda[k] = state.lambda[k];
    EXPECT_EQ(step(s, D(h)).status.value, 0.0);
    for (int i = 0; i < n; ++i) {
      f(i, c) = s.q[i].partial[0];
      f(n + i, c) = s.p[i].partial[0];
    }
  }
  Eigen::MatrixXd form = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  form.topRightCorner(n, n).setIdentity();
  form.bottomLeftCorner(n, n) = -Eigen::MatrixXd::Identity(n, n);
  return (f.transpose() * form * f - basis.transpose() * form * basis).cwiseAbs().maxCoeff();
}
/// Tangents with G(q) dq = 0 and any dp, orthonormal.
template <class System, class State>
Eigen::MatrixXd admissible(const System& system, const State& state) {
  constexpr int n = System::n, m = System::m;
  const Eigen::MatrixXd g = to_eigen(position_constraint(system, state.q).jacobian);
  const Eigen::MatrixXd q = g.transpose().fullPivHouseholderQr().matrixQ();
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(2 * n, 2 * n - m);
  basis.topLeftCorner(n, n - m) = q.rightCols(n - m);
  basis.bottomRightCorner(n, n).setIdentity();
  return basis;
}

/// The chords and the condensed form, where they apply, are the map of the general form.
template <GglScheme scheme, class System>
void expect_paths_are_one_map(const Scheme<scheme>& member, const System& system, const StateOf<double, System>& start,
                              double h) {
  const auto on = [&]<GglPath path>() {
    return make_step<typename detail::GglForm<double, System, scheme, path>::type>(system, member.numbers, 50);
  };
  const auto general = on.template operator()<GglPath::general>();
  if constexpr (detail::ChordsApply<System>)
    expect_the_same_map(start, on.template operator()<GglPath::chords>(), general, h);
  if constexpr (Blocks<System>) expect_the_same_map(start, on.template operator()<GglPath::condensed>(), general, h);
}
template <class System>
void expect_paths_of_ggl_are_one_map(const System& system, const StateOf<double, System>& start, double h) {
  expect_paths_are_one_map(vi_s, system, start, h);
  expect_paths_are_one_map(vi_a, system, start, h);
  expect_paths_are_one_map(vi_b, system, start, h);
  expect_paths_are_one_map(vi_bs, system, start, h);
}
template <class System>
void expect_paths_of_energy_momentum_are_one_map(const System& system, const StateOf<double, System>& start, double h) {
  expect_paths_are_one_map(em, system, start, h);
  expect_paths_are_one_map(em_index3, system, start, h);
  expect_paths_are_one_map(classical, system, start, h);
}
template <class System>
void expect_paths_are_one_map(const System& system, const StateOf<double, System>& start, double h) {
  expect_paths_of_ggl_are_one_map(system, start, h);
  expect_paths_of_energy_momentum_are_one_map(system, start, h);
}

}  // namespace rattleback
