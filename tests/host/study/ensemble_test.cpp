#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "rattleback/base/hdf5.hpp"
#include "rattleback/base/random.hpp"
#include "rattleback/study/ensemble.hpp"
#include "rattleback/study/study.hpp"

namespace rattleback {
namespace ensemble_test {

/// A study of the sleigh (n = 3, m = 1) with `ensemble` as the text from [ensemble] on.
Study sleigh(const std::string& ensemble, const std::string& parameters = "") {
  return Study::parse(R"toml([system]
name = "chaplygin-sleigh"
parameters = {)toml" + parameters +
                          R"toml(}
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.1
end = 1.0
[ensemble]
)toml" + ensemble,
                      "s.toml");
}

std::vector<std::vector<double>> axes_of(const Study& study) {
  const Ensemble ensemble(study);
  Ensemble::Evaluator evaluate(ensemble);
  std::vector<std::vector<double>> result;
  for (std::uint64_t k = 0; k < ensemble.size(); ++k) result.push_back(evaluate(k).axes);
  return result;
}

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "accepted";
}

TEST(Ensemble, WithoutAxesThereIsOneTrajectory) {
  const Ensemble ensemble(sleigh(""));
  EXPECT_EQ(ensemble.size(), 1u);
  EXPECT_TRUE(ensemble.axis_names().empty());
  const InitialData data = Ensemble::Evaluator(ensemble)(0);
  EXPECT_EQ(data.step, 0.1);
  EXPECT_EQ(data.q.size(), 3u);
  EXPECT_EQ(data.v.size(), 3u);
  EXPECT_EQ(data.parameters.size(), 3u);
  EXPECT_TRUE(data.p.empty());
  EXPECT_FALSE(ensemble.from_momentum());
  EXPECT_FALSE(ensemble.multiplier_given());
}

TEST(Ensemble, TheLastAxisIsFastest) {
  EXPECT_EQ(axes_of(sleigh(R"toml(axes = [{ name = "a", values = [1, 2] }, { name = "b", values = [3, 4, 5] }])toml")),
            (std::vector<std::vector<double>>{{1, 3}, {1, 4}, {1, 5}, {2, 3}, {2, 4}, {2, 5}}));
}

TEST(Ensemble, RangesEndExactlyWhereTheySay) {
  const auto values = axes_of(sleigh(R"toml(axes = [{ name = "a", from = 0.1, to = "pi/2", count = 1001 }])toml"));
  ASSERT_EQ(values.size(), 1001u);
  EXPECT_EQ(values.front()[0], 0.1);
  EXPECT_EQ(values[500][0], 0.1 + 500 * (std::numbers::pi / 2 - 0.1) / 1000);
  EXPECT_EQ(values.back()[0], std::numbers::pi / 2);
}

TEST(Ensemble, ARangeOfOnePointIsItsStart) {
  EXPECT_EQ(axes_of(sleigh(R"toml(axes = [{ name = "a", from = 2, to = 3, count = 1 }])toml")),
            (std::vector<std::vector<double>>{{2}}));
}

