#include "rattleback/study/study.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/problem/ensemble.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace rattleback {
namespace {

const std::string base = R"toml([system]
name = "chaotic"
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.1
end = 10.0
[ensemble]
axes = [{ name = "theta", from = 0, to = "pi/2", count = 3 }]
[ensemble.initial]
q = [0, "cos(theta)", 0, 0, 0, 0, 0]
v = [0, 0, 0, 0, 0, 0, 0]
[[observable]]
name = "energy"
[output]
trajectories = [0]
)toml";

/// `base` with one piece of text replaced.
std::string with(const std::string& from, const std::string& to, std::string text = base) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string message_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    (void)Study::parse(text, "s.toml", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "accepted";
}

/// `expected` may hold one "..." for a list that depends on the catalogue.
void expect_message(const std::string& message, const std::string& expected) {
  const auto gap = expected.find("...");
  if (gap == std::string::npos) {
    EXPECT_EQ(message, expected);
    return;
  }
  EXPECT_TRUE(message.starts_with(expected.substr(0, gap))) << message << "\nexpected\n" << expected;
  EXPECT_TRUE(message.ends_with(expected.substr(gap + 3))) << message << "\nexpected\n" << expected;
}

struct Broken {
  const char* title;
  const char* from;
  const char* to;
  const char* message;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.to; }

class BrokenStudy : public testing::TestWithParam<Broken> {};

TEST_P(BrokenStudy, GivesItsMessage) {
  expect_message(message_of(with(GetParam().from, GetParam().to)), GetParam().message);
}

const Broken syntax[] = {
    {"NotToml", "step = 0.1", "step = ", "s.toml:6: not TOML: ... (column 8)"},
    {"UnknownKey", "step = ", "stpe = ",
     "s.toml:6: unknown key 'stpe' in [time] (known: start, step, end, steps, sample_every, samples); did you mean "
     "'step'?"},
    {"UnknownTable", "[output]", "[ouput]",
     "s.toml:15: unknown key 'ouput' at the top level (known: study, system, method, time, ensemble, observable, "
     "section, output); "
     "did you mean 'output'?"},
    {"UnknownKeyFarFromAll", "step = 0.1", "step = 0.1\nwhatever = 1",
     "s.toml:7: unknown key 'whatever' in [time] (known: start, step, end, steps, sample_every, samples)"},
    {"UnknownKeyOfAnAxis", "count = 3", "cuont = 3",
     "s.toml:9: unknown key 'cuont' in [ensemble.axes[0]] (known: name, from, to, count); did you mean 'count'?"},
    {"UnknownSolverOption", "name = \"nonholonomic-lobatto\"",
     "name = \"nonholonomic-lobatto\"\nsolver = { tol = 1e-12 }",
     "s.toml:5: unknown key 'tol' in [method.solver] (known: tolerance, max_iterations, guess)"},
    {"MissingTable", "[method]\nname = \"nonholonomic-lobatto\"\n", "", "s.toml:1: [method] is missing"},
    {"MissingKey", "step = 0.1\n", "", "s.toml:5: time.step is missing"},
    {"MissingAxisKey", ", count = 3", "", "s.toml:9: ensemble.axes[0].count is missing"},
    {"NumberForText", "\"chaotic\"", "3", "s.toml:2: system.name must be a string (got an integer)"},
    {"FlagForNumber", "step = 0.1", "step = true",
     "s.toml:6: time.step must be a number or an expression (got a boolean)"},
    {"TextForCount", "count = 3", "count = \"3\"",
     "s.toml:9: ensemble.axes[0].count must be a whole number (got a string)"},
    {"FractionForCount", "count = 3", "count = 2.5",
     "s.toml:9: ensemble.axes[0].count must be a whole number from 0 (got 2.5)"},
    {"NegativeCount", "count = 3", "count = -3", "s.toml:9: ensemble.axes[0].count must not be negative (got -3)"},
    {"TableForArray", "[[observable]]", "[observable]",
     "s.toml:13: observable must be an array of tables ([[observable]]) (got a table)"},
    {"ArrayForTable", "[output]\ntrajectories = [0]", "[[output]]", "s.toml:15: output must be a table (got an array)"},
    {"Infinity", "end = 10.0", "end = inf", "s.toml:7: time.end must be finite (got inf)"},
    {"NotANumber", "step = 0.1", "step = nan", "s.toml:6: time.step must be finite (got nan)"},
    {"ConstantThatDividesByZero", "end = 10.0", "end = \"1/0\"",
     "s.toml:7: time.end = '1/0' is not finite (it is inf)"},
    {"ReferenceInWords", "name = \"energy\"", "name = \"energy\"\nreference = \"start\"",
     "s.toml:15: observable[0].reference must be \"initial\" or a number (got 'start')"},
    {"TrajectoriesInWords", "[0]\n", "\"some\"\n",
     "s.toml:16: output.trajectories must be an array of indices or \"all\" (got a string)"},
};

