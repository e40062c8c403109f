// The guard of carried multipliers: it finds the parasite of motions that contract before it shows in the energy, and takes no
// other motion for one.

#include "rattleback/loop/advance.hpp"
#include "rattleback/loop/observe.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

/// A trajectory in a chunk, with a sample after every `every` steps.
template <template <class> class SystemOf, int S>
class GuardedTrajectory {
  using System = SystemOf<double>;
  template <class T, class Sys>
  using Method = LobattoStep<T, Sys, Cay, S>;
  static constexpr int n = System::n, m = System::m, N = element_size<System>;

 public:
  GuardedTrajectory(double h, double speed, double error) : system_(make_default<System>()) {
    auto state = start(system_, to_vector(System::default_q), speed * to_vector(System::default_v));
    for (int i = 0; i < m; ++i) state.lambda[i] += error;
    for (std::size_t i = 0; i < parameters_of<System>().size(); ++i) {
      arguments_.parameters[i] = parameters_of<System>()[i].value;
      arguments_.parameter_row[i] = -1;
    }
    arguments_.step = h;
    arguments_.tolerance = 1e-15;
    arguments_.max_iterations = 100;
    arguments_.parasitic_limit = parasitic_limit(2 * S - 2);
    ChunkLayout& rows = arguments_.layout;
    rows.p = N;
    rows.lambda = N + n;
    rows.status = rows.lambda + m;
    rows.steps = rows.status + 1;
    rows.iterations = rows.status + 2;
    rows.residual = rows.status + 3;
    rows.step = rows.steps_per_sample = -1;
    rows.guard = rows.residual + 1;
    rows.rows = rows.guard + 2;
    chunk_.assign(static_cast<std::size_t>(rows.rows) * row_size, 0.0);
    store_state(rows, chunk_.data(), 0, state);
    energy_ = energy_now();
    sample();
  }

  void run(int steps, int every) {
    for (int k = 0; k < steps && status() == 0.0; k += every) {
      arguments_.target += every;
      advance_lanes<double, SystemOf, Method>(arguments_, chunk_.data(), 0);
      sample();
    }
  }
  double status() const { return at(arguments_.layout.status); }
  double steps() const { return at(arguments_.layout.steps); }
  double energy_error() const { return std::fabs(energy_now() - energy_); }

 private:
  void sample() { guard_multiplier<double, SystemOf>(arguments_, chunk_.data(), 0); }
  double at(int row) const { return chunk_[static_cast<std::size_t>(row) * row_size]; }
  double energy_now() const {
    const auto state = load_state<double, StateOf<double, System>>(arguments_.layout, chunk_.data(), 0);
    return energy(system_, state.q, velocity(system_, state.q, state.p));
  }

  System system_;
  KernelArguments arguments_{};
  std::vector<double> chunk_;
  double energy_;
};

/// The sleigh with rows of its constraint and a mass in other units.
template <class T>
struct ScaledSleigh : ChaplyginSleigh<T> {
  static constexpr double scale = 1e3;
  template <class S>
  RB_HD Matrix<S, 1, 3> constraint_matrix(const Vector<S, 3>& q) const {
    auto mu = ChaplyginSleigh<T>::constraint_matrix(q);
    for (int i = 0; i < 3; ++i) mu[0][i] = S(scale) * mu[0][i];
    return mu;
  }
};

template <template <class> class SystemOf, int S>
GuardedTrajectory<SystemOf, S> guarded(double h, double speed = 1.0, double error = 0.0) {
  return {h, speed, error};
}

/// An error of the first multiplier is the seed: from rounding alone, more stages would take a long time.
template <template <class> class SystemOf, int S>
void expect_parasite(double h, double seed) {
  SCOPED_TRACE("s = " + std::to_string(S) + ", h = " + std::to_string(h));
  auto trajectory = guarded<SystemOf, S>(h, 1.0, seed);
  trajectory.run(static_cast<int>(100 * (S - 1) / h), 4);
  EXPECT_EQ(trajectory.status(), status_parasitic) << trajectory.steps();
  EXPECT_LT(trajectory.energy_error(), 5e-4);
  const double steps = trajectory.steps();
  trajectory.run(8, 4);
  EXPECT_EQ(trajectory.steps(), steps);  // it stays
}

TEST(Guard, FindsTheParasiteOfEveryMotionThatContracts) {
  for_stages<2, 3, 4, 8>([](auto s) {
    expect_parasite<ChaplyginSleigh, s()>(0.1, 1e-2);
    expect_parasite<ChaplyginSleigh, s()>(0.02, 1e-2);
    expect_parasite<Suslov, s()>(0.1, 1e-2);
  });
  expect_parasite<ChaplyginSleigh, 2>(0.05, 0.0);
  expect_parasite<ChaplyginSleigh, 3>(0.1, 0.0);
}

template <template <class> class SystemOf, int S>
void expect_none(double h, double time, double speed = 1.0) {
  SCOPED_TRACE("s = " + std::to_string(S) + ", h = " + std::to_string(h));
  auto trajectory = guarded<SystemOf, S>(h, speed);
  trajectory.run(static_cast<int>(time / h), 1);
  EXPECT_EQ(trajectory.status(), 0.0) << trajectory.steps();
}
template <class T>
using Contact = Chaotic<T, 2, ChaoticVariant::contact>;
template <class T>
using Printed = Chaotic<T, 2, ChaoticVariant::printed>;

TEST(Guard, TakesNoOtherMotionForAParasite) {
  for_stages<2, 3>([](auto s) {
    for (const double h : {0.1, 0.3}) {
      expect_none<NonholonomicParticle, s()>(h, 200.0);
      expect_none<VerticalDisc, s()>(h, 200.0);
      expect_none<Contact, s()>(h, 200.0);  // both start at rest
      expect_none<Printed, s()>(h, 200.0);
    }
    expect_none<PendulumCvt, s()>(0.2, 200.0);
    expect_none<PendulumCvt, s()>(0.1, 400.0, 1.5);  // rotating
    expect_none<IsokineticParticle, s()>(0.1, 100.0);
  });
}

/// At rest without forces all numbers of the rule are 0.
TEST(Guard, TakesRestForNoParasite) {
  auto at_rest = guarded<ChaplyginSleigh, 2>(0.1, 0.0);
  at_rest.run(100, 1);
  EXPECT_EQ(at_rest.status(), 0.0);
  EXPECT_EQ(at_rest.steps(), 100.0);
}

/// The rule has no units: neither the scale of the constraint nor that of the speed (with the step) moves the sample at which it holds.
TEST(Guard, HasNoUnits) {
  auto plain = guarded<ChaplyginSleigh, 2>(0x1p-5), fast = guarded<ChaplyginSleigh, 2>(0x1p-9, 16.0);
  auto scaled = guarded<ScaledSleigh, 2>(0x1p-5);
  for (auto* trajectory : {&plain, &fast}) trajectory->run(2000, 1);
  scaled.run(2000, 1);
  EXPECT_EQ(plain.status(), status_parasitic);
  EXPECT_EQ(scaled.status(), status_parasitic);
  EXPECT_EQ(fast.status(), status_parasitic);
  EXPECT_NEAR(scaled.steps(), plain.steps(), 2.0);
  EXPECT_NEAR(fast.steps(), plain.steps(), 2.0);
}

}  // namespace
}  // namespace rattleback
