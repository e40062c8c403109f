#include "rattleback/study/study.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/reader.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "studies.hpp"

namespace rattleback {
namespace study_test {

using namespace tests;

Study parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return Study::parse(text, "s.toml", overrides);
}

TEST(Study, AParameterMayNotUseAnotherParameter) {
  EXPECT_EQ(
      message_of(R"toml(system = { name = "chaplygin-sleigh", parameters = { mass = "2*inertia" } }
method.name = "nonholonomic-lobatto"
time = { step = 0.1, steps = 1 })toml"),
      "s.toml:1: unknown name 'inertia' in parameter mass = '2*inertia' (known: pi; a parameter may use the axes, not "
      "other parameters)");
}

TEST(Study, DefaultsAreFilledIn) {
  const Study study = parse(R"toml([system]
name = "pendulum-cvt"
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.5
steps = 4
)toml");
  const SystemEntry& system = *Problem(study).system;
  EXPECT_EQ(std::get<double>(study.system.parameters.at("epsilon").content), system.parameters[0].value);
  ASSERT_EQ(study.ensemble.q.size(), 3u);
  ASSERT_EQ(study.ensemble.v.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::get<double>(study.ensemble.q[i].content), system.default_q[i]);
    EXPECT_EQ(std::get<double>(study.ensemble.v[i].content), system.default_v[i]);
  }
  EXPECT_EQ(study.time.end, 2.0);
  EXPECT_EQ(study.time.sample_every, 4u);
  EXPECT_EQ(study.time.samples, 1u);
}

TEST(Study, TheFirstInstanceThatFitsIsChosen) {
  EXPECT_EQ(Problem(parse(base)).system->n, 7);
  EXPECT_STREQ(Problem(parse(base)).system->variant, "printed");
  const Study small = parse(R"toml([system]
name = "chaotic-nonholonomic"
variant = "contact"
parameters = { m = 2 }
[method]
name = "nonholonomic-lobatto"
[time]
step = 1
steps = 1
)toml");
  EXPECT_EQ(small.system.name, "chaotic");
  EXPECT_EQ(Problem(small).system->n, 5);
  EXPECT_STREQ(Problem(small).system->variant, "contact");
}

TEST(Study, TheStepCountForgivesRoundOff) {
  EXPECT_EQ(parse(with("end = 10.0", "end = \"10*pi\"", with("step = 0.1", "step = \"pi/10\""))).time.steps, 100u);
  EXPECT_EQ(parse(with("end = 10.0", "end = 0.3")).time.steps, 3u);
}

TEST(Study, TheLastIntervalBetweenSamplesMayBeShorter) {
  const Study study = parse(with("end = 10.0", "end = 10.0\nsample_every = 30"));
  EXPECT_EQ(study.time.sample_every, 30u);
  EXPECT_EQ(study.time.samples, 4u);
}

TEST(Study, CountsMayBeWrittenAsFloats) { EXPECT_EQ(parse(with("end = 10.0", "steps = 1e6")).time.steps, 1000000u); }

TEST(Study, AStepSizeMayVaryOverTheEnsemble) {
  const Study study =
      parse(with("step = 0.1", "step = \"0.1 + theta / pi\"", with("end = 10.0", "end = 12\nsamples = 2")));
  EXPECT_EQ(study.time.steps, 0u);
  EXPECT_EQ(study.time.sample_every, 0u);
  EXPECT_EQ(Problem(study).steps_per_sample(0.1), 60u);
  EXPECT_EQ(Problem(study).steps_per_sample(0.6), 10u);
  EXPECT_THROW((void)Problem(study).steps_per_sample(0), Error);
  try {
    (void)Problem(study).steps_per_sample(0.35);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "s.toml:7: the time from 0 to 12 is not a whole number of steps of 0.35 in each of 2 samples (it is "
                 "17.1428571429); use end = 11.9 or step = 0.352941176471");
  }
}

TEST(Study, AStepThatUsesOnlyConstantParametersDoesNotVary) {
  EXPECT_EQ(parse(with("step = 0.1", "step = \"0.3 / m\"")).time.steps, 100u);
}

