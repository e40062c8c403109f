// Version, completions and manual page.

#include <sstream>

#include "program.hpp"

namespace {

class Cli : public Program {
 protected:
  /// Whether a tool is installed.
  bool has(const std::string& tool) const { return shell("command -v " + tool).exit_code == 0; }

  /// What bash offers after these words, as it splits them, the last of them unfinished.
  std::string offered(const std::string& words) const {
    write("complete.bash", fmt::format("source completion.bash\n"
                                       "COMP_WORDS=(\"$1\" {})\n"
                                       "COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
                                       "_rattleback\n"
                                       "echo \"${{COMPREPLY[*]}}\"\n",
                                       words));
    const Outcome outcome = shell("bash complete.bash $RB");
    EXPECT_TRUE(outcome.err.empty()) << words << "\n" << outcome.err;
    return outcome.out.substr(0, outcome.out.find('\n'));
  }
  /// The commands that the help lists.
  std::vector<std::string> commands() const {
    std::istringstream help(shell("$RB --help").out);
    std::vector<std::string> names;
    bool found = false;
    for (std::string line; std::getline(help, line);) {
      if (found && line.starts_with("  ") && line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
      found = found || line == "Subcommands:";
    }
    return names;
  }
};

TEST_F(Cli, TellsHowItWasBuiltAndWhatItRunsOn) {
  const std::string text = shell("$RB --version").out;
  EXPECT_TRUE(text.starts_with("rattleback ")) << text;
  EXPECT_EQ(text.substr(0, text.find('\n')).back(), ')');
  for (const char* name : {"\ncompiler: ", "\nbuild type: ", "\ninstruction sets: scalar",
                           "\nCUDA: ", "\nprocessor: ", " hardware threads\n", "\nCUDA device: "})
    EXPECT_NE(text.find(name), std::string::npos) << name << "\n" << text;
}

TEST_F(Cli, CompletesInBash) {
  ASSERT_EQ(shell("$RB completion bash > completion.bash && bash -n completion.bash").exit_code, 0);
  std::string all = offered("''");
  for (const std::string& command : commands())
    EXPECT_NE((" " + all + " ").find(" " + command + " "), std::string::npos) << command << " in " << all;
  EXPECT_EQ(offered("desc"), "describe");
  EXPECT_EQ(offered("--ver"), "--version");
  EXPECT_EQ(offered("run --back"), "--backend");
  EXPECT_EQ(offered("run s.toml --backend cu"), "cuda");
  EXPECT_EQ(offered("run s.toml --backend cpu : av"), "avx2 avx512");
  EXPECT_EQ(offered("run s.toml --backend = cpu : sc"), "scalar");
  EXPECT_EQ(offered("compare s.toml --backends cpu,cu"), "cpu,cuda");
  EXPECT_EQ(offered("compare s.toml --backends cpu : avx2,threads = 1,cpu : avx5"), "avx512");
  EXPECT_EQ(offered("list ''"), "systems methods observables statistics keys");
  EXPECT_EQ(offered("list systems ''"), "");
  EXPECT_EQ(offered("describe --json chap"), "chaplygin-sleigh");
  EXPECT_TRUE(offered("describe nonholonomic-").starts_with("nonholonomic-particle"));
  EXPECT_NE(offered("describe nonholonomic-").find("nonholonomic-lobatto"), std::string::npos);
  EXPECT_EQ(offered("completion ''"), "bash zsh fish");
  EXPECT_EQ(offered("run s.toml --set time.st"), "time.start= time.step= time.steps=");
  EXPECT_EQ(offered("check s.toml --set ensemble.axes[0].c"), "ensemble.axes[0].count=");
  // files are left to bash
  EXPECT_EQ(offered("run ''"), "");
  EXPECT_EQ(offered("run -o ''"), "");
  EXPECT_EQ(offered("diff a.h5 ''"), "");
}

TEST_F(Cli, WritesScriptsForOtherShells) {
  for (const char* name : {"zsh", "fish"}) {
    const Outcome outcome = shell(fmt::format("$RB completion {}", name));
    EXPECT_EQ(outcome.exit_code, 0);
    for (const char* word : {"compare", "--json", "cpu:avx512", "list --names"})
      EXPECT_NE(outcome.out.find(std::string(name) == "fish" && *word == '-' ? word + 2 : word), std::string::npos)
          << name << " " << word;
  }
  EXPECT_EQ(shell("$RB completion tcsh").exit_code, 2);
}

TEST_F(Cli, WritesScriptsThatZshReads) {
  if (!has("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(shell("$RB completion zsh > script && zsh -n script").exit_code, 0);
}

TEST_F(Cli, WritesScriptsThatFishReads) {
  if (!has("fish")) GTEST_SKIP() << "fish is not installed";
  const Outcome outcome = shell(
      "export HOME=$PWD; $RB completion fish > script && fish --no-config -n script && "
      "fish --no-config -c 'source script; complete -C \"rattleback compl\"'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("completion\t")) << outcome.out;
}

class LostOutput : public Program {
 protected:
  void SetUp() override {
    write("s.toml", chaotic);
    ASSERT_EQ(shell("$RB run s.toml --quiet -o a.h5 --set time.end=1.0").exit_code, 0);
    if (shell("mknod full c 1 7").exit_code != 0 || shell("echo x > full").exit_code == 0)
      GTEST_SKIP() << "cannot make a full device";
  }
};

TEST_F(LostOutput, IsAFailure) {
  for (const auto& [sink, reason] : {std::pair{"> full", "No space left on device"}, {">&-", "Bad file descriptor"}}) {
    for (const char* command :
         {"check s.toml", "diff a.h5 a.h5", "diff a.h5 a.h5 --json", "--version", "--help", "run --help",
          "completion bash", "man", "list", "list --json", "list --names", "describe chaotic",
          "describe lobatto --json", "run s.toml -o b.h5 --set time.end=1.0",
          "run s.toml -o b.h5 --set time.end=1.0 --json", "order s.toml --set time.end=1.0 --steps 0.1,0.05 --quiet",
          "bench s.toml --set time.end=1.0 --repetitions 1"}) {
      const Outcome outcome = shell(fmt::format("$RB {} {}", command, sink));
      EXPECT_EQ(outcome.exit_code, 1) << command << "\n" << outcome.err;
      const std::string line = fmt::format("rattleback: standard output: cannot be written ({})\n", reason);
      EXPECT_TRUE(outcome.err.ends_with(line)) << command << "\n" << outcome.err;  // check has said what it checked
      if (command != std::string("check s.toml")) {
        EXPECT_EQ(outcome.err, line) << command;
      }
    }
    // no file takes the place of a closed stream, and the result is whole
    EXPECT_EQ(shell("$RB diff a.h5 b.h5 --quiet").exit_code, 0);
  }
  EXPECT_EQ(shell("$RB bench s.toml --set time.end=1.0 --repetitions 1 > full").exit_code, 1);
  EXPECT_EQ(shell("{ sleep 0.1; $RB man; echo $? > code; } | true").err,
            "rattleback: standard output: cannot be written (Broken pipe)\n");
  EXPECT_EQ(read_file(directory / "code"), "1\n");
}

TEST_F(LostOutput, OfMessagesEndsNoRun) {
  const std::string failing = "$RB run s.toml --set time.step=3.0 --quiet --set time.end=30.0 -o";
  ASSERT_FALSE(shell(failing + " a.h5").err.empty());
  for (const char* command : {"{{ sleep 0.1; {} b.h5; echo $? > code; }} 2>&1 > out | true",
                              "{} b.h5 2> full; echo $? > code", "{} b.h5 2>&-; echo $? > code"}) {
    shell(fmt::format(fmt::runtime(command), failing));
    EXPECT_EQ(read_file(directory / "code"), "3\n") << command;
    EXPECT_EQ(shell("$RB diff a.h5 b.h5 --quiet").exit_code, 0) << command;
    fs::remove(directory / "b.h5");
  }
}

TEST_F(Cli, ListsNamesAlone) {
  std::string names;
  const auto methods = nlohmann::json::parse(shell("$RB list methods --json").out)["methods"];
  for (const auto& method : methods) names += method["name"].get<std::string>() + "\n";
  EXPECT_EQ(shell("$RB list methods --names").out, names);
  EXPECT_EQ(shell("$RB list --names").out, shell("$RB list systems --names; $RB list methods --names").out);
}

TEST_F(Cli, WritesAManualPageThatFormatsWithoutWarnings) {
  const std::string page = shell("$RB man").out;
  for (const std::string& command : commands())
    EXPECT_NE(page.find("\n.SS " + command + "\n"), std::string::npos) << command;
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"})
    EXPECT_NE(page.find(fmt::format("\n.SH {}\n", section)), std::string::npos) << section;
  if (!has("groff")) GTEST_SKIP() << "groff is not installed";
  const Outcome shown = shell("$RB man | groff -man -Tutf8 -ww -P-cbou");
  EXPECT_TRUE(shown.err.empty()) << shown.err;
  EXPECT_NE(shown.out.find("rattleback compare STUDY [SECOND] [OPTIONS]"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("-o, --output FILE"), std::string::npos) << shown.out;
}

}  // namespace