TEST(Ensemble, DrawsAreAFunctionOfSeedAxisAndIndex) {
  const auto values = axes_of(sleigh(R"toml(draws = 3
axes = [
  { name = "a", values = [0] },
  { name = "b", distribution = "uniform", from = -1, to = 3, seed = 8 },
  { name = "c", distribution = "normal", mean = 5, std = 0.5, seed = 9 },
])toml"));
  ASSERT_EQ(values.size(), 3u);
  for (std::uint64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(values[k][1], -1 + 4 * Draw(8, 1, k).uniform());
    EXPECT_EQ(values[k][2], 5 + 0.5 * Draw(9, 2, k).normal());
  }
}

TEST(Ensemble, JointDrawsAreOneFactorAndOwnDrawsAnother) {
  const auto values = axes_of(sleigh(R"toml(draws = 2
axes = [
  { name = "a", distribution = "uniform", from = 0, to = 1, seed = 1 },
  { name = "b", values = [10, 20, 30] },
  { name = "c", distribution = "uniform", from = 0, to = 1, seed = 1 },
  { name = "d", distribution = "uniform", from = 0, to = 1, seed = 1, draws = 4 },
])toml"));
  ASSERT_EQ(values.size(), 2u * 3 * 4);
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_EQ(values[k][0], Draw(1, 0, k / 12).uniform());
    EXPECT_EQ(values[k][1], 10.0 * static_cast<double>(1 + k / 4 % 3));
    EXPECT_EQ(values[k][2], Draw(1, 2, k / 12).uniform());
    EXPECT_EQ(values[k][3], Draw(1, 3, k % 4).uniform());
  }
}

TEST(Ensemble, DrawsDoNotDependOnTheSizeOfTheEnsemble) {
  const std::string axis = "\naxes = [{ name = \"a\", distribution = \"normal\", seed = 3 }]";
  const auto few = axes_of(sleigh("draws = 5" + axis));
  const auto many = axes_of(sleigh("draws = 1000" + axis));
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

const std::string state = R"toml(
axes = [{ name = "a", from = -1, to = 1, count = 5 }, { name = "b", values = [0.5, -0.0, 0.0, 2] }]
[ensemble.initial]
q = ["cos(a)", "b", 3]
v = ["a * b", "mass + offset", "1 / (b + 3)"]
)toml";

TEST(Ensemble, ExpressionsSeeAxesAndParameters) {
  const Study study = sleigh(state, "mass = \"2 + a\"");
  const Ensemble ensemble(study);
  ASSERT_STREQ(Problem(study).system->parameters[0].name, "mass");
  EXPECT_TRUE(ensemble.parameter_varies(0));
  EXPECT_FALSE(ensemble.parameter_varies(1));
  EXPECT_FALSE(ensemble.step_varies());
  Ensemble::Evaluator evaluate(ensemble);
  for (std::uint64_t k = 0; k < ensemble.size(); ++k) {
    const InitialData& data = evaluate(k);
    const double a = data.axes[0], b = data.axes[1];
    EXPECT_EQ(data.parameters[0], 2 + a);
    EXPECT_EQ(data.q, (std::vector<double>{std::cos(a), b, 3}));
    EXPECT_EQ(data.v, (std::vector<double>{a * b, 2 + a + data.parameters[2], 1 / (b + 3)}));
  }
}

TEST(Ensemble, ATrajectoryDoesNotDependOnTheOneBefore) {
  const Ensemble ensemble(sleigh(state, "mass = \"2 + a\""));
  Ensemble::Evaluator up(ensemble), down(ensemble);
  std::vector<InitialData> forward, backward(ensemble.size());
  for (std::uint64_t k = 0; k < ensemble.size(); ++k) forward.push_back(up(k));
  for (std::uint64_t k = ensemble.size(); k-- > 0;) backward[k] = down(k);
  for (std::uint64_t k = 0; k < ensemble.size(); ++k) {
    EXPECT_EQ(forward[k].q, backward[k].q);
    EXPECT_EQ(forward[k].v, backward[k].v);
    EXPECT_EQ(forward[k].parameters, backward[k].parameters);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(std::signbit(forward[k].q[i]), std::signbit(backward[k].q[i])) << "trajectory " << k;
    }
  }
}

TEST(Ensemble, ConstantsAreFolded) {
  const Study study = sleigh(R"toml(axes = [{ name = "a", values = [1, 2] }]
[ensemble.initial]
q = ["2*pi", "mass / 4", "a"]
p = [0, "sin(pi/2)", 1]
lambda = ["1/3"])toml",
                             "mass = \"3^2\", inertia = \"a\"");
  const Ensemble ensemble(study);
  EXPECT_FALSE(ensemble.parameter_varies(0));
  EXPECT_TRUE(ensemble.parameter_varies(1));
  EXPECT_TRUE(ensemble.from_momentum());
  EXPECT_TRUE(ensemble.multiplier_given());
  Ensemble::Evaluator evaluate(ensemble);
  for (const std::uint64_t k : {1, 0, 1}) {
    const InitialData& data = evaluate(k);
    EXPECT_EQ(data.q, (std::vector<double>{2 * std::numbers::pi, 2.25, static_cast<double>(k + 1)}));
    EXPECT_EQ(data.p, (std::vector<double>{0, 1, 1}));
    EXPECT_EQ(data.lambda, std::vector<double>{1.0 / 3});
    EXPECT_EQ(data.parameters[0], 9);
    EXPECT_TRUE(data.v.empty());
  }
}

