// Explicit Runge-Kutta methods: order conditions of the tableaus, the equations of motion they integrate and the derivatives
// of both, and the base method on its own, which keeps nothing.

#include "conversion_problems.hpp"
#include "hessian.hpp"
#include "named.hpp"
#include "rattleback/mechanics/hessian.hpp"
#include "rooted_trees.hpp"

using namespace rattleback;
using namespace rattleback::problems;

namespace {

TEST(ExplicitTableaus, SatisfyTheirOrderConditionsAndNoMore) {
  const std::size_t counts[] = {0, 1, 1, 2, 4, 9, 20, 48, 115, 286, 719};
  for (const ExplicitTableau& tableau : explicit_tableaus) {
    SCOPED_TRACE(tableau.name);
    EXPECT_EQ(explicit_tableau_fault(tableau), nullptr);
    const auto trees = rooted_trees(tableau, tableau.order + 1);
    for (std::size_t nodes = 1; nodes < trees.size(); ++nodes) {
      EXPECT_EQ(trees[nodes].size(), counts[nodes]);
      if (nodes <= static_cast<std::size_t>(tableau.order)) {
        EXPECT_LT(defect(tableau, trees[nodes]), 1e-13) << nodes;
      } else {
        EXPECT_GT(defect(tableau, trees[nodes]), 1e-4);
      }
    }
  }
}

TEST(ExplicitTableaus, AreFoundByNameAndChecked) {
  EXPECT_EQ(named(explicit_tableaus, "rk4"), &explicit_tableaus[3]);
  EXPECT_EQ(named(explicit_tableaus, "rk"), nullptr);
  EXPECT_EQ(named(explicit_tableaus, "rk44"), nullptr);
  EXPECT_NE(explicit_tableau_fault({"midpoint", 1, 2, {{0.5}}, {1.0}}), nullptr);
  EXPECT_NE(explicit_tableau_fault({"inconsistent", 1, 0, {}, {0.5}}), nullptr);
  EXPECT_NE(explicit_tableau_fault({"empty", 0, 0, {}, {}}), nullptr);
}

/// A point near the start of a problem, not on its constraints, over any scalar.
template <class P>
Vector<double, P::n> off(Vector<double, P::n> x, int salt) {
  for (int i = 0; i < P::n; ++i) x[i] += 0.1 * std::sin(3.0 * i + salt);
  return x;
}

template <class T, class P>
auto system_over() {
  const auto system = P::system();
  using System = typename P::template of<T>;
  double parameters[24];
  static_assert(sizeof(system) % sizeof(double) == 0);
  std::memcpy(parameters, &system, sizeof(system));
  return make_system<System>([&](int i) { return T(parameters[i]); });
}

/// max |a - b| over all entries.
template <int R, int C>
double distance(const Matrix<double, R, C>& a, const Matrix<double, R, C>& b) {
  double worst = 0.0;
  for (int i = 0; i < R; ++i) worst = std::max(worst, max_norm(a[i] - b[i]));
  return worst;
}

TEST(Dynamics, WhatSystemsGiveByHandFollowsFromTheirLagrangianAndConstraint) {
  All::each([](auto p) {
    using P = decltype(p);
    const auto system = P::system();
    const auto q = off<P>(P::q(), 1), v = off<P>(P::v(), 2), x = off<P>(P::v(), 3);
    // momentum and L_q from the Lagrangian written out, so that a separable system is differentiated too
    const auto l = hessian<1>(
        [&](const auto& a, const auto& b) {
          return Vector<std::remove_cvref_t<decltype(a[0])>, 1>{lagrangian(system, a, b)};
        },
        q, v);
    EXPECT_LT(max_norm(generalized_force(system, q, v) - (l.first.dq[0] - l.vq[0] * v)), 1e-14);
    if constexpr (!Separable<typename P::System>)
      EXPECT_LT(max_norm(detail::differentiated_force(system, q, v) - (l.first.dq[0] - l.vq[0] * v)), 1e-14);
    EXPECT_LT(max_norm(inertia_times(system, q, v, x) - l.vv[0] * x), 1e-14);
    EXPECT_LT(max_norm(velocity(system, q, momentum(system, q, v)) - v), 1e-14);
    if constexpr (P::m > 0) {
      EXPECT_LT(distance(position_jacobian(system, q), position_constraint(system, q).jacobian), 1e-14);
      EXPECT_LT(max_norm(position_curvature(system, q, v) - detail::differentiated_curvature(system, q, v)), 1e-14);
      EXPECT_LT(max_norm(position_hessian(system, q, v) * v - position_curvature(system, q, v)), 1e-14);
    }
  });
}

TEST(Dynamics, TheAccelerationKeepsTheSecondDerivativeOfTheConstraintAtZero) {
  All::each([](auto p) {
    using P = decltype(p);
    if constexpr (P::m > 0) {
      const auto system = P::system();
      const auto q = off<P>(P::q(), 1), v = off<P>(P::v(), 2);
      Vector<double, P::m> lambda;
      const auto a = Dynamics<typename P::System>(system).acceleration(q, v, lambda);
      EXPECT_LT(max_norm(position_jacobian(system, q) * a + position_curvature(system, q, v)), 1e-13);
      const auto force = generalized_force(system, q, v) + transpose_times(position_jacobian(system, q), lambda);
      EXPECT_LT(max_norm(mass_matrix(system, q, v) * a - force), 1e-13);
    }
  });
}

// The derivatives of acceleration, base step and action: implicit, against dual numbers pushed through everything, and against
// differences.
TEST(Dynamics, HasExactDerivatives) {
  All::each([](auto p) {
    using P = decltype(p);
    constexpr int n = P::n, K = 2 * n;
    using One = Dual<double, 1>;
    using System = typename P::System;
    using SystemD = typename P::template of<One>;
    const Dynamics<System> dynamics(P::system());
    const Dynamics<SystemD> dual_dynamics(system_over<One, P>());
    const auto q = off<P>(P::q(), 1), v = off<P>(P::v(), 2);
    for (const char* base : {"heun2", "rk4"}) {
      const Numbers numbers(base, false);
      const ExplicitFlow<double, System> flow(dynamics, numbers.plain.base);
      const ExplicitFlow<One, SystemD> dual_flow(dual_dynamics, numbers.plain.base);
      using D = Dual<double, K>;
      typename ExplicitFlow<double, System>::template Rate<D> rate;
      typename ExplicitFlow<double, System>::template End<D> end;
      const auto qd = seeded_configuration<Rn<n>, D>(q);
      const auto vd = seeded_velocity<D, n>(v);
      flow.rate(0.0, qd, vd, rate);
      flow(qd, vd, rate, 0.1, end);
      for (int j = 0; j < K; ++j) {
        auto direction_q = Vector<double, n>::zero(), direction_v = direction_q;
        (j < n ? direction_q[j] : direction_v[j - n]) = 1.0;
        const auto q1 = detail::along(q, direction_q), v1 = detail::along(v, direction_v);
        typename ExplicitFlow<One, SystemD>::template Rate<One> rate1;
        typename ExplicitFlow<One, SystemD>::template End<One> end1;
        Vector<One, P::m> lambda;
        rate1.a = dual_dynamics.acceleration(q1, v1, lambda);
        dual_flow(q1, v1, rate1, One(0.1), end1);
        EXPECT_LT(max_norm(detail::derivative(rate.a, j) - detail::derivative(rate1.a)), 1e-13);
        EXPECT_LT(max_norm(detail::derivative(end.q, j) - detail::derivative(end1.q)), 1e-13);
        EXPECT_LT(max_norm(detail::derivative(end.v, j) - detail::derivative(end1.v)), 1e-13);

        // central differences, of the acceleration and of the action sum t b_i L(W_i)
        const double e = 1e-6;
        const auto acceleration = [&](double shift) {
          Vector<double, P::m> unused;
          return dynamics.acceleration(fma(shift, direction_q, q), fma(shift, direction_v, v), unused);
        };
        const auto difference = (0.5 / e) * (acceleration(e) - acceleration(-e));
        EXPECT_LT(max_norm(detail::derivative(rate.a, j) - difference), 1e-8);
        const auto action = [&](double shift) {
          const auto& tableau = *named(explicit_tableaus, base);
          Vector<double, n> a[max_explicit_stages];
          double sum = 0.0;
          for (int i = 0; i < tableau.stages; ++i) {
            auto x = fma(shift, direction_q, q), y = fma(shift, direction_v, v);
            const auto y0 = y;
            for (int k = 0; k < i; ++k) {
              auto w = y0;  // velocity of stage k
              for (int l = 0; l < k; ++l) w = fma(0.1 * tableau.a[k][l], a[l], w);
              x = fma(0.1 * tableau.a[i][k], w, x);
              y = fma(0.1 * tableau.a[i][k], a[k], y);
            }
            Vector<double, P::m> unused;
            a[i] = dynamics.acceleration(x, y, unused);
            sum += 0.1 * tableau.b[i] * lagrangian(P::system(), x, y);
          }
          return sum;
        };
        EXPECT_NEAR(end.action[j], (0.5 / e) * (action(e) - action(-e)), 1e-8);
      }
    }
  });
}

TEST(RungeKutta, HasTheStoredErrors) {
  const Numbers numbers("rk4", false);
  const Base<InField> step(InField::system(), options, numbers);
  int steps = 20;
  for (const double error : {1.575e-5, 9.931e-7, 6.222e-8, 3.892e-9}) {
    auto state = start<InField>();
    advance(step, state, 2.0 / steps, steps);
    EXPECT_NEAR(problems::distance<InField>(state, InField::exact) / error, 1.0, 1e-3);
    steps *= 2;
  }
}

TEST(RungeKutta, HasTheOrderOfItsTableau) {
  for (const ExplicitTableau& tableau : explicit_tableaus)
    for (const bool projection : {false, true}) {
      const Numbers numbers(tableau.name, projection);
      const Base<VariableMass> step(VariableMass::system(), options, numbers);
      const int fewest = tableau.order < 5 ? 160 : tableau.order < 8 ? 20 : 3;
      double error[3];
      for (int i = 0; i < 3; ++i) {
        auto state = start<VariableMass>();
        advance(step, state, 2.0 / (fewest << i), fewest << i);
        error[i] = problems::distance<VariableMass>(state, VariableMass::exact);
      }
      // High orders reach round-off before their slopes are those of small steps.
      const double near = tableau.order < 8 ? 0.2 : 1.0;
      EXPECT_NEAR(std::log2(error[1] / error[2]), tableau.order, near) << tableau.name << projection;
      EXPECT_NEAR(std::log2(error[0] / error[2]), 2 * tableau.order, 2.5 * near) << tableau.name << projection;
    }
}

// Energy errors of long runs: they grow, with projection too.
template <class P>
void check_drift(const char* base, bool projection, double h, int steps, const std::array<double, 4>& expected) {
  SCOPED_TRACE(testing::Message() << P::System::name << " " << base);
  const Numbers numbers(base, projection);
  const auto worst = energy_errors<P>(Base<P>(P::system(), options, numbers), h, steps);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(worst[i] / expected[i], 1.0, 0.02) << i;
  EXPECT_GT(worst[3], 1.5 * worst[0]);
}

TEST(RungeKutta, LosesTheEnergy) {
  const double period = 6.28318530717958648;
  check_drift<KeplerOrbit>("heun2", false, period / 100, 10000, {0.296, 0.391, 0.440, 0.464});
  check_drift<KeplerOrbit>("rk4", false, period / 100, 10000, {2.71e-3, 5.30e-3, 7.89e-3, 1.06e-2});
  check_drift<Polar>("rk4", false, 0.1, 5000, {9.46e-5, 1.87e-4, 2.78e-4, 3.70e-4});
  check_drift<SphericalSwing>("rk4", true, 0.1, 10000, {2.80e-4, 5.61e-4, 8.43e-4, 1.12e-3});
  check_drift<InField>("rk4", true, 0.1, 5000, {1.13e-4, 2.27e-4, 3.42e-4, 4.56e-4});
  check_drift<VariableMass>("rk4", true, 0.1, 5000, {1.39e-4, 2.77e-4, 4.16e-4, 5.55e-4});
  check_drift<PlanarSwing>("rk4", true, 0.2, 5000, {1.74e-2, 3.42e-2, 5.04e-2, 6.61e-2});
  check_drift<OnTorus>("rk4", true, 0.1, 5000, {6.25e-4, 1.23e-3, 1.83e-3, 2.44e-3});
  check_drift<Body>("heun2", true, 0.1, 2000, {2.85e-2, 5.94e-2, 9.26e-2, 0.128});
  check_drift<Body>("heun2", false, 0.1, 2000, {2.97e-2, 6.76e-2, 0.115, 0.174});
}

TEST(RungeKutta, KeepsTheConstraintsOnlyWithProjection) {
  const auto violation = [](bool projection) {
    const Numbers numbers("heun2", projection);
    const Base<Body> step(Body::system(), options, numbers);
    auto state = start<Body>();
    double worst = 0.0;
    for (int k = 0; k < 2000; ++k) {
      advance(step, state, 0.1, 1);
      worst = std::max({worst, max_norm(Body::system().position_constraint(state.q)),
                        max_norm(constraint(Body::system(), state.q, velocity_of<Body>(state)))});
    }
    return worst;
  };
  EXPECT_LT(violation(true), 1e-15);
  EXPECT_NEAR(violation(false), 4.5e-2, 2e-2);
}

TEST(RungeKutta, ReportsAStepThatIsNotANumber) {
  const Numbers numbers("rk4", true);
  auto state = start<SphericalSwing>();
  state.p[1] = std::nan("");
  EXPECT_NE(Base<SphericalSwing>(SphericalSwing::system(), options, numbers)(state, 0.1).status, 0.0);
}

}  // namespace
