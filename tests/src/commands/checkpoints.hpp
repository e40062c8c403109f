#pragma once
// Runs that are interrupted, through the executable.

#include <random>
#include <thread>

#include <signal.h>
#include <spawn.h>

#include "program.hpp"

using namespace std::chrono_literals;

/// Of everything that a checkpoint keeps: tiles, recorded trajectories, quantiles, histograms, values, joint
/// moments, crossings.
inline const std::string rich = chaotic + R"toml(covariance = ["q"]
[[observable]]
name = "q[1]"
histogram = { from = -2, to = 2, bins = 16 }
correlation = ["energy"]
values = true
[[observable]]
name = "work"
formula = "y2 p[0] - t"
statistics = ["mean", "mse"]
reference = "initial"
values = true
[[section]]
surface = "y2"
[[section]]
name = "momentum"
surface = "p[0] - 0.1 * v[1]"
direction = "both"
)toml";

/// Runs that go on while the test does something.
class Processes : public Program {
 protected:
  /// Starts `rattleback ARGUMENTS --quiet` in the scratch directory.
  pid_t start(const std::string& arguments) const {
    const std::string line = fmt::format("cd '{}' && {} && exec '{}' {} --quiet 2>> err", directory.string(),
                                         small_files, RATTLEBACK_PROGRAM, arguments);
    const char* argv[] = {"sh", "-c", line.c_str(), nullptr};
    pid_t child = 0;
    EXPECT_EQ(posix_spawnp(&child, "sh", nullptr, nullptr, const_cast<char**>(argv), environ), 0);
    return child;
  }
  /// Waits; the exit code, or -signal.
  static int wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  bool has(const std::string& name) const { return fs::exists(directory / name); }
  /// Waits until the child has made a file. Fails where the child ends before.
  void wait_for(pid_t child, const std::string& name) const {
    while (!has(name)) {
      siginfo_t ended{};
      ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
      if (ended.si_pid != 0 && !has(name)) FAIL() << name << " did not appear: " << read_file(directory / "err");
      std::this_thread::sleep_for(1ms);
    }
  }
};

class Checkpoint : public Processes {
 protected:
  ~Checkpoint() override { shell("umount disk"); }
  void SetUp() override {
    write("s.toml", rich);
    ASSERT_EQ(shell("$RB run s.toml --quiet -o reference.h5").exit_code, 0);
    reference = datasets(directory / "reference.h5");
  }

  std::string arguments() const { return "run s.toml -o a.h5 --tile 256 --set output.checkpoint=2ms"; }

  /// A run that can be interrupted after its first checkpoint. With a sanitizer its steps take many times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::string lengthened = "--set output.checkpoint=100 --set time.end=40 ";
#else
  const std::string lengthened = "--set output.checkpoint=1000 --set time.end=500 ";
#endif
  void interrupt_a_long_run(const std::string& more = "") {
    const pid_t child = start("run s.toml -o a.h5 " + lengthened + more);
    wait_for(child, "a.h5.checkpoint");
    kill(child, SIGINT);
    EXPECT_EQ(wait(child), 1);
    for (const char* file : {"a.h5.checkpoint", "a.h5.crossings", "a.h5.part"}) EXPECT_TRUE(has(file)) << file;
    EXPECT_FALSE(has("a.h5"));
  }
  void expect_resumed_like_an_undisturbed_run() {
    const Outcome outcome = shell("$RB resume a.h5 --quiet");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    expect_like_an_undisturbed_run();
  }
  void expect_like_an_undisturbed_run() {
    EXPECT_EQ(shell("$RB run s.toml --quiet -o b.h5 " + lengthened).exit_code, 0);
    EXPECT_TRUE(datasets(directory / "a.h5") == datasets(directory / "b.h5"));
    EXPECT_FALSE(has("a.h5.checkpoint") || has("a.h5.part") || has("a.h5.crossings"));
  }

  std::map<std::string, std::vector<char>> reference;
};
