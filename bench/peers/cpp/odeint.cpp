// Boost.odeint. A state is a block of 8 trajectories, so that the compiler turns its algebra and the right-hand side into SIMD
// code; with adaptive methods the block shares its step. The symplectic Runge-Kutta-Nystroem method takes Henon-Heiles
// and the three bodies.

#include <algorithm>
#include <array>
#include <type_traits>

#include <boost/numeric/odeint.hpp>
#include <boost/version.hpp>

#include "problems.hpp"

namespace odeint = boost::numeric::odeint;
constexpr int lanes = 8;

template <class Problem>
void solve(const Task& task) {
  constexpr int rows = Problem::dimension;
  constexpr bool separable = std::is_same_v<Problem, HenonHeiles> || std::is_same_v<Problem, ThreeBodies>;
  using State = std::array<double, rows * lanes>;
  const auto ode = [](const State& y, State& derivative, double) {
    stacked_ode<Problem, lanes>(y.data(), derivative.data());
  };
  const auto fixed = [&](auto stepper, State& y) {
    for (long n = 0; n < task.steps; ++n) stepper.do_step(ode, y, static_cast<double>(n) * task.step, task.step);
    return task.steps;
  };
  const auto symplectic = [&](State& y) -> long {
    if constexpr (separable) {
      using Half = std::array<double, rows * lanes / 2>;
      const auto force = [&](const Half& q, Half& f) {
        for (int k = 0; k < lanes; ++k) {
          double position[rows / 2], change[rows / 2];
          for (int i = 0; i < rows / 2; ++i) position[i] = q[i * lanes + k];
          Problem::force(position, change);
          for (int i = 0; i < rows / 2; ++i) f[i * lanes + k] = change[i];
        }
      };
      odeint::symplectic_rkn_sb3a_mclachlan<Half> stepper;
      Half q, v;
      std::copy_n(y.begin(), q.size(), q.begin());
      std::copy_n(y.begin() + q.size(), v.size(), v.begin());
      for (long n = 0; n < task.steps; ++n) stepper.do_step(force, q, v, static_cast<double>(n) * task.step, task.step);
      std::copy(q.begin(), q.end(), y.begin());
      std::copy(v.begin(), v.end(), y.begin() + q.size());
      return task.steps;
    }
    unknown(task);
  };
  const auto adaptive = [&](auto stepper, State& y) {
    const std::size_t steps = odeint::integrate_adaptive(stepper, ode, y, 0.0, task.end, 1e-3);
    return static_cast<long>(steps);
  };
  const auto integrate = [&](State& y) -> long {
    using odeint::make_controlled;
    if (task.step > 0) {
      if (task.method == "rk4") return fixed(odeint::runge_kutta4<State>(), y);
      if (task.method == "rkf78") return fixed(odeint::runge_kutta_fehlberg78<State>(), y);
      if (task.method == "symplectic_rkn_sb3a_mclachlan") return symplectic(y);
    } else {
      const double tolerance = task.tolerance;
      if (task.method == "rkf78")
        return adaptive(make_controlled<odeint::runge_kutta_fehlberg78<State>>(tolerance, tolerance), y);
      if (task.method == "dopri5")
        return adaptive(make_controlled<odeint::runge_kutta_dopri5<State>>(tolerance, tolerance), y);
      if (task.method == "bulirsch_stoer") return adaptive(odeint::bulirsch_stoer<State>(tolerance, tolerance), y);
    }
    unknown(task);
  };

  std::vector<double> y = ensemble<Problem>(task.count);
  long steps = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int first = 0; first < task.count; first += lanes) {
    State block;
    const int filled = std::min(lanes, task.count - first);
    for (int k = 0; k < lanes; ++k)  // what is left over repeats the last trajectory
      for (int i = 0; i < rows; ++i) block[i * lanes + k] = y[(first + std::min(k, filled - 1)) * rows + i];
    steps += integrate(block) * filled;
    for (int k = 0; k < filled; ++k)
      for (int i = 0; i < rows; ++i) y[(first + k) * rows + i] = block[i * lanes + k];
  }
  answer<Problem>(task, "Boost.odeint", BOOST_LIB_VERSION, y, seconds_since(start), steps);
}

int main(int argc, char** argv) {
  const Task task = parse(argc, argv);
  if (!with_problem(task.system, [&]<class Problem>(Problem) { solve<Problem>(task); })) unknown(task);
}
