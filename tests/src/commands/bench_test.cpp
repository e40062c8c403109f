// rattleback bench, as a user runs it.

#include "program.hpp"

namespace {

using BenchProgram = Program;

TEST_F(BenchProgram, ReportsRatesStateAndShareOfPeak) {
  write("s.toml", chaotic);
  const Outcome outcome = shell(
      "$RB bench s.toml --json --repetitions 3 --backend cpu --threads 1 --set time.end=2.0 --set "
      "'output.trajectories=[]' -o t.csv");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["command"], "bench");
  EXPECT_EQ(json["trajectory_steps"], 600 * 20);
  EXPECT_EQ(json["seconds"].size(), 3u);
  EXPECT_EQ(json["state_bytes_per_trajectory"], 22 * 8);
  EXPECT_EQ(json["state_bytes"], 600 * 22 * 8);
  const auto& rate = json["trajectory_steps_per_second"];
  EXPECT_LE(rate["min"], rate["lower_quartile"]);
  EXPECT_LE(rate["lower_quartile"], rate["median"]);
  EXPECT_LE(rate["upper_quartile"], rate["max"]);
  EXPECT_NEAR(json["nanoseconds_per_step_and_core"].get<double>() * rate["median"].get<double>(), 1e9, 1.0);
  EXPECT_GT(json["iterations_per_step"], 1.0);
  EXPECT_GT(json["flops_per_step"], 500.0);
  EXPECT_GT(json["counted_over_peak"], 0.0);
  EXPECT_GT(json["copy_bytes_per_second"], 1e8);
  EXPECT_EQ(files(), (std::vector<std::string>{"s.toml", "t.csv"}));
  EXPECT_NE(shell("$RB bench s.toml --set time.end=2.0").out.find("trajectory-steps per second"), std::string::npos);
}

TEST_F(BenchProgram, ComparesMethodsByErrorAndTime) {
  const Outcome outcome =
      shell("$RB bench " RATTLEBACK_EXAMPLES
            "/particle-order.toml --work-precision --steps 0.125,0.25 --stages 2,3 "
            "--variant 'method.stages=3 method.solver.tolerance=1e-6' --repetitions 2 --quiet --json -o t.json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(nlohmann::json::parse(read_file(directory / "t.json")), json);
  EXPECT_EQ(json["command"], "work-precision");
  EXPECT_EQ(json["reference"], "exact solution");
  ASSERT_EQ(json["runs"].size(), 6u);
  EXPECT_EQ(json["runs"][3]["label"], "3 stages");
  EXPECT_EQ(json["runs"][4]["label"], "method.stages=3 method.solver.tolerance=1e-6");
  EXPECT_EQ(json["runs"][3]["step"], 0.125);
  EXPECT_NEAR(json["runs"][3]["errors"]["q"], 3.2834e-6, 1e-10);
  EXPECT_NE(json["runs"][5]["errors"]["q"], json["runs"][3]["errors"]["q"]);
  for (const auto& run : json["runs"]) {
    EXPECT_GT(run["seconds"], 0.0);
    for (const char* name : {"v", "p", "lambda"}) EXPECT_GT(run["errors"][name], 0.0) << name;
    EXPECT_TRUE(run["drifts"].contains("energy_y"));
  }
}

TEST_F(BenchProgram, RefusesBadInputWithOneMessageAndWritesNothing) {
  write("s.toml", chaotic);
  struct Broken {
    const char* arguments;
    const char* message;
  };
  const Broken cases[] = {
      {"--repetitions 0", "--repetitions"},
      {"--seconds -1", "--seconds"},
      {"--steps 0.1", "belong to --work-precision"},
      {"--plot t.png", "belong to --work-precision"},
      {"--exact", "belong to --work-precision"},
      {"-o t.h5", "t.h5: the extension says nothing about the format; use one of .csv, .json"},
      {"-o /nonexistent/t.csv", "/nonexistent/t.csv: cannot be written"},
      {"--set method.stages=9", "stages"},
      {"--work-precision", "steps: at least 1 are needed"},
      {"--work-precision --steps 0.7", "step 0.7: the time from 0 to 30"},
      {"--work-precision --steps 0.1 --stages 2,2", "2 stages: appears twice"},
      {"--work-precision --steps 0.1 --stages 2,9", "method.stages = 9 is out of range"},
      {"--work-precision --steps 0.1 --variant time.end=1.0", "'time.end=1.0' is not a key of the method"},
      {"--work-precision --steps 0.1 --stages 2,4 --reference-step 0.1", "has fewer digits"},
      {"--work-precision --steps 0.1 --plot t", "t: the extension says nothing"},
  };
  for (const Broken& broken : cases) {
    const Outcome outcome = shell(fmt::format("$RB bench s.toml --quiet {}", broken.arguments));
    EXPECT_EQ(outcome.exit_code, 2) << broken.arguments;
    EXPECT_NE(outcome.err.find(broken.message), std::string::npos) << broken.arguments << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    EXPECT_EQ(files(), std::vector<std::string>{"s.toml"}) << broken.arguments;
  }
}

}  // namespace