TEST(Study, ReferencesDependOnTheKindOfObservable) {
  const Study study = parse(with("name = \"energy\"", R"toml(name = "energy"
[[observable]]
name = "q[2]"
[[observable]]
name = "iterations"
[[observable]]
name = "v[0]"
reference = "initial"
[[observable]]
name = "lambda[0]"
reference = 3)toml"));
  EXPECT_TRUE(study.observables[0].reference == ErrorReference::initial());
  EXPECT_TRUE(study.observables[1].reference == ErrorReference(0.0));
  EXPECT_TRUE(study.observables[2].reference == ErrorReference(0.0));
  EXPECT_TRUE(study.observables[3].reference == ErrorReference::initial());
  EXPECT_TRUE(study.observables[4].reference == ErrorReference(3.0));
}

TEST(Study, AnObservableAddedInCppMeansWhatItMeansInAFile) {
  Study study = parse(base);
  study.observables.clear();
  for (const char* name : {"energy", "q[0]"}) study.observables.emplace_back().name = name;
  study.validate();
  EXPECT_TRUE(study.observables[0].reference == ErrorReference::initial());
  EXPECT_TRUE(study.observables[1].reference == ErrorReference(0.0));
  EXPECT_EQ(study.observables[1].statistics, std::vector<std::string>{"mean"});
}

TEST(Study, ObservablesHaveCodes) {
  const Study study = parse(base);
  EXPECT_EQ(Problem(study).observable_code("p[6]").kind, ObservableCode::p);
  EXPECT_EQ(Problem(study).observable_code("p[6]").index, 6);
  EXPECT_EQ(Problem(study).observable_code("lambda[0]").kind, ObservableCode::lambda);
  EXPECT_EQ(Problem(study).observable_code("residual").kind, ObservableCode::residual);
  const ObservableCode energy = Problem(study).observable_code("energy");
  EXPECT_EQ(energy.kind, ObservableCode::system);
  EXPECT_STREQ(Problem(study).system->observables[static_cast<std::size_t>(energy.index)].name, "energy");
}

TEST(Study, AMethodWithoutMultipliersOffersNone) {
  const std::string text = R"toml([system]
name = "henon-heiles"
[method]
name = "lobatto"
[time]
step = 0.1
steps = 10
[[observable]]
name = "lambda[0]"
)toml";
  expect_message(
      message_of(text),
      "s.toml:8: unknown observable 'lambda[0]' of 'henon-heiles' (known: ...; a formula defines another one");
}

TEST(Study, OverridesReachEveryKindOfKey) {
  const Study study =
      parse(base, {"study.name=a b", "time.step=pi/10", "time.end=pi", "method.solver.tolerance=1e-14",
                   "ensemble.axes[0].count=31", "ensemble.initial.q[1]=0.3", "observable[0].reference=3.06",
                   "observable[1].name=q[2]", "output.trajectories=all", "ensemble.initial.v=[0,1,0,0,0,0,\"theta\"]"});
  EXPECT_EQ(study.name, "a b");
  EXPECT_EQ(std::get<std::string>(study.time.step.content), "pi/10");
  EXPECT_EQ(study.time.step.where, "--set time.step");
  EXPECT_EQ(study.time.steps, 10u);
  EXPECT_EQ(study.method.tolerance, 1e-14);
  EXPECT_EQ(study.ensemble.axes[0].count, 31u);
  EXPECT_EQ(std::get<double>(study.ensemble.q[1].content), 0.3);
  EXPECT_TRUE(study.observables[0].reference == ErrorReference(3.06));
  EXPECT_EQ(study.observables[1].name, "q[2]");
  EXPECT_TRUE(study.output.all_trajectories);
  EXPECT_EQ(std::get<std::string>(study.ensemble.v[6].content), "theta");
}

TEST(Study, AnOverrideOfOneTimeKeyReplacesItsCounterpart) {
  EXPECT_EQ(parse(base, {"time.steps=7"}).time.steps, 7u);
  EXPECT_EQ(parse(with("end = 10.0", "steps = 5"), {"time.end=1.2"}).time.steps, 12u);
  EXPECT_EQ(parse(with("end = 10.0", "end = 10.0\nsample_every = 7"), {"time.samples=5"}).time.sample_every, 20u);
  EXPECT_EQ(message_of(base, {"time.steps=7", "time.end=1"}),
            "--set time.steps: time.end and time.steps are both given (one follows from the other); leave one out");
}

// Every kind of key at once.
const std::string rich = R"toml([study]
name = "a \"quoted\" \\ name"
[system]
name = "chaplygin-sleigh"
parameters = { offset = "0.1*a", mass = 2 }
[method]
name = "nonholonomic-lobatto"
stages = 3
solver = { tolerance = 1e-13 }
[time]
start = -1
step = "pi/7"
steps = 700
sample_every = 33
[ensemble]
axes = [
  { name = "a", from = 0, to = "pi/3", count = 5 },
  { name = "b", values = [0.1, 1e300, -0.0, 3] },
  { name = "c", distribution = "uniform", from = -1, to = "sqrt(2)", seed = 4 },
  { name = "d", distribution = "normal", mean = "pi", seed = 5, draws = 2 },
]
draws = 6
project = true
[ensemble.initial]
q = ["a", "b*c", "d"]
p = [1, 0.3333333333333333, "mass*offset"]
lambda = ["-a"]
[[observable]]
name = "energy"
statistics = ["mse", "max"]
quantiles = [0.05, 0.95]
[[observable]]
name = "q[0]"
statistics = []
quantiles = [0.5]
[[observable]]
name = "q[1]"
statistics = []
values = true
[output]
trajectories = [0, 7]
initial_state = false
)toml";

