// What the program says about bad input: one line on stderr, exit code 2, nothing written.

#include "program.hpp"

namespace {

class Input : public Program {
 protected:
  Input() {
    write("s.toml", R"toml([system]
name = "planar-pendulum"
[method]
name = "holonomic-lobatto"
[time]
step = 0.1
end = 1
)toml");
  }

  /// Runs a command that must be refused; its message, which is one line.
  std::string refused(const std::string& command, int exit_code = 2) const {
    const auto before = files();
    const Outcome outcome = shell(command);
    EXPECT_EQ(outcome.exit_code, exit_code) << command << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << command << "\n" << outcome.out;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << command << "\n" << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("rattleback: ")) << command << "\n" << outcome.err;
    EXPECT_LE(outcome.err.size(), 2100u) << command;
    for (const unsigned char c : outcome.err) {
      EXPECT_TRUE(c >= 0x20 || c == '\n') << command << "\n" << outcome.err;
    }
    EXPECT_EQ(files(), before) << command;
    return outcome.err;
  }
  void refuses(const std::string& command, const std::string& part, int exit_code = 2) const {
    const std::string message = refused(command, exit_code);
    EXPECT_NE(message.find(part), std::string::npos) << command << "\n" << message;
  }
};

TEST_F(Input, UsageErrorsTakeOneLine) {
  refuses("$RB", "no command is given (known: new, run, resume, check");
  refuses("$RB rnu s.toml", "unknown command 'rnu' (known: new, run, ");
  refuses("$RB rnu s.toml", "did you mean 'run'?");
  refuses("$RB \"$(printf 'f\\033[31moo\\nx')\"", "unknown command 'f\\x1b[31moo\\nx'");
  refuses("$RB --nonsense", "'rattleback --help' shows");
  refuses("$RB run", "'rattleback run --help' shows");
  refuses("$RB run s.toml more", "'rattleback run --help' shows");
  refuses("$RB run s.toml \"$(printf -- '--a\\nb')\"", "'rattleback run --help' shows");
  refuses("$RB list sistems", "'rattleback list --help' shows");
}

TEST_F(Input, HelpMayBeACommand) {
  EXPECT_EQ(shell("$RB help").out, shell("$RB --help").out);
  EXPECT_EQ(shell("$RB help run").out, shell("$RB run --help").out);
  refuses("$RB help rnu", "did you mean 'run'?");
}

TEST_F(Input, OptionsTakeSensibleNumbers) {
  for (const char* value : {"0", "-1", "1.5", "99999999999999999999", "x", "''"}) {
    refuses(fmt::format("$RB run s.toml --threads={}", value), "--threads");
    refuses(fmt::format("$RB run s.toml --tile={}", value), "--tile");
    refuses(fmt::format("$RB compare s.toml --backends cpu,cpu:scalar --tile={}", value), "--tile");
    refuses(fmt::format("$RB bench s.toml --repetitions={}", value), "--repetitions");
  }
  refuses("$RB run s.toml --threads 0", "--threads: must be a whole number from 1 to 4294967295 (got '0')");
  refuses("$RB bench s.toml --seconds=-1", "--seconds: must be a finite number, not negative (got '-1')");
  refuses("$RB bench s.toml --seconds=inf", "--seconds");
  refuses("$RB order s.toml --steps 0.1,nan", "--steps");
}

TEST_F(Input, EmptyNamesOfFilesAreRefused) {
  refuses("$RB run s.toml -o ''", "is empty");
  refuses("$RB check ''", "is empty");
  refuses("$RB resume ''", "is empty");
  refuses("$RB diff '' a.h5", "is empty");
  refuses("$RB order s.toml --steps 0.1,0.05 --exact -o ''", "is empty");
  refuses("$RB order s.toml --steps 0.1,0.05 --exact --plot ''", "is empty");
  refuses("$RB bench s.toml -o ''", "is empty");
  refuses("$RB bench s.toml --work-precision --steps 0.1 --plot ''", "is empty");
}

