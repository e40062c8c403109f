// The messages for studies and overrides that cannot be accepted.

#include "studies.hpp"

namespace rattleback {
namespace broken_study_test {

using namespace tests;

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
     "s.toml:6: unknown key 'stpe' in [time] (known: start, step, end, steps, sample_every, samples, control, density, "
     "max_steps); did you mean 'step'?"},
    {"UnknownTable", "[output]", "[ouput]",
     "s.toml:15: unknown key 'ouput' at the top level (known: study, system, body, joint, method, time, ensemble, "
     "observable, section, stop, fate, map, average, fit, lyapunov, derivatives, output); "
     "did you mean 'output'?"},
    {"UnknownKeyFarFromAll", "step = 0.1", "step = 0.1\nwhatever = 1",
     "s.toml:7: unknown key 'whatever' in [time] (known: start, step, end, steps, sample_every, samples, control, "
     "density, "
     "max_steps)"},
    {"KeyOfAnotherTable", "step = 0.1", "step = 0.1\nparameters = { m = 1 }",
     "s.toml:7: unknown key 'parameters' in [time] (known: ...); it is a key of [system]"},
    {"KeyOfTablesInAList", "step = 0.1", "step = 0.1\nstatistics = [\"mean\"]",
     "s.toml:7: unknown key 'statistics' in [time] (known: ...); it is a key of [[observable]], [[average]]"},
    {"UnknownKeyOfAnAxis", "count = 3", "cuont = 3",
     "s.toml:9: unknown key 'cuont' in [ensemble.axes[0]] (known: name, from, to, count, dimension); did you mean "
     "'count'?"},
    {"UnknownSolverOption", "name = \"nonholonomic-lobatto\"",
     "name = \"nonholonomic-lobatto\"\nsolver = { tol = 1e-12 }",
     "s.toml:5: unknown key 'tol' in [method.solver] (known: tolerance, max_iterations, guess)"},
    {"MissingTable", "[method]\nname = \"nonholonomic-lobatto\"\n", "", "s.toml:1: [method] is missing"},
    {"MissingKey", "step = 0.1\n", "",
     "s.toml:5: time.step is missing (expression in the axes and parameters; positive, or negative for a run back in "
     "time)"},
    {"MissingAxisKey", ", count = 3", "",
     "s.toml:9: ensemble.axes[0].count is missing (the number of values of a range, both ends included)"},
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
    {"FormulaWithUnknownName", "name = \"energy\"", "name = \"spin\"\nformula = \"x p[1] - yy1 p[0]\"",
     "s.toml:15: observable[0].formula = 'x p[1] - yy1 p[0]' cannot be used (column 10): unknown name 'yy1' (known: x, "
     "y1, y2, y3, z1, z2, z3, m, pi, q[i], v[i], p[i], lambda[i], t, energy, constraint, ...); did you mean 'y1'?"},
    {"FormulaThatBreaksOff", "name = \"energy\"", "name = \"spin\"\nformula = \"sqrt(x\"",
     "s.toml:15: observable[0].formula = 'sqrt(x' cannot be used (column 7): a ')' is missing"},
    {"FormulaThatDividesByZero", "name = \"energy\"", "name = \"spin\"\nformula = \"x/(x - x)\"",
     "s.toml:15: observable[0].formula = 'x/(x - x)' cannot be used: it divides by 0"},
    {"FormulaNamedAsAnObservable", "name = \"energy\"", "name = \"energy\"\nformula = \"x\"",
     "s.toml:13: 'energy' names an observable of 'chaotic'; give the formula another name"},
    {"FormulaNamedAsAComponent", "name = \"energy\"", "name = \"q[9]\"\nformula = \"x\"",
     "s.toml:13: 'q[9]' names an observable of the program; give the formula another name"},
    {"FormulaWithABadName", "name = \"energy\"", "name = \"a/b\"\nformula = \"x\"",
     "s.toml:13: an observable cannot be called 'a/b' (...); use letters, digits, '-' and '_'"},
    {"EmptyFormula", "name = \"energy\"", "name = \"spin\"\nformula = \"\"", "s.toml:15: observable[0].formula..."},
    {"UnknownObservableFarFromAll", "\"energy\"", "\"angular\"",
     "s.toml:13: unknown observable 'angular' of 'chaotic' (known: ...; a formula defines another one"},
    {"ValuesAreAFlag", "name = \"energy\"", "name = \"energy\"\nvalues = [1.0]",
     "s.toml:15: observable[0].values must be true or false (got an array)"},
    {"UnknownStatistic", "name = \"energy\"", "name = \"energy\"\nstatistics = [\"mena\"]",
     "s.toml:13: unknown statistic 'mena' of 'energy' (known: mean, std, mse, rms, min, max, maxabs); did you mean "
     "'mean'?"},
    {"UnknownDistribution", "from = 0, to = \"pi/2\", count = 3", "distribution = \"gauss\", seed = 1",
     "s.toml:9: unknown distribution 'gauss' (known: uniform, normal, sobol, lattice)"},
    {"DimensionNotCompiled", "name = \"chaotic\"", "name = \"chaotic\"\nparameters = { m = 13 }",
     "s.toml:3: there is no 'chaotic' with m = 13; choose one of 2, 3..."},
    {"DimensionFromAnAxis", "name = \"chaotic\"", "name = \"chaotic\"\nparameters = { m = \"theta\" }",
     "s.toml:3: m must be a plain number (it fixes the dimension); choose one of 2, 3..."},
    {"MethodThatDoesNotFit", "\"nonholonomic-lobatto\"", "\"lobatto\"",
     "s.toml:4: method 'lobatto' cannot treat system 'chaotic' (it takes systems without constraints, this one has "
     "velocity constraints); use nonholonomic-lobatto, ...generalized-alpha"},
    {"UnknownOption", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nstage = 3",
     "s.toml:5: unknown key 'stage' in [method] of 'nonholonomic-lobatto' (known: name, stages, retraction, "
     "multiplier, "
     "normalise, solver); did you mean 'stages'?"},
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
    {"StagesOutOfRange", "name = \"nonholonomic-lobatto\"", "name = \"nonholonomic-lobatto\"\nstages = 9",
     "s.toml:5: method.stages = 9 is out of range; 'nonholonomic-lobatto' takes 2 to 8"},
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
    {"NegativeStep", "step = 0.1", "step = -0.1",
     "s.toml:6: time.end = 10 is after time.start = 0, and steps of -0.1 lead away from it; change the sign of the "
     "step, or the "
     "end"},
    {"ZeroStepByExpression", "step = 0.1", "step = \"1 - 1\"",
     "s.toml:6: time.step must be positive, or negative for a run back in time (got 0)"},
    {"EndBeforeStart", "end = 10.0", "end = 10.0\nstart = 20",
     "s.toml:6: time.end = 10 is before time.start = 20, and steps of 0.1 lead away from it; change the sign of the "
     "step, or "
     "the end"},
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
     "s.toml:9: ensemble.axes[0].seed is missing (the seed of the draws)"},
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
     "s.toml:15: observable[0].quantiles[1] = 1.5 is out of range; it must be in 0 to 1"},
    {"TrajectoryOutOfRange", "trajectories = [0]", "trajectories = [0, 3]",
     "s.toml:16: trajectory 3 is out of range (the ensemble has 3); indices are in 0 to 2"},
    {"RepeatedTrajectory", "trajectories = [0]", "trajectories = [2, 2]",
     "s.toml:16: trajectory '2' appears twice; leave one out"},
};

