// Every command on every study of examples/, through the executable.

#include <cmath>

#include "program.hpp"

using nlohmann::json;

namespace {

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(RATTLEBACK_EXAMPLES))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

/// Few steps of few trajectories, unless the step is an axis or follows a density: such a study keeps its times.
class Examples : public Program, public testing::WithParamInterface<std::string> {
 protected:
  Examples() {
    study = fmt::format("{}/{}.toml", RATTLEBACK_EXAMPLES, GetParam());
    const std::string text = read_file(study);
    // stiff systems keep their step; a study of stability goes beyond what is accurate
    const auto step = text.find("\nstep = ");
    const double given = step == std::string::npos ? 0.0 : std::strtod(text.c_str() + step + 8, nullptr);
    if (given > 0.0) base_step = given <= 0.01 ? given : given > 0.5 ? 0.01 : std::min(base_step, given / 2);
    const bool follows = text.find("\ncontrol = \"density\"") != std::string::npos;
    keeps_times = text.find("\nstep = \"h\"") != std::string::npos || follows;
    if (follows) {  // for motions with encounters, which multiply rounding errors
      base_step = 10.0 * given;
      smooth = " --set time.end=2 --set time.samples=1";
    }
    if (!keeps_times) options += " --set time.steps=30 --set time.sample_every=7";
    if (text.find("count = 1024") != std::string::npos) options += " --set 'ensemble.axes[0].count=300'";
    if (text.find("draws = ") != std::string::npos)  // a randomisation has a power of two
      options +=
          text.find("randomisations") != std::string::npos ? " --set ensemble.draws=256" : " --set ensemble.draws=300";
  }
  /// Runs a command on the study; it must succeed.
  Outcome good(const std::string& command) const {
    const Outcome outcome = shell("$RB " + command);
    EXPECT_EQ(outcome.exit_code, 0) << command << outcome.err << outcome.out;
    return outcome;
  }

  std::string study, options, smooth;  ///< `smooth`: options that leave the part of a motion in which the order shows
  bool keeps_times;
  double base_step = 0.1;
};

TEST_P(Examples, RunLikeTheirEffectiveStudies) {
  good(fmt::format("check '{}' > effective.toml", study));
  good(fmt::format("run '{}' -o a.h5 --quiet{}", study, options));
  // The effective study is the same study, and the C library without fast instructions, which rounds otherwise, changes nothing.
  const Outcome other = shell(
      fmt::format("GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 $RB run effective.toml -o b.h5 --quiet{}", options));
  EXPECT_EQ(other.exit_code, 0) << other.err << other.out;
  good("diff a.h5 b.h5 --quiet");
  const Outcome again = shell("$RB resume a.h5");
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("is finished"), std::string::npos) << again.err;
}

TEST_P(Examples, HaveAnOrderAndASpeed) {
  const json order = json::parse(
      good(fmt::format("order '{}' --steps {},{},{} --json --quiet{}{}", study, base_step, base_step / 2, base_step / 4,
                       options, keeps_times ? smooth : fmt::format(" --set time.step={}", base_step)))
          .out);
  EXPECT_EQ(order["steps"].size(), 3u);
  const double observed = order["variables"]["q"]["order_max"][2];
  EXPECT_NEAR(observed, std::round(observed), 0.2);  // all methods have a whole order, and these studies are smooth
  EXPECT_GE(observed, 0.8);
  const json bench = json::parse(good(fmt::format("bench '{}' --repetitions 1 --json{}", study, options)).out);
  EXPECT_GT(bench["trajectory_steps"], 0);
}

TEST_P(Examples, GoOnWhereTheyWereStopped) {
  good(fmt::format("run '{}' -o a.h5 --quiet{}", study, options));
  // whatever is left when it is stopped, the result is the same in the end
  const std::string often = fmt::format("--set output.checkpoint={}", keeps_times ? 1000 : 1);
  shell(fmt::format("$RB run '{}' -o b.h5 --quiet {}{} & P=$!; sleep 0.05; kill -INT $P; wait $P", study, often,
                    options));
  if (fs::exists(directory / "b.h5.checkpoint")) {
    good("resume b.h5 --quiet");
  } else if (!fs::exists(directory / "b.h5")) {
    good(fmt::format("run '{}' -o b.h5 --quiet {}{}", study, often, options));
  }
  EXPECT_TRUE(datasets(directory / "a.h5") == datasets(directory / "b.h5"));
}

