// Ensembles in parts, through the executable: the merged result has the bits of a single run.

#include <cmath>

#include <sys/stat.h>

#include "parts.hpp"

namespace {

TEST_F(Parts, InAnyOrderMergeIntoTheBitsOfOneRun) {
  for (const int parts : {1, 2, 3, 7, 11}) {
    run_in_random_order(parts, "s.toml", fmt::format("r{}.h5", parts));
    expect_same(fmt::format("r{}.h5", parts));
  }
}

TEST_F(Parts, SixtyFourOfThemMergeIntoTheBitsOfOneRun) {
  const std::string larger = "s.toml --set 'ensemble.axes[1].count=3333' --set time.end=3.0";
  ASSERT_EQ(shell("$RB run " + larger + " -o large.h5 --quiet").exit_code, 0);
  run_in_random_order(64, larger, "r.h5");
  expect_same("r.h5", "large.h5");
}

TEST_F(Parts, OfRandomisationsMergeIntoTheBitsOfOneRun) {
  std::string study = everything;
  const std::size_t begin = study.find("axes ="), end = study.find("group_by");
  study.replace(begin, end - begin, R"(draws = 1024
randomisations = 8
axes = [ { name = "a", values = [0.0, 0.1, 0.2] }, { name = "theta", distribution = "sobol", from = 0, to = 1.5, seed = 3 } ]
)");
  write("random.toml", study);
  const Outcome single = shell("$RB run random.toml -o random.h5 --quiet");
  ASSERT_EQ(single.exit_code, 0) << single.err;
  run_in_random_order(5, "random.toml", "r.h5");
  expect_same("r.h5", "random.h5");
}

TEST_F(Parts, WithStopsMergeIntoTheBitsOfOneRun) {
  write("stops.toml", everything + R"toml(
[[stop]]
name = "turned"
section = "0"
count = 2
[[stop]]
name = "far"
when = "q[0] - 1.2"
quantiles = [0.25, 0.5]
[[fate]]
name = "slow"
where = "t > 0.5"
[[fate]]
name = "far"
stop = "far"
)toml");
  const Outcome single = shell("$RB run stops.toml -o stops.h5 --quiet");
  ASSERT_EQ(single.exit_code, 0) << single.err;
  run_in_random_order(3, "stops.toml", "r.h5");
  expect_same("r.h5", "stops.h5");
}

TEST_F(Parts, OfAFileOfInitialStatesMergeIntoTheBitsOfOneRun) {
  std::string rows = "q0,q1,q2,q3,q4,q5,q6,v0,v1,v2,v3,v4,v5,v6,h\n";
  for (int k = 0; k < 1000; ++k)
    rows += fmt::format("{0},0.6,0.4,0.2,1,1,1,0,{1},0,0,0,0,0,{2}\n", std::cos(0.001 * k), std::sin(0.001 * k),
                        k % 3 == 1 ? 0.05 : 0.1);
  write("states.csv", rows);
  const std::size_t begin = everything.find("axes ="), end = everything.find("[[observable]]");
  for (const std::string file : {"single.h5", "states.csv"}) {
    std::string study = everything;
    study.replace(begin, end - begin, "file = \"" + file + "\"\n");
    if (file == "states.csv") {  // steps from a column: those of trajectory 0 set the sample times
      study.replace(study.find("step = 0.1"), 10, "step = \"h\"");
      study.replace(study.find("sample_every = 6"), 16, "samples = 10");
    }
    study.replace(study.find("[0, 255, 256, 511, 1300, 2599]"), 30, "[0, 255, 256, 511, 999]");
    write("f.toml", study);
    const Outcome single = shell("$RB run f.toml -o file.h5 --quiet");
    ASSERT_EQ(single.exit_code, 0) << single.err;
    run_in_random_order(3, "f.toml", "r-" + file + ".h5");
    expect_same("r-" + file + ".h5", "file.h5");
  }
}

TEST_F(Parts, AWorkerAloneDoesAll) {
  ASSERT_EQ(shell("$RB run s.toml -o r.h5 --parts 5 --worker --quiet").exit_code, 0);
  EXPECT_FALSE(fs::exists(directory / "r.h5"));
  const auto status = nlohmann::json::parse(shell("$RB status r.h5 --json").out);
  EXPECT_EQ(status.at("finished"), 5);
  EXPECT_EQ(status.at("missing").size(), 0u);
  ASSERT_EQ(shell("$RB merge r.h5 --quiet").exit_code, 0);
  expect_same("r.h5");
  // without --worker the parts are merged and removed
  ASSERT_EQ(shell("$RB run s.toml -o all.h5 --parts 4 --quiet").exit_code, 0);
  expect_same("all.h5");
  EXPECT_FALSE(fs::exists(directory / "all.h5.parts"));
}

TEST_F(Parts, ThreeRacingWorkersSurviveFiftyKills) {
  const std::string arguments =
      "run s.toml -o r.h5 --parts 11 --worker --threads 1 --set time.end=120 "
      "--set output.checkpoint=20ms --tile 256";
  ASSERT_EQ(shell("$RB run s.toml -o long.h5 --quiet --set time.end=120 --set output.checkpoint=20ms").exit_code, 0);
  std::mt19937 random(7);
  std::vector<pid_t> workers(3, 0);
  int kills = 0, taken_over = 0;
  while (kills < 50) {
    fs::remove_all(directory / "r.h5.parts");
    fs::remove(directory / "r.h5");
    for (bool finished = false; !finished;) {
      for (pid_t& worker : workers)
        if (worker == 0) worker = start(arguments);
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
      pid_t& victim = workers[random() % workers.size()];
      if (kills < 50) kill(victim, SIGKILL);
      std::error_code code;
      for (const auto& entry : fs::directory_iterator(directory / "r.h5.parts", code))
        taken_over += fs::is_directory(entry.path(), code) && !entry.path().filename().string().ends_with("-0");
      for (pid_t& worker : workers) {
        int status = 0;
        if (worker == 0 || waitpid(worker, &status, kills < 50 ? WNOHANG : 0) == 0) continue;
        worker = 0;
        if (WIFSIGNALED(status)) {
          ++kills;
        } else {
          ASSERT_EQ(WEXITSTATUS(status), 0) << read_file(directory / "err");
          finished = true;
        }
      }
    }
    for (pid_t& worker : workers) {
      if (worker == 0) continue;
      int ended = wait(std::exchange(worker, 0));
      if (ended == -SIGKILL) {  // the last victim was not gone yet when another worker had finished
        ++kills;
        ended = wait(start(arguments));
      }
      EXPECT_EQ(ended, 0) << read_file(directory / "err");
    }
    const Outcome merged = shell("$RB merge r.h5 --quiet");
    ASSERT_EQ(merged.exit_code, 0) << merged.err;
    expect_same("r.h5", "long.h5");
  }
  EXPECT_GT(taken_over, 0);  // some work of killed workers was continued
}

TEST_F(Parts, RanksOfMpiGiveTheBitsOfOneRun) {
  if (shell("command -v mpirun").exit_code != 0) GTEST_SKIP() << "mpirun is not installed (package openmpi-bin)";
  const std::string mpirun = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 4 ";
  const Outcome alive = shell(mpirun + "true");
  if (alive.exit_code != 0) GTEST_SKIP() << "mpirun starts no processes here: " << alive.err;
  const Outcome outcome = shell(mpirun + "$RB run s.toml -o r.h5 --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("trajectories"), 2600);  // one rank tells
  expect_same("r.h5");
  EXPECT_FALSE(fs::exists(directory / "r.h5.parts"));
}

TEST_F(Parts, RanksAreFoundInTheEnvironment) {
  for (const auto& [rank, size] : {std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                   {"PMI_RANK", "PMI_SIZE"},
                                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}) {
    const std::string result = fmt::format("{}.h5", rank);
    const auto run = [&](int k) {
      return fmt::format("{}={} {}=2 SLURM_JOB_ID=7 SLURM_STEP_ID=1 $RB run s.toml -o {} --quiet", rank, k, size,
                         result);
    };
    const Outcome outcome = shell(fmt::format("{} & {}; one=$?; wait $!; test $one$? = 00", run(0), run(1)));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    expect_same(result);
    const auto time = fs::last_write_time(directory / result);
    EXPECT_EQ(shell(run(1)).exit_code, 0);  // a rank that starts when all is done
    EXPECT_EQ(fs::last_write_time(directory / result), time);
    EXPECT_FALSE(fs::exists(directory / (result + ".parts")));
  }
}

TEST_F(Parts, AnotherRankMergesWhenRankZeroIsLost) {
  const Outcome outcome = shell("PMI_RANK=1 PMI_SIZE=2 $RB run s.toml -o r.h5 --quiet --stale 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_same("r.h5");
  EXPECT_FALSE(fs::exists(directory / "r.h5.parts"));
}

TEST_F(Parts, JobScriptsNameTheStudyTheResultAndTheParts) {
  fs::create_directory(directory / "it's here");
  fs::copy_file(directory / "s.toml", directory / "it's here" / "s.toml");
  for (const char* engine : {"--slurm", "--mpi", "--hyperqueue"}) {
    const Outcome outcome =
        shell(fmt::format("$RB job \"it's here/s.toml\" --parts 4 {} --set time.end=3.0 -o \"it's "
                          "here/r.h5\" > job.sh && bash -n job.sh && cat job.sh",
                          engine));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const char* text : {" compile ", " run ", "it'", "s here/s.toml", "--set='time.end=3.0'", "s here/r.h5"})
      EXPECT_NE(outcome.out.find(text), std::string::npos) << engine << text << outcome.out;
  }
  expect_refusal("$RB job s.toml --parts 4", "needs one engine");
  expect_refusal("$RB job s.toml --parts 4 --mpi --slurm", "needs one engine");
  expect_refusal("$RB job s.toml --parts 12 --mpi", "12 parts are not possible");
  // The script of HyperQueue, with a stand-in that runs the tasks one after the other.
  write("hq",
        "#!/bin/bash\nwhile [[ $1 != -- ]]; do shift; done; shift\nfor HQ_TASK_ID in 1 2 3 4; do export HQ_TASK_ID; "
        "\"$@\" || exit 1; done\n");
  const Outcome outcome = shell(
      "chmod +x hq; PATH=$PWD:$PATH; $RB job s.toml --parts 4 --hyperqueue -o h.h5 > job.sh && bash "
      "job.sh --cpus=1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_same("h.h5");
}

TEST_F(Parts, ALinkedResultReadsTheParts) {
  ASSERT_EQ(shell("$RB run s.toml -o r.h5 --parts 5 --worker --quiet").exit_code, 0);
  ASSERT_EQ(shell("$RB merge r.h5 --virtual --quiet").exit_code, 0);
  expect_same("r.h5");
  EXPECT_LT(fs::file_size(directory / "r.h5"), fs::file_size(directory / "single.h5") / 10);
  fs::rename(directory / "r.h5.parts" / "004-of-005.h5", directory / "away.h5");
  const Outcome outcome = shell("$RB diff r.h5 single.h5");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("its part 'r.h5.parts/004-of-005.h5' is needed, and cannot be read: No such file"),
            std::string::npos)
      << outcome.err;
  ASSERT_EQ(mkfifo((directory / "r.h5.parts" / "004-of-005.h5").c_str(), 0600), 0);
  EXPECT_NE(shell("timeout 20 $RB diff r.h5 single.h5").err.find("it is not a regular file"), std::string::npos);
}

TEST_F(Parts, RanksWithoutACommonFileSystemSendTheirParts) {
  const std::string mpirun = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe";
  if (shell(mpirun + " -n 1 true").exit_code != 0)
    GTEST_SKIP() << "mpirun starts no processes here (package openmpi-bin)";
  const Outcome plugin = shell("$RB run s.toml -o alone.h5 --gather --quiet");
  if (plugin.err.find("needs the plugin for MPI") != std::string::npos) GTEST_SKIP() << plugin.err;
  ASSERT_EQ(plugin.exit_code, 0) << plugin.err;
  expect_same("alone.h5");
  std::string ranks;
  for (int k = 0; k < 4; ++k) {
    fs::create_directory(directory / fmt::format("disk{}", k));
    ranks += fmt::format("{} -n 1 $RB run s.toml -o disk{}/r.h5 --gather --parts 7 --quiet", k == 0 ? "" : " :", k);
  }
  const Outcome outcome = shell(mpirun + ranks);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  expect_same("disk0/r.h5");
  EXPECT_FALSE(fs::exists(directory / "disk0" / "r.h5.parts"));
  for (int k = 1; k < 4; ++k) EXPECT_TRUE(fs::is_empty(directory / fmt::format("disk{}", k)));
  expect_refusal("RATTLEBACK_MPI=/nowhere/mpi.so $RB run s.toml -o q.h5 --gather", "needs the plugin for MPI");
}

TEST_F(Parts, ARankThatIsLostWhileItSendsCostsItsPartsOnly) {
  const Outcome outcome =
      shell("RATTLEBACK_MPI=" RATTLEBACK_SILENT_RANK " $RB run s.toml -o r.h5 --gather --parts 4 --stale 60 --quiet");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("rank 1 is silent: rank 0 computes its parts"), std::string::npos) << outcome.err;
  expect_same("r.h5");
  EXPECT_FALSE(fs::exists(directory / "r.h5.parts"));
}

}  // namespace