// The axis theta of `base` is on line 9.
constexpr const char* range = "axes = [{ name = \"theta\", from = 0, to = \"pi/2\", count = 3 }]";
#define SOBOL(...) "{ name = \"theta\", distribution = \"sobol\", from = 0, to = 1, seed = 1" __VA_ARGS__ " }"

const Broken quasi_random[] = {
    {"NotAMultiple", range, "draws = 4096\nrandomisations = 3\naxes = [" SOBOL() "]",
     "s.toml:10: ensemble.draws = 4096 is not a multiple of ensemble.randomisations = 3 (all randomisations have the "
     "same "
     "number of points); use ensemble.draws = 3072 or 6144"},
    {"FewerDrawsThanRandomisations", range, "draws = 8\nrandomisations = 16\naxes = [" SOBOL() "]",
     "s.toml:10: ensemble.draws = 8 is not a multiple of ensemble.randomisations = 16 (all randomisations have the "
     "same "
     "number of points); use ensemble.draws = 16"},
    {"NoPowerOfTwo", range, "draws = 4800\nrandomisations = 16\naxes = [" SOBOL() "]",
     "s.toml:10: ensemble.draws = 4800 gives each of 16 randomisations 300 points (a sobol point set needs a power of "
     "two); use ensemble.draws = 4096 or 8192"},
    {"NoPowerOfTwoAlone", range, "draws = 1000\naxes = [" SOBOL() "]",
     "s.toml:9: ensemble.draws = 1000 gives 1000 points (a sobol point set needs a power of two); use ensemble.draws = "
     "512 or 1024"},
    {"NoPowerOfTwoOfItsOwn", range, "axes = [" SOBOL(", draws = 1000") "]",
     "s.toml:9: draws = 1000 of axis 'theta' gives 1000 points (a sobol point set needs a power of two); use draws = "
     "512 "
     "or 1024"},
    {"NoDrawsAtAll", range, "draws = 0\naxes = [" SOBOL() "]",
     "s.toml:10: axis 'theta' is empty (draws = 0); draws must be at least 1"},
    {"TooManyPoints", range, "draws = 137438953472\nrandomisations = 16\naxes = [" SOBOL() "]",
     "s.toml:10: ensemble.draws = 137438953472 gives each of 16 randomisations 2^33 points (a sobol point set has at "
     "most "
     "2^32); use ensemble.draws = 68719476736"},
    {"TooManyPointsOfALattice", range,
     "draws = 50331648\naxes = [{ name = \"theta\", distribution = \"lattice\", std = 1, seed = 1 }]",
     "s.toml:9: ensemble.draws = 50331648 gives 50331648 points (a lattice point set needs a power of two); use "
     "ensemble.draws = 16777216"},
    {"NoRandomisation", range, "draws = 4096\nrandomisations = 0\naxes = [" SOBOL() "]",
     "s.toml:10: ensemble.randomisations must be in 1 to 2^63 - 1 (got 0)"},
    {"NegativeRandomisations", range, "draws = 4096\nrandomisations = -1\naxes = [" SOBOL() "]",
     "s.toml:10: ensemble.randomisations must not be negative (got -1)"},
    {"RandomisationsOfNothing", range, "randomisations = 4\naxes = [" SOBOL(", draws = 16") "]",
     "s.toml:9: ensemble.randomisations has no effect (no axis with distribution = \"sobol\" or \"lattice\" is without "
     "draws of its own); leave it out"},
    {"RandomisationsOfRandomAxes", range,
     "draws = 16\nrandomisations = 4\naxes = [{ name = \"theta\", distribution = \"normal\", seed = 1 }]",
     "s.toml:10: ensemble.randomisations has no effect (no axis with distribution = \"sobol\" or \"lattice\" is "
     "without "
     "draws of its own); leave it out"},
    {"TwoKindsOfPoints", range,
     "draws = 16\naxes = [" SOBOL() ", { name = \"b\", distribution = \"lattice\", from = 0, to = 1, seed = 1 }]",
     "s.toml:10: axes 'theta' (sobol) and 'b' (lattice) are drawn jointly (axes that are drawn jointly share one point "
     "set); give them the same distribution, or one of them draws of its own"},
    {"UniformAndNormal", range, "draws = 16\naxes = [" SOBOL(", std = 1") "]",
     "s.toml:10: ensemble.axes[0] has from and std (a uniform axis has from and to, a normal axis mean and std); leave "
     "one of them out"},
    {"NoEnd", range, "draws = 16\naxes = [{ name = \"theta\", distribution = \"sobol\", from = 0, seed = 1 }]",
     "s.toml:10: ensemble.axes[0].to is missing (the last value of a range, the upper end of uniform draws)"},
    {"NoSobolDraws", range, "axes = [" SOBOL() "]",
     "s.toml:9: random axis 'theta' has no number of draws; give ensemble.draws (drawn jointly with the other random "
     "axes) or draws in the axis (a factor of its own)"},
    {"UnknownKeyOfAnAxis", range, "draws = 16\naxes = [" SOBOL(", sead = 2") "]",
     "s.toml:10: unknown key 'sead' in [ensemble.axes[0]] (known: name, distribution, from, to, mean, std, seed, "
     "draws, dimension); "
     "did you mean 'seed'?"},
    {"MisspeltDistribution", range, "draws = 16\naxes = [{ name = \"theta\", distribution = \"sobel\", seed = 1 }]",
     "s.toml:10: unknown distribution 'sobel' (known: uniform, normal, sobol, lattice); did you mean 'sobol'?"},
};

