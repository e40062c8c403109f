#pragma once
// Motions of driven systems, for the tests of methods.

#include <cmath>

#include "driven_on_groups.hpp"
#include "driven_on_rn.hpp"
#include "rattleback/methods/step.hpp"
#include "testing.hpp"

RB_NAMESPACE_BEGIN

/// The velocity nearest to v that satisfies the constraints, in the unit metric.
template <class System>
Vector<double, System::n> on_constraint(const System& system, const Configuration<System>& q,
                                        Vector<double, System::n> v) {
  for (int k = 0; k < 20; ++k) {
    const auto forms = constraint_forms(system, q, v);
    Matrix<double, System::m, System::m> gram;
    for (int i = 0; i < System::m; ++i) gram[i] = forms * forms[i];
    v = v - transpose_times(forms, Factors<double, System::m>(gram).solve(constraint(system, q, v)));
  }
  return v;
}

/// The multipliers of the continuous equations, computed apart from start/multiplier.hpp: d/dt (constraint) = 0 for the motion d/dt L_v = L_q + f + ad* L_v + C^T lambda.
template <class System>
Vector<double, System::m> multipliers(const System& system, const Configuration<System>& q,
                                      const Vector<double, System::n>& v) {
  using G = group_of<System>;
  const auto forms = constraint_forms(system, q, v);
  const Factors<double, System::n> mass(mass_matrix(system, q, v));
  const auto place = moving<G>(q, v);
  const auto still = lift<Dual<double, 1>>(v);
  Vector<double, System::n> rate =
      configuration_force(system, q, v) - detail::derivative(momentum(running<double>(system), place, still));
  if constexpr (on_group<System>) rate = rate + G::ad_star(v, momentum(system, q, v));
  Matrix<double, System::m, System::m> gram;
  for (int i = 0; i < System::m; ++i) gram[i] = forms * mass.solve(forms[i]);
  return Factors<double, System::m>(gram).solve(-detail::derivative(constraint(running<double>(system), place, still)) -
                                                forms * mass.solve(rate));
}

/// Of worked states.
inline constexpr double printed = 1e-11;

template <class System>
using StateAt = StateOf<double, AtTime<System>>;

/// The state at the time 0, with the velocity on the constraints.
template <class System>
StateAt<System> begin() {
  const auto system = at(System{}, 0.0);
  const auto q = System::start_q();
  if constexpr (System::m > 0) {
    const auto v = on_constraint(system, q, System::start_v());
    return {q, momentum(system, q, v), multipliers(system, q, v)};
  } else {
    return {q, momentum(system, q, System::start_v()), {}};
  }
}

/// The state after `steps` steps that end at the time `end`.
template <class Step, class System, class... Numbers>
auto motion(const System& system, typename Step::State state, double end, int steps, const Numbers&... numbers) {
  const double h = end / steps;
  for (int k = 0; k < steps; ++k)
    EXPECT_EQ(Step(at(system, k * h), to_round_off, numbers...)(state, h).status, 0.0) << "step " << k;
  return state;
}

struct Errors {
  double q, p, mu;
};
template <class System>
Errors errors(const StateAt<System>& a, const StateAt<System>& b) {
  double mu = 0.0;
  for (int k = position_count<AtTime<System>>; k < System::m; ++k)
    mu = std::max(mu, std::fabs(a.lambda[k] - b.lambda[k]));
  return {distance(a.q, b.q), distance(a.p, b.p), mu};
}

RB_NAMESPACE_END
