// What an interrupted run leaves is used as it was left, or not at all.

#include "checkpoints.hpp"

namespace {

class Leftovers : public Checkpoint {
 protected:
  /// Everything in the scratch directory, byte by byte.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const std::string& name : files())
      all[name] = fs::is_symlink(directory / name) ? "" : read_file(directory / name);
    return all;
  }
  /// `resume a.h5` ends with one line, exit code 2, and nothing changed.
  void expect_refused(const std::string& message) const {
    const auto before = contents();
    const Outcome outcome = shell("$RB resume a.h5 --quiet");
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(contents() == before) << message;
  }
  void flip(const std::string& name, std::uint64_t position) const {
    std::fstream file(directory / name, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(position));
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(static_cast<std::streamoff>(position));
    file.put(byte);
  }
};

TEST_F(Leftovers, ADamagedFileOfCrossingsIsRefused) {
  interrupt_a_long_run("--tile 256");
  fs::remove(directory / "err");
  const std::string good = read_file(directory / "a.h5.crossings");
  ASSERT_GT(good.size(), 2000u);
  fs::rename(directory / "a.h5.crossings", directory / "elsewhere");
  expect_refused("a.h5.crossings: is gone");
  write("a.h5.crossings", "");
  expect_refused("a.h5.crossings: is not what the interrupted run has left");
  write("a.h5.crossings", good);
  flip("a.h5.crossings", 1000);
  expect_refused("a.h5.crossings: is not what the interrupted run has left");
  write("a.h5.crossings", good.substr(0, 1000));
  expect_refused("a.h5.crossings: is not what the interrupted run has left");
  fs::remove(directory / "a.h5.crossings");
  fs::create_symlink("elsewhere", directory / "a.h5.crossings");
  expect_refused("a.h5.crossings: is not what the interrupted run has left");
  fs::rename(directory / "elsewhere", directory / "a.h5.crossings");
  expect_resumed_like_an_undisturbed_run();
}

TEST_F(Leftovers, ADamagedPartIsRefused) {
  interrupt_a_long_run("--tile 256");
  fs::remove(directory / "err");
  const std::string good = read_file(directory / "a.h5.part");
  write("a.h5.part", "");
  expect_refused("a.h5.part: is not what the interrupted run has left");
  fs::copy_file(directory / "reference.h5", directory / "a.h5.part", fs::copy_options::overwrite_existing);
  expect_refused("a.h5.part: is not what the interrupted run has left");
  write("a.h5.part", good.substr(0, good.size() / 4));
  expect_refused("a.h5.part: is not what the interrupted run has left");
  // the first of the initial states, wherever they lie
  const std::vector<char> q = datasets(directory / "reference.h5").at("initial/q");
  write("a.h5.part", good);
  flip("a.h5.part", good.find(std::string(q.begin(), q.begin() + 256)) + 3);
  expect_refused("a.h5.part: is not what the interrupted run has left");
  write("a.h5.part", good);
  expect_resumed_like_an_undisturbed_run();
}

TEST_F(Leftovers, ValuesInAFileAreChecked) {
  // so many that they do not fit the memory meant for them
  const std::string many =
      "--set ensemble.axes[0].count=300000 --set time.end=12 --set time.sample_every=1 "
      "--set output.trajectories=[] --set output.checkpoint=1ms ";
  const pid_t child = start("run s.toml -o a.h5 --tile 20000 " + many);
  wait_for(child, "a.h5.checkpoint");
  kill(child, SIGINT);
  ASSERT_EQ(wait(child), 1) << read_file(directory / "err");
  fs::remove(directory / "err");
  ASSERT_TRUE(has("a.h5.values"));
  fs::rename(directory / "a.h5.values", directory / "elsewhere");
  expect_refused("a.h5.values: is gone");
  std::ofstream(directory / "a.h5.values") << "rattleback run 0123456789abcdef0123456789abcdef\n";
  expect_refused("a.h5.values: is not what the interrupted run has left");
}

