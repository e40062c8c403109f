// rattleback order, as a user runs it.

#include <cmath>

#include "program.hpp"

namespace {

struct OrderProgram : Program {
  const std::string particle = RATTLEBACK_EXAMPLES "/particle-order.toml";

  nlohmann::json order(const std::string& arguments) const {
    const Outcome outcome = shell("$RB order --quiet --json " + arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(outcome.err.empty()) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }
};

/// What the method reaches on the particle at t = 5 (Martin de Diego and Sato Martin de Almagro, section 7.1).
struct Expected {
  int stages;
  double order_q, tolerance, order_lambda;
  double q, p;  // errors with step 1/16; 0: at round-off
};
constexpr Expected expected_orders[] = {{2, 2, 0.03, 2, 1.4167e-3, 6.552e-4},
                                        {3, 4, 0.03, 2, 2.0439e-7, 8.446e-8},
                                        {4, 6, 0.06, 4, 6.954e-11, 4.149e-11},
                                        {5, 8, 0.10, 4, 0, 0}};

TEST_F(OrderProgram, FindsTheOrdersOfTheParticle) {
  for (const Expected& expected : expected_orders) {
    const auto json = order(fmt::format("{} --set method.stages={} --steps 0.03125,0.5,0.25,0.015625,0.125,0.0625",
                                        particle, expected.stages));
    EXPECT_EQ(json["command"], "order");
    EXPECT_EQ(json["reference"], "exact solution");
    EXPECT_EQ(json["stages"], expected.stages);
    EXPECT_EQ(json["end"], 5.0);
    EXPECT_EQ(json["failed"], 0);
    EXPECT_EQ(json["steps"], (std::vector{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625}));
    const auto& variables = json["variables"];
    for (const char* measure : {"max", "rms"})
      for (const char* name : {"q", "v", "p", "lambda"}) {
        const auto& entry = variables[name];
        const double order = *name == 'l' ? expected.order_lambda : expected.order_q,
                     tolerance = *name == 'q' ? expected.tolerance : 0.1;
        EXPECT_NEAR(entry[std::string("slope_") + measure], order, tolerance) << name << " " << expected.stages;
        EXPECT_EQ(entry[std::string("points_") + measure], 3) << name << " " << expected.stages;
        EXPECT_TRUE(entry[std::string("order_") + measure][0].is_null());
      }
    if (expected.q == 0) continue;
    EXPECT_NEAR(variables["q"]["max"][3], expected.q, 0.01 * expected.q) << expected.stages;
    EXPECT_NEAR(variables["p"]["max"][3], expected.p, 0.01 * expected.p) << expected.stages;
  }
}

TEST_F(OrderProgram, FindsTheOrdersOfTheSleighWithAndWithoutItsExactSolution) {
  const std::string sleigh = RATTLEBACK_EXAMPLES
      "/sleigh.toml --set 'ensemble.axes=[{name=\"u\",values=[0.5]}]' --set 'output.trajectories=[]' "
      "--steps 0.125,0.0625,0.03125";
  const double error[] = {1.0051e-3, 1.4559e-7, 1.9323e-11};
  for (const int stages : {2, 3, 4})
    for (const char* reference : {"", "--reference-stages 5 --reference-step 0.015625"}) {
      const auto json = order(fmt::format("{} --set method.stages={} {}", sleigh, stages, reference));
      EXPECT_EQ(json["reference"],
                *reference == '\0' ? "exact solution" : "nonholonomic-lobatto, 5 stages, step 0.015625");
      EXPECT_NEAR(json["variables"]["q"]["slope_max"], 2 * stages - 2, 0.05) << stages << reference;
      EXPECT_NEAR(json["variables"]["q"]["max"][1], error[stages - 2], 0.02 * error[stages - 2]) << stages << reference;
    }
}

TEST_F(OrderProgram, WritesTheTableInEachFormat) {
  const std::string command = particle + " --steps 0.25,0.125";
  const auto json = order(command + " -o t.json");
  EXPECT_EQ(nlohmann::json::parse(read_file(directory / "t.json")), json);
  const double q = json["variables"]["q"]["max"][1];
  ASSERT_EQ(shell("$RB order --quiet " + command + " -o t.h5").exit_code, 0);
  EXPECT_EQ(numbers(directory / "t.h5", "q/max")[1], q);
  EXPECT_EQ(numbers(directory / "t.h5", "step"), (std::vector{0.25, 0.125}));
  const Outcome outcome = shell("$RB order " + command + " -o t.csv");
  const std::string csv = read_file(directory / "t.csv");
  EXPECT_NE(csv.find("\nstep,q_max,q_rms,q_order_max,q_order_rms,v_max,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(fmt::format("\n0.125,{:.17g},", q)), std::string::npos) << csv;
  EXPECT_EQ(files(), (std::vector<std::string>{"t.csv", "t.h5", "t.json"}));
  // what such a report wrote before is replaced, also at the end of a link
  fs::create_symlink("t.csv", directory / "link.csv");
  EXPECT_EQ(shell("$RB order --quiet " + particle + " --steps 0.5,0.25 -o link.csv").exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(directory / "link.csv"));
  EXPECT_EQ(read_file(directory / "t.csv").find("\n0.125,"), std::string::npos);
  EXPECT_NE(read_file(directory / "t.csv").find("\n0.5,"), std::string::npos);
  (void)order(command + " -o t.json");
  EXPECT_NE(outcome.out.find("reference: exact solution"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(fmt::format("{:.4e}", q)), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("step 0.125: "), std::string::npos) << outcome.err;
}

TEST_F(OrderProgram, CountsFailedTrajectories) {
  write("s.toml", R"toml([system]
name = "isokinetic-particle"
[method]
name = "nonholonomic-lobatto"
stages = 3
[time]
step = 0.5
end = 10.0
[ensemble]
project = true
axes = [ { name = "x", from = -2.0, to = 2.0, count = 9 } ]
[ensemble.initial]
q = [0.5, "x"]
v = ["sin(x)", "cos(x)"]
)toml");
  const Outcome outcome = shell("$RB order s.toml --quiet --json --steps 1,0.125,0.0625 -o t.csv");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.err.find("1 of 9 trajectories failed"), std::string::npos) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["failed"], 1);
  EXPECT_TRUE(fs::exists(directory / "t.csv"));
}

TEST_F(OrderProgram, RefusesBadInputWithOneMessageAndWritesNothing) {
  ASSERT_EQ(shell(fmt::format("$RB run '{}' --quiet -o fine.h5 --set time.step=0.01 --set method.stages=5; "
                              "$RB run '{}' --quiet -o varying.h5; "
                              "$RB order '{}' --quiet --steps 0.5,0.25 -o order.h5 > /dev/null",
                              particle, particle, particle))
                .exit_code,
            0);
  write("text.h5", "text");
  for (const char* name : {"own.csv", "own.json", "own.png"}) write(name, "{}");
  fs::create_directory(directory / "directory.csv");
  ASSERT_EQ(shell("mkfifo pipe.csv pipe.svg").exit_code, 0);
  const auto before = files();
  struct Broken {
    const char* arguments;
    const char* message;
  };
  const Broken cases[] = {
      {"", "--steps"},
      {"--steps 0.5", "steps: at least 2 are needed (got 1)"},
      {"--steps 0.5,0.3", "step 0.3: the time from 0 to 5 is not a whole number of steps of 0.3"},
      {"--steps 0.5,0.5", "step 0.5: appears twice"},
      {"--steps 0.5,0", "step 0: is not a positive number"},
      {"--steps 0.5,-0.25", "step -0.25: is not a positive number"},
      {"--steps 0.5,nan", "--steps: must be a finite number (got 'nan')"},
      {"--steps 0.5,x", "--steps"},
      {"--steps 0.5,0.25 -o t.txt", "t.txt: the extension says nothing about the format; use one of .h5, .csv, .json"},
      {"--steps 0.5,0.25 -o /nonexistent/t.csv", "/nonexistent/t.csv: cannot be written"},
      {"--steps 0.5,0.25 -o /nonexistent/t.h5", "/nonexistent/t.h5"},
      {"--steps 0.5,0.25 -o own.csv", "own.csv: cannot be written (rattleback did not write the existing file"},
      {"--steps 0.5,0.25 -o own.json", "own.json: cannot be written (rattleback did not write"},
      {"--steps 0.5,0.25 --plot own.png", "own.png: cannot be written (rattleback did not write"},
      {"--steps 0.5,0.25 -o directory.csv", "directory.csv: cannot be written (it is a directory)"},
      {"--steps 0.5,0.25 -o pipe.csv", "pipe.csv: cannot be written (it is a FIFO)"},
      {"--steps 0.5,0.25 --plot pipe.svg", "pipe.svg: cannot be written (it is a FIFO)"},
      {"--steps 0.5,0.25 --plot nowhere/a.png", "nowhere/a.png: cannot be written (there is no such directory)"},
      {"--steps 0.5,0.01 --reference fine.h5 -o fine.h5", "fine.h5: cannot be written (it is an input of this run"},
      {"--steps 0.5,0.25 --plot t.jpg", "t.jpg: the extension says nothing"},
      {"--steps 0.5,0.25 --reference-step 0.25 -o t.csv", "has fewer digits than what is tested"},
      {"--steps 0.5,0.25 --reference-step 0.3", "step 0.3: the time from 0 to 5"},
      {"--steps 0.5,0.25 --reference-stages 3", "has fewer digits"},
      {"--steps 0.5,0.25 --reference-stages 9", "reference: method.stages = 9 is out of range"},
      {"--steps 0.5,0.25 --exact --reference-step 0.1", "choose one"},
      {"--steps 0.5,0.25 --exact --reference fine.h5", "choose one"},
      {"--steps 0.5,0.25 --reference none.h5", "none.h5: cannot be read"},
      {"--steps 0.5,0.25 --reference text.h5", "text.h5: "},
      {"--steps 0.5,0.25 --reference varying.h5", "varying.h5: the step of the reference varies over the ensemble"},
      {"--steps 0.5,0.25 --reference order.h5", "order.h5: "},
      {"--steps 0.5,0.01 --set method.stages=5 --reference fine.h5",
       "fine.h5: the reference (nonholonomic-lobatto, 5 "
       "stages, step 0.01) has fewer digits"},
      {"--steps 0.5,0.25 --reference fine.h5 --set time.end=10.0", "another end time (5, and the study has 10)"},
      {"--steps 0.5,0.25 --backend gpu", "unknown backend 'gpu'"},
      {"--steps 0.5,0.25 --set method.stages=1", "stages"},
      {"--steps 0.5,0.25 --set 'ensemble.initial.v=[1,0,0]' -o t.h5", "project = true"},
  };
  for (const Broken& broken : cases) {
    const Outcome outcome = shell(fmt::format("$RB order '{}' --quiet {}", particle, broken.arguments));
    EXPECT_EQ(outcome.exit_code, 2) << broken.arguments;
    EXPECT_NE(outcome.err.find(broken.message), std::string::npos) << broken.arguments << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    EXPECT_EQ(files(), before) << broken.arguments;
  }
  for (const char* name : {"own.csv", "own.json", "own.png"}) EXPECT_EQ(read_file(directory / name), "{}") << name;
  EXPECT_NE(shell("$RB order --steps 0.5,0.25 --exact " RATTLEBACK_EXAMPLES "/chaotic.toml")
                .err.find("the exact solution of 'chaotic' is not known"),
            std::string::npos);
}

}  // namespace