const Broken names[] = {
    {"UnknownSystem", "\"chaotic\"", "\"chaotci\"", "s.toml:2: unknown system 'chaotci'; did you mean 'chaotic'?"},
    {"UnknownSystemFarFromAll", "\"chaotic\"", "\"n-body-problem\"",
     "s.toml:2: unknown system 'n-body-problem'; 'rattleback list systems' shows all"},
    {"UnknownMethod", "nonholonomic-lobatto", "nonholonomic-lobato",
     "s.toml:4: unknown method 'nonholonomic-lobato'; did you mean 'nonholonomic-lobatto'?"},
    {"UnknownVariant", "name = \"chaotic\"", "name = \"chaotic\"\nvariant = \"contcat\"",
     "s.toml:3: unknown variant 'contcat' of 'chaotic' (known: printed, contact); did you mean 'contact'?"},
    {"VariantOfASystemWithout", "name = \"chaotic\"", "name = \"henon-heiles\"\nvariant = \"x\"",
     "s.toml:3: unknown variant 'x' of 'henon-heiles' (it has none)"},
    {"UnknownParameter", "name = \"chaotic\"", "name = \"pendulum-cvt\"\nparameters = { epsilno = 1 }",
     "s.toml:3: unknown parameter 'epsilno' of 'pendulum-cvt' (known: epsilon); did you mean 'epsilon'?"},
    {"UnknownObservable", "\"energy\"", "\"enegry\"",
     "s.toml:13: unknown observable 'enegry' of 'chaotic' (known: ...); did you mean 'energy'?"},
    {"ComponentOutOfRange", "\"energy\"", "\"q[7]\"", "s.toml:13: unknown observable 'q[7]' of 'chaotic' (known: ...?"},
    {"UnknownStatistic", "name = \"energy\"", "name = \"energy\"\nstatistics = [\"mena\"]",
     "s.toml:13: unknown statistic 'mena' of 'energy' (known: mean, std, mse, rms, min, max, maxabs); did you mean "
     "'mean'?"},
    {"UnknownDistribution", "from = 0, to = \"pi/2\", count = 3", "distribution = \"gauss\", seed = 1",
     "s.toml:9: unknown distribution 'gauss' (known: uniform, normal)"},
    {"DimensionNotCompiled", "name = \"chaotic\"", "name = \"chaotic\"\nparameters = { m = 7 }",
     "s.toml:3: 'chaotic' is not compiled for m = 7; choose one of 2, 3..."},
    {"DimensionFromAnAxis", "name = \"chaotic\"", "name = \"chaotic\"\nparameters = { m = \"theta\" }",
     "s.toml:3: m must be a plain number (it fixes the dimension); choose one of 2, 3..."},
    {"MethodThatDoesNotFit", "\"nonholonomic-lobatto\"", "\"lobatto\"",
     "s.toml:4: method 'lobatto' cannot treat system 'chaotic' (it takes systems without constraints, this one has "
     "velocity constraints); use ...nonholonomic-lobatto"},
    {"UnknownOption", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nstage = 3",
     "s.toml:5: unknown key 'stage' in [method] of 'nonholonomic-lobatto' (known: name, stages, retraction, normalise, "
     "solver); did you mean 'stages'?"},
    {"StagesInWords", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nstages = \"two\"",
     "s.toml:5: method.stages must be a whole number (got a string)"},
    {"BrokenStages", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nstages = 2.5",
     "s.toml:5: method.stages must be a whole number (got a number)"},
    {"UnknownChoice", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nretraction = \"expp\"",
     "s.toml:5: method.retraction = 'expp' is not known; 'nonholonomic-lobatto' takes cay, exp; did you mean 'exp'?"},
    {"ChoiceByNumber", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nretraction = 1",
     "s.toml:5: method.retraction must be one of cay, exp (got a whole number)"},
    {"TableForAnOption", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nstages = { s = 2 }",
     "s.toml:5: method.stages must be a number, a string, true or false, or an array of numbers (got a table)"},
    {"TableauTwice", "name = \"nonholonomic-lobatto\"",
     "name = \"vrkmk\"\na = [[0.5]]\ntableau = { a = [[0.5]], b = [1] }",
     "s.toml:6: method.a is given in method.tableau and beside it; leave one out"},
    {"StagesOutOfRange", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nstages = 6",
     "s.toml:5: method.stages = 6 is out of range; 'nonholonomic-lobatto' takes 2 to 5"},
    {"ToleranceTooLarge", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nsolver.tolerance = 1e-3",
     "s.toml:5: method.solver.tolerance = 0.001 is out of range; it must be above 0 and at most 1e-6"},
    {"NoIterations", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nsolver.max_iterations = 0",
     "s.toml:5: method.solver.max_iterations = 0 is out of range; it must be in 1 to 10000"},
    {"UnknownGuess", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nsolver.guess = \"best\"",
     "s.toml:5: method.solver.guess = 'best' is unknown; it is \"advanced\", q + h v, or \"simple\", q"},
    {"GuessWithoutPrediction", "name = \"nonholonomic-lobatto\"",
     "name = \"nonholonomic-lobatto\"\nsolver.guess = \"simple\"",
     "s.toml:5: method 'nonholonomic-lobatto' has no choice of a guess: its unknowns have no predicted position; leave "
     "out "
     "'solver.guess'"},
};

