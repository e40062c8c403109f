// Interrupted runs, through the executable: whatever stops a run, the result in the end has the bits of an undisturbed one.

#include "checkpoints.hpp"

namespace {

TEST_F(Checkpoint, SurvivesFiftyKills) {
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(wait(start(arguments())), 0);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(datasets(directory / "a.h5") == reference);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> moment(0.0, 1.2 * whole.count());
  double patience = 1;  // grows while no run ends: the machine may have become busy since `whole` was measured
  int kills = 0, resumed = 0, finished = 0;
  // Of a run this short many are killed before there is a checkpoint.
  while (kills < 50 || finished < 2 || (resumed < 6 && kills < 1000)) {
    fs::remove(directory / "a.h5");
    while (!has("a.h5")) {
      const bool resume = has("a.h5.checkpoint") && (has("a.h5.part") || has("a.h5.part.damaged"));
      const pid_t child = start(resume ? "resume a.h5" : arguments());
      std::this_thread::sleep_for(std::chrono::duration<double>(patience * moment(random)));
      kill(child, SIGKILL);
      const int code = wait(child);
      ASSERT_TRUE(code == 0 || code == -SIGKILL) << code << read_file(directory / "err");
      kills += code != 0;
      resumed += resume;
      patience *= 1.05;
    }
    ++finished;
    patience = 1;
    ASSERT_TRUE(datasets(directory / "a.h5") == reference) << "after " << kills << " kills";
  }
  EXPECT_GT(resumed, 5);
}

TEST_F(Checkpoint, InterruptIsLikeNothing) {
  interrupt_a_long_run();
  EXPECT_NE(read_file(directory / "err").find("interrupted; 'rattleback resume a.h5' continues it"), std::string::npos);
  expect_resumed_like_an_undisturbed_run();
}

TEST_F(Checkpoint, GoesOnWithOtherThreadsAndInstructions) {
  interrupt_a_long_run("--backend cpu --threads 1 --tile 256");
  EXPECT_EQ(shell("$RB run s.toml --quiet -o b.h5 " + lengthened).exit_code, 0);
  EXPECT_EQ(shell("$RB resume a.h5 --quiet --backend cpu:scalar --threads 3").exit_code, 0);
  EXPECT_TRUE(datasets(directory / "a.h5") == datasets(directory / "b.h5"));
}

TEST_F(Checkpoint, TerminationLeavesAnEarlierResultAlone) {
  fs::copy(directory / "reference.h5", directory / "a.h5");
  const std::string before = read_file(directory / "a.h5");
  const pid_t child = start("run s.toml -o a.h5 --set time.end=1000000 --set time.sample_every=100000");
  std::this_thread::sleep_for(500ms);
  kill(child, SIGTERM);
  EXPECT_EQ(wait(child), 1);
  EXPECT_EQ(read_file(directory / "a.h5"), before);
  EXPECT_TRUE(has("a.h5.checkpoint"));
}

TEST_F(Checkpoint, ARunDoesNotOverwriteAnInterruptedOne) {
  interrupt_a_long_run();
  const Outcome outcome = shell("$RB run s.toml --quiet -o a.h5");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("holds an interrupted run"), std::string::npos) << outcome.err;
  expect_resumed_like_an_undisturbed_run();
}

TEST_F(Checkpoint, TwoRunsDoNotShareAResult) {
  const pid_t child = start("run s.toml -o a.h5 --set time.end=1000000 --set time.sample_every=100000");
  wait_for(child, "a.h5.part");
  const Outcome outcome = shell("$RB run s.toml --quiet -o a.h5");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("another run is writing this result"), std::string::npos) << outcome.err;
  kill(child, SIGKILL);
  EXPECT_EQ(wait(child), -SIGKILL);
}

TEST_F(Checkpoint, APartThatHdf5CannotOpenIsMadeAnew) {
  interrupt_a_long_run("--tile 256");
  std::fstream part(directory / "a.h5.part", std::ios::binary | std::ios::in | std::ios::out);
  part.seekp(512);  // behind the mark
  part << "killed while this was being written";
  part.close();
  expect_resumed_like_an_undisturbed_run();
}

