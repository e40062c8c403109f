// The executable, run as a user runs it: exit codes, messages, files.

#include <cmath>

#include "program.hpp"

namespace program_test {

TEST_F(Program, GivesIdenticalBytesInEveryDatasetHoweverItRuns) {
  write("s.toml", chaotic);
  ASSERT_EQ(shell("$RB run s.toml -o reference.h5 --quiet --backend cpu:scalar --threads 1").exit_code, 0);
  const auto reference = datasets(directory / "reference.h5");
  EXPECT_EQ(reference.size(), 42u);  // five of them name dimensions
  for (const char* options :
       {"--backend cpu:avx2", "--backend cpu:avx512", "--backend cpu --threads 1", "--backend cpu --threads 2",
        "--tile 256", "--tile 512 --threads 2", "--backend cpu:scalar,threads=2"}) {
    const Outcome outcome = shell(fmt::format("$RB run s.toml -o other.h5 --quiet {}", options));
    if (outcome.err.find("is not available on this processor") != std::string::npos) continue;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto other = datasets(directory / "other.h5");
    ASSERT_EQ(other.size(), reference.size()) << options;
    for (const auto& [name, bytes] : reference) EXPECT_TRUE(other.at(name) == bytes) << name << " with " << options;
  }
}

/// `chaotic` with quasi-random initial states.
const std::string quasi_random = [] {
  std::string text = chaotic;
  const std::string range = R"({ name = "theta", from = 0.0, to = "pi/2", count = 600 })";
  text.replace(text.find(range), range.size(),
               R"({ name = "theta", distribution = "sobol", from = 0.0, to = "pi/2", seed = 1 },
         { name = "x", distribution = "sobol", mean = 0.6, std = 0.05, seed = 2 })");
  text.replace(text.find("[ensemble]"), 10, "[ensemble]\ndraws = 768\nrandomisations = 3");
  text.replace(text.find("0.6, 0.4"), 3, "\"x\"");
  return text;
}();

TEST_F(Program, QuasiRandomEnsemblesHaveTheSameBytesHoweverTheyRun) {
  write("s.toml", quasi_random);
  const Outcome check = shell("$RB check s.toml > effective.toml");
  ASSERT_EQ(check.exit_code, 0) << check.err;
  ASSERT_EQ(shell("$RB run s.toml -o reference.h5 --quiet --backend cpu:scalar --threads 1").exit_code, 0);
  const auto reference = datasets(directory / "reference.h5");
  EXPECT_EQ(reference.at("axes/x").size(), 768 * sizeof(double));
  for (const char* how : {"s.toml --tile 256 --threads 2", "effective.toml --backend cpu --threads 2"}) {
    const Outcome outcome = shell(fmt::format("$RB run {} -o other.h5 --quiet", how));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto other = datasets(directory / "other.h5");
    for (const auto& [name, bytes] : reference) EXPECT_TRUE(other.at(name) == bytes) << name << " with " << how;
  }
  ASSERT_EQ(shell("$RB run s.toml -o other.h5 --quiet --set ensemble.randomisations=6").exit_code, 0);
  EXPECT_TRUE(datasets(directory / "other.h5").at("axes/x") != reference.at("axes/x"));
  for (const char* change : {"ensemble.draws=1000", "ensemble.randomisations=7", "ensemble.randomisations=0",
                             "'ensemble.axes[1].distribution=lattice'", "'ensemble.axes[0].std=1'"}) {
    fs::remove(directory / "other.h5");
    const Outcome outcome = shell(fmt::format("$RB run s.toml -o other.h5 --quiet --set {}", change));
    EXPECT_EQ(outcome.exit_code, 2) << change;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(directory / "other.h5")) << change;
  }
}

