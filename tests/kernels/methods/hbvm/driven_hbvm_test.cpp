// HBVM(k, s) with explicit time, generalized forces and constraints that move.

#include "driven.hpp"

#include "hbvm.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"

namespace rattleback {
namespace {

template <int S, class System>
StateAt<System> driven_motion(HbvmOptions options, double end, int steps) {
  const double h = end / steps;
  auto state = begin<System>();
  for (int k = 0; k < steps; ++k)
    EXPECT_EQ((HbvmTest<S, AtTime<System>>(at(System{}, k * h), options)(state, h).status), 0.0) << "step " << k;
  return state;
}

TEST(WorkedStates, Hbvm) {
  const auto expect = [](HbvmOptions options) {
    const auto state = driven_motion<2, BreathingSphere<double>>(options, 0.125, 1);
    EXPECT_LE(distance(state.q, {.552837807306, .356054920467, -.778780457265}), printed);
    EXPECT_LE(distance(state.p, {.0845029502564, .689237957180, .180266600590}), printed);
    EXPECT_NEAR(state.lambda[0], -.626649524503, printed);
  };
  expect({.k = 6});
  expect({.k = 6, .newton = true});
}

/// Orders of q, p, and p put on the hidden constraint, from errors of `coarse` and 2 `coarse` steps up to the time 1.
template <int S, class System>
void expect_orders(HbvmOptions options, int coarse, double of_q, double of_p, double of_projected) {
  SCOPED_TRACE("HBVM(" + std::to_string(options.k) + "," + std::to_string(S) + ")");
  static const auto exact = motion<LobattoStep<double, AtTime<System>, Cay, 4>>(System{}, begin<System>(), 1.0, 64);
  double q[2], p[2], projected[2];
  for (int k = 0; k < 2; ++k) {
    auto state = driven_motion<S, System>(options, 1.0, coarse << k);
    q[k] = distance(state.q, exact.q);
    p[k] = distance(state.p, exact.p);
    if constexpr (System::m > 0) {
      bool singular = false;
      put_on_constraint(at(System{}, 1.0), state.q, state.p, singular);
    }
    projected[k] = distance(state.p, exact.p);
  }
  EXPECT_NEAR(std::log2(q[0] / q[1]), of_q, 0.2);
  EXPECT_NEAR(std::log2(p[0] / p[1]), of_p, 0.2);
  EXPECT_NEAR(std::log2(projected[0] / projected[1]), of_projected, 0.2);
}
TEST(DrivenHbvm, HasItsOrders) {
  expect_orders<1, SwellingWell<double>>({.k = 3}, 16, 2, 2, 2);
  expect_orders<2, SwellingWell<double>>({.k = 6}, 16, 4, 4, 4);
  expect_orders<3, SwellingWell<double>>({.k = 6}, 8, 6, 6, 6);
  expect_orders<1, MovingPivot<double, true>>({.k = 6}, 32, 2, 2, 2);
  expect_orders<2, MovingPivot<double, true>>({.k = 6}, 32, 4, 2, 4);
  expect_orders<3, MovingPivot<double, true>>({.k = 6}, 32, 4, 2, 4);
  expect_orders<2, MovingPivot<double, true>>({.k = 6, .direct = true}, 32, 4, 2, 4);
  expect_orders<2, BreathingSphere<double>>({.k = 6, .direct = true}, 32, 4, 2, 4);
}

/// The largest difference, over the steps, of H' - H and the work by the quadrature of a step.
template <int S, class System>
double unbalanced(HbvmOptions options, int steps) {
  constexpr int n = System::n, m = System::m;
  const double h = 1.0 / steps;
  const GaussLegendre rule = gauss_legendre(options.k);
  auto state = begin<System>();
  double worst = 0.0;
  for (int step = 0; step < steps; ++step) {
    const auto before = state;
    const auto start = at(System{}, step * h), end = at(System{}, (step + 1) * h);
    EXPECT_EQ((HbvmTest<S, AtTime<System>>(start, options)(state, h).status), 0.0);
    // the coefficients of the velocity, by a few of their sweeps
    Vector<double, n> gamma[S];
    for (int j = 0; j < S; ++j) gamma[j] = Vector<double, n>::zero();
    double work = 0.0;
    for (int sweep = 0; sweep < 60; ++sweep) {
      Vector<double, n> impulse[S];
      for (int j = 0; j < S; ++j) impulse[j] = Vector<double, n>::zero();
      work = 0.0;
      for (int i = 0; i < options.k; ++i) {
        const double c = rule.integral[i][0] + 0.5;
        const auto node = at(System{}, (step + c) * h);
        Vector<double, n> y = fma(0.5 * h, gamma[0], before.q), v = Vector<double, n>::zero();
        for (int j = 0; j < S; ++j) {
          y = fma(h * rule.integral[i][j], gamma[j], y);
          v = fma(rule.weighted[i][j] / rule.weighted[i][0], gamma[j], v);
        }
        const auto f = node.applied_force(y, v);
        auto push = f + force(node, y);
        const auto of_potential = [](const auto& s, const auto& x) { return s.potential(x); };
        double power = dot(f, v) + time_derivative(node, of_potential, y);
        if constexpr (m > 0) {
          push = push + transpose_times(position_constraint(node, y).jacobian, state.lambda);
          const auto of_constraint = [](const auto& s, const auto& x) { return s.position_constraint(x); };
          power -= dot(state.lambda, time_derivative(node, of_constraint, y));
        }
        work += h * rule.weighted[i][0] * power;
        for (int j = 0; j < S; ++j) impulse[j] = fma(h * rule.weighted[i][j], push, impulse[j]);
      }
      for (int j = 0; j < S; ++j) {
        gamma[j] = legendre_xi(j) * impulse[j == 0 ? 0 : j - 1];
        if (j + 1 < S) gamma[j] = fma(-legendre_xi(j + 1), impulse[j + 1], gamma[j]);
      }
      gamma[0] = gamma[0] + before.p;
    }
    const auto energy_of = [](const auto& system, const auto& x) { return energy(system, x.q, x.p); };
    worst = std::max(worst, std::fabs(energy_of(end, state) - energy_of(start, before) - work));
  }
  return worst;
}
TEST(DrivenHbvm, BalancesEnergyAndWork) {
  EXPECT_LE((unbalanced<2, BreathingSphere<double>>({.k = 6}, 8)), 2e-15);
  EXPECT_LE((unbalanced<3, BreathingSphere<double>>({.k = 6}, 8)), 2e-15);
  EXPECT_LE((unbalanced<2, MovingPivot<double, false>>({.k = 6}, 8)), 2e-15);
  EXPECT_LE((unbalanced<2, SwellingWell<double>>({.k = 6}, 8)), 2e-15);
  // of order 2k where the quadrature is not exact
  const double coarse = unbalanced<2, SwellingWell<double>>({.k = 2}, 8),
               fine = unbalanced<2, SwellingWell<double>>({.k = 2}, 16);
  EXPECT_NEAR(std::log2(coarse / fine), 5.0, 0.5);
}

TEST(DrivenHbvm, TakesTheForceOfAPotentialLikeThePotential) {
  const auto by_potential = driven_motion<2, MovingPivot<double, false>>({.k = 6}, 1.0, 8);
  const auto by_force = driven_motion<2, MovingPivot<double, true>>({.k = 6}, 1.0, 8);
  EXPECT_LE(distance(by_potential.q, by_force.q), 2e-15);
  EXPECT_LE(distance(by_potential.p, by_force.p), 2e-15);
}

TEST(DrivenHbvm, IsSymmetric) {
  const auto expect = [](HbvmOptions options) {
    using System = MovingPivot<double, true>;
    const auto start = begin<System>();
    auto state = driven_motion<2, System>(options, 0.125, 1);
    EXPECT_EQ((HbvmTest<2, AtTime<System>>(at(System{}, 0.125), options)(state, -0.125).status), 0.0);
    EXPECT_LE(distance(state.q, start.q), 1e-15);
    EXPECT_LE(distance(state.p, start.p), 2e-15);
  };
  expect({.k = 6});
  expect({.k = 6, .direct = true});
}

/// A bead that strong friction drags behind a drive.
template <class T>
struct Dragged {
  using scalar = T;
  static constexpr int n = 2, m = 0;
  static Vector<double, 2> start_q() { return {.5, -.25}; }
  static Vector<double, n> start_v() { return {.25, .75}; }
  template <class S>
  S potential(const S& t, const Vector<S, 2>& q) const {
    return S(0.5) * (q[0] * q[0] + q[1] * q[1]) - cos(t) * q[0];
  }
  template <class S>
  Vector<S, 2> force(const S&, const Vector<S, 2>& q, const Vector<S, 2>& v) const {
    return {S(-40.0) * v[0] - S(5.0) * q[1], S(5.0) * q[0] - S(40.0) * v[1] * (S(1.0) + v[1] * v[1])};
  }
};
// h c = 5: the fixed point diverges, and Newton's method knows how forces depend on velocities
TEST(DrivenHbvm, TakesStrongFriction) {
  const auto handed_over = driven_motion<2, Dragged<double>>({.k = 6}, 1.0, 8);
  const auto by_newton = driven_motion<2, Dragged<double>>({.k = 6, .newton = true}, 1.0, 8);
  EXPECT_LE(distance(handed_over.q, by_newton.q), 1e-15);
  EXPECT_LE(distance(handed_over.p, by_newton.p), 1e-15);
  const HbvmTest<2, AtTime<Dragged<double>>> step(at(Dragged<double>{}, 0.0), {.k = 6, .newton = true});
  auto state = begin<Dragged<double>>();
  EXPECT_LE(step(state, 0.125).iterations, 7.0);
}
// with moving constraints the Jacobian has derivatives of g_t
TEST(DrivenHbvm, ConvergesQuadraticallyOnMovingConstraints) {
  using System = MovingPivot<double, true>;
  for (const bool direct : {false, true}) {
    const HbvmTest<2, AtTime<System>> step(at(System{}, 0.0), {.k = 6, .direct = direct, .newton = true});
    auto state = begin<System>();
    EXPECT_LE(step(state, 0.125).iterations, 5.0);
  }
}

TEST(DrivenHbvm, HasTangentMaps) {
  using D = Dual<double, 1>;
  const auto start = begin<MovingPivot<double, true>>();
  const Vector<double, 2> direction{.3, -.2};
  const HbvmNumbers numbers = HbvmNumbers::of(2, {.k = 6});
  StateOf<D, AtTime<MovingPivot<D, true>>> state{detail::along(start.q, direction), lift<D>(start.p),
                                                 lift<D>(start.lambda)};
  const Hbvm<D, AtTime<MovingPivot<D, true>>, 2> step(at(MovingPivot<D, true>{}, D(0.25)), {D(1e-16), 100}, numbers);
  EXPECT_EQ(value_of(step(state, D(0.125)).status), 0.0);
  const auto moved = [&](double by) {
    auto other = start;
    other.q = fma(by, direction, other.q);
    using System = MovingPivot<double, true>;
    EXPECT_EQ((HbvmTest<2, AtTime<System>>(at(System{}, 0.25), {.k = 6})(other, 0.125).status), 0.0);
    return other;
  };
  const double small = 1e-5;
  const auto forward = moved(small), backward = moved(-small);
  EXPECT_LE(distance(detail::derivative(state.q), (0.5 / small) * (forward.q - backward.q)), 1e-9);
  EXPECT_LE(distance(detail::derivative(state.p), (0.5 / small) * (forward.p - backward.p)), 1e-9);
}

}  // namespace
}  // namespace rattleback
