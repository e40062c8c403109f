// Nonholonomic Lobatto IIIA-IIIB: constraint, symmetry, energy, and wrong variants that lose them.

#include <algorithm>
#include <array>
#include <functional>

#include "nonholonomic_lobatto.hpp"

namespace rattleback {
namespace {

// --- structure, for every system of the catalogue and number of stages ---

template <class C>
class StructureTest : public ::testing::Test {
 protected:
  using System = typename C::template of<double>;
  using Step = LobattoStep<double, System, Cay, C::stages>;
  static constexpr double h = 0.1 * time_scale<System>();
  System system = make_default<System>();
  Step step{system, to_round_off};
  Random random{3};
};
using Cases = LobattoCases<2, 3, 8>;
TYPED_TEST_SUITE(StructureTest, Cases, Names);

TYPED_TEST(StructureTest, ConstraintHoldsAtTheNodes) {
  auto state = random_start(this->system, this->random);
  for (int k = 0; k < 300; ++k) {
    state = advance(this->step, state, this->h, 1);
    ASSERT_LE(max_norm(constraint(this->system, state.q, velocity(this->system, state.q, state.p))), 1e-14) << k;
  }
}

TYPED_TEST(StructureTest, IsSymmetric) {
  if constexpr (on_group<typename TestFixture::System>) GTEST_SKIP() << "symmetric on R^n alone";
  using System = typename TestFixture::System;
  // Newton's method leaves more of a constraint nonlinear in v
  constexpr bool linear = System::m == 0 || is_holonomic<System> || AffineConstraint<System>;
  std::array<double, 25> missed;  // by how much, from as many starts: round-off varies by a factor of ten
  for (double& distance_from_start : missed) {
    const auto there = random_start(this->system, this->random);
    const auto back = advance(this->step, advance(this->step, there, this->h, 20), -this->h, 20);
    distance_from_start = distance(back, there);
  }
  std::ranges::sort(missed);
  constexpr double bound = (linear ? 1 : 2) * round_off<TypeParam::stages>;
  EXPECT_LE(missed[missed.size() / 2], bound);
  EXPECT_LE(missed.back(), 4 * bound);
}

TYPED_TEST(StructureTest, UsualToleranceIsNearRoundOff) {
  const typename TestFixture::Step usual(this->system, {1e-14, 50});
  const auto state = default_start(this->system);
  const auto a = advance(usual, state, this->h, 50), b = advance(this->step, state, this->h, 50);
  EXPECT_LE(distance(a.q, b.q), 1e-13);
  EXPECT_LE(distance(a.p, b.p), 1e-13);
  // A multiplier is an impulse over h. The largest difference, 2.4e-11, is that of the sleigh with five stages.
  EXPECT_LE(distance(a.lambda, b.lambda), 4e-12 / this->h);
}

// --- wrong variants ---

/// The method with its multiplier taken anew from the continuous equations at each step instead of carried along.
template <class System, int S>
struct MultiplierRecomputed {
  System system;
  std::function<double(const Vector<double, System::n>&, const Vector<double, System::n>&)> multiplier;
  LobattoStep<double, System, Cay, S> step{system, to_round_off};

  StepReport<double> operator()(PhaseState<double, System::n, 1>& state, double h) const {
    state.lambda[0] = multiplier(state.q, velocity(system, state.q, state.p));
    return step(state, h);
  }
};
template <class Equations, int n = Equations::n>
double recomputed_by(const Vector<double, Equations::n>& q, const Vector<double, Equations::n>& v) {
  Long x[n], w[n], force[n], mu[n];
  std::copy(q.entry, q.entry + n, x);
  std::copy(v.entry, v.entry + n, w);
  return static_cast<double>(Equations::evaluate(x, w, force, mu));
}

template <class Step>
double return_error(const Step& step) {
  const auto there = default_start(cvt);
  const auto back = advance(step, advance(step, there, 0.1, 20), -0.1, 20);
  return std::max(distance(back.q, there.q), distance(back.p, there.p));
}

/// Slope of the least-squares line through the passenger energy over [0, 10^4], h = 0.1, low energy.
template <class Step>
double passenger_energy_drift(const Step& step) {
  constexpr int steps = 100000;
  auto state = start(cvt, {1, 0, 1}, cvt_low);
  double sum_t = 0, sum_e = 0, sum_tt = 0, sum_te = 0;
  for (int k = 1; k <= steps; ++k) {
    step(state, 0.1);
    const double t = 0.1 * k - 0.05 * steps, e = cvt.evaluate_invariants(state.q, state.p)[1] - 1.0;
    sum_t += t, sum_e += e, sum_tt += t * t, sum_te += t * e;
  }
  return (sum_te - sum_t * sum_e / steps) / (sum_tt - sum_t * sum_t / steps);
}

TEST(WrongVariant, RecomputedMultiplierLosesTheSymmetry) {
  const double wrong_drift[] = {-8.3e-5, -3.7e-7};
  for_stages<2, 3>([&](auto s) {
    const LobattoStep<double, Cvt, Cay, s()> right(cvt, to_round_off);
    const MultiplierRecomputed<Cvt, s()> wrong{cvt, recomputed_by<CvtEquations>};
    EXPECT_LE(return_error(right), 1e-14);
    EXPECT_GE(return_error(wrong), 1e-8);
    EXPECT_LE(std::fabs(passenger_energy_drift(right)), 2e-9);
    EXPECT_NEAR(passenger_energy_drift(wrong), wrong_drift[s() - 2], 0.03 * std::fabs(wrong_drift[s() - 2]));
  });
}

/// Mean square of the energy error at t = 1000, h = 0.1, over the ensemble of section 7.3 with J = 31, in units of h^4.
template <class Step>
double mean_square_energy_error(const Step& step) {
  double sum = 0;
  for (int j = 0; j <= 31; ++j) {
    const auto end = advance(step, start(Contact{}, Member(j, 31).q, Member(j, 31).v), 0.1, 10000);
    sum += square(energy(Contact{}, end.q, end.p) - 3.06);
  }
  return sum / 32 / 1e-4;
}

TEST(WrongVariant, RecomputedMultiplierDriftsInTheChaoticSystem) {
  // the energy walks at random, to about 1.2 at this time, and to a few hundred with a recomputed multiplier
  const double right = mean_square_energy_error(LobattoStep<double, Contact, Cay, 2>(Contact{}, to_round_off));
  EXPECT_GE(right, 0.4);
  EXPECT_LE(right, 4.0);
  const MultiplierRecomputed<Contact, 2> wrong{Contact{}, recomputed_by<ContactEquations>};
  EXPECT_GE(mean_square_energy_error(wrong), 100.0);
}

}  // namespace
}  // namespace rattleback