TEST_F(Program, WritesWhatTheContractNames) {
  write("s.toml", chaotic);
  ASSERT_EQ(shell("$RB run s.toml --quiet").exit_code, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"s.h5", "s.toml"}));
  const auto all = datasets(directory / "s.h5");
  for (const char* name : {"time",
                           "axes/theta",
                           "initial/q",
                           "initial/v",
                           "initial/p",
                           "initial/lambda",
                           "final/q",
                           "final/v",
                           "final/p",
                           "final/lambda",
                           "final/status",
                           "final/steps",
                           "final/iterations",
                           "final/residual",
                           "trajectories/index",
                           "trajectories/q",
                           "trajectories/v",
                           "trajectories/p",
                           "trajectories/lambda",
                           "observables/energy/mse",
                           "observables/energy/quantile_0.05"})
    EXPECT_TRUE(all.contains(name)) << name;
  EXPECT_EQ(all.at("time").size(), 31 * sizeof(double));
  EXPECT_EQ(all.at("final/status").size(), 600 * sizeof(std::uint32_t));
  EXPECT_EQ(all.at("trajectories/q").size(), 31 * 3 * 7 * sizeof(double));
  // the stored trajectories start and end where the states do
  const auto path = directory / "s.h5";
  const auto q = numbers(path, "trajectories/q"), initial = numbers(path, "initial/q"),
             final_q = numbers(path, "final/q");
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(q[7 + i], initial[511 * 7 + i]);
    EXPECT_EQ(q[30 * 21 + 7 + i], final_q[511 * 7 + i]);
  }
}

TEST_F(Program, ReportsASummaryAsJson) {
  write("s.toml", chaotic);
  const Outcome outcome = shell("$RB run s.toml --json");
  ASSERT_EQ(outcome.exit_code, 0);
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["trajectories"], 600);
  EXPECT_EQ(json["trajectory_steps"], 600 * 300);
  EXPECT_EQ(json["failed"], 0);
  EXPECT_EQ(json["left_out"], 0);
  double spent = 0.0;
  for (const char* phase : {"read", "compile", "prepare", "integrate", "reduce", "write", "wait"}) {
    EXPECT_GE(json["phases"][phase], 0.0) << phase;
    spent += json["phases"][phase].get<double>();
  }
  EXPECT_EQ(json["phases"].size(), 7u);
  EXPECT_GT(json["phases"]["read"], 0.0);
  EXPECT_EQ(json["phases"]["integrate"], json["wall_seconds"]);
  EXPECT_LT(spent, 2 * json["total_seconds"].get<double>());
  EXPECT_GT(json["iterations"], 600 * 300);
  EXPECT_EQ(json["observables"]["energy"]["mse"], numbers(directory / "s.h5", "observables/energy/mse").back());
}

TEST_F(Program, ChecksPrintAnEffectiveStudyThatRunsTheSame) {
  write("s.toml", chaotic);
  const Outcome check = shell("$RB check s.toml --set time.step=0.05");
  ASSERT_EQ(check.exit_code, 0) << check.err;
  write("effective.toml", check.out);
  EXPECT_EQ(shell("$RB check effective.toml").out, check.out);
  ASSERT_EQ(
      shell("$RB run s.toml --set time.step=0.05 --quiet -o a.h5; $RB run effective.toml --quiet -o b.h5").exit_code,
      0);
  EXPECT_TRUE(datasets(directory / "a.h5") == datasets(directory / "b.h5"));
}

TEST_F(Program, ListsEverySystemAndMethodWithItsSource) {
  const std::string text = shell("$RB list").out;
  for (const char* name :
       {"nonholonomic-particle", "pendulum-cvt", "chaotic", "chaplygin-sleigh", "isokinetic-particle", "henon-heiles",
        "nonholonomic-lobatto", "lobatto", "printed: m = 3, 2", "contact: m = 3, 2"})
    EXPECT_NE(text.find(name), std::string::npos) << name;
  const auto json = nlohmann::json::parse(shell("$RB list --json").out);
  for (const char* kind : {"systems", "methods"})
    for (const auto& entry : json[kind]) EXPECT_FALSE(entry["source"].get<std::string>().empty()) << entry["name"];
  EXPECT_EQ(shell("$RB list methods").out.find("henon-heiles"), std::string::npos);
  const auto sleigh = nlohmann::json::parse(shell("$RB describe chaplygin-sleigh --json").out);
  EXPECT_EQ(sleigh["instances"][0]["parameters"][1]["unit"], "kg m^2");
  const auto lobatto = nlohmann::json::parse(shell("$RB describe nonholonomic-lobatto --json").out)["options"];
  EXPECT_EQ(lobatto[0]["name"], "stages");
  EXPECT_EQ(lobatto[0]["default"], 2);
  EXPECT_EQ(lobatto[0]["maximum"], 8);
  EXPECT_EQ(lobatto[1]["choices"], (std::vector<std::string>{"cay", "exp"}));
  EXPECT_EQ(lobatto[1]["default"], "cay");
  EXPECT_NE(shell("$RB describe lobatto").out.find("number of stages s; 2 to 8; default 2"), std::string::npos);
  const Outcome unknown = shell("$RB describe chaplygin-sleight");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'chaplygin-sleigh'"), std::string::npos) << unknown.err;
}

