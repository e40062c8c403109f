// bench/paths: the paths of a row are timed, and a rival that is faster is named.

#include <cstdio>

#include "../../../bench/paths/paths.hpp"
#include "lanes.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"

namespace rattleback {
namespace {

using Magnetic = MagneticPendulum<Real, 3>;

/// Times of `turns` turns around `mean`, with a spread of 4 %.
std::vector<double> times_around(double mean, int turns) {
  std::vector<double> times;
  for (int k = 0; k < turns; ++k) times.push_back(mean * (1.0 + 0.01 * ((k * 7) % 9 - 4)));
  return times;
}
Paths with_times(const std::vector<double>& chosen, const std::vector<double>& rival) {
  const auto none = [] { return 0.0; };
  return {"system", "method", {{"one", true, none, chosen}, {"other", false, none, rival}}};
}

TEST(PathsOfSteps, ARivalThatIsFasterIsNamed) {
  EXPECT_TRUE(with_times(times_around(10.0, 41), times_around(10.0, 41)).print());
  EXPECT_TRUE(with_times(times_around(10.0, 41), times_around(30.0, 41)).print());
  EXPECT_TRUE(with_times(times_around(10.4, 41), times_around(10.0, 41)).print());  // by 4 %
  testing::internal::CaptureStdout();
  EXPECT_FALSE(with_times(times_around(11.0, 41), times_around(10.0, 41)).print());  // by 10 %
  EXPECT_NE(testing::internal::GetCapturedStdout().find("other 10.0: 1.10 ± 0.00 **faster**"), std::string::npos);
}
TEST(PathsOfSteps, NoiseNamesNoRival) {
  // 6 % faster, but the turns differ by a factor of two
  std::vector<double> chosen = times_around(10.6, 9);
  const double slow[] = {1.0, 2.0, 1.1, 0.6, 1.4, 0.9, 1.7, 1.0, 0.7};
  for (int k = 0; k < 9; ++k) chosen[static_cast<std::size_t>(k)] *= slow[k];
  EXPECT_TRUE(with_times(chosen, times_around(10.0, 9)).print());
}
TEST(PathsOfSteps, AChosenPathWithoutSolutionIsAFailure) {
  Paths row = with_times(times_around(10.0, 9), times_around(20.0, 9));
  row.paths[0].nanoseconds = {};
  EXPECT_FALSE(row.print());
  row = with_times(times_around(10.0, 9), {});
  row.paths[1].nanoseconds = {};  // a rival without one is none
  EXPECT_TRUE(row.print());
}
TEST(PathsOfSteps, StepsAreTimedInTurns) {
  const auto system = default_system<Magnetic>();
  Paths row{"magnetic pendulum", "holonomic-lobatto", {}};
  row.paths.push_back(Path::of<TwoStageSweeps<Real, Magnetic>>("two stages", true, system));
  row.paths.push_back(Path::of<StageSweeps<Real, Magnetic, 2>>("stages", false, system));
  row.take(3);
  for (const Path& path : row.paths) {
    ASSERT_TRUE(path.nanoseconds) << path.name;
    ASSERT_EQ(path.times.size(), 3u) << path.name;
    for (const double time : path.times) EXPECT_GT(time, 0.0) << path.name;
  }
}

}  // namespace
}  // namespace rattleback
