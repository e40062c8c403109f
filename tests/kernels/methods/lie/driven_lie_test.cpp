// Variational Runge-Kutta and Crouch-Grossman methods with explicit time and applied forces.

#include "driven.hpp"
#include "rattleback/methods/lie/vcg.hpp"

namespace rattleback {
namespace {

/// A rigid body in a field that swells, with friction and a torque in the body. By its Hamiltonian it is the same.
template <bool by_hamiltonian>
struct DrivenTop {
  using scalar = double;
  using Group = SO3;
  static constexpr int n = 3, m = 0;
  Vector<double, 3> mass_diagonal() const
    requires(!by_hamiltonian)
  {
    return {1.0, 1.25, 0.5};
  }
  template <class S>
  static S field(const S& t, const Vector<S, 9>& r) {
    return S(0.5) * r[8] * (S(1.0) + S(0.25) * sin(S(1.5) * t));
  }
  template <class S>
  S potential(const S& t, const Vector<S, 9>& r) const
    requires(!by_hamiltonian)
  {
    return field(t, r);
  }
  template <class S>
  S hamiltonian(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& p) const
    requires by_hamiltonian
  {
    return S(0.5) * (p[0] * p[0] + S(0.8) * p[1] * p[1] + S(2.0) * p[2] * p[2]) + field(t, r);
  }
  template <class S>
  Vector<S, 3> force(const S& t, const Vector<S, 9>& r, const Vector<S, 3>& w) const {
    return {S(-0.125) * w[0], S(-0.125) * w[1], S(-0.25) * w[2] * (S(1.0) + w[0] * w[0]) + S(0.25) * r[8] * cos(t)};
  }
};
/// Its state at the time 0, with the momentum in space.
StateAt<DrivenTop<false>> top() {
  const auto r = SO3::expand(Vector<double, 3>{.3, -.4, .2});
  return {r, SO3::Ad_inverse_star(r, Vector<double, 3>{.75, 1.25 * .5, .5}), {}};
}
const RungeKuttaTableau& tableau(std::string_view name) {
  return *std::find_if(std::begin(runge_kutta_tableaus), std::end(runge_kutta_tableaus),
                       [&](const RungeKuttaTableau& t) { return t.name == name; });
}

template <bool by_hamiltonian>
void expect_worked_state(StageIteration iteration) {
  double numbers[max_method_numbers]{};
  VrkmkNumbers<2>::fill(iteration, tableau("gauss2"), 2, false, numbers);
  using Top = DrivenTop<by_hamiltonian>;
  const auto reached = motion<VrkmkStep<double, AtTime<Top>, 2>>(Top{}, top(), 0.125, 1, numbers);
  EXPECT_LE(distance(segment<0, 3>(reached.q), {.882084294861, -.387179420563, -.268364291687}), printed);
  EXPECT_LE(distance(reached.p, {.366618622261, .500619473885, .875649179436}), printed);
}
TEST(DrivenVrkmk, WorkedState) {
  expect_worked_state<false>(StageIteration::newton);
  expect_worked_state<false>(StageIteration::sweeps);
  expect_worked_state<true>(StageIteration::newton);
}

/// The order, from the errors of `coarse` and 2 `coarse` steps up to the time 1.
template <class Step>
void expect_order(double order, int coarse, const double* numbers) {
  using Top = DrivenTop<false>;
  static const auto exact = [] {
    auto state = top();
    state.p = SO3::Ad_star(state.q, state.p);
    state = motion<LobattoStep<double, AtTime<Top>, Exp, 4>>(Top{}, state, 1.0, 64);
    state.p = SO3::Ad_inverse_star(state.q, state.p);
    return state;
  }();
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const auto reached = motion<Step>(Top{}, top(), 1.0, coarse << k, numbers);
    error[k] = std::max(distance(reached.q, exact.q), distance(reached.p, exact.p));
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), order, 0.25);
}
TEST(DrivenVrkmk, HasTheOrdersOfItsTableaus) {
  double numbers[max_method_numbers]{};
  using Top = AtTime<DrivenTop<false>>;
  VrkmkNumbers<1>::fill(StageIteration::newton, tableau("gauss1"), 0, false, numbers);
  expect_order<VrkmkStep<double, Top, 1>>(2, 32, numbers);
  VrkmkNumbers<2>::fill(StageIteration::sweeps, tableau("gauss2"), 2, false, numbers);
  expect_order<VrkmkStep<double, Top, 2>>(4, 16, numbers);
}
TEST(DrivenVcg, HasItsOrders) {
  double numbers[max_method_numbers]{};
  for (const CrouchGrossmanSet& set : crouch_grossman_sets) {
    SCOPED_TRACE(set.name);
    VcgNumbers::fill(StageIteration::newton, set, numbers);
    expect_order<VcgStep<double, AtTime<DrivenTop<false>>>>(set.order, set.order > 4 ? 4 : 16, numbers);
  }
}

}  // namespace
}  // namespace rattleback