TEST_F(Input, BackendsSayEverythingOnce) {
  refuses("$RB run s.toml --backend cpu:threads=1,threads=2", "gives the number of threads twice");
  refuses("$RB run s.toml --backend cpu:scalar,avx2", "gives the instruction set twice");
  for (const char* name : {"cpu:", "cpu:scalar,", "''", "cpu:threads=0", "\"$(printf 'a\\nb')\""})
    refuses(fmt::format("$RB run s.toml --backend {}", name), "unknown backend");
}

TEST_F(Input, StudiesThatAreNone) {
  refuses("$RB check .", ".: cannot be read (Is a directory)");
  refuses("mkdir gone && cd gone && rmdir ../gone && $RB check s.toml",
          "s.toml: cannot be read (No such file or directory)");
  refuses("$RB check \"$(printf %05000d 0)\"", "File name too long");
  refuses("$RB check s.toml --set 'study.name=\"a\\u001b\"'", "a study cannot be called 'a\\x1b'");
  refuses("$RB check s.toml --set \"time.step=$(printf %0100000d 0)+x\"", "an expression has at most 32768");
  refuses("$RB check s.toml --set \"$(printf 'a\\nb=1')\"", "--set a\\nb=1: not of the form KEY=VALUE");
}

TEST_F(Input, MemoryRunsOutInASentence) {
  std::ofstream rows(directory / "q.csv");
  rows << "a,b\n";
  for (int i = 0; i < 3'000'000; ++i) rows << "1,2\n";
  rows.close();
  ASSERT_EQ(shell("$RB check s.toml").exit_code, 0);  // compiles what is to be compiled
  int limit = 40'000;                                 // KiB
  while (limit < 1'000'000 && shell(fmt::format("ulimit -v {}; $RB check s.toml", limit)).exit_code != 0)
    limit += 10'000;
  if (limit >= 1'000'000) GTEST_SKIP() << "the program does not start under a limit (sanitizer)";
  const std::string table = "--set ensemble.file=q.csv --set 'ensemble.initial={q = [\"a\", \"b\"], v = [0, 0]}'";
  refuses(fmt::format("(ulimit -v {}; $RB check s.toml {})", limit + 20'000, table), "needs more memory than there is");
  shell("truncate -s 400M big.toml");
  refuses(fmt::format("(ulimit -v {}; $RB check big.toml)", limit + 300'000), "it has more than 64 MiB");
}

TEST_F(Input, ChecksOfLargeEnsemblesAreSamples) {
  const std::string axis =
      "--set 'ensemble.unused=[\"x\"]' --set 'ensemble.axes=[{{name=\"x\", from=0, to=1, count={}}}]'";
  const Outcome small = shell("$RB check s.toml " + fmt::format(fmt::runtime(axis), "1000"));
  EXPECT_EQ(small.exit_code, 0) << small.err;
  EXPECT_NE(small.err.find("checked 1000 of 1000 initial states; a run takes 1e+04 trajectory-steps"),
            std::string::npos)
      << small.err;
  EXPECT_TRUE(small.out.starts_with("[study]")) << small.out;
  refuses("$RB check s.toml " + fmt::format(fmt::runtime(axis), "1e15"), "s.h5: the result needs");
  refuses("$RB check s.toml " + fmt::format(fmt::runtime(axis), "9e18"), "s.h5: the result needs");
  refuses(
      "$RB check s.toml --set 'ensemble.axes=[{name=\"x\", from=0, to=1, count=1e12}, {name=\"y\", from=0, to=1, "
      "count=1e12}]'",
      "exceeds 2^63 trajectories");
}

TEST_F(Input, DiffSaysWhyAFileCannotBeRead) {
  shell("$RB run s.toml --quiet; mkdir d; touch no; chmod 0 no; chmod 777 .; mkfifo p");
  refuses("$RB diff s.h5 d", "d: cannot be read (it is a directory)");
  refuses("$RB diff s.h5 none", "none: cannot be read (No such file or directory)");
  refuses("$RB diff s.h5 p", "p: cannot be read (it is not a regular file)");
  const std::string nobody = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  if (shell(nobody + "$RB --version").exit_code != 0) GTEST_SKIP() << "the program does not run as nobody";
  refuses(nobody + "$RB diff s.h5 no", "no: cannot be read (Permission denied)");
}

}  // namespace
