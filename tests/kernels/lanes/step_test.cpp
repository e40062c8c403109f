// A step of a pack gives each trajectory the bits it would get alone, whatever becomes of its neighbours.

#include "lanes.hpp"

namespace rattleback {
namespace {

template <class T>
void expect_same_report(const StepReport<T>& pack, const StepReport<double>& alone, int k) {
  EXPECT_TRUE(same_bits(lane(pack.status, k), alone.status)) << lane(pack.status, k) << " and " << alone.status;
  EXPECT_TRUE(same_bits(lane(pack.iterations, k), alone.iterations));
  EXPECT_TRUE(same_bits(lane(pack.residual, k), alone.residual));
}

template <class C>
class StepTest : public LaneTest {
 protected:
  template <class T>
  using System = typename C::template of<T>;
  template <class T>
  using Step = LobattoStep<T, System<T>, C::stages>;
  using State = typename Step<double>::State;
  static constexpr int n = System<double>::n, m = System<double>::m;

  /// Steps a pack of trajectories and each of them alone; `step_size` is a function of the lane and the step.
  template <class StepSize>
  void expect_same_trajectories(std::vector<State> alone, StepSize step_size, int steps) {
    typename Step<Real>::State pack;
    pack.q = vector_from_lanes<n>([&](int k) { return alone[k].q; });
    pack.p = vector_from_lanes<n>([&](int k) { return alone[k].p; });
    pack.lambda = vector_from_lanes<m>([&](int k) { return alone[k].lambda; });
    const Step<Real> step(make_system<System<Real>>([&](int i) { return Real(parameter(i)); }), {Real(1e-14), 50});
    const Step<double> step_alone(make_system<System<double>>(parameter), {1e-14, 50});
    for (int i = 0; i < steps; ++i) {
      const auto report = step(pack, from_lanes([&](int k) { return step_size(k, i); }));
      for (int k = 0; k < width; ++k) {
        SCOPED_TRACE("lane " + std::to_string(k) + ", step " + std::to_string(i));
        const auto report_alone = step_alone(alone[k], step_size(k, i));
        failures_[k] += report_alone.status != 0.0;
        expect_same_report(report, report_alone, k);
        EXPECT_TRUE(same_bits(lane(pack.q, k), alone[k].q));
        EXPECT_TRUE(same_bits(lane(pack.p, k), alone[k].p));
        EXPECT_TRUE(same_bits(lane(pack.lambda, k), alone[k].lambda));
        if (this->HasFailure()) return;
      }
    }
  }

  std::vector<State> random_starts() {
    Random random(C::stages);
    const auto system = make_default<System<double>>();
    std::vector<State> starts;
    for (int k = 0; k < width; ++k) starts.push_back(random_start(system, random));
    return starts;
  }
  void expect_failures_only_in(int failing) {
    for (int k = 0; k < width; ++k) EXPECT_EQ(failures_[k] > 0, k == failing) << "lane " << k;
  }

  static double parameter(int i) { return System<double>::parameters()[i].value; }
  static double usual_step(int k, int) { return 0.03 + 0.01 * k; }

 private:
  int failures_[width] = {};
};

using Cases = CatalogueCases<2, 3, 4, 5>;
TYPED_TEST_SUITE(StepTest, Cases, Names);

TYPED_TEST(StepTest, LanesAreIndependentTrajectories) {
  this->expect_same_trajectories(this->random_starts(), this->usual_step, 200);
  this->expect_failures_only_in(-1);
}

TYPED_TEST(StepTest, ALaneThatIsNotANumberLeavesTheOthersAlone) {
  for (int failing : {0, width - 1}) {
    auto starts = this->random_starts();
    starts[failing].p[0] = std::numeric_limits<double>::quiet_NaN();
    this->expect_same_trajectories(starts, this->usual_step, 20);
  }
}

TYPED_TEST(StepTest, ALaneWithAHugeStepLeavesTheOthersAlone) {
  const int failing = width / 2;
  // a single huge step, and the aftermath of it
  const auto step_size = [&](int k, int i) { return k == failing && i == 10 ? 1e200 : this->usual_step(k, i); };
  this->expect_same_trajectories(this->random_starts(), step_size, 40);
  this->expect_failures_only_in(failing);
}

}  // namespace
}  // namespace rattleback
