// `rattleback new`: every template is a study that runs, and no file is ever replaced.

#include "program.hpp"

namespace {

class New : public Program {
 protected:
  /// The names that the list of templates begins its lines with.
  std::vector<std::string> names() const {
    std::istringstream lines(shell("$RB new").out);
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) found.push_back(line.substr(0, line.find(' ')));
    return found;
  }
};

TEST_F(New, TemplatesRunAndPlot) {
  ASSERT_GE(names().size(), 6u);
  for (const std::string& name : names()) {
    const Outcome made = shell("$RB new " + name);
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_NE(made.out.find("next: rattleback run " + name + ".toml\n"), std::string::npos) << made.out;
    const std::string fewer = name == "driven" ? " --set time.steps=200" : "";
    for (const std::string& command : {"check " + name + ".toml", "run " + name + ".toml --quiet" + fewer}) {
      const Outcome done = shell("$RB " + command);
      EXPECT_EQ(done.exit_code, 0) << command << done.err;
    }
    EXPECT_TRUE(fs::exists(directory / (name + ".h5")));
    const std::size_t then = made.out.find("then: ");
    ASSERT_NE(then, std::string::npos) << made.out;
    const std::string plot = made.out.substr(then + 6, made.out.find('\n', then) - then - 6);
    EXPECT_EQ(plot.substr(0, 16), "rattleback plot ");
    if (name == "nonholonomic") EXPECT_EQ(plot.substr(0, 43), "rattleback plot animate nonholonomic.h5 --c");
    if (name == "sections") EXPECT_EQ(plot, "rattleback plot section sections.h5 --components \"q[1],p[1]\"");
  }
}

TEST_F(New, RefusesInOneLine) {
  write("pendulum.toml", "mine");
  const auto refused = [&](const std::string& command, const std::string& part) {
    const Outcome outcome = shell("$RB " + command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  refused("new pendulum", "pendulum.toml: exists already; name another file with -o");
  EXPECT_EQ(read_file(directory / "pendulum.toml"), "mine");
  refused("new pendulun", "did you mean 'pendulum'?");
  refused("new -o a.toml", "a template that is missing");
  refused("run", "this folder has pendulum.toml;");
  fs::remove(directory / "pendulum.toml");
  refused("run", "'rattleback new' writes one");
}

TEST_F(New, MethodsOfOtherProgramsLeadToOurs) {
  EXPECT_EQ(shell("$RB new pendulum").exit_code, 0);
  for (const auto& [name, ours] : {std::pair{"rattle", "holonomic-lobatto"},
                                   {"verlet", "\"lobatto\" with stages = 2"},
                                   {"leapfrog", "nonholonomic-leapfrog"},
                                   {"rk4", "base = \"rk4\""},
                                   {"stormer", "lobatto"},
                                   {"Symplectic_Euler", "theta = [0]"},
                                   {"dop853", "prince8"}}) {
    const Outcome outcome = shell(std::string("$RB check pendulum.toml --set method.name=") + name);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_NE(outcome.err.find(ours), std::string::npos) << outcome.err;
    EXPECT_NE(shell(std::string("$RB describe ") + name).err.find(ours), std::string::npos) << name;
  }
}

}  // namespace
