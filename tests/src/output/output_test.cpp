// Where results may be written: nothing that a user has is lost.

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "program.hpp"

namespace {

class Output : public Program {
 protected:
  void SetUp() override { write("s.toml", chaotic); }

  /// The command ends with one line that says this, exit code 2, and nothing in the directory changes.
  void expect_refused(const std::string& command, const std::string& message) const {
    const auto listing = [&] { return shell("find . ! -name out ! -name err -printf '%p %y %s %l\\n' | sort").out; };
    const std::string before = listing();
    const Outcome outcome = shell(command);
    EXPECT_EQ(outcome.exit_code, 2) << command << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << command << ": " << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(listing(), before) << command;
  }
  const std::string run = "$RB run s.toml --quiet --set time.end=1 -o ";
};

TEST_F(Output, DoesNotReplaceWhatTheRunReads) {
  const std::string input = "is an input of this run";
  expect_refused(run + "s.toml", "says another format");
  fs::create_hard_link(directory / "s.toml", directory / "hard.h5");
  expect_refused(run + "hard.h5", input);
  fs::create_symlink("s.toml", directory / "soft.h5");
  expect_refused(run + "soft.h5", input);
  fs::rename(directory / "hard.h5", directory / "y.h5");
  expect_refused("$RB run y.h5 --quiet", input);  // the default output
  // a study that goes on from its own result
  ASSERT_EQ(shell(run + "base.h5").exit_code, 0);
  std::string again = chaotic;
  const std::size_t begin = again.find("axes ="), end = again.find("[[observable]]");
  again.replace(begin, end - begin, "file = \"base.h5\"\ngroup = \"/final\"\n");
  write("base.toml", again);
  const std::string good = read_file(directory / "base.h5");
  expect_refused("$RB run base.toml --quiet --set time.end=1", input);
  EXPECT_EQ(read_file(directory / "base.h5"), good);
  write("z.h5.part", chaotic);  // an input with the name of a file that a run makes
  expect_refused("$RB run z.h5.part --quiet -o z.h5", "z.h5.part is an input of this run");
}

TEST_F(Output, ReplacesResultsOfThisProgramOnly) {
  write("notes.h5", "of years");
  expect_refused(run + "notes.h5", "rattleback did not write the existing file");
  write("empty.h5", "");
  expect_refused(run + "empty.h5", "rattleback did not write the existing file");
  const hid_t other = H5Fcreate((directory / "other.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(other);
  expect_refused(run + "other.h5", "rattleback did not write the existing file");
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  expect_refused(run + "fifo", "it is a FIFO");
  if (mknod((directory / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0)
    expect_refused(run + "null", "it is a device node");
  fs::create_directory(directory / "folder");
  expect_refused(run + "folder", "it is a directory");
  expect_refused(run + "nowhere/a.h5", "there is no such directory");
  expect_refused(run + std::string(250, 'x'), "the name has 250 bytes");
  expect_refused(run + "a.h5.checkpoint", "are those of runs under way");
  EXPECT_EQ(shell(run + "a.h5").exit_code, 0);
  EXPECT_EQ(shell(run + "a.h5").exit_code, 0);
  EXPECT_EQ(read_file(directory / "notes.h5"), "of years");
}

TEST_F(Output, KeepsAFileThatComesDuringTheRun) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::string end = "20";
#else
  const std::string end = "500";
#endif
  const Outcome late = shell("(until [ -e late.h5.part ]; do :; done; echo text > late.h5) & " + run +
                             "late.h5 --set time.end=" + end + "; rc=$?; wait; exit $rc");
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_NE(late.err.find("cannot put the finished result in place"), std::string::npos) << late.err;
  EXPECT_EQ(read_file(directory / "late.h5"), "text\n");
  EXPECT_EQ(shell("mv late.h5.part saved.h5 && $RB diff saved.h5 saved.h5").exit_code, 0);
}

TEST_F(Output, FollowsLinks) {
  fs::create_directory(directory / "far");
  fs::create_symlink("far/away.h5", directory / "link.h5");  // to what is not there yet
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(shell(run + "link.h5").exit_code, 0);
    EXPECT_TRUE(fs::is_symlink(directory / "link.h5"));
    EXPECT_TRUE(fs::is_regular_file(directory / "far/away.h5"));
  }
  EXPECT_EQ(shell("$RB diff link.h5 far/away.h5 --quiet").exit_code, 0);
  fs::create_symlink("round.h5", directory / "circle.h5");
  fs::create_symlink("circle.h5", directory / "round.h5");
  expect_refused(run + "round.h5", "symbolic links lead nowhere");
}

TEST_F(Output, DoesNotTouchWhatLiesBesideIt) {
  write("precious", "text");
  for (const char* suffix :
       {".part", ".part.damaged", ".checkpoint", ".checkpoint.part", ".values", ".crossings", ".compressed"}) {
    const std::string name = std::string("a.h5") + suffix;
    fs::create_symlink("precious", directory / name);
    expect_refused(run + "a.h5", name + " is in the way: it is a symbolic link");
    fs::remove(directory / name);
    write(name, "text");
    expect_refused(run + "a.h5", name + " is in the way: it is not a file of rattleback");
    fs::remove(directory / name);
  }
  EXPECT_EQ(read_file(directory / "precious"), "text");
  // what a killed run has left gives way
  write("a.h5.part", "rattleback run 0123456789abcdef0123456789abcdef\n");
  EXPECT_EQ(shell(run + "a.h5").exit_code, 0);
}

TEST_F(Output, SaysWhatTheSystemDoesNotGive) {
  expect_refused("mkdir gone && cd gone && rmdir ../gone && $RB run ../s.toml --quiet", "No such file or directory");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more address space than the limit";
#endif
  const Outcome threads = shell("ulimit -v 3000000; $RB run s.toml -o t.h5 --backend cpu --threads 2000");
  EXPECT_EQ(threads.exit_code, 2) << threads.err;
  EXPECT_EQ(std::ranges::count(threads.err, '\n'), 1) << threads.err;
  EXPECT_NE(threads.err.find("threads cannot be created"), std::string::npos) << threads.err;
}

}  // namespace