const Broken times[] = {
    {"NegativeStep", "step = 0.1", "step = -0.1", "s.toml:6: time.step must be positive (got -0.1)"},
    {"ZeroStepByExpression", "step = 0.1", "step = \"1 - 1\"", "s.toml:6: time.step must be positive (got 0)"},
    {"EndBeforeStart", "end = 10.0", "end = 10.0\nstart = 20",
     "s.toml:7: time.end must be after time.start = 20 (got 10)"},
    {"NoEnd", "end = 10.0", "", "s.toml:5: time.end is missing; give time.end or time.steps"},
    {"EndAndSteps", "end = 10.0", "end = 10.0\nsteps = 100",
     "s.toml:8: time.end and time.steps are both given (one follows from the other); leave one out"},
    {"NoSteps", "end = 10.0", "steps = 0", "s.toml:7: time.steps must be at least 1"},
    {"BrokenStepCount", "end = 10.0", "end = 10.04",
     "s.toml:7: the time from 0 to 10.04 is not a whole number of steps of 0.1 (it is 100.4); use end = 10 or "
     "step = 0.1004"},
    {"StepsBeyondResolution", "end = 10.0", "steps = 3\nstart = 1e16",
     "s.toml:7: 3 steps of 0.1 from 1e+16 are beyond the resolution of a double"},
    {"TooManySteps", "end = 10.0", "end = 1e20", "s.toml:6: 1e+21 steps are too many"},
    {"SamplesThatDoNotDivide", "end = 10.0", "end = 10.0\nsamples = 30",
     "s.toml:8: time.samples = 30 does not divide the 100 steps; use samples = 25 or give sample_every"},
    {"NoSamples", "end = 10.0", "end = 10.0\nsamples = 0", "s.toml:8: time.samples must be at least 1"},
    {"SampleEveryZero", "end = 10.0", "end = 10.0\nsample_every = 0", "s.toml:8: time.sample_every must be at least 1"},
    {"SamplesAndSampleEvery", "end = 10.0", "end = 10.0\nsamples = 10\nsample_every = 10",
     "s.toml:8: time.sample_every and time.samples are both given (one follows from the other); leave one out"},
    {"VaryingStepWithoutSamples", "step = 0.1", "step = \"0.1 + theta\"",
     "s.toml:6: time.step varies over the ensemble (so the number of steps does); give time.end and time.samples, not "
     "time.steps or time.sample_every"},
};

