// Exact solutions of the systems that offer one: against the equations of motion and against published digits.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "rattleback/loop/describe.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "rattleback/systems/nonholonomic/nonholonomic_particle.hpp"
#include "rattleback/systems/nonholonomic/suslov.hpp"
#include "rattleback/systems/nonholonomic/turntable_ball.hpp"
#include "rattleback/systems/nonholonomic/vertical_disc.hpp"

using namespace rattleback;

namespace {

/// Largest residual of d/dt p = L_q + ad*_v p + Phi_v^T lambda, d/dt q = q v and Phi = 0 along the exact solution from
/// (q, v), with the time derivatives by central differences of order 6.
template <class System>
double residual(const System& system, const Configuration<System>& q0, const Vector<double, System::n>& v0) {
  using G = group_of<System>;
  constexpr int n = System::n, m = System::m;
  double largest = 0.0;
  for (const double t : {-1.3, 0.4, 2.0, 7.5}) {
    const auto at = [&](double time) {
      auto q = q0, v = v0;
      EXPECT_TRUE(system.exact(time, q, v));
      return std::pair{q, v};
    };
    constexpr double h = 0.01, weight[3] = {45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0};
    auto dq = Configuration<System>::zero();
    auto dp = Vector<double, n>::zero();
    for (int k = 1; k <= 3; ++k) {
      const auto [qa, va] = at(t + k * h);
      const auto [qb, vb] = at(t - k * h);
      dq = dq + (weight[k - 1] / h) * (qa - qb);
      dp = dp + (weight[k - 1] / h) * (momentum(system, qa, va) - momentum(system, qb, vb));
    }
    const auto [q, v] = at(t);
    const auto l = gradient<1, G>(
        [&](const auto& x, const auto& y) {
          return Vector<std::remove_cvref_t<decltype(x[0])>, 1>{lagrangian(system, x, y)};
        },
        q, v);
    const auto phi = gradient<m, G>([&](const auto& x, const auto& y) { return constraint(system, x, y); }, q, v);
    Vector<double, m> lambda;
    EXPECT_TRUE((detail::continuous_multiplier(system, q, v, lambda)));
    const auto force = l.dq[0] + G::ad_star(v, momentum(system, q, v)) + transpose_times(phi.dv, lambda);
    largest = std::max({largest, max_norm(dq - G::translate(q, v)), max_norm(dp - force), 1e3 * max_norm(phi.value)});
  }
  return largest;
}

TEST(Exact, ParticleSolvesTheEquationsOfMotion) {
  const NonholonomicParticle<double> system;
  EXPECT_LT(residual<>(system, {1.0, 0.5, 0.0}, {0.4, 0.8, 0.2}), 1e-11);
  EXPECT_LT(residual<>(system, {-0.3, 0.0, 2.0}, {0.7, 3.0, 0.0}), 1e-9);
  EXPECT_LT(residual<>(system, {1.0, 0.0, 0.0}, {0.5, 0.0, 0.0}), 1e-11);
}

TEST(Exact, ParticleHasTheKnownStateAtTimeFive) {
  const NonholonomicParticle<double> system;
  Vector<double, 3> q{1.0, 0.5, 0.0}, v{0.4, 0.8, 0.2};
  ASSERT_TRUE(system.exact(5.0, q, v));
  const double expected_q[] = {-0.93682153194653513, -0.62530832699889767, -0.28618286593039145};
  const double expected_v[] = {0.48140325005912975, 0.70639188570215026, -0.30102546090630642};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(q[i], expected_q[i], 2e-15) << i;
    EXPECT_NEAR(v[i], expected_v[i], 2e-15) << i;
  }
}

TEST(Exact, SleighSolvesTheEquationsOfMotion) {
  const Vector<double, 3> q{0.2, -0.1, 0.3};
  const auto v = [](double u, double w) { return Vector<double, 3>{u * std::cos(0.3), u * std::sin(0.3), w}; };
  for (const double offset : {0.4, -0.4, 1e-3, 0.0, 2.0}) {
    const ChaplyginSleigh<double> system{1.3, 0.5, offset};
    for (const auto& [speed, turn] :
         {std::pair{0.5, 1.2}, {-1.0, 0.7}, {0.8, -0.9}, {0.0, 1.0}, {1.0, 0.0}, {0.0, 0.0}})
      EXPECT_LT(residual<>(system, q, v(speed, turn)), 1e-10) << offset << " " << speed << " " << turn;
  }
  Vector<double, 3> x = q, y = v(1.0, 1.0);
  EXPECT_FALSE((ChaplyginSleigh<double>{1.0, -1.0, 0.4}.exact(1.0, x, y)));
}

template <std::size_t N>
Vector<double, N> to_vector(const std::array<double, N>& a) {
  Vector<double, N> r;
  std::copy(a.begin(), a.end(), r.entry);
  return r;
}
template <class System>
double residual_of_default(const System& system) {
  return residual(system, to_vector(System::default_q), to_vector(System::default_v));
}

TEST(Exact, SystemsOnGroupsSolveTheEquationsOfMotion) {
  EXPECT_LT(residual_of_default(VerticalDisc<double>{2.0, 0.5, 1.0}), 1e-10);
  EXPECT_LT(residual_of_default(VerticalDisc<double>{2.0, 0.5, 0.0}), 1e-10);
  EXPECT_LT(residual_of_default(TurntableBall<double, TurntableVariant::space>{1.0, 1.0, 0.4, 0.4, 0.4}), 1e-10);
  EXPECT_LT(residual_of_default(TurntableBall<double, TurntableVariant::body>{1.0, 1.0, 0.4, 0.4, 0.4}), 1e-10);
  EXPECT_LT(residual_of_default(Suslov<double>{1.0, 1.4, 1.2, 0.3, -0.2, 0.0, 0.6, 0.8, 0.0}), 1e-10);
  EXPECT_LT(residual_of_default(Suslov<double>{1.0, 1.4, 1.2, 0.0, 0.5, 0.9, 0.0, 0.0, 0.0}), 1e-10);
}

TEST(Exact, GoesForwardAndBack) {
  const ChaplyginSleigh<double> sleigh{1.0, 0.5, 0.4};
  const NonholonomicParticle<double> particle;
  const Vector<double, 3> q0{0.0, 0.5, 0.3}, v0{0.5 * std::cos(0.3), 0.5 * std::sin(0.3), 1.2};
  auto q = q0, v = v0;
  ASSERT_TRUE(sleigh.exact(6.0, q, v) && sleigh.exact(-6.0, q, v));
  EXPECT_LT(max_norm(q - q0) + max_norm(v - v0), 1e-14);
  const Vector<double, 3> w0{0.4, 0.8, 0.2};
  q = q0, v = w0;
  ASSERT_TRUE(particle.exact(60.0, q, v) && particle.exact(-60.0, q, v));
  EXPECT_LT(max_norm(q - q0) + max_norm(v - w0), 1e-13);
}

}  // namespace