TEST(BrokenStudy, MoreQuasiRandomAxesThanDimensions) {
  std::string axes;
  for (int i = 0; i < 65; ++i)
    axes += "{ name = \"x" + std::to_string(i) + "\", distribution = \"sobol\", from = 0, to = 1, seed = 1 }, ";
  expect_message(message_of(with(range, "draws = 16\naxes = [" + axes + "{ name = \"theta\", values = [1] }]")),
                 "s.toml:10: axis 'x64' is one more than a sobol point set has dimensions (64); give the axis "
                 "distribution = \"uniform\" or draws of its own");
}

const auto title = [](const auto& info) { return std::string(info.param.title); };
INSTANTIATE_TEST_SUITE_P(Syntax, BrokenStudy, testing::ValuesIn(syntax), title);
INSTANTIATE_TEST_SUITE_P(Names, BrokenStudy, testing::ValuesIn(names), title);
INSTANTIATE_TEST_SUITE_P(Time, BrokenStudy, testing::ValuesIn(times), title);
INSTANTIATE_TEST_SUITE_P(Ensemble, BrokenStudy, testing::ValuesIn(ensembles), title);
INSTANTIATE_TEST_SUITE_P(QuasiRandom, BrokenStudy, testing::ValuesIn(quasi_random), title);
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
    {"BadValue", "time.step=-1",
     "--set time.step: time.end = 10 is after time.start = 0, and steps of -1 lead away from it; change the sign of "
     "the step, "
     "or the end"},
    {"BadExpression", "time.step=thta", "--set time.step: unknown name 'thta' in time.step = 'thta' (...'theta'?"},
    {"IntoANumber", "time.step.x=1", "--set time.step.x: 'x' is inside a number, not a table"},
    {"IndexIntoATable", "time[0]=1", "--set time[0]: [0] is inside a table, not an array"},
    {"IndexOutOfRange", "ensemble.axes[2].count=1",
     "--set ensemble.axes[2].count: index 2 is out of range (the array has 1 elements)"},
    {"RandomisationsOfARange", "ensemble.randomisations=4",
     "--set ensemble.randomisations: ensemble.randomisations has no effect (no axis with distribution = \"sobol\" or "
     "\"lattice\" is without draws of its own); leave it out"},
};
INSTANTIATE_TEST_SUITE_P(Study, BrokenOverride, testing::ValuesIn(overrides), title);

}  // namespace broken_study_test
}  // namespace rattleback