const Broken ensembles[] = {
    {"EmptyRange", "count = 3", "count = 0", "s.toml:9: axis 'theta' is empty (count = 0); count must be at least 1"},
    {"EmptyValues", "from = 0, to = \"pi/2\", count = 3", "values = []",
     "s.toml:9: axis 'theta' is empty (values = []); give at least one value"},
    {"EndOfARangeFromAnAxis", "\"pi/2\"", "\"theta\"",
     "s.toml:9: unknown name 'theta' in to of axis 'theta' = 'theta' (known: pi; a constant is needed here)"},
    {"NegativeSeed", "from = 0, to = \"pi/2\", count = 3", "distribution = \"normal\", seed = -1",
     "s.toml:9: ensemble.axes[0].seed must not be negative (got -1)"},
    {"NoSeed", "from = 0, to = \"pi/2\", count = 3", "distribution = \"normal\"",
     "s.toml:9: ensemble.axes[0].seed is missing"},
    {"NegativeStd", "from = 0, to = \"pi/2\", count = 3", "distribution = \"normal\", std = -1, seed = 1, draws = 2",
     "s.toml:9: axis 'theta' has a negative std (-1)"},
    {"NoDraws", "from = 0, to = \"pi/2\", count = 3", "distribution = \"normal\", seed = 1",
     "s.toml:9: random axis 'theta' has no number of draws; give ensemble.draws (drawn jointly with the other random "
     "axes) "
     "or draws in the axis (a factor of its own)"},
    {"ZeroDraws", "from = 0, to = \"pi/2\", count = 3", "distribution = \"normal\", seed = 1, draws = 0",
     "s.toml:9: axis 'theta' is empty (draws = 0); draws must be at least 1"},
    {"DrawsOfNothing", "[ensemble]", "[ensemble]\ndraws = 5",
     "s.toml:9: ensemble.draws has no effect (no random axis is without draws of its own)"},
    {"RepeatedAxis", "count = 3 }", "count = 3 }, { name = \"theta\", values = [1] }",
     "s.toml:9: 'theta' cannot name an axis (another axis has it); choose another name"},
    {"AxisNamedPi", "\"theta\"", "\"pi\"",
     "s.toml:9: 'pi' cannot name an axis (a name is letters, digits and _, does not start with a digit, and is neither "
     "pi "
     "nor a function); choose another name"},
    {"AxisNamedLikeAParameter", "\"theta\"", "\"m\"",
     "s.toml:9: 'm' cannot name an axis (it is a parameter of 'chaotic'); choose another name"},
    {"ProductTooLarge", "count = 3 }", "count = 4000000000 }, { name = \"b\", from = 0, to = 1, count = 4000000000 }",
     "s.toml:9: the product of the axes exceeds 2^63 trajectories; use fewer points"},
    {"FileAndAxes", "[ensemble]", "[ensemble]\nfile = \"a.csv\"",
     "s.toml:9: ensemble.file and ensemble.axes are both given (each defines the trajectories); leave one out"},
    {"GroupWithoutFile", "[ensemble]", "[ensemble]\ngroup = \"final\"",
     "s.toml:9: ensemble.group has no effect (it is the group in an HDF5 ensemble.file)"},
    {"VectorTooShort", "v = [0, 0, 0, 0, 0, 0, 0]", "v = [0, 0, 0, 0, 0, 0]",
     "s.toml:12: initial v needs n = 7 values for 'chaotic' (got 6)"},
    {"MultiplierTooLong", "v = [0", "lambda = [1, 2]\nv = [0",
     "s.toml:12: initial lambda needs m = 1 values for 'chaotic' (got 2)"},
    {"EmptyVector", "v = [0, 0, 0, 0, 0, 0, 0]", "v = []",
     "s.toml:12: ensemble.initial.v is empty; leave the key out or give a value per component"},
    {"VelocityAndMomentum", "v = [0", "p = [0, 0, 0, 0, 0, 0, 0]\nv = [0",
     "s.toml:10: initial v and p are both given (one follows from the other); leave one out"},
    {"NoVelocity", "v = [0, 0, 0, 0, 0, 0, 0]\n", "", "s.toml:10: initial q is given without velocities; give v or p"},
    {"NoPosition", "q = [0, \"cos(theta)\", 0, 0, 0, 0, 0]\n", "", "s.toml:10: initial v is given without q; give q"},
    {"UnknownName", "cos(theta)", "cos(thta)",
     "s.toml:11: unknown name 'thta' in q[1] = 'cos(thta)' (known: theta, m, pi); did you mean 'theta'?"},
    {"UnknownFunction", "cos(theta)", "cosn(theta)",
     "s.toml:11: unknown name 'cosn' in q[1] = 'cosn(theta)' (known: theta, m, pi); did you mean 'cos'?"},
    {"BrokenExpression", "cos(theta)", "cos(theta",
     "s.toml:11: q[1] = 'cos(theta' is not an expression (column 10: a ')' is missing)"},
    {"TwoValues", "cos(theta)", "1, 2",
     "s.toml:11: q[1] = '1, 2' is not an expression (column 5: it has 2 values, and one is needed)"},
    {"Assignment", "cos(theta)", "theta = 2",
     "s.toml:11: q[1] = 'theta = 2' is not an expression (column 7: it assigns, and an expression only computes a "
     "value)"},
    {"ConstantThatIsNotFinite", "cos(theta)", "log(0)", "s.toml:11: q[1] = 'log(0)' is not finite (it is -inf)"},
};