TEST(Study, TheEffectiveStudyIsWrittenInFull) {
  const std::string text = parse(base).to_toml();
  EXPECT_EQ(text, R"toml([study]
name = "study"

[system]
name = "chaotic"
variant = "printed"
parameters = { m = 3.0 }

[method]
name = "nonholonomic-lobatto"
stages = 2
retraction = "cay"
multiplier = "carried"
solver = { tolerance = 1e-16, max_iterations = 50 }

[time]
start = 0.0
step = 0.1
end = 10.0
sample_every = 100

[ensemble]
axes = [
  { name = "theta", from = 0.0, to = "pi/2", count = 3 },
]
project = false

[ensemble.initial]
q = [0.0, "cos(theta)", 0.0, 0.0, 0.0, 0.0, 0.0]
v = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

[[observable]]
name = "energy"
statistics = ["mean"]
reference = "initial"

[output]
trajectories = [0]
initial_state = true
final_state = true
checkpoint = "10min"
)toml");
}

TEST(Study, TheEffectiveStudyReadsBackAsItself) {
  const std::string varying =
      with("step = 0.1", "step = \"0.1 + theta / pi\"", with("end = 10.0", "end = 12\nsamples = 2"));
  for (const std::string& text : {base, rich, varying}) {
    const std::string once = parse(text).to_toml();
    EXPECT_EQ(parse(once).to_toml(), once);
    EXPECT_EQ(parse(once).time.steps, parse(text).time.steps);
    EXPECT_EQ(parse(once).time.samples, parse(text).time.samples);
    EXPECT_EQ(once.find("values = true") != std::string::npos, text == rich);
  }
}

TEST(Study, ValidationIsIdempotent) {
  Study study = parse(rich);
  const std::string once = study.to_toml();
  study.validate();
  EXPECT_EQ(study.to_toml(), once);
}

TEST(Study, AStudyBuiltInCodeNeedsNoFile) {
  Study study;
  study.system.name = "isokinetic-particle";
  study.method.name = "nonholonomic-lobatto";
  study.time.step = 0.25;
  study.time.end = 10.0;
  study.observables.emplace_back().name = "energy";
  study.validate();
  EXPECT_EQ(study.time.steps, 40u);
  EXPECT_EQ(study.observables[0].statistics, std::vector<std::string>{"mean"});
  study.time.steps = 41;
  try {
    study.validate();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "time.end = 10 and time.steps = 41 contradict each other; leave one out");
  }
}

TEST(Study, LoadsFromAFileAndResolvesPathsThere) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "rattleback_study_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "study.toml") << with("axes = [{ name = \"theta\", from = 0, to = \"pi/2\", count = 3 }]",
                                               "file = \"points.csv\"");
  const Study study = Study::load(folder / "study.toml");
  EXPECT_EQ(study.directory, (folder / "study.toml").parent_path());
  EXPECT_NE(study.to_toml().find("file = \"" + (folder / "points.csv").string() + "\""), std::string::npos);
  try {
    (void)Study::load(folder / "absent.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), (folder / "absent.toml").string() + ": cannot be read (No such file or directory)");
  }
  std::filesystem::remove_all(folder);
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  const std::vector<std::string> words{"step", "steps", "samples", "x", "abs"};
  EXPECT_EQ(nearest("stpe", words), "step");
  EXPECT_EQ(nearest("sampels", words), "samples");
  EXPECT_EQ(nearest("whatever", words), "");
  EXPECT_EQ(nearest("y", words), "");
  EXPECT_EQ(nearest("b", words), "");
  EXPECT_EQ(nearest("ba", words), "");
  EXPECT_EQ(nearest("bs", words), "abs");
  EXPECT_EQ(nearest("xx", words), "x");
  EXPECT_EQ(nearest("", words), "");
}
TEST(Nearest, CountsAMissingSeparatorHalf) {
  const std::vector<std::string> names{"x", "y", "v_x", "v_y"};
  EXPECT_EQ(nearest("vx", names), "v_x");
  EXPECT_EQ(nearest("v-y", names), "v_y");
  EXPECT_EQ(nearest("v_xx", names), "v_x");
}

/// What a change replaces may come from an override: another method takes the options that it has.
TEST(Study, ChangesFollowOnOverrides) {
  const std::string text =
      "[system]\nname = 'pendulum'\n[method]\nname = 'holonomic-lobatto'\n[time]\nstep = 0.1\nend = 1\n";
  const auto read = [&](const std::vector<std::string>& overrides, const std::vector<std::string>& changes) {
    return read_study(text, "s.toml", overrides, changes);
  };
  const Study other = read({"method.stages=3", "time.step=0.2"}, {"method.name=ggl-vi-bs"});
  EXPECT_EQ(other.method.name, "ggl-vi-bs");
  EXPECT_FALSE(other.method.options.contains("stages"));
  EXPECT_EQ(std::get<double>(other.time.step.content), 0.2);
  // one and the same layer gives both, which is a fault of the user
  EXPECT_TRUE(read({"method.stages=3", "method.name=ggl-vi-bs"}, {}).method.options.contains("stages"));
  EXPECT_TRUE(read({"time.steps=7"}, {"time.end=2.0"}).time.end.has_value());
  EXPECT_FALSE(read({"time.steps=7"}, {"time.end=2.0"}).time.steps.has_value());
}

}  // namespace study_test
}  // namespace rattleback