struct Broken {
  const char* change;   // arguments that break the study
  const char* message;  // part of what stderr must say
};

TEST_F(Program, RefusesBadInputWithOneMessageAndWritesNothing) {
  write("s.toml", chaotic);
  write("syntax.toml", "[system]\nname = \"chaotic\nx = 1\n");
  const Broken cases[] = {
      {"s.toml --set time.stpe=0.1", "did you mean 'step'"},
      {"s.toml --set system.name=chaotik", "did you mean 'chaotic'"},
      {"s.toml --set system.variant=contac", "did you mean 'contact'"},
      {"s.toml --set method.name=nonholonomic-lobato", "did you mean 'nonholonomic-lobatto'"},
      {"s.toml --set method.name=lobatto", "lobatto"},
      {"s.toml --set method.stages=9", "stages"},
      {"s.toml --set time.step=0", "step"},
      {"s.toml --set time.step=-0.1", "step"},
      {"s.toml --set time.step=nan", "step"},
      {"s.toml --set time.step=0.07", "0.07"},
      {"s.toml --set 'ensemble.initial.q[1]=\"sin(\"'", "sin("},
      {"s.toml --set 'ensemble.initial.q[1]=\"sin(thta)\"'", "did you mean 'theta'"},
      {"s.toml --set 'ensemble.initial.q=[1,2]'", "7"},
      {"s.toml --set 'ensemble.initial.v[0]=0.5'", "project = true"},
      {"s.toml --set 'observable[0].name=energi'", "did you mean 'energy'"},
      {"s.toml --set 'observable[0].statistics=[\"mae\"]'", "mae"},
      {"s.toml --set system.parameters.m=7", "m"},
      {"s.toml --set system.parameters.mass=1", "mass"},
      {"s.toml --set output.trajectories=[600]", "600"},
      {"syntax.toml", "syntax.toml:2"},
      {"missing.toml", "missing.toml"},
      {"s.toml -o /nonexistent/place/a.h5", "/nonexistent/place/a.h5"},
      {"s.toml -o .", "directory"},
      {"s.toml --backend gpu", "unknown backend 'gpu'"},
      {"s.toml --backend cpu:avx1024", "unknown backend"},
      {"s.toml --threads 0", "threads"},
      {"s.toml --no-such-option", "--no-such-option"},
      {"s.toml --set ensemble.file=none.csv", "file"},
  };
  for (const Broken& broken : cases) {
    const Outcome outcome = shell(fmt::format("$RB run {} --quiet", broken.change));
    EXPECT_EQ(outcome.exit_code, 2) << broken.change;
    EXPECT_NE(outcome.err.find(broken.message), std::string::npos) << broken.change << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
    EXPECT_EQ(files(), (std::vector<std::string>{"s.toml", "syntax.toml"})) << broken.change;
  }
  EXPECT_EQ(shell("$RB").exit_code, 2);
  EXPECT_EQ(shell("$RB --help").exit_code, 0);
  EXPECT_EQ(shell("$RB run --help").exit_code, 0);
  EXPECT_NE(shell("$RB --version").out.find("rattleback"), std::string::npos);
}

TEST_F(Program, SaysWhereACudaDeviceIsMissing) {
  write("s.toml", chaotic);
  const Outcome outcome = shell("$RB run s.toml --backend cuda --quiet");
  if (outcome.exit_code == 0) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("backend 'cuda' is not available"), std::string::npos) << outcome.err;
  EXPECT_EQ(files(), std::vector<std::string>{"s.toml"});
}