const Broken outputs[] = {
    {"RepeatedObservable", "[output]", "[[observable]]\nname = \"energy\"\n[output]",
     "s.toml:15: observable 'energy' appears twice; merge the two"},
    {"RepeatedStatistic", "name = \"energy\"", "name = \"energy\"\nstatistics = [\"max\", \"max\"]",
     "s.toml:13: statistic 'max' appears twice; leave one out"},
    {"QuantileOutOfRange", "name = \"energy\"", "name = \"energy\"\nquantiles = [0.5, 1.5]",
     "s.toml:13: quantile level 1.5 of 'energy' is out of range; levels are in 0 to 1"},
    {"TrajectoryOutOfRange", "trajectories = [0]", "trajectories = [0, 3]",
     "s.toml:16: trajectory 3 is out of range (the ensemble has 3); indices are in 0 to 2"},
    {"RepeatedTrajectory", "trajectories = [0]", "trajectories = [2, 2]",
     "s.toml:16: trajectory '2' appears twice; leave one out"},
};

const auto title = [](const auto& info) { return std::string(info.param.title); };
INSTANTIATE_TEST_SUITE_P(Syntax, BrokenStudy, testing::ValuesIn(syntax), title);
INSTANTIATE_TEST_SUITE_P(Names, BrokenStudy, testing::ValuesIn(names), title);
INSTANTIATE_TEST_SUITE_P(Time, BrokenStudy, testing::ValuesIn(times), title);
INSTANTIATE_TEST_SUITE_P(Ensemble, BrokenStudy, testing::ValuesIn(ensembles), title);
INSTANTIATE_TEST_SUITE_P(Output, BrokenStudy, testing::ValuesIn(outputs), title);

struct BadOverride {
  const char* title;
  const char* text;
  const char* message;
};

void PrintTo(const BadOverride& bad, std::ostream* out) { *out << bad.text; }

class BrokenOverride : public testing::TestWithParam<BadOverride> {};

TEST_P(BrokenOverride, GivesItsMessage) { expect_message(message_of(base, {GetParam().text}), GetParam().message); }

const BadOverride overrides[] = {
    {"NoValue", "time.step", "--set time.step: not of the form KEY=VALUE; write for example time.step=0.05"},
    {"EmptyValue", "time.step=", "--set time.step=: not of the form KEY=VALUE; write for example time.step=0.05"},
    {"NoKey", "=3", "--set =3: not of the form KEY=VALUE; write for example time.step=0.05"},
    {"OpenBracket", "observable[0.name=a",
     "--set observable[0.name=a: not of the form KEY=VALUE; write for example time.step=0.05"},
    {"UnknownKey", "time.stpe=1", "--set time.stpe: unknown key 'stpe' in [time] (...); did you mean 'step'?"},
    {"UnknownTable", "tmie.step=1", "--set tmie.step: unknown key 'tmie' at the top level (...); did you mean 'time'?"},
    {"WrongType", "time.step=true", "--set time.step: time.step must be a number or an expression (got a boolean)"},
    {"BadValue", "time.step=-1", "--set time.step: time.step must be positive (got -1)"},
    {"BadExpression", "time.step=thta", "--set time.step: unknown name 'thta' in time.step = 'thta' (...'theta'?"},
    {"IntoANumber", "time.step.x=1", "--set time.step.x: 'x' is inside a number, not a table"},
    {"IndexIntoATable", "time[0]=1", "--set time[0]: [0] is inside a table, not an array"},
    {"IndexOutOfRange", "ensemble.axes[2].count=1",
     "--set ensemble.axes[2].count: index 2 is out of range (the array has 1 elements)"},
};
INSTANTIATE_TEST_SUITE_P(Study, BrokenOverride, testing::ValuesIn(overrides), title);

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
  expect_message(message_of(text), "s.toml:8: unknown observable 'lambda[0]' of 'henon-heiles' (known: ...)");
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

}  // namespace
}  // namespace rattleback