TEST_F(Checkpoint, DamagedForeignAndFinishedFilesAreRefused) {
  const auto refuses = [&](const std::string& file, const std::string& message) {
    const std::vector<std::string> before = files();
    const Outcome outcome = shell("$RB resume " + file);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_EQ(files(), before);
  };
  refuses("nothing.h5", "nothing.h5: has no checkpoint to go on from");
  refuses("reference.h5", "reference.h5: is finished");
  write("foreign.h5", "no HDF5");
  refuses("foreign.h5", "foreign.h5: cannot be read");
  interrupt_a_long_run();
  fs::remove(directory / "err");
  const std::string good = read_file(directory / "a.h5.checkpoint");
  write("a.h5.checkpoint", good.substr(0, good.size() / 2));
  refuses("a.h5", "a.h5.checkpoint: cannot be read (damaged");
  std::string flipped = good;
  flipped[flipped.size() * 3 / 4] ^= 1;
  write("a.h5.checkpoint", flipped);
  refuses("a.h5", "a.h5.checkpoint: is damaged");
  fs::copy_file(directory / "reference.h5", directory / "a.h5.checkpoint", fs::copy_options::overwrite_existing);
  refuses("a.h5", "a.h5.checkpoint: is not a checkpoint");
  write("a.h5.checkpoint", good);
  fs::rename(directory / "a.h5.part", directory / "elsewhere");
  refuses("a.h5", "a.h5.part: is gone, and the interrupted run needs it");
  fs::rename(directory / "elsewhere", directory / "a.h5.part");
  EXPECT_EQ(shell("$RB resume a.h5 --quiet").exit_code, 0);
  refuses("a.h5", "a.h5: is finished");
}

TEST_F(Checkpoint, AChangedFileOfInitialStatesIsRefused) {
  fs::copy(std::string(RATTLEBACK_EXAMPLES) + "/from-file.csv", directory / "from-file.csv");
  fs::copy(std::string(RATTLEBACK_EXAMPLES) + "/from-file.toml", directory / "f.toml");
  const pid_t child = start("run f.toml -o f.h5 --set output.checkpoint=1ms --set time.end=100000");
  wait_for(child, "f.h5.checkpoint");
  kill(child, SIGINT);
  EXPECT_EQ(wait(child), 1);
  std::string rows = read_file(directory / "from-file.csv");
  const std::size_t last = rows.rfind('\n', rows.size() - 2) + 1;
  write("from-file.csv", rows + rows.substr(last));
  const Outcome outcome = shell("$RB resume f.h5");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("has changed since the run began"), std::string::npos) << outcome.err;
}

TEST_F(Checkpoint, AFileLargerThanTheLimitIsRefusedBeforeTheRun) {
  const std::string run = "ulimit -f 20000; $RB run s.toml --quiet -o a.h5";
  const Outcome outcome = shell(run + " --set 'ensemble.axes[0].count=600000'");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("MiB and a file may have 9.766 MiB here"), std::string::npos) << outcome.err;
  EXPECT_FALSE(has("a.h5.part"));
  EXPECT_EQ(shell(run).exit_code, 0);
}

TEST_F(Checkpoint, AFullDiskCostsNothing) {
  fs::create_directory(directory / "disk");
  if (shell("mount -t tmpfs -o size=50m tmpfs disk").exit_code != 0) GTEST_SKIP() << "cannot mount a small file system";
  ASSERT_EQ(shell("$RB run s.toml --quiet -o disk/a.h5").exit_code, 0);
  const std::string before = read_file(directory / "disk/a.h5");
  // the size of a result is known before the run
  const Outcome early = shell("$RB run s.toml --quiet -o disk/a.h5 --set 'ensemble.axes[0].count=60000000'");
  EXPECT_EQ(early.exit_code, 2);
  EXPECT_NE(early.err.find("the disk has"), std::string::npos) << early.err;
  // its space is taken at once; the crossings are what finds the disk full
  const Outcome late = shell("$RB run s.toml --quiet -o disk/a.h5 " + lengthened);
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_TRUE(late.err.find("No space left on device") != std::string::npos ||
              late.err.find("the disk is full") != std::string::npos)
      << late.err;
  EXPECT_NE(late.err.find("'rattleback resume disk/a.h5' continues it"), std::string::npos) << late.err;
  EXPECT_EQ(read_file(directory / "disk/a.h5"), before);
  ASSERT_EQ(shell("mount -o remount,size=500m disk").exit_code, 0);
  EXPECT_EQ(shell("$RB run s.toml --quiet -o b.h5 " + lengthened).exit_code, 0);
  EXPECT_EQ(shell("$RB resume disk/a.h5 --quiet").exit_code, 0);
  EXPECT_TRUE(datasets(directory / "disk/a.h5") == datasets(directory / "b.h5"));
}

}  // namespace
