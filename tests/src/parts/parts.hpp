#pragma once
// Ensembles in parts, through the executable.

#include <algorithm>
#include <numeric>

#include "commands/checkpoints.hpp"

/// Everything that a result can have, for 2600 trajectories: 11 chunks, the last one not full.
inline const std::string everything = R"toml([study]
name = "parts"
[system]
name = "chaotic"
variant = "contact"
[method]
name = "nonholonomic-lobatto"
stages = 2
[time]
step = 0.1
end = 6
sample_every = 6
[ensemble]
axes = [ { name = "a", from = 0.0, to = 0.2, count = 5 }, { name = "theta", from = 0.0, to = "pi/2", count = 520 } ]
group_by = ["a"]
[ensemble.initial]
q = ["cos(theta)", "0.6 + a", 0.4, 0.2, 1, 1, 1]
v = [0, "sin(theta)", 0, 0, 0, 0, 0]
[[observable]]
name = "energy"
reference = 3.06
statistics = ["mse", "mean", "std", "rms", "min", "max", "maxabs"]
quantiles = [0.05, 0.5]
correlation = ["q[1]"]
[[observable]]
name = "q[1]"
histogram = { from = -2, to = 2, bins = 16 }
values = true
[[observable]]
name = "lyapunov"
[[fit]]
observable = "energy"
statistic = "mse"
name = "line"
from = 1.0
model = "line"
[[fit]]
observable = "energy"
statistic = "mse"
name = "power"
from = 1.0
model = "power"
[[section]]
surface = "y2"
[[section]]
name = "momentum"
surface = "p[0] - 0.1 * v[1]"
direction = "both"
[output]
trajectories = [0, 255, 256, 511, 1300, 2599]
covariance = ["q"]
)toml";

class Parts : public Processes {
 protected:
  void SetUp() override {
    write("s.toml", everything);
    ASSERT_EQ(shell("$RB run s.toml -o single.h5 --quiet").exit_code, 0);
  }
  void expect_same(const std::string& result, const std::string& single = "single.h5") const {
    const Outcome outcome = shell(fmt::format("$RB diff {} {}", single, result));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
  /// Computes parts in a random order with these options, and merges them.
  void run_in_random_order(int parts, const std::string& options, const std::string& result) const {
    std::vector<int> order(static_cast<std::size_t>(parts));
    std::iota(order.begin(), order.end(), 1);
    std::ranges::shuffle(order, std::mt19937(static_cast<unsigned>(parts)));
    for (const int part : order) {
      const Outcome outcome = shell(fmt::format("$RB run {} -o {} --quiet --part {}/{}", options, result, part, parts));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
    const Outcome merged = shell(fmt::format("$RB merge {} --quiet", result));
    ASSERT_EQ(merged.exit_code, 0) << merged.err;
  }
  void expect_refusal(const std::string& command, const std::string& message) const {
    const std::vector<std::string> before = files();
    const Outcome outcome = shell(command);
    EXPECT_EQ(outcome.exit_code, 2) << command << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << command << "\n" << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(files(), before) << command;
  }
};