TEST_P(Examples, GiveTheSameBitsOnEveryBackend) {
  const std::vector<std::string> names = examples();
  // scalar code and the widest packs of this processor; on every third example packs of half their width, which are the same code
  std::vector<const char*> lists = {"cpu:scalar,threads=1,cpu:threads=2,scalar,cpu"};
  if ((std::ranges::find(names, GetParam()) - names.begin()) % 3 == 0) lists.push_back("cpu:scalar,cpu:avx2");
  for (const char* backends : lists) {
    const Outcome outcome = shell(fmt::format("$RB compare '{}' --backends {} --json{}", study, backends, options));
    if (outcome.err.find("is not available on this processor") != std::string::npos) continue;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
    const json report = json::parse(outcome.out);
    EXPECT_EQ(report["identical"], true);
    EXPECT_EQ(report["comparisons"].size(), report["runs"].size() - 1);
    for (const json& comparison : report["comparisons"]) EXPECT_GT(comparison["datasets"].size(), 5u);
  }
  EXPECT_TRUE(files().empty());
}

INSTANTIATE_TEST_SUITE_P(All, Examples, testing::ValuesIn(examples()), [](const auto& example) {
  std::string name = example.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// Draws, formulas, fits and correlations of every kind. The system and the method are those of an example.
constexpr const char* every_function = R"toml([system]
name = "spherical-pendulum"
variant = "magnetic"
parameters = { magnetic_field = "exp(0.1 b) - 0.1 log(2 + b) + 0.01 log2(3 + b) log10(4 + b)" }
[method]
name = "holonomic-lobatto"
stages = 3
[time]
step = "0.1 cosh(0.01) / (1 + 0.001 sinh(0.5))"
steps = 12
sample_every = 2
[ensemble]
draws = 1024
axes = [
  { name = "a", distribution = "normal", mean = 1, std = 0.1, seed = 1 },
  { name = "w", distribution = "uniform", from = 0.4, to = 1.2, seed = 2 },
  { name = "b", from = -1, to = 1, count = 3 },
]
group_by = ["b"]
[ensemble.initial]
q = ["sin(a)", 0, "-cos(a)"]
v = [0, "w + 0.1 tanh(b) + 0.01 (1.5 + a)^0.3 + 0.01 atan2(a, 2 + b) + 0.01 tan(0.3 a) + 0.01 acosh(2 + b) + 0.01 atanh(b/2)", 0]
[[observable]]
name = "q[2]"
statistics = ["mean", "std", "mse"]
quantiles = [0.5]
histogram = { from = -1, to = 0, bins = 7 }
correlation = ["q[0]"]
reference = "initial"
[[observable]]
name = "q[0]"
[[fit]]
name = "line"
observable = "q[2]"
[[fit]]
name = "power"
observable = "q[2]"
model = "power"
from = 0.3
[[fit]]
name = "exponential"
observable = "q[2]"
model = "exponential"
from = 0.3
[output]
covariance = ["q"]
trajectories = "all"
)toml";

TEST_F(Program, ResultsDoNotDependOnTheCLibrary) {
  write("study.toml", every_function);
  const std::string sobol = R"( --set 'ensemble.axes[0].distribution="sobol"' --set ensemble.randomisations=4)"
                            R"( --set 'ensemble.axes[1].distribution="sobol"')";
  std::string lattice = sobol;
  for (std::size_t at; (at = lattice.find("sobol")) != std::string::npos;) lattice.replace(at, 5, "lattice");
  for (const std::string& options : {std::string(), sobol, lattice}) {
    const Outcome outcome = shell("$RB run study.toml -o a.h5 --quiet" + options +
                                  " && GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2 $RB run study.toml -o b.h5 --quiet" +
                                  options + " && $RB diff a.h5 b.h5 --quiet");
    EXPECT_EQ(outcome.exit_code, 0) << options << outcome.err << outcome.out;
    EXPECT_GT(datasets(directory / "a.h5").size(), 60u);
    fs::remove(directory / "a.h5");
    fs::remove(directory / "b.h5");
  }
}

TEST_F(Program, StabilityOfFourParticlesEndsWhereTheExampleSays) {
  const Outcome run =
      shell(fmt::format("$RB run '{}/ggl-four-particle-stability.toml' -o a.h5 --quiet "
                        "--set method.name=ggl-vi-bs --set time.step=0.25 --set time.steps=1200",
                        RATTLEBACK_EXAMPLES));
  EXPECT_EQ(run.exit_code, 3) << run.err;
  const std::vector<char> steps = datasets(directory / "a.h5").at("final/steps");
  std::uint64_t taken = 0;
  ASSERT_EQ(steps.size(), sizeof taken);
  std::memcpy(&taken, steps.data(), sizeof taken);
  // The motion is chaotic; the example says within which times a start nearby ends.
  EXPECT_GE(taken, 47u * 4u);
  EXPECT_LE(taken, 183u * 4u);
}

}  // namespace