TEST_F(Program, RunsWhateverLocksHdf5Takes) {
  write("s.toml", chaotic);
  const std::string small = " --quiet --set output.trajectories=[] --set time.end=1 ";
  const std::string run = "$RB run s.toml --set ensemble.axes[0].count=20" + small;
  ASSERT_EQ(shell(run + "-o a.h5").exit_code, 0);
  std::string next = chaotic;
  const std::size_t begin = next.find("axes ="), end = next.find("[[observable]]");
  next.replace(begin, end - begin, "file = \"a.h5\"\ngroup = \"/final\"\n");
  write("next.toml", next);
  for (const std::string value : {"TRUE", "1", "BEST_EFFORT", "FALSE", "0"})
    for (const std::string& command :
         {run + "-o b.h5", std::string("$RB diff a.h5 b.h5 --quiet"), "$RB run next.toml -o c.h5" + small}) {
      const Outcome outcome = shell("HDF5_USE_FILE_LOCKING=" + value + " " + command);
      EXPECT_EQ(outcome.exit_code, 0) << value << ": " << command << "\n" << outcome.err;
    }
}

TEST_F(Program, HasAsManyThreadsAsItsAffinityGrants) {
  write("s.toml", chaotic);
  const std::string bound =
      "taskset -c $(taskset -pc $$ | sed 's/.*: //; s/[,-].*//') $RB run s.toml --backend cpu:scalar --json --set "
      "time.end=1";
  const Outcome granted = shell(bound), asked = shell(bound + " -o r.h5 --threads 2");
  ASSERT_EQ(granted.exit_code, 0) << granted.err;
  EXPECT_EQ(nlohmann::json::parse(granted.out).at("threads"), 1);
  EXPECT_EQ(nlohmann::json::parse(asked.out).at("threads"), 2);
}

TEST_F(Program, SaysHowManyValuesAreNotFinite) {
  if (shell("$RB describe kepler").exit_code != 0) GTEST_SKIP() << "this build has a part of the catalogue";
  write("s.toml", R"toml([system]
name = "kepler"
[method]
name = "runge-kutta"
[time]
step = 0.01
steps = 2
[ensemble]
axes = [ { name = "v", values = [1.0, 1e200] } ]
[ensemble.initial]
q = [1, 0]
v = [0, "v"]
[[observable]]
name = "energy"
)toml");
  const Outcome outcome = shell("$RB run s.toml --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "rattleback: observable 'energy' was not finite in 2 values; they count as missing\n");
  const auto summary = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(summary["missing"]["energy"], 2);
  EXPECT_NEAR(summary["observables"]["energy"]["mean"].get<double>(), -0.5, 1e-12);
}

TEST_F(Program, FreezesAndCountsFailedTrajectories) {
  // with the step as an axis some trajectories take steps far beyond convergence
  write("s.toml", chaotic);
  const Outcome outcome = shell(
      "$RB run s.toml --set 'ensemble.axes=[{name=\"h\", values=[0.1, 3.0]}, {name=\"theta\", from=0, to=1, "
      "count=10}]' "
      "--set time.step=h --set time.samples=1 --set time.end=30.0 --set output.trajectories=[0]");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_NE(outcome.err.find("10 of 20 trajectories failed"), std::string::npos) << outcome.err;
  const auto all = datasets(directory / "s.h5");
  std::vector<std::uint32_t> status(20);
  std::memcpy(status.data(), all.at("final/status").data(), 20 * sizeof(std::uint32_t));
  std::vector<std::uint64_t> steps(20), count(2);
  std::memcpy(steps.data(), all.at("final/steps").data(), 20 * sizeof(std::uint64_t));
  std::memcpy(count.data(), all.at("observables/energy/count").data(), 2 * sizeof(std::uint64_t));
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(status[k] != 0, k >= 10) << k;
    if (k < 10) {
      EXPECT_EQ(steps[k], 300u);
    } else {
      EXPECT_LT(steps[k], 10u);
    }
  }
  EXPECT_EQ(count, (std::vector<std::uint64_t>{20, 10}));
  for (const double x : numbers(directory / "s.h5", "final/q")) EXPECT_TRUE(std::isfinite(x));
}

}  // namespace program_test
