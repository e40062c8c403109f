// The GGL integrators and the energy-momentum schemes with explicit time, generalized forces and constraints that move.

#include "driven.hpp"

#include "ggl_cases.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"

namespace rattleback {
namespace {

/// The state after `steps` steps that end at the time `end`.
template <class System, class Method>
StateAt<System> driven_motion(const Method& method, double end, int steps) {
  const double h = end / steps;
  auto state = begin<System>();
  for (int k = 0; k < steps; ++k) EXPECT_EQ(method.on(at(System{}, k * h))(state, h).status, 0.0) << "step " << k;
  return state;
}

TEST(WorkedStates, Ggl) {
  const auto expect = [](const auto& method, const Vector<double, 3>& q, const Vector<double, 3>& p, double lambda) {
    const auto state = driven_motion<BreathingSphere<double>>(method, 0.125, 1);
    EXPECT_LE(distance(state.q, q), printed);
    EXPECT_LE(distance(state.p, p), printed);
    EXPECT_NEAR(state.lambda[0], lambda, printed);
  };
  expect(vi_s, {.547918619822, .355860985077, -.782337455032}, {.0890645890748, .694452202975, .180171322536},
         -.620294512808);
  expect(vi_a, {.554046071508, .356527449693, -.780604254486}, {.0847307539188, .688039007993, .179454782954},
         -.623692748697);
  expect(vi_b, {.558090842697, .357539730195, -.774340816968}, {.0838508826941, .686578595054, .174111078527},
         -.613308761233);
  expect(vi_bs, {.552887026615, .356326796434, -.778621151868}, {.0840319272374, .688849464222, .181303735154},
         -.632069097918);
  expect(em, {.552859605687, .355935742104, -.778819460521}, {.0861147259041, .690243049724, .178404628883},
         -.616971274108);
}

/// Errors of q and p after the time 1 shrink with these orders from 64 to 128 steps.
template <class System, class Method>
void expect_orders(const Method& method, double order) {
  static const auto exact = motion<LobattoStep<double, AtTime<System>, Cay, 4>>(System{}, begin<System>(), 1.0, 32);
  double error[2];
  for (int k = 0; k < 2; ++k) {
    const auto reached = driven_motion<System>(method, 1.0, 64 << k);
    error[k] = std::max(distance(reached.q, exact.q), distance(reached.p, exact.p));
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), order, 0.15);
}
template <class System>
void expect_orders() {
  expect_orders<System>(vi_s, 1);
  expect_orders<System>(vi_a, 2);
  expect_orders<System>(vi_b, 1);
  expect_orders<System>(vi_bs, 2);
  expect_orders<System>(Scheme<GglScheme::theta_b>{{0.75, 0.25}}, 1);
}
TEST(DrivenGgl, HasItsOrders) {
  expect_orders<MovingPivot<double, true>>();
  expect_orders<MovingPivotOfEverything<double>>();
}

TEST(DrivenEnergyMomentum, HasItsOrders) {
  const auto expect = [](auto system) {
    using System = decltype(system);
    expect_orders<System>(em, 2);
    expect_orders<System>(em_index3, 2);
    expect_orders<System>(classical, 2);
  };
  expect(MovingPivot<double, true>{});
  expect(BreathingSphere<double>{});
  expect(MovingParts<double>{});
}

/// gamma of a step.
template <int m>
struct KeepGamma {
  Vector<double, m>& gamma;
  bool wanted() const { return true; }
  template <class V>
  void put(bool, const Vector<double, m>& x, const V&, const V&, const V&) const {
    gamma = x;
  }
};
/// What a step of the energy-momentum family leaves of the balance H' - H = fb . (q' - q) + h (D_t H + lambda . D_t g + gamma . D_t c).
template <class System, class Method>
double unbalanced(const Method& method, double h, int steps) {
  constexpr int n = System::n, m = System::m;
  using S = Secant<double, 2 * n + 1>;
  auto state = begin<System>();
  double worst = 0.0;
  for (int k = 0; k < steps; ++k) {
    const auto before = state;
    const auto start = at(System{}, k * h), end = at(System{}, k * h + h), middle = at(System{}, k * h + 0.5 * h);
    Vector<double, m> gamma;
    EXPECT_EQ(method.on(start)(state, h, KeepGamma<m>{gamma}).status, 0.0);
    Vector<S, n> q, p;
    for (int i = 0; i < n; ++i) {
      q[i] = S(before.q[i], state.q[i], i);
      p[i] = S(before.p[i], state.p[i], n + i);
    }
    const auto during = at(System{}, S(start.time, end.time, 2 * n));
    const auto v = velocity(during, q, p);
    S sum = dot(p, v) - lagrangian(during, q, v);
    const auto g = during.position_constraint(q), c = constraint(during, q, v);
    double by_time = sum.slope(2 * n);
    for (int i = 0; i < m; ++i) by_time += gamma[i] * c[i].slope(2 * n) - state.lambda[i] * g[i].slope(2 * n);
    const auto moved = state.q - before.q;
    const double work = dot(middle.applied_force(0.5 * (before.q + state.q), (1 / h) * moved), moved) + h * by_time;
    const auto energy_of = [](const auto& system, const auto& x) {
      return energy(system, x.q, velocity(system, x.q, x.p));
    };
    worst = std::max(worst, std::fabs(energy_of(end, state) - energy_of(start, before) - work));
  }
  return worst;
}
TEST(DrivenEnergyMomentum, BalancesEnergyAndWork) {
  const auto expect_balance = [](auto system) {
    using System = decltype(system);
    EXPECT_LE(unbalanced<System>(em, 0.125, 16), 2e-15);
    EXPECT_LE(unbalanced<System>(em_index3, 0.125, 16), 2e-15);
    // without the term of gamma in p'
    EXPECT_NEAR(std::log2(unbalanced<System>(classical, 0.125, 8) / unbalanced<System>(classical, 0.0625, 16)), 3.0,
                0.7);
  };
  expect_balance(MovingPivot<double, true>{});
  expect_balance(BreathingSphere<double>{});
  expect_balance(MovingParts<double>{});
}

TEST(DrivenEnergyMomentum, KeepsBothConstraints) {
  using System = MovingPivot<double, true>;
  const auto system = at(System{}, 1.0);
  const auto state = driven_motion<System>(em, 1.0, 16);
  EXPECT_LE(max_norm(system.position_constraint(state.q)), 2e-15);
  EXPECT_LE(max_norm(constraint(system, state.q, velocity(system, state.q, state.p))), 4e-15);
}

TEST(DrivenGgl, TakesTheForceOfAPotentialLikeThePotential) {
  const auto expect_same = [](const auto& method) {
    const auto by_potential = driven_motion<MovingPivot<double, false>>(method, 1.0, 8);
    const auto by_force = driven_motion<MovingPivot<double, true>>(method, 1.0, 8);
    EXPECT_LE(distance(by_potential.q, by_force.q), 2e-15);
    EXPECT_LE(distance(by_potential.p, by_force.p), 2e-15);
  };
  expect_same(vi_s);
  expect_same(vi_a);
  expect_same(vi_b);
  expect_same(vi_bs);
}

// The constraint on positions holds at the end of a step. The hidden one of (q', p') does not in VI-S, where g_t is there.
TEST(DrivenGgl, KeepsMovingConstraints) {
  const auto of_position = [](const auto& method) {
    using System = MovingPivot<double, true>;
    return max_norm(at(System{}, 1.0).position_constraint(driven_motion<System>(method, 1.0, 32).q));
  };
  EXPECT_LE(of_position(vi_s), 2e-15);
  EXPECT_LE(of_position(vi_b), 2e-15);
  EXPECT_LE(of_position(vi_bs), 2e-15);
  const auto of_velocity = [](int steps) {
    using System = BreathingSphere<double>;
    const auto system = at(System{}, 1.0);
    const auto state = driven_motion<System>(vi_s, 1.0, steps);
    return max_norm(constraint(system, state.q, velocity(system, state.q, state.p)));
  };
  EXPECT_NEAR(std::log2(of_velocity(64) / of_velocity(128)), 2.0, 0.1);
}

/// A step forward, and one of size -h from its end.
template <class System, GglScheme scheme>
void expect_symmetric(const Scheme<scheme>& method) {
  const auto start = begin<System>();
  auto state = driven_motion<System>(method, 0.125, 1);
  EXPECT_EQ(method.on(at(System{}, 0.125))(state, -0.125).status, 0.0);
  EXPECT_LE(distance(state.q, start.q), 1e-15);
  EXPECT_LE(distance(state.p, start.p), 2e-15);
}
TEST(DrivenGgl, IsSymmetricAtTheMidpoint) {
  expect_symmetric<MovingPivot<double, true>>(vi_a);
  expect_symmetric<MovingPivot<double, true>>(vi_bs);
  expect_symmetric<MovingPivotOfEverything<double>>(vi_bs);
  expect_symmetric<MovingPivot<double, true>>(em);
  expect_symmetric<MovingParts<double>>(em);
}

/// The derivative of a step along a direction of q against a difference quotient.
template <class System, class DualSystem, class Method>
void expect_tangent_map(const Method& method) {
  using D = Dual<double, 1>;
  const auto start = begin<System>();
  const Vector<double, System::n> direction{.3, -.2};
  StateOf<D, AtTime<DualSystem>> state{detail::along(start.q, direction), lift<D>(start.p), lift<D>(start.lambda)};
  EXPECT_EQ(value_of(method.on(at(DualSystem{}, D(0.25)))(state, D(0.125)).status), 0.0);
  const auto moved = [&](double by) {
    auto other = start;
    other.q = fma(by, direction, other.q);
    EXPECT_EQ(method.on(at(System{}, 0.25))(other, 0.125).status, 0.0);
    return other;
  };
  const double small = 1e-5;
  const auto forward = moved(small), backward = moved(-small);
  EXPECT_LE(distance(detail::derivative(state.q), (0.5 / small) * (forward.q - backward.q)), 1e-9);
  EXPECT_LE(distance(detail::derivative(state.p), (0.5 / small) * (forward.p - backward.p)), 1e-9);
}
TEST(DrivenGgl, HasTangentMaps) {
  using D = Dual<double, 1>;
  expect_tangent_map<MovingPivot<double, true>, MovingPivot<D, true>>(vi_s);
  expect_tangent_map<MovingPivot<double, true>, MovingPivot<D, true>>(vi_bs);
  expect_tangent_map<MovingParts<double>, MovingParts<D>>(em);
}

}  // namespace
}  // namespace rattleback