TEST(Ensemble, AValueThatIsNotFiniteNamesItsExpression) {
  const Ensemble ensemble(sleigh(R"toml(axes = [{ name = "a", values = [1, 0] }]
[ensemble.initial]
q = [0, "log(a)", 0]
v = [0, 0, 0])toml"));
  Ensemble::Evaluator evaluate(ensemble);
  (void)evaluate(0);
  EXPECT_EQ(message_of([&] { (void)evaluate(1); }), "s.toml:12: q[1] = 'log(a)' is not finite (it is -inf at a = 0)");
}

TEST(Ensemble, TheStepMayVary) {
  Study study = sleigh("axes = [{ name = \"h\", values = [0.1, 0.2] }]");
  study.time = {.step = "h",
                .end = 1.0,
                .steps = {},
                .sample_every = {},
                .samples = 1,
                .density = "",
                .max_steps = {},
                .where = ""};
  study.validate();
  const Ensemble ensemble(study);
  EXPECT_TRUE(ensemble.step_varies());
  Ensemble::Evaluator evaluate(ensemble);
  EXPECT_EQ(evaluate(1).step, 0.2);
  EXPECT_EQ(Problem(study).steps_per_sample(evaluate(0).step), 10u);
}

// Files

class EnsembleFile : public testing::Test {
 protected:
  // One folder per test: tests may run at the same time.
  static std::filesystem::path folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::filesystem::path(testing::TempDir()) / (std::string("rattleback_") + test->name());
  }
  void SetUp() override { std::filesystem::create_directories(folder()); }
  void TearDown() override { std::filesystem::remove_all(folder()); }

  static void write(const std::string& name, const std::string& text) { std::ofstream(folder() / name) << text; }

  struct Dataset {
    std::string name;
    std::vector<hsize_t> shape;
    std::vector<double> values;
  };
  static void write_datasets(const hdf5::Handle& at, const std::vector<Dataset>& datasets) {
    using hdf5::Handle;
    ASSERT_TRUE(at);
    for (const auto& [label, shape, values] : datasets) {
      const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
      const Handle dataset(
          H5Dcreate2(at.get(), label.c_str(), H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
          H5Dclose);
      ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
  }
  /// A new file with datasets in / and, unless it is empty, in `group`.
  static void write_hdf5(const std::string& name, const std::vector<Dataset>& root, const std::string& group = "",
                         const std::vector<Dataset>& datasets = {}) {
    using hdf5::Handle;
    const Handle file(H5Fcreate((folder() / name).c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    write_datasets(file, root);
    if (group.empty()) return;
    write_datasets(Handle(H5Gcreate2(file.get(), group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose),
                   datasets);
  }

  static Study study(const std::string& ensemble) {
    Study result = sleigh(ensemble);
    result.directory = folder();
    return result;
  }

  static std::vector<InitialData> evaluate(const std::string& ensemble) {
    const Ensemble all(study(ensemble));
    Ensemble::Evaluator evaluator(all);
    std::vector<InitialData> result;
    for (std::uint64_t k = 0; k < all.size(); ++k) result.push_back(evaluator(k));
    return result;
  }

  static std::string message(const std::string& ensemble) {
    return message_of([&] { Ensemble{study(ensemble)}; });
  }

  static std::string path(const std::string& name) { return (folder() / name).string(); }
};

void expect_equal(const std::vector<InitialData>& a, const std::vector<InitialData>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    EXPECT_EQ(a[k].axes, b[k].axes);
    EXPECT_EQ(a[k].q, b[k].q);
    EXPECT_EQ(a[k].v, b[k].v);
    EXPECT_EQ(a[k].p, b[k].p);
    EXPECT_EQ(a[k].lambda, b[k].lambda);
  }
}

TEST_F(EnsembleFile, CsvAndHdf5GiveTheSameTrajectories) {
  write("points.csv",
        "# initial states\nq[0], q[1],q[2],p0,p1,p2,lambda[0],tilt\r\n\n0.1,2,3,4,5,6,7,0.5\n# more\n"
        "+1e-3,-2,3e2,40,5,6,7,0.25\n");
  const std::vector<Dataset> datasets{{"q", {2, 3}, {0.1, 2, 3, 1e-3, -2, 3e2}},
                                      {"p", {2, 3}, {4, 5, 6, 40, 5, 6}},
                                      {"lambda", {2, 1}, {7, 7}},
                                      {"tilt", {2}, {0.5, 0.25}}};
  const std::vector<Dataset> other{{"time", {5}, {0, 1, 2, 3, 4}}};
  write_hdf5("root.h5", datasets, "/initial", other);
  write_hdf5("initial.h5", other, "/initial", datasets);
  write_hdf5("final.h5", other, "/final", datasets);
  write_hdf5("columns.h5", other);
  const auto csv = evaluate("file = \"points.csv\"");
  ASSERT_EQ(csv.size(), 2u);
  EXPECT_EQ(csv[1].axes, std::vector<double>{0.25});
  EXPECT_EQ(csv[1].q, (std::vector<double>{1e-3, -2, 3e2}));
  EXPECT_EQ(csv[1].p, (std::vector<double>{40, 5, 6}));
  EXPECT_EQ(csv[1].lambda, std::vector<double>{7});
  expect_equal(csv, evaluate("file = \"root.h5\""));
  expect_equal(csv, evaluate("file = \"initial.h5\""));
  expect_equal(csv, evaluate("file = \"final.h5\"\ngroup = \"final\""));
  EXPECT_EQ(evaluate("file = \"columns.h5\"").at(3).axes, std::vector<double>{3});
}

TEST_F(EnsembleFile, ColumnsAreNamesForExpressions) {
  write("columns.csv", "tilt,speed\n1,2\n3,4\n");
  const Ensemble ensemble(study(R"toml(file = "columns.csv"
[ensemble.initial]
q = ["tilt", 0, 0]
v = ["speed*tilt", 0, 0])toml"));
  EXPECT_EQ(ensemble.axis_names(), (std::vector<std::string>{"tilt", "speed"}));
  EXPECT_FALSE(ensemble.from_momentum());
  Ensemble::Evaluator evaluate(ensemble);
  EXPECT_EQ(evaluate(1).v[0], 12);
  EXPECT_EQ(evaluate(0).q[0], 1);
}

TEST_F(EnsembleFile, AColumnMayBeTheStep) {
  write("steps.csv", "h\n0.1\n0.2\n");
  Study varying = study("file = \"steps.csv\"");
  varying.time = {.step = "h",
                  .end = 1.0,
                  .steps = {},
                  .sample_every = {},
                  .samples = 1,
                  .density = "",
                  .max_steps = {},
                  .where = ""};
  varying.validate();
  EXPECT_EQ(varying.time.steps, 0u);
  EXPECT_TRUE(Ensemble(varying).step_varies());
}

TEST_F(EnsembleFile, AFileWithVAndPGivesP) {
  write("both.csv", "q0,q1,q2,v0,v1,v2,p0,p1,p2\n1,2,3,4,5,6,7,8,9\n");
  const auto data = evaluate("file = \"both.csv\"");
  EXPECT_EQ(data[0].p, (std::vector<double>{7, 8, 9}));
  EXPECT_TRUE(data[0].v.empty());
}

TEST_F(EnsembleFile, AFileOfParametersLeavesTheStateToTheSystem) {
  write("names.csv", "tilt\n1\n2\n");
  const auto data = evaluate("file = \"names.csv\"");
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(data[0].q.size(), 3u);
  EXPECT_EQ(data[0].v.size(), 3u);
}

TEST_F(EnsembleFile, BrokenCsvFilesAreRefused) {
  const auto of = [&](const std::string& text) {
    write("broken.csv", text);
    return message("file = \"broken.csv\"");
  };
  const std::string name = path("broken.csv");
  EXPECT_EQ(of(""), name + ":0: no header (the first line that is no comment names the columns)");
  EXPECT_EQ(of("a,b\n"), name + ":1: no rows after the header");
  EXPECT_EQ(of("a,b\n1,2\n1\n"), name + ":3: 1 values where the header names 2 columns");
  EXPECT_EQ(of("a,b\n1,x\n"), name + ":2: 'x' in column 'b' is not a number");
  EXPECT_EQ(of("a,b\n1,\n"), name + ":2: '' in column 'b' is not a number");
  EXPECT_EQ(of("a,b\n1,nan\n"), name + ":2: 'nan' in column 'b' is not finite");
  EXPECT_EQ(of("a,a\n1,2\n"), name + ":1: column 'a' appears twice");
  EXPECT_EQ(of("q[0],q0\n1,2\n"), name + ":1: column 'q0' appears twice");
  EXPECT_EQ(of("q[0],q[2]\n1,2\n"), name + ":1: column 'q[2]' is out of sequence (indices go from 0 without a gap)");
  EXPECT_EQ(of("q0,q1\n1,2\n"), "s.toml:10: 'broken.csv' has 2 components of q, 'chaplygin-sleigh' needs 3");
  EXPECT_EQ(of("q0,q1,q2\n1,2,3\n"), "s.toml:9: initial q is given without velocities; give v or p");
  EXPECT_EQ(of("mass\n1\n"),
            "s.toml:10: 'mass' cannot name an axis (it is a parameter of 'chaplygin-sleigh'); choose another name");
}

TEST_F(EnsembleFile, BrokenHdf5FilesAreRefused) {
  const auto of = [&](const std::vector<Dataset>& datasets, const std::string& more = "") {
    write_hdf5("broken.h5", datasets);
    return message("file = \"broken.h5\"" + more);
  };
  const std::string start = "s.toml:10: '" + path("broken.h5") + "' ";
  EXPECT_EQ(of({}), start + "has no dataset of states in group '/' (q, v, p, lambda or columns)");
  EXPECT_EQ(of({}, "\ngroup = \"final\""), start + "has no group 'final'");
  EXPECT_EQ(of({{"a", {2}, {1, 2}}, {"b", {3}, {1, 2, 3}}}), start + "dataset 'b' has 3 rows where others have 2");
  EXPECT_EQ(of({{"q", {1, 1, 1}, {1}}}), start + "dataset 'q' has 3 dimensions (needs [N, .])");
  EXPECT_EQ(of({{"q", {1, 2}, {1, NAN}}}), start + "dataset 'q' is not finite in row 0");
  write("broken.h5", "q0,q1\n1,2\n");
  EXPECT_EQ(message("file = \"broken.h5\""), start + "cannot be read (not an HDF5 file)");
}

TEST_F(EnsembleFile, MissingAndMisplacedFilesAreRefused) {
  EXPECT_EQ(message("file = \"absent.csv\""),
            "s.toml:10: '" + path("absent.csv") + "' cannot be read (No such file or directory)");
  EXPECT_EQ(message("file = \"absent.h5\""),
            "s.toml:10: '" + path("absent.h5") + "' cannot be read (No such file or directory)");
  EXPECT_EQ(message("file = \"points.xlsx\""),
            "s.toml:10: '" + path("points.xlsx") +
                "' has an unknown format (known: .csv, .tsv, .txt, .dat, .h5, .hdf5, .nc)");
  write("twice.csv", "q0,q1,q2,v0,v1,v2\n1,2,3,4,5,6\n");
  EXPECT_EQ(message("file = \"twice.csv\"\n[ensemble.initial]\nq = [0, 0, 0]"),
            "s.toml:12: initial q is given here and in 'twice.csv'; leave one out");
  EXPECT_EQ(message("file = \"twice.csv\"\n[output]\ntrajectories = [1]"),
            "s.toml:12: trajectory 1 is out of range (the ensemble has 1); indices are in 0 to 0");
  EXPECT_EQ(message("file = \"twice.csv\"\n[ensemble.initial]\nlambda = [\"inclination\"]"),
            "s.toml:12: unknown name 'inclination' in lambda[0] = 'inclination' (known: mass, inertia, offset, pi)");
}

}  // namespace ensemble_test
}  // namespace rattleback