/// The writer is behind the steps, by some rounds of output or by the end of a tile, when it fails.
TEST_F(Leftovers, AFileThatGrowsTooLargeLeavesACheckpoint) {
  write("s.toml", R"toml([system]
name = "henon-heiles"
[method]
name = "lobatto"
stages = 2
[ensemble]
axes = [ { name = "a", from = -0.2, to = 0.3, count = 1500 } ]
[ensemble.initial]
q = [0, "a"]
v = [0.35, 0.1]
[time]
step = 0.05
steps = 2000
samples = 20
[[observable]]
name = "energy"
quantiles = [0.5]
[[section]]
surface = "q[0]"
)toml");
  ASSERT_EQ(shell("$RB run s.toml --quiet -o b.h5").exit_code, 0);
  int continued = 0;
  for (const auto& [tile, blocks] : {std::pair{256, 1200}, {256, 3000}, {512, 2500}, {1500, 3500}}) {
    const Outcome outcome = shell(fmt::format("ulimit -f {}; $RB run s.toml --quiet -o a.h5 --tile {}", blocks, tile));
    ASSERT_EQ(outcome.exit_code, 1) << outcome.err;
    if (!has("a.h5.checkpoint")) continue;  // it was too large as well
    ++continued;
    EXPECT_EQ(shell("$RB resume a.h5 --quiet").exit_code, 0);
    EXPECT_TRUE(datasets(directory / "a.h5") == datasets(directory / "b.h5")) << tile << " " << blocks;
    fs::remove(directory / "a.h5");
  }
  EXPECT_GE(continued, 2);
}

TEST_F(Leftovers, FilesOfAnotherRunAreRefused) {
  interrupt_a_long_run("--tile 256");
  for (const char* file : {"a.h5.part", "a.h5.checkpoint", "a.h5.crossings"})
    fs::rename(directory / file, directory / ("other-" + std::string(file)));
  interrupt_a_long_run("--tile 256 --set 'ensemble.axes[0].to=1.0'");  // the same shapes
  fs::remove(directory / "err");
  for (const char* file : {"a.h5.part", "a.h5.checkpoint", "a.h5.crossings"}) {
    const std::string own = read_file(directory / file);
    fs::copy_file(directory / ("other-" + std::string(file)), directory / file, fs::copy_options::overwrite_existing);
    expect_refused("is not what the interrupted run has left");
    write(file, own);
  }
  EXPECT_EQ(shell("$RB resume a.h5 --quiet").exit_code, 0);
}

TEST_F(Leftovers, AKillWhileThePartIsMadeAnewCostsNothing) {
  interrupt_a_long_run("--tile 256");
  flip("a.h5.part", 520);  // the description of the file, not its data
  for (int i = 0; i < 5; ++i) {
    const pid_t child = start("resume a.h5");
    std::this_thread::sleep_for(std::chrono::milliseconds(4 << i));
    kill(child, SIGKILL);
    wait(child);
  }
  if (has("a.h5.checkpoint")) {  // no kill came too late
    EXPECT_EQ(shell("$RB resume a.h5 --quiet").exit_code, 0);
  }
  expect_like_an_undisturbed_run();
}

TEST_F(Leftovers, CheckpointsTakeASmallShareOfTheTime) {
  const auto seconds = [&](const std::string& interval) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(shell("$RB run s.toml --quiet -o a.h5 --set time.end=600 --set output.checkpoint=" + interval).exit_code,
              0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double most = 1.5 * seconds("off") + 0.5;  // other processes take their share of the time, too
  EXPECT_LT(seconds("1ms"), most);
  EXPECT_LT(seconds("1"), most);  // after every step
}

TEST_F(Leftovers, ALostTerminalLeavesACheckpoint) {
  const pid_t child = start("run s.toml -o a.h5 --set time.end=1000000 --set time.sample_every=100000");
  wait_for(child, "a.h5.part");
  std::this_thread::sleep_for(200ms);
  kill(child, SIGHUP);
  EXPECT_EQ(wait(child), 1);
  EXPECT_TRUE(has("a.h5.checkpoint"));
}

TEST_F(Leftovers, AFileSizeLimitIsNamed) {
  // enough for the result, of which the size is known before the run, but not for the crossings
  const Outcome outcome = shell("ulimit -f 1200; $RB run s.toml --quiet -o a.h5");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_NE(outcome.err.find("a.h5"), std::string::npos) << outcome.err;
}

}  // namespace
