#pragma once
// Motions of systems on Lie groups, by a reference integration that is independent of the methods, and observables along them.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "testing.hpp"

namespace rattleback::motions {

template <class System>
struct Motion {
  Configuration<System> q;
  Vector<double, System::n> v;
};

template <class System>
Motion<System> default_motion() {
  return {to_vector(System::default_q), to_vector(System::default_v)};
}

/// q' = q v, v' = M^-1 (L_q + ad*_v p + Phi_v^T lambda), with lambda that of Phi' = 0.
template <class System>
Motion<System> rate(const System& system, const Motion<System>& x) {
  const InverseMass<System> mass_inverse(system, x.q, x.v);
  auto a = detail::free_acceleration(system, x.q, x.v, mass_inverse);
  if constexpr (System::m > 0) {
    Vector<double, System::m> lambda;
    EXPECT_TRUE(detail::continuous_multiplier(system, x.q, x.v, lambda));
    a = a + mass_inverse * transpose_times(detail::constraint_gradient(system, x.q, x.v).dv, lambda);
  }
  return {group_of<System>::translate(x.q, x.v), a};
}
template <class System>
Motion<System> moved(const Motion<System>& x, double h, const Motion<System>& d) {
  return {fma(h, d.q, x.q), fma(h, d.v, x.v)};
}

/// The state a time `time` later by the Gauss method of 8 stages, order 16, in steps of about `step`; q as plain
/// numbers. `visit`, if any, sees every step.
template <class System, class Visit>
Motion<System> flow(const System& system, Motion<System> x, double time, double step, Visit visit) {
  Vector<double, 8> node, weight;
  for (int i = 0; i < 4; ++i) {
    node[i] = -gauss_node[i], node[4 + i] = gauss_node[i];
    weight[i] = weight[4 + i] = gauss_weight[i];
  }
  const auto a = detail::gauss_collocation(node, weight);
  const int steps = std::max(1, static_cast<int>(std::lround(std::fabs(time) / step)));
  const double h = time / steps;
  for (int k = 0; k < steps; ++k) {
    std::array<Motion<System>, 8> stage;
    stage.fill(rate(system, x));
    double previous = HUGE_VAL;
    for (int pass = 0; pass < 60; ++pass) {
      const auto old = stage;
      double update = 0.0;
      for (int i = 0; i < 8; ++i) {
        auto at = x;
        for (int j = 0; j < 8; ++j) at = moved(at, h * a[i][j], old[j]);
        stage[i] = rate(system, at);
        update = std::max({update, h * distance(stage[i].q, old[i].q), h * distance(stage[i].v, old[i].v)});
      }
      if (update < 1e-12 && update >= previous) break;
      previous = update;
    }
    Motion<System> sum{};
    for (int i = 0; i < 8; ++i) sum = moved(sum, 0.5 * weight[i], stage[i]);
    x = moved(x, h, sum);
    visit(x);
  }
  return x;
}
template <class System>
Motion<System> flow(const System& system, const Motion<System>& x, double time, double step = 0.025) {
  return flow(system, x, time, step, [](const auto&) {});
}

template <class System>
Vector<double, System::m> multiplier(const System& system, const Motion<System>& x) {
  Vector<double, System::m> lambda;
  EXPECT_TRUE(detail::continuous_multiplier(system, x.q, x.v, lambda));
  return lambda;
}

/// Index of an observable among `evaluate_observables`.
template <class System>
int index_of(const std::string& name) {
  constexpr auto listed = observables<System>();
  for (int i = 0; i < int(listed.size()); ++i)
    if (listed[i].name == name) return i;
  ADD_FAILURE() << "no observable " << name;
  return 0;
}
template <class System>
double value(const System& system, const Motion<System>& x, const std::string& name) {
  return evaluate_observables(system, x.q, x.v)[index_of<System>(name)];
}

/// Largest change of an observable along the motion.
template <class System>
double change(const System& system, const Motion<System>& from, const std::string& name, double time = 3.0) {
  const double first = value(system, from, name);
  double largest = 0.0;
  flow(system, from, time, 0.025,
       [&](const auto& x) { largest = std::max(largest, std::fabs(value(system, x, name) - first)); });
  return largest;
}

/// A state with the velocity moved to the constraint.
template <class System>
Motion<System> projected(const System& system, Motion<System> x) {
  EXPECT_TRUE(detail::project_velocity(system, x.q, x.v, 1e-15));
  return x;
}

}  // namespace rattleback::motions
